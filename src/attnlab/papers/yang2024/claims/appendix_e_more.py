"""Appendix E's intermediate statements, Lemma G.1 and Lemma H.1."""

import math
from typing import Any

import numpy as np

from attnlab.claims import Control, Part, Reading, Scalar, Source
from attnlab.core import OfCell
from attnlab.data.word_sizes import SIGNALS
from attnlab.evidence.laws import AtMost, Power, Rate, Share, stored
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.claims import paths as p
from attnlab.papers.yang2024.claims.common import BOUNDED, HIDDEN, TOLERANCE_WHY
from attnlab.papers.yang2024.runs.summaries.initial import DELTA

_DELTA = "delta = 0.1 is ours: the number of draws can decide it."
_OVER_M = "m from 2^9 to 2^14 with n = 24 to 60, L = 4 and 5, m1 = 31 to 47"
_DRAWS = "Weights drawn 12 times at each of six widths, attention and g as they are at the start. "


def _holds(name: str, key: str, words: str) -> Part:
    """A printed bound with all its constants, at delta = 0.1."""
    law = Share(AtMost(1.0), 0.9, exact=True, owner="paper")
    return Part(name, "products", stored(key, words), law, path=_OVER_M)


def _over_m(name: str, scalar: Scalar) -> Part:
    return Part(name, "products", scalar, BOUNDED, path=_OVER_M)


def _words(cell: Any) -> int:
    """The number d of words, n (L - 7/3) of them random."""
    return SIGNALS + round(cell.n * (cell.L - 7 / 3))


def _of_outputs(cell: Any) -> float:
    """sqrt(log(m1 d/delta)): the logarithm of an output's tail, as E.22 prints it."""
    return math.sqrt(math.log(cell.m1 * _words(cell) / DELTA))


def _of_products(cell: Any) -> float:
    """The same times sqrt(log(2d/delta)), that of Lemma D.1's products."""
    return _of_outputs(cell) * math.sqrt(math.log(2 * _words(cell) / DELTA))


def _over(key: str, words: str, logarithms: OfCell[float]) -> Scalar:
    """A stored quotient, over the logarithms of the tails as well."""
    return Scalar(words, lambda record: float(record[key]) / logarithms(record.cell))


def _made(logarithms: OfCell[float]) -> Any:
    """A fixture's value with these logarithms and a little noise."""

    def value(cell: Any, random: np.random.Generator) -> float:
        return 0.3 * logarithms(cell) * float(np.exp(0.02 * random.normal()))

    return value


_LOGARITHMS = (
    "With the sizes the number of words grows, and the largest of many has the logarithm of its "
    "tail: the quotients have the logarithms that the proofs insert (set after those without had "
    "left exponents of 0.07 [0.02, 0.11] and 0.12 [0.03, 0.21]; the draws are fresh)."
)


E5 = statement("yang2024.proposition_e5", "probability",
    title="Sums of neurons' and of values' products at the start",
    statement="With probability 1 - delta, for every neuron the signed sum of its products with "
    "all others, that sum weighted by what a word receives, and a word's value products with all "
    "that samples attend to, stay below bounds with all constants given.",
    source=Source("E.1", "Proposition E.5"), stated="three bounds with probability 1 - delta",
    measured=_DRAWS + "Each over its bound; exact interval of the share of draws below.",
    why=_DELTA,
    parts=(_holds("neurons", "e5_neurons", "sum of a neuron's products over its bound"),
        _holds("neurons by word", "e5_words", "the same by word over its bound"),
        _holds("values", "e5_values", "sum of a value's products over its bound")),
    controls=tuple(Control(f"a thirtieth of the bound on {name}", "the bound divided by 30", name,
        law=Share(AtMost(1 / 30), 0.9, exact=True, owner="paper"))
        for name in ("neurons", "neurons by word", "values")),
    positive={"e5_neurons": 0.3, "e5_words": 0.3, "e5_values": 0.3},
)  # fmt: skip

E8 = statement("yang2024.proposition_e8", "scaling",
    title="Outputs of words at the start",
    statement="With probability 1 - delta every |G(mu)| at the start is at most of the order s0 s1 "
    "sqrt(m m1), up to logarithms.",
    source=Source("E.3", "Proposition E.8"), stated="O~(s0 s1 sqrt(m m1))",
    measured=_DRAWS + "The largest |G| over that order times sqrt(log(m1 d/delta)), over m.",
    why=TOLERANCE_WHY,
    parts=(_over_m("outputs", _over("e8_output", "largest |G| over its order", _of_outputs)),),
    controls=(Control("smaller by m^0.5", "the power -1/2", "outputs",
        law=Power("m", -0.5, "at_most")),),
    constants=(HIDDEN,), positive={"e8_output": _made(_of_outputs)}, notes=_LOGARITHMS,
)  # fmt: skip

E22 = statement("yang2024.proposition_e22", "scaling",
    title="Products of keys, values and neurons at the start",
    statement="With probability 1 - delta a key's or query's squared norm times an output is at "
    "most of the order s0^2 m s1 s0 sqrt(m m1 log(m1 d/delta) log(n d/delta)), and a product of "
    "two different keys or queries of a sample times an output of the order s0^2 sqrt(m) s0 s1 "
    "sqrt(m m1), up to logarithms.",
    source=Source("E.7", "Proposition E.22"), stated="both over their orders: O(1) and O~(1)",
    measured=_DRAWS + "The largest of each over its order, over m; for products with sqrt(log(2d/"
    "delta) log(m1 d/delta)).",
    why=TOLERANCE_WHY,
    parts=(_over_m("norms", stored("e22_own", "norm times output over its order")),
        _over_m("products",
            _over("e22_across", "product times output over its order", _of_products))),
    controls=(Control("norms smaller by m^0.5", "the power -1/2", "norms",
            law=Power("m", -0.5, "at_most")),
        Control("products smaller by m^0.5", "the power -1/2", "products",
            law=Power("m", -0.5, "at_most"))),
    constants=(HIDDEN,), positive={"e22_across": _made(_of_products)},
    notes=_LOGARITHMS + " At twelve draws a size products stay undecided, at 0.07 [0.02, 0.13]: "
    "they are the largest of more and more samples. At n = 24 and L = 4 with m alone growing they "
    "were within the tolerance.",
)  # fmt: skip

_STATED, _PROVED = "rates as stated", "rates as proved"


def _rates(reading: str, form: str) -> tuple[Part, ...]:
    """Both rates over one of the two forms, at k = 2."""
    names = {"random": "two random words", "other": "other pairs"}
    return tuple(
        Part(f"{names[kind]}, {reading}", "paths",
             stored(f"e24_{kind}_over_{form}", f"rate of softmax over its bound as {form}"),
             p.tilde(), reading, p.is_middle, path="k = 2")
        for kind in names
    )  # fmt: skip


E24 = statement("yang2024.corollary_e24", "scaling",
    title="How fast the softmax moves in phase 1",
    statement="In phase 1 an attention weight changes at a rate of at most 1/(L (L^2 + n) sqrt(m)) "
    "between two random words and 1/(L^2 sqrt(m)) else (in the proof: (1/L + 1/n)(1/L + "
    "1/sqrt(m))/(L m) and (1/L + 1/sqrt(m))/(L m)), and in all by (1/L + 1/sqrt(m))/(L m^2), all "
    "up to logarithms.",
    source=Source("E.7", "Corollary E.24"), stated="rates and changes over their bounds: O~(1)",
    measured=p.ALONG + "The largest rates and the largest change up to T1 over each bound, at k = "
    "2.",
    why=p.WHY,
    readings=(Reading(_STATED, "the first display of Corollary E.24"),
        Reading(_PROVED, "the last displays of its proof, from which its changes follow")),
    parts=(*_rates(_STATED, "stated"), *_rates(_PROVED, "proved"),
        Part("change", "paths", stored("e24_change_over_bound", "change of softmax over its bound"),
             p.tilde(), "", p.is_middle, path="k = 2")),
    controls=(Control("the change smaller by m^0.5", "the power -1/2", "change",
            law=p.tilde(-0.5)),
        Control("rates smaller by m^0.5", "the power -1/2", f"other pairs, {_PROVED}",
            law=p.tilde(-0.5))),
    notes="Erratum (loose): statement and proof differ by sqrt(m) and in L and n; the stated rates "
    "are the weaker ones, and the stated changes are the proof's.",
)  # fmt: skip

EQUATION_8 = statement("yang2024.equation_8", "scaling",
    title="Where the common token's rate meets the signals', the balance falls at full rate",
    statement="At a time at which G1' = -G3' the mean over samples of 2 g on type 1 less 2 g on "
    "type 2 less g on types 3 and 4 falls at a rate of order s1^2 m m1.",
    source=Source("E.6", "equation (8), in the proof of Theorem E.19"),
    stated="-Theta(s1^2 m m1)",
    measured=p.ALONG + "That rate, by differences between records, over s1^2 m m1, over log m.",
    why=p.WHY, readings=p.EARLY,
    parts=p.early("rate", stored("equation_8_rate", "the balance's fall over s1^2 m m1"),
        p.plain("equal")),
    controls=(p.wrong("larger by log^2 m", "rate", p.plain("equal", 2.0), at="k = 2"),),
    notes="The print has sums where s1^2 m m1 belongs to means.",
)  # fmt: skip

G1 = statement("yang2024.lemma_g1", "identity", title="The derivative of a softmax (17)",
    statement="If scores move at the rate s', their softmax moves at (diag(p) - p p^T) s'.",
    source=Source("G", "Lemma G.1, equation (17)"), stated="equality",
    measured="Random scores and rates: the formula against a central difference, relative.",
    why="1e-6 is ours: the error of the difference.",
    parts=(Part("error", "derivative", stored("error", "relative error against the difference"),
        AtMost(1e-6, owner="ours", trivial=0.0)),),
    controls=(Control("diagonal", "without p p^T", "error", changes={"jacobian": "diagonal"}),
        Control("to rounding", "to 1e-14", "error", law=AtMost(1e-14))),
    positive={"error": 1e-9},
)  # fmt: skip

_BELOW = stored("below", "sums below the bound")
H1 = statement("yang2024.lemma_h1", "probability", title="Bernstein's inequality",
    statement="A sum of n independent centred numbers of size at most M is at most sqrt(2 v "
    "log(1/delta)) + 2 M log(1/delta) with probability 1 - delta, v the sum of variances.",
    source=Source("H", "Lemma H.1"), stated="probability at least 1 - delta",
    measured="Sums of 64 numbers 0, +1 and -1, for two chances to be other than 0 and two delta.",
    why="The bound and the probability are the paper's.",
    parts=tuple(Part(f"delta = {delta:g}", "bounded_sums", _BELOW,
        Rate("draws", 1 - delta, owner="paper"), cells=lambda c, x=delta: c.delta == x)
        for delta in (0.1, 0.01)),
    controls=(Control("a third of the bound", "the bound divided by 3", "delta = 0.01",
        scalar=stored("below_third", "sums below a third of the bound")),),
    positive={"below": lambda cell, random: cell.draws,
        "below_third": lambda cell, random: cell.draws // 2},
)  # fmt: skip

MORE = (E5, E8, E22, E24, EQUATION_8, G1, H1)
