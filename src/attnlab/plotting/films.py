"""One run that the page's slider moves through: maps, points, bars and curves, moment by moment."""

import base64
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from attnlab.core import Figure
from attnlab.plotting.marks import nested, numbers
from attnlab.plotting.sheets import canvas

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Film(Figure):
    """A figure of one run moment by moment: `data["frames"]` holds it, and it claims nothing."""


def frames(time: str, times: ArrayLike, *shown: Mapping[str, object]) -> dict[str, object]:
    """Moments of one run for the page's slider: what `frame_map` and its like return, together.

    A figure offers them as `data["frames"]`; everything shown has one entry a moment.
    """
    return {"kind": "frames", "time": time, "times": numbers(times), "shown": list(shown)}


def frame_map(
    name: str,
    values: ArrayLike,
    rows: Sequence[str] = (),
    columns: Sequence[str] = (),
    ends: tuple[float, float] | None = None,
) -> dict[str, object]:
    """A matrix at every moment, (moments, rows, columns), as bytes between two ends."""
    found = np.asarray(values, float)
    low, high = ends or _ends(found)
    return {
        "kind": "map",
        "name": name,
        "rows": list(rows),
        "columns": list(columns),
        "ends": [float(low), float(high)],
        "shape": list(found.shape),
        "bytes": _bytes(found, low, high),
    }


def frame_points(
    name: str, x: ArrayLike, y: ArrayLike, labels: tuple[str, str], groups: Sequence[str]
) -> dict[str, object]:
    """Points that move, (moments, points), each of a group, as bytes between common ends."""
    across, up = np.asarray(x, float), np.asarray(y, float)
    ends = [list(_ends(across)), list(_ends(up))]
    return {
        "kind": "points",
        "name": name,
        "labels": list(labels),
        "groups": list(groups),
        "ends": ends,
        "shape": list(across.shape),
        "bytes": [_bytes(v, *e) for v, e in zip((across, up), ends, strict=True)],
    }


def frame_bars(name: str, labels: Sequence[str], values: ArrayLike) -> dict[str, object]:
    """A few numbers at every moment, (moments, labels)."""
    rows = [numbers(row) for row in np.asarray(values, float)]
    return {"kind": "bars", "name": name, "labels": list(labels), "values": rows}


def frame_curves(name: str, series: Mapping[str, ArrayLike], log: bool = True) -> dict[str, object]:
    """Curves over all moments, with a line at the present one."""
    lines = {label: numbers(values) for label, values in series.items()}
    return {"kind": "curves", "name": name, "log": log, "series": lines}


def film(shown: Mapping[str, Any], name: str, moments: int = 5) -> "Drawing":
    """Some moments of frames on paper: one map at a few times, and every curve of the run."""
    times, parts = shown["times"], shown["shown"]
    chosen = np.unique(np.linspace(0, len(times) - 1, moments).round().astype(int))
    (seen,) = (part for part in parts if part["name"] == name)
    curves = [part for part in parts if part["kind"] == "curves"]
    drawing, (panels,) = canvas(1, len(chosen) + len(curves), width=2.3, height=2.5)
    values = np.frombuffer(base64.b64decode(seen["bytes"]), np.uint8).reshape(seen["shape"])
    low, high = seen["ends"]
    picture = np.where(values == 255, np.nan, low + values / 254 * (high - low))
    for panel, k in zip(panels, chosen, strict=False):
        panel.imshow(picture[k], vmin=low, vmax=high, cmap="cividis")
        panel.set_title(f"{shown['time']} {_round(times[k])}", fontsize=8)
        panel.set(xticks=[], yticks=[])
    panels[0].set_ylabel(textwrap.fill(name, 24), fontsize=8)
    for panel, part in zip(panels[len(chosen) :], curves, strict=True):
        widths = nested(len(part["series"]), 3.5, 1.2)
        for (label, series), width in zip(part["series"].items(), widths, strict=True):
            panel.plot(times, series, lw=width, label=label)
        panel.set(xscale="symlog", yscale="log" if part["log"] else "linear", xlabel=shown["time"])
        panel.set_title(part["name"], fontsize=8)
        if len(part["series"]) > 1:
            panel.legend(fontsize=6)
    return drawing


def _round(time: float) -> str:
    """A time in a few digits, without a power of ten where a reader needs none."""
    return f"{time:,.0f}" if 1000 <= time < 1e6 else f"{time:.3g}"


def _ends(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _bytes(values: np.ndarray, low: float, high: float) -> str:
    """Numbers between two ends as bytes 0..254 in base64; 255 is what is none."""
    scaled = np.round(np.clip((values - low) / (high - low), 0, 1) * 254)
    whole = np.where(np.isfinite(values), np.nan_to_num(scaled), 255).astype(np.uint8)
    return base64.b64encode(whole.tobytes()).decode()


def log_spaced(times: ArrayLike, count: int = 64) -> np.ndarray:
    """The places of about so many times, evenly spread in the logarithm; the ends included.

    The first positive time stands for the beginning of the logarithm.
    """
    t = np.asarray(times, float)
    if len(t) <= count:
        return np.arange(len(t))
    positive = t[t > 0]
    wanted = np.geomspace(positive[0], t[-1], count)
    nearest = np.abs(np.log(np.maximum(t, positive[0] / 2))[None] - np.log(wanted)[:, None])
    return np.unique(np.concatenate([[0], nearest.argmin(1), [len(t) - 1]]))
