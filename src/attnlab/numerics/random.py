"""Random numbers: one threefry stream per name, sampled in float64 and then cast.

All are drawn in one dimension and then given their shape. The bits are the same, but a draw in
two or three dimensions takes XLA 2 to 8 s to compile where the flat one takes 0.3 s.
"""

import math
from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, PRNGKeyArray

from attnlab.cells import Key


def stream_key(key: Key, stream: str) -> PRNGKeyArray:
    """The jax key of one named stream (`data`, `init`, ...) of a run."""
    words = jnp.asarray(key.words(stream), dtype=jnp.uint32)
    return jax.random.wrap_key_data(words, impl="threefry2x32")


def normal(
    key: PRNGKeyArray, shape: Sequence[int], deviation: float, dtype: DTypeLike = jnp.float64
) -> Float[Array, "..."]:
    """Independent N(0, deviation^2) numbers, drawn in float64 whatever the dtype asked for."""
    _require_float64()
    drawn = jax.random.normal(key, (math.prod(shape),), jnp.float64).reshape(shape)
    return (deviation * drawn).astype(dtype)


def uniform(
    key: PRNGKeyArray, shape: Sequence[int], bound: float, dtype: DTypeLike = jnp.float64
) -> Float[Array, "..."]:
    """Independent numbers, uniform between -bound and bound, drawn in float64."""
    _require_float64()
    flat = (math.prod(shape),)
    drawn = jax.random.uniform(key, flat, jnp.float64, minval=-bound, maxval=bound)
    return drawn.reshape(shape).astype(dtype)


def fractions(key: PRNGKeyArray, shape: Sequence[int]) -> Float[Array, "..."]:
    """Independent float32 numbers, uniform in [0, 1): to compare with shares and to sort by."""
    return jax.random.uniform(key, (math.prod(shape),), jnp.float32).reshape(shape)


def signs(
    key: PRNGKeyArray, shape: Sequence[int], dtype: DTypeLike = jnp.float64
) -> Float[Array, "..."]:
    """Independent fair signs, -1 or +1."""
    drawn = jax.random.bernoulli(key, 0.5, (math.prod(shape),)).reshape(shape)
    return jnp.where(drawn, 1.0, -1.0).astype(dtype)


def _require_float64() -> None:
    # Without x64, jax draws in float32 and only warns: the same key would give other numbers.
    if not jax.config.jax_enable_x64:  # pyright: ignore[reportAttributeAccessIssue]
        raise RuntimeError(
            "jax runs in 32 bits, but random numbers are drawn in float64 so that a key gives the "
            "same draw in every precision; set JAX_ENABLE_X64=1 before the process starts"
        )


_BLOCK = 256


def chi_squared(key: PRNGKeyArray, freedom: Int[np.ndarray, " k"]) -> Float[Array, " k"]:
    """Chi-squared numbers of these degrees of freedom, in double precision.

    Drawn in whole blocks: the sampler takes seconds to compile, for every length anew, and a
    number does not depend on how many are drawn after it.
    """
    _require_float64()
    whole = np.ones(-(-freedom.size // _BLOCK) * _BLOCK)
    whole[: freedom.size] = freedom
    return 2 * jax.random.gamma(key, whole / 2, dtype=jnp.float64)[: freedom.size]
