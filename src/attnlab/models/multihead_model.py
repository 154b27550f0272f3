"""Multi-head attention with a linear decoder as a model: sizes, and its named schemes.

The formulas are in `multihead`, the first weights in `multihead_initialisation`.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.models.multihead import HeadsView, Output, decoder
from attnlab.models.multihead_initialisation import (
    first_phase_direction,
    phase_1_heads,
    random_heads,
    sign_counts,
    zero_heads,
)
from attnlab.models.protocol import AUTO, Scheme, Weights, drawn_by, masked_softmax


class MultiHead(eqx.Module):
    """H heads, each with its product W of queries and keys and a decoder U; nothing is fixed."""

    heads: int = eqx.field(static=True, default=8)
    output: Output = eqx.field(static=True, default="full")

    schemes: ClassVar[dict[str, Scheme]] = {}
    attention_names: ClassVar[tuple[str, ...]] = ("W",)

    def __check_init__(self):
        if self.heads < 1:
            raise BadInput(f"got heads={self.heads}; at least 1 is required")

    def init(
        self, key: PRNGKeyArray, batch: Batch, scheme: str = AUTO, **numbers: float
    ) -> Weights:
        """After the paper's first phase, `phase_1`, unless said otherwise."""
        return drawn_by(self, "phase_1" if scheme == AUTO else scheme, key, batch, numbers)

    def apply(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
    ) -> Float[Array, " n"]:
        """The output on every sample: over the places that are kept."""
        P = self.attention(weights, X, kept, score_gain)
        U = jax.vmap(lambda u: decoder(u, self.output, X.shape[1]))(weights.trained.U)
        seen = kept.astype(X.dtype)
        return jnp.einsum("hld,nl,nhls,nsd->n", U, seen, P, X) / jnp.sqrt(self.heads)

    def attention(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
    ) -> Float[Array, "n H L L"]:
        """What each place pays to each place, by head."""
        scores = score_gain * jnp.einsum("nlc,hcd,nsd->nhls", X, weights.trained.W, X)
        return masked_softmax(scores, kept[:, None])

    def values(self, weights: Weights, X: Float[Array, "n L d"]) -> Float[Array, "n H L d"]:
        """The value vector of each token, which is the token itself, by head."""
        del weights
        return jnp.broadcast_to(X[:, None], (X.shape[0], self.heads, *X.shape[1:]))

    def view(self, weights: Weights, start: Weights, score_gain: Float[Array, ""]) -> HeadsView:
        """The heads, and how far they have moved."""
        del score_gain
        moved = jax.tree.map(jnp.subtract, weights.trained, start.trained)
        count = float(self.heads)
        return HeadsView(weights.trained, moved, jnp.ones(self.heads), jnp.asarray(count))


def _phase_1(key: PRNGKeyArray, model: MultiHead, batch: Batch) -> Weights:
    """The first phase on these samples, with a fair sign for each head; those of +1 first.

    A sample's mean token is that of the tokens that are kept.
    """
    seen = batch.kept[..., None]
    tokens = batch.vectors() * seen * (seen.shape[1] / seen.sum(1, keepdims=True))
    v = jnp.asarray(first_phase_direction(tokens, batch.labels, batch.shares()))
    counts, T = sign_counts(key, model.heads), batch.kept.shape[1]
    return Weights(phase_1_heads(v, counts, model.heads, T, model.output))


def _random(key: PRNGKeyArray, model: MultiHead, batch: Batch, *, scale: float = 1.0) -> Weights:
    L, d = batch.kept.shape[1], batch.dimension
    return Weights(random_heads(key, model.heads, L, d, scale, model.output))


def _zero(key: PRNGKeyArray, model: MultiHead, batch: Batch) -> Weights:
    del key
    return Weights(zero_heads(model.heads, batch.kept.shape[1], batch.dimension, model.output))


MultiHead.schemes.update(phase_1=_phase_1, random=_random, zero=_zero)
