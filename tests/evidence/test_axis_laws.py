"""Powers, lines and trends along an axis: examples, words and effects by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from attnlab.core import Record
from attnlab.evidence.laws import Monotone, Power, Straight, stored

VALUE = stored("value", "the value")


def runs(table, xs):
    """A row of values by level for every seed."""
    return [
        Record("s", SimpleNamespace(x=x), seed, {"value": np.float64(value)})
        for seed, row in enumerate(table)
        for x, value in zip(xs, row, strict=True)
    ]


def test_examples_follow_their_law():
    cell = SimpleNamespace(x=9.0)
    assert Power("x", 0.5).example(cell) == 3
    assert Power("x", -1.0).example(cell) == pytest.approx(1 / 9)
    assert Straight("x").example(cell) == 10
    assert Monotone("x").example(cell) == 9
    assert Monotone("x", "decreasing").example(cell) == -9


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (Power("x", 2.0, tolerance=0.5), "within 2 ± 0.5"),
        (Power("x", 2.0, "at_most", 0.5), "at most 2 + 0.5"),
        (Power("x", 2.0, "at_least", 0.5), "at least 2 − 0.5"),
        (Power("x", 2.0, "at_least", 0.0), "at least 2"),
        (Straight("x", 0.9), "R^2 at least 0.9"),
        (Monotone("x", "decreasing"), "Page's test decreasing at p < 0.01"),
    ],
)
def test_the_decision_line_in_words(law, words):
    assert law.cutoff() == words


@pytest.mark.parametrize(
    ("relation", "exponent", "outcome"),
    [
        ("equal", 1.05, "supported"), ("equal", 1.3, "contradicted"),
        ("equal", 0.7, "contradicted"),
        ("at_most", 1.05, "supported"), ("at_most", 0.3, "supported"),
        ("at_most", 1.3, "contradicted"), ("at_least", 0.95, "supported"),
        ("at_least", 2.0, "supported"), ("at_least", 0.7, "contradicted"),
    ],
)  # fmt: skip
def test_an_exponent_beside_the_stated_one(relation, exponent, outcome):
    xs = (1.0, 3.0, 10.0, 30.0)
    table = [[c * x**exponent for x in xs] for c in (1.0, 1.001, 0.999)]
    found = Power("x", 1.0, relation).judge(runs(table, xs), VALUE, 0.95)
    assert (found.outcome, found.detail) == (outcome, "")
    assert found.effect.value == pytest.approx(exponent, abs=1e-3)
    assert found.effect.name == "exponent of the value in x"


def test_a_few_runs_without_a_number_are_said_and_infinite_places_left_out():
    xs = (1.0, 3.0, 10.0, 30.0, math.inf)
    table = [[x if math.isfinite(x) else 7.0 for x in xs] for _ in range(8)]
    table[2][1], table[3][0] = math.nan, -1.0
    found = Power("x", 1.0).judge(runs(table, xs), VALUE, 0.95)
    assert (found.outcome, found.detail) == ("supported", "2 of 40 runs do not have it")
    few = Power("x", 1.0).judge(runs([[1.0, 2.0]], (1.0, 2.0)), VALUE, 0.95)
    assert few.outcome == "inconclusive"
    assert "the runs have 2 levels of x" in few.detail
    one = Power("x", 1.0).judge(runs([[1.0]], (1.0,)), VALUE, 0.95)
    assert "1 level of x" in one.detail
    assert Power("x", 1.0).judge([], VALUE, 0.95).outcome == "inconclusive"


def test_r_squared_by_its_formula():
    xs = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
    y = np.array([1.0, 2.5, 3.0, 9.0, 15.0])
    found = Straight("x").judge(runs([y - 0.5, y + 0.5], xs), VALUE, 0.95)

    def squared(keep):
        a, b = xs[keep] - xs[keep].mean(), y[keep] - y[keep].mean()
        return (a @ b) ** 2 / ((a @ a) * (b @ b))

    every = np.arange(5)
    without = [squared(every[every != k]) for k in range(5)]
    assert found.effect.value == pytest.approx(squared(every))
    assert found.effect.low == pytest.approx(min(without))
    assert found.effect.high == pytest.approx(max(without))
    falling = Straight("x").judge(runs([-xs], xs), VALUE, 0.95)
    assert (falling.outcome, falling.effect.value) == ("contradicted", 0.0)
    for levels in (3, 4):
        some = Straight("x").judge(runs([xs[:levels]], xs[:levels]), VALUE, 0.95)
        assert some.outcome == ("inconclusive" if levels == 3 else "supported")
    assert Straight("x").judge([], VALUE, 0.95).outcome == "inconclusive"


@pytest.mark.parametrize(("direction", "moved"), [("increasing", 5), ("decreasing", 1)])
def test_a_trend_counts_the_seeds_that_go_its_way(direction, moved):
    """Five seeds rise from the first to the last level and one falls; one has a hole."""
    table = [[1.0, 2.0, 3.0, 4.0]] * 5 + [[4.0, 3.0, 2.0, 1.0], [1.0, math.nan, 3.0, 4.0]]
    found = Monotone("x", direction).judge(runs(table, (1.0, 2.0, 3.0, 4.0)), VALUE, 0.95)
    assert found.outcome == ("supported" if direction == "increasing" else "contradicted")
    assert found.effect.value == pytest.approx(moved / 6)
    assert f"is {direction} in x" in found.effect.name


def test_too_few_seeds_or_levels_decide_nothing():
    xs = (1.0, 2.0, 3.0)
    rising = [1.0, 2.0, 3.0]
    assert Monotone("x").judge(runs([rising], xs), VALUE, 0.95).outcome == "inconclusive"
    found = Monotone("x").judge(runs([rising[:2]] * 9, xs[:2]), VALUE, 0.95)
    assert (found.outcome, found.detail) == ("inconclusive", "9 whole seeds at 2 levels")
    assert Monotone("x").judge(runs([rising] * 6, xs), VALUE, 0.95).outcome == "supported"
    assert Monotone("x").judge([], VALUE, 0.95).outcome == "inconclusive"
    assert Monotone("x").moved(2.0) == Monotone("x")
