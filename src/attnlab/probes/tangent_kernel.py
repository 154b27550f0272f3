r"""Neural-tangent features of multi-head attention, and their largest margin.

$$\langle\nabla\tilde\Phi(X),\nabla\tilde\Phi(X')\rangle=\frac1H\sum_h
  \langle\nabla\Phi(X;\theta_h),\nabla\Phi(X';\theta_h)\rangle .$$

After phase 1 the gradient of a head is the same but for the sign of its W part, so that the
kernel depends neither on H nor on the signs: the features of one head of sign +1 are enough.
Margins are stated for directions of length sqrt 2, as in the paper's P3.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float

from attnlab.models.multihead import Heads, Output, head_gradient
from attnlab.numerics.max_margin import MaxMargin, max_margin, max_margin_of_gram

LENGTH = 2**0.5
"""The length of the direction theta_* in P3."""


def head_features(
    u: Float[Array, "..."], W: Float[Array, "d d"], tokens: Float[Array, "n T d"], output: Output
) -> Float[Array, "n p"]:
    """The gradient of one head's output on every sample, flat: U first, then W."""
    return jax.vmap(lambda X: ravel_pytree(head_gradient(u, W, X, output))[0])(tokens)


def tangent_gram(
    heads: Heads, tokens: Float[Array, "n T d"], output: Output = "full"
) -> Float[Array, "n n"]:
    """The kernel of many heads, the mean of theirs; a head at a time, to save memory."""

    def one(total: Array, head: Heads) -> tuple[Array, None]:
        features = head_features(head.U, head.W, tokens, output)
        return total + features @ features.T, None

    n = tokens.shape[0]
    total, _ = jax.lax.scan(one, jnp.zeros((n, n)), heads)
    return total / heads.W.shape[0]


def tangent_margin(features: np.ndarray, labels: np.ndarray) -> MaxMargin:
    """The hard-margin problem on features of one head, with its certificate."""
    return max_margin(np.asarray(features), np.asarray(labels, float))


def tangent_margin_of_gram(gram: np.ndarray, labels: np.ndarray) -> MaxMargin:
    """The same from the kernel."""
    return max_margin_of_gram(np.asarray(gram), np.asarray(labels, float))


def unit_direction(solution: MaxMargin) -> np.ndarray | None:
    """The direction of length one that has the largest margin; None if there is none."""
    if solution.direction is None:
        return None
    return solution.direction / np.linalg.norm(solution.direction)
