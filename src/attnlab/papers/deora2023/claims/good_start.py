"""Section 5: what phase 1 gives. Definition 1, Assumption 2, Propositions 2 and 7."""

from attnlab.papers.deora2023.claims.conditions import of_cells
from attnlab.papers.deora2023.claims.parts import ROUNDING, Every, Mean, Part, claim

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

GOOD_START = (DEFINITION_1, PROPOSITION_2, SECTION_5_2, ASSUMPTION_2, PROPOSITION_7)
