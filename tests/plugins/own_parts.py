"""Parts as a user writes them, outside the package: a selector, noise, an optimiser, a scheme."""

import jax
import jax.numpy as jnp
import optax

from attnlab.data.token_mixture import NoiseKind
from attnlab.models.protocol import Weights


def value_length(batch, model, parameters):
    """A selector: the longer a token's value vectors, the longer it is kept."""
    W_V = parameters.trained.W_V
    values = jnp.einsum("had,nld->nhla", W_V, batch.vectors())
    return jnp.sqrt((values**2).sum((1, 3)))


CORNERS = NoiseKind(
    along=lambda u: jnp.where(u < 0, -1.0, 1.0),
    radius=lambda draw: jnp.ones_like(draw.share),
)
"""A kind of noise: as much of it as Assumption 3 allows."""


def heavy_ball(learning_rate):
    """An optimiser: descent with momentum."""
    return optax.sgd(learning_rate, momentum=0.9)


def shrinking(learning_rate):
    """An optimiser that reads the weights."""
    return optax.chain(optax.add_decayed_weights(0.1), optax.sgd(learning_rate))


def small(key, model, batch, *, scale=0.1):
    """A scheme for the first weights: the model's own random one, made smaller."""
    trained, fixed = type(model).schemes["gaussian"](key, model, batch)
    return Weights(jax.tree.map(lambda x: scale * x, trained), fixed)
