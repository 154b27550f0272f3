"""The linear-MLP transformer as a model: sizes, and its named schemes.

The formulas are in `linear_mlp_transformer`, the first weights in `linear_mlp_initialisation`.
"""

import math
from functools import partial
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.models.linear_mlp_initialisation import (
    Initialisation,
    OutputScheme,
    WeightScheme,
    deviations,
    initialise,
)
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters, word_view
from attnlab.models.protocol import AUTO, Scheme, Weights, drawn_by, masked_softmax
from attnlab.models.word_level import WordView
from attnlab.numerics.random import normal, signs


class LinearMLPTransformer(eqx.Module):
    """Softmax attention under a linear perceptron with a fixed output layer."""

    width: int = eqx.field(static=True, default=512)
    """m: of values, keys and queries."""
    neurons: int = eqx.field(static=True, default=16)
    """m1: of the perceptron."""
    output_layer: OutputScheme = eqx.field(static=True, default="sign")

    schemes: ClassVar[dict[str, Scheme]] = {}
    attention_names: ClassVar[tuple[str, ...]] = ("W_K", "W_Q")

    def init(
        self, key: PRNGKeyArray, batch: Batch, scheme: str = AUTO, **numbers: float
    ) -> Weights:
        """By the paper's scheme, `theory`, unless said otherwise."""
        return drawn_by(self, "theory" if scheme == AUTO else scheme, key, batch, numbers)

    def apply(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
    ) -> Float[Array, " n"]:
        """F of every sample: summed over the queries that are kept."""
        p = self.attention(weights, X, kept, score_gain)[:, 0]
        outputs = X @ ((weights.fixed @ weights.trained.W) @ weights.trained.W_V)
        return jnp.einsum("nl,nls,ns->n", kept.astype(p.dtype), p, outputs)

    def attention(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
    ) -> Float[Array, "n 1 L L"]:
        """What each query pays to each token."""
        K, Q = X @ weights.trained.W_K.T, X @ weights.trained.W_Q.T
        scores = score_gain / math.sqrt(self.width) * jnp.einsum("nlm,nsm->nls", Q, K)
        return masked_softmax(scores, kept)[:, None]

    def values(self, weights: Weights, X: Float[Array, "n L d"]) -> Float[Array, "n 1 L m"]:
        """The value vector of each token."""
        return (X @ weights.trained.W_V.T)[:, None]

    def view(self, weights: Weights, start: Weights, score_gain: Float[Array, ""]) -> WordView:
        """The word-level quantities over all axes, and the neurons."""
        del start
        return word_view(weights.trained, weights.fixed, score_gain)

    def sizes(self, batch: Batch) -> LinearMLPSizes:
        """The shapes of the weights for samples like these."""
        return LinearMLPSizes(batch.dimension, batch.kept.shape[1], self.width, self.neurons)


def _drawn(
    scheme: WeightScheme,
    key: PRNGKeyArray,
    model: LinearMLPTransformer,
    batch: Batch,
    **numbers: float,
) -> Weights:
    how = Initialisation(scheme, model.output_layer, **numbers)
    return Weights(*initialise(key, model.sizes(batch), how))


def _mean(
    key: PRNGKeyArray, model: LinearMLPTransformer, batch: Batch, *, c0: float = 1.0
) -> Weights:
    r"""Weights whose Grams are exactly the mean of those of `theory`.

    $W_V^\top W_V = W_K^\top W_K = W_Q^\top W_Q = \kappa I$, $W_K^\top W_Q = 0$, $W_V^\top u = 0$,
    $|u|^2 = \rho$: scaled columns of a random orthogonal frame, for which m >= 2 d.
    """
    sizes = model.sizes(batch)
    if model.output_layer == "same_as_weights" or sizes.m < 2 * sizes.d:
        raise BadInput(
            f"got width={sizes.m} for {sizes.d} words and output_layer={model.output_layer}; the "
            f"scheme mean needs a width of at least {2 * sizes.d} and an output layer of signs"
        )
    of = deviations(sizes, Initialisation("theory", model.output_layer, c0=c0))
    of_a, of_scores, of_values = jax.random.split(key, 3)
    a = signs(of_a, (sizes.m1,)) * of.output_layer
    kappa, rho = of.embeddings**2 * sizes.m, of.neurons**2 * sizes.m * (a @ a)
    scores, values = (
        jnp.linalg.qr(normal(k, (sizes.m, columns), 1.0))[0]
        for k, columns in ((of_scores, 2 * sizes.d), (of_values, sizes.d + 1))
    )
    u = jnp.sqrt(rho) * values[:, 0]
    root = jnp.sqrt(kappa)
    trained = Parameters(
        W=jnp.outer(a, u) / (a @ a),
        W_V=root * values[:, 1:],
        W_K=root * scores[:, : sizes.d],
        W_Q=root * scores[:, sizes.d :],
    )
    return Weights(trained, a)


LinearMLPTransformer.schemes.update(
    theory=partial(_drawn, "theory"),
    kaiming_normal=partial(_drawn, "kaiming_normal"),
    kaiming_uniform=partial(_drawn, "kaiming_uniform"),
    linear_default=partial(_drawn, "linear_default"),
    mean=_mean,
)
