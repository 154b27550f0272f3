"""Norms, margins and relevant mass of grouped heads, against every head written out."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.models.multihead import Heads, HeadsView
from attnlab.probes import heads
from attnlab.probes.head_curvature import Curvature

T, D, N, COUNTS = 3, 4, 6, (2, 3, 0)
NOW = jnp.asarray(0.0)


@pytest.fixture(scope="module")
def case():
    """Two groups of heads and a third that nobody is in, which is far larger than both."""
    random = np.random.default_rng(8)

    size = np.array([1.0, 0.5, 5.0])

    def drawn():
        return Heads(
            jnp.asarray(random.normal(size=(3, T, D)) * size[:, None, None]),
            jnp.asarray(random.normal(size=(3, D, D)) * size[:, None, None]),
        )

    def points(n):
        weights = random.random(n)
        return Batch.weighted(
            jnp.asarray(random.normal(size=(n, T, D))),
            jnp.asarray(random.choice([-1.0, 1.0], n)),
            jnp.asarray(weights / weights.sum()),
        )

    view = HeadsView(drawn(), drawn(), jnp.asarray(COUNTS, float), jnp.asarray(5.0))
    relevant = jnp.asarray((random.random((N, T)) < 0.5).astype(float))
    return view, heads.HeadsContext(points(N), points(2 * N), relevant)


def softmax(scores: np.ndarray) -> np.ndarray:
    return np.exp(scores) / np.exp(scores).sum()


def attention_by_rows(W, X) -> np.ndarray:
    return np.stack([softmax(np.array([X[t] @ W @ X[s] for s in range(T)])) for t in range(T)])


def margins_by_heads(view, points) -> np.ndarray:
    """y times the sum over all five heads, over sqrt(5)."""
    found = []
    for X, y in zip(np.asarray(points.tokens), np.asarray(points.labels), strict=True):
        total = 0.0
        for g, count in enumerate(COUNTS):
            U, W = np.asarray(view.heads.U)[g], np.asarray(view.heads.W)[g]
            for _ in range(count):
                mixed = attention_by_rows(W, X) @ X
                total += sum(float(U[t] @ mixed[t]) for t in range(T))
        found.append(y * total / np.sqrt(5))
    return np.array(found)


def test_norms_leave_out_groups_that_nobody_is_in(case) -> None:
    view, context = case
    got = heads.norms(NOW, view, context)
    U, W = np.asarray(view.heads.U), np.asarray(view.heads.W)
    lengths = [np.sqrt((U[g] ** 2).sum() + (W[g] ** 2).sum()) for g in range(2)]
    moved = [
        count * sum(float((np.asarray(x)[g] ** 2).sum()) for x in view.moved)
        for g, count in enumerate(COUNTS)
    ]
    np.testing.assert_allclose(got["head_norm"], max(lengths), rtol=1e-12)
    largest = max(np.linalg.norm(U[0]), np.linalg.norm(U[1]))
    np.testing.assert_allclose(got["decoder_norm"], largest, rtol=1e-12)
    np.testing.assert_allclose(got["moved"], np.sqrt(sum(moved)), rtol=1e-12)


def test_margins_are_those_of_every_head_written_out(case) -> None:
    view, context = case
    got = heads.margins(NOW, view, context)
    train, test = margins_by_heads(view, context.train), margins_by_heads(view, context.test)
    weights = np.asarray(context.test.weights)
    U = np.asarray(view.heads.U)
    length = np.sqrt(2 * (U[0] ** 2).sum() + 3 * (U[1] ** 2).sum())
    expected = {
        "smallest_margin": train.min(),
        "decoder_margin": train.min() / length,
        "decoder_length": length,
        "test_loss": sum(w * np.log1p(np.exp(-x)) for w, x in zip(weights, test, strict=True)),
        "test_error": sum(w for w, x in zip(weights, test, strict=True) if x <= 0),
    }
    assert 0 < expected["test_error"] < 1
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-12, err_msg=name)


def test_a_margin_of_zero_is_an_error(case) -> None:
    view, context = case
    silent = view._replace(heads=Heads(0 * view.heads.U, view.heads.W))
    assert heads.margins(NOW, silent, context)["test_error"] == pytest.approx(1.0)


def test_relevant_mass_is_a_weighted_mean_over_samples_and_places(case) -> None:
    view, context = case
    # Weights that do not add up to one: the mean is over their sum.
    weighted = heads.HeadsContext(
        replace(context.train, weights=3 * context.train.weights), context.test, context.relevant
    )
    got = heads.relevant_mass(NOW, view, weighted)["relevant_mass"]
    weights = np.asarray(context.train.weights)
    for g in range(2):
        masses = []
        for X, relevant in zip(
            np.asarray(context.train.tokens), np.asarray(context.relevant), strict=True
        ):
            P = attention_by_rows(np.asarray(view.heads.W)[g], X)
            masses.append(np.mean([sum(P[t] * relevant) for t in range(T)]))
        np.testing.assert_allclose(got[g], np.dot(weights, masses), rtol=1e-10)


def test_the_curvature_of_the_training_points_is_reported(case, monkeypatch) -> None:
    view, context = case
    ends = Curvature(jnp.asarray(-3.0), jnp.asarray(5.0), jnp.zeros(3))
    seen = []
    monkeypatch.setattr(heads, "curvature", lambda *given: seen.append(given) or ends)
    got = heads.loss_curvature(NOW, view, context)
    assert got == {"lambda_min": -3.0, "hessian_norm": 5.0}
    assert seen == [(view, context.train, "full")]
