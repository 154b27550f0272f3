"""Optimisers by name against their rules written out, and what a reduced state refuses."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from attnlab.core import BadInput
from attnlab.training import optimisers
from attnlab.training.descent import descend
from attnlab.training.minibatch import MiniBatches
from attnlab.training.optimisers import RULES, optimiser

RATE, STEPS = 0.1, 7


def ended(quadratic, name, **more):
    return float(
        descend(
            quadratic, jnp.asarray(1.0), optimiser(name, RATE, **more), np.array([0, STEPS])
        ).state
    )


def test_plain_descent_momentum_decay_and_signs_by_hand(quadratic):
    k, x = 2.0, 1.0
    velocity, heavy, decayed, signed = 0.0, 1.0, 1.0, 1.0
    for _ in range(STEPS):
        x -= RATE * k * x
        velocity = 0.9 * velocity + k * heavy
        heavy -= RATE * velocity
        decayed -= RATE * (k * decayed + 0.3 * decayed)
        signed -= RATE * np.sign(signed)
    assert ended(quadratic, "sgd") == pytest.approx(x, rel=1e-12)
    assert ended(quadratic, "momentum") == pytest.approx(heavy, rel=1e-12)
    assert ended(quadratic, "decayed_sgd", weight_decay=0.3) == pytest.approx(decayed, rel=1e-12)
    assert ended(quadratic, "sign_sgd") == pytest.approx(signed, rel=1e-12)


@pytest.mark.parametrize("name", [name for name in RULES if name != "decayed_sgd"])
def test_every_name_lowers_the_loss(quadratic, name):
    path = descend(quadratic, jnp.asarray(1.0), optimiser(name, 0.01), np.array([0, 5]))
    assert float(path.values["loss"][1]) < float(path.values["loss"][0])


def test_a_rule_of_ones_own_is_an_entry(quadratic, monkeypatch):
    def clipped(learning_rate):
        return optax.chain(optax.clip_by_global_norm(0.5), optax.sgd(learning_rate))

    monkeypatch.setitem(RULES, "clipped", clipped)
    # The gradient is 2 x, above the limit all the way from 1 to 0.65.
    assert ended(quadratic, "clipped") == pytest.approx(1 - STEPS * RATE * 0.5)


def test_an_unknown_name_is_refused():
    with pytest.raises(BadInput, match="did you mean adam"):
        optimiser("adamm", 0.1)


class Reduced(eqx.Module):
    state_is_weights = False
    k: jnp.ndarray

    def loss_and_field(self, state):
        return self.k * jnp.sum(state**2) / 2, -self.k * state

    def step(self, state, learning_rate):
        loss, field = self.loss_and_field(state)
        return loss, state + learning_rate * field

    def view(self, state):
        return state


class Moves(Reduced):
    state_is_weights = True
    state_is_moves = True


def test_a_rule_on_a_reduced_state_is_refused():
    reduced, moves = Reduced(jnp.asarray(2.0)), Moves(jnp.asarray(2.0))
    ends = np.array([0, 1])
    assert descend(reduced, jnp.asarray(1.0), optimiser("sgd", 0.1), ends).complete
    with pytest.raises(BadInput, match="Reduced, whose state is a reduction"):
        descend(reduced, jnp.asarray(1.0), optimiser("adam", 0.1), ends)
    assert descend(moves, jnp.asarray(1.0), optimiser("adam", 0.1), ends).complete
    for decaying in ("adamw", "lion", "lamb"):
        with pytest.raises(BadInput, match="it would decay the moves"):
            descend(moves, jnp.asarray(1.0), optimiser(decaying, 0.1), ends)
    with pytest.raises(BadInput, match="it would decay the moves"):
        descend(moves, jnp.asarray(1.0), optimiser("decayed_sgd", 0.1, weight_decay=0.1), ends)


def test_mini_batches_need_an_engine_that_knows_its_samples(quadratic):
    with pytest.raises(BadInput, match="does not know its samples one by one"):
        descend(
            quadratic,
            jnp.asarray(1.0),
            optimiser("sgd", 0.1),
            np.array([0, 1]),
            batches=MiniBatches(jax.random.key(0), 2, 2),
        )
    with pytest.raises(BadInput, match="is for mini-batches"):
        descend(
            quadratic,
            jnp.asarray(1.0),
            optimiser("sgd", 0.1),
            np.array([0, 1]),
            stop_when_fitted=True,
        )


def test_the_table_is_what_the_docstring_says():
    for name in ("sgd", "momentum", "adam", "adamw", "sign_sgd"):
        assert name in RULES
        assert name in (optimisers.__doc__ or "")
