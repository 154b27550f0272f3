"""Marks that several figures draw: bands over seeds, shares of successes, ends that are open."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from attnlab.core import Record, Records

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

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
    return level_band(panel, x, values.T, label, middle, **style)


def level_band(
    panel: "Axes",
    x: ArrayLike,
    groups: "Sequence[ArrayLike] | np.ndarray",
    label: str,
    middle: str = "median",
    floor: float | None = None,
    **style: Any,
) -> dict[str, object]:
    """The same where every x has runs of its own, as many as it may have.

    What lies below `floor` is drawn there, as an open triangle that points down.
    """
    values = [np.asarray(group, float).ravel() for group in groups]
    if not values:  # no level has a run, as where none succeeded
        return {middle: [], "low": [], "high": []}
    take = np.median if middle == "median" else np.mean
    centre = np.array([take(v) for v in values])
    low, high = np.array([np.quantile(v, [0.1, 0.9]) for v in values]).T
    told: dict[str, object] = {middle: numbers(centre), "low": numbers(low), "high": numbers(high)}
    at = np.asarray(x, float)
    least = -np.inf if floor is None else floor
    shown, bottom, top = (np.maximum(v, least) for v in (centre, low, high))
    (line,) = panel.plot(at, shown, label=label, **style)
    if max(map(len, values)) > 1:
        panel.fill_between(at, bottom, top, color=line.get_color(), alpha=0.18, lw=0)
    explain(line, low=low, high=high, runs=[len(v) for v in values])
    below = centre < least
    if below.any():
        marks = panel.plot(at[below], shown[below], "v", mfc="white", ms=7, color=line.get_color())
        explain(marks[0], note=[f"{v:.3g}, below {floor:g}" for v in centre[below]])
    return told


def nested(count: int, widest: float = 4.5, thinnest: float = 1.0) -> list[float]:
    """Widths of curves that may lie on each other: the first is seen on both sides of the last."""
    return [float(w) for w in np.linspace(widest, thinnest, count)] if count > 1 else [1.5]


def columns_of_dots(
    panel: "Axes", groups: "Mapping[str, np.ndarray]", line: float | None = None
) -> None:
    """Every run as a dot and the median as a bar, a named column for each group."""
    from attnlab.plotting.style import PALETTE

    for column, (name, values) in enumerate(groups.items()):
        x = column + np.linspace(-0.15, 0.15, len(values))
        (dots,) = panel.plot(x, values, "o", color=PALETTE[0], ms=3.5, alpha=0.6)
        explain(dots, group=[plain_name(name)] * len(values))
        middle = [float(np.median(values))] * 2
        panel.plot([column - 0.3, column + 0.3], middle, color=PALETTE[1], lw=1.8)
    panel.set_xticks(range(len(groups)), list(groups), fontsize=8)
    panel.grid(False, axis="x")
    if line is not None:
        panel.axhline(line, color="#555555", lw=1, ls=":")


def plain_name(name: str) -> str:
    """A name of two lines in one."""
    return name.replace("\n", ", ")


def success_dots(
    panel: "Axes", x: ArrayLike, y: ArrayLike, successes: ArrayLike, trials: ArrayLike
) -> "Artist":
    """Shares of successes as dots where trials were made: darker for fewer, larger for more trials.

    For designs whose sizes differ from level to level, so that tiles would leave holes.
    """
    won, tried = np.asarray(successes, float), np.asarray(trials, float)
    dots = panel.scatter(
        x, y, c=won / tried, s=10 + 1.5 * np.minimum(tried, 30), cmap="cividis", vmin=0, vmax=1,
        edgecolors="0.5", lw=0.5, zorder=1.5,
    )  # fmt: skip
    low, high = exact_interval(won, tried)
    explain(dots, share=won / tried, trials=tried, low=low, high=high)
    return dots


def exact_interval(won: ArrayLike, tried: ArrayLike) -> tuple[list[Any], list[Any]]:
    """The ends of the exact 95 % interval of each share; none where nothing was tried."""
    from scipy.stats import binomtest

    ends = [
        binomtest(int(w), int(t)).proportion_ci(method="exact") if t else None
        for w, t in zip(np.ravel(won), np.ravel(tried), strict=True)
    ]
    return [e and e.low for e in ends], [e and e.high for e in ends]


def success_tiles(
    panel: "Axes", x: ArrayLike, y: ArrayLike, successes: ArrayLike, trials: ArrayLike
) -> "Artist":
    """Shares of successes as tiles over true axes; `successes` and `trials` are (y, x).

    Tiles reach half way to their neighbours, on a logarithmic axis half way in the logarithm; set
    the axes' scales first. Each tile tells the page its trials and its exact 95 % interval.
    """
    won, tried = np.asarray(successes, float), np.asarray(trials, float)
    with np.errstate(invalid="ignore"):
        share = np.where(tried > 0, won / tried, np.nan)
    mesh = tiles(panel, x, y, share, vmin=0, vmax=1)
    low, high = exact_interval(won, tried)
    explain(mesh, trials=tried, low=low, high=high)
    return mesh


def tiles(
    panel: "Axes", x: ArrayLike, y: ArrayLike, values: np.ndarray, vmin: float, vmax: float
) -> "Artist":
    """Values (y, x) as tiles that reach half way to their neighbours, in the axes' own scales."""
    across, up = _edges(x, panel.get_xscale()), _edges(y, panel.get_yscale())
    mesh = panel.pcolormesh(
        across, up, values, cmap="cividis", vmin=vmin, vmax=vmax, edgecolors="0.6", linewidth=0.3
    )
    panel.grid(False)
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


def censored(
    panel: "Axes", x: ArrayLike, y: ArrayLike, above: bool, sideways: bool = False, **style: Any
) -> "Artist":
    """Marks of what lies beyond the last size looked at (or before the first): triangles."""
    sign = (">" if above else "<") if sideways else ("^" if above else "v")
    (marks,) = panel.plot(x, y, sign, mfc="none", ls="none", **style)
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
