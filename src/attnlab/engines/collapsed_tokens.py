r"""The engine on patterns with counts. Exact without token noise, and then far cheaper.

Without noise a token is its pattern, so all that depends on a token depends on (class y, pattern
j): with $c_{yj}$ tokens of pattern j in a sample of class y (fixed counts),

$$p_{y}(s|j) \propto c_{ys}\, e^{\mu_s^\top W_K^\top W_Q \mu_j}, \qquad
  h_{yj} = \mathrm{Relu}\Big(W_O \sum_s p_y(s|j)\, W_V \mu_s\Big), \qquad
  F(X_n) = \frac1L \sum_j A_{nj}^\top h_{y_n j}.$$

Only $A_{nji} = \sum_{l:\,x_l = \mu_j} a_{(l)i}$ tells samples of one class apart: small whole
numbers over sqrt(m), found once. The hidden layer is C M m an iteration, not B L m.

Legend: M patterns $\mu_j$, C classes, L tokens, m neurons, B samples in a batch.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from attnlab.data.pattern_vote import PatternBatch
from attnlab.models.shallow_vit import Combination, Parameters, combined
from attnlab.training.losses import logistic


class Collapsed(eqx.Module):
    """Samples as sums of output weights by pattern; the state is `Parameters`."""

    vectors: Float[Array, "M d"]
    counts: Float[Array, "C M"]
    sums: Float[Array, "n outputs_M_m"]
    """A_n, flattened: one row a sample."""
    labels: Float[Array, "n outputs"]
    classes: Int[Array, " n"]
    size: Int[Array, ""]
    margin: Float[Array, ""]
    score_gain: Float[Array, ""]
    score_rate: Float[Array, ""]
    skip: Float[Array, ""]
    """The gain of the skip connection, 0 or 1; without effect where m_a is not d."""
    combination: Combination = eqx.field(static=True, default="sum")
    logistic: Bool[Array, ""] | None = None
    """Whether the field descends the logistic loss instead of the hinge, where that is a choice.
    `loss` and `is_fitted` are the hinge's in either case; a logistic batch is never at rest."""

    def subset(self, indices: Int[Array, " room"], size: Int[Array, ""]) -> "Collapsed":
        """The same with a mini-batch as its samples, of which the first `size` count."""
        return eqx.tree_at(
            lambda e: (e.sums, e.labels, e.classes, e.size),
            self,
            (
                self.sums[indices],
                self.labels[indices],
                self.classes[indices],
                size,
            ),
        )

    def hidden(self, state: Parameters) -> Float[Array, "C M m"]:
        """h[y, j]: the hidden layer at a token of pattern j in a sample of class y."""
        mu = self.vectors
        # Frozen attention has no gradient: the path through the scores is cut by the rate.
        W_K, W_Q = (_slowed(W, self.score_rate) for W in (state.W_K, state.W_Q))
        K, Q = (jnp.einsum("hbd,jd->hjb", W, mu) for W in (W_K, W_Q))
        scores = self.score_gain * jnp.einsum("hjb,hsb->hjs", Q, K)
        logits = scores[:, None] + jnp.log(self.counts)[None, :, None, :]
        p = jax.nn.softmax(logits, axis=-1)
        values = jnp.einsum("had,sd->hsa", state.W_V, mu)
        by_head = jnp.einsum("hyjs,hsa->hyja", p, values)
        H, C, M, m_a = by_head.shape
        v = combined(by_head.reshape(H, C * M, m_a), self.combination)
        if v.shape[1] == mu.shape[1]:
            v = v + self.skip * jnp.tile(mu, (C, 1))
        return jax.nn.relu(v @ state.W_O.T).reshape(C, M, -1)

    def margins(self, state: Parameters) -> Float[Array, " n"]:
        """y^T F of every row, padding included."""
        return self._margins(self.hidden(state))

    def loss_and_field(self, state: Parameters) -> tuple[Float[Array, ""], Parameters]:
        """The mean hinge loss of the samples and its negative gradient."""
        h, back = jax.vjp(self.hidden, state)
        margins = self._margins(h)
        short = self.margin - margins
        valid = jnp.arange(short.size) < self.size
        share = valid / self.size.astype(short.dtype)
        active = jnp.where(short > 0, share, 0)
        each = jnp.maximum(short, 0)
        if self.logistic is not None:
            active = jnp.where(self.logistic, share * logistic.slope(margins), active)
            each = jnp.where(self.logistic, logistic.value(margins), each)
        (field,) = back(self._towards(active))
        loss = jnp.sum(jnp.where(valid, each, 0)) / self.size
        return loss.astype(short.dtype), field

    def loss(self, state: Parameters) -> Float[Array, ""]:
        """The mean hinge loss of the samples."""
        short = jnp.maximum(self.margin - self.margins(state), 0)
        return jnp.sum(jnp.where(jnp.arange(short.size) < self.size, short, 0)) / self.size

    def step(self, state: Parameters, learning_rate: Array) -> tuple[Array, Parameters]:
        """One step of plain descent."""
        loss, field = self.loss_and_field(state)
        rate = jnp.asarray(learning_rate, state.W_O.dtype)
        return loss, jax.tree.map(lambda x, g: x + rate * g, state, field)

    def is_fitted(self, state: Parameters) -> Bool[Array, ""]:
        """Whether the training loss is zero."""
        beyond = self.margins(state) >= self.margin
        return jnp.all(beyond | (jnp.arange(beyond.size) >= self.size))

    def view(self, state: Parameters) -> Parameters:
        """The weights themselves."""
        return state

    def _margins(self, h: Float[Array, "C M m"]) -> Float[Array, " n"]:
        C, outputs, n = h.shape[0], self.labels.shape[1], self.classes.size
        by_class = self.sums.reshape(n * outputs, -1) @ h.reshape(C, -1).T
        own = by_class.reshape(n, outputs, C)[jnp.arange(n), :, self.classes]
        return (own * self.labels).sum(1)

    def _towards(self, active: Float[Array, " n"]) -> Float[Array, "C M m"]:
        """The gradient of the sum of active margins with respect to h."""
        n, outputs = self.labels.shape
        C, M = self.counts.shape
        weight = active[:, None, None] * self.labels[:, :, None]
        weight = weight * jax.nn.one_hot(self.classes, C, dtype=weight.dtype)[:, None, :]
        flat = weight.reshape(n * outputs, C).T @ self.sums.reshape(n * outputs, -1)
        return flat.reshape(C, M, -1)


def sums_by_pattern(
    batch: PatternBatch, a: Float[Array, "outputs L m"], M: int, size: Int[Array, ""]
) -> Float[Array, "n outputs_M_m"]:
    """A_n / L of the first `size` samples, zero for the padding after them."""
    outputs, L, m = a.shape
    flat = a.transpose(1, 0, 2).reshape(L, outputs * m)

    def fill(n: Array, table: Array) -> Array:
        one = jax.nn.one_hot(batch.patterns[n], M, dtype=a.dtype)
        # (M, outputs, m) -> (outputs, M, m): the neurons of one output stay together.
        row = (one.T @ flat).reshape(M, outputs, m).transpose(1, 0, 2) / L
        return table.at[n].set(row.reshape(-1))

    rows = batch.patterns.shape[0]
    return jax.lax.fori_loop(0, size, fill, jnp.zeros((rows, outputs * M * m), a.dtype))


def _slowed(W: Array, rate: Array) -> Array:
    """W, with its gradient multiplied by the rate."""
    return rate * W + (1 - rate) * jax.lax.stop_gradient(W)
