r"""Descent with momentum and weight decay on Grams: both close.

On the weights the rule is, with $\theta$ any of the four matrices and $p$ its velocity,

$$p \leftarrow \beta p - \nabla L - \lambda\theta,\qquad \theta \leftarrow \theta + \eta p.$$

Every velocity stays in the span of the columns that the gradient is made of: $P_W = a\,q^\top$, so
it acts through $\omega = P_W^\top a$ alone. The columns $[u_0, u, \omega, W_V, P_V]$ and
$[W_K, W_Q, P_K, P_Q]$ are therefore replaced by combinations of themselves,

$$\omega \leftarrow \beta\omega + A W_V z - \lambda u,\quad P_V \leftarrow \beta P_V + u z^\top -
  \lambda W_V,\quad P_K \leftarrow \beta P_K + W_Q M^\top - \lambda W_K,\quad
  P_Q \leftarrow \beta P_Q + W_K M - \lambda W_Q,$$

and if X becomes XT, its Gram C becomes $T^\top C T = T^\top (T^\top C)^\top$: the same change of
rows made twice. With $\beta=0$ and $\lambda=0$ this is plain descent, by another route than
`gram_equations`; a rule that is not linear in the columns, like Adam's, does not close.

Legend: $\eta$ learning rate, $\beta$ momentum, $\lambda$ weight decay (added to the gradient);
$u_0$ is u at the start; the rest as in `gram_equations`.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.engines.gram_equations import Grams, ScoreDrive

SymmetricGram = Float[Array, "k k"]


class VelocityGrams(NamedTuple):
    """The Grams of the weights together with their velocities."""

    values: SymmetricGram
    """Of [u_0, u, omega, W_V, P_V]: 3 + 2w columns."""
    scores: SymmetricGram
    """Of [W_K, W_Q, P_K, P_Q]: 4w columns."""


class GramMomentum(eqx.Module):
    """An `attnlab.training.descent.Update` for the engine `gram`, from velocity zero.

    It is what `optax.chain(add_decayed_weights(weight_decay), sgd(learning_rate, momentum))` does
    to the weights.
    """

    learning_rate: Float[Array, ""] = eqx.field(converter=jnp.asarray)
    momentum: Float[Array, ""] = eqx.field(converter=jnp.asarray, default=0.0)
    weight_decay: Float[Array, ""] = eqx.field(converter=jnp.asarray, default=0.0)

    def init(self, state: Grams) -> VelocityGrams:
        """The Grams at rest."""
        w = state.G.shape[0]
        columns = 3 + 2 * w
        values = jnp.zeros((columns, columns), state.G.dtype)
        # |u_0|^2 is left out: nothing ever asks for it.
        for i, own, with_values in [
            (0, state.rho_start, state.G_start),
            (1, state.rho, state.G),
        ]:
            values = values.at[1, i].set(own).at[i, 1].set(own)
            values = values.at[i, 3 : 3 + w].set(with_values).at[3 : 3 + w, i].set(with_values)
        values = values.at[3 : 3 + w, 3 : 3 + w].set(state.V)
        still = jnp.block([[state.K, state.S], [state.S.T, state.Q]])
        zero = jnp.zeros_like(still)
        return VelocityGrams(values, jnp.block([[still, zero], [zero, zero]]))

    def apply(
        self, engine: Any, state: Grams, memory: VelocityGrams
    ) -> tuple[Array, Grams, VelocityGrams]:
        """One step."""
        loss, z, M = engine.drives(state)
        count = z.shape[0]
        memory = VelocityGrams(
            _both_sides(self._value_rows(z, engine.A), memory.values),
            _both_sides(self._score_rows(M, count), memory.scores),
        )
        return loss, _grams(memory, count), memory

    def _value_rows(self, z: Float[Array, " w"], A: Array) -> Callable[[Array], Array]:
        eta, beta, decay = self.learning_rate, self.momentum, self.weight_decay
        count = z.shape[0]

        def change(C: Array) -> Array:
            u0, u, omega = C[0], C[1], C[2]
            W_V, P_V = C[3 : 3 + count], C[3 + count :]
            omega = beta * omega + A * (z @ W_V) - decay * u
            P_V = beta * P_V + jnp.outer(z, u) - decay * W_V
            vectors = jnp.stack([u0, u + eta * omega, omega])
            return jnp.concatenate([vectors, W_V + eta * P_V, P_V])

        return change

    def _score_rows(self, M: ScoreDrive, count: int) -> Callable[[Array], Array]:
        eta, beta, decay = self.learning_rate, self.momentum, self.weight_decay

        def change(C: Array) -> Array:
            W_K, W_Q, P_K, P_Q = C.reshape(4, count, -1)
            P_K = beta * P_K + M.times(W_Q) - decay * W_K
            P_Q = beta * P_Q + M.transposed_times(W_K) - decay * W_Q
            return jnp.concatenate([W_K + eta * P_K, W_Q + eta * P_Q, P_K, P_Q])

        return change


def _both_sides(change: Callable[[Array], Array], C: SymmetricGram) -> SymmetricGram:
    return change(change(C).T)


def _grams(memory: VelocityGrams, w: int) -> Grams:
    values, scores = memory.values, memory.scores
    return Grams(
        G=values[1, 3 : 3 + w],
        rho=values[1, 1],
        V=values[3 : 3 + w, 3 : 3 + w],
        S=scores[:w, w : 2 * w],
        K=scores[:w, :w],
        Q=scores[w : 2 * w, w : 2 * w],
        G_start=values[0, 3 : 3 + w],
        rho_start=values[0, 1],
    )
