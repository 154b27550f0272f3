"""What figures share: one style, a canvas, axes, bands, maps, frames, plain numbers for data files.

Used by the papers' figures and by the report. Nothing here trains or judges, and matplotlib is
imported only when something is drawn: listing a paper does not wait for it.
"""

import base64
import io
import re
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from attnlab.core import Figure, Record, Records

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing
    from matplotlib.legend import Legend

# --- the style --------------------------------------------------------------------------------

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6000", "#777777")
"""Okabe and Ito's colours without black (the ink) and yellow (invisible on paper)."""
STYLE: Mapping[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "grid.alpha": 0.25,
    "grid.color": "#888888",
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
"""One style for every figure, of papers that we do not know too: it is set around their `draw`."""
MINUS_ZERO = re.compile(r"(?<![\w.,^{])[-−](0(?:\.0+)?)(?![\d.eE])")

# --- the sheet --------------------------------------------------------------------------------


def sheet(width: float, height: float) -> "Drawing":
    """An empty drawing of so many inches, whose parts make room for each other."""
    from matplotlib.figure import Figure as Drawing

    return Drawing(figsize=(width, height), layout="constrained")


def canvas(
    rows: int, columns: int, width: float = 4.8, height: float = 3.6
) -> tuple[Any, np.ndarray]:
    """A drawing and its panels, always as an array (rows, columns); sizes are a panel's."""
    drawing = sheet(width * columns, height * rows)
    return drawing, drawing.subplots(rows, columns, squeeze=False)


def legend_below(
    drawing: "Drawing", handles: "Sequence[Artist]", labels: Sequence[str], columns: int
) -> None:
    """One legend for all panels, below them."""
    drawing.legend(handles, labels, loc="outside lower center", ncols=columns, fontsize=8)


def log_axes(panel: "Axes") -> None:
    """Both axes logarithmic, with plain numbers at 1, 2 and 5."""
    panel.set(xscale="log", yscale="log")
    for axis in (panel.xaxis, panel.yaxis):
        _plain_ticks(axis)


def colours(count: int, lightest: float = 0.88) -> list[tuple[float, float, float, float]]:
    """So many colours from dark to light."""
    import matplotlib

    return [matplotlib.colormaps["viridis"](x) for x in np.linspace(0, lightest, max(count, 1))]


# --- what is drawn in several figures ---------------------------------------------------------

_DETAILS: "WeakKeyDictionary[Artist, dict[str, list[Any]]]" = WeakKeyDictionary()


def explain(artist: "Artist", **columns: Sequence[Any] | np.ndarray) -> None:
    """What the page says of each point or tile of an artist beside its place, by name."""
    known = _DETAILS.setdefault(artist, {})
    known.update({name: np.asarray(values).ravel().tolist() for name, values in columns.items()})


def details_of(artist: "Artist") -> dict[str, list[Any]]:
    """What `explain` was told of an artist."""
    return _DETAILS.get(artist, {})


def band(
    panel: "Axes", x: ArrayLike, runs: ArrayLike, label: str, middle: str = "median", **style: Any
) -> dict[str, object]:
    """The median (or mean) of runs (seeds, points) with the band of the middle 80 %; its data."""
    values = np.atleast_2d(np.asarray(runs, float))
    centre = np.median(values, 0) if middle == "median" else values.mean(0)
    low, high = np.quantile(values, [0.1, 0.9], axis=0)
    (line,) = panel.plot(x, centre, label=label, **style)
    if len(values) > 1:
        panel.fill_between(np.asarray(x), low, high, color=line.get_color(), alpha=0.18, lw=0)
    explain(line, low=low, high=high, runs=[len(values)] * len(centre))
    return {middle: numbers(centre), "low": numbers(low), "high": numbers(high)}


def success_tiles(
    panel: "Axes", x: ArrayLike, y: ArrayLike, successes: ArrayLike, trials: ArrayLike
) -> "Artist":
    """Shares of successes as tiles over true axes; `successes` and `trials` are (y, x).

    Tiles reach half way to their neighbours, on a logarithmic axis half way in the logarithm; set
    the axes' scales first. Each tile tells the page its trials and its exact 95 % interval.
    """
    from scipy.stats import binomtest

    won, tried = np.asarray(successes, float), np.asarray(trials, float)
    with np.errstate(invalid="ignore"):
        share = np.where(tried > 0, won / tried, np.nan)
    across, up = _edges(x, panel.get_xscale()), _edges(y, panel.get_yscale())
    mesh = panel.pcolormesh(
        across, up, share, cmap="cividis", vmin=0, vmax=1, edgecolors="0.6", linewidth=0.3
    )
    panel.grid(False)
    ends = [
        binomtest(int(w), int(t)).proportion_ci(method="exact") if t else None
        for w, t in zip(won.ravel(), tried.ravel(), strict=True)
    ]
    explain(
        mesh,
        trials=tried,
        low=[None if e is None else e.low for e in ends],
        high=[None if e is None else e.high for e in ends],
    )
    return mesh


def _edges(values: ArrayLike, scale: str) -> np.ndarray:
    points = np.asarray(values, float)
    places = np.log(points) if scale == "log" else points
    if len(places) == 1:
        step = 0.5 if scale == "log" else max(0.5 * abs(float(places[0])), 0.5)
        edges = np.array([places[0] - step, places[0] + step])
    else:
        inner = (places[1:] + places[:-1]) / 2
        first, last = 2 * places[0] - inner[0], 2 * places[-1] - inner[-1]
        edges = np.concatenate([[first], inner, [last]])
    return np.exp(edges) if scale == "log" else edges


def censored(panel: "Axes", x: ArrayLike, y: ArrayLike, above: bool, **style: Any) -> "Artist":
    """Marks of what lies beyond the last size looked at (or before the first): triangles."""
    (marks,) = panel.plot(x, y, "^" if above else "v", mfc="none", ls="none", **style)
    word = "beyond" if above else "before"
    explain(marks, note=[f"{word} what was looked at"] * np.size(y))
    return marks


# --- the numbers ------------------------------------------------------------------------------


def numbers(values: ArrayLike) -> list[float]:
    """An array as plain numbers for the figure's data file."""
    return [float(x) for x in np.asarray(values, dtype=float).reshape(-1)]


def power_of_ten(value: float) -> str:
    """A whole number in a few signs."""
    exponent = np.log10(value)
    return (
        f"$10^{{{exponent:.0f}}}$" if exponent == int(exponent) and value >= 1e3 else f"{value:g}"
    )


def medians(records: Records, setting: str, scalar: str) -> tuple[np.ndarray, np.ndarray]:
    """The levels of a setting and the median of a scalar at each."""
    groups = records.by(setting)
    levels = np.array(list(groups), float)
    return levels, np.array([np.median(part.column(scalar)) for part in groups.values()])


def first_seeds(records: Records, setting: str) -> dict[Any, Record]:
    """The first run of every level of a setting."""
    return {level: part[0] for level, part in records.by(setting).items()}


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


# --- frames: one run that a slider moves through ------------------------------------------------


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
        panel.set_title(f"{shown['time']} {times[k]:.3g}", fontsize=8)
        panel.set(xticks=[], yticks=[])
    panels[0].set_ylabel(name)
    for panel, part in zip(panels[len(chosen) :], curves, strict=True):
        for label, series in part["series"].items():
            panel.plot(times, series, lw=1.3, label=label)
        panel.set(xscale="symlog", yscale="log" if part["log"] else "linear", xlabel=shown["time"])
        panel.set_title(part["name"], fontsize=8)
        panel.legend(fontsize=6)
    return drawing


def _ends(values: np.ndarray) -> tuple[float, float]:
    finite = values[np.isfinite(values)]
    low, high = (float(finite.min()), float(finite.max())) if finite.size else (0.0, 1.0)
    return (low, high) if high > low else (low - 0.5, low + 0.5)


def _bytes(values: np.ndarray, low: float, high: float) -> str:
    """Numbers between two ends as bytes 0..254 in base64; 255 is what is none."""
    scaled = np.round(np.clip((values - low) / (high - low), 0, 1) * 254)
    whole = np.where(np.isfinite(values), np.nan_to_num(scaled), 255).astype(np.uint8)
    return base64.b64encode(whole.tobytes()).decode()


# --- the last touch ---------------------------------------------------------------------------


def finish(drawing: "Drawing", line: str = "") -> None:
    """What every figure gets: sane ticks, no minus zero, legends off the curves, a line above.

    `line` says the figure's verdict, seeds and scale.
    """
    if line:
        drawing.suptitle(line, x=0.995, ha="right", fontsize=7, color="#666666")
    for panel in drawing.axes:
        if panel.images or any(hasattr(c, "get_coordinates") for c in panel.collections):
            panel.grid(False)
        for axis in (panel.xaxis, panel.yaxis):
            if axis.get_scale() == "log" and not named_ticks(axis):
                _plain_ticks(axis)
        for text in (*panel.texts, panel.title, panel.xaxis.label, panel.yaxis.label):
            text.set_text(without_minus_zero(text.get_text()))
        legend = panel.get_legend()
        for text in legend.get_texts() if legend else ():
            text.set_text(without_minus_zero(text.get_text()))
    legends = [(panel, panel.get_legend()) for panel in drawing.axes]
    if any(legend for _, legend in legends):
        drawing.draw_without_rendering()  # until then nothing has its place
    for panel, legend in legends:
        if legend is not None:
            _uncover(panel, legend)


def without_minus_zero(text: str) -> str:
    """`-0.00` is 0.00."""
    return MINUS_ZERO.sub(r"\1", text)


def named_ticks(axis: "Axis") -> bool:
    """Whether the figure has put words of its own at the ticks."""
    from matplotlib.ticker import FixedFormatter, FixedLocator, FuncFormatter

    fixed = isinstance(axis.get_major_locator(), FixedLocator)
    return fixed and isinstance(axis.get_major_formatter(), FixedFormatter | FuncFormatter)


def _plain_ticks(axis: "Axis") -> None:
    """A logarithmic axis: plain 1, 2, 5 over a short span, powers of ten over a long one."""
    from matplotlib.ticker import FuncFormatter, LogFormatterMathtext, LogLocator, NullFormatter

    low, high = sorted(abs(x) for x in axis.get_view_interval())
    decades = np.log10(high / low) if low > 0 else np.inf
    plain = low >= 1e-3 and high < 1e5
    subs = (1.0, 2.0, 5.0) if decades < 2.2 else (1.0,)
    if decades < 0.7:
        subs = (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)
    axis.set_major_locator(LogLocator(subs=subs, numticks=8 if decades >= 2.2 else 12))
    if plain or decades < 2.2:
        axis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
    else:
        axis.set_major_formatter(LogFormatterMathtext())
    axis.set_minor_formatter(NullFormatter())


def _uncover(panel: "Axes", legend: "Legend") -> None:
    """Put a legend where it covers no curve; below the panel if there is no such place."""
    if not (points := _drawn_points(panel)).size:
        return
    inside = panel.get_window_extent()
    if not inside.overlaps(legend.get_window_extent()):
        return  # the figure has put it outside
    box = legend.get_window_extent()
    width, height = box.width, box.height
    if not _covered(points, box.x0, box.y0, width, height):
        return
    pad = 6.0
    x = {"left": inside.x0 + pad, "right": inside.x1 - width - pad}
    x["center"] = (x["left"] + x["right"]) / 2
    y = {"upper": inside.y1 - height - pad, "lower": inside.y0 + pad}
    y["center"] = (y["upper"] + y["lower"]) / 2
    for row in ("upper", "lower", "center"):
        for column in ("right", "left", "center"):
            if (row, column) == ("center", "center"):
                continue
            if not _covered(points, x[column], y[row], width, height):
                legend.set_loc(f"{row} {column}")  # type: ignore[arg-type]
                return
    legend.set_loc("upper center")
    legend.set_bbox_to_anchor((0.5, -0.2), panel.transAxes)


def _covered(points: np.ndarray, x: float, y: float, width: float, height: float) -> bool:
    inside = (points >= (x, y)) & (points <= (x + width, y + height))
    return bool(inside.all(axis=1).any())


def _drawn_points(panel: "Axes") -> np.ndarray:
    """Places on the screen along every curve and mark of a panel."""
    found = []
    for line in panel.lines:
        if not all(line.get_transform().contains_branch_seperately(panel.transData)):
            continue
        place = line.get_transform().transform(np.asarray(line.get_xydata(), float))
        place = place[np.isfinite(place).all(axis=1)]
        if len(place) > 1 and line.get_linestyle() != "None":  # between the points too
            steps = np.linspace(0, 1, 12)[:, None, None]
            place = (place[None, :-1] * (1 - steps) + place[None, 1:] * steps).reshape(-1, 2)
        found.append(place)
    for collection in panel.collections:
        offsets = np.asarray(collection.get_offsets(), float)
        if len(offsets) > 1:
            found.append(collection.get_offset_transform().transform(offsets))
    found = [place for place in found if len(place)]
    return np.concatenate(found) if found else np.empty((0, 2))


# --- the file ---------------------------------------------------------------------------------


def repeatable(name: str) -> AbstractContextManager[None]:
    """Within it a drawing of this name has our style, and one SVG for the same numbers."""
    import matplotlib
    from cycler import cycler

    fixed = {"svg.hashsalt": name, "svg.fonttype": "path"}
    cycle = {"axes.prop_cycle": cycler(color=PALETTE)}
    settings: dict[Any, Any] = {**STYLE, **cycle, **fixed}
    return matplotlib.rc_context(settings)


def svg_text(name: str, picture: "Drawing") -> str:
    """The picture as SVG text, the same for the same numbers."""
    text = io.StringIO()
    with repeatable(name):
        picture.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
