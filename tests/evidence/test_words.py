"""Numbers, intervals and conditions as words, case by case."""

import math

import pytest

from attnlab.claims import Constant, Effect, Hypothesis
from attnlab.evidence import words


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "–"),
        (math.nan, "not a number"),
        (math.inf, "infinite"),
        (-math.inf, "minus infinite"),
        (-0.0, "0"),
        (1 / 3, "0.3333"),
        (-2.0, "-2"),
    ],
)
def test_numbers(value, text) -> None:
    assert words.number(value) == text


def test_digits() -> None:
    assert words.number(1 / 3, 2) == "0.33"


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (1.0, 0.5, 2.0, " [0.5, 2]"),
        (1.0, 1.0, 1.0, ""),
        (1.0, 1.0 - 1e-14, 1.0 + 1e-14, ""),
        (1.0, 1.0, 1.1, " [1, 1.1]"),
        (1.0, math.nan, 2.0, " (no interval)"),
        (1.0, 0.5, math.nan, " (no interval)"),
        (1.0, -math.inf, math.inf, " (unbounded)"),
        (1.0, -math.inf, 2.0, " [no lower end, 2]"),
        (1.0, 0.5, math.inf, " [0.5, no upper end]"),
    ],
)
def test_intervals(value, low, high, text) -> None:
    effect = Effect("x", value, low, high)
    assert words.interval(effect) == text
    assert words.effect_text(effect) == f"x: 1{text}"


def test_effects_without_interval() -> None:
    assert words.interval(Effect.exactly("x", 2.0)) == ""
    assert words.effect_text(None) == "–"


def test_constants_and_owners() -> None:
    assert words.constant_text(Constant("C", "unknown")) == "C (unknown)"
    assert words.constant_text(Constant("C", "given", 2.0)) == "C = 2 (given)"
    fitted = Constant("C", "fitted", 2.0, 1.0, 3.0)
    assert words.constant_text(fitted) == "C = 2 [1, 3] (fitted)"
    assert words.constant_text(Constant("C", "fitted", 2.0, 1.0)) == "C = 2 (fitted)"
    assert words.owned("at most 1", "paper") == "at most 1 (the paper's)"
    assert words.owned("at most 1", "ours") == "at most 1 (ours)"


@pytest.mark.parametrize(
    ("threshold", "relation", "text"),
    [
        (2.0, ">=", "at least 2"),
        (2.0, "<=", "at most 2"),
        (2.0, "==", "exactly 2"),
        (math.nan, ">=", "–"),
        (math.inf, "<=", "nothing (any value will do)"),
        (-math.inf, ">=", "nothing (any value will do)"),
        (math.inf, ">=", "more than any finite value"),
    ],
)
def test_requirements(threshold, relation, text) -> None:
    assert words.requirement(Hypothesis("x", 1.0, threshold, relation)) == text


def test_how_far_a_condition_is_missed() -> None:
    met, missed = Hypothesis("x", 3.0, 2.0), Hypothesis("x", 1.0, 4.0)
    unknown = Hypothesis("x", 1.0, 4.0, ">=", "unknown")
    assert words.miss_text(met) == "–"
    assert words.miss_text(missed) == "×4"
    assert words.miss_text(unknown) == "×4 at constant 1"
    assert words.miss_text(Hypothesis("x", 3.0, 2.0, ">=", "unknown")) == "–"
    assert words.shortfall(missed) == "x is 1, needs at least 4 (missed by a factor of 4)"
    assert [words.met_text(x) for x in (None, True, False)] == ["unknown", "yes", "no"]


def test_long_lists_are_cut() -> None:
    assert words.listed("abcd") == "a; b; c; d"
    assert words.listed("abcdef") == "a; b; c; d; and 2 more"
    assert words.listed("abc", 2) == "a; b; and 1 more"
    assert words.values_text([1, 0.5, "x"]) == "1, 0.5, x"
    assert words.values_text(range(8)) == "0, 1, 2, 3, 4, 5, 6, 7"
    assert words.values_text(range(9)) == "0, 1, 2, 3, …, 6, 7, 8"
