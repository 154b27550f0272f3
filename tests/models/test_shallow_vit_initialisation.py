"""The first weights: what each scheme and direction puts at every pattern."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.models.shallow_vit_initialisation import (
    Scales,
    ShallowViTSizes,
    draw,
    orthonormal,
    rotation,
)
from attnlab.numerics.random import normal

SIZES = ShallowViTSizes(d=6, M=4, L=3, m=400, m_a=5, m_b=4, H=2, outputs=2)
NUMBERS = {"sigma": 0.1, "delta": 0.3, "xi": 0.02, "c0": 0.05}
PATTERNS = jnp.asarray(np.linalg.qr(np.random.default_rng(0).normal(size=(6, 6)))[0][:4])


def drawn(sizes, scheme="assumption_1", errors="error", shared=False, queries_as_keys=False):
    numbers = Scales(**{name: jnp.asarray(x) for name, x in NUMBERS.items()})
    return draw(
        jax.random.key(5), sizes, PATTERNS, numbers, shared=shared,
        queries_as_keys=queries_as_keys, scheme=scheme, errors=errors,
    )  # fmt: skip


def images(start, name, head) -> np.ndarray:
    """W mu_j as columns."""
    return np.asarray(getattr(start.parameters, name))[head] @ np.asarray(PATTERNS).T


@pytest.fixture(scope="module")
def worst():
    return drawn(SIZES, errors="worst", queries_as_keys=False)


def test_worst_errors_bring_the_classes_together_and_shorten_queries(worst) -> None:
    for head in range(2):
        p, q, r = (np.asarray(x)[head] for x in worst.features)
        for j in range(4):
            sign = {0: -1, 1: 1}.get(j, 0)
            value = p[:, j] + 0.1 * sign * (p[:, 0] - p[:, 1]) / np.sqrt(2)
            np.testing.assert_allclose(images(worst, "W_V", head)[:, j], value / 2, atol=1e-12)
            key = q[:, j] + 0.3 * sign * (q[:, 0] - q[:, 1]) / np.sqrt(2)
            np.testing.assert_allclose(images(worst, "W_K", head)[:, j], key, atol=1e-12)
            np.testing.assert_allclose(images(worst, "W_Q", head)[:, j], 0.7 * r[:, j], atol=1e-12)
        for feature in (p, q, r):
            np.testing.assert_allclose(feature.T @ feature, np.eye(4), atol=1e-12)
        np.testing.assert_allclose(q[:, :2], r[:, :2], atol=1e-12)
        assert np.abs(q[:, 2:] - r[:, 2:]).max() > 0.1
    assert np.abs(worst.features.p[0] - worst.features.p[1]).max() > 0.1
    # Off the patterns' span the maps are zero.
    off = np.eye(6) - np.asarray(PATTERNS).T @ np.asarray(PATTERNS)
    for name in ("W_V", "W_K", "W_Q"):
        W = np.asarray(getattr(worst.parameters, name))
        np.testing.assert_allclose(W @ off, 0, atol=1e-12)


@pytest.mark.parametrize("errors", ["error", "worst"])
def test_assumption_1_is_met_entirely(errors) -> None:
    """Errors of exactly sigma and delta for an even number of rows, and norms of at most 1."""
    sizes = ShallowViTSizes(d=6, M=4, L=3, m=7, m_a=6, m_b=4)
    start = drawn(sizes, errors=errors)
    for name, feature, size in zip(
        ("W_V", "W_K", "W_Q"), start.features, (0.1, 0.3, 0.3), strict=True
    ):
        W = np.asarray(getattr(start.parameters, name))[0]
        assert np.linalg.norm(W, 2) <= 1 + 1e-12
        error = np.linalg.norm(images(start, name, 0) - np.asarray(feature)[0], axis=0)
        assert error.max() == pytest.approx(size, rel=1e-10)
        if errors == "error":
            np.testing.assert_allclose(error, size, rtol=1e-10)


def test_an_odd_number_of_rows_keeps_one_direction() -> None:
    R = np.asarray(rotation(jax.random.key(3), 5, 0.4))
    np.testing.assert_allclose(R @ R.T, np.eye(5), atol=1e-12)
    moved = np.linalg.svd(R - np.eye(5))[1]
    np.testing.assert_allclose(sorted(moved), [0, 0.4, 0.4, 0.4, 0.4], atol=1e-10)


def test_sigma_as_a_scale_and_free_errors_break_the_norm_bound() -> None:
    scaled = drawn(ShallowViTSizes(d=6, M=4, L=3, m=7, m_a=6, m_b=4), errors="scale")
    np.testing.assert_allclose(images(scaled, "W_V", 0), scaled.features.p[0], atol=1e-12)
    free = drawn(ShallowViTSizes(d=6, M=4, L=3, m=7, m_a=6, m_b=4), errors="free")
    assert np.linalg.norm(np.asarray(free.parameters.W_K)[0], 2) > 1.01


def test_a_choice_that_is_data_draws_the_same() -> None:
    by_name = drawn(SIZES, errors="free")
    by_data = drawn(SIZES, errors=lambda name: jnp.asarray(name == "free"))
    for a, b in zip(jax.tree.leaves(by_name), jax.tree.leaves(by_data), strict=True):
        np.testing.assert_array_equal(a, b)


def test_every_feature_is_drawn_from_a_key_of_its_own(worst) -> None:
    """Stored records rest on which key draws what."""
    of_heads = jax.random.split(jax.random.split(jax.random.key(5), 3)[2], 2)
    for head in range(2):
        keys = jax.random.split(of_heads[head], 6)
        p, q, r = (np.asarray(x)[head] for x in worst.features)
        np.testing.assert_allclose(p, orthonormal(keys[0], 5)[:, :4], atol=1e-12)
        np.testing.assert_allclose(q, orthonormal(keys[1], 4)[:, :4], atol=1e-12)
        turned = q[:, 2:] @ orthonormal(keys[2], 2)
        np.testing.assert_allclose(r[:, 2:], turned, atol=1e-12)


def test_queries_as_keys() -> None:
    same = drawn(SIZES, errors="worst", queries_as_keys=True)
    np.testing.assert_array_equal(same.features.q, same.features.r)


def test_neurons_and_output_weights(worst) -> None:
    W_O, a = np.asarray(worst.parameters.W_O), np.asarray(worst.a)
    assert W_O.shape == (400, 5)
    assert W_O.std() == pytest.approx(0.02, rel=0.1)
    assert abs(W_O.mean()) < 0.002
    assert a.shape == (2, 3, 400)
    np.testing.assert_allclose(np.abs(a), 1 / 20)
    assert abs((a > 0).mean() - 0.5) < 0.05


def test_heads_side_by_side_are_not_divided_and_random_errors_have_their_size() -> None:
    sizes = ShallowViTSizes(d=6, M=4, L=3, m=7, m_a=5, m_b=4, H=2, combination="concat")
    start = drawn(sizes, errors="free")
    assert start.parameters.W_O.shape == (7, 10)
    for head in range(2):
        for name, feature, size in zip(
            ("W_V", "W_K", "W_Q"), start.features, (0.1, 0.3, 0.3), strict=True
        ):
            error = images(start, name, head) - np.asarray(feature)[head]
            np.testing.assert_allclose(np.linalg.norm(error, axis=0), size, rtol=1e-10)
    # The errors of keys and of queries have directions of their own.
    keys, queries = (
        images(start, name, 0) - np.asarray(feature)[0]
        for name, feature in (("W_K", start.features.q), ("W_Q", start.features.r))
    )
    assert np.abs(keys - queries).max() > 0.1


def test_the_printed_scheme_with_more_dimensions_than_rows() -> None:
    start = drawn(SIZES, scheme="printed")
    W_V, W_K, W_Q = (np.asarray(x) for x in start.parameters[1:])
    for head in range(2):
        # (delta/c0)^2 = 36 times a cut identity; (sigma/c0)^2 = 4 over two heads.
        np.testing.assert_allclose(W_K[head], 36 * np.eye(4, 6))
        np.testing.assert_allclose(W_Q[head], 36 * np.eye(4, 6))
        np.testing.assert_allclose(W_V[head] @ W_V[head].T, 4 * np.eye(5), atol=1e-12)
        p = W_V[head] @ np.asarray(PATTERNS).T / 2
        np.testing.assert_allclose(np.asarray(start.features.p)[head], p, atol=1e-12)
        q = np.eye(4, 6) @ np.asarray(PATTERNS).T
        np.testing.assert_allclose(np.asarray(start.features.q)[head], q, atol=1e-12)
        np.testing.assert_allclose(np.asarray(start.features.r)[head], q, atol=1e-12)


def test_an_orthogonal_matrix_is_gram_schmidt_of_a_gaussian_one() -> None:
    A = np.asarray(normal(jax.random.key(1), (4, 4), 1.0))
    basis = []
    for column in A.T:
        rest = column - sum(((b @ column) * b for b in basis), np.zeros(4))
        basis.append(rest / np.linalg.norm(rest))
    np.testing.assert_allclose(orthonormal(jax.random.key(1), 4), np.stack(basis, 1), atol=1e-10)
