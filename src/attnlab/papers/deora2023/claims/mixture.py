"""Section 5: Definition 1, Propositions 2, 3 and 7, equation 8, the margins, section 5.3."""

from attnlab.core import Control, Hypothesis, Records
from attnlab.papers.deora2023.claims.conditions import of_cells
from attnlab.papers.deora2023.claims.parts import ROUNDING, Every, Mean, Part, Power, claim, unknown


def _exact(cell) -> bool:
    return cell.n1 == 0 and cell.Z == 0


def _half(cell) -> bool:
    return _exact(cell) and cell.zeta == 0.5


DEFINITION_1 = claim(
    "definition_1",
    title="The first phase gives a good initialisation",
    statement=(
        "After phase 1, P1 holds with B_2 = max(1, sqrt(T)(S+P)), P2 with probability 1 - delta "
        "over the signs with B_Phi = max(1, T R (S+P) sqrt(2 log(n/delta))), and P3 with a "
        "positive margin along theta_*."
    ),
    measured=(
        "delta = 0.1, P from Lemma 2. The head norm over B_2 (at most 1), the share of 200 draws "
        "of the signs with an output above B_Phi (mean at most 0.1), and the smallest margin "
        "along theta_*."
    ),
    parts=(
        Part("P1", "good_start", Every("head_over_B_2", 1.0)),
        Part("P2", "good_start", Mean("exceeds_B_Phi", 0.1, "at_most")),
        Part("P3", "good_start", Every("along_theta_star", 0.0, "at_least")),
    ),
    positive={
        "head_over_B_2": 0.2,
        "exceeds_B_Phi": 0.0,
        "along_theta_star": 0.7,
        "exceeds_head_spread": 0.25,
    },
    wrong=(
        ("P2 with one head's output", "P2", Mean("exceeds_head_spread", 0.1, "at_most")),
        ("P3 reversed", "P3", Every("along_theta_star", 0.0)),
    ),
)

PROPOSITION_2 = claim(
    "proposition_2",
    title="The NTK margin after the first phase",
    statement=(
        "Along theta_* of length sqrt 2 every sample has an NTK margin of at least gamma_* of "
        "equation (7), whatever the signs of the heads, so the largest NTK margin is at least "
        "that."
    ),
    measured=(
        "gamma_* at P = |p| minus the smallest margin along theta_* (at most 1e-9); the spread "
        "between heads of either sign (none); the margin along theta_* over the largest NTK "
        "margin (at most 1), whose certified gap is at most 1e-9."
    ),
    parts=(
        Part("gamma_* below", "good_start", Every("star_minus_along", ROUNDING)),
        Part("no randomness", "good_start", Every("sign_spread", 1e-12)),
        Part("NTK-SVM above", "good_start", Every("along_over_tangent", 1 + ROUNDING)),
        Part("certificate", "good_start", Every("tangent_gap", ROUNDING)),
    ),
    positive={
        "star_minus_along": 0.0,
        "sign_spread": 0.0,
        "along_over_tangent": 0.75,
        "tangent_gap": 1e-15,
        "doubled_star_minus_along": 0.05,
    },
    wrong=(
        (
            "zeta/2 in place of zeta/4",
            "gamma_* below",
            Every("doubled_star_minus_along", ROUNDING),
        ),
        ("NTK-SVM below", "NTK-SVM above", Every("along_over_tangent", 1.0, "at_least")),
    ),
    notes=(
        "P3 asks for many heads to concentrate the signs; sign(alpha) cancels, so there is nothing "
        "to concentrate and gamma_*, not gamma_*/2, holds for every H. (7) itself is right as it "
        "stands: it fits zeta/4, not the zeta/2 of Lemma 2's print (erratum 3)."
    ),
)

SECTION_5_2 = claim(
    "section_5_2",
    title="The gradient of W after the first phase",
    statement=(
        "After phase 1 the gradient with respect to W is alpha sum_t x_t v' X' phi'(0) X with "
        "v = zeta/4 u_* + p and phi'(0) = (I - 11'/T)/T."
    ),
    measured="The formula against the model's gradient: relative error at most 1e-12.",
    parts=(Part("formula", "good_start", Every("start_gradient_error", 1e-12)),),
    positive={"start_gradient_error": 1e-16, "start_gradient_error_printed": 3.0},
    wrong=(("without 1/T", "formula", Every("start_gradient_error_printed", 1e-12)),),
    notes="The print's phi'(0) has no 1/T (erratum 2, false).",
)

ASSUMPTION_2 = claim(
    "assumption_2",
    title="Realisability",
    statement=(
        "For the loss epsilon there is a target with that loss at a distance of at most g_0 from "
        "the start, whose heads are at most g long."
    ),
    measured=(
        "epsilon = 0.01, 10^12 heads: the loss of theta_0 + ((2B + log 1/eps)/gamma) theta_* over "
        "epsilon, its distance over g_0 = sqrt 2 (2B + log 1/eps)/gamma, and its longest head over "
        "B_2 + g_0/sqrt(H): at most 1 each."
    ),
    parts=(
        Part("loss", "good_start", Every("target_loss_over_epsilon", 1.0)),
        Part("distance", "good_start", Every("target_distance_over_g_0", 1 + ROUNDING)),
        Part("heads", "good_start", Every("target_head_over_g", 1.0)),
    ),
    positive={
        "target_loss_over_epsilon": 0.1,
        "target_distance_over_g_0": 1.0,
        "target_head_over_g": 0.2,
        "target_distance_over_printed": 2**0.5,
    },
    wrong=(("g_0 as printed", "distance", Every("target_distance_over_printed", 1 + ROUNDING)),),
)

PROPOSITION_7 = claim(
    "proposition_7",
    title="A good initialisation is realisable (reconstructed)",
    statement=(
        "From a good start, theta_0 + ((2B + log 1/eps)/gamma) theta_* has loss at most eps once "
        "sqrt(H) >= beta_3 D^2/(2B), D = sqrt 2 (2B + log 1/eps)/gamma."
    ),
    measured="The full model's loss at that target over eps = 0.01, with 10^12 heads: at most 1.",
    parts=(
        Part("loss", "good_start", Every("target_loss_over_epsilon", 1.0)),
        Part("distance", "good_start", Every("target_distance_over_g_0", 1 + ROUNDING)),
    ),
    positive={
        "target_loss_over_epsilon": 0.1,
        "target_distance_over_g_0": 1.0,
        "target_distance_over_printed": 2**0.5,
    },
    wrong=(
        ("g_0 as printed", "distance", Every("target_distance_over_printed", 1 + ROUNDING)),
        ("loss above", "loss", Every("target_loss_over_epsilon", 1.0, "at_least")),
    ),
    hypotheses=of_cells(
        "H that the curvature allows, over H",
        lambda r: float(r["realisable_heads_over_H"]),
        1.0,
    ),
    notes=(
        "The appendix with this proposition is not in our source: its H is reconstructed. The "
        "print's g_0 drops the length sqrt 2 of theta_* (erratum 12, false)."
    ),
)

EQUATION_8 = claim(
    "equation_8",
    title="The softmax logits under W_*",
    statement=(
        "Under W_* a relevant token's logit is S^4 up to S^2 (Z_mu + Z_nu), an irrelevant one's at "
        "most 2 Z_mu (S^2 + Z_mu + Z_nu); their gap is of order S^4, under W_opt of order S^2."
    ),
    measured=(
        "512 samples over S, zeta and noise (corners included): both quotients at most 1, and the "
        "gaps' exponents in S, 4 and 2 within 0.1 (noise in proportion to S^2)."
    ),
    parts=(
        Part("relevant", "attention", Every("relevant_logit_error", 1 + ROUNDING)),
        Part("irrelevant", "attention", Every("irrelevant_logit", 1 + ROUNDING)),
        Part("gap under W_*", "attention", Power("logit_gap", "S", 4.0)),
        Part("gap under W_opt", "attention", Power("optimal_logit_gap", "S", 2.0)),
    ),
    positive={"relevant_logit_error": 1.0, "irrelevant_logit": 1.0},
    wrong=(
        ("half the noise", "irrelevant", Every("irrelevant_logit", 0.5)),
        ("S^2 under W_*", "gap under W_*", Power("logit_gap", "S", 2.0)),
    ),
    notes=(
        "Section 5.3 gives W_* the gap S^2, which is W_opt's (erratum 19, false); section 5.2 "
        "swaps the names of its factors (erratum 18, wording)."
    ),
)


def _small_noise(records: Records) -> tuple[Hypothesis, ...]:
    worst = max(max(r.cell.Z_mu, r.cell.Z_nu) / r.cell.S**2 for r in records)
    return (Hypothesis("noise: Z_mu = Z_nu over S^2", float(worst), 1 / 8, "<="),)


PROPOSITION_3 = claim(
    "proposition_3",
    title="Saturated attention ignores irrelevant tokens",
    statement=(
        "With Gamma >= (8 sqrt(2(M+1))/(3 S^2)) log((1/zeta - 1)/eps) the weights Gamma W_opt put "
        "at most eps of the attention on irrelevant tokens, and with U_opt the margin is at least "
        "sqrt(T/2)/S (S^2 (1-eps) - 2 eps Z_mu)."
    ),
    measured=(
        "eps = 0.1 on 512 samples, S from 0.25 to 4, two zeta, two kinds of noise: largest "
        "irrelevant mass over eps (at most 1) and smallest margin over the promised one (at "
        "least 1)."
    ),
    parts=(
        Part("mass", "attention", Every("mass_over_epsilon", 1 + ROUNDING)),
        Part("margin", "attention", Every("margin_over_promised", 1 - ROUNDING, "at_least")),
    ),
    positive={
        "mass_over_epsilon": 0.5,
        "margin_over_promised": 1.1,
        "margin_equality_error": 0.1,
    },
    wrong=(("equality of section 7", "margin", Every("margin_equality_error", 1e-6)),),
    changes=(
        Control("a third of Gamma", "Gamma is a third of its bound", changes={"Gamma_factor": 0.3}),
        Control(
            "Gamma of section 7",
            "Gamma ~ 1/S, as section 7 prints it (erratum 8, false)",
            changes={"Gamma_power": 1},
        ),
    ),
    hypotheses=_small_noise,
    notes="Section 7 has = for >= and Z_mu/S for Z_mu/S^2 (erratum 16, false).",
)

MARGIN_ORDER = claim(
    "margin_order",
    title="The order of the margins",
    statement=(
        "Without noise gamma_attn >= gamma_* exactly if S^3 <= 4 sqrt(M+1)/(zeta^2 sqrt(T)), and "
        "gamma_* >= gamma_lin exactly if the attention term of (7) is not negative."
    ),
    measured=(
        "The formulas at P = 0 for T = 10, M = 4, Z_mu = Z_nu = 0.02, S from 0.5 to 4, zeta from "
        "0.1 to 0.9: both rules without exception."
    ),
    parts=(
        Part("attention and NTK", "margin_formulas", Every("order_rule_fails", 0.0)),
        Part("NTK and linear", "margin_formulas", Every("linear_rule_fails", 0.0)),
    ),
    positive={
        "order_rule_fails": 0.0,
        "linear_rule_fails": 0.0,
        "attention_over_star": 0.3,
        "star_over_linear": 0.98,
    },
    wrong=(
        (
            "gamma_attn >= gamma_*",
            "attention and NTK",
            Every("attention_over_star", 1.0, "at_least"),
        ),
        ("gamma_* >= gamma_lin", "NTK and linear", Every("star_over_linear", 1.0, "at_least")),
    ),
    notes=(
        "The paper says gamma_attn >= gamma_* >= gamma_lin. The first fails for large S (erratum "
        "6, false: the two are normalised differently), the second already at P = 0 with a little "
        "noise (erratum 7, false)."
    ),
)

EXAMPLE_5_1 = claim(
    "example_5_1",
    title="What attention adds to the linear margin",
    statement=(
        "With T, M of order one and an exact first phase, gamma_* exceeds gamma_lin by the order "
        "of zeta^2 (1-zeta) S^4."
    ),
    measured=(
        "The measured margin along theta_* minus gamma_lin without noise: its exponent in S (4 "
        "within 0.1, at zeta = 1/2) and its quotient by T zeta^2 (1-zeta) S^4/(4 sqrt(2(M+1))) for "
        "zeta = 1/4, 1/2, 3/4 (1 within 1e-6)."
    ),
    parts=(
        Part("exponent in S", "good_start", Power("along_gain", "S", 4.0), _half),
        Part(
            "constant",
            "good_start",
            Mean("along_gain_over_formula", 1.0, tolerance=1e-6),
            _exact,
        ),
    ),
    positive={"along_gain_over_formula": 1.0},
    wrong=(("exponent 2", "exponent in S", Power("along_gain", "S", 2.0)),),
)

LINEAR_MARGIN = claim(
    "linear_margin",
    title="The margin of a linear model",
    statement=(
        "If relevant places are drawn anew for each sample, no linear model of all tokens has a "
        "larger margin than gamma_lin = S zeta sqrt(T/2)."
    ),
    measured=(
        "The largest margin of a linear model on 192 noise-free samples over gamma_lin: 1 within "
        "0.02 in the mean (few samples leave it a little above)."
    ),
    parts=(Part("margin", "places", Mean("linear_over_formula", 1.0, tolerance=0.02)),),
    positive={"linear_over_formula": 1.0},
    changes=(
        Control(
            "fixed places",
            "the relevant places are the same in all samples: then it is S sqrt(zeta T/2)",
            changes={"places": "fixed"},
        ),
    ),
    notes="The paper does not say which it means (erratum 10); gamma_lin fits random places.",
)

SECTION_5_3 = claim(
    "section_5_3",
    title="Saturated attention is no target for Theorem 1",
    statement=(
        "No C, p, S and H make the weights of Proposition 3, spread over the heads of a model "
        "scaled by 1/H^c, meet both saturation and H^c >= S^5 |theta|^3: not for c = 1/2, and for "
        "no other c."
    ),
    measured=(
        "At constants one, for n = 3 to 10^6 and four c: the linear programme in the logarithms "
        "is infeasible, and a grid search finds nothing."
    ),
    parts=(
        Part("programme", "scalings", Every("feasible", 0.0)),
        Part("search", "scalings", Every("grid_points", 0.0)),
    ),
    positive={"feasible": 0.0, "grid_points": 0.0},
    changes=(
        Control(
            "distance to the first power",
            "H^c >= S^5 |theta|: then there are solutions",
            changes={"power": 1.0},
        ),
    ),
    constants=(unknown("the constants of (12), taken as one"),),
    notes="The print's H^(p-1/4) is H^(p-3/4) (erratum 15, wording); the conclusion stands.",
)

MIXTURE = (
    DEFINITION_1,
    PROPOSITION_2,
    SECTION_5_2,
    ASSUMPTION_2,
    PROPOSITION_7,
    EQUATION_8,
    PROPOSITION_3,
    MARGIN_ORDER,
    EXAMPLE_5_1,
    LINEAR_MARGIN,
    SECTION_5_3,
)
