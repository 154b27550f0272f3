"""Appendix E: what moves in the first phase, and how little the rest does."""

from dataclasses import replace
from typing import Any

import numpy as np

from attnlab.claims import Claim, Control, Fitted, Law, Part, Scalar, Source
from attnlab.evidence.laws import AtLeast, AtMost, Power, Relation, Share
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims import paths as p
from attnlab.papers.yang2024.claims.common import (
    BOUNDED,
    HIDDEN,
    KEPT,
    PROBABILITY,
    SHUFFLED,
    TOLERANCE_WHY,
    drawn_hypotheses,
)
from attnlab.papers.yang2024.claims.phase_2 import COUPLED_SIZES
from attnlab.papers.yang2024.runs.summaries.phase_1 import CLASSES, LATE, MARGIN
from attnlab.papers.yang2024.scalars import initial
from attnlab.papers.yang2024.scalars import phase_1 as scalars
from attnlab.papers.yang2024.scalars.examples import STARTED, random_rate_bound

UP_TO_T1 = p.ALONG + "Up to the T1 from which on every sample is correct. "
DRAWN = (
    f"Gradient flow from drawn weights, {COUPLED_SIZES.partition(', each')[0]}, up to the T1 from "
    "which on every sample is correct. "
)
PAIRS = {"signals": "signals", "mixed": "signal and random word", "random": "random words"}
OVER_SAMPLES = "n from 96 to 3072 on classes of words from the mean start, m = 2^14, L = 4"


def over_m(name: str, scalar: Scalar, law: Law = BOUNDED) -> Part:
    """A part over drawn weights at coupled sizes: single neurons, which classes do not have."""
    return Part(name, "drawn_path", scalar, law, path=COUPLED_SIZES)


def over_n(name: str, scalar: Scalar, power: float) -> Part:
    """A part over the number of samples: at most this power of n."""
    law = Power("n", power, "at_most")
    return Part(name, "classes_samples", scalar, law, path=OVER_SAMPLES)


def wrong(
    name: str, part: str, power: float, along: str = "m", relation: Relation = "at_most"
) -> Control:
    """A control: another exponent in one part."""
    return Control(name, f"{part}: {name}", part=part, law=Power(along, power, relation))


def on_path(name: str, part: str, law: Law) -> Control:
    """A control: another law in one part along the paths."""
    return p.wrong(name, part, law, at="k = 2")


SHARED: dict[str, Any] = {"hypotheses": drawn_hypotheses, "constants": (HIDDEN,)}

_STATEMENTS = (
    statement(
        "yang2024.lemma_e6",
        "scaling", source=Source("E", "Lemma E.6", 26), title="First rates on random words",
        statement="At the start a neuron's output on a random word changes at a rate of at most "
                  "order (s0^2 + s1^2) m / n + s0^2 sqrt(m L).",
        stated="O((s0^2 + s1^2) m/n + s0^2 sqrt(m L))",
        measured="The largest rate at time 0 over all neurons and random words, over the bound, "
                 "must not grow with m; on classes of words from the mean start, the first growth "
                 "of G on a random word over (s0^2 + s1^2) m m1 must fall like 1/n.",
        parts=(over_n("over n", initial.RANDOM_GROWTH, -1.0),
               over_m("single neurons over m", initial.RANDOM_RATE)),
        controls=(wrong("falls like n^-2", "over n", -2.0, "n"),
                  wrong("smaller by m^0.5", "single neurons over m", -0.5)),
        positive={
            **STARTED,
            "random_outputs": lambda cell, random: np.full((3, 4), 1 / cell.n),
            "largest_random_neuron_rate": random_rate_bound,
        },
        notes="Classes of words have no single neurons: over n their mean is looked at.",
        why=TOLERANCE_WHY, **SHARED,
    ),
    statement(
        "yang2024.theorem_e26", "scaling", source=Source("E", "Theorem E.26", 43),
        title="Everything stays in range during phase 1 (the conditions of Definition E.2)",
        statement="Up to C_T1/(s1^2 m m1) each neuron's output moves by R = O(1/m1) on the "
                  "signals and by O(R/n + R/sqrt(m)) on random words, scores by O(m^-3/2), and "
                  "keys and queries among themselves by O~(s0^2 sqrt(m)), so that phase 1 lasts "
                  "until then.",
        stated="R = O(1/m1); O(R/n + R/sqrt(m)); O(m^-3/2); O~(s0^2 sqrt(m))",
        measured=(
            UP_TO_T1 + "Each largest movement over its bound must not grow. Single neurons "
            "from drawn weights at coupled sizes. Random words are held to R/n alone, without "
            "R/sqrt(m), over n on classes of words."
        ),
        readings=p.EARLY,
        parts=p.joined((over_m("neurons on signals", scalars.NEURON_MOVEMENT),
               over_m("neurons on random words", scalars.NEURON_RANDOM_SHARE),
               over_n("random words over n", scalars.RANDOM_SHARE, -1.0)),
               p.early("scores", scalars.SCORE_MOVEMENT, p.plain()),
               p.early("keys", scalars.KEY_MOVEMENT, p.tilde()),
               p.early("queries", scalars.QUERY_MOVEMENT, p.tilde())),
        controls=(on_path("scores move by m^-2", "scores", p.tilde(-0.5)),
                  wrong("R falls like 1/m", "neurons on signals", -1.0),
                  wrong("random words move by R/n^2", "random words over n", -2.0, "n")),
        notes="The key and query bounds are far from tight: these movements fall like m^-3 where "
              "m^-1/2 is granted.",
        why=p.WHY, **SHARED,
    ),
    statement(
        "yang2024.proposition_e3", "scaling", source=Source("E", "Proposition E.3", 24),
        title="How much the attention moves in phase 1",
        statement="In phase 1 no attention weight moves by more than O(1/(sqrt(m) L) + L/m) from "
                  "its initial value.",
        stated="O(1/(sqrt(m) L) + L/m)",
        measured=UP_TO_T1 + "The largest change of an attention weight over the bound.",
        readings=p.EARLY, parts=p.early("attention", scalars.ATTENTION, p.plain()),
        controls=(on_path("smaller by m^2", "attention", p.tilde(-2.0)),),
        notes="The quotient falls like m^-3/2: the weights move by m^-2.",
        why=p.WHY, **SHARED,
    ),
    statement(
        "yang2024.lemma_e9",
        "scaling", source=Source("E", "Lemma E.9", 28), title="Correlations of values move little",
        statement="In phase 1 <v(mu), v(nu)> changes by at most O(1) t (N_mu + N_nu)/n, where N "
                  "counts the samples that hold a word.",
        stated="O(1) t (N_mu + N_nu)/n",
        measured=UP_TO_T1 + "The largest change over t (N_mu + N_nu)/n, by class of pair.",
        readings=p.EARLY,
        parts=p.joined(*(
            p.early(PAIRS[k], scalars.use_rate("value", k), p.plain()) for k in CLASSES
        )),
        controls=(on_path("falls like log^-2 m", "signals", p.plain("at_most", -2.0)),
                  on_path("falls like log^-6 m", "random words", p.plain("at_most", -6.0))),
        why=p.WHY, **SHARED,
    ),
    statement(
        "yang2024.proposition_e12", "scaling", source=Source("E", "Proposition E.12", 29),
        title="Correlations of neurons move little (and Corollary E.13, of norms)",
        statement="In phase 1 <w_i, w_j> changes by at most 2 L t (s0 s1 sqrt((m/L) log(m1 n "
                  "L/delta)) + O~(L R_P s0 s1 sqrt(m)) + 4 R/L), with R the neurons' movement on "
                  "signals and R_P that of the attention.",
        stated="2 L t (s0 s1 sqrt((m/L) log(m1 n L/delta)) + O~(L R_P s0 s1 sqrt(m)) + 4 R/L)",
        measured=(
            DRAWN + "The largest change over t and over all pairs of neurons, over the bound "
            "with R and R_P as they come out, delta = 0.1 and constant one for the middle term; "
            "and how it goes with m."
        ),
        parts=(over_m("as stated", scalars.NEURON_GRAM,
                      Share(AtMost(1.0, owner="ours", trivial=0.0), PROBABILITY)),
               over_m("growth with m", scalars.NEURON_GRAM_RATE)),
        controls=(Control("bound over 50", "a fiftieth of the bound", part="as stated",
                          law=Share(AtMost(0.02), PROBABILITY)),
                  wrong("falls like m^-0.5", "growth with m", -0.5)),
        positive={"neuron_gram_over_bound": 0.2},
        notes="The bound rests on Corollary D.5 as printed, which fails; it has room enough that "
              "this does not show.",
        why=f"{TOLERANCE_WHY} The constant one of the middle term and the share of 0.9 of the runs "
            "are ours.",
        **SHARED,
    ),
    statement(
        "yang2024.theorem_e14", "scaling", source=Source("E", "Theorem E.14"),
        title="Each neuron's rate on a signal throughout phase 1",
        statement="In phase 1 the rate of a_j w_j W_V mu, for mu one of the two signals, is the "
                  "difference of the attention-weighted gradients of positive and negative "
                  "samples that hold it, times a factor of order (s0^2 + s1^2) m, up to an error "
                  "of O~(L s0^2 sqrt(m) + s1^2 sqrt(m m1)).",
        stated="factor Theta((s0^2 + s1^2) m), error O~(L s0^2 sqrt(m) + s1^2 sqrt(m m1))",
        measured=(
            DRAWN + "The factor is |w_j|^2 + |W_V mu|^2: its least and largest value over "
            "neurons, signals and time, over (s0^2 + s1^2) m, and the largest error over its bound."
        ),
        parts=(over_m("error", scalars.NEURON_ERROR),
               over_m("least factor", scalars.FACTOR_LEAST, KEPT),
               over_m("largest factor", scalars.FACTOR_MOST)),
        controls=(wrong("smaller by m^0.5", "error", -0.5),
                  wrong("larger by m^0.5", "least factor", 0.5, relation="at_least")),
        why=TOLERANCE_WHY, **SHARED,
    ),
    statement(
        "yang2024.theorem_e15", "scaling", source=Source("E", "Theorem E.15"),
        title="Rates on random words throughout phase 1",
        statement="In phase 1 a neuron's output on a random word changes at a rate of at most "
                  "O((s0^2 + s1^2) m / n) + O~(s0^2 L sqrt(m)).",
        stated="O((s0^2 + s1^2) m/n) + O~(s0^2 L sqrt(m))",
        measured=(
            UP_TO_T1 + "The largest rate of G on a random word over m1 times the bound, and of "
            "single neurons over the bound; on classes of words, the largest growth of G on a "
            "random word over t, in units of (s0^2 + s1^2) m m1, over n."
        ),
        readings=p.EARLY,
        parts=p.joined((over_n("over n", scalars.RANDOM_GROWTH, -1.0),
               over_m("single neurons over m", scalars.RANDOM_NEURON_RATE)),
               p.early("over m", scalars.RANDOM_RATE, p.tilde())),
        controls=(wrong("falls like n^-2", "over n", -2.0, "n"),
                  on_path("smaller by m^0.5", "over m", p.tilde(-0.5))),
        why=p.WHY, **SHARED,
    ),
    statement(
        "yang2024.lemma_e17",
        "scaling", source=Source("E", "Lemma E.17"), title="Each neuron's rate on the common token",
        statement="In phase 1 a neuron's output on the common token changes at a rate of at most "
                  "O~(s1^2 m).",
        stated="O~(s1^2 m)", measured=DRAWN + "The largest rate over s1^2 m.",
        parts=(over_m("rate", scalars.COMMON_RATE),),
        controls=(wrong("smaller by m", "rate", -1.0),),
        notes="Erratum (wording): the print has time 0 on the left; t is meant.",
        why=TOLERANCE_WHY, **SHARED,
    ),
    statement(
        "yang2024.corollary_e20", "scaling", source=Source("E", "Corollary E.20", 36),
        title="Samples with one signal become correct within O(1/m)",
        statement="There is a constant C > 0 such that the first time at which y F >= C on every "
                  "sample with exactly one of the two signals is O(1/m).",
        stated="O(1/m)",
        measured=(
            p.ALONG + "The first time at which all these samples have a margin of at least C = "
            f"{MARGIN:g}."
        ),
        readings=p.EARLY, parts=p.early("time", scalars.RIGHT_BY, p.tilde(-1.0)),
        controls=(on_path("falls like m^-1.5", "time", p.tilde(-1.5)),),
        notes="Erratum (wording): the print has F where y F is meant; these samples have y = -1, "
              "and Theorem E.27 uses it so.",
        why=f"{p.WHY} C = {MARGIN:g} is ours: some constant is asked for.",
        **SHARED,
    ),
    statement(
        "yang2024.proposition_e21", "scaling", source=Source("E", "Proposition E.21", 36),
        title="The samples with one signal stay alike",
        statement="In phase 1 the sums of g over the samples with only the first and with only "
                  "the second signal differ, over n, by at most O(F), with F the largest |F(X_i)| "
                  "at the start.",
        stated="O(F)",
        measured="Gradient flow at scales c0 of the initialisation from 0.001 to 0.1, to which F "
                 "is proportional; each seed has the same draw at every scale. The largest "
                 "difference up to T1 over F: its mean ratio between the smallest and the largest "
                 "scale.",
        parts=(Part("difference over F", "initial_scale", scalars.gap_over_output(),
                    Paired("c0", 0.001, 0.1, AtMost(1.6, owner="ours", trivial=1.0)),
                    path="c0 from 0.001 to 0.1 at m = 2^14, n = 24, L = 4"),),
        controls=(Control("of order F^2", "a difference of order F^2", part="difference over F",
                          scalar=scalars.gap_over_output(2)),
                  Control("independent samples",
                          "types 2 and 3 differ in number, so their gradients differ at any scale",
                          part="difference over F", changes={"sampler": "independent"})),
        positive={
            "gradient_gap": lambda cell, random: 0.01 * cell.c0 * random.uniform(0.9, 1.1),
            "largest_output": lambda cell, random: np.full(3, cell.c0),
        },
        notes="Before, an exponent in c0 was fitted by seed; the cutoff is that law's tolerance.",
        why="1.6 is ours: the ratio that an exponent of 0.9 instead of 1 would make over the two "
            "decades of F; 1 is exact proportionality.",
        **SHARED,
    ),
    statement(
        "yang2024.lemma_e23",
        "scaling", source=Source("E", "Lemma E.23", 38), title="Scores move little",
        statement="In phase 1 a score changes by at most t (N_mu + N_nu)/(n sqrt(m)) O~(1/L + "
                  "1/sqrt(m)), where N counts the samples that hold a word.",
        stated="t (N_mu + N_nu)/(n sqrt(m)) O~(1/L + 1/sqrt(m))",
        measured=UP_TO_T1 + "The largest change over t (N_mu + N_nu)/n, by class of pair.",
        readings=p.EARLY,
        parts=p.joined(*(
            p.early(PAIRS[k], scalars.use_rate("score", k), p.tilde(-0.5)) for k in CLASSES
        )),
        controls=(on_path("falls like m^-1", "signals", p.tilde(-1.0)),), why=p.WHY, **SHARED,
    ),
    statement(
        "yang2024.lemma_e25", "scaling", source=Source("E", "Lemma E.25", 43),
        title="Keys and queries move little among themselves",
        statement="In phase 1 products of keys, and of queries, change by at most t (N_mu + "
                  "N_nu)/(n sqrt(m)) O~(1/sqrt(m)), where N counts the samples that hold a word.",
        stated="t (N_mu + N_nu)/(n sqrt(m)) O~(1/sqrt(m))",
        measured=UP_TO_T1 + "The largest change over t (N_mu + N_nu)/n, over all pairs of words.",
        readings=p.EARLY,
        parts=p.joined(p.early("keys", scalars.KEY_USE, p.tilde(-1.0)),
                       p.early("queries", scalars.QUERY_USE, p.tilde(-1.0))),
        controls=(on_path("falls like m^-2.5", "keys", p.tilde(-2.5)),), why=p.WHY, **SHARED,
    ),
    statement(
        "yang2024.theorem_e27",
        "scaling", source=Source("E", "Theorem E.27", 43), title="The end of phase 1",
        statement="At T1 every margin y F, G(mu_1), G(mu_2) and -G(mu_3) are positive and of "
                  "order 1, G is O~(s0 s1 sqrt(m m1)) on random words, and |W^T a|^2 is of order "
                  "s1^2 m m1.",
        stated="Theta(1); O~(s0 s1 sqrt(m m1)); Theta(s1^2 m m1)",
        measured=(
            p.ALONG + f"At T1 = C_T1/(s1^2 m m1) with C_T1 = {LATE:g} times the limit's tau_1. "
            "Each quantity over its order has an exponent in log m of 0; random words at most 0 "
            "in m."
        ),
        readings=p.EARLY,
        parts=p.joined(*(
            p.early(name, scalar, p.plain("equal")) for name, scalar in (
                ("least margin", scalars.MARGIN_LEAST), ("largest output", scalars.MARGIN_MOST),
                ("least signal", scalars.SIGNAL_LEAST), ("largest signal", scalars.SIGNAL_MOST),
                ("neurons", scalars.RHO_LATE))
        ), p.early("random words", scalars.RANDOM_LATE, p.tilde()),
            (over_m("least margin, drawn", scalars.MARGIN_LEAST,
                    Share(AtLeast(1e-300), PROBABILITY)),)),
        controls=(
            replace(SHUFFLED, part="least margin, drawn"),
            on_path("margins that grow like log^2 m", "least margin", p.plain("equal", 2.0)),
        ),
        notes="With s0 = c0/sqrt(L m) the bound on random words is c0/sqrt(L), while G on them "
              "grows to order 1/n by T1: at fixed sizes it is not proportional to c0, so the "
              "stated order needs s0 not to be made small, as Condition 1 has it.",
        why=f"{p.WHY} C_T1 is ours: the print asks for a large enough constant, and at the "
            "detected T1 the last sample is only just correct.",
        **SHARED,
    ),
    statement(
        "yang2024.theorem_e28", "scaling", source=Source("E", "Theorem E.28", 44),
        title="How much scores move by T1 (the formal version of Theorem 3.1)",
        statement="Up to T1 no score has moved by more than O~(m^-3/2 (1/L + 1/sqrt(m))). The "
                  "other parts are those of Theorem 3.1.",
        stated="O~(m^-3/2 (1/L + 1/sqrt(m)))",
        measured=(
            UP_TO_T1 + "The largest movement of a score over the bound, over m, and at one m over "
            "L."
        ),
        readings=p.EARLY,
        parts=p.joined(p.early("over m", scalars.SCORE, p.tilde()),
            (Part("over L", "classes_lengths", scalars.SCORE, Power("L", 0.0, "at_most"),
                  path="L from 4 to 24 at n = 1200, m = 2^14", whole_range="n = 1200 is still 2 "
                  "L^2 at L = 24"),)),
        controls=(
            on_path("smaller by m^0.5", "over m", p.tilde(-0.5)),
            wrong("smaller by L^4", "over L", -4.0, "L"),
        ),
        why=p.WHY, **SHARED,
    ),
)  # fmt: skip


def _implied(claim: Claim) -> tuple[Fitted, ...]:
    """A quotient by its order is the constant that one would have to grant."""
    flat = [x for x in claim.parts if isinstance(x.law, Power) and x.law.exponent == 0]
    return tuple(
        Fitted(f"implied by {x.name}", x.study, x.scalar, x.cells)
        for x in flat
        if x.reading in ("", "k = 2")
    )


APPENDIX_E = tuple(replace(c, constants=(*_implied(c), *c.constants)) for c in _STATEMENTS)
