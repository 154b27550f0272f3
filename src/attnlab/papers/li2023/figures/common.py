"""What the figures of li2023 share."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from attnlab.core import Records
from attnlab.evidence.threshold import ThresholdFit
from attnlab.evidence.threshold_laws import thresholds
from attnlab.papers.li2023.scalars.trials import SUCCESS
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.plotting import PALETTE, censored, explain, success_dots
from attnlab.plotting import canvas as any_canvas
from attnlab.plotting import log_axes as log_axes
from attnlab.plotting import numbers as numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes

canvas = partial(any_canvas, width=4.6, height=3.5)
"""A drawing and its panels, in the size of this paper's figures."""


def success_map(
    panel: "Axes", records: Records, level: Callable[[TrainingSettings], float], label: str
) -> dict[str, object]:
    """Success rates as dots at (level, N), N50 with its confidence sequence; the data.

    Both axes are true to scale, N in the logarithm: every trial of the sequential design is seen.
    """
    rates, found = success_rates(records, level), thresholds(records, SUCCESS, level)
    x, y, rate, trials = (np.array(column) for column in zip(*rates, strict=True))
    success_dots(panel, x, y, np.round(rate * trials), trials)
    panel.set(xlabel=label, ylabel="training samples N", yscale="log")
    for shade, words in (("#00224e", "no trial succeeds"), ("#fee838", "all succeed")):
        panel.plot([], [], "o", color=shade, mec="0.5", label=words)  # the ends of the colours
    draw_n50(panel, found)
    return {
        "levels": numbers(list(found)),
        "tried": [{"level": a, "N": n, "success_rate": r, "trials": k} for a, n, r, k in rates],
        "n50": numbers([f.n50 for f in found.values()]),
        "n50_low": numbers([f.sequence_low for f in found.values()]),
        "n50_high": [_finite(f.sequence_high) for f in found.values()],
    }


def success_rates(
    records: Records, level: Callable[[Any], float]
) -> list[tuple[float, int, float, int]]:
    """Level, N, the share of successes, and of how many trials."""
    groups: dict[tuple[float, int], list[bool]] = {}
    for r in records:
        won = bool(r["success"]) and not r.diverged
        groups.setdefault((level(r.cell), r.cell.N), []).append(won)
    return [(x, N, float(np.mean(won)), len(won)) for (x, N), won in sorted(groups.items())]


def draw_n50(
    panel: "Axes",
    found: Mapping[float, ThresholdFit],
    colour: str = PALETTE[1],
    label: str = "N50, 95 % confidence sequence",
    mark: str = "o",
    *,
    sideways: bool = False,
) -> None:
    """N50 over the levels; open triangles where the tested sizes leave an end open.

    `sideways`: N50 to the right, the levels upwards, which leaves room for long names of levels.
    """
    x = np.array(list(found))
    fits = list(found.values())
    middle = np.array([f.n50 for f in fits])
    low = np.array([f.sequence_low or f.n50 for f in fits])
    high = np.array([f.sequence_high if np.isfinite(f.sequence_high) else f.n50 for f in fits])
    errors = [np.maximum(middle - low, 0), np.maximum(high - middle, 0)]
    style = {"fmt": mark, "color": colour, "ms": 4, "lw": 1, "capsize": 3, "label": label}
    if sideways:
        bars = panel.errorbar(middle, x, xerr=errors, **style)
        explain(bars[0], low=low, high=high)
    else:
        bars = panel.errorbar(x, middle, yerr=errors, **style)
    explain(bars[0], trials=[f.trials for f in fits])
    for above, open_end in (
        (True, [not np.isfinite(f.sequence_high) for f in fits]),
        (False, [f.sequence_low == 0 for f in fits]),
    ):
        chosen = np.array(open_end)
        if chosen.any():
            place = (middle[chosen], x[chosen]) if sideways else (x[chosen], middle[chosen])
            censored(panel, *place, above, sideways, color=colour, ms=9)


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
