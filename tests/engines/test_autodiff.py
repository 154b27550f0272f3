"""Every exact engine against `autodiff`, on its own paper's data and on a foreign batch."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.pattern_vote import PatternVote, orthonormal_sets
from attnlab.data.token_mixture import TokenMixture
from attnlab.data.word_cooccurrence import BalancedTrainingSet, IndependentSamples
from attnlab.engines.autodiff import Autodiff
from attnlab.engines.table import ENGINES, start, why_not
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.multihead_model import MultiHead
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.training.descent import descend
from attnlab.training.minibatch import MiniBatches
from attnlab.training.optimisers import optimiser

KEY = jax.random.key(1)
N, L, D = 12, 6, 10


def pattern_vote(c0: float) -> Batch:
    source = PatternVote(
        vectors=jnp.asarray(orthonormal_sets(4, D)),
        counts=jnp.asarray([[3, 1, 1, 1], [1, 3, 1, 1]]),
        c0=jnp.asarray(c0),
        noisy_share=jnp.asarray(0.0),
        noisy_c0=jnp.asarray(0.0),
        shuffled_order=jnp.asarray(True),
        normalise=jnp.asarray(False),
    )
    return source.sample(jax.random.key(0), N, L)


def own_arrays() -> Batch:
    random = np.random.default_rng(0)
    y = np.where(np.arange(N) % 2, 1, -1)
    X = random.normal(size=(N, L, D)) + 0.5 * y[:, None, None]
    return Batch.of(X, y)


BATCHES = {
    "patterns": lambda: pattern_vote(0.0),
    "noisy patterns": lambda: pattern_vote(0.1),
    "mixture": lambda: TokenMixture.of(MixtureSizes(T=L, d=D, M=2, S=1.5, zeta=0.5)).sample(KEY, N),
    "words": lambda: BalancedTrainingSet(23, 4).sample(KEY, N),
    "repeated words": lambda: IndependentSamples(D, 4).sample(KEY, N),
    "own": own_arrays,
}
MODELS = {
    "vit": ShallowViT(neurons=24, heads=2),
    "skip": ShallowViT(neurons=24, skip=True),
    "heads": MultiHead(5),
    "pooled": MultiHead(3, output="pooled"),
    "linear": LinearMLPTransformer(width=64, neurons=6),
}
ON = {
    ("collapsed_tokens", "vit", "patterns", "hinge"),
    ("collapsed_tokens", "skip", "patterns", "hinge"),
    ("exact", "vit", "noisy patterns", "hinge"),
    ("exact", "skip", "patterns", "hinge"),
    ("exact", "vit", "words", "hinge"),
    ("exact", "vit", "mixture", "hinge"),
    ("exact", "vit", "own", "hinge"),
    ("word_weights", "linear", "words", "logistic"),
    ("word_weights", "linear", "repeated words", "exponential"),
    ("heads", "heads", "mixture", "logistic"),
    ("heads", "pooled", "mixture", "squared"),
    ("heads", "heads", "words", "logistic"),
    ("heads", "heads", "patterns", "hinge"),
}
"""Engines whose state is the weights or their moves: gradients are compared entry by entry."""


@eqx.filter_jit
def loss_and_field(engine, state):
    return engine.loss_and_field(state)


@pytest.mark.parametrize(
    ("case", "attention"),
    [
        *((case, "trained") for case in sorted(ON)),
        (("collapsed_tokens", "vit", "patterns", "hinge"), "frozen"),
        (("exact", "vit", "own", "hinge"), "frozen"),
        (("exact", "vit", "own", "hinge"), "uniform"),
        (("word_weights", "linear", "words", "logistic"), "frozen"),
        (("word_weights", "linear", "words", "logistic"), "uniform"),
    ],
    ids=str,
)
def test_an_exact_engine_has_the_gradient_of_autodiff(case, attention):
    name, model, batch, loss = case
    given = {"loss": loss, "attention": attention}
    model, batch = MODELS[model], BATCHES[batch]()
    fast = start(model, batch, KEY, engine=name, **given)
    slow = start(model, batch, KEY, engine="autodiff", **given)
    assert isinstance(slow.engine, Autodiff)
    (loss_fast, field), (loss_slow, expected) = loss_and_field(*fast), loss_and_field(*slow)
    assert float(loss_fast) == pytest.approx(float(loss_slow), rel=1e-12)
    assert any(float(jnp.abs(x).max()) > 1e-6 for x in expected)
    for part, found, right in zip(expected._fields, field, expected, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-14, err_msg=part)


@pytest.mark.parametrize("name", ["gram", "symmetric", "collapsed_heads"])
def test_a_reduced_engine_has_the_losses_of_autodiff(name):
    """Over steps of plain descent, which every reduction is exact for."""
    model = MultiHead(5) if name == "collapsed_heads" else LinearMLPTransformer(64, 6)
    batch = BATCHES["mixture" if name == "collapsed_heads" else "words"]()
    scheme = "mean" if name == "symmetric" else "auto"
    steps = np.array([0, 1, 5, 20])
    losses = []
    for engine in (name, "autodiff"):
        started = start(model, batch, KEY, scheme=scheme, engine=engine)
        losses.append(descend(*started, optimiser("sgd", 0.5), steps).values["loss"])
    assert float(losses[1][-1]) < 0.99 * float(losses[1][0])
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-8)


@pytest.mark.parametrize("name", ["heads", "collapsed_heads"])
def test_heads_are_made_for_trained_attention(name):
    with pytest.raises(BadInput, match="it trains the attention; take engine='autodiff'"):
        start(MODELS["heads"], own_arrays(), KEY, engine=name, attention="frozen")


def test_auto_takes_the_cheapest_exact_engine_and_every_other_says_why_not():
    chosen = {
        ("vit", "patterns", "hinge"): "Collapsed",
        ("vit", "noisy patterns", "hinge"): "Exact",
        ("vit", "patterns", "logistic"): "Autodiff",
        ("linear", "words", "logistic"): "Weights",
        ("linear", "own", "logistic"): "Autodiff",
        ("heads", "own", "logistic"): "HeadsEngine",
    }
    for (model, batch, loss), engine in chosen.items():
        started = start(MODELS[model], BATCHES[batch](), KEY, loss=loss)
        assert type(started.engine).__name__ == engine
    reasons = why_not(MODELS["vit"], BATCHES["noisy patterns"](), loss="hinge")
    assert reasons.keys() == ENGINES.keys()
    assert reasons["collapsed_tokens"] == "token noise: tokens are not their patterns"
    assert reasons["exact"] == ""
    assert "made for MultiHead" in reasons["heads"]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"engine": "exakt"}, "no engine is called 'exakt'; did you mean exact"),
        ({"engine": "exact"}, "loss=logistic: its gradient is made for the hinge; take engine="),
        ({"loss": "huber"}, "no loss is called 'huber'"),
        ({"attention": "fixed"}, "got attention='fixed'"),
        ({"scheme": "gausian"}, "ShallowViT has no scheme 'gausian'; did you mean gaussian"),
        ({"scheme": "assumption_1"}, "without known patterns .* take scheme='gaussian'"),
        ({"scheme": "gaussian", "sigma": 0.1}, "takes other numbers than sigma"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(given, sentence):
    with pytest.raises(BadInput, match=sentence):
        start(ShallowViT(neurons=8), own_arrays(), KEY, **given)


# --- any combination --------------------------------------------------------------------------

COMBINATIONS = {
    "words through the shallow ViT, Adam": ("vit", "words", "hinge", "adam", 0.01),
    "words through heads, momentum": ("heads", "words", "logistic", "momentum", 0.1),
    "the mixture through the co-occurrence transformer, sign descent": (
        "linear", "mixture", "logistic", "sign_sgd", 0.003,
    ),
    "patterns through multi-head attention, exponential loss": (
        "pooled", "noisy patterns", "exponential", "adam", 0.01,
    ),
    "patterns through the co-occurrence transformer, Adam": (
        "linear", "patterns", "logistic", "adam", 0.003,
    ),
    "the mixture through the shallow ViT, decayed": ("skip", "mixture", "hinge", "adamw", 0.01),
    "own arrays through heads, plain": ("heads", "own", "logistic", "sgd", 0.3),
}  # fmt: skip


@pytest.mark.parametrize("name", COMBINATIONS)
def test_any_data_trains_any_model_by_any_optimiser(name):
    model, batch, loss, rule, rate = COMBINATIONS[name]
    started = start(MODELS[model], BATCHES[batch](), KEY, loss=loss)
    path = descend(*started, optimiser(rule, rate), np.array([0, 60]))
    assert path.complete
    assert float(path.values["loss"][-1]) < 0.5 * float(path.values["loss"][0])


def test_mini_batches_on_any_model():
    started = start(MODELS["linear"], own_arrays(), KEY, engine="autodiff", loss="hinge")
    path = descend(
        *started,
        optimiser("adam", 0.01),
        np.array([0, 400]),
        batches=MiniBatches(KEY, 5, 8),
        stop_when_fitted=True,
    )
    assert path.complete
    assert float(path.values["loss"][-1]) < 0.1
    # A mini-batch is the mean over its samples alone, whatever room there is.
    rows = jnp.asarray([3, 1, 4, 0, 0])
    part = started.engine.subset(rows, jnp.asarray(3))
    margins = np.asarray(started.engine.margins(started.state))[[3, 1, 4]]
    assert float(part.loss(started.state)) == pytest.approx(np.maximum(1 - margins, 0).mean())


def test_a_scheme_of_ones_own_is_an_entry(monkeypatch):
    def halved(key, model, batch):
        drawn = ShallowViT.schemes["gaussian"](key, model, batch)
        return jax.tree.map(lambda x: x / 2, drawn)

    monkeypatch.setitem(ShallowViT.schemes, "halved", halved)
    model, batch = ShallowViT(neurons=8), own_arrays()
    half = start(model, batch, KEY, scheme="halved").state
    whole = start(model, batch, KEY, scheme="gaussian").state
    for x, y in zip(half, whole, strict=True):
        np.testing.assert_allclose(2 * x, y)
