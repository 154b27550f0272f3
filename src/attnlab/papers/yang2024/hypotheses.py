"""The assumptions of yang2024 as rows of its hypothesis table, from the settings of a cell alone.

Definition 2.1, Assumption 2.3 and Condition 1; that a drawn training set keeps the first two is
checked run by run (`claims.common.drawn_hypotheses`).
"""

import math

from attnlab.claims import Assumption, Hypothesis, HypothesisTable, Source
from attnlab.papers.yang2024.settings import ClassSettings, TrainingSettings
from attnlab.papers.yang2024.studies.training import LITERAL, MATCHING
from attnlab.papers.yang2024.theory import conditions
from attnlab.papers.yang2024.theory.sizes import StatedSizes


def sizes_of(cell: object) -> StatedSizes | None:
    """The sizes and deviations of a cell, if it has a training set."""
    if isinstance(cell, ClassSettings):
        return StatedSizes.of_theory(cell.n, cell.L, cell.vocabulary, cell.m, cell.m1, cell.c0)
    if not isinstance(cell, TrainingSettings):
        return None
    d = cell.vocabulary
    if cell.weights == "theory":
        return StatedSizes.of_theory(cell.n, cell.L, d, cell.m, cell.m1, cell.c0)
    # Fan-in is d for the embeddings and m for the neurons; see models.linear_mlp_initialisation.
    gain = math.sqrt(1 / 3) if cell.weights == "linear_default" else math.sqrt(2)
    return StatedSizes(
        cell.n, cell.L, d, cell.m, cell.m1, gain / math.sqrt(d), gain / math.sqrt(cell.m)
    )


def _definition_2_1(cell: object) -> tuple[Hypothesis, ...]:
    sizes = sizes_of(cell)
    if sizes is None:
        return ()
    labelled = float(getattr(cell, "labels", "true") == "true")
    return (
        *conditions.definition_2_1(sizes),
        Hypothesis("labels are those of the types (1: yes)", labelled, 1, "=="),
    )


def _assumption_2_3(cell: object) -> tuple[Hypothesis, ...]:
    sizes = sizes_of(cell)
    if sizes is None:
        return ()
    balanced = float(getattr(cell, "sampler", "balanced") == "balanced")
    distinct = float(getattr(cell, "words", "distinct") == "distinct")
    return (
        *conditions.assumption_2_3(sizes),
        Hypothesis("(i) shares of the types are exact by design (1: yes)", balanced, 1, "=="),
        Hypothesis("(ii) no random word recurs by design (1: yes)", distinct, 1, "=="),
    )


def _condition_1(cell: object) -> tuple[Hypothesis, ...]:
    sizes = sizes_of(cell)
    return () if sizes is None else conditions.condition_1(sizes)


HYPOTHESES = HypothesisTable(
    assumptions=(
        Assumption(
            id="yang2024.definition_2_1",
            title="The data distribution",
            statement=(
                "A sample has L words: the common token at one uniform place; with probability 1/2 "
                "both target signals (label +1), with 1/6 each only the first, only the second, or "
                "neither (label -1); uniform random words elsewhere."
            ),
            source=Source("2.1", "Definition 2.1"),
            rows=_definition_2_1,
            notes="That our samplers draw by it is tested (tests/yang2024), not judged.",
        ),
        Assumption(
            id="yang2024.assumption_2_3",
            title="The training set",
            statement=(
                "(i) Exactly 1/2, 1/6, 1/6 and 1/6 of the training samples are of the four types; "
                "(ii) no random word occurs twice in the training set."
            ),
            source=Source("2.1", "Assumption 2.3"),
            rows=_assumption_2_3,
            notes="Appendix A has 61 random words for 160 places: its own experiment breaks (ii).",
        ),
        Assumption(
            id="yang2024.condition_1",
            title="The sizes",
            statement=(
                "m is at least of the order of max(m1, L^2) and n of that of L^2, m1 and L are "
                "large enough, s0 is of the order of 1/sqrt(L m) and s1 of that of 1/sqrt(m1), all "
                "up to constants and logarithms, and 1/delta is at most polynomial in m."
            ),
            source=Source("2.2", "Condition 1", 5),
            rows=_condition_1,
            notes=(
                "Every row hides a constant or logarithms of m: thresholds are shown at constant "
                "one and never gate. Appendix A has m = 128 below m1 = 256."
            ),
        ),
    ),
    printed={
        "appendix A, figure 1 (weights as a linear layer's default)": MATCHING,
        "appendix A, figure 1 (Kaiming's normal weights, a = ±1)": LITERAL,
    },
)
