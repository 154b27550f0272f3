"""Warmed, annealed, clipped AdamW: step sizes by their formula, steps by plain numpy."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.training.schedules import annealed, warmed


def by_formula(t, rate, steps, warm):
    begun = min((t + 1) / max(warm * steps, 1), 1)
    gone = min(max((t - warm * steps) / max((1 - warm) * steps, 1), 0), 1)
    return rate * begun * (1 + math.cos(math.pi * gone)) / 2


@pytest.mark.parametrize(
    ("rate", "steps", "warm"), [(2.0, 10, 0.3), (0.5, 7, 0.0), (1.0, 4, 0.1), (3.0, 5, 1.0)]
)
def test_step_sizes_by_their_formula(rate, steps, warm):
    for t in range(steps + 3):
        found = float(annealed(jnp.asarray(float(t)), rate, steps, warm))
        assert found == pytest.approx(by_formula(t, rate, steps, warm), rel=1e-6, abs=1e-7)


@pytest.mark.parametrize(
    "given", [{}, {"warm": 0.5}, {"weight_decay": 0.3}, {"clip": 0.2}, {"clip": 100.0}], ids=str
)
def test_steps_by_plain_numpy(given):
    """Gradients of several lengths, of which some are longer than `clip`."""
    numbers = {"warm": 0.1, "weight_decay": 1e-4, "clip": 1.0} | given
    update = warmed(0.05, 6, **given)
    rule = update.rule(**update.hyperparameters)
    x = np.array([0.5, -2.0, 1.5], np.float32)
    memory = rule.init(jnp.asarray(x))
    first, second = np.zeros(3), np.zeros(3)
    for t, size in enumerate((0.1, 3.0, 0.5, 20.0)):
        gradient = size * np.array([1.0, -0.4, 0.2], np.float32) * (-1) ** t
        move, memory = rule.update(jnp.asarray(gradient), memory, jnp.asarray(x))
        cut = gradient * min(1.0, numbers["clip"] / np.linalg.norm(gradient))
        first, second = 0.9 * first + 0.1 * cut, 0.999 * second + 0.001 * cut**2
        towards = first / (1 - 0.9 ** (t + 1))
        towards /= np.sqrt(second / (1 - 0.999 ** (t + 1))) + 1e-8
        rate = by_formula(t, 0.05, 6, numbers["warm"])
        np.testing.assert_allclose(
            move, -rate * (towards + numbers["weight_decay"] * x), rtol=2e-4, atol=1e-7
        )
        x = x + np.asarray(move)


def test_it_reads_the_weights():
    assert warmed(0.1, 5).reads_weights
