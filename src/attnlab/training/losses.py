r"""Losses of a margin $x = yF$, with the size of their slope $-\ell'(x)$."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

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


exponential = Loss(lambda x: jnp.exp(-x), lambda x: jnp.exp(-x))
"""exp(-x): the slope is the loss."""

squared = Loss(lambda x: (1 - x) ** 2, lambda x: 2 * (1 - x))
"""(1 - x)^2: near its minimum the slope is far larger than the loss."""


def _heavy_value(x: Margins) -> Margins:
    return jnp.where(x > 0, 1 / (1 + jnp.maximum(x, 0) / 2), 1 - x / 2)


def _heavy_slope(x: Margins) -> Margins:
    return 1 / (2 * (1 + jnp.maximum(x, 0) / 2) ** 2)


heavy_tailed = Loss(_heavy_value, _heavy_slope)
"""1/(1 + x/2), straight below zero: slope and curvature are at most half of the loss."""


class ChosenLoss(eqx.Module):
    """One of several losses. Which one is data, so that all of them share a compiled program."""

    losses: tuple[Loss, ...] = eqx.field(static=True)
    place: Int[Array, ""]

    def value(self, x: Margins) -> Margins:
        """The loss."""
        return jnp.stack([loss.value(x) for loss in self.losses])[self.place]

    def slope(self, x: Margins) -> Margins:
        """Minus its derivative."""
        return jnp.stack([loss.slope(x) for loss in self.losses])[self.place]


AnyLoss = Loss | ChosenLoss


@cache
def hinge(margin: float = 1.0) -> Loss:
    """max(0, margin - x), with slope 1 below the margin. Equal margins give one object."""

    def value(x: Margins) -> Margins:
        return jnp.maximum(margin - x, 0)

    def slope(x: Margins) -> Margins:
        return (x < margin).astype(x.dtype)

    return Loss(value, slope)


LOSSES: dict[str, Loss] = {
    "logistic": logistic,
    "exponential": exponential,
    "hinge": hinge(),
    "squared": squared,
    "heavy_tailed": heavy_tailed,
}
"""Every loss by name. One of your own is an entry: a value and minus its derivative."""
