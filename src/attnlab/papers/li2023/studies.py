"""The li2023 studies: which cells, how many trials, what a run costs and compiles."""

from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.li2023 import designs
from attnlab.papers.li2023.programs import program
from attnlab.papers.li2023.settings import TrainingSettings, resolve

LETTERS = (("a", 10), ("b", 15), ("c", 20))
RUN = "attnlab.papers.li2023.runs:train"


def _cost(cell: TrainingSettings) -> float:
    """Rough seconds of a run on one core, compilation left out; fitted to a run of scale quick."""
    until_fitted = 85 / (cell.eta * cell.alpha_star)
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
        program=program,
        coarse=coarse,
    )


STUDIES = (
    _study(
        "figure_1a",
        "success of a trial over fractions and N: paper's slice, constant ratio, alpha_* fixed",
        Design(
            designs.slices(designs.SLICE, designs.RATIO, designs.SHARP[1:], designs.FEW_SIZES),
            3,
            5,
        ),
        Design(designs.slices(designs.SLICE, designs.RATIO, designs.SHARP, designs.SIZES), 4, 5),
        Design(
            designs.slices(
                designs.PAPER_SLICE, designs.PAPER_RATIO, designs.PAPER_SHARP, designs.PAPER_SIZES
            ),
            20,
        ),
        coarse=Design(designs.slices(designs.SLICE[::2], designs.RATIO, (), designs.FEW_SIZES), 3),
    ),
    _study(
        "figure_3",
        "the same without learned attention: keys and queries keep their first values",
        Design(
            designs.without_attention(designs.FROZEN_SLICE, designs.RATIO, (8, 16, 32, 64, 128)),
            3,
            5,
        ),
        Design(
            designs.without_attention(designs.FROZEN_SLICE, designs.RATIO, designs.FROZEN_SIZES),
            4,
            5,
        ),
        Design(
            designs.without_attention(
                designs.PAPER_SLICE, designs.PAPER_RATIO, (*designs.PAPER_SIZES, 512, 1024, 2048)
            ),
            20,
        ),
    ),
    _study(
        "figure_1b",
        "success over the first values' error sigma, by N",
        # 100 tokens, not 50: the program of the maps.
        Design(designs.errors((0.1, 0.2, 0.4, 0.6), (8, 16, 32, 64, 128), L=100), 4, 5),
        Design(
            designs.errors((0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6), (8, 16, 24, 32, 48, 64, 96)), 6, 5
        ),
        Design(
            designs.errors((0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7), designs.PAPER_SIZES[4:]), 20
        ),
        coarse=Design(designs.errors((0.1, 0.3, 0.6), (8, 16, 32, 64, 128), L=100), 3),
    ),
    _study(
        "token_noise",
        "success over the token noise, by N, at figure 1b's fractions",
        Design(designs.noises((0.01, 0.05), (16, 128)), 1, 1),
        Design(designs.noises((0.01, 0.02, 0.035, 0.05), (16, 32, 64, 128)), 3, 1),
        Design(designs.noises((0.01, 0.02, 0.03, 0.04, 0.05, 0.06), designs.PAPER_SIZES[4::2]), 20),
    ),
    _study(
        "figure_2",
        "iterations until the training loss is zero, over fractions, step size and first errors",
        Design(
            designs.times(
                designs.SLICE, (0.2, 0.3, 0.4, 0.5), (0.2, 0.3, 0.5), (0.05, 0.3), (0.04, 0.4)
            ),
            2,
            1,
        ),
        Design(
            designs.times(
                designs.SLICE,
                designs.RATIO,
                (0.15, 0.2, 0.3, 0.4, 0.5),
                (0.05, 0.15, 0.2, 0.25, 0.3, 0.35),
                (0.04, 0.08, 0.16, 0.24, 0.32, 0.4),
            ),
            4,
            2,
        ),
        Design(
            designs.times(
                designs.PAPER_SLICE,
                designs.PAPER_RATIO,
                (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5),
                (0.05, 0.15, 0.2, 0.25, 0.3, 0.35),
                (0.04, 0.08, 0.16, 0.24, 0.32, 0.4),
            ),
            20,
        ),
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
                *designs.variants(designs.ORACLES, 0.6),
            ),
            5,
        ),
        Design(
            (
                *designs.pruned((*designs.SELECTORS, "model"), (0.1, 0.2, 0.3, 0.4, 0.5, 0.6)),
                *designs.variants((*designs.SELECTORS, "model"), 0.6),
            ),
            20,
        ),
    ),
    *(
        _study(
            f"figure_8{letter}",
            f"the same with M = {M} patterns in R^20",
            Design(designs.pruned(designs.ORACLES, (0.3, 0.6), designs.wider(M)), 3),
            Design(designs.pruned(designs.ORACLES, (0.3, 0.6), designs.wider(M)), 6),
            Design(
                designs.pruned(designs.ORACLES, (0.1, 0.2, 0.3, 0.45, 0.6), designs.wider(M, 1000)),
                20,
            ),
        )
        for letter, M in LETTERS
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
        coarse=Design((designs.FOUR,), 16),
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
