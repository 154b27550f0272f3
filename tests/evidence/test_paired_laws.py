"""Statistics of pairs, by hand on a few pairs."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from attnlab.core import Record
from attnlab.evidence.intervals import bootstrap_interval, mean_interval, share_interval
from attnlab.evidence.laws import AtLeast, AtMost, Between, stored
from attnlab.evidence.paired_laws import Paired, _log_spread

VALUE = stored("value", "the value")
A = [2.0, 6.0, 1.0, 8.0, 3.0]
B = [1.0, 2.0, 1.0, 2.0, 4.0]


@dataclass(frozen=True)
class Cell:
    arm: str = "b"
    n: int = 1


def runs(a=A, b=B, n=1):
    for arm, values in (("a", a), ("b", b)):
        for seed, value in enumerate(values):
            yield Record("p.s", Cell(arm, n), seed, {"value": np.float64(value)})


def found(statistic, records=None, **options):
    law = Paired("arm", "a", "b", Between(0.0, 100.0), statistic, **options)
    return law.judge(list(runs() if records is None else records), VALUE, 0.95)


def test_ratio_difference_spread_and_agreement():
    logs = mean_interval(np.log(A) - np.log(B))
    effect = found("ratio").effect
    assert effect.value == pytest.approx(np.prod(np.divide(A, B)) ** 0.2)
    assert (effect.low, effect.high) == pytest.approx((math.exp(logs.low), math.exp(logs.high)))
    assert effect.name == "the value with arm a over b"

    effect, plain = found("difference").effect, mean_interval(np.subtract(A, B))
    assert (effect.value, effect.low, effect.high) == pytest.approx((2.0, plain.low, plain.high))
    assert effect.name == "the value with arm a minus b"

    effect = found("spread").effect
    assert effect.value == pytest.approx(np.std(np.log(A)) / np.std(np.log(B)))
    logs = bootstrap_interval(_log_spread, np.log(A), np.log(B))
    assert (effect.low, effect.high) == pytest.approx((math.exp(logs.low), math.exp(logs.high)))

    effect, share = found("agreement").effect, share_interval(1, 5)
    assert (effect.value, effect.low, effect.high) == pytest.approx((0.2, share.low, share.high))
    assert effect.name == "share of pairs with the same the value with arm a and b"
    assert found("ratio").detail == "5 pairs, means 4 and 2"


def test_pairs_have_the_seed_and_the_named_settings_in_common():
    records = [*runs([2.0, 4.0], [1.0, 1.0]), *runs([30.0, 30.0], [1.0, 1.0], n=2)]
    by_size = found("difference", records, by=("n",))
    assert by_size.effect.value == pytest.approx((1 + 3 + 29 + 29) / 4)
    # A run without a partner is no pair.
    lonely = [r for r in records if (r.cell.arm, r.cell.n, r.seed) != ("b", 1, 1)]
    assert found("difference", lonely, by=("n",)).effect.value == pytest.approx((1 + 29 + 29) / 3)
    one = found("ratio", list(runs([1.0], [2.0])))
    assert (one.outcome, one.effect, one.detail) == ("inconclusive", None, "1 pairs of runs")
    assert found("ratio", list(runs([1.0, 2.0], [2.0, 1.0]))).effect is not None


def test_a_ratio_of_nothing_is_lifted_to_the_floor():
    got = found("ratio", list(runs([0.0, 0.5], [1.0, 1.0])), floor=0.25)
    assert got.effect.value == pytest.approx(math.sqrt(0.25 * 0.5))
    # Without a floor a zero has no logarithm: the pair is left out.
    left = found("ratio", list(runs([0.0, 0.5], [1.0, 1.0])))
    assert left.effect.value == pytest.approx(0.5)
    assert left.detail == "1 pairs, means 0.5 and 1"
    assert found("difference", list(runs([0.0, 0.5], [1.0, 1.0]))).effect.value == -0.75


def test_the_largest_level_can_be_asked_for():
    records = [
        Record("p.s", Cell("b", n), seed, {"value": np.float64(n * (1 + seed))})
        for n in (1, 2, 8)
        for seed in range(3)
    ]
    law = Paired("n", max, 1, AtLeast(4.0))
    assert law.judge(records, VALUE, 0.95).effect.value == pytest.approx(8.0)
    assert law.judge([], VALUE, 0.95).outcome == "inconclusive"


def test_ranges_move_in_the_logarithm_around_what_is_trivial_or_their_middle():
    moved = Paired("arm", "a", "b", Between(2.0, 8.0, owner="ours")).moved(0.5).inside
    assert (moved.low, moved.high) == pytest.approx((4 / math.sqrt(2), 4 * math.sqrt(2)))
    paper = Paired("arm", "a", "b", AtMost(0.5))
    assert paper.moved(2.0) == paper
    spread = Paired("arm", "a", "b", AtMost(0.5, owner="ours", trivial=2.0), "spread")
    assert spread.moved(2.0).inside.high == pytest.approx(2 * 0.25**2)


def test_examples_make_the_statistic_hold():
    ratio = Paired("arm", "a", "b", AtMost(0.5))
    assert ratio.example(Cell("b")) == 1.0
    assert ratio.example(Cell("a")) <= 0.5
    difference = Paired("arm", "a", "b", AtLeast(3.0), "difference")
    assert difference.example(Cell("a")) - difference.example(Cell("b")) >= 3.0
    assert Paired("arm", "a", "b", AtLeast(0.8), "agreement").example(Cell("a")) == 1.0


def test_a_huge_ratio_is_cut_before_it_overflows():
    got = found("ratio", list(runs([1e300, 1e305], [1e-300, 1e-300])))
    assert math.isfinite(got.effect.value)
