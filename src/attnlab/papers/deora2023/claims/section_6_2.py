"""Section 6.2, the proof of Theorem 2: Lemma 3, equations 19 to 22, mean stability."""

from attnlab.claims import Control, Part, Reading, Source, Trivial
from attnlab.evidence.laws import ROUNDING, AtMost, stored
from attnlab.evidence.statement import statement
from attnlab.papers.deora2023.claims.section_4 import LEFT_OUT
from attnlab.papers.deora2023.hypotheses import both, theorem_hypotheses, worst_of
from attnlab.papers.deora2023.scalars import curvature
from attnlab.papers.deora2023.scalars.promises import PROMISED_STABILITY, START
from attnlab.papers.deora2023.scalars.words import scalar

DATA = ("atoms", "noisy")
BOTH = f"{LEFT_OUT}, n = 100 to 100,000 and K = 100, and 192 noisy samples, K = 20"
BOUND = AtMost(1 + ROUNDING)
PAPERS = Reading("the paper's constants", "Corollary 1's betas, which section 6.2 takes over")
SHARP = Reading("sharp constants", "ours: Corollary 1 has larger ones", allowed=False)
SMOOTH = Trivial(
    "the factor of smoothness, 1 + eta beta_2", curvature.EXPANSION_OVER_SMOOTH, "atoms"
)
SHORT_STEP = worst_of(
    "eta beta_2 at the target, the paper's beta_2", curvature.step_times_smoothness_at_target, 1.0
)
STILL = scalar("equation_20_still")


def _steps(equation: int, words: str) -> tuple[Part, ...]:
    """Both variants of an inequality between two runs, on both kinds of data."""
    return tuple(
        Part(f"{reading.name} [{study}]", study, stored(f"equation_{equation}_{variant}", words),
             BOUND, reading.name)
        for reading, variant in ((PAPERS, "corrected"), (SHARP, "sharp"))
        for study in DATA
    )  # fmt: skip


LEMMA_3 = statement(
    "deora2023.lemma_3", "bound", title="Stability bounds the gap", source=Source("6.2", "Lemma 3"),
    stated="expected gap at most 2 G times the mean distance", why="The paper's bound.",
    statement="For a G-Lipschitz loss the expected gap is at most 2 G times the expected mean "
        "distance between the model and its leave-one-out models.",
    measured=f"{BOTH}. G is our sharp beta_1 where the iterates can be, the smallest that is "
        "known to bound the slope. The mean of gap over bound, and of the leave-one-out gap over "
        "it.",
    parts=tuple(Part(f"{name} [{study}]", study, stored(key, f"{name} over its bound"), AtMost(1.0,
        "mean")) for name, key in (("gap", "gap_over_lemma_3"), ("leave-one-out gap",
        "leave_one_out_over_lemma_3")) for study in DATA),
    controls=(Control("over n", "an n-th of the bound", part="leave-one-out gap [atoms]",
        scalar=scalar("leave_one_out_over_lemma_3_squared"), law=AtMost(1.0)),),
    positive={"leave_one_out_over_lemma_3_squared": 10.0},
    trivial=Trivial(START, curvature.LEMMA_3_OVER_START, "atoms"),
)  # fmt: skip

EQUATION_19 = statement(
    "deora2023.equation_19", "bound", title="A step of descent expands little",
    source=Source("6.2", "equation 19"),
    stated="at most max(1 + eta beta_3 L/sqrt(H), eta beta_2) times the distance",
    why="The paper's bound.",
    statement="A step brings two points apart by at most the largest, on their segment, of 1 + eta "
        "beta_3 L/sqrt(H) and eta beta_2.",
    measured="On the leave-one-out loss, from the last model and each leave-one-out one (three "
        "points of the segment: stricter): distance after a step over the bound.",
    readings=(PAPERS, SHARP),
    parts=_steps(19, "distance after a step over (19)"),
    controls=(Control("a contraction by two", "a step halves the distance",
        part=f"{PAPERS.name} [atoms]", scalar=scalar("expansion"), law=AtMost(0.5)),),
    positive={"expansion": 0.99}, trivial=SMOOTH,
)  # fmt: skip

EQUATION_20 = statement(
    "deora2023.equation_20", "bound", title="Growth of the leave-one-out distance",
    source=Source("6.2", "equation 20"),
    stated="at most the factor of (19) times the distance + eta beta_1 l_i/n",
    why="The paper's bound.",
    statement="The distance to a leave-one-out model grows per step by at most the factor of (19), "
        "plus eta beta_1/n times the left-out sample's loss.",
    measured="Every step of every leave-one-out model: next distance over the bound.",
    readings=(PAPERS, SHARP),
    parts=_steps(20, "next distance over (20)"),
    controls=(Control("no growth at all", "the distance does not grow",
        part=f"{PAPERS.name} [atoms]", scalar=STILL),),
    positive={"equation_20_still": 1.9}, trivial=SMOOTH,
)  # fmt: skip

EQUATION_21 = statement(
    "deora2023.equation_21", "bound", title="The same with constants of the iterates",
    source=Source("6.2", "equation 21"), stated="factor 1 + (eta beta_3/sqrt(H)) max L",
    why="The proof's bound.",
    statement="(20) with beta_1 and beta_3 where the iterates can be and a step of at most "
        "1/beta_2: the factor is 1 + (eta beta_3/sqrt(H)) times the largest loss on the segment.",
    measured="Every step of every leave-one-out model: next distance over the bound.",
    readings=(PAPERS, SHARP),
    parts=_steps(21, "next distance over (21)"),
    controls=(Control("printed bracket", "the bracket closes before the loss (erratum 5, false; it "
            "could be the extraction)", part=f"{PAPERS.name} [atoms]",
            scalar=scalar("equation_21_printed_corrected")),
        Control("no growth at all", "the distance does not grow", part=f"{PAPERS.name} [noisy]",
            scalar=STILL)),
    positive={"equation_21_printed_corrected": 2.0, "equation_20_still": 1.9},
    hypotheses=SHORT_STEP, trivial=SMOOTH,
)  # fmt: skip

EQUATION_22 = statement(
    "deora2023.equation_22", "bound", title="The same after quasi-convexity",
    source=Source("6.2", "equation 22"), stated="factor 1 + (4 eta beta_3/(3 sqrt(H)))(L + L^-i)",
    why="The paper's bound.",
    statement="If the two models are as close as (18) asks, their distance grows per step by at "
        "most the factor 1 + (4 eta beta_3/(3 sqrt(H)))(L(theta_k) + L(theta_k^-i)), plus eta "
        "beta_1 l_i/n.",
    measured="Every step of every leave-one-out model: next distance over the bound.",
    readings=(PAPERS, SHARP),
    parts=_steps(22, "next distance over (22)"),
    controls=(Control("no growth at all", "the distance does not grow",
        part=f"{PAPERS.name} [atoms]", scalar=STILL),),
    positive={"equation_20_still": 1.9},
    hypotheses=both(SHORT_STEP, worst_of("closeness (18) of leave-one-out models, from above",
        curvature.closeness_of_left_out, 1.0)),
    trivial=SMOOTH,
)  # fmt: skip

SECTION_6_2 = statement(
    "deora2023.section_6_2", "bound", title="Mean leave-one-out stability",
    source=Source("6.2", "after equation 22"),
    stated="mean distance at most (2 eta beta_1/n)(2 K L(theta) + 9 D^2/(4 eta))",
    why="The paper's bound.",
    statement="Under Theorem 1's conditions the mean distance between the model and its "
        "leave-one-out models is at most (2 eta beta_1/n)(2 K L(theta) + 9 D^2/(4 eta)).",
    measured=f"{LEFT_OUT}, n = 10^6 to 10^8, K = 10,000 of the longest steps that the conditions "
        "allow (section 6.1's rho). Mean distance over the bound, with Corollary 1's beta_1 where "
        "the iterates can be.",
    parts=(Part("stability", "guaranteed_gap", scalar("apart_over_bound"), AtMost(1.0)),),
    controls=(Control("1/n^2", "1/n^2 in place of 1/n", part="stability",
        scalar=scalar("apart_over_bound_squared")),),
    positive={"apart_over_bound_squared": 10.0}, hypotheses=theorem_hypotheses(2, "corrected"),
    trivial=Trivial("8D, how far two runs can part by Theorem 1", PROMISED_STABILITY,
        "guaranteed_gap"),
    notes="Under our tightened conditions it is a part of finding_tightened_theorem_2.",
)  # fmt: skip

SECTION_6_2_ALL = (
    LEMMA_3, EQUATION_19, EQUATION_20, EQUATION_21, EQUATION_22, SECTION_6_2,
)  # fmt: skip
