"""What the figures of yang2024 share."""

import re
from collections.abc import Callable
from functools import partial

import numpy as np

from attnlab.core import Record, Records
from attnlab.plotting import canvas as any_canvas
from attnlab.plotting import colours as any_colours
from attnlab.plotting import first_seeds as first_seeds
from attnlab.plotting import numbers as numbers

canvas = partial(any_canvas, height=3.4)
"""A drawing and its panels, in the size of this paper's figures."""
colours = partial(any_colours, lightest=0.85)


def lettered(name: str) -> str:
    """A name with its Greek letters set: `only mu_1`."""
    return re.sub(r"mu_(\d)", r"$\\mu_\1$", name)


def clock(record: Record) -> np.ndarray:
    """The recorded times in units of 1/rate, rate = (s1^2 + s0^2) m |a|^2."""
    return record["times"] * float(record["rate"])


def on_one_clock(
    records: Records, value: Callable[[Record], np.ndarray], points: int = 64
) -> tuple[np.ndarray, np.ndarray]:
    """A series of every run, (runs, points), at common times up to the first run's end."""
    clocks = [clock(r)[1:] for r in records]
    common = np.geomspace(max(t[0] for t in clocks), min(t[-1] for t in clocks), points)
    found = [
        np.interp(np.log(common), np.log(t), value(r)[1:])
        for r, t in zip(records, clocks, strict=True)
    ]
    return common, np.stack(found)
