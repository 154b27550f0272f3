"""Runs of yang2024 about the start: weights as they are drawn, softmax and tails."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines.word_weights import Weights
from attnlab.models.linear_mlp_transformer import Parameters
from attnlab.models.word_level import attention, read_out
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.yang2024.runs import draws
from attnlab.papers.yang2024.runs.probes.phase_1 import neuron_rates
from attnlab.papers.yang2024.runs.summaries import initial
from attnlab.papers.yang2024.settings import SoftmaxSettings, StartSettings, TailSettings
from attnlab.papers.yang2024.theory.sizes import bernstein
from attnlab.probes.context import Context
from attnlab.training.inputs import Inputs, compiled


def draw_start(cell: StartSettings, key: Key) -> Result:
    """Draw samples and weights and measure appendix D's sizes and the first rates."""
    batch = draws.training_set(cell, key)
    engine, state = draws.start(cell, key, batch, batch)
    assert isinstance(engine, Weights), "appendix D speaks of the weights themselves"
    arrays = jax.tree.map(np.asarray, _sizes_at_start(engine, state, batch))
    arrays["words"] = np.asarray(batch.words, np.int32)
    start = initial.DrawnStart(*(arrays[name] for name in initial.DrawnStart._fields))
    scalars = initial.summarise(start, draws.stated_sizes(cell))
    return Result({**draws.description(cell, batch), **scalars})


@eqx.filter_jit
def _sizes_at_start(engine: Weights, state: Parameters, batch: Batch) -> dict[str, Array]:
    view = engine.view(state)
    p = attention(view, batch.words)
    grams = {name: getattr(view, name) for name in ("G", "V", "S", "K", "Q")}
    return {
        **grams,
        **neuron_rates(jnp.zeros(()), view, Context(batch, view)),
        "W": state.W,
        "a": engine.a,
        "WV": state.W @ state.W_V,
        "p": p,
        "F": read_out(p, view.G, batch.words),
    }


def perturb_softmax(cell: SoftmaxSettings, key: Key) -> Result:
    """Lemma G.2's remainder, in norm, for perturbations of one size in random directions."""
    norms = np.asarray(_remainders(compiled(cell), stream_key(key, "scores")))
    return Result({"remainder": float(norms.max()), "ratio": float(norms.max()) / cell.size**2})


@eqx.filter_jit
def _remainders(inputs: Inputs, key: PRNGKeyArray) -> Float[Array, " draws"]:
    of_scores, of_direction = jax.random.split(key)
    shape = (inputs.draws, inputs.L)
    s = inputs.spread * normal(of_scores, shape, 1.0)
    direction = normal(of_direction, shape, 1.0)
    epsilon = inputs.size * direction / jnp.linalg.norm(direction, axis=1, keepdims=True)
    p = jax.nn.softmax(s)
    diagonal = inputs.jacobian.is_("diagonal").astype(float)
    mean = (1 - diagonal) * jnp.sum(p * epsilon, axis=1, keepdims=True)
    return jnp.linalg.norm(jax.nn.softmax(s + epsilon) - p - p * (epsilon - mean), axis=1)


def draw_tails(cell: TailSettings, key: Key) -> Result:
    """Lemma H.2: by how much pairs of Gaussian vectors are off, over the bound."""
    norms, products = _pairs(compiled(cell), stream_key(key, "vectors"))
    bound = bernstein(cell.m, 2 / cell.delta)
    return Result({"norms": np.asarray(norms) / bound, "products": np.asarray(products) / bound})


@eqx.filter_jit
def _pairs(inputs: Inputs, key: PRNGKeyArray) -> tuple[Array, Array]:
    of_first, of_second = jax.random.split(key)
    shape, deviation = (inputs.draws, inputs.m), inputs.m**-0.5
    first, second = normal(of_first, shape, deviation), normal(of_second, shape, deviation)
    return jnp.abs((first**2).sum(1) - 1), jnp.abs((first * second).sum(1))
