"""The word-level drives against loops over samples and places."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.models import word_level
from attnlab.models.word_level import NeuronWeights, WordView

N, L, D = 3, 4, 6
RANDOM = np.random.default_rng(4)
WORDS = np.array([[0, 2, 5, 5], [1, 0, 3, 4], [2, 2, 2, 1]])
"""Words repeat, so that terms meet in one entry."""
S, G, R = RANDOM.normal(size=(D, D)), RANDOM.normal(size=D), RANDOM.normal(size=N)
SCALE = 0.7
SQUARE = jnp.zeros((D, D))
VIEW = WordView(
    G=jnp.asarray(G), rho=jnp.asarray(1.0), V=SQUARE, S=jnp.asarray(S), K=SQUARE, Q=SQUARE,
    A=jnp.asarray(1.0), score_scale=jnp.asarray(SCALE),
)  # fmt: skip


def attention_by_loops() -> np.ndarray:
    p = np.zeros((N, L, L))
    for i in range(N):
        for query in range(L):
            e = [math.exp(SCALE * S[WORDS[i, key], WORDS[i, query]]) for key in range(L)]
            p[i, query] = np.array(e) / sum(e)
    return p


def test_attention_and_output() -> None:
    p = attention_by_loops()
    np.testing.assert_allclose(word_level.attention(VIEW, jnp.asarray(WORDS)), p, rtol=1e-12)
    F = [sum(p[i, q, k] * G[WORDS[i, k]] for q in range(L) for k in range(L)) for i in range(N)]
    got = word_level.read_out(jnp.asarray(p), jnp.asarray(G), jnp.asarray(WORDS))
    np.testing.assert_allclose(got, F, rtol=1e-12)


def test_drives() -> None:
    p = attention_by_loops()
    z, M = np.zeros(D), np.zeros((D, D))
    for i in range(N):
        for query in range(L):
            mean = sum(p[i, query, k] * G[WORDS[i, k]] for k in range(L))
            for key in range(L):
                z[WORDS[i, key]] += R[i] * p[i, query, key]
                term = R[i] * p[i, query, key] * (G[WORDS[i, key]] - mean)
                M[WORDS[i, key], WORDS[i, query]] += term
    words, P, r = jnp.asarray(WORDS), jnp.asarray(p), jnp.asarray(R)
    np.testing.assert_allclose(word_level.value_drive(P, r, words, D), z, rtol=1e-12)
    terms = word_level.place_drive(P, jnp.asarray(G), r, words)
    np.testing.assert_allclose(word_level.score_drive(terms, words, D), M, atol=1e-14)


def test_neurons_by_rows() -> None:
    W, W_V, a = (RANDOM.normal(size=shape) for shape in ((5, 3), (3, D), 5))
    h = RANDOM.normal(size=3)
    start = NeuronWeights(*map(jnp.asarray, (W, W_V, a)))
    W_V_later = RANDOM.normal(size=(3, D))
    later = NeuronWeights(*map(jnp.asarray, (W + np.outer(a, h), W_V_later, a)))
    u = sum(a[j] * W[j] for j in range(5))
    np.testing.assert_allclose(start.along_u, [W[j] @ u for j in range(5)])
    np.testing.assert_allclose(start.squares, [W[j] @ W[j] for j in range(5)])
    moved = later.moved_since(start)
    np.testing.assert_allclose(moved.along_h, W @ h)
    assert float(moved.h_square) == pytest.approx(h @ h)
    np.testing.assert_allclose(moved.outputs, (W + np.outer(a, h)) @ W_V_later - W @ W_V)
    np.testing.assert_array_equal(moved.a, a)
