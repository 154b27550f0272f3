"""Grouped heads against loops over heads and places, and gradients against differences."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.models import multihead
from attnlab.models.multihead import Heads, HeadsView

T, D, N = 3, 2, 4
RANDOM = np.random.default_rng(2)
TOKENS = RANDOM.normal(size=(N, T, D))
W = RANDOM.normal(size=(2, D, D))
U = {
    "full": RANDOM.normal(size=(2, T, D)),
    "pooled": RANDOM.normal(size=(2, D)),
    "last": RANDOM.normal(size=(2, D)),
}


def phi(u, w, X, output) -> float:
    """<U, softmax(X W X^T) X>, place by place."""
    total = 0.0
    for t in range(T):
        e = [math.exp(X[t] @ w @ X[s]) for s in range(T)]
        mixed = sum(e[s] / sum(e) * X[s] for s in range(T))
        if output == "full":
            total += float(u[t] @ mixed)
        elif output == "pooled" or t == T - 1:
            total += float(u @ mixed)
    return total


@pytest.mark.parametrize("output", ["full", "pooled", "last"])
def test_outputs_and_gradients(output) -> None:
    u = U[output]
    counts, H = (3.0, 1.0), 4.0
    view = HeadsView(
        Heads(jnp.asarray(u), jnp.asarray(W)), Heads(jnp.asarray(u), jnp.asarray(W)),
        jnp.asarray(counts), jnp.asarray(H),
    )  # fmt: skip
    got = multihead.outputs(view.heads, view.shares, jnp.asarray(TOKENS), output)
    for n, X in enumerate(TOKENS):
        by_head = [phi(u[g], W[g], X, output) for g in (0, 0, 0, 1)]
        assert float(got[n]) == pytest.approx(sum(by_head) / math.sqrt(H))
    X, step = TOKENS[0], 1e-5
    gradient = multihead.head_gradient(jnp.asarray(u[0]), jnp.asarray(W[0]), jnp.asarray(X), output)
    for name, start in (("U", u[0]), ("W", W[0])):
        expected = np.zeros_like(start)
        for k in np.ndindex(start.shape):
            ends = []
            for sign in (1, -1):
                moved = start.copy()
                moved[k] += sign * step
                ends.append(phi(*((moved, W[0]) if name == "U" else (u[0], moved)), X, output))
            expected[k] = (ends[0] - ends[1]) / (2 * step)
        np.testing.assert_allclose(getattr(gradient, name), expected, atol=1e-8)


@pytest.mark.parametrize("output", ["full", "pooled"])
def test_norms(output) -> None:
    heads = Heads(jnp.asarray(U[output]), jnp.asarray(W))
    decoders = [float((u**2).sum()) for u in U[output]]
    weights = [float((w**2).sum()) for w in W]
    np.testing.assert_allclose(multihead.decoder_norms(heads), np.sqrt(decoders))
    both = np.add(decoders, weights)
    np.testing.assert_allclose(multihead.head_norms(heads), np.sqrt(both))
    total = multihead.squared_norm(heads, jnp.asarray([3.0, 1.0]))
    assert float(total) == pytest.approx(3 * both[0] + both[1])
