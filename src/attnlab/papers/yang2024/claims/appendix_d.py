"""Appendix D: sizes at the start, as printed, at failure probability delta = 0.1."""

from attnlab.claims import Control, Part, Reading, Route, Source
from attnlab.evidence.laws import AtMost, Power, Share
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims.common import (
    HIDDEN,
    OVER_WIDTHS,
    TOLERANCE_WHY,
    drawn_hypotheses,
)
from attnlab.papers.yang2024.runs.summaries.initial import DELTA
from attnlab.papers.yang2024.scalars import initial
from attnlab.papers.yang2024.scalars.examples import STARTED, series

MEASURED = (
    "Weights and samples are drawn, nothing is trained: the share of draws in which everything is "
    f"within its bound at delta = {DELTA:g}."
)
WHY = (
    "Bound and probability 1 - delta are the paper's; delta = 0.1 is ours, for some sixty draws "
    "can decide it."
)


def within(factor: float = 1.0) -> Share:
    """The quotient by the bound is at most `factor`, with probability 1 - delta."""
    return Share(AtMost(factor), 1 - DELTA, exact=True, owner="paper")


def of_constant(constant: float) -> Share:
    """The same where the constant one is ours."""
    inside = AtMost(constant, owner="ours", trivial=0.0)
    return Share(inside, 1 - DELTA, exact=True)


EXPLICIT = (
    ("lemma_d1", "Lemma D.1", 21, "initial", initial.D1, 2,
        "Keys and queries at the start", "at most s0^2 m b",
        "products of the keys and queries of different words, and of a key and any query, are "
        "at most s0^2 m b in absolute value, and squared norms are s0^2 m (1 ± b), with b = "
        "sqrt(4 log(2d/delta)/m) + 4 log(2d/delta)/m.",
        "The logarithm counts 2d events where there are about 2 d^2; products have half the "
        "variance of squared norms, so the statement holds all the same.",
    ),
    ("lemma_d3", "Lemma D.3", 22, "initial", initial.D3, 2,
        "Values and neurons at the start", "at most s0^2 m b, s1^2 m b, s0 s1 m b",
        "the products of the values of different words, of different neurons, and of a neuron "
        "and a value are at most s0^2 m, s1^2 m and s0 s1 m times b(x), and squared norms of "
        "neurons and values are s1^2 m and s0^2 m times 1 ± b(x), with b(x) = sqrt(4 "
        "log(x)/m) + 4 log(x)/m and x = 2d/delta, 2 m1^2/delta, 2 m1 d/delta, 2 m1/delta and "
        "2d/delta.",
        "",
    ),
    ("lemma_d4", "Lemma D.4", 22, "initial", initial.D4, 4,
        "What a query sees at the start", "(s0^2 m/L)(1 ± b)",
        "the squared norm of the attention-weighted value at every place of every sample is "
        "(s0^2 m / L)(1 ± b), with b = sqrt(4 log(2nL/delta)/m) + 4 log(2nL/delta)/m.",
        "",
    ),
    ("lemma_d6", "Lemma D.6", 23, "initial_samples", initial.D6, 10,
        "Half of the neurons have each sign", "m1 (1/2 ± sqrt(2 log(4/delta)/m1))",
        "the neurons of either sign are m1 (1/2 ± sqrt(2 log(4/delta)/m1)) in number.",
        "The bound says something (less than m1/2) from m1 = 8 log(4/delta) on.",
    ),
)  # fmt: skip
"""Id, number, page, study, quotient, divisor of the control, title, stated, statement, notes."""

_STATEMENTS = tuple(
    statement(
        f"yang2024.{slug}",
        "probability", title=title, statement=f"With probability at least 1 - delta, {text}",
        source=Source("D", number, page), stated=f"{stated}, with probability 1 - delta",
        measured=MEASURED, why=WHY, parts=(Part("within the bounds", study, scalar, within()),),
        controls=(Control(f"bound over {less}", f"the bounds divided by {less}",
                          part="within the bounds", law=within(1 / less)),),
        positive=dict.fromkeys((*initial.D1_KEYS, *initial.D3_KEYS), 0.6),
        hypotheses=drawn_hypotheses, notes=notes,
    )
    for slug, number, page, study, scalar, less, title, stated, text, notes in EXPLICIT
)  # fmt: skip

COROLLARY_D2 = statement(
    "yang2024.corollary_d2", "probability", title="Attention is uniform at the start",
    statement="At the start every attention weight is 1/L up to O~(1/(L m)).",
    source=Source("D", "Corollary D.2", 21), stated="1/L ± O~(1/(L m))",
    measured="The largest |L p - 1| over twice Lemma D.1's bound on a score over sqrt(m), which "
             "the proof inserts, in a share of draws; and its exponent in m.",
    why="The paper hides the constant of the first order; two is ours, for no score minus a mean "
        f"of scores is above twice the largest. delta = {DELTA:g} is ours. {TOLERANCE_WHY}",
    parts=(Part("over the proof's bound", "initial", initial.D2, of_constant(1.0)),
           Part("over m", "initial", initial.D2_SIZE, Power("m", -1.0, "at_most"),
                path="m from 2^9 to 2^13, at most to the widths whose weights are drawn")),
    controls=(Control("a fifth of the bound", "the constant 0.4 instead of two",
                      part="over the proof's bound", law=of_constant(0.2)),
              Control("falls like m^-1.5", "exponent -1.5", part="over m",
                      law=Power("m", -1.5, "at_most"))),
    positive={
        **STARTED,
        "d2_softmax": lambda cell, random: 2 * cell.c0**2 / cell.L / cell.m * random.uniform(1, 2),
    },
    hypotheses=drawn_hypotheses,
)  # fmt: skip

COROLLARY_D5 = statement(
    "yang2024.corollary_d5", "probability", title="What a neuron makes of a sample at the start",
    statement="With probability at least 1 - delta, every neuron's output on the "
              "attention-weighted value at every place of every sample is at most s0 s1 "
              "sqrt((m/L) log(m1 n L/delta)).",
    source=Source("D", "Corollary D.5", 22),
    stated="at most s0 s1 sqrt((m/L) log(m1 n L/delta)), with probability 1 - delta",
    headline="The printed bound at the start holds in {parts[as printed]} of the draws, with the "
             "two factors that it lacks in {parts[with both factors]}.",
    measured=MEASURED, why=WHY,
    parts=(
        Part("as printed", "initial", initial.D5_PRINTED, within(), reading="as printed"),
        Part("with both factors", "initial", initial.D5_CORRECTED, within(), reading="corrected"),
    ),
    readings=(
        Reading("as printed", "Corollary D.5 and the last line of its proof"),
        Reading("corrected", "s0 s1 sqrt(2 (m/L) log(2 m1 n L/delta)), what a Gaussian tail and a "
                "union bound give: the print has neither factor 2", allowed=False),
    ),
    controls=(Control("half of the printed bound", "the bound divided by 2", part="as printed",
                      law=within(0.5)),),
    routes=(Route("plain draws, attention uniform, the upper side alone",
                  compute=initial.one_sided_d5),),
    positive={"d5_printed": 0.7, "d5_corrected": 0.5}, hypotheses=drawn_hypotheses,
    notes="Erratum (false): the factors 2 before m/L and inside the logarithm are missing. The "
          "absolute value is taken, as Proposition E.12 needs it; the second route takes the "
          "upper side alone, in case that is meant.",
)  # fmt: skip

LEMMA_D7 = statement(
    "yang2024.lemma_d7", "probability", title="Outputs of single words at the start",
    statement="With probability at least 1 - delta, |G(mu)| is O~(s0 s1 sqrt(m m1)) at first.",
    source=Source("D", "Lemma D.7", 23), stated="O~(s0 s1 sqrt(m m1)), with probability 1 - delta",
    measured="The largest |G(mu)| over all words: over s0 s1 sqrt(2 m m1 log(2d/delta)), as the "
             "proof's Gaussian tail has it, in a share of draws; and over s0 s1, its exponent in "
             "m.",
    why=f"The logarithm and its constant are the proof's, made explicit by us. {TOLERANCE_WHY}",
    parts=(
        Part("with the logarithm", "initial", initial.D7_TAIL, of_constant(1.0)),
        Part("growth", "phase_1", initial.D7_SIZE, Power("m", 0.5, "at_most"), path=OVER_WIDTHS),
    ),
    controls=(Control("bound over 2", "half of the bound", part="with the logarithm",
                      law=of_constant(0.5)),
              Control("growth like m^0.25", "exponent 1/4", part="growth",
                      law=Power("m", 0.25, "at_most"))),
    positive={**STARTED, "d7_output_over_tail": 0.6,
              "signal_outputs": series(0.0, 0.05, 0.05, 0.05),
              "largest_random_output": series(0.0, 0.1)},
    hypotheses=drawn_hypotheses, constants=(HIDDEN,),
)  # fmt: skip

LEMMA_D8 = statement(
    "yang2024.lemma_d8", "probability", title="Outputs of samples at the start",
    statement="With probability at least 1 - delta, |F| is at most 2 s0 s1 sqrt(2 L m m1 log(2 L "
              "n/delta)) on every training sample at the start, and that is at most 0.01.",
    source=Source("D", "Lemma D.8", 23),
    stated="at most 2 s0 s1 sqrt(2 L m m1 log(2 L n/delta)), with probability 1 - delta",
    measured=MEASURED, why=WHY,
    parts=(Part("within the bound", "initial", initial.D8, within(), reading="the bound"),
           Part("the bound itself", "initial", initial.D8_BOUND, AtMost(0.01),
                reading="0.01 at constant one")),
    readings=(
        Reading("the bound", "Lemma D.8's first inequality"),
        Reading("0.01 at constant one",
                "Condition 1's tilde lets s0 be smaller by constants and logarithms than our "
                "c0/sqrt(L m), so that no fixed c0 tests the second inequality", allowed=False),
    ),
    controls=(Control("bound over 10", "the bound divided by 10", part="within the bound",
                      law=within(0.1)),),
    positive={"d8_output": 0.6, "d8_bound": 0.005}, hypotheses=drawn_hypotheses,
    notes="Erratum (loose): the proof has one more factor sqrt(log(m1 n L/delta)), which the "
          "statement drops and does not need. With s0 = c0/sqrt(L m), s1 = 1/sqrt(m1) the bound "
          "is 2 c0 sqrt(2 log(2 L n/delta)): at these sizes 0.01 needs c0 <= 1.3e-3.",
)  # fmt: skip

APPENDIX_D = (*_STATEMENTS, COROLLARY_D2, COROLLARY_D5, LEMMA_D7, LEMMA_D8)
