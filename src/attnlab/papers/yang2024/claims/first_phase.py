"""Section 4.1 and appendix E: what moves in the first phase, and how little the rest does."""

from dataclasses import replace

import numpy as np

from attnlab.core import (
    Claim,
    Constant,
    Control,
    Effect,
    Measurement,
    Reading,
    Record,
    Records,
)
from attnlab.evidence.intervals import decide_at_least, mean_interval
from attnlab.papers.yang2024.claims.builders import (
    PROBABILITY,
    ExponentLaw,
    RangeLaw,
    exponent_claim,
    exponent_fixture,
)
from attnlab.papers.yang2024.claims.common import HIDDEN, SHUFFLED, hypotheses, share_reading
from attnlab.papers.yang2024.claims.parts import Part, parts_claim
from attnlab.papers.yang2024.summaries.first_phase import CLASSES, LATE, MARGIN

WIDTHS = (512, 4096, 32768)
UP_TO_T1 = "Flow over widths m, up to the T1 at which every sample becomes correct. "
UPPER = (
    "An upper bound m^p is supported if the exponent's interval ends below p + 0.1 and "
    "contradicted if it begins above, of several parts if the simultaneous one does."
)


def flat(name: str, scalar: str, study: str = "phase_1", setting: str = "m") -> Part:
    """A part: a quotient by its bound does not grow with a setting."""
    return Part(name, study, ExponentLaw(scalar, setting, 0.0, "at_most"))


def by_class(kind: str, power: float) -> tuple[Part, ...]:
    """Parts: the growth of a correlation per use of its words, by class of pair, over m."""
    names = {"signals": "signals", "mixed": "signal and random word", "random": "random words"}
    return tuple(
        Part(names[k], "phase_1", ExponentLaw(f"{kind}_use_rate_{k}", "m", power, "at_most"))
        for k in CLASSES
    )


GAP = ExponentLaw("gradient_gap", "c0", 1.0, "at_least")
GAP_OVER_F = "constant: difference / F"


def measure_by_seed(records: Records, law: ExponentLaw) -> Measurement:
    """The mean over seeds of the exponent that one seed's draw shows. No T1 counts against."""
    found = [r for r in records.finite() if np.isfinite(r[law.scalar]) and r[law.scalar] > 0]
    share = share_reading(
        "exponent by seed",
        f"share of runs that have {law.scalar}",
        [any(r is other for other in found) for r in records],
        PROBABILITY,
    )
    slopes = []
    for seed in sorted({r.seed for r in found}):
        own = [r for r in found if r.seed == seed]
        x = np.log([getattr(r.cell, law.setting) for r in own])
        if np.ptp(x) > 0:
            y = np.log([float(r[law.scalar]) for r in own])
            slopes.append(float(np.polyfit(x, y, 1)[0]))
    if share.outcome == "contradicted" or not slopes:
        return Measurement((share,))
    interval = mean_interval(slopes)
    effect = Effect.of(f"mean exponent of {law.scalar} in {law.setting}", interval)
    outcome = decide_at_least(effect.low, effect.high, law.exponent - law.tolerance)
    return Measurement((Reading("exponent by seed", outcome, effect),), _gap_over_output(found))


def _gap_over_output(records: list[Record]) -> tuple[Constant, ...]:
    """The constant that one would have to grant, where the runs tell the first outputs."""
    have = [r for r in records if "largest_output" in r.values]
    if not have:
        return ()
    ratios = [float(r["gradient_gap"]) / float(r["largest_output"][0]) for r in have]
    low, middle, high = map(float, np.quantile(ratios, (0.025, 0.5, 0.975)))
    return (Constant(GAP_OVER_F, "fitted", middle, low, high),)


BAND = RangeLaw((("band_begin", 0.0, 1.0), ("band_constant", 1e-9, 1.0), ("band_rate", 0.0, 9.0)))

FIRST_PHASE = (
    parts_claim(
        "lemma_4_3",
        parts=(
            Part("band", "phase_1", BAND),
            Part("C", "phase_1", ExponentLaw("band_constant", "m", 0.0, "at_least")),
            Part("signals' rate", "phase_1", ExponentLaw("band_rate", "m", 0.0, "at_least")),
        ),
        wrong=(
            (
                "a band with C above 1/2",
                "band",
                {"ranges": (("band_constant", 0.5, 1.0),)},
            ),
            ("rates that grow like m^0.5", "signals' rate", {"exponent": 0.5}),
        ),
        changes=(SHUFFLED,),
        positive={"band_begin": 0.6, "band_constant": 0.1, "band_rate": 0.06},
        title="The common token's rate comes to lie in a band (Theorem E.19)",
        statement=(
            "There are a time T0.5 <= T1 and a constant 0 < C < 1 such that on [T0.5, T1] "
            "(1 + C) max(G1', G2') <= -G3' <= (1 - C)(G1' + G2'), with Gk = G(mu_k); and G1' and "
            "G2' are at least of the order of (s0^2 + s1^2) m m1 there."
        ),
        measured=(
            UP_TO_T1 + "T0.5 is when the band begins to hold at every record until T1; C and the "
            "smaller signal's rate over (s0^2 + s1^2) m m1 are the least over the later half, in "
            "log t, of [T0.5, T1]. The share of runs with such a stretch must be above 0.9, and C "
            "and the rate must not fall with m (exponent at least -0.1)."
        ),
        notes="C is 0 where the stretch begins, so it is taken over its later half.",
    ),
    parts_claim(
        "theorem_e26",
        parts=(
            flat("neurons on signals: R m1", "neuron_movement"),
            flat("neurons on random words: their share of R", "neuron_random_share"),
            Part(
                "random words over n",
                "classes_samples",
                ExponentLaw("random_share", "n", -1.0, "at_most"),
            ),
            flat("scores: R_S m^1.5", "score_movement"),
            flat("keys: R_K/(s0^2 sqrt m)", "key_movement"),
            flat("queries: R_Q/(s0^2 sqrt m)", "query_movement"),
        ),
        wrong=(
            ("scores move by m^-2", "scores: R_S m^1.5", {"exponent": -0.5}),
            ("R falls like 1/m", "neurons on signals: R m1", {"exponent": -1.0}),
            ("random words move by R/n^2", "random words over n", {"exponent": -2.0}),
        ),
        title="Everything stays in range during phase 1 (the conditions of Definition E.2)",
        statement=(
            "Up to C_T1/(s1^2 m m1) each neuron's output moves by R = O(1/m1) on the signals and "
            "by O(R/n + R/sqrt(m)) on random words, scores by O(m^-3/2), and keys and queries "
            "among themselves by O~(s0^2 sqrt(m)), so that phase 1 lasts until then."
        ),
        measured=(
            UP_TO_T1 + "Each largest movement over its bound: the quotient must not grow with m, "
            "and is the constant that one would have to grant. Random words are held to R/n "
            "alone, without R/sqrt(m): their share of R must not grow with m and must fall like "
            "1/n, which is measured on classes of words from the mean start. " + UPPER
        ),
        constants=(HIDDEN,),
        notes=(
            "The key and query bounds are far from tight: these movements fall like m^-2 where "
            "m^-1/2 is granted."
        ),
    ),
    exponent_claim(
        "proposition_e3",
        study="phase_1",
        law=ExponentLaw("attention_over_bound", "m", 0.0, "at_most"),
        wrong=(-2.0,),
        levels=WIDTHS,
        title="How much the attention moves in phase 1",
        statement=(
            "In phase 1 no attention weight moves by more than O(1/(sqrt(m) L) + L/m) from its "
            "initial value."
        ),
        measured=UP_TO_T1 + "The largest change of an attention weight over the bound at constant "
        "one: its exponent in m must be at most 0 (+ 0.1).",
        notes=(
            "The quotient falls like m^-3/2: the weights move by m^-2, as Corollary E.24 has it. "
            "At m = 2^20 that is the rounding of a double."
        ),
    ),
    parts_claim(
        "lemma_e9",
        parts=(
            *by_class("value", 0.0),
            Part(
                "random words over n",
                "classes_samples",
                ExponentLaw("value_use_rate_random", "n", 0.0, "at_most"),
            ),
        ),
        wrong=(("falls like m^-0.5", "signals", {"exponent": -0.5}),),
        title="Correlations of values move little",
        statement=(
            "In phase 1 <v(mu), v(nu)> changes by at most O(1) t (N_mu + N_nu)/n, where N counts "
            "the samples that hold a word."
        ),
        measured=(
            UP_TO_T1 + "The largest change over t (N_mu + N_nu)/n, by class of pair: its exponent "
            "in m, and for random words in n (on classes of words from the mean start), must be "
            "at most 0 (+ 0.1). " + UPPER
        ),
    ),
    parts_claim(
        "proposition_e12",
        parts=(
            Part("as stated", "phase_1", RangeLaw((("neuron_gram_over_bound", 0.0, 1.0),))),
            flat("growth with m", "neuron_gram_rate"),
        ),
        wrong=(
            (
                "bound over 50",
                "as stated",
                {"ranges": (("neuron_gram_over_bound", 0.0, 0.02),)},
            ),
            ("falls like m^-0.5", "growth with m", {"exponent": -0.5}),
        ),
        positive={"neuron_gram_over_bound": 0.2},
        title="Correlations of neurons move little (and Corollary E.13, of norms)",
        statement=(
            "In phase 1 <w_i, w_j> changes by at most 2 L t (s0 s1 sqrt((m/L) log(m1 n L/delta)) "
            "+ O~(L R_P s0 s1 sqrt(m)) + 4 R/L), with R the neurons' movement on signals and R_P "
            "that of the attention."
        ),
        measured=(
            "Flow. The largest change over t and over all pairs of neurons, over "
            "the bound with R and R_P as they come out by T1, delta = 0.1 and constant one for "
            "the middle term: at most 1 in a share of at least 0.9 of the runs; and the change "
            "over t does not grow with m (exponent at most 0.1)."
        ),
        notes=(
            "The bound rests on Corollary D.5 as printed, which fails; it has room enough that "
            "this does not show."
        ),
    ),
    parts_claim(
        "theorem_e14",
        parts=(
            flat("error", "neuron_error_over_bound"),
            Part(
                "least factor", "phase_1", ExponentLaw("neuron_factor_least", "m", 0.0, "at_least")
            ),
            flat("largest factor", "neuron_factor_most"),
        ),
        wrong=(
            ("error smaller by m^0.5", "error", {"exponent": -0.5}),
            ("factor larger by m^0.5", "least factor", {"exponent": 0.5}),
        ),
        title="Each neuron's rate on a signal throughout phase 1",
        statement=(
            "In phase 1 the rate of a_j w_j W_V mu, for mu one of the two signals, is the "
            "difference of the attention-weighted gradients of positive and negative samples that "
            "hold it, times a factor of order (s0^2 + s1^2) m, up to an error of "
            "O~(L s0^2 sqrt(m) + s1^2 sqrt(m m1))."
        ),
        measured=(
            "Flow, up to T1. The factor is |w_j|^2 + |W_V mu|^2: its least and "
            "largest value over neurons, signals and time, over (s0^2 + s1^2) m, and the largest "
            "error over its bound; the exponents in m must be at least, at most and at most 0, up "
            "to 0.1."
        ),
        constants=(HIDDEN,),
    ),
    parts_claim(
        "theorem_e15",
        parts=(
            Part("over n", "classes_samples", ExponentLaw("random_growth", "n", -1.0, "at_most")),
            flat("over m", "random_rate_over_bound"),
            flat("by neuron", "neuron_random_rate_over_bound"),
        ),
        wrong=(
            ("falls like n^-2", "over n", {"exponent": -2.0}),
            ("smaller by m^0.5", "over m", {"exponent": -0.5}),
        ),
        title="Rates on random words throughout phase 1",
        statement=(
            "In phase 1 a neuron's output on a random word changes at a rate of at most "
            "O((s0^2 + s1^2) m / n) + O~(s0^2 L sqrt(m))."
        ),
        measured=(
            UP_TO_T1 + "The largest rate of G on a random word over m1 times the bound, and of "
            "single neurons over the bound, must not grow with m. On classes of words from the "
            "mean start, the largest growth of G on a random word over t, in units of "
            "(s0^2 + s1^2) m m1, must fall with n with an exponent of at most -1 (+ 0.1). " + UPPER
        ),
        constants=(HIDDEN,),
    ),
    exponent_claim(
        "lemma_e17",
        study="phase_1",
        law=ExponentLaw("neuron_common_rate", "m", 0.0, "at_most"),
        wrong=(-1.0,),
        levels=(128, 256, 512, 1024),
        title="Each neuron's rate on the common token",
        statement=(
            "In phase 1 a neuron's output on the common token changes at a rate of at most "
            "O~(s1^2 m)."
        ),
        measured=(
            "Flow, up to T1. The largest rate over s1^2 m: its exponent in m must "
            "be at most 0 (+ 0.1)."
        ),
        notes="Erratum (wording): the print has time 0 on the left; t is meant.",
    ),
    exponent_claim(
        "corollary_e20",
        study="phase_1",
        law=ExponentLaw("right_by", "m", -1.0, "at_most"),
        wrong=(-1.5,),
        levels=WIDTHS,
        title="Samples with one signal become correct within O(1/m)",
        statement=(
            "There is a constant C > 0 such that the first time at which y F >= C on every sample "
            "with exactly one of the two signals is O(1/m)."
        ),
        measured=(
            f"Flow over widths m. The first time at which all these samples have a margin of at "
            f"least C = {MARGIN:g} (ours): its exponent in m must be at most -1 (+ 0.1), in a "
            "share of runs that get there of at least 0.9."
        ),
        notes=(
            "Erratum (wording): the print has F where y F is meant; these samples have y = -1, "
            "and Theorem E.27 uses it so."
        ),
    ),
    Claim(
        id="yang2024.proposition_e21",
        title="The samples with one signal stay alike",
        statement=(
            "In phase 1 the sums of g over the samples with only the first and with only the "
            "second signal differ, over n, by at most O(F), with F the largest |F(X_i)| at the "
            "start."
        ),
        measured=(
            "Flow at several scales c0 of the initialisation, to which F is proportional; each "
            "seed has the same draw at every scale. The exponent in c0 of the largest difference "
            "up to T1, fitted for each seed; its mean over seeds, with Student's interval, must "
            "be at least 1 (- 0.1)."
        ),
        studies=("yang2024.initial_scale",),
        measure=measure_by_seed,
        law=GAP,
        hypotheses=hypotheses,
        controls=(
            Control("exponent 2", "a difference of order F^2", law=replace(GAP, exponent=2.0)),
            Control(
                "independent samples",
                "types 2 and 3 differ in number, so their gradients differ at any scale",
                changes={"sampler": "independent"},
            ),
        ),
        positive=lambda: exponent_fixture("yang2024.initial_scale", GAP, (0.001, 0.01, 0.1)),
        constants=(Constant(GAP_OVER_F, "fitted"),),
    ),
    parts_claim(
        "lemma_e23",
        parts=by_class("score", -0.5),
        wrong=(("falls like m^-1", "signals", {"exponent": -1.0}),),
        title="Scores move little",
        statement=(
            "In phase 1 a score changes by at most "
            "t (N_mu + N_nu)/(n sqrt(m)) O~(1/L + 1/sqrt(m)), where N counts the samples that hold "
            "a word."
        ),
        measured=(
            UP_TO_T1 + "The largest change over t (N_mu + N_nu)/n, by class of pair: its exponent "
            "in m must be at most -1/2 (+ 0.1). " + UPPER
        ),
        constants=(HIDDEN,),
    ),
    parts_claim(
        "lemma_e25",
        parts=(
            Part("keys", "phase_1", ExponentLaw("key_use_rate", "m", -1.0, "at_most")),
            Part("queries", "phase_1", ExponentLaw("query_use_rate", "m", -1.0, "at_most")),
        ),
        wrong=(("keys fall like m^-1.5", "keys", {"exponent": -1.5}),),
        title="Keys and queries move little among themselves",
        statement=(
            "In phase 1 products of keys, and of queries, change by at most "
            "t (N_mu + N_nu)/(n sqrt(m)) O~(1/sqrt(m)), where N counts the samples that hold a "
            "word."
        ),
        measured=(
            UP_TO_T1 + "The largest change over t (N_mu + N_nu)/n, over all pairs of words: its "
            "exponent in m must be at most -1 (+ 0.1). " + UPPER
        ),
        constants=(HIDDEN,),
    ),
    parts_claim(
        "theorem_e27",
        parts=(
            Part("least margin", "phase_1", ExponentLaw("margin_least_late", "m", 0.0)),
            Part("largest output", "phase_1", ExponentLaw("margin_most_late", "m", 0.0)),
            Part("least signal", "phase_1", ExponentLaw("signal_least_late", "m", 0.0)),
            Part("largest signal", "phase_1", ExponentLaw("signal_most_late", "m", 0.0)),
            flat("random words", "random_output_late"),
            Part("neurons", "phase_1", ExponentLaw("rho_late", "m", 0.0)),
        ),
        wrong=(("margins that grow like m^0.5", "least margin", {"exponent": 0.5}),),
        changes=(SHUFFLED,),
        title="The end of phase 1",
        statement=(
            "At T1 every margin y F, G(mu_1), G(mu_2) and -G(mu_3) are positive and of order 1, "
            "G is O~(s0 s1 sqrt(m m1)) on random words, and |W^T a|^2 is of order s1^2 m m1."
        ),
        measured=(
            f"Flow over widths m, at T1 = C_T1/(s1^2 m m1) with C_T1 = {LATE:g} times the limit's "
            "tau_1 (the print asks for a large enough constant; at the detected T1 the last "
            "sample is only just correct). Each quantity over its order has an exponent in m "
            "within 0.1 of 0 (random words: at most 0.1), and is positive in a share of at least "
            "0.9 of the runs. " + UPPER
        ),
        constants=(HIDDEN,),
        notes=(
            "With s0 = c0/sqrt(L m) the bound on random words is c0/sqrt(L), while G on them "
            "grows to order 1/n by T1: at fixed sizes it is not proportional to c0, so the stated "
            "order needs s0 not to be made small, as Condition 1 has it."
        ),
    ),
    parts_claim(
        "theorem_e28",
        parts=(
            flat("over m", "score_over_bound"),
            flat("over L", "score_over_bound", "classes_lengths", "L"),
        ),
        wrong=(
            ("smaller by m^0.5", "over m", {"exponent": -0.5}),
            ("smaller by L^4", "over L", {"exponent": -4.0}),
        ),
        title="How much scores move by T1 (the formal version of Theorem 3.1)",
        statement=(
            "Up to T1 no score has moved by more than O~(m^-3/2 (1/L + 1/sqrt(m))). The other "
            "parts are those of Theorem 3.1."
        ),
        measured=(
            UP_TO_T1 + "The largest movement of a score over the bound: its exponents in m and, "
            "on classes of words from the mean start, in L must be at most 0 (+ 0.1). " + UPPER
        ),
        constants=(HIDDEN,),
    ),
)
