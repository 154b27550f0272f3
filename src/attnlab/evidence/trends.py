"""Is there a trend over ordered levels? Too little data to tell is p = 1: no evidence, no error."""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

Direction = Literal["increasing", "decreasing"]


@dataclass(frozen=True)
class TrendTest:
    """A one-sided trend test: `p_value` is small if the trend is in the tested direction."""

    statistic: float
    p_value: float
    rows: int
    levels: int


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


def _signed(values: ArrayLike, direction: Direction) -> np.ndarray:
    if direction not in ("increasing", "decreasing"):
        raise ValueError(f"direction={direction!r}; it is 'increasing' or 'decreasing'")
    array = np.asarray(values, dtype=float)
    return array if direction == "increasing" else -array
