r"""Appendices B and C as printed, term by term.

B, the negative gradients of the four matrices:

$$\dot w_j = \frac1n \sum_i g_i y_i \sum_l a_j V_i p_{i,l}, \qquad
  \dot W_V = \frac1n \sum_i g_i y_i \sum_l \sum_j a_j w_j (X_i p_{i,l})^\top,$$
$$\dot W_K = \frac{1}{n\sqrt m} \sum_i g_i y_i \sum_l \sum_j a_j\, q_{i,l}\, p_{i,l}^\top\,
  \mathrm{diag}\big(w_j^\top V_i - w_j^\top V_i p_{i,l}\big) X_i^\top,$$
$$\dot W_Q = \frac{1}{n\sqrt m} \sum_i g_i y_i \sum_l \sum_j a_j\, K_i\,
  \mathrm{diag}\big(V_i^\top w_j - w_j^\top V_i p_{i,l}\big) p_{i,l}\, x_{i,l}^\top.$$

C, the derivatives of six kinds of variables along the flow, with $r_i = g_i y_i / n$ and
$D_{i,l,j} = \mathrm{diag}(V_i^\top w_j - w_j^\top V_i p_{i,l})$,

$$(w_j^\top W_V\mu)' = \sum_i r_i\sum_l\sum_k a_k\langle w_j,w_k\rangle (X_i p_{i,l})^\top\mu
   + \sum_i r_i\sum_l a_j\, p_{i,l}^\top V_i^\top W_V\mu,$$
$$\langle w_j,w_k\rangle' = \sum_i r_i\sum_l a_k w_j^\top V_i p_{i,l} + (j\leftrightarrow k),\qquad
  (\nu^\top W_V^\top W_V\mu)' = \sum_i r_i\sum_{l,j} a_j \nu^\top W_V^\top w_j\,p_{i,l}(\mu)
   + (\nu\leftrightarrow\mu),$$
$$(\nu^\top W_K^\top W_Q\mu)' = \tfrac1{\sqrt m}\sum_i r_i\sum_{l,j} a_j\big[
   \nu^\top W_K^\top K_i D_{i,l,j}\, p_{i,l}\, x_{i,l}^\top\mu
   + \mu^\top W_Q^\top q_{i,l}\, p_{i,l}^\top D_{i,l,j} X_i^\top\nu\big],$$

and the Grams of queries and of keys likewise. $p_{i,l}(\mu)$ is the attention of query l on the
place of $\mu$ in sample i, 0 if it is not there.

Legend: X_i (d, L) one-hot columns; K_i, Q_i, V_i = W_K X_i, W_Q X_i, W_V X_i; k, q, v their
columns; p_{i,l} attention of query l; g_i = 1 / (1 + exp(y_i F_i)). Of B these are
the last of the equal lines that the appendix prints for each matrix. C's sums over
samples that hold a word are those over all samples with $p_{i,l}(\mu)$; its lemmas presume that no
word is twice in a sample. Nothing here is shared with the engines: it is what they are checked
against, and B costs m1 times more.
"""

import math
from collections.abc import Callable
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnlab.models.linear_mlp_transformer import Parameters

Terms = TypeVar("Terms", Array, tuple[Array, ...])

# --- appendix B -------------------------------------------------------------------------------


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

        def over_places_and_neurons(term: Callable[[Array, Array], Terms]) -> Terms:
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


# --- appendix C -------------------------------------------------------------------------------


class DynamicalSystem(NamedTuple):
    """The six kinds of variables, or their derivatives."""

    outputs: Float[Array, "m1 d"]
    neurons: Float[Array, "m1 m1"]
    values: Float[Array, "d d"]
    scores: Float[Array, "d d"]
    queries: Float[Array, "d d"]
    keys: Float[Array, "d d"]


def variables(parameters: Parameters) -> DynamicalSystem:
    """The variables themselves, in the orthonormal basis of the words."""
    W, W_V, W_K, W_Q = parameters
    return DynamicalSystem(W @ W_V, W @ W.T, W_V.T @ W_V, W_K.T @ W_Q, W_Q.T @ W_Q, W_K.T @ W_K)


def derivatives(
    parameters: Parameters,
    a: Float[Array, " m1"],
    words: Int[Array, "n L"],
    labels: Float[Array, " n"] | Int[Array, " n"],
    *,
    second_terms: bool | Array = True,
) -> DynamicalSystem:
    """The six printed right-hand sides for the logistic loss.

    `second_terms=False` leaves out the second sum of each, a wrong law for controls.
    """
    W, W_V, W_K, W_Q = parameters
    m, d = W_V.shape
    L = words.shape[1]
    keep = jnp.asarray(second_terms, W.dtype)

    def of_place(sample: Int[Array, " L"], y: Array, place: Array) -> tuple[DynamicalSystem, Array]:
        X = jax.nn.one_hot(sample, d, dtype=W.dtype).T
        K, V = W_K @ X, W_V @ X
        x, q = X[:, place], W_Q @ X[:, place]
        p = jax.nn.softmax(K.T @ q / math.sqrt(m))
        F = a @ W @ V @ p
        on_word = X @ p  # the attention on each word's place
        centred = (W @ V - (W @ V @ p)[:, None]) * a[:, None]  # a_j times the diagonal of D
        pull = (centred * p).sum(0)  # sum over neurons of a_j D p, by key place
        first_score = jnp.outer(W_K.T @ K @ pull, x)
        second_score = jnp.outer(X @ pull, W_Q.T @ q)
        first_query = jnp.outer(W_Q.T @ K @ pull, x)
        first_key = jnp.outer(W_K.T @ q, X @ pull)
        first_value = jnp.outer(W_V.T @ (a @ W), on_word)
        first_neuron = jnp.outer(W @ V @ p, a)
        terms = DynamicalSystem(
            jnp.outer(W @ W.T @ a, on_word) + keep * jnp.outer(a, p @ V.T @ W_V),
            first_neuron + keep * first_neuron.T,
            first_value + keep * first_value.T,
            (first_score + keep * second_score) / math.sqrt(m),
            (first_query + keep * first_query.T) / math.sqrt(m),
            (first_key + keep * first_key.T) / math.sqrt(m),
        )
        return jax.tree.map(lambda term: y * term, terms), F

    def of_sample(sample: Int[Array, " L"], y: Array) -> DynamicalSystem:
        terms, F = jax.vmap(of_place, in_axes=(None, None, 0))(sample, y, jnp.arange(L))
        g = 1 / (1 + jnp.exp(y * F.sum()))
        return jax.tree.map(lambda term: g * term.sum(0), terms)

    return jax.tree.map(lambda x: x.mean(0), jax.vmap(of_sample)(words, labels))
