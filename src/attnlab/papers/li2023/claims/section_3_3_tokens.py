"""Section 3.3: where the attention goes (Proposition 2), what removing tokens saves (Remark 2)."""

import numpy as np

from attnlab.claims import Control, Part, Reading, Route, Source
from attnlab.evidence.laws import AtLeast, AtMost, Range, stored
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.statement import AS_STATED, statement
from attnlab.papers.li2023.claims.common import FROZEN, theorem_hypotheses
from attnlab.papers.li2023.scalars import attention
from attnlab.papers.li2023.scalars.attention import LARGE_C, OVER_CEILING, START_OVER_CEILING
from attnlab.papers.li2023.theory.conditions import first_model

FLOOR = 1e-6
"""Test losses below this count as this: a ratio of zeros says nothing."""
NEAR = AtLeast(0.9, "mean", owner="ours", trivial=1.0)
RATE = AtLeast(0.7, "mean", owner="ours", trivial=1.0)
LATER = Reading(
    "margin 10", "excluded: the hinge of section 2 has margin 1, and training ends", allowed=False
)
STEPS = np.geomspace(1, 300, 20)

PROPOSITION_2 = statement(
    "li2023.proposition_2", "scaling", title="Attention weights concentrate at the rate 1/t",
    statement="The attention that any query pays to label-relevant tokens tends to 1 - eta^C, for "
              "a large C, at the rate O(1/t), for all queries and samples.",
    source=Source("3.3", "Proposition 2, (15)"),
    stated="1 - eta^C with a large C for all l and n, at the rate 1/t",
    headline="The smallest mass of any query and sample is 1 - eta^C with C = "
    "{parts[all queries and samples]}; stated: a large C for all.",
    measured="C of the smallest mass of any query and sample at the end of training; the mean mass "
             "over its ceiling; the rate at which the mean nears the ceiling over the last half of "
             "the recorded steps.",
    why="The paper leaves C open; 10 is what Theorem 1's condition on zeta takes. 0.9 of the "
        "ceiling and a rate of 0.7 are ours: a large part of what can be reached, and 1 less the "
        "error of a late exponent.",
    parts=(
        Part("all queries and samples", "dynamics", attention.LEAST_MASS_C,
             AtLeast(LARGE_C, "mean", owner="ours", trivial=0.0), reading=AS_STATED.name),
        Part("mean over queries", "dynamics", OVER_CEILING, NEAR, reading=AS_STATED.name),
        Part("rate", "dynamics", attention.LATE_RATE, RATE, reading=AS_STATED.name),
        Part("mean, margin 10", "margin_10", OVER_CEILING, NEAR, reading=LATER.name),
        Part("rate, margin 10", "margin_10", attention.LATE_RATE, RATE, reading=LATER.name),
    ),
    readings=(AS_STATED, LATER),
    controls=(
        FROZEN,
        Control("before training", "the mass that the first model has", part="mean over queries",
                scalar=START_OVER_CEILING),
    ),
    routes=(Route("the ceiling in closed form", compute=attention.ceiling_route),),
    positive={"times": STEPS, "relevant_mass": 0.932 - 0.3 / (1 + STEPS),
              "least_relevant_mass": 1 - 0.4 * STEPS**-2.0},
    hypotheses=theorem_hypotheses,
    notes="The odds of relevant to confusion tokens in the two classes multiply to "
          "(alpha_*/alpha_#)^2 whatever keys and queries are, so no weights give all queries more "
          "than 1/(1 + alpha_#/alpha_*): C is at most 3.5 at these fractions and eta = .5, and the "
          "limit does not improve as eta falls. The mean has a ceiling too, and the rate is that "
          "of ceiling less mass; both were 1 before the ceiling was derived, and a mass of .95 the "
          "cutoff. (15)'s softmax runs over S only.",
)  # fmt: skip


def _removed(selector: str, inside: Range, floor: float) -> Paired:
    return Paired("selector", selector, "none", inside, by=("N",), floor=floor)


LESS = AtMost(1.0, "mean")
ITERATIONS = stored("iterations", "iterations")
TEST_LOSS = stored("test_loss", "test loss")
FACTOR = {"none": 1.0, "irrelevant": 0.4, "noisy": 0.6, "random": 1.1}

REMARK_2 = statement(
    "li2023.remark_2", "remark", title="Sparsification saves iterations and samples",
    statement="Removing label-irrelevant tokens raises alpha_*, so that fewer iterations and fewer "
              "samples are needed; removing noisy ones lowers tau, with the same effect.",
    source=Source("3.3", "Remark 2"),
    stated="fewer iterations, and a smaller test loss at the same N",
    measured="40 % of the tokens removed by an oracle (30 % as noisy), over none, paired by seed "
             "and N: iterations until the training loss is zero, and the test loss then.",
    parts=tuple(
        Part(f"{selector}: {scalar.name}", "sparsified", scalar, _removed(selector, LESS, floor))
        for selector in ("irrelevant", "noisy")
        for scalar, floor in ((ITERATIONS, 1.0), (TEST_LOSS, FLOOR))
    ),
    controls=tuple(
        Control(f"random removal, {scalar.name}", "as many tokens removed at random",
                part=f"irrelevant: {scalar.name}", law=_removed("random", LESS, floor))
        for scalar, floor in ((ITERATIONS, 1.0), (TEST_LOSS, FLOOR))
    ),
    positive={
        "iterations": lambda cell, rng: 200 * FACTOR[cell.selector] * np.exp(0.02 * rng.normal()),
        "test_loss": lambda cell, rng: 0.02 * FACTOR[cell.selector] * np.exp(0.02 * rng.normal()),
    },
    hypotheses=lambda records: first_model(r.cell for r in records),
    notes="Erratum: insight P3 says that removing irrelevant tokens reduces alpha_*; it raises it. "
          "Fewer samples are seen here as a smaller loss at the same N. Kept tokens keep the "
          "output weights of their first places, a choice of ours that costs samples (figure 5). "
          "Noisy tokens are not removed at scale smoke.",
)  # fmt: skip

SECTION_3_3_TOKENS = (PROPOSITION_2, REMARK_2)
