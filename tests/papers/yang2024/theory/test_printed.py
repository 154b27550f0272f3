"""Every gradient three ways: the printed formula, autodiff and finite differences."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.engines import word_weights
from attnlab.models.linear_mlp_transformer import Parameters, output_by_definition
from attnlab.numerics.derivatives import directional_difference
from attnlab.papers.yang2024.theory import printed
from attnlab.training.losses import hinge, logistic

# (n, L, d, m, m1): by word pairs, and a vocabulary so large that places are scored instead.
SHAPES = {"word_pairs": (8, 4, 9, 6, 5), "place_pairs": (4, 3, 40, 6, 5)}


def random_case(shape, seed: int):
    """Parameters of order one, any labels, words that may repeat inside a sample."""
    n, L, d, m, m1 = shape
    rng = np.random.default_rng(seed)
    parameters = Parameters(
        *(jnp.asarray(rng.normal(size=s)) for s in [(m1, m), (m, d), (m, d), (m, d)])
    )
    words = jnp.asarray(rng.integers(0, d, (n, L)), jnp.int32)
    labels = jnp.asarray(rng.choice([-1, 1], n), jnp.int8)
    batch = Batch(words, labels, jnp.zeros((n, L), jnp.int8), labels, jnp.ones((n, L), bool))
    return parameters, jnp.asarray(rng.normal(size=m1)), batch


@partial(jax.jit, static_argnames="loss")
def loss_by_definition(parameters, a, batch, loss=logistic):
    return loss.value(batch.labels * output_by_definition(parameters, a, batch.words)).mean()


gradient_by_definition = jax.jit(jax.grad(loss_by_definition), static_argnames="loss")


def by_autodiff(parameters, a, batch, loss=logistic) -> Parameters:
    return jax.tree.map(jnp.negative, gradient_by_definition(parameters, a, batch, loss=loss))


@eqx.filter_jit
def loss_and_field(engine, parameters):
    return engine.loss_and_field(parameters)


as_in_print = jax.jit(printed.negative_gradients, static_argnames="centred")


def relative_error(got: Parameters, expected: Parameters) -> float:
    return max(
        float(jnp.abs(x - y).max() / jnp.abs(y).max()) for x, y in zip(got, expected, strict=True)
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_printed_autodiff_and_fast_agree(shape, seed) -> None:
    parameters, a, batch = random_case(shape, seed)
    automatic = by_autodiff(parameters, a, batch)
    as_printed = as_in_print(parameters, a, batch.words, batch.labels)
    engine = word_weights.on_batch(batch, a)
    loss, fast = loss_and_field(engine, parameters)
    assert relative_error(as_printed, automatic) < 1e-12
    assert relative_error(fast, automatic) < 1e-12
    np.testing.assert_allclose(loss, loss_by_definition(parameters, a, batch), rtol=1e-13)


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_finite_differences_agree_within_their_own_accuracy(shape) -> None:
    parameters, a, batch = random_case(shape, 7)
    _, field = loss_and_field(word_weights.on_batch(batch, a), parameters)
    rng = np.random.default_rng(0)
    for name in Parameters._fields:
        direction = jax.tree.map(jnp.zeros_like, parameters)
        chosen = jnp.asarray(rng.normal(size=getattr(parameters, name).shape))
        direction = direction._replace(**{name: chosen / jnp.linalg.norm(chosen)})
        slope = sum(jnp.vdot(f, v) for f, v in zip(field, direction, strict=True))
        got = directional_difference(
            lambda p: loss_by_definition(p, a, batch), parameters, direction
        )
        assert abs(float(got.value + slope)) <= float(got.error), name
        assert float(got.error) < 1e-6 * abs(float(slope)) + 1e-9, name


def test_the_wrong_law_is_wrong() -> None:
    parameters, a, batch = random_case(SHAPES["word_pairs"], 1)
    wrong = as_in_print(parameters, a, batch.words, batch.labels, centred=False)
    assert relative_error(wrong, by_autodiff(parameters, a, batch)) > 0.1


def test_hinge_gradient() -> None:
    parameters, a, batch = random_case(SHAPES["word_pairs"], 2)
    loss = hinge(2.0)
    _, fast = loss_and_field(word_weights.on_batch(batch, a, loss=loss), parameters)
    assert relative_error(fast, by_autodiff(parameters, a, batch, loss)) < 1e-12


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_frozen_and_uniform_attention(shape) -> None:
    parameters, a, batch = random_case(shape, 4)
    _, trained = loss_and_field(word_weights.on_batch(batch, a), parameters)
    _, frozen = loss_and_field(word_weights.on_batch(batch, a, attention="frozen"), parameters)
    for name in ("W", "W_V"):
        np.testing.assert_array_equal(getattr(frozen, name), getattr(trained, name))
    for name in ("W_K", "W_Q"):
        assert not getattr(frozen, name).any()
        assert getattr(trained, name).any()
    flat = parameters._replace(W_K=jnp.zeros_like(parameters.W_K))
    _, uniform = loss_and_field(word_weights.on_batch(batch, a, attention="uniform"), parameters)
    expected = by_autodiff(flat, a, batch)
    assert relative_error(uniform[:2], expected[:2]) < 1e-12
    assert not uniform.W_K.any()
