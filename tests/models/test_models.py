"""The models' common protocol: removed tokens, attention, values, schemes, by plain loops."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.data.pattern_vote import PatternBatch
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.multihead_model import MultiHead
from attnlab.models.protocol import Model
from attnlab.models.shallow_vit_model import ShallowViT

KEY = jax.random.key(3)
N, L, D = 5, 4, 6
RANDOM = np.random.default_rng(1)
X = RANDOM.normal(size=(N, L, D))
KEPT = np.array([[1, 1, 1, 1], [1, 0, 1, 1], [0, 1, 0, 1], [1, 0, 0, 0], [1, 1, 0, 1]], bool)
BATCH = Batch.of(X, np.where(np.arange(N) % 2, 1, -1), kept=KEPT)
MODELS = {
    "vit": ShallowViT(neurons=7, heads=2),
    "side by side": ShallowViT(neurons=7, heads=2, combination="concat"),
    "skip": ShallowViT(neurons=7, skip=True),
    "heads": MultiHead(3),
    "pooled": MultiHead(3, output="pooled"),
    "linear": LinearMLPTransformer(width=16, neurons=3),
}


def softmax(x):
    e = np.exp(x - x.max())
    return e / e.sum()


def plain_output(model, weights, n):
    """One sample in loops over heads and queries, its removed tokens left out."""
    of = jax.tree.map(np.asarray, weights.trained)
    places = np.flatnonzero(KEPT[n])
    x = X[n, places]
    if isinstance(model, MultiHead):
        total = 0.0
        for U, W in zip(of.U, of.W, strict=True):
            for i, place in enumerate(places):
                p = softmax(np.array([x[i] @ W @ other for other in x]))
                u = U if model.output == "pooled" else U[place]
                total += u @ (p @ x)
        return total / np.sqrt(model.heads)
    a = np.asarray(weights.fixed)
    if isinstance(model, LinearMLPTransformer):
        total = 0.0
        for query in x:
            scores = [(of.W_K @ key) @ (of.W_Q @ query) / np.sqrt(model.width) for key in x]
            total += a @ of.W @ of.W_V @ (softmax(np.array(scores)) @ x)
        return total
    total = 0.0
    for i, place in enumerate(places):
        by_head = []
        for h in range(model.heads):
            scores = [(of.W_K[h] @ key) @ (of.W_Q[h] @ x[i]) for key in x]
            by_head.append(of.W_V[h] @ (softmax(np.array(scores)) @ x))
        v = np.concatenate(by_head) if model.combination == "concat" else sum(by_head)
        v = v + x[i] if model.skip else v
        total += a[0, place] @ np.maximum(of.W_O @ v, 0)
    return total / len(places)


@pytest.mark.parametrize("name", MODELS)
def test_outputs_by_plain_loops(name):
    model = MODELS[name]
    assert isinstance(model, Model)
    scheme = "random" if isinstance(model, MultiHead) else "auto"
    weights = model.init(KEY, BATCH, scheme)
    found = model.apply(weights, BATCH.vectors(), BATCH.kept)
    expected = [plain_output(model, weights, n) for n in range(N)]
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    uniform = model.attention(weights, BATCH.vectors(), BATCH.kept, 0.0)
    np.testing.assert_allclose(uniform[0], np.full_like(uniform[0], 1 / L))


@pytest.mark.parametrize("name", MODELS)
def test_attention_goes_to_kept_tokens_only(name):
    model = MODELS[name]
    weights = model.init(KEY, BATCH)
    P = np.asarray(model.attention(weights, BATCH.vectors(), BATCH.kept))
    assert P.shape == (N, getattr(model, "heads", 1), L, L)
    np.testing.assert_allclose(P.sum(-1), 1)
    removed = np.broadcast_to(~KEPT[:, None, None, :], P.shape)
    assert (P[removed] == 0).all()
    assert model.values(weights, BATCH.vectors()).shape[:3] == (N, getattr(model, "heads", 1), L)


def test_the_mean_scheme_has_the_mean_grams():
    model = LinearMLPTransformer(width=32, neurons=4)
    trained, a = model.init(KEY, BATCH, "mean", c0=0.7)
    kappa = 0.7**2 / L
    eye = np.eye(D)
    for W in (trained.W_V, trained.W_K, trained.W_Q):
        np.testing.assert_allclose(W.T @ W, kappa * eye, atol=1e-12)
    np.testing.assert_allclose(trained.W_K.T @ trained.W_Q, 0 * eye, atol=1e-12)
    u = a @ trained.W
    np.testing.assert_allclose(u @ trained.W_V, 0 * u[:D], atol=1e-12)
    assert float(u @ u) == pytest.approx(32 / 4 * float(a @ a))


def test_phase_1_is_one_step_from_zero_with_fair_signs():
    model = MultiHead(1000)
    U, W = model.init(KEY, BATCH).trained
    labels, kept = np.asarray(BATCH.labels), np.asarray(BATCH.kept)
    assert not kept.all()  # what was removed is not seen
    seen = zip(X, labels, kept, strict=True)
    v = np.mean([y * x[of].mean(0) for x, y, of in seen], 0) / 2
    assert not W.any()
    assert 400 < int((jnp.abs(U - v).max((1, 2)) < 1e-12).sum()) < 600
    np.testing.assert_allclose(jnp.abs(U), np.broadcast_to(np.abs(v), U.shape), atol=1e-12)


def test_the_numbers_of_a_scheme_have_these_defaults():
    """Assumption 1: sigma = 0.1, delta = 0.2, xi = 0.01; a normal start: scale 1, xi = 0.01."""
    model = ShallowViT(neurons=7, heads=2)
    vectors = jnp.asarray(np.eye(D)[:3, None])
    known = np.argmax(RANDOM.normal(size=(N, L, 3)), axis=2)
    batch = PatternBatch(
        tokens=vectors[known, 0], labels=BATCH.labels, roles=BATCH.roles, types=BATCH.types,
        kept=jnp.ones((N, L), bool), patterns=jnp.asarray(known),
        noisy=jnp.zeros((N, L), bool), pattern_vectors=vectors,
    )  # fmt: skip
    defaults = {
        "assumption_1": {"sigma": 0.1, "delta": 0.2, "xi": 0.01},
        "gaussian": {"scale": 1.0, "xi": 0.01},
    }
    for scheme, numbers in defaults.items():
        start = model.init(KEY, batch, scheme)
        for name, value in numbers.items():
            for factor, same in ((1, True), (2, False)):
                other = model.init(KEY, batch, scheme, **{name: factor * value})
                equal = all(
                    (np.asarray(x) == np.asarray(y)).all()
                    for x, y in zip(start.trained, other.trained, strict=True)
                )
                assert equal == same, (scheme, name, factor)
