r"""Appendix B as printed: the negative gradients of the four matrices, term by term.

$$\dot w_j = \frac1n \sum_i g_i y_i \sum_l a_j V_i p_{i,l}, \qquad
  \dot W_V = \frac1n \sum_i g_i y_i \sum_l \sum_j a_j w_j (X_i p_{i,l})^\top,$$
$$\dot W_K = \frac{1}{n\sqrt m} \sum_i g_i y_i \sum_l \sum_j a_j\, q_{i,l}\, p_{i,l}^\top\,
  \mathrm{diag}\big(w_j^\top V_i - w_j^\top V_i p_{i,l}\big) X_i^\top,$$
$$\dot W_Q = \frac{1}{n\sqrt m} \sum_i g_i y_i \sum_l \sum_j a_j\, K_i\,
  \mathrm{diag}\big(V_i^\top w_j - w_j^\top V_i p_{i,l}\big) p_{i,l}\, x_{i,l}^\top.$$

Legend: X_i (d, L) one-hot columns; K_i, Q_i, V_i = W_K X_i, W_Q X_i, W_V X_i; k, q, v their
columns; p_{i,l} attention of query l; g_i = 1 / (1 + exp(y_i F_i)). These are the last of the
equal lines that the appendix prints for each matrix. Nothing here is shared with the engines:
it is what they are checked against, and costs m1 times more.
"""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnlab.models.linear_mlp_transformer import Parameters


def negative_gradients(
    parameters: Parameters,
    a: Float[Array, " m1"],
    words: Int[Array, "n L"],
    labels: Float[Array, " n"] | Int[Array, " n"],
    *,
    centred: bool | Array = True,
) -> Parameters:
    """The four right-hand sides of appendix B for the logistic loss.

    `centred=False` leaves out the subtracted mean in the last two, a wrong law for controls.
    """
    W, W_V, W_K, W_Q = parameters
    m, d = W_V.shape
    L = words.shape[1]

    def of_sample(sample: Int[Array, " L"], y: Array) -> Parameters:
        X = jax.nn.one_hot(sample, d, dtype=W.dtype).T
        K, Q, V = W_K @ X, W_Q @ X, W_V @ X

        def attention(place: Array) -> Float[Array, " L"]:
            return jax.nn.softmax(X.T @ W_K.T @ W_Q @ X[:, place] / math.sqrt(m))

        def output_term(place: Array, j: Array) -> Float[Array, ""]:
            return a[j] * W[j] @ W_V @ X @ attention(place)

        def gradient_term(place: Array, j: Array) -> tuple[Array, Array, Array, Array]:
            p, w = attention(place), W[j]
            mean = jnp.where(centred, w @ V @ p, 0)
            return (
                a[j] * V @ p,
                a[j] * jnp.outer(w, X @ p),
                a[j] * jnp.outer(Q[:, place], p) @ jnp.diag(w @ V - mean) @ X.T / math.sqrt(m),
                a[j] * K @ jnp.diag(V.T @ w - mean) @ jnp.outer(p, X[:, place]) / math.sqrt(m),
            )

        def over_places_and_neurons(term: Callable[[Array, Array], Any]) -> Any:
            over_neurons = jax.vmap(term, in_axes=(None, 0))
            return jax.vmap(over_neurons, in_axes=(0, None))(jnp.arange(L), jnp.arange(len(a)))

        F = over_places_and_neurons(output_term).sum()
        g = 1 / (1 + jnp.exp(y * F))
        w, v, k, q = over_places_and_neurons(gradient_term)
        # w is (place, neuron, m): each neuron has its own row; the others add up over neurons.
        sums = Parameters(w.sum(0), v.sum((0, 1)), k.sum((0, 1)), q.sum((0, 1)))
        return jax.tree.map(lambda x: g * y * x, sums)

    terms = jax.vmap(of_sample)(words, labels)
    return jax.tree.map(lambda x: x.mean(0), terms)
