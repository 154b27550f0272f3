import math

import numpy as np
import pytest

from attnlab.evidence.trends import page_trend


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
