"""What the figures of yang2024 share."""

from typing import Any

import numpy as np

from attnlab.core import Record, Records


def canvas(rows: int, columns: int, width: float = 4.8, height: float = 3.4) -> tuple[Any, Any]:
    """A drawing and its panels, always as an array (rows, columns)."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(width * columns, height * rows), layout="constrained")
    return drawing, drawing.subplots(rows, columns, squeeze=False)


def numbers(values: Any) -> list[float]:
    """An array as plain numbers for the figure's data file."""
    return [float(x) for x in np.asarray(values).reshape(-1)]


def clock(record: Record) -> np.ndarray:
    """The recorded times in units of 1/rate, rate = (s1^2 + s0^2) m |a|^2."""
    return record["times"] * float(record["rate"])


def first_seeds(records: Records, setting: str) -> dict[Any, Record]:
    """The first run of every level of a setting."""
    return {level: part[0] for level, part in records.by(setting).items()}


def colours(count: int) -> list[Any]:
    """So many colours from dark to light."""
    import matplotlib

    return [matplotlib.colormaps["viridis"](x) for x in np.linspace(0, 0.85, max(count, 1))]
