"""T1 as it is detected on recorded margins."""

import numpy as np
import pytest

from attnlab.papers.yang2024.runs.summaries import phase_1


def ends(times, smallest, by_type) -> tuple[float, float]:
    """T1 by every sample, and by the means of the types."""
    series = {"times": times, "smallest_margin": smallest, "margin_by_type": by_type}
    found = phase_1.detected_ends(series)
    return found["T1_every_sample"], found["T1_type_means"]


def test_phase_end_interpolates_in_log_time() -> None:
    times = np.geomspace(1e-3, 10, 30)
    crossing = 0.037
    found = phase_1.positive_for_good(times, np.log(times / crossing))
    np.testing.assert_allclose(found, crossing, rtol=1e-12)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([1, 2, 3, 4], 0.0),  # from the start
        ([-1, -1, -1, -1], np.nan),  # never
        ([-1, 1, -1, 1], np.sqrt(2)),  # the last crossing counts, between t=1 and t=2
        ([-1, 1, 1, -1], np.nan),  # does not last
        ([-1, 3, 4, 4], 0.125),  # from time 0 linear in t
        ([-1, 1, 1, np.nan], np.nan),  # a diverged run never gets there
        ([-1, np.nan, 1, 1], 1.0),
        ([-1, 0, 1, 1], 0.5),  # zero is not positive: from there on
        ([-1, 1, 1, 0], np.nan),  # nor is it an end
    ],
)
def test_phase_end_cases(values, expected) -> None:
    times = np.array([0, 0.5, 1.0, 2.0])
    np.testing.assert_allclose(phase_1.positive_for_good(times, np.array(values)), expected)


def test_both_detections() -> None:
    times = np.array([0.0, 1.0, 2.0])
    by_type = np.array([[1, -1, -1, np.nan], [1, 1, -1, np.nan], [1, 1, 1, np.nan]])
    found = ends(times, np.array([-1, -1, 1]), by_type)
    np.testing.assert_allclose(found, (np.sqrt(2), np.sqrt(2)))
    assert np.isnan(ends(times, np.array([-1, -1, -1]), by_type)[0])


def test_a_record_that_begins_late_is_interpolated_in_log_time() -> None:
    times = np.array([2.0, 8.0, 32.0])
    np.testing.assert_allclose(phase_1.positive_for_good(times, np.array([-1, 1, 5])), 4.0)
    np.testing.assert_allclose(phase_1.positive_for_good(times, np.array([-3, 1, 5])), 2 * 4**0.75)
    assert phase_1.positive_for_good(times, np.array([1, 1, 5])) == 2.0


def test_from_time_zero_it_is_linear_in_time() -> None:
    times = np.array([0.0, 4.0, 5.0])
    np.testing.assert_allclose(phase_1.positive_for_good(times, np.array([-3, 1, 5])), 3.0)


def test_a_type_counts_as_long_as_it_has_one_mean() -> None:
    """A mean that is nan now and then is a diverged run, not a type without samples."""
    times = np.array([0.0, 1.0, 2.0])
    by_type = np.array([[-1, np.nan], [-1, np.nan], [1, 1]])
    assert ends(times, np.array([1, 1, 1]), by_type) == (0.0, 2.0)
