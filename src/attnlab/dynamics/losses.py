r"""Losses of a margin $x = yF$, with the size of their slope $-\ell'(x)$."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Margins = Float[Array, "..."]


class Loss(NamedTuple):
    """A decreasing loss and minus its derivative (the paper's g, for the logistic loss)."""

    value: Callable[[Margins], Margins]
    slope: Callable[[Margins], Margins]


def _logistic_value(margin: Margins) -> Margins:
    return jax.nn.softplus(-margin)


def _logistic_slope(margin: Margins) -> Margins:
    return jax.nn.sigmoid(-margin)


logistic = Loss(_logistic_value, _logistic_slope)
"""log(1 + exp(-x)), with slope 1 / (1 + exp(x))."""


@cache
def hinge(margin: float = 1.0) -> Loss:
    """max(0, margin - x), with slope 1 below the margin. Equal margins give one object."""

    def value(x: Margins) -> Margins:
        return jnp.maximum(margin - x, 0)

    def slope(x: Margins) -> Margins:
        return (x < margin).astype(x.dtype)

    return Loss(value, slope)
