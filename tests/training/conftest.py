import equinox as eqx
import jax.numpy as jnp
import pytest
from jaxtyping import Array


class Quadratic(eqx.Module):
    """Loss k x^2 / 2 in one dimension: everything about it is known in closed form."""

    k: Array

    def loss_and_field(self, state: Array) -> tuple[Array, Array]:
        return self.k * jnp.sum(state**2) / 2, -self.k * state

    def step(self, state: Array, learning_rate: Array) -> tuple[Array, Array]:
        loss, field = self.loss_and_field(state)
        return loss, state + learning_rate * field

    def view(self, state: Array) -> Array:
        return state


@pytest.fixture
def quadratic() -> Quadratic:
    return Quadratic(jnp.asarray(2.0))
