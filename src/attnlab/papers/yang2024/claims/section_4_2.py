"""Section 4.2: automatic balancing of gradients, values and scores in the second phase."""

from attnlab.claims import Control, Part, Reading, Source
from attnlab.evidence.laws import AtLeast, AtMost, Between, Equal
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims import window as w
from attnlab.papers.yang2024.claims.common import HIDDEN, drawn_hypotheses
from attnlab.papers.yang2024.scalars import examples
from attnlab.papers.yang2024.scalars import second_phase as s

EQUATION_5 = statement("yang2024.equation_5", "identity",
    title="The neurons' sum of correlations grows (Lemma F.4)",
    statement="The sum over all pairs of neurons of <a_i w_i, a_j w_j>, rho, grows at the rate (2 "
    "m1/n) sum_i g_i y_i F_i. Once every sample is correct that is positive, so rho stays of the "
    "order s1^2 m m1 at least.",
    source=Source("4.2", "equation (5), Lemma F.4"),
    stated="rho' = (2 m1/n) sum_i g_i y_i F_i > 0; rho at least of the order s1^2 m m1",
    measured="Along flows to a loss of 1e-6: the printed right-hand side from the samples' "
    "margins against the engine's rate, its integral over phase 2 against the growth of rho "
    "itself, its sign once every sample is correct, and rho/(s1^2 m m1) over m.",
    why=w.WHY + " The rates agree to rounding: 1e-9 is ours. The integral is taken over the "
    "records, for which one per cent is ours.",
    parts=(Part("rate", "phase_2", s.RHO_RATE_ERROR, AtMost(1e-9, owner="ours", trivial=0.0)),
        w.mostly("growth", s.RHO_OVER_INTEGRAL, Equal(1.0, 0.01)),
        w.mostly("increasing", s.LEAST_RHO_RATE, AtLeast(w.POSITIVE)),
        w.grows("rho stays of the order s1^2 m m1", s.RHO, relation="at_least")),
    controls=(w.other("half the rate", "growth", Equal(2.0, 0.02)),
        Control("without the factor two", "the printed rate halved", "rate",
            scalar=s.RHO_RATE_ERROR_WITHOUT_FACTOR),
        w.exponent("rho grows by m^0.5", "rho stays of the order s1^2 m m1", 0.5, "at_least"),
        w.other("from the start", "increasing", AtLeast(w.POSITIVE), s.LEAST_RHO_RATE_EVER)),
    positive=examples.rho_series(), hypotheses=drawn_hypotheses,
    notes="Inputs are those of the flow; none are sought at which the identity might fail.",
)  # fmt: skip

_SMALL = "types 2 and 3"
LEMMA_4_4 = statement("yang2024.lemma_4_4", "scaling",
    title="The types with one signal balance (Lemma F.5)",
    statement="In phase 2 the sums of the loss derivatives over the samples with only mu_1 and "
    "over those with only mu_2 differ by at most a small constant times the smaller.",
    source=Source("4.2", "Lemma 4.4, Lemma F.5"),
    stated="relative difference at most C, a constant far below 1",
    measured=w.WINDOW + "The largest relative difference over the window, and how it goes with m.",
    why=w.WHY + " C = 0.1 stands for far below 1: ours. Definition F.1 demands 1 already, which "
    "is the trivial value.",
    parts=(w.mostly(_SMALL, s.IMBALANCE, AtMost(0.1, owner="ours", trivial=1.0)),
        w.grows("C does not grow with m", s.IMBALANCE)),
    controls=(w.other("types 1 and 2 are as close", _SMALL, AtMost(0.1), s.IMBALANCE_1_2),
        w.exponent("it falls like m^-0.5", "C does not grow with m", -0.5), w.shuffled(_SMALL)),
    positive={"phase_2_imbalance_2_3": 0.01, "phase_2_imbalance_1_2": 0.6},
    hypotheses=drawn_hypotheses, notes="That C does not grow with m stood aside before.",
)  # fmt: skip

_STATED, _PROOF, _OWN_WORDS = "the lemma", "with the root of its proof", "root with random words"
_BALANCE = (
    w.grows("gaps are of the order of the whole", s.GAP_RATIO),
    w.grows("signals' rates", s.RATE_RATIO),
    w.mostly("band", s.BAND, Between(w.POSITIVE, 1.0)),
    w.grows("the band's C", s.BAND, relation="at_least"),
)

LEMMA_4_5 = statement("yang2024.lemma_4_5", "scaling",
    title="Gradient gaps balance: the band of the common token (Lemma F.6)",
    statement="In phase 2 the gaps g2 + g3 + g4 - g1, g1 - g2 and g1 - g3 (sums of loss "
    "derivatives over types) are all of the order of the sum of all, G1' and G2' are of one "
    "order, and for a constant C > 0 (1 + C) max(G1', G2') <= -G3' <= (1 - C)(G1' + G2'). In the "
    "proof R = -G3'/G1' contracts to the positive root, between 1 and 2, of a R^2 + b R + c with "
    "c/a near -2.",
    source=Source("4.2", "Lemma 4.5, Lemma F.6, equation (16)"),
    stated="ratios O(1), a band with constant C > 0; R contracts to a root in (1, 2)",
    measured=w.WINDOW + "The largest ratios and the least band constant over the window; c/a and "
    "the root from the recorded curvatures; the share of steps in which R goes towards the root, "
    "where it is 0.02 or more away, and how far from it R ends.",
    why=w.WHY + " Ours too: c/a within 0.1, R towards the root in 0.9 of the steps and within "
    "0.05 of it at the end.",
    readings=(Reading(_STATED, "what Lemmas 4.5 and F.6 display"),
        Reading(_PROOF, "the sketch after Lemma 4.5 and (16) in F.6: the root attracts R"),
        Reading(_OWN_WORDS, "the proof of F.6 drops the samples' own random words as o(1)", False)),
    parts=(*_BALANCE, w.mostly("c/a", s.C_OVER_A, Equal(-2.0, 0.1), _PROOF),
        w.mostly("least root", s.LEAST_ROOT, Between(1.0, 2.0), _PROOF),
        w.mostly("largest root", s.LARGEST_ROOT, Between(1.0, 2.0), _PROOF),
        w.mostly("R contracts to the root", s.CONTRACTION, AtLeast(0.9, owner="ours", trivial=1.0),
            _PROOF),
        w.mostly("R ends at the root", s.DISTANCE, AtMost(0.05, owner="ours", trivial=0.0), _PROOF),
        w.mostly("R ends at the root with random words", s.DISTANCE_WITH_RANDOM_WORDS, AtMost(0.05,
            owner="ours", trivial=0.0), _OWN_WORDS)),
    controls=(w.other("c/a = +2, as printed", "c/a", Equal(2.0, 0.1)),
        w.other("a band with C above 0.4", "band", Between(0.4, 1.0)),
        w.exponent("the band's C grows like m^0.5", "the band's C", 0.5, "at_least"),
        w.shuffled("band")),
    positive={"phase_2_band_constant": 0.2}, hypotheses=drawn_hypotheses,
    constants=(HIDDEN, *w.implied(_BALANCE)),
    notes="The print has c/a near +2, with which no root is real; with -2 the root is between 1 "
    "and 2 as it says. The proof drops the samples' own random words. At these n they are not "
    "small: R goes away from the printed root (3/2) to the one that includes them (1.12 at n = "
    "24, L = 4). That the gaps are not negative is no part: the window demands it.",
)  # fmt: skip

COROLLARY_4_6 = statement("yang2024.corollary_4_6", "probability",
    title="Values: signals correlate more, signal and common token less (Corollary F.13)",
    statement="In phase 2 the value correlations of mu_1 with mu_2 and of either with itself "
    "grow, and those of mu_1 and of mu_2 with the common token fall.",
    source=Source("4.2", "Corollary 4.6, Corollary F.13"),
    stated="rates between signals above 0 and to the common token below 0 in all of phase 2",
    measured=w.WINDOW + "The least and the largest of these rates over the window, over the loss.",
    why="The share 0.9 is ours, for Theorem 3.2's high probability, which is not given.",
    parts=(w.mostly("signals", s.VALUES_BETWEEN_SIGNALS, AtLeast(w.POSITIVE), exact=True),
        w.mostly("signal and common token", s.VALUES_TO_COMMON, AtMost(-w.POSITIVE), exact=True)),
    controls=(w.shuffled("signals"),
        w.other("as for two signals", "signal and common token", AtLeast(w.POSITIVE))),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

_SCORES = (
    w.mostly("signs", s.LEAST_SCORE_RATE, AtLeast(w.POSITIVE)),
    w.grows("least rate over its size", s.LEAST_SCORE_RATE, relation="equal"),
    w.grows("largest rate over its size", s.LARGEST_SCORE_RATE, relation="equal"),
    w.mostly("over time", s.SCORE_RATE_IN_TIME, Equal(0.0, 0.1)),
    w.grows("with a random word", s.RANDOM_SCORE_RATE),
)

LEMMA_4_7 = statement("yang2024.lemma_4_7", "scaling",
    title="Scores: signals attract each other, the common token is repelled (Lemma F.16)",
    statement="In phase 2 the scores between mu_1 and mu_2, either as query, grow, and those of "
    "the common token as key against either signal as query fall, all at rates of the order loss "
    "s0^2 m/(sqrt(m) L) up to logarithms; scores of a signal and a random word change at most at "
    "1/n of that rate, plus loss s0^2.",
    source=Source("4.2", "Lemma 4.7, Lemma F.16"),
    stated="signed rates over loss s0^2 sqrt(m)/L: positive, exponent 0 in m; 1/n for random words",
    measured=w.WINDOW + "The four rates over loss s0^2 sqrt(m)/L with their signs: the least and "
    "the largest over the window, and their exponent in time, one logarithm divided out. The "
    "largest rate with a random word over the first term of its bound alone.",
    why=w.WHY + " So is the 0.1 for the exponent in time.", parts=_SCORES,
    controls=(w.exponent("without the 1/sqrt(m)", "least rate over its size", 0.5, "equal"),
        w.exponent("random words m^-0.5 slower", "with a random word", -0.5), w.shuffled("signs")),
    positive={"phase_2_least_score_rate": 0.9}, hypotheses=drawn_hypotheses,
    constants=(HIDDEN, *w.implied(_SCORES)),
    notes="That a rate carries 1/L and 1/n is looked at by theorem_3_3's ratio only.",
)  # fmt: skip

SECTION_4_2 = (EQUATION_5, LEMMA_4_4, LEMMA_4_5, COROLLARY_4_6, LEMMA_4_7)
