"""The cells of the li2023 studies.

Cells that differ in what is drawn have seeds of their own; those that differ only in training,
selection or measuring share their draws and are compared pair by pair.
"""

from collections.abc import Sequence
from dataclasses import replace

from attnlab.papers.li2023.settings import TrainingSettings

MAP = TrainingSettings(engine="collapsed", approximate=True, eta=1.0)
"""The maps: the paper's token noise, by the engine that is approximate for it."""
SLICE = (0.29, 0.3, 0.32, 0.34, 0.36, 0.39, 0.42, 0.45, 0.48)
RATIO = (0.1, 0.2, 0.3, 0.4, 0.5)
"""At alpha_# = 0.3 alpha_*, which meets (8)."""
SHARP = (0.0, 0.07, 0.14, 0.21, 0.26)
SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96)
FEW_SIZES = (2, 4, 8, 16, 32, 64, 128)
PAPER_SLICE = (0.28, 0.29, 0.3, 0.31, 0.32, 0.34, 0.35, 0.36, 0.39, 0.42, 0.45, 0.48)
PAPER_RATIO = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7)
PAPER_SHARP = (0.0, 0.05, 0.1, 0.14, 0.18, 0.21, 0.24, 0.26, 0.28)
PAPER_SIZES = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256)
FROZEN_SLICE = (0.34, 0.36, 0.39, 0.42, 0.45)
"""Where at most 128 samples are enough without learned attention."""
FROZEN_SIZES = (8, 16, 24, 32, 48, 64, 96, 128)


def slices(
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


def without_attention(
    shares: Sequence[float], ratios: Sequence[float], sizes: Sequence[int]
) -> tuple[TrainingSettings, ...]:
    """The same with keys and queries left at their first values."""
    return slices(shares, ratios, (), sizes, replace(MAP, attention="frozen"))


# --- figure 1b --------------------------------------------------------------------------------

VALUES = replace(MAP, L=50, alpha_star=0.3, alpha_sharp=0.2)
NOISE = replace(VALUES, engine="exact", approximate=False, m=250, test_samples=200)
"""Token noise needs the exact engine: fewer neurons, to save time (ours)."""


def errors(
    sigmas: Sequence[float], sizes: Sequence[int], L: int = VALUES.L
) -> tuple[TrainingSettings, ...]:
    """Cells over (sigma, N)."""
    return tuple(replace(VALUES, sigma=s, N=N, L=L) for s in sigmas for N in sizes)


def noises(levels: Sequence[float], sizes: Sequence[int]) -> tuple[TrainingSettings, ...]:
    """Cells over (token noise, N)."""
    return tuple(replace(NOISE, c0=c, N=N) for c in levels for N in sizes)


# --- figure 2 ---------------------------------------------------------------------------------

TIMES = replace(MAP, N=128, eta=0.5)


def times(
    shares: Sequence[float],
    ratios: Sequence[float],
    alone: Sequence[float],
    sigmas: Sequence[float],
    deltas: Sequence[float],
) -> tuple[TrainingSettings, ...]:
    """Cells over the fractions, and over step size and first errors at a constant ratio."""
    ratio = replace(TIMES, confusion="constant_ratio", alpha_star=0.3)
    cells = [replace(TIMES, confusion="paper_slice", alpha_star=a) for a in shares]
    cells += [replace(ratio, alpha_star=a) for a in ratios]
    cells += [replace(TIMES, alpha_star=a, alpha_sharp=0.0) for a in alone]
    cells += [replace(ratio, eta=eta) for eta in (0.125, 0.25, 0.5, 1.0)]
    cells += [replace(ratio, sigma=sigma) for sigma in sigmas]
    cells += [replace(ratio, delta=delta) for delta in deltas]
    return tuple(dict.fromkeys(cells))


# --- the dynamics -----------------------------------------------------------------------------

DYNAMICS = replace(
    MAP, N=128, alpha_star=0.5, alpha_sharp=0.05, eta=0.5, probes="dynamics", steps=1000, records=24
)
"""Figure 4's fractions. |S| is 100, not 50: 50 tokens would need 2.5 confusion tokens."""
FURTHER = replace(DYNAMICS, margin=10.0, steps=2000)
WIDER = replace(DYNAMICS, d=20, m_a=20, m_b=20)
ASSUMED = replace(MAP, N=64, alpha_star=0.42, confusion="paper_slice")
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


def variants(selectors: Sequence[str], most: float) -> tuple[TrainingSettings, ...]:
    """Other readings of figure 5: longer training, tokens numbered anew, zeroed, at test only."""
    levels = (PRUNE.noisy_share, most)
    return (
        *pruned(selectors, levels, replace(PRUNE, steps=LONGER)),
        *pruned(selectors, levels, replace(PRUNE, positions="renumbered"))[1:],
        *pruned(selectors, levels, replace(PRUNE, removal="zeroed"))[1:],
        *pruned(selectors, levels, replace(PRUNE, prune_at="test"))[1:],
    )


def wider(M: int, m: int = 250) -> TrainingSettings:
    """Figure 8's: M patterns in R^20."""
    return replace(PRUNE, d=20, m_a=20, m_b=20, M=M, m=m)


SPARSE = replace(PRUNE, stop="zero_loss", steps=1500)


def sparse(sizes: Sequence[int], *selectors: str) -> tuple[TrainingSettings, ...]:
    """Cells over N, with 40 % of the tokens removed by each selector (noisy: all), and none."""
    cells = [replace(SPARSE, N=N) for N in sizes]
    for name in selectors:
        removed = SPARSE.noisy_share if name == "noisy" else 0.4
        cells += [replace(SPARSE, N=N, selector=name, removed=removed) for N in sizes]  # pyright: ignore[reportArgumentType]
    return tuple(cells)


# --- extensions -------------------------------------------------------------------------------

FOUR = replace(MAP, N=64, classes=4, M=6, alpha_star=0.4, alpha_sharp=0.12, output_weights="shared")
SETS = replace(
    DYNAMICS, d=20, m_a=20, m_b=20, M=5, set_size=2, set_distance=0.5, N=64, m=250,
    L=40, engine="exact", approximate=False, eta=1.0, steps=500, records=12, test_samples=200,
)  # fmt: skip
HEADS = replace(MAP, N=64, confusion="constant_ratio", alpha_star=0.3)
SKIP = replace(DYNAMICS, skip=True, N=64)

# --- how far the maps can be trusted ----------------------------------------------------------

CHECKED = replace(MAP, confusion="paper_slice")


def checked(sizes: Sequence[int], exact: bool) -> tuple[TrainingSettings, ...]:
    """The same trials in both precisions, and by both engines (at the smaller network)."""
    cells = [replace(CHECKED, N=N, dtype=d) for N in sizes for d in ("float32", "float64")]
    if exact:
        collapsed = replace(NOISE, engine="collapsed", approximate=True)
        cells += [replace(c, N=8 * N // 3) for N in sizes for c in (NOISE, collapsed)]
    return tuple(cells)
