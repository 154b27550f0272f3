"""Readings of a recorded series that all summaries share."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from attnlab.papers.yang2024.theory.asymptote import types_of

Series = Mapping[str, Any]
"""Named arrays with the records first, `times` among them, and the description of the run."""


def sample_counts(series: Series) -> np.ndarray:
    """How many samples of each type there are (4,): said by a run, or counted in its words."""
    if "type_counts" in series:
        return np.asarray(series["type_counts"])
    return np.bincount(types_of(series["words"]), minlength=5)[1:]


@dataclass(frozen=True)
class Until:
    """Readings of series at one time or up to it; nan where a run does not reach it."""

    times: np.ndarray
    end: float

    def value(self, values: np.ndarray) -> np.ndarray:
        """At the end, linear in log t between two records."""
        times, end = self.times, self.end
        if len(times) < 3 or not times[1] <= end <= times[-1]:
            return np.full(values.shape[1:], np.nan)
        i = int(np.clip(np.searchsorted(times, end), 2, len(times) - 1))
        part = np.log(end / times[i - 1]) / np.log(times[i] / times[i - 1])
        return values[i - 1] + part * (values[i] - values[i - 1])

    def largest(self, values: np.ndarray) -> float:
        """The largest, with the value at the end itself."""
        before = values[self.times <= self.end]
        return float(np.max(np.append(before, self.value(values))))

    def largest_record(self, values: np.ndarray) -> float:
        """The largest of the records."""
        if not math.isfinite(self.end):
            return math.nan
        return float(values[self.times <= self.end].max())

    def largest_per_time(self, values: np.ndarray) -> np.ndarray:
        """The largest value over t, of the records after time 0."""
        chosen = (self.times > 0) & (self.times <= self.end)
        if not chosen.any():
            return np.full(values.shape[1:], math.nan)
        t = self.times[chosen].reshape(-1, *(1,) * (values.ndim - 1))
        return (values[chosen] / t).max(axis=0)


def at_time(series: Series, name: str, time: float) -> np.ndarray:
    """A series at one time, linear in log t between two records; nan outside the records."""
    return Until(np.asarray(series["times"]), time).value(np.asarray(series[name]))


def largest_until(series: Series, name: str, time: float) -> float:
    """The largest value of a scalar series up to a time; nan if it is not reached."""
    return Until(np.asarray(series["times"]), time).largest(np.asarray(series[name]))


def slope_in_late_time(times: np.ndarray, values: np.ndarray) -> float:
    """The slope in log t over the later half of the recorded log t."""
    late = times >= math.sqrt(times[0] * times[-1])
    return line_slope(np.log(times[late]), values[late])


def line_slope(x: np.ndarray, y: np.ndarray) -> float:
    """The slope of the least-squares line; nan if a value is missing."""
    if len(x) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return math.nan
    x = x - x.mean()
    return float(x @ y / (x @ x))


def integral(times: np.ndarray, rate: np.ndarray) -> float:
    """The integral of a rate over the records, by a cubic spline in log t."""
    if len(times) < 3 or not (times > 0).all():
        return math.nan
    log_t = np.log(times)
    return float(CubicSpline(log_t, times * rate).integrate(log_t[0], log_t[-1]))
