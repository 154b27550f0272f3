import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.models.linear_mlp_initialisation import Initialisation, deviations, initialise
from attnlab.models.linear_mlp_transformer import (
    LinearMLPSizes,
    Parameters,
    output,
    output_by_definition,
    word_view,
)

SIZES = LinearMLPSizes(d=9, L=4, m=6, m1=5)


def parameters_and_words(seed: int, sizes: LinearMLPSizes = SIZES):
    """Entries of order one, so that the softmax is far from uniform."""
    rng = np.random.default_rng(seed)
    shapes = [(sizes.m1, sizes.m), *[(sizes.m, sizes.d)] * 3]
    parameters = Parameters(*(jnp.asarray(rng.normal(size=shape)) for shape in shapes))
    words = jnp.asarray(rng.integers(0, sizes.d, (7, sizes.L)), jnp.int32)
    return parameters, jnp.asarray(rng.normal(size=sizes.m1)), words


@pytest.mark.parametrize("seed", range(5))
def test_fast_output_is_the_definition(seed) -> None:
    parameters, a, words = parameters_and_words(seed)
    fast = jax.jit(output)(parameters, a, words)
    slow = jax.jit(output_by_definition)(parameters, a, words)
    assert jnp.abs(fast - slow).max() <= 1e-13 * jnp.abs(slow).max()


def test_definition_by_loops() -> None:
    """Equation (1) once more, by plain loops over places and neurons."""
    parameters, a, words = parameters_and_words(3)
    W, W_V, W_K, W_Q = (np.asarray(x) for x in parameters)
    total = np.zeros(len(words))
    for i, sample in enumerate(np.asarray(words)):
        X = np.eye(SIZES.d)[:, sample]
        for l, j in itertools.product(range(SIZES.L), range(SIZES.m1)):  # noqa: E741
            s = np.exp(X.T @ W_K.T @ W_Q @ X[:, l] / np.sqrt(SIZES.m))
            total[i] += float(a[j]) * W[j] @ W_V @ X @ (s / s.sum())
    np.testing.assert_allclose(output_by_definition(parameters, a, words), total, rtol=1e-12)


def test_uniform_attention_is_the_bag_of_words() -> None:
    parameters, a, words = parameters_and_words(1)
    bag = word_view(parameters, a).G[words].sum(axis=1)
    np.testing.assert_allclose(output(parameters, a, words, score_gain=0.0), bag, rtol=1e-13)
    assert jnp.abs(output(parameters, a, words) - bag).max() > 0.1


def test_the_word_view_is_the_products_of_the_weights() -> None:
    parameters, a, _ = parameters_and_words(4)
    W, W_V, W_K, W_Q = (np.asarray(x) for x in parameters)
    view = word_view(parameters, a)
    u = sum(float(a[j]) * W[j] for j in range(SIZES.m1))
    expected = {
        "G": [u @ W_V[:, k] for k in range(SIZES.d)],
        "rho": u @ u,
        "V": W_V.T @ W_V,
        "S": W_K.T @ W_Q,
        "K": W_K.T @ W_K,
        "Q": W_Q.T @ W_Q,
        "A": float((np.asarray(a) ** 2).sum()),
        "score_scale": 1 / math.sqrt(SIZES.m),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(view, name), value, rtol=1e-12, err_msg=name)
    assert float(word_view(parameters, a, 0.5).score_scale) == 0.5 / math.sqrt(SIZES.m)


def test_huge_scores_do_not_overflow() -> None:
    parameters, a, words = parameters_and_words(2)
    huge = parameters._replace(W_K=1e6 * parameters.W_K)
    assert jnp.isfinite(output(huge, a, words)).all()


@pytest.mark.parametrize("output_layer", ["sign", "sign_over_m1", "same_as_weights"])
@pytest.mark.parametrize(
    "weights", ["theory", "kaiming_normal", "kaiming_uniform", "linear_default"]
)
def test_initialisations_have_their_moments(weights, output_layer) -> None:
    sizes = LinearMLPSizes(d=60, L=5, m=80, m1=300)
    scheme = Initialisation(weights, output_layer)
    parameters, a = initialise(jax.random.key(0), sizes, scheme)
    of = deviations(sizes, scheme)
    expected = {
        "theory": (1 / math.sqrt(300), 1 / math.sqrt(5 * 80), 1 / math.sqrt(300)),
        "kaiming_normal": (math.sqrt(2 / 80), math.sqrt(2 / 60), math.sqrt(2 / 300)),
        "kaiming_uniform": (math.sqrt(2 / 80), math.sqrt(2 / 60), math.sqrt(2 / 300)),
        "linear_default": tuple(1 / math.sqrt(3 * fan_in) for fan_in in (80, 60, 300)),
    }[weights]
    own = {"sign": 1.0, "sign_over_m1": 1 / 300, "same_as_weights": expected[2]}[output_layer]
    np.testing.assert_allclose(of, (*expected[:2], own), rtol=1e-14)
    uniform = weights in ("kaiming_uniform", "linear_default")
    drawn = [(x, of.embeddings) for x in parameters[1:]] + [(parameters.W, of.neurons)]
    if output_layer == "same_as_weights":
        drawn.append((a, of.output_layer))
    else:
        np.testing.assert_array_equal(jnp.abs(a), of.output_layer)
    for x, deviation in drawn:
        assert abs(float(x.mean())) < 4 * deviation / math.sqrt(x.size)
        assert abs(float(x.std()) / deviation - 1) < 4 / math.sqrt(x.size)
        largest = float(jnp.abs(x).max()) / deviation
        assert (largest <= math.sqrt(3)) if uniform else (largest > math.sqrt(3))


def test_the_scales_of_theory_can_be_given() -> None:
    sizes = LinearMLPSizes(d=60, L=5, m=80, m1=300)
    assert deviations(sizes, Initialisation(c0=0.1)).embeddings == pytest.approx(0.1 / 20)
    given = deviations(sizes, Initialisation(s0=0.25, s1=0.5, output_layer="same_as_weights"))
    assert given == (0.5, 0.25, 0.5)
    zero, _ = initialise(jax.random.key(0), sizes, Initialisation(s0=0.0))
    assert not zero.W_Q.any()


def test_drawing_in_float32_is_casting() -> None:
    wide, a = initialise(jax.random.key(1), SIZES, Initialisation())
    narrow, b = initialise(jax.random.key(1), SIZES, Initialisation(), jnp.float32)
    np.testing.assert_array_equal(narrow.W_V, wide.W_V.astype(jnp.float32))
    assert narrow.W.dtype == jnp.float32
    np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: LinearMLPSizes(9, 4, 0, 5), "m=0"),
        (lambda: Initialisation(s0=-1.0), r"s0=-1\.0"),
        (lambda: Initialisation("kaiming_normal", c0=2.0), r"c0=2\.0.*theory only"),
    ],
)
def test_bad_model_settings_are_refused(make, sentence) -> None:
    with pytest.raises(BadInput, match=sentence):
        make()
