"""Each law from both sides: what it supports, what it contradicts, and what it leaves open."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

from attnlab.claims import Axis
from attnlab.core import Record, setting
from attnlab.evidence.intervals import Interval
from attnlab.evidence.laws import (
    AtLeast,
    AtMost,
    Between,
    Equal,
    Monotone,
    Power,
    Rate,
    Share,
    Straight,
    stored,
)
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.threshold_laws import Prefers, Sufficient, Threshold, ThresholdRatio

VALUE = stored("value", "the value")


@dataclass(frozen=True)
class Cell:
    x: float = setting(1.0, origin="ours", help="x")
    N: int = setting(1, origin="ours", help="size")
    arm: str = setting("b", origin="ours", help="arm")


def record(value, cell=Cell(), seed=0, diverged=""):  # noqa: B008
    return Record("p.s", cell, seed, {"value": np.float64(value)}, diverged)


def runs(values, **more):
    return [record(v, seed=k, **more) for k, v in enumerate(values)]


def sweep(value, xs=(1.0, 4.0, 16.0, 64.0), seeds=6, noise=0.02):
    random = np.random.default_rng(0)
    return [
        record(value(x) * math.exp(noise * random.normal()), Cell(x), seed)
        for x in xs
        for seed in range(seeds)
    ]


def pairs(a, b):
    return [record(v, Cell(arm="a"), k) for k, v in enumerate(a)] + [
        record(v, Cell(arm="b"), k) for k, v in enumerate(b)
    ]


def trials(needed, xs=(1, 2, 4, 8, 16, 32), seeds=8, arms=(("b", 1.0),)):
    random = np.random.default_rng(0)
    found = []
    for x, (arm, factor) in itertools.product(xs, arms):
        middle = needed(x) * factor
        for n in np.geomspace(middle / 6, middle * 6, 9).astype(int).tolist():
            won = random.uniform(size=seeds) < 1 / (1 + (middle / n) ** 8)
            found += [record(w, Cell(x, n, arm), seed) for seed, w in enumerate(won)]
    return found


X = Axis("x", lambda c: c.x)
NEAR = [0.98, 1.0, 1.02, 0.99, 1.01, 1.0]
SPREAD = np.exp(np.random.default_rng(1).normal(size=30))

CASES = {
    "at most, every": (AtMost(1.0), runs([0.2, 1.0]), runs([0.2, 1.1]), None),
    "at least, every": (AtLeast(1.0), runs([1.0, 9]), runs([9, 0.9]), None),
    "between, every": (Between(0, 1), runs([0, 1]), runs([0.5, -0.1]), None),
    "equal, every": (Equal(1, 1e-9), runs([1, 1 + 1e-10]), runs([1, 1 + 1e-8]), None),
    "mean": (AtMost(1.5, "mean"), runs(NEAR), runs(np.add(NEAR, 1)), runs([0, 3])),
    "median": (AtMost(1.5, "median"), runs(NEAR), runs(np.add(NEAR, 1)), runs([1, 2, 1.4, 1.6])),
    "share": (
        Share(AtMost(1), 0.9),
        runs([0.5] * 50),
        runs([0.5, 2] * 20),
        runs([0.5] * 10),
    ),
    "share at most": (
        Share(AtMost(1), 0.1, at_most=True),
        runs([2.0] * 50),
        runs([0.5, 2] * 20),
        runs([2.0] * 10),
    ),
    "certificate": (
        Share(AtMost(1), 0.99, exact=True),
        runs([0.5] * 299),
        runs([0.5] * 90 + [2] * 10),
        runs([0.5] * 298),
    ),
    "rate": (
        Rate("N", 0.9),
        runs([100] * 4, cell=Cell(N=100)),
        runs([80] * 4, cell=Cell(N=100)),
        runs([9], cell=Cell(N=10)),
    ),
    "power": (
        Power("x", 0.5),
        sweep(lambda x: x**0.5),
        sweep(lambda x: x),
        sweep(lambda x: x**0.5, noise=2.0),
    ),
    "power at most": (
        Power("x", 0.5, "at_most"),
        sweep(lambda x: x**0.1),
        sweep(lambda x: x),
        sweep(lambda x: x**0.5, xs=(1.0, 2.0)),
    ),
    "power at least": (
        Power("x", 0.5, "at_least"),
        sweep(lambda x: x),
        sweep(lambda x: x**-1),
        sweep(lambda x: x, noise=5.0),
    ),
    "straight": (
        Straight("x"),
        sweep(lambda x: 2 + x, (1, 2, 3, 4, 5, 6)),
        sweep(lambda x: 1 / x**3, (1, 2, 3, 4, 5, 6)),
        sweep(lambda x: x, (1, 2, 3)),
    ),
    "monotone": (
        Monotone("x"),
        sweep(lambda x: x),
        sweep(lambda x: 1 / x),
        sweep(lambda x: 1.0, noise=1.0),
    ),
    "monotone down": (
        Monotone("x", "decreasing"),
        sweep(lambda x: 1 / x),
        sweep(lambda x: x),
        sweep(lambda x: x, xs=(1.0, 2.0)),
    ),
    "ratio": (
        Paired("arm", "a", "b", AtMost(0.5)),
        pairs(0.2 * SPREAD, SPREAD),
        pairs(2 * SPREAD, SPREAD),
        pairs(0.5 * SPREAD, SPREAD[::-1]),
    ),
    "difference": (
        Paired("arm", "a", "b", AtLeast(1.0), "difference"),
        pairs(SPREAD + 2 + 0.1 * SPREAD[::-1], SPREAD),
        pairs(SPREAD - 0.1 * SPREAD[::-1], SPREAD),
        pairs([1.0], [0.0]),
    ),
    "spread": (
        Paired("arm", "a", "b", AtMost(0.5), "spread"),
        pairs(SPREAD**0.1, SPREAD),
        pairs(SPREAD**3, SPREAD),
        pairs(SPREAD**0.5, SPREAD[::-1]),
    ),
    "agreement": (
        Paired("arm", "a", "b", AtLeast(0.8), "agreement"),
        pairs([1.0] * 40, [1.0] * 40),
        pairs([1.0] * 40, [0.0] * 40),
        pairs([1.0] * 4, [1.0] * 4),
    ),
    "threshold": (
        Threshold(Power("x", 1.0, tolerance=0.2)),
        trials(lambda x: 50 * x),
        trials(lambda x: 50 * x**2),
        trials(lambda x: 50 * x, xs=(1, 2)),
    ),
    "threshold ratio": (
        ThresholdRatio("arm", "a", "b", X, AtLeast(2.0)),
        trials(lambda x: 50 * x, (1, 2, 4), arms=(("a", 4.0), ("b", 1.0))),
        trials(lambda x: 50 * x, (1, 2, 4), arms=(("a", 1.0), ("b", 1.0))),
        trials(lambda x: 50 * x, (1, 2), arms=(("a", 2.0), ("b", 1.0))),
    ),
    "prefers": (
        Prefers(X, (Axis("x^2", lambda c: c.x**2),)),
        trials(lambda x: 50 * x),
        trials(lambda x: 50 * x**2),
        trials(lambda x: 50 * x**1.5),
    ),
    "sufficient": (
        Sufficient(X, X),
        trials(lambda x: 50 * x),
        trials(lambda x: 50 * x**1.7),
        trials(lambda x: 50 * x, xs=(1, 2)),
    ),
}  # fmt: skip


def test_a_flat_line_is_no_rising_line():
    flat = Straight("x").judge(sweep(lambda x: 2.0, noise=0.0), VALUE, 0.95)
    assert flat.outcome == "contradicted"
    assert flat.effect.value == 0


def test_three_thresholds_are_too_few_to_prefer_a_law():
    law = Prefers(X, (Axis("x^2", lambda c: c.x**2),))
    found = law.judge(trials(lambda x: 50 * x, xs=(1, 2, 4)), VALUE, 0.95)
    assert found.outcome == "inconclusive"
    assert "3 cells only" in found.detail


@pytest.mark.parametrize("name", CASES)
def test_each_law_from_both_sides(name):
    law, holds, fails, open_ = CASES[name]
    assert law.judge(holds, VALUE, 0.95).outcome == "supported"
    assert law.judge(fails, VALUE, 0.95).outcome == "contradicted"
    if open_ is not None:
        assert law.judge(open_, VALUE, 0.95).outcome == "inconclusive"
    assert law.judge([], VALUE, 0.95).outcome == "inconclusive"


@pytest.mark.parametrize("name", CASES)
def test_each_law_says_its_cutoff_and_effect_in_words(name):
    law, holds, _, _ = CASES[name]
    assert law.cutoff()
    assert not {"_", "inf", "nan"} & set(law.cutoff().split())
    effect = law.judge(holds, VALUE, 0.95).effect
    assert effect is not None
    assert "value" in effect.name or "N50" in effect.name or "held-out" in effect.name or (
        "weight" in effect.name
    )  # fmt: skip
    assert effect.low <= effect.value <= effect.high


@pytest.mark.parametrize("name", CASES)
def test_a_wider_level_never_decides_more(name):
    law, holds, fails, _ = CASES[name]
    for found in (holds, fails):
        at = [law.judge(found, VALUE, level).effect for level in (0.95, 0.999)]
        if at[0] and at[1] and at[0].name == at[1].name and not at[0].exact:
            assert at[1].low <= at[0].low <= at[0].high <= at[1].high


# --- runs that diverged or have no number -----------------------------------------------------


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (1.9, 2.1, "supported"),
        (1.89, 2.0, "inconclusive"),
        (2.0, 2.11, "inconclusive"),
        (1.0, 3.0, "inconclusive"),
        (1.5, 1.89, "contradicted"),
        (2.11, math.inf, "contradicted"),
        (-math.inf, math.inf, "inconclusive"),
        (math.nan, 2.0, "inconclusive"),
        (2.0, math.nan, "inconclusive"),
    ],
)
def test_an_interval_inside_a_range_supports_one_apart_contradicts(low, high, outcome):
    assert Equal(2.0, 0.1).decide(Interval(low, low, high)) == outcome


def test_a_run_without_the_number_contradicts_a_law_of_every_run():
    found = AtMost(1.0).judge([*runs([0.5]), record(0.5, diverged="grew")], VALUE, 0.95)
    assert found.outcome == "contradicted"
    assert "not a number in 1 of 2" in found.detail


@pytest.mark.parametrize("law", [AtMost(2, "mean"), AtMost(2, "median"), Power("x", 0.0)])
def test_too_many_runs_without_the_number_contradict_a_few_are_left_out(law):
    good = sweep(lambda x: 1.0, seeds=20)
    few = [*good, record(math.nan, seed=99)]
    assert law.judge(few, VALUE, 0.95).outcome == "supported"
    many = [*good[:40], *runs([math.nan] * 40)]
    found = law.judge(many, VALUE, 0.95)
    assert found.outcome == "contradicted"
    assert found.effect is not None
    assert found.effect.name == "share of runs that have the value"
    assert law.judge(runs([math.nan] * 2), VALUE, 0.95).outcome in ("inconclusive", "contradicted")


def test_a_diverged_run_counts_against_a_share():
    law = Share(AtMost(1.0), 0.5)
    assert law.judge(runs([0.0] * 20, diverged="grew"), VALUE, 0.95).outcome == "contradicted"


def test_a_diverged_trial_failed():
    good = trials(lambda x: 50 * x)
    assert Sufficient(X, X).judge(good, VALUE, 0.95).outcome == "supported"
    lost = [replace(r, diverged="grew") for r in good]
    assert Sufficient(X, X).judge(lost, VALUE, 0.95).outcome == "inconclusive"


def test_a_threshold_below_the_smallest_size_contradicts_any_law_of_it():
    at_once = [record(1.0, Cell(x, n), s) for x in (1, 2, 4) for n in (8, 16) for s in range(8)]
    found = Threshold(Power("x", 1.0)).judge(at_once, VALUE, 0.95)
    assert found.outcome == "contradicted"
    assert "smallest size" in found.detail


def test_held_out_failures_without_growth_do_not_contradict_what_suffices():
    """Only a needed constant that grows along the path does (court: sufficient)."""
    found = Sufficient(X, X, probability=0.999).judge(trials(lambda x: 50 * x), VALUE, 0.95)
    assert found.outcome == "inconclusive"
    assert found.effect is not None
    assert found.effect.high < 0.999


# --- the flip test ----------------------------------------------------------------------------


def test_a_cutoff_of_the_paper_does_not_move_and_one_of_ours_needs_its_trivial_value():
    assert AtMost(1.0).moved(2.0) == AtMost(1.0)
    assert Power("x", 1.0, owner="paper").moved(2.0) == Power("x", 1.0, owner="paper")
    assert Straight("x", owner="paper").moved(2.0) == Straight("x", owner="paper")
    with pytest.raises(ValueError, match="trivial"):
        AtMost(1.0, owner="ours")


def test_a_cutoff_of_ours_moves_in_its_distance_to_the_trivial_value():
    law = AtLeast(0.9, owner="ours", trivial=1.0)
    assert [law.moved(f).low for f in (0.5, 2.0)] == pytest.approx([0.95, 0.8])
    two_sided = Between(0.0, 1.0, owner="ours")
    assert (two_sided.moved(2.0).low, two_sided.moved(2.0).high) == (-0.5, 1.5)
    assert [Share(AtMost(1), 0.9).moved(f).probability for f in (0.5, 2)] == pytest.approx(
        [0.95, 0.8]
    )
    assert Share(AtMost(1), 0.1, at_most=True).moved(2).probability == pytest.approx(0.2)
    assert Power("x", 1.0, tolerance=0.1).moved(0.5).tolerance == 0.05
    assert Straight("x", 0.9).moved(2.0).least == pytest.approx(0.8)
    assert Threshold(Power("x", 1.0)).moved(2.0).law == Power("x", 1.0, tolerance=0.2)
    assert Rate("N", 0.9).moved(2.0).probability == pytest.approx(0.8)
    assert Sufficient(X, X, 0.5).moved(0.5).probability == 0.75
    assert Equal(1.0, 0.1).moved(2.0).high == pytest.approx(1.2)  # fmt: skip


def test_a_ratio_moves_in_the_logarithm():
    law = Paired("arm", "a", "b", AtMost(0.5, owner="ours", trivial=1.0))
    assert law.moved(2.0).inside.high == pytest.approx(0.25)
    assert law.moved(0.5).inside.high == pytest.approx(math.sqrt(0.5))
    band = Paired("arm", "a", "b", Between(0.5, 2.0, owner="ours"))
    assert (band.moved(2.0).inside.low, band.moved(2.0).inside.high) == pytest.approx((0.25, 4.0))
    least = Paired("arm", "a", "b", AtLeast(0.8, owner="ours", trivial=1.0), "agreement")
    assert least.moved(2.0).inside.low == pytest.approx(0.6)  # a share is no ratio


# --- decades ----------------------------------------------------------------------------------


def test_decades_are_those_of_the_predicted_quantity():
    cells = [Cell(x) for x in (1.0, 10.0, 100.0)]
    assert Power("x", 1.0).decades(cells) == pytest.approx(2.0)
    assert Power("x", -0.5).decades(cells) == pytest.approx(1.0)
    assert Power("x", 0.0).decades(cells) == pytest.approx(2.0)
    assert Threshold(Power("x", 2.0)).decades(cells) == pytest.approx(4.0)
    assert Power("x", 1.0).decades([]) == 0.0
