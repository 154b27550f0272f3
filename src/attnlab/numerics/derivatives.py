"""Derivatives by central differences, with an estimate of their own error."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree


class Difference(NamedTuple):
    """A numerical derivative and how far from the true one it may be, entry by entry."""

    value: Float[Array, "..."]
    error: Float[Array, "..."]


def directional_difference(
    function: Callable[[PyTree], Float[Array, "..."]],
    point: PyTree,
    direction: PyTree,
    step: float = 1e-2,
) -> Difference:
    r"""The derivative of `function` at `point` along `direction`, by Richardson extrapolation.

    $$D(h) = \frac{f(x+hv)-f(x-hv)}{2h}, \qquad D(h) = f'(x)v + c_2 h^2 + c_4 h^4 + \dots$$

    Differences at $h, h/2, h/4$ cancel $c_2$ and $c_4$. The error is the change made by the last
    cancellation, plus the rounding of $f$ divided by the smallest step; so a check can ask for
    agreement *within the finite difference's own accuracy* and needs no tolerance of its own.
    """

    def shifted(h: Float[Array, ""]) -> Float[Array, "..."]:
        return function(jax.tree.map(lambda x, v: x + h * v, point, direction))

    steps = [step, step / 2, step / 4]
    # One loop over all shifts: the function is compiled once, not six times.
    values = jax.lax.map(shifted, jnp.asarray([sign * h for h in steps for sign in (1, -1)]))
    pairs = [(values[2 * i], values[2 * i + 1]) for i in range(len(steps))]
    D = [(up - down) / (2 * h) for (up, down), h in zip(pairs, steps, strict=True)]
    once = [(4 * D[1] - D[0]) / 3, (4 * D[2] - D[1]) / 3]
    twice = (16 * once[1] - once[0]) / 15
    # An entry near 0 may be a sum of large terms: its rounding is that of the largest entry.
    size = jnp.abs(values).max()
    # The factor 16: f itself is computed with several roundings, and the weights above add up.
    rounding = 16 * jnp.finfo(twice.dtype).eps * size / steps[-1]
    return Difference(twice, jnp.abs(twice - once[1]) + rounding)
