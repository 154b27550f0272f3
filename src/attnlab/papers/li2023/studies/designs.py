"""The cells of the li2023 studies.

Cells that differ in what is drawn have seeds of their own; those that differ only in training,
selection or measuring share their draws and are compared pair by pair.
"""

from collections.abc import Sequence
from dataclasses import replace

from attnlab.evidence.sequential import ThresholdSearch
from attnlab.papers.li2023.settings import TrainingSettings

MAP = TrainingSettings(engine="collapsed", approximate=True, eta=0.2, steps=12000, N=64)
"""The maps: the paper's token noise, by the engine that is approximate for it; small steps, as the
proofs assume, and enough of them. N is left to the search."""
SLICE = (0.28, 0.3, 0.32, 0.35, 0.39, 0.44)
RATIO = (0.1, 0.2, 0.3, 0.4, 0.5)
"""At alpha_# = 0.3 alpha_*, which meets (8)."""
SHARP = (0.0, 0.07, 0.14, 0.21)
PAPER_SLICE = (0.28, 0.29, 0.3, 0.31, 0.32, 0.34, 0.35, 0.36, 0.39, 0.42, 0.45, 0.48)
PAPER_RATIO = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
PAPER_SHARP = (0.0, 0.05, 0.1, 0.14, 0.18, 0.21, 0.24, 0.26, 0.28)
FROZEN_SLICE = (0.32, 0.35, 0.39, 0.44)


def sizes(largest: int, ratio: float = 2**0.5) -> tuple[int, ...]:
    """Sample sizes from 2 on, each about `ratio` times the one before."""
    found, size = [], 2.0
    while size <= 1.001 * largest:
        found.append(round(size))
        size *= ratio
    return tuple(dict.fromkeys(found))


def search(most: int, width: float, largest: int = 512, ratio: float = 2**0.5) -> ThresholdSearch:
    """Looks for N50 from 2 samples on, beginning at 8 and 64."""
    return ThresholdSearch(sizes(largest, ratio), (8, 64), width=width, most=most)


SEARCHES = {
    "smoke": search(24, 3.0),
    "quick": search(44, 2.0),
    "paper": search(160, 1.5, 2048, 2**0.25),
}
COARSE = search(20, 2.5)
"""What a universe affords."""


def slices(
    shares: Sequence[float],
    ratios: Sequence[float],
    confusions: Sequence[float],
    base: TrainingSettings = MAP,
) -> tuple[TrainingSettings, ...]:
    """Arms by slice: the paper's, a constant ratio, and alpha_* = .35 fixed."""
    cells = [replace(base, confusion="paper_slice", alpha_star=a) for a in shares]
    cells += [replace(base, confusion="constant_ratio", alpha_star=a) for a in ratios]
    cells += [replace(base, confusion="number", alpha_sharp=s) for s in confusions]
    return tuple(cells)


def without_attention(
    shares: Sequence[float], ratios: Sequence[float]
) -> tuple[TrainingSettings, ...]:
    """The same with keys and queries left at their first values."""
    return slices(shares, ratios, (), replace(MAP, attention="frozen"))


def small_fractions(shares: Sequence[float], L: int) -> tuple[TrainingSettings, ...]:
    """A constant ratio down to few relevant tokens, with and without learned attention."""
    base = replace(MAP, confusion="constant_ratio", alpha_star=0.4, L=L, steps=20000, eta=0.5)
    return tuple(
        replace(base, alpha_star=a, attention=kind)
        for kind in ("trained", "frozen")
        for a in shares
    )


# --- figure 1b --------------------------------------------------------------------------------

VALUES = replace(MAP, L=50, alpha_star=0.3, alpha_sharp=0.2)
READINGS = ("worst", "scale")
"""What sigma may mean beside the error of Assumption 1."""
NOISE = replace(VALUES, engine="exact", approximate=False, m=250, test_samples=200, eta=0.5)
"""Token noise needs the exact engine: fewer neurons and longer steps, to save time (ours)."""


def errors(
    sigmas: Sequence[float], readings: Sequence[str] = ("error",), L: int = VALUES.L
) -> tuple[TrainingSettings, ...]:
    """Arms over sigma, by what it means."""
    return tuple(
        replace(VALUES, sigma=s, L=L, sigma_as=reading)  # pyright: ignore[reportArgumentType]
        for reading in readings
        for s in sigmas
    )


def noises(levels: Sequence[float]) -> tuple[TrainingSettings, ...]:
    """Arms over the token noise."""
    return tuple(replace(NOISE, c0=c) for c in levels)


# --- figure 2 ---------------------------------------------------------------------------------

TIMES = replace(MAP, N=128, eta=0.5)
REST = replace(TIMES, confusion="constant_ratio", alpha_star=0.3)
"""Where the rest of (11) is varied. Each of its parts has a study of its own, so that a universe
may take another step size or reading of sigma for all cells of one."""


def times(
    shares: Sequence[float], ratios: Sequence[float], alone: Sequence[float]
) -> tuple[TrainingSettings, ...]:
    """Cells over the fractions: the paper's slice, a constant ratio, no confusion tokens."""
    cells = [replace(TIMES, confusion="paper_slice", alpha_star=a) for a in shares]
    cells += [replace(TIMES, confusion="constant_ratio", alpha_star=a) for a in ratios]
    return (*cells, *(replace(TIMES, alpha_star=a, alpha_sharp=0.0) for a in alone))


STEP_SIZES = tuple(replace(REST, eta=eta) for eta in (0.125, 0.25, 0.5, 1.0))


def first_errors(sigmas: Sequence[float], deltas: Sequence[float]) -> tuple[TrainingSettings, ...]:
    """Cells over the first values' error, and over that of keys and queries."""
    over_sigma = (replace(REST, sigma=sigma) for sigma in sigmas)
    return (REST, *over_sigma, *(replace(REST, delta=delta) for delta in deltas))


def error_readings(sigmas: Sequence[float]) -> tuple[TrainingSettings, ...]:
    """Cells over sigma as the worst error, and as a scale."""
    return tuple(
        replace(REST, sigma=sigma, sigma_as=reading)  # pyright: ignore[reportArgumentType]
        for reading in READINGS
        for sigma in sigmas
    )


# --- the dynamics -----------------------------------------------------------------------------

DYNAMICS = replace(
    MAP, N=128, alpha_star=0.5, alpha_sharp=0.05, eta=0.5, probes="dynamics", steps=1000, records=24
)
"""Figure 4's fractions with |S| = 100, where 5 % of confusion tokens are a whole number."""
PRINTED = replace(
    DYNAMICS, N=200, L=50, fractions="in_turn", engine="exact", approximate=False, records=16,
    test_samples=200,
)  # fmt: skip
"""Figure 4 as printed: of its 50 tokens 2 and 3 in turn are confusion tokens, 2.5 on average."""
FURTHER = replace(DYNAMICS, margin=10.0, steps=2000)
WIDER = replace(DYNAMICS, d=20, m_a=20, m_b=20)
ASSUMED = replace(MAP, N=64, alpha_star=0.42, confusion="paper_slice", eta=0.5)
"""Meets (8): the cell of Theorem 1's certificate."""

# --- sparsification ---------------------------------------------------------------------------

PRUNE = TrainingSettings(
    N=64, L=50, m=250, alpha_star=0.3, alpha_sharp=0.1, normalise=True, c0=0.05, noisy_share=0.3,
    noisy_c0=0.5, steps=100, stop="fixed", eta=1.0, engine="exact", test_samples=200,
)  # fmt: skip
"""Figure 5's settings are lost, and these are inferred from what it needs to show anything: after
100 steps training goes on, and there is a loss to lower."""
LONGER = 400
"""Steps after which the training loss is zero with all tokens."""
ORACLES = ("irrelevant", "noisy", "random")
SELECTORS = (*ORACLES, "attention", "value_norm", "distance")


def pruned(
    selectors: Sequence[str], removed: Sequence[float], base: TrainingSettings = PRUNE
) -> tuple[TrainingSettings, ...]:
    """Cells over what is removed first and how much; removing nothing is one cell.

    No more is removed as noisy than there is: the rest would go at random.
    """
    some = (
        replace(base, selector=s, removed=r)  # pyright: ignore[reportArgumentType]
        for s in selectors
        for r in removed
        if s != "noisy" or r <= base.noisy_share
    )
    return (base, *some)


READ_OTHERWISE = {
    "100 steps, places anew": {"positions": "renumbered"},
    "400 steps, first places": {"steps": LONGER},
    "400 steps, places anew": {"steps": LONGER, "positions": "renumbered"},
    "set to zero": {"removal": "zeroed"},
    "at test only": {"prune_at": "test"},
}
"""What figure 5 may mean otherwise: with the first one the two by two of stopping and places."""


def variants(
    selectors: Sequence[str], most: float, base: TrainingSettings = PRUNE, read: int = 5
) -> tuple[TrainingSettings, ...]:
    """The cells of the first few of these readings, without removal and with the most of it."""
    levels = (base.noisy_share, most)
    found: dict[TrainingSettings, None] = {}
    for changes in list(READ_OTHERWISE.values())[:read]:
        for cell in pruned(selectors, levels, replace(base, **changes)):
            if cell.selector != "none" or cell.positions == "original":
                found.setdefault(cell)
    return tuple(found)


def wider(M: int, m: int = 250) -> TrainingSettings:
    """Figure 8's: M patterns in R^20."""
    return replace(PRUNE, d=20, m_a=20, m_b=20, M=M, m=m)


WIDER_M = (10, 15, 20)


SPARSE = replace(PRUNE, stop="zero_loss", steps=1500)


def sparse(sizes: Sequence[int], *selectors: str) -> tuple[TrainingSettings, ...]:
    """Cells over N, with 40 % of the tokens removed by each selector (noisy: all), and none."""
    cells = [replace(SPARSE, N=N) for N in sizes]
    for name in selectors:
        removed = SPARSE.noisy_share if name == "noisy" else 0.4
        cells += [replace(SPARSE, N=N, selector=name, removed=removed) for N in sizes]  # pyright: ignore[reportArgumentType]
    return tuple(cells)


BOUGHT = replace(SPARSE, positions="renumbered", N=32)
"""What a selector buys: removed tokens are gone, and those kept are numbered anew."""


def bought(shares: Sequence[float], *selectors: str) -> tuple[TrainingSettings, ...]:
    """Arms: no removal, each selector at 40 % (noisy: all), and the oracle at several shares."""
    cells = [replace(BOUGHT, positions="original")]
    for name in selectors:
        removed = BOUGHT.noisy_share if name == "noisy" else 0.4
        cells.append(replace(BOUGHT, selector=name, removed=removed))  # pyright: ignore[reportArgumentType]
    cells += [replace(BOUGHT, selector="irrelevant", removed=share) for share in shares]
    return tuple(dict.fromkeys(cells))


# --- open questions ---------------------------------------------------------------------------

ROBUST = replace(MAP, alpha_sharp=0.14, steps=3000, eta=0.5)
OTHERWISE = (
    ("eta", 0.1), ("eta", 1.0), ("B", 5), ("loss", "logistic"), ("layer_norm", True),
    ("queries", "other"),
)  # fmt: skip
"""One choice at a time."""


def robust(choices: Sequence[tuple[str, object]]) -> tuple[TrainingSettings, ...]:
    """The base, and its neighbours in one choice each."""
    return (ROBUST, *(replace(ROBUST, **{name: value}) for name, value in choices))


NOISE_MAP = replace(NOISE, N=24, confusion="constant_ratio", alpha_star=0.4)


def noise_map(shares: Sequence[float], noises: Sequence[float]) -> tuple[TrainingSettings, ...]:
    """Cells over fraction, token noise, and whether attention is learned."""
    return tuple(
        replace(NOISE_MAP, alpha_star=a, c0=c, attention=kind)
        for kind in ("trained", "frozen")
        for a in shares
        for c in noises
    )


# --- extensions -------------------------------------------------------------------------------

FOUR = replace(
    MAP, N=64, classes=4, M=6, alpha_star=0.4, alpha_sharp=0.12, output_weights="shared", eta=0.5
)
SETS = replace(
    DYNAMICS, d=20, m_a=20, m_b=20, M=5, set_size=2, set_distance=0.5, N=64, m=250,
    L=40, engine="exact", approximate=False, eta=1.0, steps=500, records=12, test_samples=200,
)  # fmt: skip
HEADS = replace(MAP, N=64, confusion="constant_ratio", alpha_star=0.3, eta=0.5)
SKIP = replace(DYNAMICS, skip=True, N=64)

# --- how far the maps can be trusted ----------------------------------------------------------

CHECKED = replace(MAP, confusion="paper_slice", eta=0.5)


def checked(sizes: Sequence[int], exact: bool) -> tuple[TrainingSettings, ...]:
    """The same trials in both precisions, and by both engines (at the smaller network)."""
    cells = [replace(CHECKED, N=N, dtype=d) for N in sizes for d in ("float32", "float64")]
    if exact:
        collapsed = replace(NOISE, engine="collapsed", approximate=True)
        cells += [replace(c, N=8 * N // 3) for N in sizes for c in (NOISE, collapsed)]
    return tuple(cells)
