r"""The model of Yang et al. (2024) as seen by its words: what exact reductions have in common.

$$G=W_V^\top u,\quad \rho=|u|^2,\quad V=W_V^\top W_V,\quad S=W_K^\top W_Q,\quad
  K=W_K^\top W_K,\quad Q=W_Q^\top W_Q, \qquad u=W^\top a,\ A=|a|^2$$

determine the output and close under the training dynamics. With $r_i = g_i y_i / n$, where
$g_i = -\ell'(y_i F_i)$,

$$z = \sum_i r_i \sum_l X_i p_{i,l}, \qquad
  M = \sum_i r_i \sum_{l,h} p_{i,l,h}\big(G_{x_h} - \textstyle\sum_{h'} p_{i,l,h'} G_{x_{h'}}\big)
      e_{x_h} e_{x_l}^\top$$

drive everything: z the value side, M (rows keys, columns queries) the scores.

Legend: n samples of L places, d words; p[i, l, h] is the attention that query place l pays to
key place h. The paper's appendix C writes the same system entry by entry.
"""

from typing import Protocol, Self

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, Int


class NeuronMovement(eqx.Module):
    r"""How single neurons have moved, with $h$ from $W(t) - W(0) = a h^\top$."""

    a: Float[Array, " m1"]
    along_h: Float[Array, " m1"]
    """b = W(0) h."""
    h_square: Float[Array, ""]
    """|h|^2."""
    outputs: Float[Array, "m1 d"]
    """The change of W W_V."""


class Neurons(Protocol):
    """The neurons (rows of W) at a time, of an engine that has them."""

    a: Float[Array, " m1"]

    @property
    def along_u(self) -> Float[Array, " m1"]:
        """W u."""
        ...

    @property
    def squares(self) -> Float[Array, " m1"]:
        """|w_j|^2."""
        ...

    def moved_since(self, start: Self) -> NeuronMovement:
        """How they have moved since the start, which is given by its own neurons."""
        ...


class NeuronWeights(eqx.Module):
    """The neurons of an engine on the weights: W itself, the values, and a."""

    W: Float[Array, "m1 m"]
    W_V: Float[Array, "m d"]
    a: Float[Array, " m1"]

    @property
    def along_u(self) -> Float[Array, " m1"]:
        """W u."""
        return self.W @ (self.a @ self.W)

    @property
    def squares(self) -> Float[Array, " m1"]:
        """|w_j|^2."""
        return (self.W**2).sum(axis=1)

    def moved_since(self, start: "NeuronWeights") -> NeuronMovement:
        """By the rank-one form, so that no small change is a difference of large numbers."""
        h = self.a @ (self.W - start.W) / (self.a @ self.a)
        outputs = self.W @ self.W_V - start.W @ start.W_V
        return NeuronMovement(self.a, start.W @ h, h @ h, outputs)


class WordView(eqx.Module):
    """The word-level quantities of a state. `neurons` is None where an engine has none."""

    G: Float[Array, " d"]
    rho: Float[Array, ""]
    V: Float[Array, "d d"]
    S: Float[Array, "d d"]
    """Rows keys, columns queries."""
    K: Float[Array, "d d"]
    Q: Float[Array, "d d"]
    A: Float[Array, ""]
    score_scale: Float[Array, ""]
    """What S is multiplied by before the softmax: 1/sqrt(m), or 0 for uniform attention."""
    neurons: Neurons | None = None


def attention(view: WordView, words: Int[Array, "n L"]) -> Float[Array, "n L L"]:
    """p[i, l, h]: the attention of query place l on key place h in sample i."""
    scores = view.S[words[:, None, :], words[:, :, None]]
    return jax.nn.softmax(view.score_scale * scores, axis=-1)


def read_out(
    p: Float[Array, "n L L"], G: Float[Array, " d"], words: Int[Array, "n L"]
) -> Float[Array, " n"]:
    """F_i = sum_l sum_h p[i, l, h] G[x_h]."""
    return jnp.einsum("ilh,ih->i", p, G[words])


def value_drive(
    p: Float[Array, "n L L"], r: Float[Array, " n"], words: Int[Array, "n L"], d: int
) -> Float[Array, " d"]:
    """The vector z: the attention that each word receives, weighted by r."""
    return jnp.zeros(d, p.dtype).at[words].add(r[:, None] * p.sum(axis=1))


def place_drive(
    p: Float[Array, "n L L"],
    G: Float[Array, " d"],
    r: Float[Array, " n"],
    words: Int[Array, "n L"],
) -> Float[Array, "n L L"]:
    """The terms of M by sample, query place and key place, before they meet in words."""
    g = G[words]
    mean = jnp.einsum("ilh,ih->il", p, g)
    return r[:, None, None] * p * (g[:, None, :] - mean[:, :, None])


def score_drive(
    terms: Float[Array, "n L L"], words: Int[Array, "n L"], d: int
) -> Float[Array, "d d"]:
    """The matrix M: `place_drive`'s terms added up by pair of words (key, query)."""
    keys, queries = words[:, None, :], words[:, :, None]
    return jnp.zeros((d, d), terms.dtype).at[keys, queries].add(terms)
