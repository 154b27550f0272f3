import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from attnlab.evidence.trends import kendall_trend, monotone_fraction, page_trend, sign_test


def test_page_known_values():
    # Two rows of three in perfect order: one of 3! * 3! equally likely arrangements.
    perfect = page_trend([[1, 2, 3], [10, 20, 30]])
    assert (perfect.statistic, perfect.p_value) == (28, pytest.approx(1 / 36))
    assert (perfect.rows, perfect.levels) == (2, 3)
    assert page_trend([[1, 2, 3], [10, 20, 30]], "decreasing").p_value == 1


def test_page_false_alarms_and_power():
    random = np.random.default_rng(0)
    noise = [page_trend(random.normal(size=(6, 5))).p_value for _ in range(1000)]
    assert 0.02 <= np.mean(np.less(noise, 0.05)) <= 0.065
    slope = np.arange(5)
    down = [page_trend(random.normal(size=(6, 5)) - slope, "decreasing") for _ in range(100)]
    assert all(test.p_value < 0.05 for test in down)


def test_page_does_not_see_units_or_seeds():
    random = np.random.default_rng(1)
    table = random.normal(size=(5, 4)) + 0.4 * np.arange(4)
    moved = np.exp(table) * random.uniform(1, 100, size=(5, 1))
    assert page_trend(moved) == page_trend(table)
    assert page_trend(-table, "decreasing") == page_trend(table)


def test_page_too_little_data_is_no_evidence():
    assert page_trend([[1, 2, 3]]).p_value == 1
    assert page_trend([[1, 2], [1, 2]]).p_value == 1
    assert page_trend(np.ones((5, 5))).p_value > 0.4
    with pytest.raises(ValueError, match="1 values that are not finite"):
        page_trend([[1, 2, math.nan], [1, 2, 3]])
    with pytest.raises(ValueError, match="direction='up'"):
        page_trend([[1, 2, 3]], "up")  # type: ignore[arg-type]


def test_sign_test():
    assert sign_test([1.0] * 5) == pytest.approx(1 / 32)
    assert sign_test([-1.0] * 5) == 1
    assert sign_test([-1.0] * 5, "decreasing") == pytest.approx(1 / 32)
    assert sign_test([1, 1, 1, -1]) == pytest.approx(5 / 16)
    assert sign_test([1, 1, 1, -1, 0, 0]) == pytest.approx(5 / 16)
    assert sign_test([0, 0]) == sign_test([]) == 1
    assert sign_test([math.inf, 2.0]) == pytest.approx(1 / 4)
    with pytest.raises(ValueError, match="nan"):
        sign_test([1, math.nan])


def test_monotone_fraction():
    assert monotone_fraction([1, 2, 2, 3]) == 1
    assert monotone_fraction([1, 2, 1.5, 3]) == pytest.approx(2 / 3)
    assert monotone_fraction([1, 2, 1.5, 3], tolerance=0.5) == 1
    assert monotone_fraction([1, 2, 1.5, 3], tolerance=0.49) == pytest.approx(2 / 3)
    assert monotone_fraction([3, 2, 2, 1], "decreasing") == 1
    assert monotone_fraction([1, math.nan, 2]) == 0
    assert math.isnan(monotone_fraction([1]))
    with pytest.raises(ValueError, match="one series"):
        monotone_fraction([[1, 2], [3, 4]])


@settings(deadline=None)
@given(st.lists(st.integers(-3, 3), min_size=2, max_size=20, unique=False))
def test_ups_and_downs_add_up(series):
    ties = np.mean(np.diff(series) == 0)
    up, down = (monotone_fraction(series, d) for d in ("increasing", "decreasing"))
    assert up + down == pytest.approx(1 + ties)


def test_kendall_agrees_with_scipy_on_ties():
    random = np.random.default_rng(2)
    x, y = random.integers(0, 5, size=(2, 25))
    found, other = kendall_trend(x, y, resamples=200), kendalltau(x, y)
    assert found.tau == pytest.approx(other.statistic)
    assert found.p_value == pytest.approx(other.pvalue)
    assert found.low <= found.tau <= found.high
    assert found == kendall_trend(x, y, resamples=200)


def test_kendall_interval_covers():
    """For two normals tau = (2 / pi) asin(correlation)."""
    random = np.random.default_rng(3)
    held = []
    for i in range(120):
        x, noise = random.normal(size=(2, 30))
        y = 0.6 * x + 0.8 * noise
        found = kendall_trend(x, y, resamples=200, seed=i)
        held.append(found.low <= 2 / math.pi * math.asin(0.6) <= found.high)
    assert 0.89 <= np.mean(held) <= 0.99


def test_kendall_of_few_or_constant_records_does_not_decide():
    # Perfect order of four is not significant (p = 2 / 4!), of five it is (2 / 5!).
    few, falling = kendall_trend(range(4), range(4)), kendall_trend(range(4), [3, 2, 1, 0])
    assert (few.tau, few.low, few.high, few.p_value) == (1, 0, 1, pytest.approx(2 / 24))
    assert (falling.low, falling.high) == (-1, 0)
    assert kendall_trend(range(5), range(5)).low == 1
    constant = kendall_trend([1, 2, 3], [5, 5, 5])
    assert (constant.low, constant.high, constant.p_value) == (-1, 1, 1)
    assert math.isnan(kendall_trend([1, 2, 3], [1, math.nan, 2]).low)
    with pytest.raises(ValueError, match="one value per record"):
        kendall_trend([1, 2, 3], [1, 2])
