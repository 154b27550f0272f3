"""The quotients that searches ascend, against differences."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.papers.deora2023.runs import tight_bounds

T, D = 3, 2


def quotients_at(plain, point: dict[str, np.ndarray]) -> dict[str, float]:
    """Proposition 1's and Corollary 1's quotients of one head by differences."""
    U, W, X = point["U"], point["W"], point["X"]
    theta = np.r_[U.ravel(), W.ravel()]

    def head(x, sample=0):
        return plain.head(x[: T * D].reshape(T, D), x[T * D :].reshape(D, D), X[sample])

    def loss(x):
        return (np.logaddexp(0, -head(x)) + np.logaddexp(0, head(x, 1))) / 2

    def bends(f):
        rows = [
            plain.gradient(lambda x, e=e: (f(x + e) - f(x - e)) / 2e-4, theta, 1e-4)
            for e in 1e-4 * np.eye(len(theta))
        ]
        return np.linalg.eigvalsh((np.array(rows) + np.array(rows).T) / 2)

    slope, loss_slope = (np.linalg.norm(plain.gradient(f, theta)) for f in (head, loss))
    bend, loss_bends = np.abs(bends(head)).max(), bends(loss)
    longest = max(np.linalg.norm(x) for x in X[0])
    large = np.abs(X[0]).max()
    decoded = sum(max(abs(x @ u) for x in X[0]) for u in U)
    R = max(1.0, max(np.linalg.norm(x) for sample in X for x in sample))
    m = np.linalg.norm(U)
    found = {}
    for variant in ("printed", "corrected", "sharp"):
        if variant == "sharp":
            steep = math.hypot(longest**2 * decoded, math.sqrt(T) * longest)
            curved = 2 * longest**4 * decoded + math.sqrt(T) * longest**3
            one = math.sqrt(T) * R * math.sqrt(R**4 * m**2 + 1)
            three = math.sqrt(T) * R**3 * (2 * R**2 * m + 1)
        else:
            steep = 2 * longest**2 * decoded + math.sqrt(T) * longest
            curved = 6 * D * (longest * large) ** 2 * decoded
            curved += 2 * math.sqrt(T * D) * longest**2 * large
            one = math.sqrt(T) * R * (2 * R**2 * m + 1)
            size = math.sqrt(T) * D if variant == "printed" else math.sqrt(T * D)
            three = 2 * size * R**3 * (3 * math.sqrt(D) * R**2 * m + 1)
        found |= {
            f"model_gradient_{variant}": slope / steep,
            f"model_hessian_{variant}": bend / curved,
            f"self_bounded_{variant}": loss_slope / (one * loss(theta)),
            f"smooth_{variant}": np.abs(loss_bends).max() / (three + one**2 / 4),
            f"weakly_convex_{variant}": max(-loss_bends[0], 0) / (three * loss(theta)),
        }
    # The pooled decoder's gradient: the sum over places of the attended tokens.
    pooled = np.linalg.norm((plain.attention(W, X[0]) @ X[0]).sum(axis=0))
    flat = 2 * math.sqrt(T * D) * longest**2 * large
    return {
        **found,
        "model_gradient_without_decoder": slope / (math.sqrt(T) * longest),
        "model_hessian_without_decoder": bend / flat,
        "pooled_gradient": pooled / (T * longest),
        "pooled_gradient_printed": pooled / (math.sqrt(T) * longest),
    }


def test_quotients_at_a_random_point(plain):
    random = np.random.default_rng(2)
    shapes = {"U": (T, D), "W": (D, D), "X": (2, T, D)}
    point = {name: random.normal(size=shape) for name, shape in shapes.items()}
    arrays = tight_bounds.Place(*(jnp.asarray(x) for x in point.values()))
    seen = tight_bounds.Measured(T, D, *jax.jit(lambda x: tight_bounds.measured(x)[2:])(arrays))
    found = {
        f"{name}_{variant}": float(value)
        for variant in tight_bounds.VARIANTS
        for name, value in tight_bounds.quotients(seen, variant).items()
    }
    found |= {name: float(value) for name, value in tight_bounds._wrong(seen).items()}
    assert found == pytest.approx(quotients_at(plain, point), rel=1e-5)
