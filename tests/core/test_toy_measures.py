"""Mutations: a broken measure must turn a test red. Here the tests that would turn are named."""

from dataclasses import replace

import pytest

from attnlab.core import Measurement, Reading
from attnlab.evidence.evaluate import control_outcome
from attnlab.lab import registry

CLAIMS = registry.paper("toy").claims


def sound(claim) -> bool:
    """What tests/test_registry.py asserts of every claim."""
    positive = claim.positive()
    laws = [c for c in claim.controls if c.law is not None and not c.changes]
    return claim.measure(positive, claim.law).outcome == "supported" and all(
        control_outcome(claim, control, positive) == "contradicted" for control in laws
    )


def always(outcome):
    return lambda records, law: Measurement((Reading("mutant", outcome),))


@pytest.mark.parametrize("claim", CLAIMS, ids=[c.id for c in CLAIMS])
def test_a_measure_that_always_says_one_thing_is_caught(claim):
    assert sound(claim)
    for outcome in ("supported", "contradicted", "inconclusive"):
        assert not sound(replace(claim, measure=always(outcome)))


@pytest.mark.parametrize("claim", CLAIMS, ids=[c.id for c in CLAIMS])
def test_a_measure_that_ignores_its_law_is_caught(claim):
    assert not sound(replace(claim, measure=lambda records, law: claim.measure(records, claim.law)))
