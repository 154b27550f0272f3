"""Proposition 1 and Corollary 1: the printed formulas by hand, and that no draw exceeds them."""

import math

import numpy as np
import pytest

from attnlab.papers.deora2023.theory import smoothness

T, D, R, M, H = 3, 5, 1.4, 0.6, 50.0


def test_each_beta_by_hand():
    one = math.sqrt(T) * R * (2 * R**2 * M + 1)
    tight_one = math.sqrt(T) * R * math.sqrt(R**4 * M**2 + 1)
    bracket = 3 * math.sqrt(D) * R**2 * M + 1
    three = {
        "printed": 2 * math.sqrt(T) * D * R**3 * bracket,
        "corrected": 2 * math.sqrt(T * D) * R**3 * bracket,
        "sharp": math.sqrt(T) * R**3 * (2 * R**2 * M + 1),
    }
    for variant, expected in three.items():
        first = tight_one if variant == "sharp" else one
        found = smoothness.betas(variant, T, D, R, M, H)  # type: ignore[arg-type]
        assert found.one == pytest.approx(first, rel=1e-13)
        assert found.three == pytest.approx(expected, rel=1e-13)
        assert found.two == pytest.approx(expected / math.sqrt(H) + first**2 / 4, rel=1e-13)
    assert smoothness.pooled_beta_1(T, R, M) == pytest.approx(T * R * (2 * R**2 * M + 1))


def test_proposition_1_by_hand():
    longest, largest, decoded = 1.7, 1.1, 2.3
    assert smoothness.gradient_bound(T, longest, decoded) == pytest.approx(
        2 * 1.7**2 * 2.3 + math.sqrt(3) * 1.7, rel=1e-13
    )
    assert smoothness.gradient_bound(T, longest, decoded, "sharp") == pytest.approx(
        math.hypot(1.7**2 * 2.3, math.sqrt(3) * 1.7), rel=1e-13
    )
    assert smoothness.hessian_bound(T, D, longest, largest, decoded) == pytest.approx(
        6 * 5 * 1.7**2 * 1.1**2 * 2.3 + 2 * math.sqrt(15) * 1.7**2 * 1.1, rel=1e-13
    )
    assert smoothness.hessian_bound(T, D, longest, largest, decoded, "sharp") == pytest.approx(
        2 * 1.7**4 * 2.3 + math.sqrt(3) * 1.7**3, rel=1e-13
    )


def output(theta: np.ndarray, X: np.ndarray) -> float:
    """One head by its definition: <U, softmax(X W X') X>."""
    places, d = X.shape
    U, W = theta[: places * d].reshape(places, d), theta[places * d :].reshape(d, d)
    total = 0.0
    for t in range(places):
        scores = np.array([X[t] @ W @ X[s] for s in range(places)])
        p = np.exp(scores - scores.max())
        total += U[t] @ (p / p.sum() @ X)
    return float(total)


def differences(theta: np.ndarray, X: np.ndarray, step: float = 1e-4):
    """Gradient and Hessian of one head's output by central differences."""
    size = len(theta)
    at = {(): output(theta, X)}
    gradient, hessian = np.zeros(size), np.zeros((size, size))
    e = step * np.eye(size)
    for i in range(size):
        at[i, 1], at[i, -1] = output(theta + e[i], X), output(theta - e[i], X)
        gradient[i] = (at[i, 1] - at[i, -1]) / (2 * step)
        hessian[i, i] = (at[i, 1] - 2 * at[()] + at[i, -1]) / step**2
    for i in range(size):
        for j in range(i):
            cross = output(theta + e[i] + e[j], X) - output(theta + e[i] - e[j], X)
            cross += output(theta - e[i] - e[j], X) - output(theta - e[i] + e[j], X)
            hessian[i, j] = hessian[j, i] = cross / (4 * step**2)
    return gradient, hessian


@pytest.mark.parametrize("seed", range(4))
def test_no_head_is_steeper_or_more_curved_than_its_bound(seed):
    random = np.random.default_rng(seed)
    X, theta = random.normal(size=(2, 2)), random.normal(size=8)
    gradient, hessian = differences(theta, X)
    U = theta[:4].reshape(2, 2)
    longest = max(np.linalg.norm(x) for x in X)
    decoded = sum(max(abs(x @ u) for x in X) for u in U)
    for variant in smoothness.VARIANTS:
        steep = smoothness.gradient_bound(2, longest, decoded, variant)
        curved = smoothness.hessian_bound(2, 2, longest, np.abs(X).max(), decoded, variant)
        assert np.linalg.norm(gradient) <= steep
        assert np.abs(np.linalg.eigvalsh(hessian)).max() <= curved
