"""Section 5: Proposition 3, equation 8, the margins and section 5.3."""

from attnlab.core import Control, Hypothesis, Records
from attnlab.papers.deora2023.claims.parts import ROUNDING, Every, Mean, Part, Power, claim, unknown


def _exact(cell) -> bool:
    return cell.n1 == 0 and cell.Z == 0


def _half(cell) -> bool:
    return _exact(cell) and cell.zeta == 0.5


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
    EQUATION_8,
    PROPOSITION_3,
    MARGIN_ORDER,
    EXAMPLE_5_1,
    LINEAR_MARGIN,
    SECTION_5_3,
)
