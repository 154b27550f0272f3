import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnlab.evidence.intervals import (
    bootstrap_interval,
    certified_probability,
    clopper_pearson,
    decide_at_least,
    exact_share,
    mean_interval,
    median_interval,
    share_interval,
    wilson,
)


def coverage_of_proportion(interval, trials: int, truths: np.ndarray) -> np.ndarray:
    """Exact: the binomial probability of the outcomes whose interval holds the truth."""
    ends = [interval(k, trials) for k in range(trials + 1)]
    held = np.array([[e.low <= p <= e.high for e in ends] for p in truths])
    return (stats.binom.pmf(np.arange(trials + 1), trials, truths[:, None]) * held).sum(axis=1)


def test_wilson_has_its_closed_form():
    z, n, p = stats.norm.ppf(0.975), 10, 0.8
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z * math.sqrt(p * (1 - p) / n + z**2 / (4 * n**2)) / (1 + z**2 / n)
    found = wilson(8, 10)
    assert (found.value, found.low, found.high) == pytest.approx((p, middle - half, middle + half))
    # Printed values: Newcombe (1998), Statist. Med. 17, 81 of 263.
    assert wilson(81, 263).low == pytest.approx(0.2553, abs=5e-5)
    assert wilson(81, 263).high == pytest.approx(0.3662, abs=5e-5)


def test_clopper_pearson_known_values():
    # No success in n trials: the upper end is 1 - (alpha / 2)^(1 / n).
    assert clopper_pearson(0, 20).low == 0
    assert clopper_pearson(0, 20).high == pytest.approx(1 - 0.025 ** (1 / 20))
    # Printed values: Newcombe (1998), Statist. Med. 17, 81 of 263.
    assert clopper_pearson(81, 263).low == pytest.approx(0.2527, abs=5e-5)
    assert clopper_pearson(81, 263).high == pytest.approx(0.3676, abs=5e-5)


@pytest.mark.parametrize("trials", [1, 7, 30])
def test_clopper_pearson_always_covers_and_wilson_covers_on_average(trials):
    truths = np.linspace(0.01, 0.99, 49)
    exact = coverage_of_proportion(clopper_pearson, trials, truths)
    score = coverage_of_proportion(wilson, trials, truths)
    assert min(exact) >= 0.95 - 1e-12
    assert 0.92 <= np.mean(score) <= 0.98
    if trials == 30:
        assert min(score) < 0.95 < min(exact), "Wilson is not the exact interval"


def test_no_trials_say_nothing_and_impossible_counts_are_refused():
    assert (wilson(0, 0).low, clopper_pearson(0, 0).high) == (0, 1)
    assert certified_probability(0, 0) == 0
    with pytest.raises(ValueError, match="successes=3 of trials=2"):
        wilson(3, 2)
    with pytest.raises(ValueError, match="level=95"):
        clopper_pearson(1, 2, level=95)


def test_299_successes_certify_99_percent_and_298_do_not():
    assert certified_probability(299, 299) >= 0.99 > certified_probability(298, 298)
    assert certified_probability(298, 299) < 0.99


def test_mean_interval_is_students():
    found = mean_interval([1.0, 2.0, 3.0])
    half = 4.302652729911275 / math.sqrt(3)  # t table: 2 degrees of freedom, s = 1
    assert (found.value, found.low, found.high) == pytest.approx((2, 2 - half, 2 + half))


def test_mean_interval_covers_at_its_level():
    random = np.random.default_rng(1)
    for level in (0.8, 0.95):
        found = [mean_interval(random.normal(3, 2, 5), level=level) for _ in range(2000)]
        assert np.mean([i.low <= 3 <= i.high for i in found]) == pytest.approx(level, abs=0.025)


def test_degenerate_means():
    constant = mean_interval([0.1] * 7)
    assert constant.low == constant.value == constant.high == 0.1
    assert (mean_interval([2.0]).low, mean_interval([2.0]).high) == (-math.inf, math.inf)
    for broken in ([], [1.0, math.nan], [1.0, math.inf]):
        assert math.isnan(mean_interval(broken).low)
        assert math.isnan(bootstrap_interval(np.mean, broken).low)


def test_bootstrap_covers_a_skewed_mean():
    random = np.random.default_rng(2)
    found = [
        bootstrap_interval(np.mean, random.exponential(1.0, 40), resamples=500, seed=i)
        for i in range(300)
    ]
    # BCa is below nominal on skewed data, but not by much.
    assert 0.88 <= np.mean([i.low <= 1 <= i.high for i in found]) <= 0.98


def test_bootstrap_is_deterministic_and_resamples_columns_together():
    x = np.random.default_rng(3).normal(size=30)
    y = 2 * x
    first, again = (bootstrap_interval(np.median, x, seed=5) for _ in range(2))
    assert first == again != bootstrap_interval(np.median, x, seed=6)

    def slope(a: np.ndarray, b: np.ndarray) -> float:
        return float(a @ b / (a @ a))

    paired = bootstrap_interval(slope, x, y, resamples=200)
    assert (paired.low, paired.high) == pytest.approx((2, 2))
    with pytest.raises(ValueError, match="one value per record"):
        bootstrap_interval(slope, x, y[:-1])


def test_bootstrap_of_degenerate_data_is_quiet_and_honest():
    same = bootstrap_interval(np.std, [4.0] * 9)
    assert (same.value, same.low, same.high) == (0, 0, 0)
    single = bootstrap_interval(np.mean, [4.0])
    assert (single.low, single.high) == (-math.inf, math.inf)
    # BCa is undefined for the maximum; the percentile interval takes over.
    largest = bootstrap_interval(np.max, [1.0, 2.0, 3.0])
    assert largest.low < largest.high == 3


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (1.0, 2.0, "supported"),
        (0.99, 2.0, "inconclusive"),
        (0.5, 1.0, "inconclusive"),
        (0.5, 0.99, "contradicted"),
        (-math.inf, math.inf, "inconclusive"),
        (math.nan, math.nan, "inconclusive"),
        (5.0, math.nan, "inconclusive"),
    ],
)
def test_decide_at_least(low, high, outcome):
    assert decide_at_least(low, high, 1.0) == outcome


def test_swapped_ends_are_refused():
    with pytest.raises(ValueError, match="swapped"):
        decide_at_least(2, 1, 0)


@settings(deadline=None)
@given(st.floats(-5, 5), st.floats(0, 5), st.floats(-5, 5), st.floats(0.01, 2), st.floats(0.01, 2))
def test_a_wider_interval_never_flips_a_decision(low, width, law, left, right):
    """Widening may only move an outcome to inconclusive."""
    high = low + width
    narrow = decide_at_least(low, high, law)
    assert decide_at_least(low - left, high + right, law) in (narrow, "inconclusive")


# --- ends that decide, so each must miss rarely enough on its own side ------------------------


@pytest.mark.parametrize("interval", [exact_share, share_interval])
@pytest.mark.parametrize("truth", [0.5, 0.9, 0.95, 0.99])
def test_either_end_of_a_share_misses_in_at_most_five_percent(interval, truth):
    from scipy.stats import binom

    for n in (1, 2, 4, 5, 10, 17, 30, 60, 100, 299):
        found = [interval(k, n) for k in range(n + 1)]
        chance = binom.pmf(np.arange(n + 1), n, truth)
        assert chance @ [i.low > truth for i in found] <= 0.05
        assert chance @ [i.high < truth for i in found] <= 0.05


def test_a_share_certifies_and_is_no_narrower_than_wilson():
    assert exact_share(299, 299).low >= 0.99 > exact_share(298, 298).low
    for k, n in ((0, 3), (16, 17), (30, 60), (299, 299)):
        wide, score = share_interval(k, n), wilson(k, n)
        assert wide.low <= score.low <= wide.value <= score.high <= wide.high


@pytest.mark.parametrize("n", [5, 8, 20, 51])
def test_either_end_of_a_median_misses_in_at_most_five_percent(n):
    draws = np.random.default_rng(0).exponential(size=(4000, n))
    found = [median_interval(row) for row in draws]
    assert np.mean([i.low > np.log(2) for i in found]) < 0.06
    assert np.mean([i.high < np.log(2) for i in found]) < 0.06
    assert all(i.low <= i.value <= i.high for i in found)


def test_too_few_values_have_no_interval_of_their_median():
    assert median_interval([1, 2, 3, 4]).high == np.inf
    assert median_interval([2.0, 2.0]).high == 2.0
    assert np.isnan(median_interval([]).low)


def test_a_skewed_mean_moves_the_end_on_the_side_of_the_tail():
    values = [1.0, 1.1, 0.9, 1.0, 5.0]
    plain, moved = mean_interval(values), mean_interval(values, skewed=True)
    assert moved.low == plain.low
    assert moved.high > plain.high
    mirrored = mean_interval(np.negative(values), skewed=True)
    assert (mirrored.low, mirrored.high) == pytest.approx((-moved.high, -moved.low))
    tiny = mean_interval(1e-150 * np.array(values), skewed=True)
    assert tiny.high == pytest.approx(1e-150 * moved.high)
