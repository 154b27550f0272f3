from dataclasses import dataclass, replace

import numpy as np
import pytest

from attnlab.core import (
    Claim,
    Control,
    Effect,
    Hypothesis,
    Measurement,
    Reading,
    Record,
    Records,
    setting,
)
from attnlab.evidence.evaluate import evaluate


@dataclass(frozen=True)
class Cell:
    size: int = setting(1, origin="ours", help="size")


def records(values, **counts) -> Records:
    return Records(
        (Record("p.s", Cell(), seed, {"x": np.float64(v)}) for seed, v in enumerate(values)),
        **counts,
    )


def measure(found: Records, law) -> Measurement:
    mean = float(found.column("x").mean())
    outcome = "supported" if abs(mean - law) < 0.5 else "contradicted"
    return Measurement((Reading("plain", outcome, Effect("mean", mean, mean, mean)),))


CLAIM = Claim(
    id="p.c",
    title="",
    statement="",
    measured="",
    studies=("p.s",),
    measure=measure,
    law=1.0,
    controls=(Control("other law", "", law=5.0),),
    positive=lambda: records([1.0]),
)


def verdict(claim, found, control=None, **options):
    return evaluate(claim, found, {"other law": control or found}, scale="smoke", **options)


def test_supported_and_contradicted():
    assert verdict(CLAIM, records([1, 1])).outcome == "supported"
    assert verdict(CLAIM, records([3, 3])).outcome == "contradicted"


def test_a_control_that_is_not_rejected_makes_the_verdict_inconclusive():
    blunt = replace(CLAIM, controls=(Control("other law", "", law=1.2),))
    found = verdict(blunt, records([1, 1]))
    assert found.outcome == "inconclusive"
    assert "other law" in found.reason
    assert found.controls[0].outcome == "supported"


def test_unmet_hypothesis_gates_and_names_the_factor():
    gated = replace(CLAIM, hypotheses=lambda r: (Hypothesis("m", 10, 40),))
    found = verdict(gated, records([1, 1]))
    assert found.outcome == "not_applicable"
    assert "short by a factor of 4" in found.reason
    assert found.readings[0].outcome == "supported"  # measured all the same, and shown


def test_unknown_constant_never_gates():
    unknown = replace(CLAIM, hypotheses=lambda r: (Hypothesis("m", 10, 40, ">=", "unknown"),))
    found = verdict(unknown, records([1, 1]))
    assert found.outcome == "supported"
    assert found.hypotheses[0].met is None
    assert found.hypotheses[0].factor == 4


def test_missing_runs_are_inconclusive_and_failed_ones_are_counted():
    assert "3 of 5" in verdict(CLAIM, records([1, 1], missing=3)).reason
    found = verdict(CLAIM, records([1, 1], failed=2), control=records([1]))
    assert (found.outcome, found.failed_runs, found.trials) == ("supported", 2, 2)
    assert verdict(CLAIM, records([], failed=4)).outcome == "inconclusive"


def test_robust_turns_a_verdict_that_hangs_on_one_seed():
    found = records([1, 1, 1, 1, 1, 2.7])  # mean 1.28: supported, without seed 4: 1.34
    assert verdict(CLAIM, found, robust=True).outcome == "supported"
    hanging = records([1.0, 1.0, 1.0, 1.0, -1.0])  # mean 0.6; without seed 0: 0.5
    assert verdict(CLAIM, hanging).outcome == "supported"
    shaky = verdict(CLAIM, hanging, robust=True)
    assert shaky.outcome == "inconclusive"
    assert "without seeds 0" in shaky.reason


@pytest.mark.parametrize(
    ("relation", "value", "threshold", "met", "factor"),
    [
        (">=", 2, 1, True, 0.5),
        (">=", 1, 2, False, 2),
        ("<=", 3, 1.5, False, 2),
        ("<=", 1, 1, True, 1),
        ("==", 1, 1, True, None),
        ("==", 1, 1.1, False, None),
        ("<=", 99, 0, False, None),
    ],
)
def test_hypothesis_from_both_sides(relation, value, threshold, met, factor):
    hypothesis = Hypothesis("h", value, threshold, relation)
    assert hypothesis.met is met
    assert hypothesis.factor == factor
