"""Tangent features against finite differences, the kernel against a mean over heads."""

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.models.multihead import Heads, head_output
from attnlab.numerics.max_margin import max_margin
from attnlab.probes.tangent_kernel import (
    LENGTH,
    head_features,
    tangent_gram,
    tangent_margin,
    tangent_margin_of_gram,
    unit_direction,
)

T, D, N, H = 3, 4, 5, 3
RANDOM = np.random.default_rng(21)
HEADS = Heads(
    jnp.asarray(RANDOM.normal(size=(H, T, D))), jnp.asarray(0.4 * RANDOM.normal(size=(H, D, D)))
)
TOKENS = jnp.asarray(RANDOM.normal(size=(N, T, D)))


def phi(U, W, X) -> float:
    scores = X @ W @ X.T
    P = np.exp(scores) / np.exp(scores).sum(1, keepdims=True)
    return float((U * (P @ X)).sum())


def differences(U, W, X, step=1e-4) -> np.ndarray:
    """The gradient of one head by central differences, U first, then W."""
    flat = np.concatenate([U.ravel(), W.ravel()])
    gradient = []
    for k in range(flat.size):
        ends = []
        for sign in (1, -1):
            moved = flat.copy()
            moved[k] += sign * step
            ends.append(phi(moved[: T * D].reshape(T, D), moved[T * D :].reshape(D, D), X))
        gradient.append((ends[0] - ends[1]) / (2 * step))
    return np.array(gradient)


def features_by_differences(h) -> np.ndarray:
    U, W = np.asarray(HEADS.U)[h], np.asarray(HEADS.W)[h]
    return np.stack([differences(U, W, X) for X in np.asarray(TOKENS)])


def test_features_are_the_gradient_with_the_decoder_first() -> None:
    got = head_features(HEADS.U[0], HEADS.W[0], TOKENS, "full")
    np.testing.assert_allclose(got, features_by_differences(0), atol=1e-6)
    assert float(head_output(HEADS.U[0], HEADS.W[0], TOKENS[0])) == pytest.approx(
        phi(np.asarray(HEADS.U)[0], np.asarray(HEADS.W)[0], np.asarray(TOKENS)[0])
    )


def test_the_kernel_is_the_mean_over_heads() -> None:
    by_head = [features_by_differences(h) for h in range(H)]
    expected = sum(F @ F.T for F in by_head) / H
    np.testing.assert_allclose(tangent_gram(HEADS, TOKENS), expected, rtol=1e-5)


def test_margins_of_features_and_of_their_kernel_are_one_problem() -> None:
    features = features_by_differences(0)
    labels = np.array([1, -1, 1, 1, -1])
    direct, kernel = (
        tangent_margin(features, labels),
        tangent_margin_of_gram(features @ features.T, labels),
    )
    assert direct.margin == pytest.approx(kernel.margin, rel=1e-6)
    assert direct.margin == max_margin(features, labels.astype(float)).margin
    direction = unit_direction(direct)
    assert np.linalg.norm(direction) == pytest.approx(1.0)
    assert (labels * (features @ direction)).min() == pytest.approx(direct.margin, rel=1e-6)
    assert unit_direction(kernel) is None
    assert pytest.approx(2.0) == LENGTH**2
