"""The li2023 studies: which cells, how many trials, what a run costs and compiles."""

from collections.abc import Callable
from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.studies import designs
from attnlab.papers.li2023.studies.engine_choice import resolve

LETTERS = (("a", 10), ("b", 15), ("c", 20))
RUN = "attnlab.papers.li2023.runs.trial:train"


def _cost(cell: TrainingSettings) -> float:
    """Rough seconds of a run on one core, compilation left out; fitted to a run of scale quick."""
    until_fitted = 85 / (cell.eta * cell.alpha_star) * (1 + cell.sharp / cell.gap)
    steps = cell.steps if cell.stop == "fixed" else min(cell.steps, until_fitted)
    probes = 0.01 * cell.records if cell.probes == "dynamics" else 0.0
    if cell.engine == "collapsed":
        return 0.02 + probes + 1e-4 * cell.heads * steps
    return 0.1 + probes + 3e-9 * cell.B * cell.L * cell.m * steps


def _study(
    name: str,
    summary: str,
    smoke: Design,
    quick: Design,
    paper: Design,
    coarse: Design | None = None,
) -> Study:
    return Study(
        id=f"li2023.{name}",
        summary=summary,
        settings=TrainingSettings,
        run=RUN,
        designs={"smoke": smoke, "quick": quick, "paper": paper},
        cost=_cost,
        resolve=resolve,
        coarse=coarse,
    )


def _searched(scale: str, arms: tuple[TrainingSettings, ...]) -> Design:
    """A sequential design; controls run five trials at each arm's own N."""
    search = designs.COARSE if scale == "coarse" else designs.SEARCHES[scale]
    return Design(arms, 5, 5, search=search)


def _of_each(cells: Callable[[int], tuple[TrainingSettings, ...]]) -> tuple[TrainingSettings, ...]:
    """The cells for each of figure 8's numbers of patterns."""
    return tuple(cell for M in designs.WIDER_M for cell in cells(M))


STUDIES = (
    _study(
        "figure_1a",
        "N50 over fractions: paper's slice, constant ratio, alpha_* fixed",
        _searched("smoke", designs.slices((0.3, 0.35, 0.4, 0.45), designs.RATIO, ())),
        _searched("quick", designs.slices(designs.SLICE, designs.RATIO, designs.SHARP)),
        _searched(
            "paper",
            designs.slices(designs.PAPER_SLICE, designs.PAPER_RATIO, designs.PAPER_SHARP),
        ),
        coarse=_searched("coarse", designs.slices(designs.SLICE[1:], (0.2, 0.3, 0.4), ())),
    ),
    _study(
        "figure_3",
        "the same without learned attention: keys and queries keep their first values",
        _searched("smoke", designs.without_attention((0.35, 0.4, 0.45), designs.RATIO)),
        _searched("quick", designs.without_attention(designs.FROZEN_SLICE, designs.RATIO)),
        _searched("paper", designs.without_attention(designs.PAPER_SLICE, designs.PAPER_RATIO)),
        coarse=_searched("coarse", designs.without_attention((0.35, 0.39, 0.44), (0.2, 0.3, 0.4))),
    ),
    _study(
        "small_fractions",
        "N50 at a constant ratio down to few relevant tokens, with and without learned attention",
        _searched("smoke", designs.small_fractions((0.1, 0.2, 0.4), 100)),
        _searched("quick", designs.small_fractions((0.1, 0.2, 0.4), 100)),
        _searched("paper", designs.small_fractions((0.025, 0.05, 0.1, 0.2, 0.4), 400)),
    ),
    _study(
        "figure_1b",
        "N50 over the first values' error sigma",
        # 100 tokens, not 50: the program of the maps.
        _searched("smoke", designs.errors((0.1, 0.3, 0.6), L=100)),
        _searched("quick", designs.errors((0.05, 0.1, 0.2, 0.4, 0.6))),
        _searched("paper", designs.errors((0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7))),
        coarse=_searched("coarse", designs.errors((0.1, 0.2, 0.4, 0.6), L=100)),
    ),
    _study(
        "sigma_readings",
        "the same with sigma as the worst error, and as the scale of the values",
        _searched("smoke", designs.errors((0.1, 0.6), designs.READINGS, L=100)),
        _searched("quick", designs.errors((0.05, 0.1, 0.2, 0.4, 0.6), designs.READINGS)),
        _searched("paper", designs.errors((0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6), designs.READINGS)),
    ),
    _study(
        "token_noise",
        "N50 over the token noise, at figure 1b's fractions",
        _searched("smoke", designs.noises((0.01,))),
        _searched("quick", designs.noises((0.01, 0.035, 0.06))),
        _searched("paper", designs.noises((0.01, 0.02, 0.03, 0.04, 0.05, 0.06))),
    ),
    _study(
        "figure_2",
        "iterations until the training loss is zero, over fractions",
        Design(designs.times(designs.SLICE, (0.2, 0.3, 0.4, 0.5), (0.2, 0.3, 0.5)), 2, 1),
        Design(designs.times(designs.SLICE, designs.RATIO, (0.15, 0.2, 0.3, 0.4, 0.5)), 4, 2),
        Design(
            designs.times(
                designs.PAPER_SLICE, designs.PAPER_RATIO, (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
            ),
            20,
        ),
    ),
    _study(
        "step_sizes",
        "the same over the step size, at a constant ratio",
        Design(designs.STEP_SIZES, 2, 1),
        Design(designs.STEP_SIZES, 4, 2),
        Design(designs.STEP_SIZES, 20),
    ),
    _study(
        "first_errors",
        "the same over the errors sigma and delta of the first model",
        Design(designs.first_errors((0.05, 0.3), (0.04, 0.4)), 2, 1),
        Design(designs.first_errors((0.05, 0.2, 0.35), (0.04, 0.12, 0.3, 0.4)), 4, 2),
        Design(
            designs.first_errors(
                (0.05, 0.15, 0.2, 0.25, 0.3, 0.35), (0.04, 0.08, 0.16, 0.24, 0.32, 0.4)
            ),
            20,
        ),
    ),
    _study(
        "error_readings",
        "the same over sigma as the worst error, and as the scale of the values",
        Design(designs.error_readings((0.05, 0.3)), 2, 1),
        Design(designs.error_readings((0.05, 0.2, 0.35)), 4, 2),
        Design(designs.error_readings((0.05, 0.15, 0.2, 0.25, 0.3, 0.35)), 20),
    ),
    _study(
        "certificate",
        "many trials at a cell that meets the hypotheses of Theorem 1",
        Design((designs.ASSUMED,), 10),
        Design((designs.ASSUMED,), 299, 10),
        Design((designs.ASSUMED,), 299),
    ),
    _study(
        "spot_check",
        "trials of the maps in float64, and by the exact engine, paired by seed",
        Design(designs.checked((3, 12, 48), exact=False), 4),
        Design(designs.checked((3, 12, 48), exact=True), 12),
        Design(designs.checked((3, 6, 12, 24, 48), exact=True), 50),
    ),
    _study(
        "batch_size",
        "success over the mini-batch size",
        Design(tuple(replace(designs.ASSUMED, B=B) for B in (2, 20)), 4),
        Design(tuple(replace(designs.ASSUMED, B=B) for B in (2, 20)), 40, 10),
        Design(tuple(replace(designs.ASSUMED, B=B) for B in (1, 2, 3, 5, 7, 10, 15, 20)), 60),
    ),
    _study(
        "dynamics",
        "attention, neurons and features along training, at figure 4's fractions",
        Design((designs.DYNAMICS,), 6, 4),
        Design((designs.DYNAMICS,), 36, 10),
        Design((designs.DYNAMICS,), 100),
    ),
    _study(
        "figure_4",
        "attention along training as figure 4 prints it: N = 200, |S| = 50",
        Design((designs.PRINTED,), 3, 2),
        Design((designs.PRINTED,), 8, 3),
        Design((designs.PRINTED,), 50),
        coarse=Design((designs.PRINTED,), 3),
    ),
    _study(
        "margin_10",
        "the same trained on until every margin is 10",
        Design((designs.FURTHER,), 3),
        Design((designs.FURTHER,), 8, 4),
        Design((designs.FURTHER,), 50),
    ),
    _study(
        "shared_weights",
        "the same with one vector of output weights for all positions",
        Design((replace(designs.DYNAMICS, output_weights="shared"),), 6, 4),
        Design((replace(designs.DYNAMICS, output_weights="shared"),), 36, 10),
        Design((replace(designs.DYNAMICS, output_weights="shared"),), 50),
    ),
    *(
        _study(
            f"figure_7{letter}",
            f"attention along training with M = {M} patterns in R^20",
            Design((replace(designs.WIDER, M=M, records=12),), 3),
            Design((replace(designs.WIDER, M=M, records=12),), 8, 4),
            Design((replace(designs.WIDER, M=M, records=40),), 50),
        )
        for letter, M in LETTERS
    ),
    _study(
        "figure_5",
        "test loss after a fixed number of steps, over what is removed and how much",
        Design(designs.pruned(designs.ORACLES, (0.3, 0.6)), 4),
        Design(
            (
                *designs.pruned(designs.ORACLES, (0.15, 0.3, 0.45, 0.6)),
                *designs.pruned(designs.SELECTORS[3:], (0.3, 0.6))[1:],
            ),
            5,
        ),
        Design(
            designs.pruned((*designs.SELECTORS, "model"), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
            20,
        ),
        coarse=Design(
            designs.pruned(designs.ORACLES, (0.6,), designs.PRUNE)
            + designs.pruned(("noisy",), (0.3,))[1:],
            3,
        ),
    ),
    _study(
        "pruning_readings",
        "the same with other stopping, places, removal, and at test only",
        Design(designs.variants(designs.ORACLES, 0.6, read=2), 2),
        Design(designs.variants(designs.ORACLES, 0.6), 5),
        Design(designs.variants((*designs.SELECTORS, "model"), 0.6), 20),
    ),
    _study(
        "figure_8",
        "figure 5 with M = 10, 15 and 20 patterns in R^20",
        Design(
            _of_each(lambda M: designs.pruned(designs.ORACLES, (0.3, 0.6), designs.wider(M))), 3
        ),
        Design(
            _of_each(lambda M: designs.pruned(designs.ORACLES, (0.3, 0.6), designs.wider(M))), 5
        ),
        Design(
            _of_each(
                lambda M: designs.pruned(
                    designs.ORACLES, (0.1, 0.2, 0.3, 0.45, 0.6), designs.wider(M, 1000)
                )
            ),
            20,
        ),
        coarse=Design(
            _of_each(lambda M: designs.pruned(designs.ORACLES, (0.3, 0.6), designs.wider(M))), 3
        ),
    ),
    _study(
        "selectors",
        "N50 and iterations by what removes the tokens",
        _searched("smoke", designs.bought((), "irrelevant")),
        _searched(
            "coarse",
            designs.bought((0.2, 0.6), *designs.SELECTORS),
        ),
        _searched("paper", designs.bought((0.2, 0.6), *designs.SELECTORS, "model")),
    ),
    _study(
        "robustness",
        "N50 with one choice changed at a time: step size, batch, loss, layer norm, queries",
        _searched("smoke", designs.robust((("eta", 1.0),))),
        _searched("quick", designs.robust(designs.OTHERWISE)),
        _searched("paper", designs.robust(designs.OTHERWISE)),
    ),
    _study(
        "noise_map",
        "test loss over the fraction and the token noise, with and without learned attention",
        Design(designs.noise_map((0.4,), (0.01, 0.1)), 3),
        Design(designs.noise_map((0.2, 0.4, 0.6), (0.01, 0.05, 0.1)), 4),
        Design(designs.noise_map((0.2, 0.4, 0.6), (0.01, 0.03, 0.05, 0.07, 0.1)), 20),
    ),
    _study(
        "sparsified",
        "success and iterations with 40 % of the tokens removed, by N",
        Design(designs.sparse((32, 128), "irrelevant", "random"), 3),
        Design(designs.sparse((32, 128), "irrelevant", "noisy", "random"), 8),
        Design(
            designs.sparse((16, 32, 64, 128, 256), "irrelevant", "noisy", "attention", "random"), 20
        ),
        coarse=Design(designs.sparse((32,), "irrelevant", "noisy", "random"), 4),
    ),
    _study(
        "four_classes",
        "extension G.1: four classes, one vector of output weights for all positions",
        Design((designs.FOUR,), 4),
        Design((designs.FOUR,), 36, 10),
        Design((designs.FOUR,), 50),
        # Nine runs of ten cannot be certified by fewer than 36.
        coarse=Design((designs.FOUR,), 36),
    ),
    _study(
        "pattern_sets",
        "extension G.2: each pattern a set of two vectors",
        Design((designs.SETS,), 3),
        Design((designs.SETS,), 16, 4),
        Design((designs.SETS,), 30),
        coarse=Design((designs.SETS,), 16),
    ),
    _study(
        "heads",
        "extension G.3: one head and several",
        Design(tuple(replace(designs.HEADS, heads=H) for H in (1, 4)), 10),
        Design(tuple(replace(designs.HEADS, heads=H) for H in (1, 4)), 60),
        Design(
            tuple(
                replace(designs.HEADS, heads=H, combination=c)
                for H in (1, 2, 4, 8)
                for c in ("sum", "concat")
            ),
            100,
        ),
    ),
    _study(
        "skip",
        "extension G.4: a skip connection after the attention",
        Design((designs.SKIP,), 3),
        Design((designs.SKIP,), 16, 4),
        Design((designs.SKIP,), 50),
        coarse=Design((designs.SKIP,), 16),
    ),
)
