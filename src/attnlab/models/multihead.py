r"""Multi-head self-attention with a linear decoder (Deora et al. 2023, equations 1 and 2).

$$\Phi(X;W,U)=\langle U,\varphi(XWX^\top)X\rangle,\qquad
  \tilde\Phi(X)=\frac1{\sqrt H}\sum_{h\le H}\Phi(X;W_h,U_h)$$

The decoder is `full` (U is T x d), `pooled` ($U=\mathbf 1u^\top$; the print has it transposed) or
`last` ($U=e_Tu^\top$). Heads come in groups of equal ones: group g stands for $c_g$ heads, so
$\tilde\Phi=\sum_g \frac{c_g}{\sqrt H}\Phi(X;W_g,U_g)$, and explicit heads are groups of one.

Legend: X (T, d) a sample, $\varphi$ the softmax of rows, H heads, G groups, W (G, d, d) the
product of query and key weights, U (G, T, d) the decoder or u (G, d) what it is made of.
"""

from typing import Literal, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

Output = Literal["full", "pooled", "last"]


class Heads(NamedTuple):
    """The parameters of the heads, a group first."""

    U: Float[Array, "G ..."]
    W: Float[Array, "G d d"]


def decoder(u: Float[Array, "..."], output: Output, T: int) -> Float[Array, "T d"]:
    """The matrix U of one head from its parameters."""
    if output == "full":
        return u
    if output == "pooled":
        return jnp.broadcast_to(u, (T, u.shape[-1]))
    return jnp.zeros((T, u.shape[-1])).at[T - 1].set(u)


def decoder_gradient(g: Float[Array, "T d"], output: Output) -> Float[Array, "..."]:
    """The gradient with respect to the parameters of U from that with respect to U."""
    if output == "full":
        return g
    return g.sum(axis=0) if output == "pooled" else g[-1]


def attention(W: Float[Array, "d d"], X: Float[Array, "T d"]) -> Float[Array, "T T"]:
    """What place t (row) pays to each place."""
    return jax.nn.softmax(X @ W @ X.T, axis=-1)


def head_output(
    u: Float[Array, "..."], W: Float[Array, "d d"], X: Float[Array, "T d"], output: Output = "full"
) -> Float[Array, ""]:
    """Phi of one head, by its definition."""
    return jnp.sum(decoder(u, output, X.shape[0]) * (attention(W, X) @ X))


def head_gradient(
    u: Float[Array, "..."], W: Float[Array, "d d"], X: Float[Array, "T d"], output: Output = "full"
) -> Heads:
    r"""The gradient of one head's output (Lemma 1).

    $$\nabla_U\Phi=\varphi(XWX^\top)X,\qquad
      \nabla_W\Phi=\sum_t x_t u_t^\top X^\top\varphi'(XW^\top x_t)X,\qquad
      \varphi'=\mathrm{diag}(\varphi)-\varphi\varphi^\top .$$
    """
    P = attention(W, X)
    A = decoder(u, output, X.shape[0]) @ X.T
    centred = P * (A - jnp.sum(P * A, axis=-1, keepdims=True))
    return Heads(decoder_gradient(P @ X, output), X.T @ centred @ X)


def outputs(
    heads: Heads,
    shares: Float[Array, " G"],
    tokens: Float[Array, "n T d"],
    output: Output = "full",
) -> Float[Array, " n"]:
    """The model's output on every sample; `shares` are c_g / sqrt(H)."""
    by_head = jax.vmap(head_output, (0, 0, None, None))
    by_sample = jax.vmap(by_head, (None, None, 0, None))
    return by_sample(heads.U, heads.W, tokens, output) @ shares


class HeadsView(NamedTuple):
    """What probes read of a model of grouped heads."""

    heads: Heads
    moved: Heads
    """How far each head is from where it started."""
    counts: Float[Array, " G"]
    """How many heads each group stands for; 0 for a group that nobody is in."""
    H: Float[Array, ""]

    @property
    def shares(self) -> Float[Array, " G"]:
        """c_g / sqrt(H)."""
        return self.counts / jnp.sqrt(self.H)


def squared_norm(heads: Heads, counts: Float[Array, " G"]) -> Float[Array, ""]:
    """The squared length of all H heads' parameters together."""
    return counts @ head_norms(heads) ** 2


def head_norms(heads: Heads) -> Float[Array, " G"]:
    """The length of each head's parameters (U, W)."""
    return jnp.sqrt(decoder_norms(heads) ** 2 + jnp.sum(heads.W**2, axis=(1, 2)))


def decoder_norms(heads: Heads) -> Float[Array, " G"]:
    """The length of each head's decoder parameters."""
    return jnp.sqrt(jnp.sum(heads.U.reshape(heads.U.shape[0], -1) ** 2, axis=1))
