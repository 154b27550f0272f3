"""Scalars of late training on classes of words, of Figure 1, and of runs with frozen attention."""

import math
from collections.abc import Callable

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.evidence.laws import stored
from attnlab.papers.yang2024.runs.summaries.phase_2 import PAIRS
from attnlab.papers.yang2024.runs.summaries.series import at_time
from attnlab.papers.yang2024.theory.asymptote import (
    samples_for_seen_words,
    samples_for_unseen_words,
)

Threshold = Callable[[float], float]
TEST_LOSS_IN_TIME = stored("test_loss_time_exponent", "exponent in time of the test loss")
WORST_IMPROVES = Scalar(
    "whether the worst new sample's margin grows in late time",
    lambda record: float(record["worst_margin_log_slope"] > 0),
)


def on_side(key: str, words: str, least: Threshold, sign: float = 1.0) -> Scalar:
    """A value, positive where its sign is the one that n above or below `least(L)` predicts."""
    return Scalar(
        f"{words}, signed by the predicted side",
        lambda r: sign * float(r[key]) * math.copysign(1.0, r.cell.n - least(r.cell.L)),
    )


def unseen_margin(least: Threshold = samples_for_unseen_words) -> Scalar:
    """The last margin of samples with words never seen, on the predicted side or not."""
    return on_side("unseen_margin_end", "margin of new words at the end", least)


def worst_growth(least: Threshold = samples_for_seen_words) -> Scalar:
    """The growth of the margin with the worst words of training, on the predicted side or not."""
    return on_side("worst_margin_log_slope", "slope of the worst margin in log t", least)


UNSEEN_GROWTH = on_side(
    "unseen_margin_log_slope", "slope of that margin in log t", samples_for_unseen_words
)
TEST_LOSS_FALL = on_side(
    "test_loss_time_exponent", "exponent of the test loss in time", samples_for_seen_words, -1.0
)


def loss_at(tau: float) -> Scalar:
    """The training loss at rho(0) t = tau; nan if the run has ended before."""
    return Scalar(
        f"loss at rho(0) t = {tau:g}",
        lambda r: float(at_time(r.values, "loss", tau / float(r["rho"][0]))),
    )


# --- Figure 1 ---------------------------------------------------------------------------------


def _scores(record: Record, time: float | None = None) -> np.ndarray:
    """The four scores' signed change until a time, or until the end."""
    S = record["scores"]
    last = S[-1] if time is None else at_time(record.values, "scores", time)
    return np.array([sign * (last - S[0])[key, query] for key, query, sign in PAIRS])


def _early_part(record: Record) -> float:
    with np.errstate(divide="ignore", invalid="ignore"):
        early = np.abs(_scores(record, float(record["T1_every_sample"]))) / _scores(record)
    return float(early.max())


def _peak(*types: int) -> Callable[[Record], float]:
    def peak(record: Record) -> float:
        losses = record["loss_by_type"][:, [t - 1 for t in types]]
        return float((losses.max(axis=0) / losses[0]).min())

    return peak


def _late_fall(record: Record) -> float:
    boundary = at_time(record.values, "loss_by_type", float(record["T1_every_sample"]))
    return float((record["loss_by_type"][-1] / boundary).max())


LEAST_SCORE_CHANGE = Scalar("least signed change of the four scores", lambda r: _scores(r).min())
EARLY_PART = Scalar("part of a score's change that phase 1 makes", _early_part)
ONE_SIGNAL_PEAK = Scalar("peak over first loss of the types with one signal", _peak(2, 3))
BOTH_SIGNALS_PEAK = Scalar("peak over first loss of the type with both signals", _peak(1))
LATE_FALL = Scalar("last loss of a type over that at T1", _late_fall)
