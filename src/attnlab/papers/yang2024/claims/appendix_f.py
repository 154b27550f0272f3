"""Appendix F: the second phase in all its lemmas, along paths that keep Condition 1."""

import math
from dataclasses import replace

from attnlab.claims import Reading, Source
from attnlab.evidence.laws import AtLeast, AtMost, Equal
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims import paths as p
from attnlab.papers.yang2024.claims import phase_2 as w
from attnlab.papers.yang2024.claims.common import HIDDEN, SHUFFLED, drawn_hypotheses
from attnlab.papers.yang2024.scalars import phase_2 as s
from attnlab.papers.yang2024.theory.conditions import DEFINITION_F1

_EXACT = "exact conditions from T1 on"
_TILDE = ("key_change", "query_change")
_CONDITIONS = p.joined(*(
    p.along(c.name.replace("_", " "), s.NEEDED[c.name],
            p.tilde() if c.name in _TILDE else p.plain())
    for c in DEFINITION_F1
    if c.constant == "unknown" and c.relation == "<="
))  # fmt: skip

DEFINITION = statement("yang2024.definition_f1", "scaling",
    title="The conditions of phase 2 hold on one long stretch of time",
    statement="There is a time range from some T1 = O~(1/m) on in which the second phase's "
    "conditions hold: keys, queries, softmax and rho stay near their first values, the motion of "
    "neurons and of attention makes up a vanishing part of the outputs' rates, the types' loss "
    "derivatives are ordered g4 <= g2, g3 <= g1 <= g2 + g3 + g4 with g2 and g3 within a factor of "
    "2, margins are at least and random words' parts at most a constant, and signals' outputs are "
    "O(log m).",
    source=Source("F", "Definition F.1, Lemma F.3, Theorem F.20"),
    stated="T1 at most m^-1; each condition with one constant, T2 polynomial in m",
    measured=p.WINDOW + "How the window's beginning, and the constant that each condition needs "
    "over the whole window (bounds with o(.) taken as O(.)), go with m and log m; and when the "
    "exact conditions begin to hold, over the detected T1.",
    why=p.WHY + " For the exact conditions 1.3 allows the spacing of the records: ours.",
    readings=p.LATE,
    parts=p.joined(p.along("it begins at O~(1/m)", s.BEGIN, p.tilde(-1.0)),
        p.along("it begins at O(1/(s1^2 m m1))", s.BEGIN_IN_UNITS, p.plain()), _CONDITIONS,
        p.along(_EXACT, s.EXACT_CONDITIONS, AtMost(1.3, owner="ours", trivial=1.0))),
    controls=(p.wrong("it begins at m^-1.5", "it begins at O~(1/m)", p.tilde(-1.5)),
        p.wrong("rho falls like log^-2 m", "neuron sum", p.plain("at_most", -2.0)),
        p.wrong("signals' outputs are O(log^-1 m)", "signal size", p.plain("at_most", -2.0))),
    hypotheses=drawn_hypotheses, constants=(HIDDEN, *w.implied(_CONDITIONS)),
    notes="That margins are at least a constant is how the window is found, and no part. At n = 24 "
    "and L = 4 with m alone growing, as it was looked at before, the random words' part grows.",
)  # fmt: skip

_SPREAD = w.grows("spread within a type", s.SPREAD)
COROLLARY_F2 = statement("yang2024.corollary_f2", "scaling",
    title="Loss derivatives within a type are of one order",
    statement="In phase 2 the largest and the smallest loss derivative among the samples of one "
    "type differ by at most a constant factor.",
    source=Source("F", "Corollary F.2"), stated="ratio O(1): exponent at most 0 in m",
    measured=w.DRAWN + "The largest such factor over the window, over m.", why=w.UPPER,
    parts=(_SPREAD,),
    controls=(w.exponent("it falls like m^-0.5", _SPREAD.name, -0.5), SHUFFLED),
    hypotheses=drawn_hypotheses, constants=w.implied((_SPREAD,)),
    notes="On classes of words all samples of a type are alike: only drawn weights tell.",
)  # fmt: skip

_RATIOS = p.joined(p.along("over m", s.OUTPUT_RATIO, p.plain()),
    p.along("over time", s.OUTPUT_RATIO_IN_TIME, Equal(0.0, 0.1)))  # fmt: skip
COROLLARY_F7 = statement("yang2024.corollary_f7", "scaling",
    title="Outputs of the three signals are of one order",
    statement="In phase 2 G(mu_1), G(mu_2) and -G(mu_3) are positive and of the same order.",
    source=Source("F.1", "Corollary F.7"), stated="ratios of order 1, in m and in t",
    measured=p.WINDOW + "The largest ratio of two of them over the window (none if one is not "
    "positive), over log m and, within the window, its exponent in time.",
    why=p.WHY + " So is the 0.1 for the exponent in time.", readings=p.LATE, parts=_RATIOS,
    controls=(p.wrong("ratios fall like log^-2 m", "over m", p.plain("at_most", -2.0)),
        p.wrong("ratios grow like t^0.5", "over time", Equal(0.5, 0.1))),
    hypotheses=drawn_hypotheses, constants=w.implied(_RATIOS),
)  # fmt: skip

_LINEAR = p.along("1/loss is linear in time", s.LOSS_SLOPE_IN_TIME, Equal(0.0, 0.1))
_LOSS = p.joined(tuple(p.from_log_m(part, p.FROM) for part in _LINEAR),
    p.along("its slope", s.LOSS_SLOPE, p.tilde(1.0, "equal")),
    p.along("least slope over s1^2 m m1", s.LEAST_LOSS_SLOPE, p.plain("at_least")),
    p.along("largest slope over s1^2 m m1", s.LARGEST_LOSS_SLOPE, p.plain()))  # fmt: skip
THEOREM_F8 = statement("yang2024.theorem_f8", "scaling",
    title="One over the loss grows linearly, at the rate s1^2 m m1",
    statement="In phase 2 the training loss is 1/(c (t - T1) + 1/loss(T1)) with c of the order "
    "s1^2 m m1.",
    source=Source("F.2", "Theorem F.8"), stated="slope of 1/loss: Theta(s1^2 m m1) at all times",
    measured=p.WINDOW + "The slope of 1/loss between records: its exponent in time over the "
    "window, its exponent in m at the end, and those of the least and the largest over s1^2 m m1 "
    "in log m.",
    why=p.WHY + " So is the 0.1 for the exponent in time, from m = e^20 on.", readings=p.LATE,
    parts=_LOSS,
    controls=(p.wrong("1/loss grows like sqrt(t)", "1/loss is linear in time", Equal(-0.5, 0.1)),
        p.wrong("slope like m^0.5", "its slope", p.tilde(0.5, "equal")),
        p.wrong("slope like m^1.5", "its slope", p.tilde(1.5, "equal")),
        p.wrong("larger by log^2 m", "least slope over s1^2 m m1", p.plain("at_least", 2.0))),
    hypotheses=drawn_hypotheses, constants=w.implied(_LOSS),
    notes="The slope against the limit's own constant: finding_svm_duals. At m = e^5 with m1 = "
    "log^2 m, a sixth of m, the exponent in time is 0.18: set from e^20 on after that was seen.",
)  # fmt: skip

COROLLARY_F9 = statement("yang2024.corollary_f9", "scaling",
    title="rho hardly grows in phase 2", statement="Over all of phase 2 rho grows by O~(m1/m).",
    source=Source("F.2", "Corollary F.9"), stated="growth of rho over m1/m: O~(1)",
    measured=p.WINDOW + "The growth of rho over the window, over m1/m.", why=p.WHY,
    readings=p.LATE, parts=p.along("growth of rho", s.RHO_GROWTH_OVER_SIZE, p.tilde()),
    controls=(p.wrong("smaller by m^0.5", "growth of rho", p.tilde(-0.5)),),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

LEMMA_F10 = statement("yang2024.lemma_f10", "scaling",
    title="rho stays of the order s1^2 m m1",
    statement="In phase 2 rho has grown by at most m1 log^2 m/(s1^2 m m1), up to a constant, and "
    "so it is of the order s1^2 m m1.",
    source=Source("F.3", "Lemma F.10"),
    stated="growth O(log^2 m/(s1^2 m)); rho of order s1^2 m m1",
    measured=p.WINDOW + "The growth of rho over the window over its bound, and rho/(s1^2 m m1) at "
    "its end, over log m.",
    why=p.WHY, readings=p.LATE,
    parts=p.joined(p.along("growth of rho", s.RHO_GROWTH_OVER_BOUND, p.plain()),
        p.along("rho over s1^2 m m1", s.RHO, p.plain("equal"))),
    controls=(p.wrong("rho larger by log^2 m", "rho over s1^2 m m1", p.plain("equal", 2.0)),
        p.wrong("growth without log^2 m", "growth of rho", p.plain("at_most", -2.0))),
    hypotheses=drawn_hypotheses,
    notes="Here the print keeps the two logarithms that it drops in Theorem 3.3.",
)  # fmt: skip

LEMMA_F11 = statement("yang2024.lemma_f11", "scaling",
    title="Values correlate by G times the drive, and little",
    statement="The value correlation of two words grows at the rate G(nu) z(mu) + G(mu) z(nu), z "
    "being the attention that a word receives weighted by the samples' g y/n; over phase 2 no "
    "correlation changes by more than log m log t/(s1^2 m m1), up to a constant.",
    source=Source("F.4", "Lemma F.11"),
    stated="growth over the integral of that rate: 1; change O(log m log t/(s1^2 m m1))",
    measured=p.WINDOW + "The rate of the signals' correlation, integrated, against its growth; "
    "the change over all pairs, bounded by the sum of the changes since the start at both ends of "
    "the window, over log^2 m/(s1^2 m m1).",
    why=p.WHY + " The integral is taken over the records, for which one per cent is ours.",
    readings=p.LATE,
    parts=p.joined(p.along("rate", s.VALUES_OVER_INTEGRAL, Equal(1.0, 0.01)),
        p.along("change of values", s.VALUE_GROWTH_OVER_BOUND, p.plain())),
    controls=(p.wrong("half the rate", "rate", Equal(2.0, 0.02)),
        p.wrong("without log^2 m", "change of values", p.plain("at_most", -2.0))),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

COROLLARY_F12 = statement("yang2024.corollary_f12", "scaling",
    title="The neurons' motion is a vanishing part of the outputs' rates",
    statement="In phase 2 the part of any G'(mu) that comes from moving neurons is o(1/L) of rho "
    "times the mean loss derivative.",
    source=Source("F.4", "Corollary F.12"),
    stated="o(1/L); by the proof's sizes exponent at most -1 in m",
    measured=p.WINDOW + "L times the largest such part over the window, over m.", why=p.WHY,
    readings=p.LATE, parts=p.along("neurons' part of G'", s.VALUE_PART, p.tilde(-1.0)),
    controls=(p.wrong("it falls like m^-2.5", "neurons' part of G'", p.tilde(-2.5)),),
    hypotheses=drawn_hypotheses,
)  # fmt: skip

_RANDOM = p.joined(p.along("rate over its bound", s.RANDOM_RATE, p.tilde()),
    p.along("change over its bound", s.RANDOM_CHANGE_OVER_BOUND, p.tilde()))  # fmt: skip
LEMMA_F14 = statement("yang2024.lemma_f14", "scaling",
    title="Random words move by 1/n",
    statement="In phase 2 the output of a random word changes at the rate loss x (s1^2 m m1/n + "
    "m1 (L (s0^2 sqrt(m) + 1/m) + s0^2 m)) at most, up to a constant, and in all by 1/n plus that "
    "second part over s1^2 m m1, up to logarithms.",
    source=Source("F.5", "Lemma F.14"), stated="rate and change over their bounds: O~(1)",
    measured=p.WINDOW + "The largest rate and the largest change over their bounds. Where n has a "
    "power of m on top, 1/n is a power of m, which no logarithm hides.",
    why=p.WHY, readings=p.LATE, parts=_RANDOM,
    controls=(p.wrong("the rate falls like m^-0.5", "rate over its bound", p.tilde(-0.5)),
        p.wrong("a change of n^-2", "change over its bound", p.tilde(-0.25),
                at="n by m^(1/4) larger")),
    hypotheses=drawn_hypotheses, constants=w.implied(_RANDOM),
)  # fmt: skip

COROLLARY_F15 = statement("yang2024.corollary_f15", "scaling",
    title="Random words make up O(1) of an output",
    statement="In phase 2, until times polynomial in m, the part of any sample's output that its "
    "random words make stays at most a constant.",
    source=Source("F.5", "Corollary F.15"), stated="O(1) until times poly(m): no power of log m",
    measured=p.WINDOW + "The largest such part at the end of the window, over log m.", why=p.WHY,
    readings=(*p.LATE, p.SHORT,
        Reading("sizes fixed", "Condition 1: n at least L^2 up to logarithms of m, which n = 24 at "
                "every m does not follow", allowed=False)),
    parts=p.joined(p.along("random words' part", s.RANDOM_SUM, p.plain(), beside=True),
        (replace(w.grows("over m, n = 24", s.RANDOM_SUM, reading="sizes fixed"),
                 study="phase_2", path="m from 2^10 to 2^20 at n = 24, L = 4"),)),
    controls=(p.wrong("it falls like log^-4 m", "random words' part", p.plain("at_most", -4.0)),
        p.wrong("the signals' part", "random words' part", p.plain(), s.SIGNAL_END)),
    positive={"phase_2_largest_signal_at_1/m": lambda cell, random: math.log(cell.m)},
    hypotheses=drawn_hypotheses,
    notes="It grows like log t at every n: by (L-3)(2 A1/n) log t for samples with both signals "
    "and (L-2)(6 A2/n) log t for those with one, A being the max-margin duals. So O(1) needs n of "
    "the order of L log m, which Condition 1's n at least L^2 log^k m has. definition_f1 asks the "
    "same of the whole window. At fixed n (aside) it grows.",
)  # fmt: skip

_SOFTMAX = p.joined(p.along("signs", s.LEAST_SOFTMAX_RATE, AtLeast(w.POSITIVE)),
    p.along("least rate over its size", s.LEAST_SOFTMAX_RATE, p.tilde(0.0, "equal")),
    p.along("largest rate over its size", s.LARGEST_SOFTMAX_RATE, p.tilde(0.0, "equal")),
    p.along("to a random word", s.RANDOM_SOFTMAX_OVER_BOUND, p.tilde()),
    p.along("change of softmax x L^2", s.SOFTMAX_CHANGE, p.plain()))  # fmt: skip
_PRINTED = "as printed, 1/sqrt(m)"
COROLLARY_F17 = statement("yang2024.corollary_f17", "scaling",
    title="Softmax: the same directions, at 1/m",
    statement="In phase 2 the attention between the two signals grows and that of a signal on the "
    "common token falls, at rates of the order (1/m) loss s0^2 m/L^2 up to logarithms; that on a "
    "random word changes at 1/n of it, plus loss s0^2/(L sqrt(m)), at most; and no attention has "
    "changed by more than O(1/L^2) since the start.",
    source=Source("F.6", "Corollary F.17"),
    stated="signed rates over loss s0^2/L^2: positive, exponent 0 in m (1/m by its proof)",
    measured=p.WINDOW + "The four rates, in samples with both signals, over loss s0^2/L^2 with "
    "their signs: the least and the largest over the window; rates to random words over their "
    "printed bound, and L^2 times the largest change.",
    why=p.WHY, readings=(*p.LATE, Reading(_PRINTED, "the display of Corollary F.17 itself")),
    parts=(*_SOFTMAX, p.one("rate over its printed size", s.SOFTMAX_OVER_PRINTED,
        p.tilde(0.0, "equal"), _PRINTED)),
    controls=(p.wrong("1/m^1.5", "least rate over its size", p.tilde(-0.5, "equal")),),
    hypotheses=drawn_hypotheses, constants=(HIDDEN, *w.implied(_SOFTMAX)),
    notes="Erratum (false; could be the extraction, for one symbol decides): the display has "
    "1/sqrt(m) for 1/m; its proof, and the softmax's own 1/sqrt(m) on top of the scores' rate, "
    "give 1/m. The last bound is far from tight: the change falls like m^-2.",
)  # fmt: skip

COROLLARY_F18 = statement("yang2024.corollary_f18", "scaling",
    title="Moving attention is a vanishing part of the outputs' rates",
    statement="In phase 2 the part of any sample's F' that comes from moving attention is o(1) of "
    "rho times the mean loss derivative.",
    source=Source("F.6", "Corollary F.18"),
    stated="o(1); by Corollary F.17 as printed exponent at most -1.5 in m",
    measured=p.WINDOW + "The largest such part over the window, over m.", why=p.WHY,
    readings=p.LATE, parts=p.along("attention's part of F'", s.ATTENTION_PART, p.tilde(-1.5)),
    controls=(p.wrong("it falls like m^-2.5", "attention's part of F'", p.tilde(-2.5)),),
    hypotheses=drawn_hypotheses, notes="As Corollary F.17 is proved, the exponent is -2.",
)  # fmt: skip

LEMMA_F19 = statement("yang2024.lemma_f19", "scaling",
    title="Keys and queries keep their correlations",
    statement="Over phase 2 no correlation of keys with keys or of queries with queries changes "
    "by more than s0^2/(s1^2 m m1), up to constants and logarithms.",
    source=Source("F.7", "Lemma F.19"),
    stated="exponent at most -2 in m, s0^2 being of the order 1/m",
    measured=p.WINDOW + "The change over all pairs, bounded by the sum of the changes since the "
    "start at both ends of the window, over m.",
    why=p.WHY, readings=p.LATE,
    parts=p.joined(p.along("keys", s.KEY_GROWTH, p.tilde(-2.0)),
        p.along("queries", s.QUERY_GROWTH, p.tilde(-2.0))),
    controls=(p.wrong("keys change by m^-3.5", "keys", p.tilde(-3.5)),
        p.wrong("queries change by m^-3.5", "queries", p.tilde(-3.5))),
    hypotheses=drawn_hypotheses,
    notes="Not tight: from the mean start the correlations change by m^-3.",
)  # fmt: skip

APPENDIX_F = (
    DEFINITION, COROLLARY_F2, COROLLARY_F7, THEOREM_F8, COROLLARY_F9, LEMMA_F10, LEMMA_F11,
    COROLLARY_F12, LEMMA_F14, COROLLARY_F15, COROLLARY_F17, COROLLARY_F18, LEMMA_F19,
)  # fmt: skip
