"""Stored values of records by their names in words, and what is made of two of them."""

from attnlab.claims import Scalar
from attnlab.evidence.laws import stored

WORDS = {
    "theorem_1_steps": "smallest K at which (4) is below log 2",
    "corollary_2_steps": "smallest K at which Corollary 2's bound is below log 2",
    "iterates_steps": "smallest K at which 4D says more than descent",
    "tightened_steps": "smallest K at which (4) is below log 2, our constants",
    "rho_k_over_rho_sharp": "largest beta_2 over our rho",
    "distance": "largest distance of a target",
    "heads": "heads asked for",
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


def quotient(key: str, other: str, name: str, exact: str = "") -> Scalar:
    """One stored value over another."""
    return Scalar(name, lambda r: float(r[key]) / float(r[other]), exact)


def difference(key: str, other: str, name: str, times: float = 1.0) -> Scalar:
    """One stored value minus a multiple of another."""
    return Scalar(name, lambda r: float(r[key]) - times * float(r[other]))
