"""Ranges, shares and rates: their examples, cutoffs that move, and their words."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from attnlab.core import Record
from attnlab.evidence.intervals import Interval
from attnlab.evidence.laws import AtLeast, AtMost, Between, Equal, Rate, Share, stored
from attnlab.evidence.level_laws import Range

CELL = SimpleNamespace(trials=7)
VALUE = stored("value", "the value")


def runs(*values):
    return [Record("s", CELL, k, {"value": np.float64(x)}) for k, x in enumerate(values)]


@pytest.mark.parametrize(
    ("law", "value"),
    [
        (AtMost(3.0), 1.5), (AtMost(0.0), -1.0), (AtMost(-2.0), -5.0), (AtLeast(3.0), 6.0),
        (AtLeast(0.0), 1.0), (AtLeast(-2.0), 0.0), (Between(1.0, 4.0), 2.5), (Equal(2.0, 0.5), 2.0),
    ],
)  # fmt: skip
def test_an_example_is_well_inside(law, value):
    assert law.example(CELL) == value
    assert law.holds(value)
    assert Share(law).example(CELL) == value


def test_the_example_of_a_rate_is_every_trial():
    assert Rate("trials", 0.9).example(CELL) == 7


@pytest.mark.parametrize("over", ["mean", "median"])
@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (1.0, 2.0, "supported"), (1.2, 1.8, "supported"), (0.9, 2.0, "inconclusive"),
        (1.0, 2.1, "inconclusive"), (2.0, 3.0, "inconclusive"), (2.1, 3.0, "contradicted"),
        (0.0, 1.0, "inconclusive"), (0.0, 0.9, "contradicted"), (math.nan, 1.5, "inconclusive"),
        (1.5, math.nan, "inconclusive"),
    ],
)  # fmt: skip
def test_an_interval_inside_beside_and_across(over, low, high, outcome):
    law = Between(1.0, 2.0, over)
    assert law.estimated
    assert law.decide(Interval(1.5, low, high)) == outcome


@pytest.mark.parametrize(
    ("law", "values", "worst", "outcome", "word"),
    [
        (AtMost(1.0), (0.2, 1.0, 0.5), 1.0, "supported", "largest"),
        (AtMost(1.0), (0.2, 1.1, 0.5), 1.1, "contradicted", "largest"),
        (AtLeast(1.0), (1.0, 2.0), 1.0, "supported", "smallest"),
        (AtLeast(1.0), (0.9, 2.0), 0.9, "contradicted", "smallest"),
        (Between(1.0, 2.0), (1.1, 1.5), 1.1, "supported", "worst"),
        (Between(1.0, 2.0), (0.5, 2.1), 0.5, "contradicted", "worst"),
        (Between(1.0, 2.0), (0.9, 2.5), 2.5, "contradicted", "worst"),
    ],
)
def test_every_run_is_judged_by_the_worst(law, values, worst, outcome, word):
    assert not law.estimated
    found = law.judge(runs(*values), VALUE, 0.95)
    assert (found.outcome, found.effect.value) == (outcome, worst)
    assert found.effect.name == f"{word} the value"


def test_no_run_decides_nothing():
    for law in (AtMost(1.0), Share(AtMost(1.0)), Rate("trials", 0.5)):
        assert law.judge([], VALUE, 0.95).outcome == "inconclusive"


def test_a_cutoff_of_ours_moves_about_what_says_nothing():
    """Halved and doubled: its distance to the trivial value, or to the middle of two ends."""
    assert Equal(2.0, 0.5).moved(2) == Range(1.0, 3.0, "every", "ours")
    assert Equal(2.0, 0.5).moved(0.5) == Range(1.75, 2.25, "every", "ours")
    ours = AtLeast(0.9, owner="ours", trivial=1.0)
    assert ours.moved(2).low == pytest.approx(0.8)
    assert ours.moved(0.5).low == pytest.approx(0.95)
    assert math.isinf(ours.moved(2).high)
    below = AtMost(0.3, owner="ours", trivial=0.1)
    assert below.moved(2).high == pytest.approx(0.5)
    assert AtMost(1.0).moved(2) == AtMost(1.0)  # the paper's
    with pytest.raises(ValueError, match="needs the trivial value"):
        AtMost(1.0, owner="ours")


def test_a_share_moves_towards_all_or_none_and_stays_a_share():
    inside = AtMost(1.0)
    assert Share(inside, 0.9).moved(2).probability == pytest.approx(0.8)
    assert Share(inside, 0.9).moved(0.5).probability == pytest.approx(0.95)
    assert Share(inside, 0.4).moved(2).probability == 0
    assert Share(inside, 0.1, at_most=True).moved(2).probability == pytest.approx(0.2)
    assert Share(inside, 0.6, at_most=True).moved(2).probability == 1
    assert Share(inside, 0.9, owner="paper").moved(2).probability == 0.9
    own = Share(AtMost(0.3, owner="ours", trivial=0.0), 0.9, owner="paper").moved(2)
    assert own.inside.high == pytest.approx(0.6)
    assert Rate("trials", 0.9).moved(2).probability == pytest.approx(0.8)
    assert Rate("trials", 0.4).moved(2).probability == 0
    assert Rate("trials", 0.9, owner="paper").moved(2).probability == 0.9


@pytest.mark.parametrize(
    ("law", "words"),
    [
        (AtMost(1.0), "at most 1 in every run"), (AtLeast(2.0, "mean"), "at least 2"),
        (Between(1.0, 2.0, "median"), "between 1 and 2"),
        (Equal(3.0, 1e-9), "3 to within 1e-09 in every run"),
        (Equal(0.0, 1e-6, "mean"), "between -1e-06 and 1e-06"),
        (Share(AtMost(1.0), 0.9), "at most 1 in at least 0.9 of the runs"),
        (Share(AtMost(1.0), 0.2, at_most=True), "at most 1 in at most 0.2 of the runs"),
        (Rate("trials", 0.75), "at least 0.75 of the trials"),
        (AtMost(1 + 1e-9), "at most 1 in every run"), (AtLeast(5e-324), "at least 0 in every run"),
        (AtMost(1e-8), "at most 1e-08 in every run"),
    ],
)  # fmt: skip
def test_the_decision_line_in_words(law, words):
    assert law.cutoff() == words


def test_a_share_counts_the_runs_inside():
    found = Share(AtMost(1.0), 0.5).judge(runs(*[0.5] * 38, 2.0, math.nan), VALUE, 0.95)
    assert (found.outcome, found.detail) == ("supported", "38 of 40")
    assert found.effect.value == pytest.approx(0.95, abs=0.03)
    turned = Share(AtMost(1.0), 0.5, at_most=True).judge(runs(*[0.5] * 38, 2, 2), VALUE, 0.95)
    assert turned.outcome == "contradicted"


def test_299_of_299_certify_99_in_a_hundred_and_298_do_not():
    law = Share(AtMost(1.0), 0.99, exact=True)
    assert law.judge(runs(*[0.5] * 299), VALUE, 0.95).outcome == "supported"
    assert law.judge(runs(*[0.5] * 298), VALUE, 0.95).outcome == "inconclusive"
    never = Share(AtMost(1.0), 0.01, exact=True, at_most=True)
    assert never.judge(runs(*[2.0] * 299), VALUE, 0.95).outcome == "supported"
    assert never.judge(runs(*[2.0] * 298), VALUE, 0.95).outcome == "inconclusive"


def test_a_rate_pools_the_trials():
    found = Rate("trials", 0.5).judge(runs(7, 6, math.nan, 7), VALUE, 0.95)
    assert (found.outcome, found.detail) == ("supported", "20 of 28")
    assert found.effect.value == pytest.approx(20 / 28)
