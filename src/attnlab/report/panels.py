"""A drawn figure as data for the page: what each panel shows, read off matplotlib's artists.

One drawing, two renderings: the picture that is printed and the one that answers the mouse show
the same numbers, for every figure of every paper, and a figure writes nothing twice.
"""

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from attnlab.plotting import details_of, named_ticks
from attnlab.report.mathematics import plain_text

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.collections import Collection
    from matplotlib.container import ErrorbarContainer
    from matplotlib.figure import Figure as Drawing
    from matplotlib.lines import Line2D

INK = {"#000000": "ink", "#ffffff": "paper"}
"""Black and white are the page's own colours, which change in the dark."""
MOST = 400
"""Points of a curve that the page gets; of more, evenly chosen ones."""


def panels(drawing: "Drawing") -> list[dict[str, Any]]:
    """Every panel of a drawing, colour bars left out."""
    return [_panel(axes) for axes in drawing.axes if axes.get_label() != "<colorbar>"]


def _panel(panel: "Axes") -> dict[str, Any]:
    return {
        "title": plain_text(panel.get_title()),
        "x": _axis(panel.xaxis),
        "y": _axis(panel.yaxis),
        "series": [s for s in _series(panel) if s],
        "rules": [r for r in map(_rule, _loose_lines(panel, rules=True)) if r],
        "areas": [
            *(_area(c) for c in panel.collections if _is_area(c)),
            *(s for s in (_span(patch, panel) for patch in panel.patches) if s),
        ],
        "tiles": [
            *(_mesh(c) for c in panel.collections if hasattr(c, "get_coordinates")),
            *(_image(image) for image in panel.images),
        ],
        "texts": [] if panel.images else [t for t in map(_text_of(panel), panel.texts) if t],
    }


def _axis(axis: "Axis") -> dict[str, Any]:
    low, high = (float(x) for x in axis.get_view_interval())
    found: dict[str, Any] = {
        "label": plain_text(axis.label.get_text()),
        "scale": axis.get_scale(),
        "domain": [_short(low), _short(high)],
    }
    ticks = _named_ticks(axis)
    return {**found, "ticks": ticks} if ticks else found


def _named_ticks(axis: "Axis") -> list[list[Any]]:
    """Places that the figure names with words of its own."""
    formatter = axis.get_major_formatter()
    if not named_ticks(axis):
        return []
    places = axis.get_majorticklocs()
    labels = [formatter(x, i) for i, x in enumerate(places)]
    return [[_short(x), plain_text(t)] for x, t in zip(places, labels, strict=True)]


# --- curves and points ------------------------------------------------------------------------


def _series(panel: "Axes") -> Iterable[dict[str, Any] | None]:
    owned: set[int] = set()
    for container in panel.containers:
        line = container[0] if len(container) else None
        if hasattr(container, "has_yerr") and line is not None:
            owned.add(id(line))
            yield _curve(line, container.get_label(), _ends(container))  # type: ignore[arg-type]
    for line in _loose_lines(panel, rules=False):
        if id(line) not in owned:
            yield _curve(line, line.get_label())
    for collection in panel.collections:
        if type(collection).__name__ == "PathCollection":
            yield _dots(collection)


def _loose_lines(panel: "Axes", *, rules: bool) -> "list[Line2D]":
    """The lines of a panel that are rules across it, or those that are not; no error bars' caps."""
    caps = {id(cap) for c in panel.containers if hasattr(c, "has_yerr") for cap in c[1]}
    lines = [line for line in panel.lines if id(line) not in caps]
    return [line for line in lines if (_in_data(line, panel) != (True, True)) == rules]


def _in_data(line: "Artist", panel: "Axes") -> tuple[bool, bool]:
    x, y = line.get_transform().contains_branch_seperately(panel.transData)
    return bool(x), bool(y)


def _curve(
    line: "Line2D", label: object, ends: tuple[np.ndarray, np.ndarray] | None = None
) -> dict[str, Any] | None:
    x = np.asarray(line.get_xdata(orig=False), float)
    y = np.asarray(line.get_ydata(orig=False), float)
    if not len(x):
        return None  # stands for others in the legend
    told = {name: np.asarray(v, object) for name, v in details_of(line).items()}
    if ends is not None:
        told |= {"low": ends[0], "high": ends[1]}
    keep = np.unique(np.linspace(0, len(x) - 1, min(len(x), MOST)).round().astype(int))
    return {
        "label": _label(label),
        "colour": _colour(line.get_color()),
        "x": [_short(v) for v in x[keep]],
        "y": [_short(v) for v in y[keep]],
        "line": _dash(line),
        "mark": _mark(line),
        "bars": ends is not None,
        **{k: [_plain(v[i]) for i in keep] for k, v in told.items() if len(v) == len(x)},
    }


def _ends(container: "ErrorbarContainer") -> tuple[np.ndarray, np.ndarray] | None:
    """The lower and upper ends of vertical error bars."""
    bars = container[2]
    if not container.has_yerr or not bars:
        return None
    segments = [np.asarray(s, float) for s in bars[-1].get_segments()]
    if any(s.shape != (2, 2) for s in segments):
        return None
    return np.array([s[0, 1] for s in segments]), np.array([s[1, 1] for s in segments])


def _dots(collection: "Collection") -> dict[str, Any] | None:
    points = np.ma.filled(np.ma.asarray(collection.get_offsets(), float), np.nan)
    if not len(points):
        return None
    told = {k: v for k, v in details_of(collection).items() if len(v) == len(points)}
    told = {k: [_plain(x) for x in v] for k, v in told.items()}
    values = collection.get_array()
    if values is not None:  # each dot has the shade of its value
        told["colours"] = [_colour(c, ink=False) for c in collection.to_rgba(values)]
    return {
        "label": _label(collection.get_label()),
        "colour": _colour(_face(collection)),
        "x": [_short(v) for v in points[:, 0]],
        "y": [_short(v) for v in points[:, 1]],
        "line": "",
        "mark": "circle",
        "bars": False,
        **told,
    }


def _rule(line: "Line2D") -> dict[str, Any] | None:
    axes = line.axes
    if axes is None:
        return None
    in_x, in_y = _in_data(line, axes)  # type: ignore[arg-type]
    if in_x == in_y:
        return None
    values = line.get_xdata() if in_x else line.get_ydata()
    return {
        "axis": "x" if in_x else "y",
        "at": _short(np.asarray(values, float).ravel()[0]),
        "label": _label(line.get_label()),
        "colour": _colour(line.get_color()),
        "line": _dash(line),
    }


# --- areas and tiles --------------------------------------------------------------------------


def _is_area(collection: "Collection") -> bool:
    return type(collection).__name__ in ("PolyCollection", "FillBetweenPolyCollection")


def _area(collection: "Collection") -> dict[str, Any]:
    face = _face(collection)
    return {
        "colour": _colour(face),
        "opacity": float(face[3]),
        "paths": [
            [[_short(v) for v in point] for point in np.asarray(path.vertices, float)]
            for path in collection.get_paths()
        ],
    }


def _span(patch: Any, panel: "Axes") -> dict[str, Any] | None:
    """A stretch of one axis, shaded across the whole panel."""
    if not hasattr(patch, "get_bbox") or _in_data(patch, panel) not in (
        (True, False),
        (False, True),
    ):
        return None
    box, in_x = patch.get_bbox(), _in_data(patch, panel)[0]
    x = sorted((box.x0, box.x1)) if in_x else panel.get_xlim()
    y = panel.get_ylim() if in_x else sorted((box.y0, box.y1))
    face = patch.get_facecolor()
    corners = ((0, 0), (1, 0), (1, 1), (0, 1))
    path = [[_short(x[i]), _short(y[j])] for i, j in corners]
    return {"colour": _colour(face), "opacity": float(face[3]), "paths": [path]}


def _mesh(mesh: Any) -> dict[str, Any]:
    corners = np.asarray(mesh.get_coordinates(), float)
    values = np.ma.filled(np.ma.asarray(mesh.get_array(), float), np.nan)
    rows, columns = corners.shape[0] - 1, corners.shape[1] - 1
    shades = mesh.to_rgba(values.ravel())
    boxes = [(*corners[i, j], *corners[i + 1, j + 1]) for i in range(rows) for j in range(columns)]
    return _tiles(boxes, values.ravel(), shades, details_of(mesh))


def _image(image: Any) -> dict[str, Any]:
    values = np.ma.filled(np.ma.asarray(image.get_array(), float), np.nan)
    rows, columns = values.shape[:2]
    left, right, bottom, top = image.get_extent()
    across, down = np.linspace(left, right, columns + 1), np.linspace(top, bottom, rows + 1)
    if image.origin == "lower":
        down = down[::-1]
    boxes = [
        (across[j], down[i], across[j + 1], down[i + 1])
        for i in range(rows)
        for j in range(columns)
    ]
    return _tiles(boxes, values.ravel(), image.to_rgba(values.ravel()), details_of(image))


def _tiles(boxes: list, values: np.ndarray, shades: np.ndarray, told: dict) -> dict[str, Any]:
    seen = [i for i, v in enumerate(values) if math.isfinite(v)]
    return {
        "boxes": [[_short(v) for v in boxes[i]] for i in seen],
        "values": [_short(values[i]) for i in seen],
        "colours": [_colour(shades[i], ink=False) for i in seen],
        **{k: [_plain(v[i]) for i in seen] for k, v in told.items() if len(v) == len(values)},
    }


# --- words, colours, numbers ------------------------------------------------------------------


def _text_of(panel: "Axes"):
    def text(artist: Any) -> dict[str, Any] | None:
        if artist.get_transform() != panel.transData or not artist.get_text():
            return None
        x, y = artist.get_position()
        return {"x": _short(x), "y": _short(y), "text": plain_text(artist.get_text())}

    return text


def _label(label: object) -> str:
    text = str(label)
    return "" if text.startswith("_") else plain_text(text)


def _dash(line: "Line2D") -> str:
    """The line's dashes as SVG has them; nothing for points alone."""
    style = line.get_linestyle()
    plain = {"-": "none", "--": "5,3", ":": "1.5,2.5", "-.": "6,2.5,1.5,2.5"}
    return "" if style in ("None", "none", " ", "") else plain.get(str(style), "2,2")


def _mark(line: "Line2D") -> str:
    names = {"o": "circle", ".": "circle", "s": "square", "^": "triangle", "v": "triangle2",
             ">": "triangle", "<": "triangle2",
             "*": "star", "x": "times", "+": "plus", "D": "diamond"}  # fmt: skip
    mark = names.get(str(line.get_marker()), "")
    if line.get_markevery() is not None and line.get_linestyle() != "None":
        return ""  # a few marks tell curves apart on paper; here colours and names do
    hollow = mark and str(line.get_markerfacecolor()) in ("none", "white", "w")
    return f"{mark} hollow" if hollow else mark


def _face(collection: "Collection") -> tuple[float, ...]:
    from matplotlib.colors import to_rgba_array

    faces = to_rgba_array(collection.get_facecolor())
    return tuple(float(x) for x in faces[0]) if len(faces) else (0.5, 0.5, 0.5, 0.2)


def _colour(colour: Any, *, ink: bool = True) -> str:
    from matplotlib.colors import to_hex

    found = to_hex(colour)
    return INK.get(found, found) if ink else found


def _short(value: Any) -> float | None:
    """A number in five digits; nothing for what is none."""
    number = float(value)
    return float(f"{number:.5g}") if math.isfinite(number) else None


def _plain(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return _short(value)
    return value.item() if isinstance(value, np.generic) else value


def artists_with_details(drawing: "Drawing") -> "list[Artist]":
    """The artists of a drawing of which `plotting.explain` was told something."""
    found = [a for axes in drawing.axes for a in (*axes.lines, *axes.collections, *axes.images)]
    return [artist for artist in found if details_of(artist)]
