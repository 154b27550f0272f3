"""What the figures of yang2024 share."""

from functools import partial

import numpy as np

from attnlab.core import Record
from attnlab.plotting import canvas as any_canvas
from attnlab.plotting import colours as any_colours
from attnlab.plotting import first_seeds as first_seeds
from attnlab.plotting import numbers as numbers

canvas = partial(any_canvas, height=3.4)
"""A drawing and its panels, in the size of this paper's figures."""
colours = partial(any_colours, lightest=0.85)


def clock(record: Record) -> np.ndarray:
    """The recorded times in units of 1/rate, rate = (s1^2 + s0^2) m |a|^2."""
    return record["times"] * float(record["rate"])
