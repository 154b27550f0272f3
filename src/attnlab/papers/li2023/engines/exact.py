r"""The engine on the tokens themselves, with a gradient made by hand. Exact for any noise.

With $z_{li} = w_i^\top v_l$ and $P_{il} = a_{(l)i}\,1[z_{li} > 0]/|S|$ one product serves twice:

$$U = P v, \qquad F = \langle U, W_O \rangle, \qquad
  \frac{\partial F}{\partial W_O} = U, \qquad \frac{\partial F}{\partial v} = P^\top W_O,$$

so there is no pass for the ReLU. Samples are taken one after the other, so that the m x L tile of
P stays in the cache, and a sample beyond the margin of the hinge has no backward pass. Written
once for C outputs: $y^\top F$ is the output with $a = \sum_c y_c a^c$.

Legend: L tokens, m neurons (rows w_i of W_O), v_l the input of the perceptron, S the kept tokens.
"""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from attnlab.models.shallow_vit import Combination, Parameters, attention, combined


class Exact(eqx.Module):
    """Training samples, output weights and switches; the state is `Parameters`."""

    tokens: Float[Array, "n L d"]
    labels: Float[Array, "n outputs"]
    kept: Bool[Array, "n L"]
    keys: Bool[Array, "n L"]
    a: Float[Array, "outputs m L"]
    """Neurons first: the products below then need no transposed copy of the large tile."""
    size: Int[Array, ""]
    """How many of the n rows are samples; the rows after them are padding."""
    margin: Float[Array, ""]
    score_gain: Float[Array, ""]
    score_rate: Float[Array, ""]
    """What the gradients of keys and queries are multiplied by: 0 freezes the attention."""
    combination: Combination = eqx.field(static=True, default="sum")
    skip: bool = eqx.field(static=True, default=False)

    def subset(self, indices: Int[Array, " room"], size: Int[Array, ""]) -> "Exact":
        """The same with a mini-batch as its samples, of which the first `size` count."""
        parts = (self.tokens[indices], self.labels[indices], self.kept[indices], self.keys[indices])
        return eqx.tree_at(
            lambda e: (e.tokens, e.labels, e.kept, e.keys, e.size),
            self,
            (*parts, size),
        )

    def margins(self, state: Parameters) -> Float[Array, " n"]:
        """y^T F of every row, padding included."""
        rows = (self.tokens, self.labels, self.kept, self.keys)
        return jax.lax.map(lambda row: self._forward(state, *row)[0], rows)

    def loss_and_field(self, state: Parameters) -> tuple[Float[Array, ""], Parameters]:
        """The mean hinge loss of the samples and its negative gradient."""

        def add(n: Array, carry: tuple[Array, Parameters]) -> tuple[Array, Parameters]:
            total, field = carry
            row = (self.tokens[n], self.labels[n], self.kept[n], self.keys[n])
            output, memory = self._forward(state, *row)
            short = self.margin - output
            field = jax.lax.cond(
                short > 0,
                lambda: jax.tree.map(jnp.add, field, self._backward(state, row[0], memory)),
                lambda: field,
            )
            return total + jnp.maximum(short, 0), field

        zero = jnp.zeros((), self.tokens.dtype)
        start = (zero, jax.tree.map(jnp.zeros_like, state))
        total, field = jax.lax.fori_loop(0, self.size, add, start)
        count = self.size.astype(self.tokens.dtype)
        return total / count, jax.tree.map(lambda x: x / count, field)

    def loss(self, state: Parameters) -> Float[Array, ""]:
        """The mean hinge loss of the samples."""
        short = jnp.maximum(self.margin - self.margins(state), 0)
        return jnp.sum(jnp.where(jnp.arange(short.size) < self.size, short, 0)) / self.size

    def step(self, state: Parameters, learning_rate: Array) -> tuple[Array, Parameters]:
        """One step of plain descent."""
        loss, field = self.loss_and_field(state)
        rate = jnp.asarray(learning_rate, loss.dtype)
        return loss, jax.tree.map(lambda x, g: x + rate * g, state, field)

    def is_fitted(self, state: Parameters) -> Bool[Array, ""]:
        """Whether the training loss is zero; ends at the first sample short of the margin."""

        def beyond(n: Array) -> Array:
            row = (self.tokens[n], self.labels[n], self.kept[n], self.keys[n])
            return self._forward(state, *row)[0] >= self.margin

        def go_on(carry: tuple[Array, Array]) -> Array:
            n, good = carry
            return good & (n < self.size)

        def look(carry: tuple[Array, Array]) -> tuple[Array, Array]:
            n, _ = carry
            return n + 1, beyond(n)

        return jax.lax.while_loop(go_on, look, (jnp.zeros_like(self.size), jnp.asarray(True)))[1]

    def view(self, state: Parameters) -> Parameters:
        """The weights themselves."""
        return state

    def _forward(
        self,
        state: Parameters,
        X: Float[Array, "L d"],
        y: Float[Array, " outputs"],
        kept: Bool[Array, " L"],
        keys: Bool[Array, " L"],
    ) -> tuple[Float[Array, ""], Any]:
        p = attention(state, X, keys, self.score_gain)
        values = jnp.einsum("had,sd->hsa", state.W_V, X)
        v = combined(jnp.einsum("hls,hsa->hla", p, values), self.combination)
        if self.skip:
            v = v + X
        weight = (kept / kept.sum()).astype(X.dtype)
        a = self.a[0] if self.a.shape[0] == 1 else jnp.einsum("oml,o->ml", self.a, y)
        sign = y[0] if self.a.shape[0] == 1 else jnp.ones((), X.dtype)
        P = jnp.where(state.W_O @ v.T > 0, a, 0)
        U = P @ (v * weight[:, None])
        return sign * jnp.vdot(U, state.W_O), (p, values, weight, sign, P, U)

    def _backward(self, state: Parameters, X: Float[Array, "L d"], memory: Any) -> Parameters:
        p, values, weight, sign, P, U = memory
        to_v = sign * weight[:, None] * (P.T @ state.W_O)
        H, L, m_a = values.shape
        if self.combination == "sum":
            by_head = jnp.broadcast_to(to_v, (H, L, m_a))
        else:
            by_head = to_v.reshape(L, H, m_a).transpose(1, 0, 2)
        to_values = jnp.einsum("hls,hla->hsa", p, by_head)
        to_p = jnp.einsum("hla,hsa->hls", by_head, values)
        mean = (p * to_p).sum(-1, keepdims=True)
        to_scores = self.score_gain * self.score_rate * p * (to_p - mean)
        # S = X W_Q^T W_K X^T: both sides of it are products with the tokens.
        between = jnp.einsum("ld,hls,se->hde", X, to_scores, X)
        return Parameters(
            W_O=sign * U,
            W_V=jnp.einsum("hsa,sd->had", to_values, X),
            W_K=jnp.einsum("hbd,hde->hbe", state.W_Q, between),
            W_Q=jnp.einsum("hbe,hde->hbd", state.W_K, between),
        )
