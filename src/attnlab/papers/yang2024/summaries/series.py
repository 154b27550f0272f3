"""Readings of a recorded series that all summaries share."""

from collections.abc import Mapping
from typing import Any

import numpy as np

Series = Mapping[str, Any]
"""Named arrays with the records first, `times` among them, and the description of the run."""


def at_time(series: Series, name: str, time: float) -> np.ndarray:
    """A series at one time, linear in log t between two records; nan outside the records."""
    times, values = np.asarray(series["times"]), np.asarray(series[name])
    if len(times) < 3 or not times[1] <= time <= times[-1]:
        return np.full(values.shape[1:], np.nan)
    i = int(np.clip(np.searchsorted(times, time), 2, len(times) - 1))
    part = np.log(time / times[i - 1]) / np.log(times[i] / times[i - 1])
    return values[i - 1] + part * (values[i] - values[i - 1])


def largest_until(series: Series, name: str, time: float) -> float:
    """The largest value of a scalar series up to a time; nan if it is not reached."""
    before = np.asarray(series[name])[np.asarray(series["times"]) <= time]
    return float(np.max(np.append(before, at_time(series, name, time))))
