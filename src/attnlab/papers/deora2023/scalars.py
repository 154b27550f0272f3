"""Numbers of deora2023's records that no run stores: bounds over trivial ones, steps, margins.

Pure functions of a record, evaluated when a claim is judged. *Section 6.1's constants* are those
of the paper's own proof (`corrected` in `theory.conditions`); *ours* are those that chose a run's
step size (`cell.proof`).
"""

import math
from dataclasses import replace

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.evidence.laws import stored
from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import Target
from attnlab.papers.deora2023.theory.smoothness import betas

START = "the loss at the start, log 2"
RISES = 1e-3
"""Ours: from this rise above its ends on, a segment is not quasi-convex."""


def target_of(record: Record) -> Target:
    """The target of a run."""
    cell = record.cell
    numbers = {
        name: float(record[f"target_{name}"])
        for name in ("R", "H", "D", "m", "loss", "start_loss", "K", "least_count")
    }
    return Target(T=cell.T, d=cell.d, **numbers)


def quotient(key: str, other: str, name: str) -> Scalar:
    """One stored value over another."""
    return Scalar(name, lambda r: float(r[key]) / float(r[other]))


def difference(key: str, other: str, name: str, times: float = 1.0) -> Scalar:
    """One stored value minus a multiple of another."""
    return Scalar(name, lambda r: float(r[key]) - times * float(r[other]))


# --- what the theorems promise with section 6.1's constants -------------------------------------


def _promised_loss(record: Record) -> float:
    target = target_of(record)
    eta = conditions.largest_step(target, "corrected")
    return float(conditions.loss_bound(target, eta) / target.start_loss)


def _promised_gap(record: Record) -> float:
    target = target_of(record)
    eta = conditions.largest_step(target, "corrected", 2)
    return float(conditions.gap_bound(target, eta, record.cell.n) / target.start_loss)


def _promised_stability(record: Record) -> float:
    """The bound on the mean distance over twice what the theorem lets the weights move."""
    target = target_of(record)
    eta = conditions.largest_step(target, "corrected", 2)
    b = betas("corrected", target.T, target.d, target.R, _far(target), target.H)
    bound = conditions.stability_bound(target, eta, record.cell.n, b.one)
    return float(bound / (8 * target.D))


def _far(target: Target) -> float:
    return float(conditions.head_radius(target, "corrected"))


def _informative_steps(record: Record) -> float:
    """The smallest K with 5 D^2/(4 eta K) below the start's loss, D growing like log K."""
    base = target_of(record)
    K = base.K
    for _ in range(200):
        D = base.D * math.log(K) / math.log(base.K)
        target = replace(base, D=D, K=K, loss=1 / K)
        rho = float(conditions.smoothness(target, "corrected"))
        K = max(base.K, 5 * D**2 * rho / (4 * (base.start_loss - 2 / K)))
    return K


def _corollary_distance(record: Record) -> float:
    """g_0(1/K) as printed; the signs are balanced, so B_Phi is the 1 that it is at least."""
    return (2 + math.log(record.cell.K)) / float(record["tangent_margin"])


def _corollary_bound(record: Record, eta: float) -> float:
    K = record.cell.K
    return 2 / K + 5 * _corollary_distance(record) ** 2 / (4 * eta * K)


def _corollary_step(record: Record) -> float:
    return float(conditions.largest_step(target_of(record), "corrected", 2))


PROMISED_LOSS = Scalar("bound (4) at section 6.1's step over the loss at the start", _promised_loss)
PROMISED_GAP = Scalar("bound (5) at section 6.1's step over the loss at the start", _promised_gap)
PROMISED_STABILITY = Scalar("stability bound over how far two runs can part", _promised_stability)
INFORMATIVE_STEPS = Scalar("smallest K at which (4) is below log 2", _informative_steps)
COROLLARY = Scalar(
    "last loss over Corollary 2's bound",
    lambda r: float(r["last_loss"]) / _corollary_bound(r, float(r["eta"])),
)
COROLLARY_PROMISE = Scalar(
    "Corollary 2's loss bound at section 6.1's step over the loss at the start",
    lambda r: _corollary_bound(r, _corollary_step(r)) / float(r["target_start_loss"]),
)
HEADS_ASKED = Scalar(
    "heads that section 6.1's constants ask for",
    lambda r: float(conditions.heads_needed(target_of(r), "corrected")),
)


# --- what curvature alone would say -------------------------------------------------------------


def _at_target(record: Record):
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
BEYOND_TANGENT = Scalar(
    "room of (16) over the room of the tangent", lambda r: 1 - float(r["equation_16_corrected"])
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
RISE_ALLOWED = Scalar(
    "4/3 over what bounds the segment anyway",
    lambda r: 4 / 3 if float(r["growth"]) <= 1 + RISES else 4 / 3 / float(r["growth"]) ** 2,
)
FARTHER = Scalar(
    "farther from the target than the start was, in D",
    lambda r: 3 * float(r["iterates_over_3D"]) - 1,
)


# --- single steps of a recorded run -------------------------------------------------------------


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


# --- margins ------------------------------------------------------------------------------------

HALF_STAR_SPARED = difference(
    "along_theta_star", "gamma_star", "margin along theta_* minus gamma_*/2", 0.5
)
ATTENTION_MINUS_STAR = difference("gamma_attention", "gamma_star", "gamma_attn minus gamma_*")
ATTENTION_MINUS_TWO_STAR = difference(
    "gamma_attention", "gamma_star", "gamma_attn minus twice gamma_*", 2.0
)
STAR_MINUS_LINEAR = difference("gamma_star", "gamma_linear", "gamma_* minus gamma_lin")
STAR_MINUS_TWO_LINEAR = difference(
    "gamma_star", "gamma_linear", "gamma_* minus twice gamma_lin", 2.0
)


def _wrong_order_rule(record: Record) -> float:
    """The same rule with zeta in place of zeta^2."""
    cell = record.cell
    holds = 4 * (cell.M + 1) ** 0.5 / (cell.zeta * cell.T**0.5) >= cell.S**3
    below = 4 * (cell.M + 1) ** 0.5 / (cell.zeta**2 * cell.T**0.5)
    return float(holds != (below >= cell.S**3))


WRONG_ORDER_RULE = Scalar("failures of the rule with zeta for zeta^2", _wrong_order_rule)
WRONG_LINEAR_RULE = Scalar(
    "failures of the rule that gamma_* is never below gamma_lin",
    lambda r: float(r["gamma_star"] < r["gamma_linear"]),
)
LOSS_OF_TARGET = stored("target_loss_over_epsilon", "target's loss over epsilon")
EPSILON_OVER_START = Scalar("epsilon over log 2", lambda r: r.cell.epsilon / math.log(2))
MASS_OVER_UNIFORM = Scalar(
    "epsilon over uniform attention's irrelevant mass", lambda r: r.cell.epsilon / (1 - r.cell.zeta)
)
