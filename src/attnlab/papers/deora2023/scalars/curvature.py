"""What curvature alone would say, and single steps of a recorded run beside it."""

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.evidence.laws import stored
from attnlab.papers.deora2023.scalars.promises import target_of
from attnlab.papers.deora2023.theory.smoothness import Betas, betas


def _at_target(record: Record) -> Betas:
    target = target_of(record)
    return betas("corrected", target.T, target.d, target.R, target.m, target.H)


def _weak_over_smooth(record: Record) -> float:
    b, H = _at_target(record), float(record["target_H"])
    return float(b.three / H**0.5 * float(record["target_start_loss"]) / b.two)


def _weak_over_smooth_trained(record: Record) -> float:
    cell, m = record.cell, float(np.asarray(record["decoder_norm"])[-1])
    b = betas("corrected", cell.T, cell.d, cell.mixture().R, m, cell.H)
    return float(b.three / cell.H**0.5 * float(record["last_loss"]) / b.two)


def _expansion_over_smooth(record: Record) -> float:
    factor = float(record["expansion"]) / float(record["equation_19_corrected"])
    return factor / (1 + float(record["eta"]) * float(_at_target(record).two))


WEAK_OVER_SMOOTH = Scalar("weak convexity's bound over the smoothness beta_2", _weak_over_smooth)
WEAK_OVER_SMOOTH_TRAINED = Scalar(
    "weak convexity's bound over the smoothness beta_2, after training", _weak_over_smooth_trained
)
EXPANSION_OVER_SMOOTH = Scalar(
    "factor of (19) over that of smoothness, 1 + eta beta_2", _expansion_over_smooth
)
REGRET_OVER_START = Scalar(
    "bound (17) over the loss at the start",
    lambda r: float(r["mean_loss"]) / float(r["equation_17"]) / float(r["target_start_loss"]),
)
LEMMA_3_OVER_START = Scalar(
    "Lemma 3's bound over the loss at the start",
    lambda r: 2 * float(r["lipschitz"]) * float(r["mean_apart"]) / float(r["target_start_loss"]),
)
RISE = Scalar("rise above the larger end", lambda r: float(r["growth"]) - 1)
OVERSHOOT = Scalar(
    "distance of the last iterate to the target over 3D",
    lambda r: float(r["overshoot_over_D"]) / 3,
)
SELF_BOUNDED = Scalar("4/3 over exp(beta_1 r/2)", lambda r: 4 / 3 / float(r["self_bounded_growth"]))
WEAK_OVER_SMOOTH_PAIR = stored(
    "weak_over_smooth_corrected", "weak convexity's bound over that of smoothness"
)


def _recorded_descent(record: Record) -> float:
    """The smallest decrease over eta/2 |grad L|^2, where two records are one step apart."""
    t, loss = np.asarray(record["times"]), np.asarray(record["loss"])
    one = np.diff(t) == 1
    promised = float(record["eta"]) / 2 * np.asarray(record["gradient_norm"])[:-1] ** 2
    return float((-np.diff(loss)[one] / promised[one]).min())


def step_times_smoothness(record: Record) -> float:
    """eta beta_2 at its largest along a recorded run, with the paper's beta_2."""
    cell, m = record.cell, np.asarray(record["decoder_norm"])
    b = betas("corrected", cell.T, cell.d, cell.mixture().R, m, cell.H)
    return float(record["eta"]) * float(np.max(b.two))


def step_times_smoothness_at_target(record: Record) -> float:
    """eta beta_2 at the target's heads, with the paper's beta_2."""
    return float(record["eta"]) * float(_at_target(record).two)


def closeness_of_left_out(record: Record) -> float:
    """(18) of a model and its leave-one-out models, from above: none is n times the mean apart."""
    apart = record.cell.n * float(record["mean_apart"])
    return float(2 * _at_target(record).three * apart**2 / float(record["target_H"]) ** 0.5)


DESCENT = Scalar("decrease of a step over eta/2 |grad L|^2", _recorded_descent)
