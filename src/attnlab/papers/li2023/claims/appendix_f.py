"""Appendix F: how many neurons are lucky (Lemma 3), and whether they stay so (Lemma 4)."""

import numpy as np

from attnlab.claims import Control, Part, Reading, Route, Source, Trivial
from attnlab.evidence.laws import AtLeast
from attnlab.evidence.statement import statement
from attnlab.papers.li2023.claims.appendix_d import PER_POSITION, SHARED, STUDIES
from attnlab.papers.li2023.claims.common import theorem_hypotheses
from attnlab.papers.li2023.scalars import neurons

LITERAL = Reading("Definition 2", "(22): the angle to p_1 is at most sigma + tau")
PROOF = Reading("the proof's", "the proof of Lemma 3: theta_1 + 2 (sigma + tau) <= theta_l, all l")
BEST = Reading("best-aligned", "excluded: (22) and the proof's margin both ask for more", False)
EMPTY = "a cone of sigma + tau = .13 rad in R^10 holds 1.5e-9 of all directions: no neuron"

LEMMA_3 = statement(
    "li2023.lemma_3", "bound", title="How many neurons are lucky at the start",
    statement="At the start each class has at least (m/M)(1 - eps_m - (sigma + tau) M/pi) lucky "
              "neurons, eps_m being what the width condition allows at least, M sqrt(log N / m).",
    source=Source("F", "Lemma 3, (208), (209)"),
    stated="at least (m/M)(1 - eps_m - (sigma + tau) M/pi)",
    headline="Lucky neurons at the start over the stated number: {parts[literal]} by Definition 2, "
    "{parts[proof]} by its proof's reading.",
    measured="Lucky neurons in W_O(0), the smaller class, over the bound.",
    parts=(
        Part("literal", "dynamics", neurons.lucky_over_bound("literal", EMPTY), AtLeast(1.0),
             reading=LITERAL.name),
        Part("proof", "dynamics", neurons.lucky_over_bound("proof"), AtLeast(1.0),
             reading=PROOF.name),
        Part("best", "dynamics", neurons.lucky_over_bound("best"), AtLeast(1.0),
             reading=BEST.name),
    ),
    readings=(LITERAL, PROOF, BEST),
    controls=(
        Control("tenfold, literal", "ten times the bound", part="literal", law=AtLeast(10.0)),
        Control("tenfold, proof", "ten times the bound", part="proof", law=AtLeast(10.0)),
    ),
    trivial=Trivial("no lucky neuron: all m may be unlucky", neurons.LUCKY_BOUND),
    routes=(Route("volume of the cone, and plain Monte Carlo", compute=neurons.cone_route),),
    positive={"lucky": np.full((5, 2, 3, 2), 200.0)}, hypotheses=theorem_hypotheses,
    notes="The proof takes angles in R^10 for independent and uniform on [0, 2 pi].",
)  # fmt: skip

PRESENT = Reading("present features",
                  "excluded: Definition 2's p_1 is the first model's feature", False)  # fmt: skip
BEST_ALIGNED = Reading("best-aligned", "excluded: the proof of Lemma 3 asks for a margin", False)
STAY = AtLeast(1.0)
KEPT = {PER_POSITION: neurons.lucky_kept("proof"), SHARED: neurons.signed_kept("proof")}

LEMMA_4 = statement(
    "li2023.lemma_4", "bound", title="Lucky neurons stay lucky",
    statement="Neurons that are lucky at the start are lucky at every later iteration.",
    source=Source("F", "Lemma 4"), stated="all lucky neurons stay lucky",
    measured="The share of the neurons lucky at the start, as the proof of Lemma 3 reads it, that "
             "are lucky later: the smallest over recorded steps and classes.",
    parts=tuple(
        Part(f"{words}, {beside.name}", study, scalar, STAY, reading=reading.name)
        for beside, study in STUDIES.items()
        for words, scalar, reading in (
            ("all stay", KEPT[beside], beside),
            ("against present features", neurons.lucky_kept("proof", neurons.PRESENT), PRESENT),
            ("best-aligned", neurons.lucky_kept("best"), BEST_ALIGNED),
        )
    ),
    readings=(PER_POSITION, SHARED, PRESENT, BEST_ALIGNED),
    controls=tuple(
        Control(f"every neuron, {reading.name}", "all neurons in place of the lucky ones",
                part=f"all stay, {reading.name}", scalar=neurons.LUCKY_SHARE)
        for reading in STUDIES
    ),
    trivial=Trivial("an inclusion has no weaker form that holds for any weights"),
    positive={"lucky": np.full((5, 2, 3, 2), 200.0), "lucky_kept": np.ones((5, 2, 3, 2)),
              "signed_kept": np.ones((5, 2, 3, 2))},
    hypotheses=theorem_hypotheses,
    notes="By Definition 2's letter no neuron is lucky at the start (Lemma 3), so that nothing can "
          "be lost: not a reading that says anything.",
)  # fmt: skip

APPENDIX_F = (LEMMA_3, LEMMA_4)
