"""The shallow vision transformer as a model: sizes and switches, and its named schemes.

The formulas are in `shallow_vit`, the paper's first weights in `shallow_vit_initialisation`.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.pattern_vote import PatternBatch
from attnlab.models import shallow_vit
from attnlab.models.protocol import AUTO, Scheme, Weights, drawn_by
from attnlab.models.shallow_vit import Combination, Parameters
from attnlab.models.shallow_vit_initialisation import Scales, ShallowViTSizes, draw
from attnlab.numerics.random import normal, signs


class ShallowViT(eqx.Module):
    """Softmax attention under a two-layer perceptron with fixed output weights.

    Values and keys have the dimension of a token unless said otherwise.
    """

    neurons: int = eqx.field(static=True, default=1000)
    heads: int = eqx.field(static=True, default=1)
    value_size: int | None = eqx.field(static=True, default=None)
    key_size: int | None = eqx.field(static=True, default=None)
    combination: Combination = eqx.field(static=True, default="sum")
    skip: bool = eqx.field(static=True, default=False)
    shared_output: bool = eqx.field(static=True, default=False)
    """One vector of output weights for all positions, not one for each."""

    schemes: ClassVar[dict[str, Scheme]] = {}
    attention_names: ClassVar[tuple[str, ...]] = ("W_K", "W_Q")

    def __check_init__(self):
        if min(self.neurons, self.heads) < 1:
            raise BadInput(f"got neurons={self.neurons}, heads={self.heads}; at least 1 of each")

    def init(
        self, key: PRNGKeyArray, batch: Batch, scheme: str = AUTO, **numbers: float
    ) -> Weights:
        """By Assumption 1 where the patterns are known, else `gaussian`."""
        if scheme == AUTO:
            scheme = "assumption_1" if _patterns(batch) is not None else "gaussian"
        d = batch.dimension
        if self.skip and (self.value_size or d) != d:
            raise BadInput(
                f"got skip=True with value_size={self.value_size} and tokens in R^{d}; a skip "
                f"connection adds tokens to values: take value_size={d}"
            )
        return drawn_by(self, scheme, key, batch, numbers)

    def apply(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
    ) -> Float[Array, " n"]:
        """F of every sample."""

        def of_sample(x: Array, seen: Array) -> Array:
            return shallow_vit.output_by_definition(
                weights.trained,
                weights.fixed,
                x,
                seen,
                score_gain,
                combination=self.combination,
                skip=self.skip,
            )[0]

        return jax.vmap(of_sample)(X, kept)

    def attention(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
    ) -> Float[Array, "n H L L"]:
        """What each query pays to each token, by head."""
        return jax.vmap(
            lambda x, seen: shallow_vit.attention(weights.trained, x, seen, score_gain)
        )(X, kept)

    def values(self, weights: Weights, X: Float[Array, "n L d"]) -> Float[Array, "n H L m_a"]:
        """The value vector of each token, by head."""
        return jnp.einsum("had,nld->nhla", weights.trained.W_V, X)

    def view(self, weights: Weights, start: Weights, score_gain: Float[Array, ""]) -> Parameters:
        """The weights themselves."""
        del start, score_gain
        return weights.trained

    def sizes(self, batch: Batch, patterns: int = 0) -> ShallowViTSizes:
        """The shapes of the weights for samples like these."""
        d, L = batch.dimension, batch.kept.shape[1]
        return ShallowViTSizes(
            d=d,
            M=patterns,
            L=L,
            m=self.neurons,
            m_a=self.value_size or d,
            m_b=self.key_size or d,
            H=self.heads,
            combination=self.combination,
        )


def _patterns(batch: Batch) -> Float[Array, "M d"] | None:
    """The unit vectors of the patterns (with sets, of their means), where they are known."""
    if not isinstance(batch, PatternBatch) or batch.pattern_vectors is None:
        return None
    mean = batch.pattern_vectors.mean(1)
    return mean / jnp.linalg.norm(mean, axis=1, keepdims=True)


def _assumption_1(
    key: PRNGKeyArray,
    model: ShallowViT,
    batch: Batch,
    *,
    sigma: float = 0.1,
    delta: float = 0.2,
    xi: float = 0.01,
) -> Weights:
    """The paper's first model, with errors sigma of values and delta of keys and queries."""
    patterns = _patterns(batch)
    if patterns is None:
        raise BadInput(
            "got a batch without known patterns for the scheme assumption_1, which is made from "
            "them; take scheme='gaussian'"
        )
    sizes = model.sizes(batch, len(patterns))
    if min(sizes.m_a, sizes.m_b) < sizes.M:
        raise BadInput(
            f"got value_size={sizes.m_a}, key_size={sizes.m_b} with {sizes.M} patterns; "
            f"orthonormal features need both >= {sizes.M}: raise them"
        )
    numbers = Scales(jnp.asarray(sigma), jnp.asarray(delta), jnp.asarray(xi))
    drawn = draw(key, sizes, patterns, numbers, shared=model.shared_output)
    return Weights(drawn.parameters, drawn.a)


def _gaussian(
    key: PRNGKeyArray, model: ShallowViT, batch: Batch, *, scale: float = 1.0, xi: float = 0.01
) -> Weights:
    """Normal entries: of deviation scale/sqrt(d) in values, keys and queries, xi in the neurons."""
    sizes = model.sizes(batch)
    of_O, of_a, of_V, of_K, of_Q = jax.random.split(key, 5)
    D = sizes.m_a * (sizes.H if sizes.combination == "concat" else 1)
    deviation = scale * sizes.d**-0.5
    a = signs(of_a, (1, sizes.L, sizes.m)) / jnp.sqrt(sizes.m)
    trained = Parameters(
        W_O=normal(of_O, (sizes.m, D), xi),
        W_V=normal(of_V, (sizes.H, sizes.m_a, sizes.d), deviation),
        W_K=normal(of_K, (sizes.H, sizes.m_b, sizes.d), deviation),
        W_Q=normal(of_Q, (sizes.H, sizes.m_b, sizes.d), deviation),
    )
    return Weights(trained, jnp.where(model.shared_output, a[:, :1], a))


ShallowViT.schemes.update(assumption_1=_assumption_1, gaussian=_gaussian)
