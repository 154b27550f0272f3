"""What the figures of deora2023 share."""

from typing import Any

import numpy as np

from attnlab.core import Records


def canvas(rows: int, columns: int, width: float = 4.8, height: float = 3.6) -> tuple[Any, Any]:
    """A drawing and its panels, always as an array (rows, columns)."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(width * columns, height * rows), layout="constrained")
    return drawing, drawing.subplots(rows, columns, squeeze=False)


def numbers(values: Any) -> list[float]:
    """An array as plain numbers for the figure's data file."""
    return [float(x) for x in np.asarray(values).reshape(-1)]


def medians(records: Records, setting: str, scalar: str) -> tuple[np.ndarray, np.ndarray]:
    """The levels of a setting and the median of a scalar at each."""
    groups = records.by(setting)
    levels = np.array(list(groups), float)
    return levels, np.array([np.median(part.column(scalar)) for part in groups.values()])


def colours(count: int) -> list[Any]:
    """So many colours from dark to light."""
    import matplotlib

    return [matplotlib.colormaps["viridis"](x) for x in np.linspace(0, 0.88, max(count, 1))]


def power_of_ten(value: float) -> str:
    """A number of heads in a few signs."""
    exponent = np.log10(value)
    return (
        f"$10^{{{exponent:.0f}}}$" if exponent == int(exponent) and value >= 1e3 else f"{value:g}"
    )
