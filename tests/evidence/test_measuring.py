"""Readings: whose effect and which parts they name, and rule 1 over the allowed ones."""

import itertools

import pytest

from attnlab.claims import Effect, PartResult, Reading
from attnlab.evidence.measuring import _reading, _together

READING = Reading("as stated", "the text")


def part(name: str, outcome: str) -> PartResult:
    effect = Effect(f"effect of {name}", 1.0, 0.5, 1.5)
    return PartResult(name, outcome, effect, "at most 1", "paper", "")


def test_one_part_speaks_for_itself():
    found = _reading(READING, [part("a", "supported")])
    assert (found.outcome, found.detail) == ("supported", "")
    assert found.effect.name == "effect of a"


def test_of_several_parts_those_that_decide_are_named():
    both = _reading(READING, [part("a", "supported"), part("b", "supported")])
    assert both.outcome == "supported"
    assert both.detail == "a: supported; b: supported"
    fails = _reading(READING, [part("a", "supported"), part("b", "contradicted")])
    assert fails.outcome == "contradicted"
    assert fails.effect.name == "effect of b"
    assert fails.detail == "b: contradicted"
    open_ = _reading(READING, [part("a", "supported"), part("b", "inconclusive")])
    assert (open_.outcome, open_.detail) == ("inconclusive", "b: inconclusive")
    assert [p.name for p in open_.parts] == ["a", "b"]


OUTCOMES = ("supported", "contradicted", "inconclusive", "not_applicable")


@pytest.mark.parametrize("count", [1, 2, 3])
def test_rule_1_over_every_combination(count):
    for allowed in itertools.product(OUTCOMES, repeat=count):
        expected = "inconclusive"
        if "supported" in allowed and "contradicted" in allowed:
            expected = "depends"
        elif all(outcome == "supported" for outcome in allowed):
            expected = "supported"
        elif all(outcome == "contradicted" for outcome in allowed):
            expected = "contradicted"
        assert _together(allowed) == expected, allowed
