"""Is there a trend? Tests over ordered levels, over signs of differences, and rank correlation.

Too little data to tell is p = 1: no evidence, rather than an error.
"""

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from attnlab.evidence.intervals import bootstrap_interval

Direction = Literal["increasing", "decreasing"]


@dataclass(frozen=True)
class TrendTest:
    """A one-sided trend test: `p_value` is small if the trend is in the tested direction."""

    statistic: float
    p_value: float
    rows: int
    levels: int


@dataclass(frozen=True)
class KendallTrend:
    """Kendall's tau-b with its interval and the two-sided p-value of independence."""

    tau: float
    low: float
    high: float
    p_value: float
    points: int


def page_trend(rows: ArrayLike, direction: Direction = "increasing") -> TrendTest:
    r"""Page's test that the levels are ordered, from one row per seed and one column per level.

    $$L = \sum_j j \, R_j$$

    - $R_j$: sum over rows of the rank, within its row, of the value at level $j$.

    Ranks within rows make it blind to differences between seeds and to any increasing change of
    units. Under three levels or two rows there is no test: p = 1.
    Page (1963), J. Amer. Statist. Assoc. 58.
    """
    table = _signed(rows, direction)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ValueError(
            f"rows of shape {table.shape} with {int((~np.isfinite(table)).sum())} values that are "
            "not finite; give seeds x levels, and leave out (and count) seeds that diverged"
        )
    seeds, levels = table.shape
    if seeds < 2 or levels < 3:
        return TrendTest(np.nan, 1.0, seeds, levels)
    from scipy.stats import page_trend_test

    test = page_trend_test(table)
    return TrendTest(float(test.statistic), float(test.pvalue), seeds, levels)


def sign_test(differences: ArrayLike, direction: Direction = "increasing") -> float:
    r"""One-sided p-value that differences are as often negative as positive; zeros are left out.

    $$p = P(\mathrm{Bin}(n, 1/2) \ge k)$$

    - $k$: differences in the direction, $n$: those that are not zero.

    Give one difference per seed (say last minus first): the steps of one series depend on each
    other and would make p far too small.
    """
    signs = np.sign(_signed(differences, direction).ravel())
    if np.isnan(signs).any():
        raise ValueError("a difference is nan; leave out (and count) the seeds that diverged")
    wins, count = int((signs > 0).sum()), int((signs != 0).sum())
    if count == 0:
        return 1.0
    from scipy.stats import binomtest

    return float(binomtest(wins, count, alternative="greater").pvalue)


def monotone_fraction(
    series: ArrayLike, direction: Direction = "increasing", *, tolerance: float = 0.0
) -> float:
    """The fraction of a time series' steps that do not go against the direction.

    A step back by at most `tolerance` is let pass (rounding, mini-batch noise). A step from or
    to nan goes against every direction; fewer than two values give nan. This describes a series;
    for evidence take one number per seed, e.g. with `sign_test`.
    """
    values = _signed(series, direction)
    if values.ndim != 1:
        raise ValueError(f"series of shape {values.shape}; give one series of values over time")
    if values.size < 2:
        return float("nan")
    # Compared, not subtracted: inf - inf is nan.
    return float(np.mean(values[1:] >= values[:-1] - tolerance))


def kendall_trend(
    x: ArrayLike, y: ArrayLike, *, level: float = 0.95, resamples: int = 1000, seed: int = 0
) -> KendallTrend:
    r"""Kendall's rank correlation of paired, independent records, with a bootstrap interval.

    $$\tau_b = \frac{\sum_{i<j} \mathrm{sgn}(x_i - x_j)\,\mathrm{sgn}(y_i - y_j)}
                    {\sqrt{\#\{x_i \ne x_j\}\,\#\{y_i \ne y_j\}}}$$

    Where the test does not reject independence at `level`, the interval is widened to hold 0:
    records in perfect order give the bootstrap width zero, even if there are only three.
    """
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    # First, for it refuses what is not two columns of equal length.
    interval = bootstrap_interval(_tau, xs, ys, level=level, resamples=resamples, seed=seed)
    if np.isnan(interval.value):
        return KendallTrend(np.nan, np.nan, np.nan, 1.0, xs.size)
    if np.ptp(xs) == 0 or np.ptp(ys) == 0:
        return KendallTrend(0.0, -1.0, 1.0, 1.0, xs.size)
    from scipy.stats import kendalltau

    test: Any = kendalltau(xs, ys)
    p_value = float(test.pvalue)
    low, high = interval.low, interval.high
    if p_value > 1 - level:
        low, high = min(low, 0.0), max(high, 0.0)
    return KendallTrend(interval.value, low, high, p_value, xs.size)


def _tau(x: np.ndarray, y: np.ndarray) -> float:
    of_x, of_y = np.sign(x[:, None] - x), np.sign(y[:, None] - y)
    pairs = float(np.sqrt((of_x**2).sum() * (of_y**2).sum()))
    # A resample may be constant: it then shows no association.
    return float((of_x * of_y).sum()) / pairs if pairs else 0.0


def _signed(values: ArrayLike, direction: Direction) -> np.ndarray:
    if direction not in ("increasing", "decreasing"):
        raise ValueError(f"direction={direction!r}; it is 'increasing' or 'decreasing'")
    array = np.asarray(values, dtype=float)
    return array if direction == "increasing" else -array
