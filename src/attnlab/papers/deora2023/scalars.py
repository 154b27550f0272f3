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


def quotient(key: str, other: str, name: str, exact: str = "") -> Scalar:
    """One stored value over another."""
    return Scalar(name, lambda r: float(r[key]) / float(r[other]), exact)


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


# --- stored values in words ---------------------------------------------------------------------

WORDS = {
    "rho_k_over_rho_corrected": "largest beta_2 over rho",
    "beta_1_squared_over_rho_corrected": "beta_1^2 over rho",
    "mean_over_bound": "mean loss over its bound",
    "last_over_mean": "last loss over the mean",
    "moved_over_4D": "distance moved over 4D",
    "gap_over_bound": "gap over its bound",
    "leave_one_out_gap_over_bound": "leave-one-out gap over the bound",
    "weakly_convex_square": "-lambda_min over beta_3 L/H",
    "mean_over_square_rate": "mean loss over a bound like 1/K^2",
    "moved_over_D": "distance moved over D",
    "leave_one_out_gap_over_bound_squared": "leave-one-out gap over a bound like 1/n^2",
    "target_head_over_g": "longest head over g",
    "attention_moved": "movement of W",
    "places_differ": "difference between places",
    "p_over_printed": "|p| over P at C = 1",
    "p_over_bound": "|p| over our P",
    "p_norm": "|p|",
    "head_over_B_2": "head norm over B_2",
    "exceeds_B_Phi": "share of sign draws beyond B_Phi",
    "star_minus_along": "gamma_* minus the margin along theta_*",
    "start_gradient_error": "relative error",
    "relevant_logit_error": "distance of a relevant logit from S^4, over its bound",
    "irrelevant_logit": "irrelevant logit over its bound",
    "logit_gap": "gap of logits under W_*",
    "optimal_logit_gap": "gap under W_opt",
    "mass_over_epsilon": "irrelevant mass over eps",
    "margin_over_promised": "margin over the promised one",
    "along_gain": "margin gained over gamma_lin",
    "along_gain_over_formula": "gain over its formula",
    "linear_over_formula": "linear margin over gamma_lin",
    "feasible": "feasibility of the programme",
    "grid_points": "points that a search finds",
    "exceeds_head_spread": "share beyond one head's output",
    "doubled_star_minus_along": "gamma_* by zeta/2 minus the margin",
    "start_gradient_error_printed": "relative error without 1/T",
    "margin_equality_error": "relative excess over the promised margin",
    "taylor_smallest": "slack over L(theta_k)",
    "equation_17": "mean loss over (17)",
    "taylor_largest": "largest slack over L(theta_k)",
    "equation_17_slow": "mean loss over a K-th of (17)",
    "equation_20_still": "next distance over this one",
    "leave_one_out_over_lemma_3_squared": "gap over an n-th of it",
    "expansion": "distance after a step over before",
    "equation_21_printed_corrected": "next distance over (21) as printed",
    "apart_over_bound": "mean distance over bound",
    "apart_over_bound_squared": "mean distance over a bound like 1/n^2",
    "rho_k_over_rho_symmetric": "largest beta_2 over our rho",
    "loss_over_bound": "last loss over (4)",
    "last_loss": "last loss",
    "leave_one_out_gap": "leave-one-out gap",
    "longest_over_formula": "longest token over R",
    "along_mu_over_bound": "noise along mu over Z_mu",
    "along_nu_over_bound": "noise along nu over Z_nu/M",
    "noise_norm_over_bound": "noise length over Z",
    "label_share": "share of labels +1",
    "order_rule_fails": "failures of the rule for gamma_attn",
    "linear_rule_fails": "failures of the rule for gamma_lin",
    "largest_concavity": "largest -lambda_min/L",
    "start_concavity": "-lambda_min/L at the start",
    "star_over_tangent": "gamma_* over the NTK-SVM's margin",
    "tangent_gap": "certified gap of the NTK-SVM",
    "trained_over_linear": "trained margin over gamma_lin",
    "margin_over_attention": "trained margin over gamma_attn",
    "last_decoder_margin": "trained margin",
    "plus_mass_gain": "attention gained by sign +1",
    "mass_difference": "gain of sign +1 minus that of -1",
    "heads_symmetric_over_H": "heads demanded (ours) over H",
    "heads_corrected_over_H": "heads demanded (section 6.1) over H",
    "mean_apart": "mean leave-one-out distance",
    "longest_over_S": "longest token over S",
    "loss_over_full": "loss over that of d_h = d",
    "decay": "exponent of the loss in k",
    "margin_over_phase_1": "NTK margin over phase 1's",
    "linear_over_random": "gamma_lin over the margin",
    "attention_shortfall": "1 - margin/gamma_attn",
    "global_over_tangent": "global margin over NTK margin",
    "loss_over_free": "loss over a free W's",
    "margin_over_free": "margin over a free W's",
    "gain_over_free": "attention gained over a free W's",
    "rise": "relative rise of the loss",
    "steepness_over_bound": "|grad L| over beta_1 L",
    "output_over_B_Phi": "largest output over B_Phi",
    "margin_over_linear": "NTK margin over gamma_lin",
    "start_gap": "certified gap of the NTK-SVM",
    "least_one_error": "one head's smallest test error",
    "many_test_error": "several heads' test error",
    "error_gap": "gap in error",
    "margin_gap": "gap in margin",
}
"""What a stored value is called where a verdict speaks of it."""


def scalar(key: str, exact: str = "") -> Scalar:
    """The stored value under this key, by its name in words."""
    return stored(key, WORDS[key], exact=exact)
