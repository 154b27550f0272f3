r"""The first weights of multi-head attention (Deora et al. 2023, section 5.1 and beyond).

Phase 1 is one step of size $\alpha_h\sqrt H$ from zero, $\alpha_h=\pm1$:

$$U_h^{(1)}=\alpha_h\mathbf 1_T v^\top,\quad W_h^{(1)}=0,\qquad
  v=\frac1{2n_1}\sum_{i\le n_1}y_i\bar x_i .$$

(Pooled: $u_h=\alpha_hTv$; last token: $u_h=\alpha_hv$.) `random` draws every entry of U and W from
a normal distribution, $W$ of deviation `scale`/d and $U$ of deviation `scale`/sqrt(T d); `zero`
starts at zero, where heads never part and the softmax is learnt only once U has moved.

Legend: $\bar x_i$ the mean token of sample i, H heads, T places.
"""

import math
from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.models.multihead import Heads, Output
from attnlab.numerics.random import normal, signs

MOST_COINS = 2**20
SomeArray = TypeVar("SomeArray", np.ndarray, Array)


def first_phase_direction(tokens: SomeArray, labels: SomeArray, weights: SomeArray) -> SomeArray:
    """v of the first step: half the mean of y times the mean token."""
    return (weights * labels) @ tokens.mean(axis=1) / 2  # pyright: ignore[reportReturnType]


def head_start(v: Float[Array, " d"], output: Output, T: int) -> Float[Array, "..."]:
    """The decoder parameters of a head of sign +1 after phase 1."""
    if output == "full":
        return jnp.broadcast_to(v, (T, v.shape[0]))
    return T * v if output == "pooled" else v


def phase_1_heads(
    v: Float[Array, " d"],
    counts: Float[Array, " 2"],
    heads: int,
    T: int,
    output: Output = "full",
) -> Heads:
    """All heads after phase 1, those of sign +1 first."""
    alpha = jnp.where(jnp.arange(heads) < counts[0], 1.0, -1.0)
    u = head_start(v, output, T)
    U = alpha.reshape(-1, *(1,) * u.ndim) * u
    return Heads(U, jnp.zeros((heads, v.shape[0], v.shape[0])))


def random_heads(
    key: PRNGKeyArray,
    heads: int,
    T: int,
    d: int,
    scale: float | Array,
    output: Output = "full",
) -> Heads:
    """Heads with independent normal entries."""
    of_U, of_W = jax.random.split(key)
    shape = (heads, T, d) if output == "full" else (heads, d)
    size = T * d if output == "full" else d
    return Heads(
        scale * normal(of_U, shape, size**-0.5), scale * normal(of_W, (heads, d, d), 1 / d)
    )


def zero_heads(heads: int, T: int, d: int, output: Output = "full") -> Heads:
    """Heads at zero."""
    shape = (heads, T, d) if output == "full" else (heads, d)
    return Heads(jnp.zeros(shape), jnp.zeros((heads, d, d)))


def sign_counts(key: PRNGKeyArray, heads: int) -> Float[Array, " 2"]:
    """How many of the heads have sign +1 and -1: a fair coin each."""
    if heads <= MOST_COINS:
        plus = (signs(key, (heads,)) > 0).sum().astype(float)
    else:
        # The normal limit: the coins themselves would be too many to throw.
        plus = jnp.round(heads / 2 + math.sqrt(heads) / 2 * normal(key, (1,), 1.0)[0])
    return jnp.stack([plus, heads - plus])
