"""Tokens removed from the samples of a run of li2023, in training and at test time."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array

from attnlab.data.pattern_vote import PatternBatch
from attnlab.engines.exact import Exact
from attnlab.models.protocol import Weights
from attnlab.models.shallow_vit import Parameters
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.papers.li2023.runs.given import Given
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.selection import select_tokens

TRAINING, TEST = 0, 1
"""Which samples: each has random numbers of its own."""


def selected(
    cell: TrainingSettings, given: Given, batch: PatternBatch, parameters: Parameters, which: int
) -> PatternBatch:
    """The batch with the tokens kept that the cell's selector chooses by these weights."""
    if cell.kept == cell.L:
        return batch
    # A pattern that is padding is not there to be near to: the first one stands in for it.
    mu = jnp.where(given.used[:, None], given.directions, given.directions[0])
    known = replace(batch, pattern_vectors=mu[:, None].astype(given.dtype))
    chosen = select_tokens(
        known,
        "attention" if cell.selector == "model" else cell.selector,
        cell.kept / cell.L,
        model=ShallowViT(),
        parameters=Weights(parameters),
        key=jax.random.fold_in(given.streams.selection, which),
    )
    return replace(batch, kept=chosen.kept)


def placed(given: Given, batch: PatternBatch) -> PatternBatch:
    """The kept tokens at their places, or moved to the first ones."""
    order = jnp.argsort(~batch.kept, axis=1, stable=True)
    renumbered = given.inputs.positions.is_("renumbered")
    order = jnp.where(renumbered, order, jnp.arange(order.shape[1]))

    def moved(x: Array) -> Array:
        return jnp.take_along_axis(x, order.reshape(*order.shape, *[1] * (x.ndim - 2)), axis=1)

    return eqx.tree_at(
        lambda b: (b.tokens, b.roles, b.kept, b.patterns, b.noisy), batch, replace_fn=moved
    )


def on_kept_tokens(given: Given, engine: Exact, batch: PatternBatch) -> Exact:
    """The engine on the batch's tokens, those removed left out of the softmax or set to zero.

    Left out they are not there at all: the arrays are cut to `token_room`.
    """
    zeroed = given.inputs.removal.is_("zeroed")
    tokens = jnp.where(zeroed & ~batch.kept[..., None], 0, batch.tokens)
    engine = engine.with_tokens(tokens, batch.kept, jnp.where(zeroed, True, batch.kept))
    room = given.inputs.token_room
    return engine if room == given.inputs.L else engine.shortened(room)
