"""The largest value of a function on a segment: a grid first, then golden sections."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

COARSE = 17
"""Points of the grid, both ends among them."""
SECTIONS = 24
"""Golden sections of the two cells beside the best point: they end 1e-6 of the segment wide."""
GOLDEN = (5**0.5 - 1) / 2


def largest_on_segment(
    f: Callable[[Array], Array], coarse: int = COARSE, sections: int = SECTIONS
) -> Float[Array, ""]:
    r"""$\max_{\alpha\in[0,1]}f(\alpha)$, from below.

    The maximum of a grid, refined where it is largest. A function with one maximum in these two
    cells is found to the square of their last width; a narrower peak elsewhere can be missed, so
    that the value is never above the true one.
    """
    at = jnp.linspace(0.0, 1.0, coarse)
    values = jax.lax.map(f, at)
    best = jnp.argmax(values)
    low = at[jnp.maximum(best - 1, 0)]
    high = at[jnp.minimum(best + 1, coarse - 1)]
    inner = (high - GOLDEN * (high - low), low + GOLDEN * (high - low))

    def section(_: Array, carry: tuple) -> tuple:
        low, high, left, right, of_left, of_right, most = carry
        up = of_left < of_right
        low, high = jnp.where(up, left, low), jnp.where(up, high, right)
        other = jnp.where(up, low + GOLDEN * (high - low), high - GOLDEN * (high - low))
        value = f(other)
        left, right = jnp.where(up, right, other), jnp.where(up, other, left)
        of_left, of_right = jnp.where(up, of_right, value), jnp.where(up, value, of_left)
        return low, high, left, right, of_left, of_right, jnp.maximum(most, value)

    firsts = jax.lax.map(f, jnp.stack(inner))  # one program for both: f may be slow to compile
    most = jnp.maximum(values.max(), firsts.max())
    begin = (low, high, *inner, *firsts, most)
    return jax.lax.fori_loop(0, sections, section, begin)[-1]
