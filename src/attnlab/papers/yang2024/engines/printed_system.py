r"""Appendix C as printed: the derivatives of six kinds of variables along the flow, term by term.

With $r_i = g_i y_i / n$ and $D_{i,l,j} = \mathrm{diag}(V_i^\top w_j - w_j^\top V_i p_{i,l})$,

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

Legend: as in `printed`; the print's sums over samples that hold a word are those over all samples
with $p_{i,l}(\mu)$. The lemmas presume that no word is twice in a sample. Nothing here is shared
with the engines.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnlab.models.linear_mlp_transformer import Parameters


class System(NamedTuple):
    """The six kinds of variables, or their derivatives."""

    outputs: Float[Array, "m1 d"]
    neurons: Float[Array, "m1 m1"]
    values: Float[Array, "d d"]
    scores: Float[Array, "d d"]
    queries: Float[Array, "d d"]
    keys: Float[Array, "d d"]


def variables(parameters: Parameters) -> System:
    """The variables themselves, in the orthonormal basis of the words."""
    W, W_V, W_K, W_Q = parameters
    return System(W @ W_V, W @ W.T, W_V.T @ W_V, W_K.T @ W_Q, W_Q.T @ W_Q, W_K.T @ W_K)


def derivatives(
    parameters: Parameters,
    a: Float[Array, " m1"],
    words: Int[Array, "n L"],
    labels: Float[Array, " n"] | Int[Array, " n"],
    *,
    second_terms: bool | Array = True,
) -> System:
    """The six printed right-hand sides for the logistic loss.

    `second_terms=False` leaves out the second sum of each, a wrong law for controls.
    """
    W, W_V, W_K, W_Q = parameters
    m, d = W_V.shape
    L = words.shape[1]
    keep = jnp.asarray(second_terms, W.dtype)

    def of_place(sample: Int[Array, " L"], y: Array, place: Array) -> tuple[System, Array]:
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
        terms = System(
            jnp.outer(W @ W.T @ a, on_word) + keep * jnp.outer(a, p @ V.T @ W_V),
            first_neuron + keep * first_neuron.T,
            first_value + keep * first_value.T,
            (first_score + keep * second_score) / math.sqrt(m),
            (first_query + keep * first_query.T) / math.sqrt(m),
            (first_key + keep * first_key.T) / math.sqrt(m),
        )
        return jax.tree.map(lambda term: y * term, terms), F

    def of_sample(sample: Int[Array, " L"], y: Array) -> System:
        terms, F = jax.vmap(of_place, in_axes=(None, None, 0))(sample, y, jnp.arange(L))
        g = 1 / (1 + jnp.exp(y * F.sum()))
        return jax.tree.map(lambda term: g * term.sum(0), terms)

    return jax.tree.map(lambda x: x.mean(0), jax.vmap(of_sample)(words, labels))
