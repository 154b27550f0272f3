"""Every exact engine against `autodiff`, on its own paper's data and on a foreign batch."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.data.batch import Batch, Distribution
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


def pattern_source(c0: float) -> PatternVote:
    return PatternVote(
        vectors=jnp.asarray(orthonormal_sets(4, D)),
        counts=jnp.asarray([[3, 1, 1, 1], [1, 3, 1, 1]]),
        c0=jnp.asarray(c0),
        noisy_share=jnp.asarray(0.0),
        noisy_c0=jnp.asarray(0.0),
        shuffled_order=jnp.asarray(True),
        normalise=jnp.asarray(False),
    )


def pattern_vote(c0: float) -> Batch:
    return pattern_source(c0).sample(jax.random.key(0), N)


def own_words() -> Batch:
    random = np.random.default_rng(1)
    y = np.where(np.arange(N) % 2, 1, -1)
    words = random.integers(1, D, (N, L))
    words[:, 0] = np.where(y > 0, 0, 1)
    return Batch.of(words, y, vocabulary=D)


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
    "own words": own_words,
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


REDUCED = [
    ("gram", "linear", "words", "logistic", "trained"),
    ("gram", "linear", "own words", "exponential", "trained"),
    ("gram", "linear", "own words", "squared", "frozen"),
    ("symmetric", "linear", "words", "logistic", "trained"),
    ("symmetric", "linear", "words", "exponential", "trained"),
    ("symmetric", "linear", "words", "squared", "frozen"),
    ("collapsed_heads", "heads", "mixture", "logistic", "trained"),
    ("collapsed_heads", "heads", "noisy patterns", "exponential", "trained"),
    ("collapsed_heads", "pooled", "noisy patterns", "logistic", "trained"),
    ("collapsed_heads", "heads", "own words", "hinge", "trained"),
]
"""Engines whose state is less than the weights: losses are compared along a descent."""
STABLE = {"logistic": 0.02, "hinge": 0.02, "exponential": 0.002, "squared": 0.001}
"""Step sizes at which these descend."""


@pytest.mark.parametrize("case", REDUCED, ids=str)
def test_a_reduced_engine_has_the_losses_of_autodiff(case):
    """Over steps of plain descent, which every reduction is exact for."""
    name, model, batch, loss, attention = case
    model, batch = MODELS[model], BATCHES[batch]()
    scheme = "mean" if name == "symmetric" else "auto"
    steps = np.array([0, 1, 5, 20])
    losses = []
    for engine in (name, "autodiff"):
        started = start(
            model, batch, KEY, scheme=scheme, engine=engine, loss=loss, attention=attention
        )
        losses.append(descend(*started, optimiser("sgd", STABLE[loss]), steps).values["loss"])
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
        (
            {"scheme": "gausian"},
            "no scheme of ShallowViT is called 'gausian'; did you mean",
        ),
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


def test_mini_batches_of_weighted_samples_count_by_their_weights():
    batch = own_arrays()
    weights = np.where(np.arange(N) < 3, 5.0, 1.0)
    batch = Batch.of(batch.tokens, batch.labels, weights=weights)
    engine, state = start(MODELS["linear"], batch, KEY, engine="autodiff")
    each = np.log1p(np.exp(-np.asarray(engine.margins(state))))
    whole = (weights * each).sum() / weights.sum()
    assert float(engine.loss(state)) == pytest.approx(whole)
    # Every sample once is the whole batch; a few are it in expectation.
    part = engine.subset(jnp.arange(N), jnp.asarray(N))
    assert float(part.loss(state)) == pytest.approx(whole)
    rows = np.array([0, 5, 7, 7])
    some = engine.subset(jnp.asarray(rows), jnp.asarray(3))
    by_hand = (weights * N / weights.sum() * each)[rows[:3]].mean()
    assert float(some.loss(state)) == pytest.approx(by_hand)


@pytest.mark.parametrize("output", ["full", "pooled"])
def test_the_first_phase_does_not_see_removed_tokens(output):
    batch = own_arrays()
    kept = np.random.default_rng(3).random((N, L)) < 0.6
    kept[:, 0] = True
    changed = np.where(kept[..., None], batch.tokens, 100.0)
    drawn = [
        MultiHead(3, output=output).init(KEY, Batch.of(X, batch.labels, kept=kept)).trained.U
        for X in (batch.tokens, changed)
    ]
    np.testing.assert_allclose(*drawn)
    mean = (np.asarray(batch.tokens) * kept[..., None]).sum(1) / kept.sum(1, keepdims=True)
    v = (np.asarray(batch.labels)[:, None] * mean).mean(0) / 2
    u = np.abs(np.asarray(drawn[0])[0]).reshape(-1, D)[-1]
    np.testing.assert_allclose(u, np.abs(v) * (L if output == "pooled" else 1), rtol=1e-12)


@pytest.mark.parametrize(
    ("engine", "model", "batch", "given", "words"),
    [
        ("symmetric", "linear", "words", {"scheme": "mean", "s0": 0.1}, "s0, which the scheme"),
        ("symmetric", "linear", "words", {"scheme": "mean", "foo": 0.1}, "foo, which the scheme"),
        ("collapsed_heads", "heads", "own", {"scale": 2.0}, "scale, which the scheme does not"),
    ],
)
def test_numbers_that_a_scheme_does_not_take_are_refused(engine, model, batch, given, words):
    with pytest.raises(BadInput, match=words):
        start(MODELS[model], BATCHES[batch](), KEY, engine=engine, **given)


def test_every_data_model_is_a_distribution():
    sources = (
        pattern_source(0.1),
        TokenMixture.of(MixtureSizes(T=L, d=D, M=2, S=1.5, zeta=0.5)),
        BalancedTrainingSet(23, 4),
        IndependentSamples(D, 4),
    )
    for source in sources:
        assert isinstance(source, Distribution)
        batch = source.sample(KEY, N)
        assert batch.kept.shape[0] == N
        assert set(np.asarray(batch.labels)) == {-1, 1}


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
