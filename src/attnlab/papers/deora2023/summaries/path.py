"""Section 6.1 step by step: each inequality as a quotient or a slack over the whole path."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import PROOFS, Target
from attnlab.papers.deora2023.theory.smoothness import beta_1, beta_3, betas

Arrays = dict[str, np.ndarray]
VARIANTS = ("corrected", "sharp")


def summarise(
    path: Arrays, target: Target, eta: float, every: int, alphas: Sequence[float]
) -> dict[str, Any]:
    """All scalars of a path of K steps."""
    K = int(target.K)
    loss, gradient = path["loss"], path["gradient"]
    reached = slice(0, K + 1)
    decrease = loss[:K] - loss[1 : K + 1]
    # A step that is lost in rounding says nothing about descent.
    promised = eta / 2 * gradient[:K] ** 2
    told = promised > 1e-12 * loss[:K]
    found: dict[str, Any] = {
        "descent": float((decrease[told] / promised[told]).min()),
        **_theorem_1(loss[1 : K + 1], path["from_start"][reached], target, eta),
        "iterates_over_3D": float(path["from_target"][reached].max() / (3 * target.D)),
        **_taylor(path, every, K),
        **_quasi_convexity(path, target, K),
        **_regret(path, target, eta, K),
        **_constants_along(path["decoder_norm"][reached], target),
        **_segments(path, target, every, K),
    }
    found["losses"] = loss[reached]
    for proof in PROOFS:
        needed = conditions.heads_needed(target, proof)
        found[f"heads_{proof}_over_H"] = float(needed / target.H)
    printed = conditions.printed_heads_needed(target)
    found["heads_printed_over_H"] = float(printed / target.H)
    return found


def summarise_long(seen: dict[str, float], target: Target, eta: float) -> dict[str, float]:
    """The scalars of a long path."""
    mean = seen["sum"] / target.K
    bound = conditions.loss_bound(target, eta)
    return {
        "descent": seen["descent"],
        "mean_loss": mean,
        "last_loss": seen["last"],
        "loss_bound": bound,
        "mean_over_bound": mean / bound,
        "mean_over_square_rate": mean / _square_rate(target, eta),
        "last_over_mean": seen["last"] / mean,
        "moved_over_4D": seen["from_start"] / (4 * target.D),
        "moved_over_D": seen["from_start"] / target.D,
        "iterates_over_3D": seen["from_target"] / (3 * target.D),
        **_constants_along(np.array([seen["decoder_norm"]]), target),
    }


def _theorem_1(
    losses: np.ndarray, moved: np.ndarray, target: Target, eta: float
) -> dict[str, float]:
    mean, bound = float(losses.mean()), conditions.loss_bound(target, eta)
    return {
        "mean_loss": mean,
        "last_loss": float(losses[-1]),
        "loss_bound": bound,
        "mean_over_bound": mean / bound,
        "mean_over_square_rate": mean / _square_rate(target, eta),
        "last_over_mean": float(losses[-1]) / mean,
        "moved_over_4D": float(moved.max()) / (4 * target.D),
        "moved_over_D": float(moved.max()) / target.D,
    }


def _square_rate(target: Target, eta: float) -> float:
    """A bound that falls like 1/K^2: what Theorem 1 does not say."""
    return 2 * target.loss / target.K + 5 * target.D**2 / (4 * eta * target.K**2)


def _taylor(path: Arrays, every: int, K: int) -> dict[str, float]:
    """(14): how far L(theta) is above Taylor's bound, over L(theta_k); the print has it below."""
    some = np.arange(0, len(path["loss"]), every)
    some = some[some <= K]
    gap = path["from_target"][some]
    curved = path["segment_lambda"][: len(some)].min(axis=1)
    bound = path["loss"][some] + path["along"][some] + curved * gap**2 / 2
    slack = (path["target_loss"] - bound) / path["loss"][some]
    return {"taylor_smallest": float(slack.min()), "taylor_largest": float(slack.max())}


def _segments(path: Arrays, target: Target, every: int, K: int) -> dict[str, float]:
    """(15) and (16) by variant: quotients that must not exceed one."""
    some = np.arange(0, len(path["loss"]), every)
    some = some[some <= K]
    worst = path["segment_loss"].max(axis=1)
    found = {}
    for variant in VARIANTS:
        three = _beta_3_of_ends(path, target, variant)
        limit = three[some] / np.sqrt(target.H) * worst[some]
        concavity = np.maximum(-path["segment_lambda"][: len(some)].min(axis=1), 0)
        found[f"segment_convexity_{variant}"] = float((concavity / limit).max())
        gap = path["from_target"][: K + 1]
        lost = 0.5 * three[: K + 1] / np.sqrt(target.H) * worst[: K + 1] * gap**2
        short = path["loss"][: K + 1] + path["along"][: K + 1] - path["target_loss"]
        found[f"equation_16_{variant}"] = float((short / lost).max())
    return found


def _quasi_convexity(path: Arrays, target: Target, K: int) -> dict[str, float]:
    """Proposition 4 on every segment to the target: condition (18) and the growth within.

    (18) is taken with our sharp beta_3, which admits the longest segments.
    """
    ends = np.maximum(path["loss"], path["target_loss"])[: K + 1]
    growth = path["segment_loss"][: K + 1].max(axis=1) / ends
    three = _beta_3_of_ends(path, target, "sharp")[: K + 1]
    closeness = 2 * three * path["from_target"][: K + 1] ** 2 / np.sqrt(target.H)
    return {"growth": float(growth.max()), "closeness_18": float(closeness.max())}


def _regret(path: Arrays, target: Target, eta: float, K: int) -> dict[str, float]:
    """(17): the mean loss over its bound, and the printed bound without its last sum."""
    mean = path["loss"][1 : K + 1].mean()
    three = _beta_3_of_ends(path, target, "corrected")[:K]
    worst = path["segment_loss"].max(axis=1)[:K]
    gap = path["from_target"][:K]
    last = (three / np.sqrt(target.H) * worst * gap**2).mean() / 2
    first = float(path["target_loss"]) + target.D**2 / (2 * eta * K)
    return {
        "equation_17": float(mean / (first + last)),
        "equation_17_slow": float(mean / ((first + last) / K)),
    }


def _beta_3_of_ends(path: Arrays, target: Target, variant: str) -> np.ndarray:
    # beta_3 grows with the norm, so its largest value on a segment is at one of the ends.
    m = np.maximum(path["decoder_norm"], target.m)
    return beta_3(variant, target.T, target.d, target.R, m)  # type: ignore[arg-type]


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
