"""Readings of a series, by hand."""

import math

import numpy as np
import pytest

from attnlab.papers.yang2024.runs.summaries.series import (
    Until,
    at_time,
    integral,
    largest_until,
    line_slope,
    sample_counts,
    slope_in_late_time,
)

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


def test_samples_by_type_are_said_or_counted():
    """Words 0 and 1 are the signals, 2 is common: both signals, the first, the second, none."""
    words = np.array([[0, 1, 2, 9], [2, 7, 0, 8], [5, 1, 2, 6], [2, 5, 6, 7], [8, 2, 9, 0]])
    np.testing.assert_array_equal(sample_counts({"words": words}), [1, 2, 1, 1])
    np.testing.assert_array_equal(sample_counts({"words": words[3:4]}), [0, 0, 0, 1])
    said = sample_counts({"type_counts": [12, 4, 4, 4], "words": words})
    np.testing.assert_array_equal(said, [12, 4, 4, 4])


def test_readings_of_the_records_alone():
    until = Until(TIMES, 10.0)
    assert until.largest_record(np.array([1.0, 2.0, 3.0, 9.0, 9.0])) == 3
    assert math.isnan(Until(TIMES, math.inf).largest_record(TIMES))
    per_time = until.largest_per_time(np.array([[9.0, 9], [2, 1], [5, 40], [900, 900], [0, 0]]))
    np.testing.assert_array_equal(per_time, [2.0, 4.0])
    assert math.isnan(Until(TIMES, 0.5).largest_per_time(TIMES))


def test_slopes_and_integrals_in_closed_form():
    x = np.array([0.0, 1.0, 3.0, 4.0])
    assert line_slope(x, 5 - 2 * x) == pytest.approx(-2)
    assert line_slope(x, x**2) == pytest.approx(np.polyfit(x, x**2, 1)[0])
    assert math.isnan(line_slope(x, np.array([0, 1, math.nan, 2])))
    assert math.isnan(line_slope(x[:1], x[:1]))
    assert line_slope(x[:2], np.array([0.0, 4.0])) == 4
    # Up to t = 100 flat, and from there on 3 log t: the later half begins at 100.
    times = np.array([1.0, 10.0, 100.0, 1000.0, 10_000.0])
    late = np.where(times < 100, 50.0, 3 * np.log(times))
    assert slope_in_late_time(times, late) == pytest.approx(3)
    grid = np.geomspace(1, 100, 200)
    assert integral(grid, grid**-2.0) == pytest.approx(0.99, rel=1e-6)
    assert integral(grid[:3], grid[:3] ** -1.0) == pytest.approx(math.log(grid[2]), rel=1e-6)
    assert math.isnan(integral(np.array([0.0, 1.0, 2.0]), np.ones(3)))
    assert math.isnan(integral(np.array([1.0, 2.0]), np.ones(2)))
