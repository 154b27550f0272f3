"""Studies of section 7's questions on rank, loss, start and the number of heads."""

from attnlab.papers.deora2023.question_settings import (
    LossName,
    LossSettings,
    OtherStartSettings,
    ParitySettings,
    RankSettings,
    StartName,
)
from attnlab.papers.deora2023.studies.common import NOISE, shapes, sooner, study

SPARSE = {"zeta": 0.25, "noise": "uniform", **NOISE}
TAILS: tuple[LossName, ...] = ("logistic", "exponential", "heavy_tailed")
VARIANTS: tuple[StartName, ...] = ("gaussian", "class_means", "steps", "few_samples", "zero")

RANKS = tuple(RankSettings(d_h=d_h, **SPARSE) for d_h in (1, 2, 4))
LOSSES = tuple(LossSettings(loss=loss, **SPARSE) for loss in TAILS)
STARTS = tuple(OtherStartSettings(variant=v, S=2.0, noise="uniform", **NOISE) for v in VARIANTS)
PARITY = tuple(ParitySettings(H=H) for H in (2, 4))

STUDIES = (
    study(
        "low_rank",
        "two heads with attention of rank d_h, beside full rank and a free W",
        RankSettings,
        "question_runs:two_heads",
        (sooner(RANKS[::2], 200), 16, 2),
        (RANKS, 16, 4),
        (RANKS, 100, 10),
        program=shapes,
        seconds=0.15,
    ),
    study(
        "losses",
        "two heads trained on three self-bounded losses",
        LossSettings,
        "question_runs:two_heads",
        (LOSSES, 2, 4),
        (LOSSES, 5, 4),
        (LOSSES, 50, 5),
        program=shapes,
        seconds=0.15,
    ),
    study(
        "parity",
        "one head and several on the parity of two tokens, read at a query token",
        ParitySettings,
        "several_heads_runs:several_heads",
        (PARITY[:1], 4, 4),
        (PARITY, 10, 4),
        (PARITY, 100, 10),
        program=lambda cell: (cell.T, cell.d, cell.n),
        seconds=0.3,
    ),
    # After the others: its steps need the program of the first two, by then in the cache.
    study(
        "other_starts",
        "P1, P2 and the NTK margin of five starts, beside phase 1",
        OtherStartSettings,
        "other_start_runs:other_start",
        (STARTS, 4, 1),
        (STARTS, 12, 2),
        (STARTS, 100, 10),
        program=shapes,
    ),
)
