"""Sheets of panels, and the last touch that every figure gets: ticks, legends, a line above."""

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.figure import Figure as Drawing
    from matplotlib.legend import Legend

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
    legends = [(p, legend) for p in drawing.axes if (legend := p.get_legend())]
    for _ in range(3 if legends else 0):  # a legend that goes below moves the panels
        drawing.draw_without_rendering()  # until then nothing has its place
        moved = [_uncover(panel, legend) for panel, legend in legends]
        if not any(moved):
            break


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


def _uncover(panel: "Axes", legend: "Legend") -> bool:
    """Put a legend where it covers no curve; below the panel if there is no such place.

    Says whether it had to move.
    """
    from matplotlib.transforms import ScaledTranslation

    if not (points := _drawn_points(panel)).size:
        return False
    inside = panel.get_window_extent()
    if not inside.overlaps(legend.get_window_extent()):
        return False  # the figure has put it outside
    box = legend.get_window_extent()
    width, height = box.width, box.height
    if not _covered(points, box.x0, box.y0, width, height):
        return False
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
                return True
    legend.set_loc("upper center")
    # In inches, not in shares of a panel whose height is not settled: below the axis' label.
    down = ScaledTranslation(0, -0.42, panel.get_figure().dpi_scale_trans)  # type: ignore[union-attr]
    legend.set_bbox_to_anchor((0.5, 0), panel.transAxes + down)
    return True


def hides_a_curve(panel: "Axes") -> bool:
    """Whether the panel's legend covers something of what is drawn; after a drawing only."""
    legend = panel.get_legend()
    if legend is None:
        return False
    box = legend.get_window_extent()
    return _covered(_drawn_points(panel), box.x0, box.y0, box.width, box.height)


def _covered(points: np.ndarray, x: float, y: float, width: float, height: float) -> bool:
    inside = (points >= (x, y)) & (points <= (x + width, y + height))
    return bool(inside.all(axis=1).any())


def _drawn_points(panel: "Axes") -> np.ndarray:
    """Places on the screen along every curve and mark of a panel."""
    found = []
    for line in panel.lines:
        place = line.get_transform().transform(np.asarray(line.get_xydata(), float))
        place = place[np.isfinite(place).all(axis=1)]
        if len(place) > 1 and line.get_linestyle() != "None":  # between the points too
            steps = np.linspace(0, 1, 60 if len(place) < 5 else 12)[:, None, None]
            place = (place[None, :-1] * (1 - steps) + place[None, 1:] * steps).reshape(-1, 2)
        found.append(place)
    for collection in panel.collections:
        offsets = np.asarray(collection.get_offsets(), float)
        if len(offsets) > 1:
            found.append(collection.get_offset_transform().transform(offsets))
    found = [place for place in found if len(place)]
    return np.concatenate(found) if found else np.empty((0, 2))
