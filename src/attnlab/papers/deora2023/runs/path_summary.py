"""Section 6.1 step by step: each inequality as a quotient or a slack over the whole path."""

from typing import Generic, NamedTuple, TypeVar

import numpy as np

from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import PROOFS, Target
from attnlab.papers.deora2023.theory.smoothness import Variant, beta_1, beta_3, betas

Numbers = TypeVar("Numbers")
VARIANTS: tuple[Variant, ...] = ("corrected", "sharp")


class PathSeries(NamedTuple, Generic[Numbers]):
    """A path as arrays over its k padded steps; after K it stands still.

    On segments to the target (k, a): at a places of each, the smallest eigenvalue on each of some
    segments (c,).
    """

    loss: Numbers
    gradient: Numbers
    from_start: Numbers
    from_target: Numbers
    decoder_norm: Numbers
    along: Numbers
    """<grad L_k, theta - theta_k>."""
    segment_loss: Numbers
    segment_lambda: Numbers
    target_loss: Numbers


Path = PathSeries[np.ndarray]


class LongPath(NamedTuple):
    """The records of a long path, the first at its start and the last at its end."""

    loss: np.ndarray
    sum: np.ndarray
    """Of the losses of all steps before the record."""
    from_start: np.ndarray
    from_target: np.ndarray
    decoder_norm: np.ndarray


def summarise(path: Path, target: Target, eta: float, every: int) -> dict[str, float | np.ndarray]:
    """All scalars of a path of K steps."""
    K = int(target.K)
    loss = path.loss
    reached = slice(0, K + 1)
    decrease = loss[:K] - loss[1 : K + 1]
    # A step that is lost in rounding says nothing about descent.
    promised, told = _promised(path, eta, K)
    found: dict[str, float | np.ndarray] = {
        "descent": float((decrease[told] / promised[told]).min()),
        **_theorem_1(
            float(loss[1 : K + 1].mean()),
            float(loss[K]),
            float(path.from_start[reached].max()),
            target,
            eta,
        ),
        "iterates_over_3D": float(path.from_target[reached].max() / (3 * target.D)),
        "moved_by_descent": float(np.sqrt(2 * eta * K * loss[0])),
        **_taylor(path, every, K),
        **_quasi_convexity(path, target, K),
        **_regret(path, target, eta, K),
        **_constants_along(path.decoder_norm[reached], target),
        **_segments(path, target, every, K),
    }
    found["losses"] = loss[reached]
    for proof in PROOFS:
        needed = conditions.heads_needed(target, proof)
        found[f"heads_{proof}_over_H"] = float(needed / target.H)
    printed = conditions.printed_heads_needed(target)
    found["heads_printed_over_H"] = float(printed / target.H)
    return found


def lost_in_rounding(path: Path, eta: float, K: int) -> str:
    """A sentence if no step of the path is told from rounding; else nothing."""
    if _promised(path, eta, K)[1].any():
        return ""
    return f"none of {K} steps of size {eta:.3g} changes the loss beyond its rounding; raise eta"


def _promised(path: Path, eta: float, K: int) -> tuple[np.ndarray, np.ndarray]:
    """The decrease that smoothness promises for each step, and where it is above rounding."""
    promised = eta / 2 * path.gradient[:K] ** 2
    return promised, promised > 1e-12 * path.loss[:K]


def summarise_long(seen: LongPath, target: Target, eta: float) -> dict[str, float]:
    """The scalars of a long path: means over all steps, extremes over the records."""
    first, last = float(seen.loss[0]), float(seen.loss[-1])
    # The sum has the losses of steps 0 to K-1, the theorem's mean those of 1 to K.
    mean = (float(seen.sum[-1]) - first + last) / target.K
    moved = float(seen.from_start.max())
    return {
        **_theorem_1(mean, last, moved, target, eta),
        "descends": float(np.diff(seen.loss).max() <= 0),
        "iterates_over_3D": float(seen.from_target.max()) / (3 * target.D),
        "overshoot_over_D": float(seen.from_target[-1]) / target.D,
        "moved_by_descent": float(np.sqrt(2 * eta * target.K * first)),
        **_constants_along(seen.decoder_norm, target),
    }


def _theorem_1(
    mean: float, last: float, moved: float, target: Target, eta: float
) -> dict[str, float]:
    bound = conditions.loss_bound(target, eta)
    return {
        "mean_loss": mean,
        "last_loss": last,
        "loss_bound": bound,
        "mean_over_bound": mean / bound,
        "mean_over_square_rate": mean / _square_rate(target, eta),
        "last_over_mean": last / mean,
        "moved_over_4D": moved / (4 * target.D),
        "moved_over_D": moved / target.D,
    }


def _square_rate(target: Target, eta: float) -> float:
    """A bound that falls like 1/K^2: what Theorem 1 does not say."""
    return 2 * target.loss / target.K + 5 * target.D**2 / (4 * eta * target.K**2)


def _taylor(path: Path, every: int, K: int) -> dict[str, float]:
    """(14): how far L(theta) is above Taylor's bound, over L(theta_k); the print has it below."""
    some = np.arange(0, len(path.loss), every)
    some = some[some <= K]
    gap = path.from_target[some]
    curved = path.segment_lambda[: len(some)]
    bound = path.loss[some] + path.along[some] + curved * gap**2 / 2
    slack = (path.target_loss - bound) / path.loss[some]
    return {"taylor_smallest": float(slack.min()), "taylor_largest": float(slack.max())}


def _segments(path: Path, target: Target, every: int, K: int) -> dict[str, float]:
    """(15) and (16) by variant: quotients that must not exceed one."""
    some = np.arange(0, len(path.loss), every)
    some = some[some <= K]
    worst = path.segment_loss.max(axis=1)
    found = {}
    for variant in VARIANTS:
        three = _beta_3_of_ends(path, target, variant)
        limit = three[some] / np.sqrt(target.H) * worst[some]
        concavity = np.maximum(-path.segment_lambda[: len(some)], 0)
        found[f"segment_convexity_{variant}"] = float((concavity / limit).max())
        gap = path.from_target[: K + 1]
        lost = 0.5 * three[: K + 1] / np.sqrt(target.H) * worst[: K + 1] * gap**2
        short = path.loss[: K + 1] + path.along[: K + 1] - path.target_loss
        found[f"equation_16_{variant}"] = float((short / lost).max())
    return found


def _quasi_convexity(path: Path, target: Target, K: int) -> dict[str, float]:
    """Proposition 4 on every segment to the target: condition (18) and the growth within.

    (18) is taken with our sharp beta_3, which admits the longest segments.
    """
    ends = np.maximum(path.loss, path.target_loss)[: K + 1]
    growth = path.segment_loss[: K + 1].max(axis=1) / ends
    three = _beta_3_of_ends(path, target, "sharp")[: K + 1]
    closeness = 2 * three * path.from_target[: K + 1] ** 2 / np.sqrt(target.H)
    return {"growth": float(growth.max()), "closeness_18": float(closeness.max())}


def _regret(path: Path, target: Target, eta: float, K: int) -> dict[str, float]:
    """(17): the mean loss over its bound, and the printed bound without its last sum."""
    mean = path.loss[1 : K + 1].mean()
    three = _beta_3_of_ends(path, target, "corrected")[:K]
    worst = path.segment_loss.max(axis=1)[:K]
    gap = path.from_target[:K]
    last = (three / np.sqrt(target.H) * worst * gap**2).mean() / 2
    first = float(path.target_loss) + target.D**2 / (2 * eta * K)
    return {
        "equation_17": float(mean / (first + last)),
        "equation_17_slow": float(mean / ((first + last) / K)),
    }


def _beta_3_of_ends(path: Path, target: Target, variant: Variant) -> np.ndarray:
    # beta_3 grows with the norm, so its largest value on a segment is at one of the ends.
    m = np.maximum(path.decoder_norm, target.m)
    return beta_3(variant, target.T, target.d, target.R, m)


def _constants_along(decoder_norm: np.ndarray, target: Target) -> dict[str, float]:
    """rho_k <= rho and b1~^2 <= rho, by proof."""
    found = {}
    m = float(decoder_norm.max())
    for proof in PROOFS:
        variant = "corrected" if proof == "corrected" else "sharp"
        rho = conditions.smoothness(target, proof)
        here = betas(variant, target.T, target.d, target.R, m, target.H).two
        far = conditions.head_radius(target, proof)
        first = beta_1(variant, target.T, target.R, far)
        found[f"rho_k_over_rho_{proof}"] = float(here / rho)
        second = conditions.smoothness(target, proof, theorem=2)
        found[f"beta_1_squared_over_rho_{proof}"] = float(first**2 / second)
    return found
