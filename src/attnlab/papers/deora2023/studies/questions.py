"""Studies of section 7's questions on rank, loss, start and the number of heads."""

from attnlab.papers.deora2023.settings.questions import (
    LossName,
    LossSettings,
    OtherStart,
    OtherStartSettings,
    ParitySettings,
    RankSettings,
)
from attnlab.papers.deora2023.studies.common import NOISE_LEVEL, sooner, study

SPARSE = {"zeta": 0.25, "noise": "uniform", **NOISE_LEVEL}
TAILS: tuple[LossName, ...] = ("logistic", "exponential", "heavy_tailed")
VARIANTS: tuple[OtherStart, ...] = ("gaussian", "class_means", "steps", "few_samples", "zero")

RANKS = tuple(RankSettings(d_h=d_h, **SPARSE) for d_h in (1, 2, 4))
LOSSES = tuple(LossSettings(loss=loss, **SPARSE) for loss in TAILS)
STARTS = tuple(
    OtherStartSettings(variant=v, S=2.0, noise="uniform", **NOISE_LEVEL) for v in VARIANTS
)
PARITY = tuple(ParitySettings(H=H) for H in (2, 4))

STUDIES = (
    study(
        "low_rank",
        "two heads with attention of rank d_h, beside full rank and a free W",
        RankSettings,
        "two_heads:two_heads",
        (sooner(RANKS[::2], 200), 16, 2),
        (RANKS, 16, 4),
        (RANKS, 100, 10),
        seconds=0.15,
    ),
    study(
        "losses",
        "two heads trained on three self-bounded losses",
        LossSettings,
        "two_heads:two_heads",
        (LOSSES, 2, 4),
        (LOSSES, 5, 4),
        (LOSSES, 50, 5),
        seconds=0.15,
    ),
    study(
        "parity",
        "one head and several on the parity of two tokens, read at a query token",
        ParitySettings,
        "several_heads:several_heads",
        (PARITY[:1], 4, 4),
        (PARITY, 10, 4),
        (PARITY, 100, 10),
        seconds=0.3,
    ),
    # After the others: its steps need the program of the first two, by then in the cache.
    study(
        "other_starts",
        "P1, P2 and the NTK margin of five starts, beside phase 1",
        OtherStartSettings,
        "other_starts:other_start",
        (STARTS, 4, 1),
        (STARTS, 12, 2),
        (STARTS, 100, 10),
    ),
)
