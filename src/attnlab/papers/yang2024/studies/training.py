"""Studies that train: at the paper's own sizes, through phase 1, to a small loss, frozen."""

from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings import TrainingSettings
from attnlab.papers.yang2024.studies.resolving import resolve

TRAIN = "attnlab.papers.yang2024.runs.training:train"


def _cost(cell: TrainingSettings) -> float:
    """Rough seconds of a run on one core, compilation left out (measured on two machines)."""
    size = cell.m * (cell.n * cell.L + cell.vocabulary) * 1e-9
    if cell.method == "flow":
        return 0.1 + 5e-8 * cell.vocabulary**3
    return 0.1 + cell.steps * (4e-5 + 3 * size)


# --- appendix A -------------------------------------------------------------------------------


def _appendix_a(**changes) -> TrainingSettings:
    """The sizes of the paper's own experiment."""
    return TrainingSettings(
        d=64, m=128, m1=256, words="repeated", method="descent", records=160, **changes
    )


def _short(cell: TrainingSettings) -> TrainingSettings:
    return replace(cell, steps=6_000)


MATCHING = _appendix_a(weights="linear_default", output_layer="same_as_weights")
LITERAL = _appendix_a(weights="kaiming_normal", output_layer="sign")

APPENDIX_A = Study(
    id="yang2024.appendix_a",
    summary="30,000 steps of descent at the paper's own sizes, under two initialisations",
    settings=TrainingSettings,
    run=TRAIN,
    designs={
        "smoke": Design((_short(MATCHING), _short(LITERAL)), 2),
        "quick": Design((MATCHING, LITERAL), 20, 2),
        "paper": Design((MATCHING, LITERAL), 100),
    },
    cost=_cost,
    resolve=resolve,
)

# --- both phases ------------------------------------------------------------------------------

SMALL = TrainingSettings(n=24, L=4, records=100, probes="auto")
"""A small balanced set: n is above L^2 and above 3 (L + 1), the limit's own requirement.

All its runs take all probes: one compiled program for every width, phase and control.
"""
LATE = replace(SMALL, horizon=1e9, target_loss=1e-6)
WIDE = replace(SMALL, m=2**14)
WIDTHS = tuple(2**k for k in (9, 11, 13, 15, 17, 20))
BESIDE_TRAINED = replace(LATE, c0=1.0)
"""Condition 1's own scale of the initialisation, at which attention learns soonest."""


def over(setting: str, *levels: float, base: TrainingSettings = SMALL):
    """A cell for each level of a setting."""
    return tuple(replace(base, **{setting: level}) for level in levels)


def _with_and_without_attention(*widths: int) -> tuple[TrainingSettings, ...]:
    return tuple(
        replace(BESIDE_TRAINED, m=m, attention=attention)
        for m in widths
        for attention in ("trained", "frozen")
    )


PHASE_1 = Study(
    id="yang2024.phase_1",
    summary="gradient flow from the theory's initialisation through the first phase, over m",
    settings=TrainingSettings,
    run=TRAIN,
    designs={
        "smoke": Design(over("m", 2**9, 2**12, 2**15, 2**18), 12),
        "quick": Design(over("m", *WIDTHS), 10, 5),
        "paper": Design(over("m", *(2**k for k in range(9, 21))), 100),
    },
    cost=_cost,
    resolve=resolve,
)

INITIAL_SCALE = Study(
    id="yang2024.initial_scale",
    summary="the first phase over the scale c0 of the initialisation, of one draw each",
    settings=TrainingSettings,
    run=TRAIN,
    designs={
        "smoke": Design(over("c0", 0.001, 0.01, 0.1, base=WIDE), 6),
        "quick": Design(over("c0", 0.001, 0.01, 0.1, base=WIDE), 20, 10),
        "paper": Design(over("c0", 0.001, 0.003, 0.01, 0.03, 0.1, base=WIDE), 100),
    },
    cost=_cost,
    resolve=resolve,
)

PHASE_2 = Study(
    id="yang2024.phase_2",
    summary="gradient flow from the theory's initialisation until the loss is 1e-6, over m",
    settings=TrainingSettings,
    run=TRAIN,
    designs={
        "smoke": Design(over("m", 2**11, 2**14, 2**17, 2**20, base=LATE), 16),
        "quick": Design(over("m", *(2**k for k in range(10, 21, 2)), base=LATE), 20, 5),
        "paper": Design(over("m", *(2**k for k in range(10, 21)), base=LATE), 100),
    },
    cost=_cost,
    resolve=resolve,
)

COUPLED = (
    (24, 4, 2**10, 64), (24, 4, 2**12, 64), (48, 5, 2**13, 80), (48, 5, 2**15, 80),
    (48, 5, 2**17, 80), (84, 6, 2**17, 98), (84, 6, 2**18, 98),
)  # fmt: skip
"""n, L, m, m1: L near log m / 2, m1 near 8 log m, n near L^2 log m / 5, as far as they fit.

The last two, with five times as many words as the first, are for scale paper: a run takes 6 s.
"""


def _coupled(*which: int) -> tuple[TrainingSettings, ...]:
    """To a loss of 1/m."""
    return tuple(
        replace(SMALL, n=n, L=L, m=m, m1=m1, horizon=1e9, target_loss=1 / m)
        for n, L, m, m1 in (COUPLED[k] for k in which)
    )


DRAWN_PATH = Study(
    id="yang2024.drawn_path",
    summary="drawn weights at sizes coupled to m, with single neurons, to a loss of 1/m",
    settings=TrainingSettings,
    run=TRAIN,
    designs={
        "smoke": Design(_coupled(0, 1, 2, 3), 6),
        "quick": Design(_coupled(*range(5)), 8, 3),
        "paper": Design(_coupled(*range(7)), 40),
    },
    cost=_cost,
    resolve=resolve,
)

FROZEN = Study(
    id="yang2024.frozen",
    summary="the same runs with attention trained and frozen, at Condition 1's own scale",
    settings=TrainingSettings,
    run=TRAIN,
    designs={
        "smoke": Design(_with_and_without_attention(128), 16),
        "quick": Design(_with_and_without_attention(128, 1024), 20, 10),
        "paper": Design(_with_and_without_attention(128, 512, 2048, 8192), 100),
    },
    cost=_cost,
    resolve=resolve,
)

# --- the directions of section 5 --------------------------------------------------------------

_STEPPED = replace(SMALL, m=512, probes="words", steps=1500, learning_rate=2e-4, method="descent")
DIRECTED = {
    "descent": _STEPPED,
    "momentum": replace(_STEPPED, method="momentum", learning_rate=2e-5),
    "Adam": replace(_STEPPED, method="adam", learning_rate=1e-4),
    "repeated words": replace(_STEPPED, words="repeated", d=15),
    "independent samples": replace(_STEPPED, sampler="independent", n=48),
}
"""By the direction's name, its cell: 12 random words for 40 places; types in random numbers."""

DIRECTIONS = Study(
    id="yang2024.directions",
    summary="momentum, Adam, repeated words and independent samples, in steps at m = 512",
    settings=TrainingSettings,
    run=TRAIN,
    designs={
        "smoke": Design(
            tuple(DIRECTED[k] for k in ("momentum", "Adam", "independent samples")), 8, 4
        ),
        "quick": Design(tuple(DIRECTED.values()), 16, 4),
        "paper": Design(tuple(DIRECTED.values()), 100),
    },
    cost=_cost,
    resolve=resolve,
)
