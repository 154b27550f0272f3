"""Arithmetic of parameters over all heads: a group counts as often as it has heads."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.engines.heads import HeadsEngine
from attnlab.models.multihead import Heads, decoder_norms


def scaled(x: Heads, factor: Array | float) -> Heads:
    """factor x."""
    return Heads(factor * x.U, factor * x.W)


def plus(x: Heads, y: Heads) -> Heads:
    """x + y."""
    return Heads(x.U + y.U, x.W + y.W)


def minus(x: Heads, y: Heads) -> Heads:
    """x - y."""
    return Heads(x.U - y.U, x.W - y.W)


def inner(x: Heads, y: Heads, engine: HeadsEngine) -> Float[Array, ""]:
    """The inner product over all heads: a group counts as often as it has heads."""
    by_group = jnp.sum((x.U * y.U).reshape(x.U.shape[0], -1), axis=1)
    return engine.counts @ (by_group + jnp.sum(x.W * y.W, axis=(1, 2)))


def length(x: Heads, engine: HeadsEngine) -> Float[Array, ""]:
    """The Euclidean length over all heads."""
    return jnp.sqrt(inner(x, x, engine))


def largest_decoder(state: Heads, engine: HeadsEngine) -> Float[Array, ""]:
    """The largest |U_h| of a head that is there."""
    sizes = decoder_norms(engine.parameters(state))
    return jnp.where(engine.counts > 0, sizes, 0.0).max()
