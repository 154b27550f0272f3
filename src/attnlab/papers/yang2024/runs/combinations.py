"""The linear network of yang2024 beside that of li2023, on the same few samples of a vote."""

from dataclasses import replace

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.data.pattern_sizes import pattern_counts
from attnlab.data.pattern_vote import PatternVote, orthonormal_sets
from attnlab.engines.autodiff import on_batch
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.protocol import Weights
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.numerics.random import signs, stream_key
from attnlab.papers.yang2024.settings.vote import PatternVoteSettings
from attnlab.training.descent import descend
from attnlab.training.losses import LOSSES
from attnlab.training.optimisers import optimiser

TEST_SAMPLES = 400
Network = LinearMLPTransformer | ShallowViT


def vote(cell: PatternVoteSettings, key: Key) -> Result:
    """Train both networks on the same samples, each by its paper's loss and start; test both."""
    source = _source(cell)
    train = _drawn(source, stream_key(key, "data"), cell.n, cell.L)
    test = _drawn(source, stream_key(key, "test"), TEST_SAMPLES, cell.L)
    if cell.labels == "shuffled":
        coins = signs(stream_key(key, "labels"), (cell.n,)).astype(train.labels.dtype)
        train = replace(train, labels=coins)
    networks: dict[str, tuple[Network, str, float]] = {
        "linear": (LinearMLPTransformer(cell.m, cell.m1), "logistic", cell.learning_rate),
        "vision": (ShallowViT(cell.neurons), "hinge", cell.eta),
    }
    values = {}
    for name, (model, loss, rate) in networks.items():
        first = model.init(stream_key(key, "init"), train)
        error, last = _trained(
            model, train, test, first, loss, jnp.asarray(rate), jnp.asarray([0, cell.steps])
        )
        values |= {f"{name}_error": float(error), f"{name}_loss": float(last)}
    finite = all(np.isfinite(x) for x in values.values())
    why = "a loss was infinite or nan; lower the step sizes"
    return Result(values, diverged="" if finite else why)


@eqx.filter_jit
def _trained(
    model: Network,
    train: Batch,
    test: Batch,
    first: Weights,
    loss: str,
    rate: Float[Array, ""],
    ends: Array,
) -> tuple[Array, Array]:
    engine, state = on_batch(model, train, first, loss=LOSSES[loss])
    path = descend(engine, state, optimiser("sgd", rate), ends)
    output = model.apply(Weights(path.state, first.fixed), test.vectors(), test.kept)
    return jnp.mean(~(test.labels * output > 0)), path.values["loss"][-1]


def _source(cell: PatternVoteSettings) -> PatternVote:
    counts = pattern_counts(cell.L, cell.M, 2, cell.alpha_star, cell.alpha_sharp)
    return PatternVote(
        vectors=jnp.asarray(orthonormal_sets(cell.M, cell.d)),
        counts=jnp.asarray(counts),
        c0=jnp.asarray(cell.noise),
        noisy_share=jnp.asarray(0.0),
        noisy_c0=jnp.asarray(0.0),
        shuffled_order=jnp.asarray(True),
        normalise=jnp.asarray(False),
    )


@eqx.filter_jit
def _drawn(source: PatternVote, key: PRNGKeyArray, n: int, L: int) -> Batch:
    return source.sample(key, n, L)
