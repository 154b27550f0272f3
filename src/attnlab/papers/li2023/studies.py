"""The designs of the li2023 studies. Every cell of a design has seeds of its own."""

from collections.abc import Sequence
from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.li2023.settings import TrainingSettings, resolve

RUN = "attnlab.papers.li2023.runs:train"

MAP = TrainingSettings(engine="collapsed", approximate=True)
"""The maps: the paper's token noise, by the engine that is approximate for it."""
SLICE = (0.29, 0.32, 0.35, 0.4, 0.45)
RATIO = (0.1, 0.2, 0.3, 0.4, 0.5)
"""At alpha_# = 0.3 alpha_*, which meets (8)."""
SHARP = (0.0, 0.14, 0.21, 0.26)
PAPER_SLICE = (0.28, 0.29, 0.3, 0.31, 0.32, 0.33, 0.35, 0.37, 0.39, 0.42, 0.45, 0.48)
PAPER_RATIO = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
PAPER_SHARP = (0.0, 0.05, 0.1, 0.14, 0.18, 0.21, 0.24, 0.26, 0.28)
SIZES = (2, 4, 8, 16, 32, 64, 128)
PAPER_SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)


def _slices(
    shares: Sequence[float],
    ratios: Sequence[float],
    confusions: Sequence[float],
    sizes: Sequence[int],
    base: TrainingSettings = MAP,
) -> tuple[TrainingSettings, ...]:
    """Cells over (slice, N): the paper's slice, a constant ratio, and alpha_* = .35 fixed."""
    cells = [replace(base, confusion="paper_slice", alpha_star=a) for a in shares]
    cells += [replace(base, confusion="constant_ratio", alpha_star=a) for a in ratios]
    cells += [replace(base, confusion="number", alpha_sharp=s) for s in confusions]
    return tuple(replace(cell, N=N) for cell in cells for N in sizes)


def _without_attention(
    shares: Sequence[float], ratios: Sequence[float], sizes: Sequence[int]
) -> tuple[TrainingSettings, ...]:
    return _slices(shares, ratios, (), sizes, replace(MAP, attention="frozen"))


# --- figure 1b --------------------------------------------------------------------------------

VALUES = replace(MAP, L=50, alpha_star=0.3, alpha_sharp=0.2)
NOISE = replace(VALUES, engine="exact", approximate=False, m=250, eta=1.0, test_samples=200)
"""Token noise needs the exact engine: fewer neurons and a larger step, to save time (ours)."""


def _errors(
    sigmas: Sequence[float], noises: Sequence[float], sizes: Sequence[int], few: Sequence[int]
) -> tuple[TrainingSettings, ...]:
    by_sigma = [replace(VALUES, sigma=s, N=N) for s in sigmas for N in sizes]
    return (*by_sigma, *(replace(NOISE, c0=c, N=N) for c in noises for N in few))


# --- figure 2 ---------------------------------------------------------------------------------

TIMES = replace(MAP, N=128)


def _times(
    shares: Sequence[float], ratios: Sequence[float], alone: Sequence[float]
) -> tuple[TrainingSettings, ...]:
    ratio = replace(TIMES, confusion="constant_ratio", alpha_star=0.3)
    cells = [replace(TIMES, confusion="paper_slice", alpha_star=a) for a in shares]
    cells += [replace(ratio, alpha_star=a) for a in ratios]
    cells += [replace(TIMES, alpha_star=a, alpha_sharp=0.0) for a in alone]
    cells += [replace(ratio, eta=eta) for eta in (0.125, 0.25, 0.5, 1.0)]
    cells += [replace(ratio, sigma=sigma) for sigma in (0.0, 0.1, 0.2, 0.3)]
    cells += [replace(ratio, delta=delta) for delta in (0.0, 0.1, 0.2, 0.4)]
    return tuple(dict.fromkeys(cells))


# --- the dynamics -----------------------------------------------------------------------------

DYNAMICS = replace(
    MAP, N=128, alpha_star=0.5, alpha_sharp=0.05, probes="dynamics", steps=1000, records=40
)
"""Figure 4's fractions. |S| is 100, not 50: 50 tokens would need 2.5 confusion tokens."""
FURTHER = replace(DYNAMICS, margin=10.0, steps=2000)
WIDER = replace(DYNAMICS, d=20, m_a=20, m_b=20)
ASSUMED = replace(MAP, N=64, alpha_star=0.42, confusion="paper_slice")
"""Meets (8): the cell of Theorem 1's certificate."""

# --- sparsification ---------------------------------------------------------------------------

PRUNE = TrainingSettings(
    N=64,
    L=50,
    m=250,
    alpha_star=0.3,
    alpha_sharp=0.1,
    normalise=True,
    c0=0.05,
    noisy_share=0.3,
    noisy_c0=0.5,
    steps=400,
    stop="fixed",
    eta=1.0,
    engine="exact",
    test_samples=200,
)
"""Figure 5's settings are lost: these are inferred from what it needs to show anything."""
ORACLES = ("irrelevant", "noisy", "random")
SHORT = replace(PRUNE, steps=100)
"""Stopped before the training loss is zero."""
SELECTORS = ("irrelevant", "noisy", "random", "attention", "value_norm", "distance")


def _pruned(
    selectors: Sequence[str], removed: Sequence[float], base: TrainingSettings = PRUNE
) -> tuple[TrainingSettings, ...]:
    """Cells over what is removed first and how much; removing nothing is one cell."""
    some = (replace(base, selector=s, removed=r) for s in selectors for r in removed)  # pyright: ignore[reportArgumentType]
    return (base, *some)


SPARSE = replace(PRUNE, stop="zero_loss", steps=1500)


def _sparse(sizes: Sequence[int], *selectors: str) -> tuple[TrainingSettings, ...]:
    cells = [replace(SPARSE, N=N) for N in sizes]
    for name in selectors:
        cells += [replace(SPARSE, N=N, selector=name, removed=0.4) for N in sizes]  # pyright: ignore[reportArgumentType]
    return tuple(cells)


# --- extensions -------------------------------------------------------------------------------

FOUR = replace(MAP, N=64, classes=4, M=6, alpha_star=0.4, alpha_sharp=0.12, output_weights="shared")
SETS = replace(
    DYNAMICS, d=20, m_a=20, m_b=20, M=5, set_size=2, set_distance=0.5, N=64, m=250,
    L=40, engine="exact", approximate=False, eta=1.0, steps=500, records=12, test_samples=200,
)  # fmt: skip
HEADS = replace(MAP, N=64, confusion="constant_ratio", alpha_star=0.3)
SKIP = replace(DYNAMICS, skip=True, N=64, records=12)


CHECKED = replace(MAP, confusion="paper_slice")


def _checked(engines: Sequence[str], *sizes: int) -> tuple[TrainingSettings, ...]:
    """The same trials by `collapsed` in both precisions, and by the engines given."""
    cells = [replace(CHECKED, N=N, dtype=d) for N in sizes for d in ("float32", "float64")]
    cells += [replace(CHECKED, N=N, engine=e) for N in sizes for e in engines]  # pyright: ignore[reportArgumentType]
    return tuple(cells)


def _cost(cell: TrainingSettings) -> float:
    """Rough seconds of a run on one core, compilation left out."""
    steps = cell.steps if cell.stop == "fixed" else min(cell.steps, 150 / cell.alpha_star)
    sample = 1e-7 if cell.engine == "collapsed" else 4e-9 * cell.L * cell.m / 5
    probes = 0.01 * cell.records if cell.probes == "dynamics" else 0.0
    return 0.03 + probes + steps * cell.B * (sample * (10 if cell.engine == "collapsed" else 1))


def _program(cell: TrainingSettings):
    """What a compiled run depends on; the worker's own module says it to the letter."""
    return (
        cell.engine,
        cell.capacity,
        cell.L,
        cell.d,
        cell.M if cell.engine == "collapsed" and cell.M <= 5 else 0,
        cell.classes,
        cell.set_size,
        cell.m,
        cell.heads,
        cell.combination,
        cell.skip,
        cell.fractions,
        cell.balance,
        cell.initial,
        cell.error,
        cell.optimiser,
        cell.selector == "model",
        cell.test_samples,
        cell.probes,
        cell.records if cell.probes == "dynamics" else 0,
        cell.dtype,
    )


def _study(name: str, summary: str, smoke: Design, quick: Design, paper: Design) -> Study:
    return Study(
        id=f"li2023.{name}",
        summary=summary,
        settings=TrainingSettings,
        run=RUN,
        designs={"smoke": smoke, "quick": quick, "paper": paper},
        cost=_cost,
        resolve=resolve,
        program=_program,
    )


STUDIES = (
    _study(
        "figure_1a",
        "success of a trial over fractions and N: paper's slice, constant ratio, alpha_* fixed",
        Design(_slices((0.32, 0.36, 0.45), (0.2, 0.3, 0.5), (0.0, 0.14, 0.21), (2, 8, 32, 128)), 2),
        Design(_slices(SLICE, RATIO, SHARP, SIZES), 5),
        Design(_slices(PAPER_SLICE, PAPER_RATIO, PAPER_SHARP, PAPER_SIZES), 20),
    ),
    _study(
        "figure_3",
        "the same without learned attention: keys and queries keep their first values",
        Design(_without_attention((0.32, 0.36, 0.45), (0.2, 0.3, 0.5), (16, 128)), 2),
        Design(_without_attention(SLICE[1:], RATIO[1:], (16, 32, 64, 128, 256, 512)), 4),
        Design(_without_attention(PAPER_SLICE, PAPER_RATIO, (*PAPER_SIZES, 512, 1024, 2048)), 20),
    ),
    _study(
        "figure_1b",
        "success over the first values' error sigma and over the token noise, by N",
        Design(_errors((0.0, 0.3, 0.6), (), (8, 32, 128), ()), 4),
        Design(
            _errors(
                (0.0, 0.2, 0.4, 0.6), (0.01, 0.05, 0.1), (8, 16, 32, 64, 128), (16, 32, 64, 128)
            ),
            4,
        ),
        Design(
            _errors(
                (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7),
                (0.01, 0.03, 0.05, 0.08, 0.1, 0.15),
                PAPER_SIZES[4:],
                PAPER_SIZES[4::2],
            ),
            20,
        ),
    ),
    _study(
        "figure_2",
        "iterations until the training loss is zero, over fractions, step size and first errors",
        Design(_times((0.32, 0.36, 0.45), (0.2, 0.3, 0.5), (0.2, 0.3, 0.5)), 2),
        Design(_times(SLICE, RATIO[1:], (0.15, 0.2, 0.3, 0.4, 0.5)), 4),
        Design(_times(PAPER_SLICE, PAPER_RATIO, (0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)), 20),
    ),
    _study(
        "certificate",
        "many trials at a cell that meets the hypotheses of Theorem 1",
        Design((ASSUMED,), 10),
        Design((ASSUMED,), 40),
        Design((ASSUMED,), 299),
    ),
    _study(
        "spot_check",
        "trials of figure 1a in float64 and by the exact engine, paired by seed",
        Design(_checked((), 8), 4),
        Design(_checked(("exact",), 8, 16), 4),
        Design(_checked(("exact",), 4, 8, 16, 32), 50),
    ),
    _study(
        "batch_size",
        "success over the mini-batch size, step size scaled along",
        Design(tuple(replace(ASSUMED, B=B) for B in (2, 20)), 4),
        Design(tuple(replace(ASSUMED, B=B) for B in (2, 10, 20)), 18),
        Design(tuple(replace(ASSUMED, B=B) for B in (1, 2, 3, 5, 7, 10, 15, 20)), 60),
    ),
    _study(
        "dynamics",
        "attention, neurons and features along training, at figure 4's fractions",
        Design((DYNAMICS,), 6),
        Design((DYNAMICS,), 36),
        Design((DYNAMICS,), 100),
    ),
    _study(
        "margin_10",
        "the same trained on until every margin is 10",
        Design((FURTHER,), 3),
        Design((FURTHER,), 8),
        Design((FURTHER,), 50),
    ),
    _study(
        "shared_weights",
        "the same with one vector of output weights for all positions",
        Design((replace(DYNAMICS, output_weights="shared"),), 6),
        Design((replace(DYNAMICS, output_weights="shared"),), 36),
        Design((replace(DYNAMICS, output_weights="shared"),), 50),
    ),
    *(
        _study(
            f"figure_7{letter}",
            f"attention along training with M = {M} patterns in R^20",
            Design((replace(WIDER, M=M, records=12),), 3),
            Design((replace(WIDER, M=M, records=12),), 8),
            Design((replace(WIDER, M=M, records=40),), 50),
        )
        for letter, M in (("a", 10), ("b", 15), ("c", 20))
    ),
    _study(
        "figure_5",
        "test loss after a fixed number of steps, over what is removed and how much",
        Design(_pruned(("irrelevant", "noisy", "random"), (0.3,)), 3),
        Design((*_pruned(SELECTORS, (0.15, 0.3, 0.45)), *_pruned(ORACLES, (0.3, 0.45), SHORT)), 4),
        Design(
            _pruned((*SELECTORS, "model"), (0.1, 0.2, 0.3, 0.4, 0.5), replace(PRUNE, m=1000)), 20
        ),
    ),
    *(
        _study(
            f"figure_8{letter}",
            f"the same with M = {M} patterns in R^20",
            Design(_pruned(("irrelevant", "noisy", "random"), (0.3,), _wide(M)), 2),
            Design(_pruned(("irrelevant", "noisy", "random"), (0.15, 0.3), _wide(M)), 4),
            Design(
                _pruned(("irrelevant", "noisy", "random"), (0.1, 0.2, 0.3, 0.4), _wide(M, 1000)), 20
            ),
        )
        for letter, M in (("a", 10), ("b", 15), ("c", 20))
        for _wide in [lambda M, m=250: replace(PRUNE, d=20, m_a=20, m_b=20, M=M, m=m)]
    ),
    _study(
        "sparsified",
        "success and iterations with 40 % of the tokens removed, by N",
        Design(_sparse((32, 128), "irrelevant", "random"), 2),
        Design(_sparse((32, 128), "irrelevant", "random"), 4),
        Design(_sparse((4, 8, 16, 32, 64), "irrelevant", "noisy", "attention", "random"), 20),
    ),
    _study(
        "four_classes",
        "extension G.1: four classes, one vector of output weights for all positions",
        Design((FOUR,), 4),
        Design((FOUR,), 36),
        Design((FOUR,), 50),
    ),
    _study(
        "pattern_sets",
        "extension G.2: each pattern a set of two vectors",
        Design((SETS,), 3),
        Design((SETS,), 16),
        Design((SETS, replace(SETS, set_distance=1.0)), 30),
    ),
    _study(
        "heads",
        "extension G.3: one, two and four heads",
        Design(tuple(replace(HEADS, heads=H) for H in (1, 2)), 6),
        Design(tuple(replace(HEADS, heads=H) for H in (1, 2, 4)), 20),
        Design(
            tuple(
                replace(HEADS, heads=H, combination=c)
                for H in (1, 2, 4, 8)
                for c in ("sum", "concat")
            ),
            60,
        ),
    ),
    _study(
        "skip",
        "extension G.4: a skip connection after the attention",
        Design((SKIP,), 3),
        Design((SKIP,), 16),
        Design((SKIP,), 50),
    ),
)
