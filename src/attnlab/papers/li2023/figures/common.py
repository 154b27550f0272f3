"""What the figures of li2023 share."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Records
from attnlab.evidence.threshold import ThresholdFit
from attnlab.evidence.threshold_laws import thresholds
from attnlab.papers.li2023.scalars.trials import SUCCESS
from attnlab.papers.li2023.settings import TrainingSettings
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
    """Success rates as grey dots at (level, N), N50 with its confidence sequence; the data.

    Both axes are true to scale. An end that the tested sizes do not bound is drawn as a triangle.
    """
    rates, found = success_rates(records, level), thresholds(records, SUCCESS, level)
    x, y, rate, trials = (np.array(column) for column in zip(*rates, strict=True))
    dots = panel.scatter(
        x,
        y,
        c=rate,
        s=12 + 2 * np.minimum(trials, 30),
        cmap="gray",
        vmin=0,
        vmax=1,
        edgecolors="0.5",
        lw=0.5,
    )
    dots.set_clip_on(True)
    draw_n50(panel, found)
    ends = [f.sequence_high for f in found.values() if np.isfinite(f.sequence_high)]
    panel.set_ylim(0, 1.15 * max([*ends, *(f.n50 for f in found.values()), 8]))
    panel.set(xlabel=label, ylabel="training samples N")
    return {
        "levels": numbers(list(found)),
        "tried": [{"level": a, "N": n, "success_rate": r, "trials": k} for a, n, r, k in rates],
        "n50": numbers([f.n50 for f in found.values()]),
        "n50_low": numbers([f.sequence_low for f in found.values()]),
        "n50_high": [_finite(f.sequence_high) for f in found.values()],
    }


def success_rates(
    records: Records, level: Callable[[TrainingSettings], float]
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
    colour: str = "tab:red",
    label: str = "N50, 95 % confidence sequence",
    mark: str = "o",
) -> None:
    """N50 over the levels; triangles where an end is open."""
    x = np.array(list(found))
    fits = list(found.values())
    middle = np.array([f.n50 for f in fits])
    low = np.array([f.sequence_low or f.n50 for f in fits])
    high = np.array([f.sequence_high if np.isfinite(f.sequence_high) else f.n50 for f in fits])
    errors = [np.maximum(middle - low, 0), np.maximum(high - middle, 0)]
    panel.errorbar(
        x, middle, yerr=errors, fmt=mark, color=colour, ms=4, lw=1, capsize=3, label=label
    )
    for sign, open_end in (
        ("^", [not np.isfinite(f.sequence_high) for f in fits]),
        ("v", [f.sequence_low == 0 for f in fits]),
    ):
        chosen = np.array(open_end)
        panel.plot(x[chosen], middle[chosen], sign, color=colour, ms=9, mfc="none")


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
