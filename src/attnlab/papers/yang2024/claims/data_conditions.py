"""Definition 2.1, Assumption 2.3 and Condition 1: do the samples and sizes of the studies obey?"""

from dataclasses import dataclass

import numpy as np

from attnlab.core import (
    Claim,
    Constant,
    Control,
    Effect,
    Hypothesis,
    Measurement,
    Outcome,
    Reading,
    Record,
    Records,
)
from attnlab.evidence.intervals import decide_at_most, decide_equal, wilson
from attnlab.evidence.multiplicity import combine_outcomes, simultaneous_level
from attnlab.papers.yang2024.claims.builders import RangeLaw, range_claim
from attnlab.papers.yang2024.claims.common import SHUFFLED, sizes_of
from attnlab.papers.yang2024.settings import TrainingSettings, resolve
from attnlab.papers.yang2024.theory.conditions import TYPE_PROPORTIONS, condition_1

DISTRIBUTION, SETS = "yang2024.distribution", "yang2024.training_sets"


@dataclass(frozen=True)
class DistributionLaw:
    """The shares of the four types, and how far a share may be off."""

    types: tuple[float, ...] = TYPE_PROPORTIONS
    tolerance: float = 0.02
    """Ours, for the shares of types and of places; for single words it is relative to 1/(d-3)."""
    word_tolerance: float = 0.25


def measure_distribution(records: Records, law: DistributionLaw) -> Measurement:
    """Pooled shares of types, places of the common token and random words, all simultaneous."""
    shares = [
        _shares("types", records.column("type_counts").sum(axis=0), law.types, law.tolerance),
        _shares("places of the common token", *_uniform(records, "common_places"), law.tolerance),
        _words(records, law),
    ]
    wrong = [
        _none("samples with other signals than their type's", records.column("wrong_structure")),
        _none("samples with another label than their type's", records.column("wrong_labels")),
    ]
    parts = (*shares, *wrong)
    outcome = combine_outcomes([part.outcome for part in parts])
    decisive = [part for part in parts if part.outcome == outcome]
    detail = "; ".join(f"{part.name}: {part.outcome}" for part in decisive)
    return Measurement((Reading("all parts", outcome, decisive[0].effect, detail), *parts))


def _shares(name: str, counts: np.ndarray, expected: tuple[float, ...], tolerance: float):
    """One reading for shares that must all equal what is expected; its effect is the worst."""
    level = simultaneous_level(len(expected))
    total = int(counts.sum())
    outcomes: list[Outcome] = []
    effects = []
    for count, share in zip(counts, expected, strict=True):
        interval = wilson(int(count), total, level=level)
        outcomes.append(decide_equal(interval.low, interval.high, share, tolerance))
        off = (interval.value - share, interval.low - share, interval.high - share)
        effects.append(Effect(f"{name}: share minus what is stated", *off))
    worst = max(effects, key=lambda effect: abs(effect.value))
    return Reading(name, combine_outcomes(outcomes), worst)


def _uniform(records: Records, name: str) -> tuple[np.ndarray, tuple[float, ...]]:
    counts = records.column(name).sum(axis=0)
    return counts, (1 / len(counts),) * len(counts)


def _words(records: Records, law: DistributionLaw) -> Reading:
    counts, expected = _uniform(records, "random_words")
    return _shares("random words", counts, expected, law.word_tolerance * expected[0])


def _none(name: str, counts: np.ndarray) -> Reading:
    """A count that must be 0: it is known exactly, so its interval has no width."""
    total = float(counts.sum())
    return Reading(name, decide_at_most(total, total, 0.0), Effect(name, total, total, total))


def distribution() -> Records:
    """Samples with the stated shares."""
    cell = resolve(TrainingSettings(n=6000, L=5, d=64, sampler="independent", words="repeated"))
    values = {
        "type_counts": np.array([3000, 1000, 1000, 1000]),
        "common_places": np.full(5, 1200),
        "random_words": np.full(61, 260),
        "wrong_structure": 0,
        "wrong_labels": 0,
    }
    return Records(Record(DISTRIBUTION, cell, seed, values) for seed in range(6))


def sizes_table(records: Records) -> tuple[Hypothesis, ...]:
    """Condition 1's rows, none of which gates, at the smallest width."""
    return condition_1(sizes_of(min(records, key=lambda r: r.cell.m)))


def nothing(records: Records) -> tuple[Hypothesis, ...]:
    """These claims are about hypotheses: they have none."""
    del records
    return ()


BALANCED = RangeLaw((("type_share_error", 0.0, 1e-12), ("repeated_random_words", 0.0, 0.0)))
AT_CONSTANT_ONE = RangeLaw(
    (
        ("width_over_least", 1.0, np.inf),
        ("samples_over_least", 1.0, np.inf),
        ("neurons", 1.0, np.inf),
        ("length", 1.0, np.inf),
        ("embedding_scale", 0.0, 1.0),
        ("neuron_scale", 0.0, 1.0),
    )
)
SETS_MEASURED = (
    "Nothing is trained. The share of runs in which it holds is supported above 0.9 with Wilson's "
    "interval, contradicted below."
)

DATA_CONDITIONS = (
    Claim(
        id="yang2024.definition_2_1",
        title="The data distribution",
        statement=(
            "A sample has L words: the common token at one uniform place; with probability 1/2 "
            "both target signals (label +1), with 1/6 each only the first, only the second, or "
            "neither (label -1); uniform random words elsewhere."
        ),
        measured=(
            "Independent samples of our sampler, pooled over runs, with simultaneous Wilson "
            "intervals: shares of the types and of the common token's places within 0.02, shares "
            "of random words within a quarter of 1/(d-3); and no sample with other signals or "
            "another label than its type's."
        ),
        studies=(DISTRIBUTION,),
        measure=measure_distribution,
        law=DistributionLaw(),
        controls=(
            SHUFFLED,
            Control("equal shares", "each type a quarter", law=DistributionLaw((0.25,) * 4)),
        ),
        positive=distribution,
    ),
    range_claim(
        "assumption_2_3",
        study="training_sets",
        law=BALANCED,
        controls=(
            Control("independent samples", "(i) broken", changes={"sampler": "independent"}),
            Control("repeated words", "(ii) broken", changes={"words": "repeated"}),
        ),
        positive={"type_share_error": 0.0, "repeated_random_words": 0.0},
        hypotheses=nothing,
        title="The training set",
        statement=(
            "(i) Exactly 1/2, 1/6, 1/6 and 1/6 of the training samples are of the four types; "
            "(ii) no random word occurs twice in the training set."
        ),
        measured="Training sets as the studies draw them. " + SETS_MEASURED,
    ),
    range_claim(
        "condition_1",
        study="training_sets",
        law=AT_CONSTANT_ONE,
        controls=(
            Control(
                "appendix A's widths",
                "m = 128 below m1 = 256, as in the paper's own experiment",
                changes={"m": 128, "m1": 256},
            ),
            Control("few samples", "n = 12 below L^2", changes={"n": 12}),
            Control("large initialisation", "s0 = 3/sqrt(L m)", changes={"c0": 3.0}),
        ),
        positive={
            "width_over_least": 8.0,
            "samples_over_least": 1.5,
            "neurons": 64.0,
            "length": 4.0,
            "embedding_scale": 0.1,
            "neuron_scale": 1.0,
        },
        hypotheses=sizes_table,
        constants=(Constant("the constants and logarithms of Condition 1", "unknown"),),
        title="The sizes",
        statement=(
            "m is at least of the order of max(m1, L^2) and n of that of L^2, m1 and L are large "
            "enough, s0 is of the order of 1/sqrt(L m) and s1 of that of 1/sqrt(m1), all up to "
            "constants and logarithms, and 1/delta is at most polynomial in m."
        ),
        measured=(
            "The sizes of the studies against the condition with all constants one and no "
            "logarithms (ours): m/max(m1, L^2), n/L^2, s0 sqrt(L m) at most 1 and s1 sqrt(m1) at "
            "most 1. The table of hypotheses has the values. " + SETS_MEASURED
        ),
        notes=(
            "What is said is that the studies are inside the condition at constant one, not that "
            "the paper's hidden constants are met: those nobody knows."
        ),
    ),
)
