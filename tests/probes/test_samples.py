"""What general probes look at: attention, outputs and shares of every view, by plain loops."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.data.images import class_batch
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.multihead_model import MultiHead
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.probes import samples
from attnlab.probes.samples import Samples
from attnlab.training.losses import hinge

N, L, D = 4, 3, 5
RANDOM = np.random.default_rng(8)
X = RANDOM.normal(size=(N, L, D))
WORDS = RANDOM.integers(0, D, (N, L))
Y = [1, -1, -1, 1]
KEPT = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]], bool)
MODELS = {
    "vit": ShallowViT(neurons=6, heads=2),
    "heads": MultiHead(3),
    "pooled": MultiHead(3, output="pooled"),
    "linear": LinearMLPTransformer(width=8, neurons=3),
}
GAINS = {"vit": 0.7, "heads": 0.7, "pooled": 0.7, "linear": 1.0}
"""A view of words has its own gain."""


def case(name: str, tokens=X):
    """Weights of order one, their view, and samples of them."""
    model = MODELS[name]
    batch = Batch.of(tokens, Y, kept=KEPT, vocabulary=D if tokens is WORDS else None)
    scheme = {"heads": "random", "pooled": "random", "linear": "kaiming_normal"}.get(name, "auto")
    weights = model.init(jax.random.key(6), batch, scheme)
    view = model.view(weights, weights, jnp.ones(()))
    of = Samples(model, batch, weights.fixed, score_gain=GAINS[name])
    return model, batch, weights, view, of


def by_loops(name, weights, x, kept):
    """The attention maps of one sample, (H, L, L)."""
    p = jax.tree.map(np.asarray, weights.trained)
    if name == "linear":
        bilinear = [p.W_Q.T @ p.W_K / np.sqrt(MODELS[name].width)]
    elif name == "vit":
        bilinear = [Q.T @ K for Q, K in zip(p.W_Q, p.W_K, strict=True)]
    else:
        bilinear = list(p.W)
    maps = np.zeros((len(bilinear), L, L))
    for h, W in enumerate(bilinear):
        for query in range(L):
            scores = {s: GAINS[name] * x[query] @ W @ x[s] for s in range(L) if kept[s]}
            total = sum(np.exp(score) for score in scores.values())
            for s, score in scores.items():
                maps[h, query, s] = np.exp(score) / total
    return maps


@pytest.mark.parametrize("words", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_attention_and_outputs_by_plain_loops(name, words):
    model, batch, weights, view, of = case(name, WORDS if words else X)
    vectors = np.eye(D)[WORDS] if words else X
    maps = np.asarray(samples.attention(view, of, batch))
    for n in range(N):
        np.testing.assert_allclose(
            maps[n], by_loops(name, weights, vectors[n], KEPT[n]), rtol=1e-10, atol=1e-15
        )
    outputs = model.apply(weights, batch.vectors(), batch.kept, GAINS[name])
    np.testing.assert_allclose(samples.outputs(view, of, batch), outputs, rtol=1e-10)
    np.testing.assert_allclose(
        of.margins(view, batch), np.asarray(Y) * np.asarray(outputs), rtol=1e-10
    )


@pytest.mark.parametrize(
    ("room", "taken"),
    [(1, 1), (2, 1), (3, 1), (4, 2), (6, 3), (8, 4), (10_000, 4)],
)
@pytest.mark.parametrize(("name", "maps"), [("vit", 2), ("linear", 1), ("heads", 3)])
def test_so_many_samples_that_their_maps_have_room(monkeypatch, name, maps, room, taken):
    """`room` for half a map of 3 x 3 numbers by every head of a sample."""
    *_, view, of = case(name)
    monkeypatch.setattr(samples, "LARGEST_MAPS", room * maps * L**2 // 2)
    some = of.some(view)
    assert some.kept.shape == (taken, L)
    np.testing.assert_array_equal(some.tokens, X[:taken])


# --- a model with an output a class -------------------------------------------------------------


def test_margins_and_losses_of_classes_by_plain_loops():
    """The own output minus the largest other one, and the cross-entropy."""
    F = np.array([[2.0, -1.0, 0.5], [0.1, 0.3, -2.0], [0.0, 1.0, 1.5], [-3.0, -2.0, -2.5]])
    y = [0, 0, 2, 2]
    for i in range(4):
        others = [F[i, c] for c in range(3) if c != y[i]]
        margin = F[i, y[i]] - max(others)
        entropy = np.log(np.exp(F[i]).sum()) - F[i, y[i]]
        row, label = jnp.asarray(F[i : i + 1]), jnp.asarray(y[i : i + 1])
        assert float(samples.margins_of(row, label)[0]) == pytest.approx(margin, rel=1e-12)
        assert float(samples.losses_of(row, label, hinge(1.0))[0]) == pytest.approx(entropy)
    signs = jnp.asarray([1, -1])
    single = jnp.asarray([0.3, 2.0])
    np.testing.assert_allclose(samples.margins_of(single, signs), [0.3, -2.0])
    np.testing.assert_allclose(samples.losses_of(single, signs, hinge(1.0)), [0.7, 3.0])


def test_a_deep_model_counts_every_block_and_head():
    model = DeepViT(blocks=2, heads=3, width=6, hidden=4, outputs=3)
    batch = class_batch(X, [0, 1, 2, 1])
    weights = model.init(jax.random.key(2), batch, "random")
    of = Samples(model, batch, weights.fixed)
    maps = eqx.filter_jit(samples.attention)(weights.trained, of, batch)
    expected = eqx.filter_jit(model.attention)(weights, batch.tokens, batch.kept)
    np.testing.assert_allclose(maps, expected, rtol=1e-6)
    assert samples.heads_of(weights.trained, model) == maps.shape[1] == 6
    np.testing.assert_allclose(samples.head_shares(weights.trained, model), np.full(6, 1 / 6))
    outputs = eqx.filter_jit(samples.outputs)(weights.trained, of, batch)
    expected = eqx.filter_jit(model.apply)(weights, batch.tokens, batch.kept)
    np.testing.assert_allclose(outputs, expected, rtol=1e-6)
    own = [
        samples.losses_of(outputs[i : i + 1], batch.labels[i : i + 1], of.loss)[0] for i in range(N)
    ]
    losses = eqx.filter_jit(Samples.losses)(of, weights.trained, batch)
    np.testing.assert_allclose(losses, own, rtol=1e-6)
