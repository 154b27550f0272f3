"""Section 4.2 and appendix F without attention: gradients, outputs, the loss, rho and values."""

from attnlab.core import Constant
from attnlab.papers.yang2024.claims.common import HIDDEN, SHUFFLED
from attnlab.papers.yang2024.claims.late_parts import (
    INFINITE,
    POSITIVE,
    SHUFFLED_ONE_SET,
    UPPER,
    WINDOW,
    flat,
    late_claim,
    within,
)
from attnlab.papers.yang2024.theory.conditions import DEFINITION_F1

SMALL = Constant("C << 1, taken as 0.1", "given", 0.1)
_UPPER_CONDITIONS = [
    c for c in DEFINITION_F1 if c.constant == "unknown" and c.name != "smallest_margin"
]
_VIOLATIONS = tuple((f"phase_2_violation_of_{c.name}", 0.0, INFINITE) for c in DEFINITION_F1)


def _narrow(*ranges: tuple[str, float, float]) -> dict[str, tuple[tuple[str, float, float], ...]]:
    return {"ranges": ranges}


SECOND_PHASE = (
    late_claim(
        "definition_f1",
        parts=(
            flat("it begins at O~(1/m)", "begin", -1.0),
            *(flat(c.name, f"constant_of_{c.name}") for c in _UPPER_CONDITIONS),
            flat("smallest_margin", "constant_of_smallest_margin", kind="at_least"),
            within("exact conditions from T1 on", ("exact_conditions_over_T1", 0.0, 1.3)),
            within("first violation at constant one, rho(0) t", *_VIOLATIONS, counted=False),
        ),
        wrong=(
            ("it begins at m^-1.5", "it begins at O~(1/m)", {"exponent": -1.5}),
            ("rho falls like m^-0.5", "neuron_sum", {"exponent": -0.5}),
        ),
        changes=(SHUFFLED,),
        positive={
            "exact_conditions_over_T1": 0.5,
            **{name: 1e6 for name, _, _ in _VIOLATIONS},
        },
        constants=(HIDDEN,),
        title="The conditions of phase 2 hold on one long stretch of time",
        statement=(
            "There is a time range from some T1 = O~(1/m) on in which the second phase's "
            "conditions hold: keys, queries, softmax and rho stay near their first values, the "
            "motion of neurons and of attention makes up a vanishing part of the outputs' rates, "
            "the types' loss derivatives are ordered g4 <= g2, g3 <= g1 <= g2 + g3 + g4 with g2 "
            "and g3 within a factor of 2, margins are at least and random words' parts at most "
            "a constant, and signals' outputs are O(log m)."
        ),
        measured=(
            WINDOW + "Decided by the exponents in m of the window's beginning and of the constant "
            "that each condition needs over the whole window (bounds with o(.) taken as O(.)), "
            "and by the exact ones holding from the detected T1 on (one record's spacing, 1.3, "
            "allowed). " + UPPER + " Aside: when each condition first fails at constant one."
        ),
        notes=(
            "random_word_sum has a constant of about 12 at n = 24, L = 4 that grows with log t: "
            "corollary_f15 decides on it. The runs end at one loss, so they say nothing of times "
            "that grow with a higher power of m."
        ),
    ),
    late_claim(
        "lemma_4_4",
        parts=(
            within("types 2 and 3", ("phase_2_imbalance_2_3", 0.0, 0.1)),
            flat("over m", "imbalance_2_3", counted=False),
        ),
        wrong=(
            (
                "types 1 and 2 are as close",
                "types 2 and 3",
                _narrow(("phase_2_imbalance_1_2", 0.0, 0.1)),
            ),
        ),
        changes=(SHUFFLED,),
        positive={"phase_2_imbalance_2_3": 0.01, "phase_2_imbalance_1_2": 0.6},
        constants=(SMALL,),
        title="The types with one signal balance (Lemma F.5)",
        statement=(
            "In phase 2 the sums of the loss derivatives over the samples with only mu_1 and over "
            "those with only mu_2 differ by at most a small constant times the smaller."
        ),
        measured=(
            WINDOW + "The largest relative difference over the window: at most 0.1 (ours, for C "
            "much below 1) in nine runs of ten. Aside: its exponent in m."
        ),
    ),
    late_claim(
        "lemma_4_5",
        parts=(
            within("gaps are positive", ("phase_2_least_gap", POSITIVE, 1.0)),
            flat("gaps are of the order of the whole", "largest_gap_ratio"),
            flat("signals' rates", "signal_rate_ratio"),
            within("band", ("phase_2_band_constant", POSITIVE, 1.0)),
            flat("the band's C", "band_constant", kind="at_least"),
            within("c/a", ("phase_2_c_over_a", -2.1, -1.9)),
            within("root", ("phase_2_least_root", 1.0, 2.0), ("phase_2_largest_root", 1.0, 2.0)),
            within("R contracts to that root", ("phase_2_contraction", 0.9, 1.0), counted=False),
            within("R ends at that root", ("phase_2_distance_to_root", 0.0, 0.05), counted=False),
            within(
                "R ends at the root with the samples' own random words",
                ("phase_2_distance_to_root_with_random_words", 0.0, 0.05),
                counted=False,
            ),
        ),
        wrong=(
            ("c/a = +2, as printed", "c/a", _narrow(("phase_2_c_over_a", 1.9, 2.1))),
            ("a band with C above 0.4", "band", _narrow(("phase_2_band_constant", 0.4, 1.0))),
        ),
        changes=(SHUFFLED,),
        positive={
            "phase_2_least_gap": 0.14,
            "phase_2_band_constant": 0.2,
            "phase_2_c_over_a": -2.0,
            "phase_2_least_root": 1.5,
            "phase_2_largest_root": 1.5,
            "phase_2_contraction": 1.0,
            "phase_2_distance_to_root": 0.0,
            "phase_2_distance_to_root_with_random_words": 0.0,
        },
        constants=(HIDDEN,),
        title="Gradient gaps balance: the band of the common token (Lemma F.6)",
        statement=(
            "In phase 2 the gaps g2 + g3 + g4 - g1, g1 - g2 and g1 - g3 (sums of loss derivatives "
            "over types) are all of the order of the sum of all, G1' and G2' are of one order, and "
            "for a constant C > 0 (1 + C) max(G1', G2') <= -G3' <= (1 - C)(G1' + G2'). In the "
            "proof R = -G3'/G1' contracts to the positive root, between 1 and 2, of "
            "a R^2 + b R + c with c/a near -2."
        ),
        measured=(
            WINDOW + "Over the window: the least gap and the least band constant, in nine runs of "
            "ten positive, and the exponents in m of the largest ratios and of C; c/a and the root "
            "from the recorded curvatures. " + UPPER + " Aside: the share of steps in which R "
            "goes towards the root, where it is 0.02 or more away, and how far from it R ends, for "
            "the root as proved and for the one in which every sample also learns its own random "
            "words."
        ),
        notes=(
            "The print has c/a near +2, with which no root is real; with -2 the root is between 1 "
            "and 2 as it says. The proof drops the samples' own random words as o(1). At these n "
            "they are not small: R goes away from the printed root (3/2) to the one that "
            "includes them (1.12 at n = 24, L = 4)."
        ),
    ),
    late_claim(
        "corollary_f2",
        parts=(flat("spread within a type", "gradient_spread"),),
        wrong=(("it falls like m^-0.5", "spread within a type", {"exponent": -0.5}),),
        changes=(SHUFFLED,),
        title="Loss derivatives within a type are of one order",
        statement=(
            "In phase 2 the largest and the smallest loss derivative among the samples of one "
            "type differ by at most a constant factor."
        ),
        measured=WINDOW + "The exponent in m of the largest such factor over the window. " + UPPER,
    ),
    late_claim(
        "corollary_f7",
        parts=(
            flat("over m", "output_ratio"),
            within("over time", ("phase_2_output_ratio_time_exponent", -0.1, 0.1)),
        ),
        wrong=(
            ("ratios fall like m^-0.5", "over m", {"exponent": -0.5}),
            (
                "ratios grow like t^0.5",
                "over time",
                _narrow(("phase_2_output_ratio_time_exponent", 0.4, 0.6)),
            ),
        ),
        changes=(SHUFFLED,),
        positive={"phase_2_output_ratio_time_exponent": 0.0},
        title="Outputs of the three signals are of one order",
        statement="In phase 2 G(mu_1), G(mu_2) and -G(mu_3) are positive and of the same order.",
        measured=(
            WINDOW + "The largest ratio of two of them over the window (none if one is not "
            "positive): its exponent in m at most 0 and, over the window, in t within 0.1 of 0."
        ),
    ),
    late_claim(
        "equation_5",
        parts=(
            within("rate", ("rho_rate_error", 0.0, 1e-9)),
            within("growth", ("phase_2_rho_growth_over_integral", 0.99, 1.01)),
            within("increasing", ("least_rho_rate_once_correct", POSITIVE, INFINITE)),
            flat("rho stays of the order s1^2 m m1", "rho_over_neuron_rate", kind="at_least"),
        ),
        wrong=(
            (
                "half the rate",
                "growth",
                _narrow(("phase_2_rho_growth_over_integral", 1.98, 2.02)),
            ),
            (
                "rho falls",
                "increasing",
                _narrow(("least_rho_rate_once_correct", -INFINITE, -POSITIVE)),
            ),
        ),
        positive={
            "rho_rate_error": 1e-15,
            "phase_2_rho_growth_over_integral": 1.0,
            "least_rho_rate_once_correct": 1e-3,
        },
        title="The neurons' sum of correlations grows (Lemma F.4)",
        statement=(
            "The sum over all pairs of neurons of <a_i w_i, a_j w_j>, rho, grows at the rate "
            "(2 m1/n) sum_i g_i y_i F_i. Once every sample is correct that is positive, so rho "
            "stays of the order s1^2 m m1 at least."
        ),
        measured=(
            "Along flows to a loss of 1e-6: the printed right-hand side from the samples' margins "
            "against the engine's rate (relative error at most 1e-9), its integral over phase 2 "
            "against the growth of rho itself (within 1 %), its sign from the time at which "
            "every sample is correct, and the exponent of rho/(s1^2 m m1) in m."
        ),
    ),
    late_claim(
        "theorem_f8",
        parts=(
            within("1/loss is linear in time", ("phase_2_loss_slope_time_exponent", -0.1, 0.1)),
            flat("its slope", "loss_slope", 1.0, kind="equal"),
            flat("least slope over s1^2 m m1", "least_loss_slope", kind="at_least"),
            flat("largest slope over s1^2 m m1", "largest_loss_slope"),
            within(
                "slope against the limit's constant",
                ("phase_2_loss_slope_over_limit", 0.98, 1.02),
                widest=True,
                probability=0.8,
                counted=False,
            ),
        ),
        wrong=(
            (
                "1/loss grows like sqrt(t)",
                "1/loss is linear in time",
                _narrow(("phase_2_loss_slope_time_exponent", -0.6, -0.4)),
            ),
            ("slope like m^0.5", "its slope", {"exponent": 0.5}),
            ("slope like m^1.5", "its slope", {"exponent": 1.5}),
        ),
        changes=(SHUFFLED,),
        positive={
            "phase_2_loss_slope_time_exponent": 0.01,
            "phase_2_loss_slope_over_limit": 1.0,
        },
        constants=(Constant("slope of 1/loss over s1^2 m m1", "fitted"),),
        title="One over the loss grows linearly, at the rate s1^2 m m1",
        statement=(
            "In phase 2 the training loss is 1/(c (t - T1) + 1/loss(T1)) with c of the order "
            "s1^2 m m1."
        ),
        measured=(
            WINDOW + "The slope of 1/loss between records: its exponent in time over the window "
            "within 0.1 of 0, its exponent in m at the end 1, and that of the least and of the "
            "largest slope over s1^2 m m1. " + UPPER + " Aside: at the largest m, the slope at the "
            "end over that of the limit of infinite width, within 2 % (finding_svm_duals)."
        ),
    ),
    late_claim(
        "corollary_f9",
        parts=(flat("growth of rho", "rho_growth", -1.0),),
        wrong=(("it falls like m^-1.5", "growth of rho", {"exponent": -1.5}),),
        changes=(SHUFFLED,),
        title="rho hardly grows in phase 2",
        statement="Over all of phase 2 rho grows by O~(m1/m).",
        measured=WINDOW + "The exponent in m of the growth of rho over the window. " + UPPER,
    ),
    late_claim(
        "lemma_f10",
        parts=(
            flat("growth of rho", "rho_growth", -1.0),
            flat("rho over s1^2 m m1", "rho_over_neuron_rate", kind="equal"),
        ),
        wrong=(
            ("rho like m^1.5", "rho over s1^2 m m1", {"exponent": 0.5}),
            ("it grows by m^-1.5", "growth of rho", {"exponent": -1.5}),
        ),
        changes=(SHUFFLED,),
        title="rho stays of the order s1^2 m m1",
        statement=(
            "In phase 2 rho has grown by at most m1 log m log t/(s1^2 m m1), up to a constant, "
            "and so it is of the order s1^2 m m1."
        ),
        measured=(
            WINDOW + "At fixed m1 and end the bound is m^-1 up to logarithms: the exponents in m "
            "of the growth and of rho/(s1^2 m m1). " + UPPER
        ),
    ),
    late_claim(
        "lemma_f11",
        parts=(
            within("rate", ("phase_2_value_growth_over_integral", 0.99, 1.01)),
            flat("change of values", "value_growth", -1.0),
        ),
        wrong=(
            (
                "half the rate",
                "rate",
                _narrow(("phase_2_value_growth_over_integral", 1.98, 2.02)),
            ),
            ("it changes by m^-1.5", "change of values", {"exponent": -1.5}),
        ),
        changes=(SHUFFLED,),
        positive={"phase_2_value_growth_over_integral": 1.0},
        title="Values correlate by G times the drive, and little",
        statement=(
            "The value correlation of two words grows at the rate G(nu) z(mu) + G(mu) z(nu), z "
            "being the attention that a word receives weighted by the samples' g y/n; over phase 2 "
            "no correlation changes by more than log m log t/(s1^2 m m1), up to a constant."
        ),
        measured=(
            WINDOW + "The rate of the signals' correlation, integrated, against its growth "
            "(within 1 %); the exponent in m of the change over all pairs, bounded by the sum of "
            "the changes since the start at both ends of the window. " + UPPER
        ),
    ),
    late_claim(
        "corollary_f12",
        parts=(flat("neurons' part of G'", "value_part", -1.0),),
        wrong=(("it falls like m^-2.5", "neurons' part of G'", {"exponent": -2.5}),),
        changes=(SHUFFLED,),
        title="The neurons' motion is a vanishing part of the outputs' rates",
        statement=(
            "In phase 2 the part of any G'(mu) that comes from moving neurons is o(1/L) of "
            "rho times the mean loss derivative."
        ),
        measured=(
            WINDOW + "The exponent in m of L times the largest such part over the window: at most "
            "-1, which the proof's sizes give. " + UPPER
        ),
    ),
    late_claim(
        "corollary_4_6",
        parts=(
            within("signals", ("phase_2_least_value_rate_between_signals", POSITIVE, INFINITE)),
            within(
                "signal and common token",
                ("phase_2_largest_value_rate_to_common", -INFINITE, -POSITIVE),
            ),
        ),
        wrong=(
            (
                "signal and common token correlate more",
                "signal and common token",
                _narrow(("phase_2_largest_value_rate_to_common", POSITIVE, INFINITE)),
            ),
        ),
        changes=(SHUFFLED,),
        positive={
            "phase_2_least_value_rate_between_signals": 0.5,
            "phase_2_largest_value_rate_to_common": -0.5,
        },
        title="Values: signals correlate more, signal and common token less (Corollary F.13)",
        statement=(
            "In phase 2 the value correlations of mu_1 with mu_2 and of either with itself grow, "
            "and those of mu_1 and of mu_2 with the common token fall."
        ),
        measured=(
            WINDOW + "The share of runs in which all five rates have their sign at every record "
            "of the window: supported above 0.9."
        ),
    ),
    late_claim(
        "lemma_f14",
        parts=(
            flat("rate over its bound", "random_rate_constant"),
            within("change against 1/n", ("phase_2_random_output_constant", 0.0, 33.0)),
            within(
                "change against 1/n, over n and L",
                ("phase_2_random_output_constant", 0.0, 33.0),
                study="classes_late",
            ),
        ),
        wrong=(
            ("the rate falls like m^-0.5", "rate over its bound", {"exponent": -0.5}),
            (
                "constant one",
                "change against 1/n",
                _narrow(("phase_2_random_output_constant", 0.0, 1.0)),
            ),
        ),
        changes=(SHUFFLED_ONE_SET,),
        positive={"phase_2_random_output_constant": 9.0},
        constants=(Constant("change of G x n / log(1 + rho t), at most", "given", 33.0),),
        title="Random words move by 1/n",
        statement=(
            "In phase 2 the output of a random word changes at the rate "
            "loss x (s1^2 m m1/n + m1 (L (s0^2 sqrt(m) + 1/m) + s0^2 m)) at most, up to a "
            "constant, and in all by 1/n plus that second part over s1^2 m m1, up to logarithms."
        ),
        measured=(
            WINDOW + "The exponent in m of the largest rate over its bound; the largest change "
            "times n over log(1 + rho t), against 30, the most that the limit of infinite width "
            "allows at any n and L, and a tenth more. " + UPPER
        ),
    ),
    late_claim(
        "corollary_f15",
        parts=(
            within("O(1) over time", ("phase_2_random_sum_log_slope", -0.05, 0.05)),
            flat("over m, at one loss", "random_sum_end", counted=False),
            within(
                "it grows by the limit's constant times log t",
                ("phase_2_random_sum_slope_over_limit", 0.95, 1.05),
                counted=False,
            ),
        ),
        wrong=(
            (
                "it falls",
                "O(1) over time",
                _narrow(("phase_2_random_sum_log_slope", -INFINITE, -0.1)),
            ),
        ),
        changes=(SHUFFLED,),
        positive={
            "phase_2_random_sum_log_slope": 0.0,
            "phase_2_random_sum_slope_over_limit": 1.0,
        },
        title="Random words make up O(1) of an output",
        statement=(
            "In phase 2, until times polynomial in m, the part of any sample's output that its "
            "random words make stays at most a constant."
        ),
        measured=(
            WINDOW + "The slope in log t, over the second half of the window, of the largest such "
            "part: a constant within 0.05 of 0. Aside: its exponent in m at one loss, and the "
            "slope over the one that the limit of infinite width predicts."
        ),
        notes=(
            "At fixed n it grows like log t: by (L-3)(2 A1/n) log t for samples with both signals "
            "and (L-2)(6 A2/n) log t for those with one, A being the max-margin duals. So the "
            "statement needs n of the order of L log m with a constant of about 30, which the "
            "logarithms of Condition 1 may be read to contain; n = 24, L = 4 does not have it."
        ),
    ),
)
