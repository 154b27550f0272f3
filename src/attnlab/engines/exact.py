r"""The engine on the tokens themselves, with a gradient made by hand. Exact for any noise.

With $z_{li} = w_i^\top v_l$ and $P_{il} = a_{(l)i}\,1[z_{li} > 0]/|S|$ one product serves twice:

$$U = P v, \qquad F = \langle U, W_O \rangle, \qquad
  \frac{\partial F}{\partial W_O} = U, \qquad \frac{\partial F}{\partial v} = P^\top W_O,$$

so there is no pass for the ReLU. Samples are taken one after the other, so that the m x L tile of
P stays in the cache, and a sample beyond the margin of the hinge has no backward pass. Written
once for C outputs: $y^\top F$ is the output with $a = \sum_c y_c a^c$.

Tokens that were removed need not be there: `shortened` gathers the kept ones, and `places` says
which output weights they have. The cost is linear in the tokens that are left, scores quadratic.
Then `a` lies place by place and the tile is transposed: whole rows are gathered, not columns.

Legend: L tokens, m neurons (rows w_i of W_O), v_l the input of the perceptron, S the kept tokens.
"""

from dataclasses import replace
from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from attnlab.models.shallow_vit import Combination, Parameters, attention, combined


class Sample(NamedTuple):
    """One row of an engine's samples, or all of them."""

    X: Float[Array, "*n L d"]
    y: Float[Array, "*n outputs"]
    kept: Bool[Array, "*n L"]
    keys: Bool[Array, "*n L"]
    places: Int[Array, "*n L"] | None


class Memory(NamedTuple):
    """What the backward pass of one sample needs of the forward pass."""

    p: Float[Array, "H L L"]
    values: Float[Array, "H L m_a"]
    weight: Float[Array, " L"]
    sign: Float[Array, ""]
    P: Float[Array, "m L"] | Float[Array, "L m"]
    U: Float[Array, "m D"]


class Exact(eqx.Module):
    """Training samples, output weights and switches; the state is `Parameters`."""

    tokens: Float[Array, "n L d"]
    labels: Float[Array, "n outputs"]
    kept: Bool[Array, "n L"]
    keys: Bool[Array, "n L"]
    a: Float[Array, "outputs m L"] | Float[Array, "outputs L m"]
    """Neurons first: the products below then need no transposed copy of the large tile.
    Places first where `places` says which of them a token has."""
    size: Int[Array, ""]
    """How many of the n rows are samples; the rows after them are padding."""
    margin: Float[Array, ""]
    score_gain: Float[Array, ""]
    score_rate: Float[Array, ""]
    """What the gradients of keys and queries are multiplied by: 0 freezes the attention."""
    skip: Float[Array, ""]
    """The gain of the skip connection, 0 or 1; without effect where D is not d."""
    combination: Combination = eqx.field(static=True, default="sum")
    places: Int[Array, "n L"] | None = None
    """The position of each token in `a`; without it the l-th token has position l."""

    def subset(self, indices: Int[Array, " room"], size: Int[Array, ""]) -> "Exact":
        """The same with a mini-batch as its samples, of which the first `size` count."""
        tokens, labels, kept, keys, places = self._row(indices)
        return replace(
            self, tokens=tokens, labels=labels, kept=kept, keys=keys, places=places, size=size
        )

    def with_tokens(
        self, tokens: Float[Array, "n L d"], kept: Bool[Array, "n L"], keys: Bool[Array, "n L"]
    ) -> "Exact":
        """The same on other tokens, one at every place."""
        a = self.by_place.swapaxes(1, 2)
        return replace(self, tokens=tokens, kept=kept, keys=keys, places=None, a=a)

    @property
    def by_place(self) -> Float[Array, "outputs L m"]:
        """The output weights, place by place, however they lie."""
        return self.a.swapaxes(1, 2) if self.places is None else self.a

    def shortened(self, room: int) -> "Exact":
        """The same with only `room` tokens a sample: the kept ones first, in their order.

        The same function where no removed token is a key and no sample keeps more than `room`.
        """
        order = jnp.argsort(~self.kept, axis=1, stable=True)[:, :room]
        places = jnp.broadcast_to(jnp.arange(self.kept.shape[1]), self.kept.shape)
        places = places if self.places is None else self.places
        kept, keys, places = (
            jnp.take_along_axis(x, order, axis=1) for x in (self.kept, self.keys, places)
        )
        tokens = jnp.take_along_axis(self.tokens, order[..., None], axis=1)
        return replace(self, tokens=tokens, kept=kept, keys=keys, places=places, a=self.by_place)

    def margins(self, state: Parameters) -> Float[Array, " n"]:
        """y^T F of every row, padding included."""
        return jax.lax.map(lambda row: self._forward(state, row)[0], self._rows)

    def loss_and_field(self, state: Parameters) -> tuple[Float[Array, ""], Parameters]:
        """The mean hinge loss of the samples and its negative gradient."""

        def add(n: Array, carry: tuple[Array, Parameters]) -> tuple[Array, Parameters]:
            total, field = carry
            row = self._row(n)
            output, memory = self._forward(state, row)
            short = self.margin - output
            field = jax.lax.cond(
                short > 0,
                lambda: jax.tree.map(jnp.add, field, self._backward(state, row.X, memory)),
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
            return self._forward(state, self._row(n))[0] >= self.margin

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

    @property
    def _rows(self) -> "Sample":
        return Sample(self.tokens, self.labels, self.kept, self.keys, self.places)

    def _row(self, n: Int[Array, "*rows"]) -> "Sample":
        return jax.tree.map(lambda x: x[n], self._rows)

    def _forward(self, state: Parameters, row: "Sample") -> tuple[Float[Array, ""], "Memory"]:
        X, y, kept, keys, places = row
        p = attention(state, X, keys, self.score_gain)
        values = jnp.einsum("had,sd->hsa", state.W_V, X)
        v = combined(jnp.einsum("hls,hsa->hla", p, values), self.combination)
        if v.shape == X.shape:
            v = v + self.skip * X
        weight = (kept / kept.sum()).astype(X.dtype)
        a = self.a[0] if self.a.shape[0] == 1 else jnp.einsum("o...,o->...", self.a, y)
        sign = y[0] if self.a.shape[0] == 1 else jnp.ones((), X.dtype)
        if places is None:
            P = jnp.where(state.W_O @ v.T > 0, a, 0)
            U = P @ (v * weight[:, None])
        else:
            P = jnp.where(v @ state.W_O.T > 0, jnp.take(a, places, axis=0, mode="clip"), 0)
            U = P.T @ (v * weight[:, None])
        return sign * jnp.vdot(U, state.W_O), Memory(p, values, weight, sign, P, U)

    def _backward(self, state: Parameters, X: Float[Array, "L d"], memory: "Memory") -> Parameters:
        p, values, weight, sign, P, U = memory
        by_token = P.T if self.places is None else P
        to_v = sign * weight[:, None] * (by_token @ state.W_O)
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
