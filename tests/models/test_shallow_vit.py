"""The shallow vision transformer: its first weights."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.models.shallow_vit import attention
from attnlab.models.shallow_vit_initialisation import Scales, ShallowViTSizes, draw

SIZES = ShallowViTSizes(d=10, M=5, L=20, m=30, m_a=10, m_b=10)
NUMBERS = {"sigma": 0.1, "delta": 0.2, "xi": 0.01, "c0": 0.01}
PATTERNS = jnp.eye(5, 10)


@partial(jax.jit, static_argnames=("sizes", "scheme", "errors"))
def compiled(key, sizes, patterns, shared, scheme, errors):
    numbers = Scales(**{k: jnp.asarray(v) for k, v in NUMBERS.items()})
    return draw(key, sizes, patterns, numbers, shared=shared, scheme=scheme, errors=errors)


def start(sizes=SIZES, patterns=PATTERNS, shared=False, scheme="assumption_1", errors="error"):
    return compiled(jax.random.key(0), sizes, patterns, shared, scheme, errors)


@pytest.mark.parametrize("errors", ["error", "free"])
def test_assumption_1_holds_to_the_letter(errors):
    drawn = start(errors=errors)
    p, q, r = (np.asarray(x[0]) for x in drawn.features)
    for feature in (p, q, r):
        np.testing.assert_allclose(feature.T @ feature, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(q[:, :2], r[:, :2], atol=1e-12)
    for name, feature, size in (("W_V", p, 0.1), ("W_K", q, 0.2), ("W_Q", r, 0.2)):
        W = np.asarray(getattr(drawn.parameters, name)[0])
        np.testing.assert_allclose(np.linalg.norm(W @ PATTERNS.T - feature, axis=0), size)
        assert np.abs(W[:, 5:]).max() < 1e-12


def test_output_weights_are_signs_by_position_or_shared():
    a = np.asarray(start().a)
    np.testing.assert_allclose(np.abs(a), 1 / np.sqrt(30))
    assert (a[0, 0] != a[0, 1]).any()
    shared = np.asarray(start(shared=True).a)
    assert (shared[0] == shared[0, 0]).all()
    np.testing.assert_array_equal(shared[0, 0], a[0, 0])


def test_the_printed_initial_model_saturates_the_softmax():
    drawn = start(scheme="printed")
    p = attention(drawn.parameters, PATTERNS, jnp.ones(5, bool))
    np.testing.assert_allclose(p[0], np.eye(5), atol=1e-12)
    assert float(drawn.parameters.W_Q[0, 0, 0]) == pytest.approx(400)


def test_padding_the_patterns_does_not_change_the_draw():
    wide = ShallowViTSizes(d=10, M=10, L=20, m=30, m_a=10, m_b=10)
    padded, plain = start(wide, jnp.eye(10)), start()
    for x, y in zip(padded.features, plain.features, strict=True):
        np.testing.assert_array_equal(x[0, :, :5], y[0])
