"""The end of the first phase, detected on a recorded series (plain numpy, after the run).

The paper's T1 carries an unknown constant. Ours is read off: the last time at which something
is still not positive, interpolated in the logarithm of time.
"""

from typing import NamedTuple

import numpy as np


class PhaseOneEnd(NamedTuple):
    """Two detections of T1; nan if the run never got there."""

    every_sample: float
    """After it every sample is classified correctly."""
    every_type_mean: float
    """After it the mean margin of every type is positive."""


def phase_one_end(
    times: np.ndarray, smallest_margin: np.ndarray, margin_by_type: np.ndarray
) -> PhaseOneEnd:
    """T1 from records of the smallest margin (k,) and of the mean margin by type (k, 4)."""
    by_type = np.asarray(margin_by_type, float)
    present = ~np.isnan(by_type).all(axis=0)  # a type without samples has no mean
    return PhaseOneEnd(
        positive_for_good(times, smallest_margin),
        positive_for_good(times, by_type[:, present].min(axis=1)),
    )


def positive_for_good(times: np.ndarray, values: np.ndarray) -> float:
    """The time after which `values` stay positive; nan if they do not end positive.

    If they are positive from the start it is the first time. Between two records the value is
    taken as linear in log t (in t itself from time 0). A nan is not positive.
    """
    t, x = np.asarray(times, float), np.asarray(values, float)
    bad = np.flatnonzero(~(x > 0))
    if bad.size == 0:
        return float(t[0])
    i = int(bad[-1])
    if i == len(x) - 1:
        return float("nan")
    if not np.isfinite(x[i]):
        return float(t[i + 1])
    part = -x[i] / (x[i + 1] - x[i])
    if t[i] <= 0:
        return float(t[i] + part * (t[i + 1] - t[i]))
    return float(t[i] * (t[i + 1] / t[i]) ** part)
