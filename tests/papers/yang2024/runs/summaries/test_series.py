"""Readings of a series, by hand."""

import math

import numpy as np
import pytest

from attnlab.papers.yang2024.runs.summaries.series import at_time, largest_until

TIMES = np.array([0.0, 1.0, 10.0, 100.0, 1000.0])


def series(**more) -> dict:
    return {
        "times": TIMES,
        "x": np.array([5.0, 1.0, 3.0, 2.0, 7.0]),
        "pair": np.array([[0.0, 0], [1, 10], [2, 20], [4, 40], [8, 80]]),
        **more,
    }


@pytest.mark.parametrize(
    ("time", "value"),
    [
        (1.0, 1.0), (10.0, 3.0), (1000.0, 7.0), (math.sqrt(10), 2.0), (10**1.25, 2.75),
        (10**2.5, 4.5), (0.99, math.nan), (1000.1, math.nan), (0.0, math.nan),
        (math.nan, math.nan),
    ],
)  # fmt: skip
def test_a_series_at_a_time_is_linear_in_its_logarithm(time, value):
    assert at_time(series(), "x", time) == pytest.approx(value, nan_ok=True)
    pair = at_time(series(), "pair", time)
    assert pair.shape == (2,)
    assert pair[1] == pytest.approx(10 * pair[0], nan_ok=True)


def test_two_records_are_no_series():
    short = {"times": TIMES[:2], "x": np.array([1.0, 2.0])}
    assert math.isnan(at_time(short, "x", 1.0))
    three = {"times": TIMES[:3], "x": np.array([1.0, 2.0, 4.0])}
    assert at_time(three, "x", 10.0) == 4


def test_the_largest_until_a_time_counts_the_time_itself():
    assert largest_until(series(), "x", 10.0) == 5
    later = {"times": TIMES, "x": np.array([0.0, 1.0, 2.0, 4.0, 8.0])}
    assert largest_until(later, "x", 10**1.5) == pytest.approx(3.0)
    assert largest_until(later, "x", 100.0) == 4
    assert math.isnan(largest_until(later, "x", 2000.0))
