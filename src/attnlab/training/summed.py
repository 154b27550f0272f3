"""An engine that also adds up the losses of every step, so that a few records give the exact mean.

$$s_k=\\sum_{j<k}\\hat L(\\theta_j)$$

A path of 10^5 steps is not kept: it is recorded now and then, and the sum goes along as a part of
the state.
"""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, PyTree

from attnlab.training.engine import Engine


class Sum(NamedTuple):
    """A state, and the sum of the losses of all states before it."""

    state: PyTree
    total: Float[Array, ""]


class Summed(eqx.Module):
    """The engine it is made of, step for step; its views are (view, sum of the losses before)."""

    engine: Engine

    def begin(self, state: PyTree) -> Sum:
        """The state before the first step."""
        return Sum(state, jnp.zeros(()))

    def loss_and_field(self, state: Sum) -> tuple[Float[Array, ""], Sum]:
        """The engine's own; the sum has no gradient."""
        loss, field = self.engine.loss_and_field(state.state)
        return loss, Sum(field, jnp.zeros(()))

    def step(self, state: Sum, learning_rate: Float[Array, ""]) -> tuple[Float[Array, ""], Sum]:
        """The engine's own step; the loss before it is added."""
        loss, moved = self.engine.step(state.state, learning_rate)
        return loss, Sum(moved, state.total + loss)

    def view(self, state: Sum) -> tuple[PyTree, Float[Array, ""]]:
        """The engine's view, and the sum."""
        return self.engine.view(state.state), state.total
