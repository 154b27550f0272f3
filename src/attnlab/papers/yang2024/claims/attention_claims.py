"""Appendix F on attention: scores, softmax, keys and queries, and Theorem 3.3."""

from attnlab.papers.yang2024.claims.common import FROZEN, HIDDEN, SHUFFLED
from attnlab.papers.yang2024.claims.late_parts import (
    FROZEN_ONE_SET,
    INFINITE,
    POSITIVE,
    SHUFFLED_ONE_SET,
    UPPER,
    WINDOW,
    flat,
    late_claim,
    within,
)

ATTENTION = (
    late_claim(
        "lemma_4_7",
        parts=(
            within("signs", ("phase_2_least_score_rate", POSITIVE, INFINITE)),
            flat("least rate over its size", "least_score_rate", kind="equal"),
            flat("largest rate over its size", "largest_score_rate", kind="equal"),
            within("over time", ("phase_2_score_rate_time_exponent", -0.1, 0.1)),
            flat("with a random word", "random_score_rate"),
        ),
        wrong=(
            (
                "the four scores go the other way",
                "signs",
                {"ranges": (("phase_2_least_score_rate", -INFINITE, -POSITIVE),)},
            ),
            (
                "rates without the 1/sqrt(m)",
                "least rate over its size",
                {"exponent": 0.5},
            ),
            ("random words' rates fall by m^-0.5", "with a random word", {"exponent": -0.5}),
        ),
        changes=(SHUFFLED,),
        positive={"phase_2_least_score_rate": 0.9, "phase_2_score_rate_time_exponent": 0.04},
        constants=(HIDDEN,),
        title="Scores: signals attract each other, the common token is repelled (Lemma F.16)",
        statement=(
            "In phase 2 the scores between mu_1 and mu_2, either as query, grow, and those of the "
            "common token as key against either signal as query fall, all at rates of the order "
            "loss s0^2 m/(sqrt(m) L) up to logarithms; scores of a signal and a random word change "
            "at most at 1/n of that rate, plus loss s0^2."
        ),
        measured=(
            WINDOW + "The four rates over loss s0^2 sqrt(m)/L, with their signs: the least over "
            "the window positive in nine runs of ten, the exponents in m of the least and of the "
            "largest within 0.1 of 0, and over time, one logarithm divided out, within 0.1 of "
            "t^0. The largest rate with a random word over the first term of its bound alone: "
            "exponent in m at most 0."
        ),
        notes="That each rate carries 1/L and 1/n is checked by theorem_3_3's ratio over n only.",
    ),
    late_claim(
        "corollary_f17",
        parts=(
            within("signs", ("phase_2_least_softmax_rate", POSITIVE, INFINITE)),
            flat("least rate over its size", "least_softmax_rate", kind="equal"),
            flat("largest rate over its size", "largest_softmax_rate", kind="equal"),
            flat("to a random word", "random_softmax_rate"),
            flat("change of softmax x L^2", "softmax_change"),
        ),
        wrong=(
            (
                "1/sqrt(m), as printed",
                "least rate over its size",
                {"exponent": 0.5},
            ),
        ),
        changes=(SHUFFLED,),
        positive={"phase_2_least_softmax_rate": 0.9},
        constants=(HIDDEN,),
        title="Softmax: the same directions, at 1/m",
        statement=(
            "In phase 2 the attention between the two signals grows and that of a signal on the "
            "common token falls, at rates of the order (1/m) loss s0^2 m/L^2 up to logarithms; "
            "that on a random word changes at 1/n of it, plus loss s0^2/(L sqrt(m)), at most; and "
            "no attention has changed by more than O(1/L^2) since the start."
        ),
        measured=(
            WINDOW + "The four rates, means over samples with both signals, over loss s0^2/L^2, "
            "with their signs: the least positive in nine runs of ten, exponents in m within 0.1 "
            "of 0; rates to random words over their bound's first term, and L^2 times the largest "
            "change: exponents at most 0."
        ),
        notes=(
            "The print has 1/sqrt(m) for 1/m; its proof, and the softmax's own 1/sqrt(m) on top of "
            "the scores' rate, give 1/m. The print's rate is a control. The last bound is far from "
            "tight: the change falls like m^-2."
        ),
    ),
    late_claim(
        "corollary_f18",
        parts=(flat("attention's part of F'", "attention_part", -1.5),),
        wrong=(("it falls like m^-2.5", "attention's part of F'", {"exponent": -2.5}),),
        changes=(SHUFFLED,),
        title="Moving attention is a vanishing part of the outputs' rates",
        statement=(
            "In phase 2 the part of any sample's F' that comes from moving attention is o(1) of "
            "rho times the mean loss derivative."
        ),
        measured=(
            WINDOW + "The exponent in m of the largest such part over the window: at most -1.5, "
            "which corollary_f17 gives even as printed (as proved: -2). " + UPPER
        ),
    ),
    late_claim(
        "lemma_f19",
        parts=(
            flat("keys", "key_growth", -2.0),
            flat("queries", "query_growth", -2.0),
        ),
        wrong=(
            ("keys change by m^-2.5", "keys", {"exponent": -2.5}),
            ("queries change by m^-2.5", "queries", {"exponent": -2.5}),
        ),
        changes=(SHUFFLED, FROZEN),
        title="Keys and queries keep their correlations",
        statement=(
            "Over phase 2 no correlation of keys with keys or of queries with queries changes by "
            "more than s0^2/(s1^2 m m1), up to constants and logarithms."
        ),
        measured=(
            WINDOW + "With s0^2 of the order 1/m the bound is m^-2: the exponents in m of the "
            "change over all pairs, bounded by the sum of the changes since the start at both "
            "ends of the window. " + UPPER
        ),
    ),
    late_claim(
        "theorem_3_3",
        parts=(
            within("training loss", ("loss_end", 0.0, 2e-6)),
            within(
                "test loss, enough samples",
                ("test_loss_time_exponent", -INFINITE, -0.05),
                study="classes_late",
                runs="enough",
                probability=0.8,
            ),
            within("signs of C", ("phase_2_least_coefficient", POSITIVE, INFINITE)),
            flat("least C of signals over its size", "least_coefficient", kind="equal"),
            flat("largest C of signals over its size", "largest_coefficient", kind="equal"),
            flat("C with a random word over its size", "random_coefficient"),
            within("signals ahead of random words", ("phase_2_coefficient_ratio", 1.0, INFINITE)),
            flat(
                "ratio over min(n, sqrt(m)/L), in n",
                "coefficient_ratio_over_guarantee",
                kind="at_least",
                study="classes_late",
                setting="n",
                runs="shortest",
                counted=False,
            ),
            within(
                "test loss, few samples",
                ("test_loss_time_exponent", -INFINITE, -0.05),
                counted=False,
            ),
        ),
        wrong=(
            (
                "C of the size without sqrt(m)",
                "least C of signals over its size",
                {"exponent": -0.5},
            ),
            (
                "C with a random word m^-0.5 smaller",
                "C with a random word over its size",
                {"exponent": -0.5},
            ),
            (
                "test loss does not fall",
                "test loss, enough samples",
                {"ranges": (("test_loss_time_exponent", -0.02, INFINITE),)},
            ),
        ),
        changes=(FROZEN_ONE_SET, SHUFFLED_ONE_SET),
        positive={
            "loss_end": 1e-6,
            "test_loss_time_exponent": -0.3,
            "phase_2_least_coefficient": 300.0,
            "phase_2_coefficient_ratio": 3.0,
        },
        constants=(HIDDEN,),
        title="Near minimum losses, and the attention that is learnt (Theorem F.20)",
        statement=(
            "There is a time polynomial in m at which training and test loss are at most one over "
            "a polynomial in m. Scores have then changed by coefficients C of which C12, C21, -C31 "
            "and -C32 (key, query) are of the order "
            "s0^2 m/(sqrt(m) L s1^2 m m1) + s0^2/(s1^2 m m1), and those with a random word at most "
            "of the order in which the first term has another 1/n."
        ),
        measured=(
            WINDOW + "The training loss reaches 1e-6; the test loss falls, with an exponent in "
            "time of -0.05 or below over the second half of the run in log t, at n and L of a grid "
            "above the threshold of test_loss (eight of ten; classes of words, from the mean "
            "start); the four coefficients at the end have their signs "
            "and, over their size, an exponent in m within 0.1 of 0; those with a random word, "
            "over the first term of their bound alone, one of at most 0; and every one of the four "
            "is larger than all of those. Aside: their ratio over min(n, sqrt(m)/L), over n, and "
            "the test loss at n = 24."
        ),
        notes=(
            "What the two bounds guarantee is a ratio of min(n, sqrt(m)/L), not of n. The test "
            "loss needs far more samples than training: new samples draw the random words of the "
            "training set, whose outputs are memorised. Max-margin duals put the least n at 47 "
            "for L = 4 (about 20.6 L for long samples); at n = 24 the test loss grows while "
            "the training loss falls. Condition 1's n >= L^2 has an unknown constant."
        ),
    ),
)
