"""Section 4.1 and its proof, section 6.1: Theorem 1, equations 13 to 17, Proposition 4."""

from attnlab.core import Control
from attnlab.papers.deora2023.claims.conditions import of_cells, theorem_hypotheses
from attnlab.papers.deora2023.claims.parts import ROUNDING, Every, Part, claim, unknown

INSTANCES = ("paths", "explicit")
WHERE = (
    "on paths beside the NTK-SVM target: 10^7 and 10^8 collapsed heads (symmetric constants, "
    "K = 30 and 100) and twelve explicit heads with S = 300 (sharp constants, K = 200,000)"
)
HIDDEN = unknown("the constants of (3) and of rho as printed")


def _on_both(name: str, law: Every) -> tuple[Part, ...]:
    return tuple(Part(f"{name} [{study}]", study, law) for study in INSTANCES)


THEOREM_1 = claim(
    "theorem_1",
    title="Training loss under enough heads",
    statement=(
        "If H and the step size meet the theorem's conditions for a target theta at distance D "
        "from the start, then the loss after K steps is at most its mean over them, the mean is "
        "at most 2 L(theta) + 5 D^2/(4 eta K), and the weights move by at most 4 D."
    ),
    measured=(
        f"All three as quotients, {WHERE}. The conditions are shown with their values for the "
        "constants that chose the step size, and (3) as printed at constant one."
    ),
    parts=(
        *_on_both("mean loss over bound", Every("mean_over_bound", 1.0)),
        *_on_both("last over mean", Every("last_over_mean", 1.0)),
        *_on_both("moved over 4D", Every("moved_over_4D", 1.0)),
    ),
    positive={
        "mean_over_bound": 0.2,
        "last_over_mean": 0.3,
        "moved_over_4D": 0.2,
        "moved_over_D": 0.8,
        "mean_over_square_rate": 20.0,
    },
    wrong=(
        ("rate 1/K^2", "mean loss over bound [paths]", Every("mean_over_square_rate", 1.0)),
        ("moves by D/2", "moved over 4D [paths]", Every("moved_over_D", 0.5)),
    ),
    hypotheses=theorem_hypotheses(1),
    constants=(HIDDEN,),
    notes=(
        "With the constants of section 6.1's own proof (18 beta_3) the collapsed paths would need "
        "more than 10^12 heads; the tightened proof and equal heads bring that to 10^6 to 10^7. "
        "See `attnlab bounds deora2023` and the figure required_heads."
    ),
)

EQUATION_13 = claim(
    "equation_13",
    title="Descent at every step",
    statement="Under the step size of Theorem 1, each step lowers the loss by eta/2 |grad L|^2.",
    measured=f"The smallest decrease over eta/2 |grad L|^2 of all steps, {WHERE}: at least 1.",
    parts=_on_both("descent", Every("descent", 1.0, "at_least")),
    positive={"descent": 1.9},
    wrong=(("twice as much", "descent [paths]", Every("descent", 2.0, "at_least")),),
    hypotheses=theorem_hypotheses(1),
)

EQUATION_14 = claim(
    "equation_14",
    title="Taylor's bound from below",
    statement=(
        "L(theta) is at least L(theta_k) + <grad L(theta_k), theta - theta_k> + half the smallest "
        "eigenvalue on the segment times |theta - theta_k|^2."
    ),
    measured=(
        "The slack over L(theta_k), at every twentieth step of the collapsed paths and five points "
        "of each segment: never below zero (up to 1e-9)."
    ),
    parts=(Part("slack", "paths", Every("taylor_smallest", -ROUNDING, "at_least")),),
    positive={"taylor_smallest": 0.3, "taylor_largest": 2.0},
    wrong=(("printed direction", "slack", Every("taylor_largest", 0.0)),),
    notes="The print has <= (erratum 4, false); the proof uses >=.",
)

EQUATION_15 = claim(
    "equation_15",
    title="Weak convexity on segments",
    statement=(
        "On a segment the smallest eigenvalue is at least -beta_3/sqrt(H), beta_3 the larger one "
        "of the two ends, times the largest loss on the segment."
    ),
    measured="Measured over bound on segments to the target, five points each: at most 1.",
    parts=(
        Part("corrected", "paths", Every("segment_convexity_corrected", 1.0)),
        Part("sharp", "paths", Every("segment_convexity_sharp", 1.0)),
    ),
    positive={"segment_convexity_corrected": 0.005, "segment_convexity_sharp": 0.07},
    wrong=(("a thousandth", "sharp", Every("segment_convexity_sharp", 1e-3)),),
)

EQUATION_16 = claim(
    "equation_16",
    title="Weak convexity in the Taylor bound",
    statement=(
        "L(theta) is at least L(theta_k) + <grad L(theta_k), theta - theta_k> minus half of "
        "beta_3/sqrt(H) times the largest loss on the segment times |theta - theta_k|^2."
    ),
    measured=(
        "How far L(theta) is below the linear part, over the last term, at every step of the "
        "collapsed paths: at most 1."
    ),
    parts=(
        Part("corrected", "paths", Every("equation_16_corrected", 1.0)),
        Part("sharp", "paths", Every("equation_16_sharp", 1.0)),
    ),
    positive={"equation_16_corrected": -10.0, "equation_16_sharp": -100.0},
    wrong=(("reversed", "sharp", Every("equation_16_sharp", 1.0, "at_least")),),
)

EQUATION_17 = claim(
    "equation_17",
    title="The regret before quasi-convexity",
    statement=(
        "The mean loss over K steps is at most L(theta) + D^2/(2 eta K) plus the mean over the "
        "steps of half of beta_3/sqrt(H) times the largest loss on the segment to theta times its "
        "squared length."
    ),
    measured="Mean loss over that bound on the collapsed paths (five points a segment): at most 1.",
    parts=(Part("regret", "paths", Every("equation_17", 1.0)),),
    positive={"equation_17": 0.3, "equation_17_slow": 30.0},
    wrong=(("faster by K", "regret", Every("equation_17_slow", 1.0)),),
    hypotheses=theorem_hypotheses(1),
)

PROPOSITION_4 = claim(
    "proposition_4",
    title="Generalised local quasi-convexity",
    statement=(
        "Between two points with 2 beta_3 |theta_1 - theta_2|^2 <= sqrt(H) the loss is at most 4/3 "
        "of the larger loss of the ends."
    ),
    measured=(
        "Largest over end loss on 32 segments per run that meet (18) with equality (our sharp "
        "beta_3, so the farthest points), from the start and from trained models, one of them "
        "uphill, and on all segments from a path to its target: at most 4/3."
    ),
    parts=(
        Part("segments", "segments", Every("growth", 4 / 3)),
        Part("paths", "paths", Every("growth", 4 / 3)),
    ),
    positive={"growth": 1.0},
    wrong=(("at most 0.9", "segments", Every("growth", 0.9)),),
    changes=(
        Control(
            "exchanged heads",
            "(18) broken: two solutions that differ by an exchange of heads, and meet at zero",
            changes={"pair": "exchanged"},
        ),
    ),
    hypotheses=of_cells(
        "closeness (18) over sqrt(H)", lambda r: float(r["closeness_18"]), 1 + 1e-6
    ),
)

SECTION_6_1 = claim(
    "section_6_1",
    title="Bounded iterates and constants",
    statement=(
        "Under Theorem 1's conditions |theta_k - theta| <= 3D at every step, beta_2 at every "
        "iterate is at most rho, and beta_1^2 where the iterates can be is at most the rho of "
        "Theorem 2."
    ),
    measured=f"Each as a quotient, {WHERE}, with the paper's rho (sqrt(T d)) and with ours.",
    parts=(
        *_on_both("iterates over 3D", Every("iterates_over_3D", 1.0)),
        *_on_both("rho_k, corrected", Every("rho_k_over_rho_corrected", 1.0)),
        *_on_both("rho_k, symmetric", Every("rho_k_over_rho_symmetric", 1 + ROUNDING)),
        *_on_both("beta_1^2, corrected", Every("beta_1_squared_over_rho_corrected", 1.0)),
        *_on_both("beta_1^2, symmetric", Every("beta_1_squared_over_rho_symmetric", 1 + ROUNDING)),
    ),
    positive={
        "iterates_over_3D": 0.334,
        "rho_k_over_rho_corrected": 1e-6,
        "rho_k_over_rho_symmetric": 0.99,
        "beta_1_squared_over_rho_corrected": 0.006,
        "beta_1_squared_over_rho_symmetric": 1.0,
    },
    wrong=(
        ("within 0.9 D", "iterates over 3D [paths]", Every("iterates_over_3D", 0.3)),
        (
            "rho a thousandth",
            "rho_k, symmetric [paths]",
            Every("rho_k_over_rho_symmetric", 1e-3),
        ),
    ),
    hypotheses=theorem_hypotheses(1),
    notes=(
        "Theorem 1's shorthand for rho drops a term d T^2 R^12, which matters for T >> d R^2 "
        "(erratum 21); section 6.1's formula is used, with sqrt(T d) for sqrt(T) d."
    ),
)

TRAINING = (
    THEOREM_1,
    EQUATION_13,
    EQUATION_14,
    EQUATION_15,
    EQUATION_16,
    EQUATION_17,
    PROPOSITION_4,
    SECTION_6_1,
)
