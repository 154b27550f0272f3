"""The weights behind the state of an engine, or why there are none."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from attnlab.engines.gram import Gram
from attnlab.engines.gram_neurons import GramWithNeurons
from attnlab.engines.heads import HeadsEngine
from attnlab.engines.symmetric_words import SymmetricOnWords
from attnlab.models.multihead import Heads
from attnlab.models.protocol import Weights
from attnlab.training.engine import Engine

LARGEST_WRITTEN_OUT = 4096
"""Heads that are written out one by one from their groups."""


def weights_behind(engine: Engine, state: PyTree, fixed: PyTree) -> Weights | str:
    """The weights; a sentence where an engine keeps a reduction of them."""
    if isinstance(engine, HeadsEngine):
        return _heads(engine, state)
    if isinstance(engine, Gram | GramWithNeurons | SymmetricOnWords):
        return (
            "this engine keeps products of the weights, not the weights themselves; give "
            "engine='word_weights' to start, or engine='weights' to train"
        )
    return Weights(state, fixed)


def _heads(engine: HeadsEngine, state: Heads) -> Weights | str:
    """Every head; those of a group are equal."""
    groups, counts = engine.parameters(state), np.asarray(engine.counts)
    if float(engine.H) > LARGEST_WRITTEN_OUT:
        return (
            f"{float(engine.H):g} heads in {len(counts)} groups of equal ones are not written out; "
            f"take at most {LARGEST_WRITTEN_OUT} heads, or read the series"
        )
    repeats = np.round(counts).astype(int)
    return Weights(Heads(jnp.repeat(groups.U, repeats, 0), jnp.repeat(groups.W, repeats, 0)))
