"""The network of li2023 on the tokenised mixture of deora2023: where its attention goes."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.token_mixture import RELEVANT, TokenMixture
from attnlab.engines.table import start
from attnlab.models.protocol import Weights
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.numerics.random import stream_key
from attnlab.papers.li2023.settings.mixture import MixtureVoteSettings
from attnlab.training.descent import descend
from attnlab.training.optimisers import optimiser


def attend(cell: MixtureVoteSettings, key: Key) -> Result:
    """Train from normal weights; the attention on relevant tokens before and after."""
    batch = _samples(cell, key)
    model = ShallowViT(neurons=cell.m)
    first = start(model, batch, stream_key(key, "init"), scheme="gaussian", loss="hinge")
    ends = jnp.asarray([0, cell.steps])
    path = descend(first.engine, first.state, optimiser("sgd", cell.eta), ends)
    before, after = (float(_relevant(model, w, batch)) for w in (first.state, path.state))
    values = {"before": before, "after": after, "gain": after - before}
    values["last_loss"] = float(np.asarray(path.values["loss"])[-1])
    return Result(values, diverged="" if path.complete else path.why)


def _samples(cell: MixtureVoteSettings, key: Key) -> Batch:
    sizes = MixtureSizes(cell.T, cell.d, cell.M, cell.S, cell.zeta)
    batch = _drawn(TokenMixture.of(sizes), stream_key(key, "data"), cell.N)
    if cell.labels == "true":
        return batch
    order = jax.random.permutation(stream_key(key, "labels"), cell.N)
    return replace(batch, labels=batch.labels[order])


@eqx.filter_jit
def _drawn(source: TokenMixture, key: Array, n: int) -> Batch:
    return source.sample(key, n)


@eqx.filter_jit
def _relevant(model: ShallowViT, trained: tuple, batch: Batch) -> Float[Array, ""]:
    """What a query pays to the relevant tokens of its sample, mean over queries."""
    maps = model.attention(Weights(trained), batch.vectors(), batch.kept)
    return jnp.einsum("nhls,ns->nhl", maps, (batch.roles == RELEVANT).astype(float)).mean()
