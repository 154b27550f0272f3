"""The numbers of formulas: floats, or those of mpmath, whose exponents do not overflow."""

import math
from typing import Any

Real = float | Any
"""A float or a number of mpmath; `Any` stands for the latter, for mpmath comes without types."""


def log(x: Real) -> Real:
    """The natural logarithm."""
    if isinstance(x, int | float):
        return math.log(x)
    import mpmath

    return mpmath.log(x)


def exp(x: Real) -> Real:
    """The exponential function."""
    if isinstance(x, int | float):
        return math.exp(x)
    import mpmath

    return mpmath.exp(x)
