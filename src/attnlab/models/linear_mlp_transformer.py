r"""One layer of softmax attention under a linear MLP (Yang et al. 2024, equation 1).

$$F(X) = \sum_{l=1}^{L} \sum_{j=1}^{m_1} a_j\, w_j^\top W_V X\,
  \mathrm{softmax}\!\big(X^\top W_K^\top W_Q x_l / \sqrt m\big)$$

Legend: X holds the L word vectors of a sample as columns; W (m1, m) has the neurons w_j as rows;
W_V, W_K, W_Q (m, d) are values, keys, queries; a (m1,) is fixed; d words, width m, m1 neurons.

Here a sample is its word indices, and words are the unit vectors of R^d, so a product with X is
a choice of columns. `output` forms u = W^T a and G = W_V^T u first, which no other order of the
products comes near; `output_by_definition` is the formula as it stands, slow, as the oracle.
"""

import math
from dataclasses import dataclass, fields
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnlab.core import BadInput
from attnlab.models.word_level import NeuronWeights, WordView, attention, read_out


@dataclass(frozen=True)
class LinearMLPSizes:
    """The sizes of the model: d words, L places, width m, m1 neurons."""

    d: int
    L: int
    m: int
    m1: int

    def __post_init__(self) -> None:
        for field in fields(self):
            if getattr(self, field.name) < 1:
                raise BadInput(
                    f"got {field.name}={getattr(self, field.name)}; at least 1 is required"
                )


class Parameters(NamedTuple):
    """The four trained matrices."""

    W: Float[Array, "m1 m"]
    W_V: Float[Array, "m d"]
    W_K: Float[Array, "m d"]
    W_Q: Float[Array, "m d"]


def word_view(
    parameters: Parameters, a: Float[Array, " m1"], score_gain: float | Float[Array, ""] = 1.0
) -> WordView:
    """Everything that acts on words, and the neurons behind it."""
    W, W_V, W_K, W_Q = parameters
    u = a @ W
    return WordView(
        G=u @ W_V,
        rho=u @ u,
        V=W_V.T @ W_V,
        S=W_K.T @ W_Q,
        K=W_K.T @ W_K,
        Q=W_Q.T @ W_Q,
        A=a @ a,
        score_scale=jnp.asarray(score_gain, W.dtype) / math.sqrt(W.shape[1]),
        neurons=NeuronWeights(W, W_V, a),
    )


def output(
    parameters: Parameters,
    a: Float[Array, " m1"],
    words: Int[Array, "n L"],
    score_gain: float | Float[Array, ""] = 1.0,
) -> Float[Array, " n"]:
    """F of every sample. `score_gain` 0 makes the attention uniform."""
    view = word_view(parameters, a, score_gain)
    return read_out(attention(view, words), view.G, words)


def output_by_definition(
    parameters: Parameters, a: Float[Array, " m1"], words: Int[Array, "n L"]
) -> Float[Array, " n"]:
    """F of every sample with one-hot matrices and products from right to left: the slow oracle."""
    W, W_V, W_K, W_Q = parameters
    m, d = W_V.shape

    def of_sample(sample: Int[Array, " L"]) -> Float[Array, ""]:
        X = jax.nn.one_hot(sample, d, dtype=W.dtype).T
        K, Q, V = W_K @ X, W_Q @ X, W_V @ X
        P = jax.nn.softmax(K.T @ Q / math.sqrt(m), axis=0)  # column l: attention of query l
        return jnp.sum(a @ (W @ (V @ P)))

    return jax.vmap(of_sample)(words)
