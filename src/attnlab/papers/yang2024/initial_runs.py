"""Runs of yang2024 about the start: weights as they are drawn, softmax and tails."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.models.word_level import attention, read_out
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.yang2024.auxiliary_settings import SoftmaxSettings, TailSettings
from attnlab.papers.yang2024.early_probes import neuron_rates
from attnlab.papers.yang2024.runs import _data_settings, _description, _draw, _start
from attnlab.papers.yang2024.settings import TrainingSettings
from attnlab.papers.yang2024.summaries import initial
from attnlab.papers.yang2024.theory.conditions import Sizes
from attnlab.papers.yang2024.theory.deviations import bernstein
from attnlab.probes.context import Context


def draw_start(cell: TrainingSettings, key: Key) -> Result:
    """Draw samples and weights and measure appendix D's sizes and the first rates."""
    shuffle = jnp.asarray(cell.labels == "shuffled")
    batch = _draw(_data_settings(cell), stream_key(key, "data"), shuffle)
    description = _description(cell, batch)
    engine, state = _start(cell, stream_key(key, "init"), batch, batch)
    start = {name: np.asarray(x) for name, x in _sizes_at_start(engine, state, batch).items()}
    start["words"] = description["words"]
    sizes = Sizes(cell.n, cell.L, cell.d, cell.m, cell.m1, description["s0"], description["s1"])
    return Result({**description, **initial.summarise(start, sizes)})


@eqx.filter_jit
def _sizes_at_start(engine, state, batch: Batch) -> dict[str, Array]:
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
    diagonal = jnp.asarray(cell.jacobian == "diagonal", float)
    remainders = _remainders(
        (cell.draws, cell.L),
        stream_key(key, "scores"),
        jnp.asarray(cell.spread),
        jnp.asarray(cell.size),
        diagonal,
    )
    norms = np.asarray(remainders)
    return Result({"remainder": float(norms.max()), "ratio": float(norms.max()) / cell.size**2})


@eqx.filter_jit
def _remainders(
    shape: tuple[int, int], key: PRNGKeyArray, spread: Array, size: Array, diagonal: Array
) -> Float[Array, " draws"]:
    of_scores, of_direction = jax.random.split(key)
    s = spread * normal(of_scores, shape, 1.0)
    direction = normal(of_direction, shape, 1.0)
    epsilon = size * direction / jnp.linalg.norm(direction, axis=1, keepdims=True)
    p = jax.nn.softmax(s)
    mean = (1 - diagonal) * jnp.sum(p * epsilon, axis=1, keepdims=True)
    return jnp.linalg.norm(jax.nn.softmax(s + epsilon) - p - p * (epsilon - mean), axis=1)


def draw_tails(cell: TailSettings, key: Key) -> Result:
    """Lemma H.2: by how much pairs of Gaussian vectors are off, over the bound."""
    norms, products = _pairs((cell.draws, cell.m), stream_key(key, "vectors"))
    bound = bernstein(cell.m, 2 / cell.delta)
    return Result({"norms": np.asarray(norms) / bound, "products": np.asarray(products) / bound})


@eqx.filter_jit
def _pairs(shape: tuple[int, int], key: PRNGKeyArray) -> tuple[Array, Array]:
    of_first, of_second = jax.random.split(key)
    first = normal(of_first, shape, shape[1] ** -0.5)
    second = normal(of_second, shape, shape[1] ** -0.5)
    return jnp.abs((first**2).sum(1) - 1), jnp.abs((first * second).sum(1))
