r"""Heads whose attention is a product, $W_h=Q_hK_h^\top$ with $d_h$ columns each.

$$\dot Q_h=F_hK_h,\qquad\dot K_h=F_h^\top Q_h,\qquad F_h=-\nabla_{W_h}\hat L .$$

K starts at zero and Q with normal entries of variance $1/d_h$: then $W_h=0$, as after phase 1, and
$\mathbb E\,\dot W_h=F_h$, as for a free W. Columns beyond $d_h$ are zero and stay so: the rank is
data. With Q the unit matrix and held fast, $W_h=K_h^\top$ is free: the paper's model.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.engines.heads import HeadsEngine
from attnlab.models.multihead import Heads, HeadsView


class Factors(NamedTuple):
    """The state: the decoders' moves, the factors, and how the loss has gone so far."""

    U: Float[Array, "G T d"]
    Q: Float[Array, "G d d"]
    K: Float[Array, "G d d"]
    before: Float[Array, ""]
    """The loss one step ago; infinite at the start."""
    rise: Float[Array, ""]
    """The largest growth of the loss in one step, over the loss before it."""


class FactoredHeads(eqx.Module):
    """Gradient descent on decoders and factors."""

    heads: HeadsEngine
    Q: Float[Array, "G d d"]
    """Q at the start."""
    free: Float[Array, ""]
    """1 where Q stays as it is, 0 where it is trained."""

    def start(self) -> Factors:
        """The state after phase 1."""
        zero = self.heads.zero()
        return Factors(
            zero.U, self.Q, jnp.zeros_like(self.Q), jnp.asarray(jnp.inf), jnp.asarray(-jnp.inf)
        )

    def moves(self, state: Factors) -> Heads:
        """The same state as moves of decoders and of W."""
        return Heads(state.U, state.Q @ jnp.swapaxes(state.K, 1, 2))

    def loss_and_field(self, state: Factors) -> tuple[Float[Array, ""], Factors]:
        """The training loss, and minus its gradient."""
        loss, field = self.heads.loss_and_field(self.moves(state))
        of_Q = (1 - self.free) * (field.W @ state.K)
        of_K = jnp.swapaxes(field.W, 1, 2) @ state.Q
        return loss, Factors(field.U, of_Q, of_K, jnp.zeros(()), jnp.zeros(()))

    def step(
        self, state: Factors, learning_rate: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Factors]:
        """The loss before, and the state after, one step of gradient descent."""
        loss, field = self.loss_and_field(state)
        rise = jnp.maximum(state.rise, loss / state.before - 1)
        U, Q, K = (x + learning_rate * v for x, v in zip(state[:3], field[:3], strict=True))
        return loss, Factors(U, Q, K, loss, rise)

    def view(self, state: Factors) -> HeadsView:
        """What probes read."""
        return self.heads.view(self.moves(state))


def scaled_columns(normal: Float[np.ndarray, "G d d"], d_h: int) -> Float[np.ndarray, "G d d"]:
    """Q at the start from standard normal numbers: d_h columns of them, scaled; the others zero."""
    return np.where(np.arange(normal.shape[-1]) < d_h, normal / np.sqrt(d_h), 0.0)
