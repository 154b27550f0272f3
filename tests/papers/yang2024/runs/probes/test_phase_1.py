"""Changes per use and rates of neurons against the weights' own motion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.word_cooccurrence import (
    BalancedTrainingSet,
)
from attnlab.engines import word_weights
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.papers.yang2024.runs.probes import phase_1
from attnlab.probes.context import Context


@pytest.fixture(scope="module")
def moved():
    """Weights before and after some steps, on a set in which words differ in use."""
    batch = BalancedTrainingSet(23, 4).sample(jax.random.key(0), 12)
    sizes = LinearMLPSizes(23, 4, 16, 5)
    engine, before = word_weights.start(jax.random.key(1), batch, sizes, Initialisation(c0=2.0))
    after = before
    for _ in range(20):
        _, after = engine.step(after, jnp.asarray(0.05))
    context = Context(batch, engine.view(before))
    return engine, before, after, context


def test_changes_per_use_by_class(moved):
    engine, before, after, context = moved
    words = np.asarray(context.batch.words)
    uses = np.array([(words == k).any(axis=1).sum() for k in range(23)])
    found = phase_1.change_per_use(jnp.zeros(()), engine.view(after), context)
    left = {"value": "W_V", "score": "W_K", "key": "W_K", "query": "W_Q"}
    right = left | {"score": "W_Q"}
    for name in left:
        A, B = getattr(before, left[name]), getattr(before, right[name])
        C, D = getattr(after, left[name]), getattr(after, right[name])
        change = np.abs(np.asarray(C.T @ D - A.T @ B))
        worst = np.zeros(3)
        for i in range(23):
            for j in range(23):
                share = max(uses[i] + uses[j], 1) / 12
                kind = (i >= 3) + (j >= 3)
                worst[kind] = max(worst[kind], change[i, j] / share)
        np.testing.assert_allclose(found[f"{name}_change_per_use"], worst, rtol=1e-9, atol=1e-15)


def test_the_error_of_a_neurons_rate(moved):
    engine, _, after, context = moved
    found = phase_1.neuron_rates(jnp.zeros(()), engine.view(after), context)
    _, field = engine.loss_and_field(after)
    a = np.asarray(engine.a)
    W, W_V = np.asarray(after.W), np.asarray(after.W_V)
    rates = a[:, None] * np.asarray(field.W @ after.W_V + after.W @ field.W_V)
    # W_V' = u z^T tells z.
    u = a @ W
    z = u @ np.asarray(field.W_V) / (u @ u)
    factors = np.array([[w @ w + W_V[:, k] @ W_V[:, k] for k in (0, 1)] for w in W])
    error = np.abs(rates[:, :2] - factors * z[:2]).max()
    assert found["neuron_rate_error"] == pytest.approx(error, rel=1e-9)
    np.testing.assert_allclose(found["neuron_factors"], [factors.min(), factors.max()])
    expected = [rates[:, :2].min(), rates[:, :2].max()]
    np.testing.assert_allclose(found["signal_neuron_rates"], expected)
    assert found["largest_common_neuron_rate"] == pytest.approx(np.abs(rates[:, 2]).max())
    assert found["largest_random_neuron_rate"] == pytest.approx(np.abs(rates[:, 3:]).max())
