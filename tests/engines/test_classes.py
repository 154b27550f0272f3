"""Cross-entropy over classes: steps, chunks, mini-batches and fits, by numpy on the outputs."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.images import class_batch
from attnlab.engines import classes
from attnlab.models.deep_vit_model import DeepViT

KEY = jax.random.key(2)
MODEL = DeepViT(blocks=1, heads=1, width=4, hidden=4, outputs=3)
RANDOM = np.random.default_rng(4)
MANY = 230
"""Two whole chunks and a part of one."""
X = RANDOM.normal(size=(MANY, 4, 3))
Y = RANDOM.integers(0, 3, MANY)
BATCH = class_batch(X, Y)
WEIGHTS = MODEL.init(KEY, BATCH, "random")


@pytest.fixture(scope="module")
def made():
    return classes.on_batch(MODEL, BATCH, WEIGHTS, dtype=jnp.float64)


@pytest.fixture(scope="module")
def outputs(made):
    engine, state = made
    return np.asarray(engine.outputs(state))


@eqx.filter_jit
def loss_of(engine, state):
    """One program for all sizes of one shape."""
    return engine.loss(state), engine.loss_and_field(state)


def cross_entropy(outputs, labels):
    return np.array([np.log(np.exp(F).sum()) - F[y] for F, y in zip(outputs, labels, strict=True)])


def test_outputs_are_the_models(outputs):
    expected = MODEL.apply(WEIGHTS, BATCH.tokens, BATCH.kept)
    np.testing.assert_allclose(outputs, expected, rtol=1e-10)


def test_a_mean_over_chunks_is_the_mean_over_all(made, outputs):
    engine, state = made
    losses = cross_entropy(outputs, Y)
    np.testing.assert_allclose(engine.losses(state), losses, rtol=1e-10)
    assert float(engine.loss(state)) == pytest.approx(losses.mean(), rel=1e-12)
    hits = outputs.argmax(1) == Y
    assert 0.1 < hits.mean() < 0.9
    assert float(engine.accuracy(state)) == pytest.approx(hits.mean(), rel=1e-12)
    np.testing.assert_array_equal(engine.by_row(state), hits)


@pytest.mark.parametrize("size", [1, 99, 100, 101, 200, 229])
def test_only_the_first_rows_count(made, outputs, size):
    engine, state = made
    part = engine.subset(jnp.arange(MANY), jnp.asarray(size))
    expected = cross_entropy(outputs[:size], Y[:size]).mean()
    loss, (same, _) = loss_of(part, state)
    assert float(loss) == pytest.approx(expected, rel=1e-12)
    assert float(same) == pytest.approx(expected, rel=1e-12)


def test_rows_go_with_their_labels_and_places(made, outputs):
    engine, state = made
    chosen = [7, 3, 3, 200]
    part = engine.rows(jnp.asarray(chosen))
    assert int(part.size) == 4
    expected = cross_entropy(outputs[chosen], Y[chosen]).mean()
    assert float(part.loss(state)) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("rate", [0.1, 0.3])
def test_a_step_is_the_rate_times_the_field(made, rate):
    engine, state = made
    _, (before, field) = loss_of(engine, state)
    loss, moved = engine.step(state, jnp.asarray(rate, jnp.float32))
    assert float(loss) == pytest.approx(float(before), rel=1e-12)
    rate = float(np.float32(rate))
    for x, v, new in zip(*map(jax.tree.leaves, (state, field, moved)), strict=True):
        np.testing.assert_allclose(new, np.asarray(x) + rate * np.asarray(v), rtol=1e-9, atol=1e-12)
    assert float(loss_of(engine, moved)[0]) < float(loss)


def test_fitted_is_a_loss_of_zero():
    """Logits that are 1000 apart have a cross-entropy of exactly 0 on the right side."""
    right, wrong = (np.full(5, label) for label in (0, 1))
    for labels, fitted in ((right, True), (wrong, False)):
        batch = class_batch(X[:5], labels)
        engine, state = classes.on_batch(MODEL, batch, WEIGHTS)
        state = state._replace(
            C=jnp.zeros_like(state.C), c=jnp.asarray([1000.0, 0.0, 0.0], state.c.dtype)
        )
        assert bool(engine.is_fitted(state)) == fitted
        assert float(engine.loss(state)) == (0 if fitted else 1000)


def test_the_precision_is_as_asked_and_the_places_as_they_are():
    single, state = classes.on_batch(MODEL, BATCH, WEIGHTS)
    assert {x.dtype for x in jax.tree.leaves(state)} == {jnp.dtype("float32")}
    assert single.tokens.dtype == jnp.float32
    np.testing.assert_array_equal(single.places, np.tile(np.arange(4), (MANY, 1)))
    assert int(single.size) == MANY
    part, _ = classes.on_batch(MODEL, BATCH, WEIGHTS, size=jnp.asarray(9))
    assert int(part.size) == 9
    view = single.view(state)
    for x, y in zip(jax.tree.leaves(view), jax.tree.leaves(single.model.view(
        classes.Weights(state, single.fixed), classes.Weights(single.first, single.fixed),
        jnp.ones(()),
    )), strict=True):  # fmt: skip
        np.testing.assert_array_equal(x, y)
