"""The table of engines: what each refuses, in words, and what it is given where it is taken."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.images import class_batch
from attnlab.data.pattern_vote import PatternVote, orthonormal_sets
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.engines.table import ENGINES, start, why_not
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.multihead_model import MultiHead
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.training.losses import LOSSES
from attnlab.training.optimisers import optimiser
from attnlab.training.updates import require_exact

KEY = jax.random.key(3)
N, L, D = 6, 4, 8
RANDOM = np.random.default_rng(1)
VIT = ShallowViT(neurons=10)
HEADS = MultiHead(4)
LINEAR = LinearMLPTransformer(width=64, neurons=4)
DEEP = DeepViT(blocks=1, heads=1, width=4, hidden=4, outputs=3)
OWN = Batch.of(RANDOM.normal(size=(N, L, D)), [1, -1] * 3)
CLASSES = class_batch(RANDOM.normal(size=(N, L, D)), [0, 1, 2, 2, 1, 0])
WORDS = BalancedTrainingSet(23, 4).sample(KEY, 12)


@eqx.filter_jit
def loss_and_field(engine, state):
    return engine.loss_and_field(state)


@eqx.filter_jit
def margins(engine, state):
    return engine.margins(state)


def patterns(size: int = 1, c0: float = 0.0, counts=((2, 1, 1), (1, 2, 1)), classes=0):
    source = PatternVote(
        vectors=jnp.asarray(orthonormal_sets(3, D, size, 0.5 if size > 1 else 0.0)),
        counts=jnp.asarray(counts),
        c0=jnp.asarray(c0),
        noisy_share=jnp.asarray(0.0),
        noisy_c0=jnp.asarray(0.0),
        shuffled_order=jnp.asarray(True),
        normalise=jnp.asarray(False),
        classes=classes,
    )
    return source.sample(jax.random.key(0), N, L)


def some_removed(batch):
    return dataclasses.replace(batch, kept=batch.kept.at[1, 0].set(False))


def weighted(batch, weights=None):
    n = batch.labels.shape[0]
    weights = jnp.arange(1.0, n + 1) if weights is None else jnp.asarray(weights)
    return dataclasses.replace(batch, weights=weights)


def other_words(words):
    return eqx.tree_at(lambda b: b.tokens, WORDS, jnp.asarray(words, WORDS.tokens.dtype))


def repeated_word():
    """Two random places hold one word."""
    words, roles = np.array(WORDS.tokens), np.asarray(WORDS.roles)
    first, second = np.argwhere(words > 2)[:2]
    assert roles[tuple(first)] == roles[tuple(second)]
    words[tuple(second)] = words[tuple(first)]
    return other_words(words)


REFUSED = [
    ("exact", HEADS, OWN, {"loss": "hinge"}, "MultiHead: it is made for ShallowViT"),
    ("exact", VIT, OWN, {}, "loss=logistic: its gradient is made for the hinge"),
    ("exact", VIT, weighted(OWN), {"loss": "hinge"}, "weighted samples"),
    ("collapsed_tokens", VIT, patterns(), {}, "loss=logistic"),
    ("collapsed_tokens", VIT, OWN, {"loss": "hinge"}, "tokens whose patterns are not known"),
    ("collapsed_tokens", VIT, patterns(size=2), {"loss": "hinge"}, "sets of patterns"),
    ("collapsed_tokens", VIT, some_removed(patterns()), {"loss": "hinge"}, "removed tokens"),
    ("collapsed_tokens", VIT, patterns(c0=0.1), {"loss": "hinge"}, "token noise"),
    (
        "collapsed_tokens",
        VIT,
        patterns(counts=((2, 1, 1), (1, 2, 1), (3, 1, 0), (1, 3, 0)), classes=2),
        {"loss": "hinge"},
        "samples of one class with different counts",
    ),
    ("word_weights", VIT, WORDS, {}, "ShallowViT: it is made for LinearMLPTransformer"),
    ("word_weights", LINEAR, OWN, {}, "token vectors: it is made for words"),
    ("word_weights", LINEAR, some_removed(WORDS), {}, "removed tokens"),
    ("word_weights", LINEAR, weighted(WORDS), {}, "weighted samples"),
    ("gram", LINEAR, OWN, {}, "token vectors: it is made for words"),
    ("symmetric", LINEAR, OWN, {"scheme": "mean"}, "token vectors"),
    ("symmetric", LINEAR, WORDS, {}, r"scheme=auto: .*\(scheme=mean\)"),
    ("symmetric", LINEAR, WORDS.take(slice(0, 11)), {"scheme": "mean"}, "types that are not 1/2"),
    (
        "symmetric",
        LINEAR,
        eqx.tree_at(lambda b: b.labels, WORDS, -WORDS.labels),
        {"scheme": "mean"},
        "labels that are not those of the types",
    ),
    ("symmetric", LINEAR, repeated_word(), {"scheme": "mean"}, "do not occur exactly once"),
    (
        "symmetric",
        LINEAR,
        BalancedTrainingSet(24, 4).sample(KEY, 12),
        {"scheme": "mean"},
        "do not occur exactly once",
    ),
    ("heads", VIT, OWN, {}, "ShallowViT: it is made for MultiHead"),
    ("heads", HEADS, OWN, {"attention": "uniform"}, "attention=uniform: it trains the attention"),
    ("heads", HEADS, some_removed(OWN), {}, "removed tokens"),
    ("collapsed_heads", VIT, OWN, {}, "ShallowViT: it is made for MultiHead"),
    ("collapsed_heads", HEADS, OWN, {"scheme": "random"}, "scheme=random: heads are equal only"),
    ("classes", VIT, OWN, {}, "ShallowViT of one output"),
    ("classes", DeepViT(blocks=1, heads=1, width=4, hidden=4), OWN, {}, "DeepViT of one output"),
    ("classes", DEEP, CLASSES, {"loss": "hinge"}, "loss=hinge"),
    ("classes", DEEP, CLASSES, {"attention": "frozen"}, "attention=frozen"),
    ("classes", DEEP, OWN, {}, "labels that are not classes from 0 to 2"),
    (
        "classes",
        DEEP,
        class_batch(np.ones((2, L, D)), [0, 3]),
        {},
        "labels that are not classes from 0 to 2",
    ),
    ("classes", DEEP, weighted(CLASSES), {}, "weighted samples"),
    ("autodiff", DEEP, CLASSES, {}, "a model of several outputs"),
]


@pytest.mark.parametrize(
    ("engine", "model", "batch", "given", "words"),
    REFUSED,
    ids=[f"{name}: {words}" for name, *_, words in REFUSED],
)
def test_what_an_engine_is_not_exact_for_is_refused(engine, model, batch, given, words):
    with pytest.raises(BadInput, match=words):
        start(model, batch, KEY, engine=engine, **given)
    said = why_not(model, batch, **given)[engine]
    assert said
    assert said[:12] in words.replace("\\", "") or words[:12] in said


TAKEN = {
    "collapsed_tokens": (VIT, patterns(), {"loss": "hinge"}),
    "exact": (VIT, some_removed(OWN), {"loss": "hinge"}),
    "symmetric": (LINEAR, WORDS, {"scheme": "mean"}),
    "gram": (LINEAR, WORDS, {}),
    "word_weights": (LINEAR, WORDS, {}),
    "collapsed_heads": (HEADS, OWN, {}),
    "heads": (HEADS, OWN, {"scheme": "random"}),
    "classes": (DEEP, CLASSES, {}),
    "autodiff": (HEADS, some_removed(OWN), {"attention": "frozen"}),
}
"""By engine, something that it is exact for."""
REDUCED = {"symmetric", "gram"}
MOVES = {"heads", "collapsed_heads"}
HIDDEN = {"symmetric", "gram", "collapsed_heads"}
"""Engines whose state hides the weights: never chosen by `auto`."""


@pytest.mark.parametrize("name", ENGINES)
def test_an_engine_says_what_its_state_is(name):
    """Adam is refused on a reduction, and weight decay on moves: both would be another rule."""
    model, batch, given = TAKEN[name]
    assert why_not(model, batch, **given)[name] == ""
    engine, state = start(model, batch, KEY, engine=name, **given)
    _, field = jax.eval_shape(engine.loss_and_field, state)
    assert jax.tree.structure(field) == jax.tree.structure(state)
    refused = []
    for rule in ("adam", "adamw"):
        try:
            require_exact(engine, optimiser(rule, 0.1))
        except BadInput:
            refused.append(rule)
    assert refused == (["adam", "adamw"] if name in REDUCED else ["adamw"] * (name in MOVES))
    require_exact(engine, optimiser("sgd", 0.1))


def test_auto_takes_the_first_that_is_exact_and_shows_its_weights():
    names = list(ENGINES)
    for name, (model, batch, given) in TAKEN.items():
        reasons = why_not(model, batch, **given)
        exact = [n for n in names if not reasons[n] and n not in HIDDEN]
        chosen = type(start(model, batch, KEY, **given).engine)
        assert chosen is type(start(model, batch, KEY, engine=exact[0], **given).engine), name
    assert {name for name, entry in ENGINES.items() if not entry.automatic} == HIDDEN


def test_the_hinge_has_margin_one_and_a_mean_over_samples():
    for name, batch in (("exact", OWN), ("collapsed_tokens", patterns())):
        engine, state = start(VIT, batch, KEY, engine=name, loss="hinge")
        other, weights = start(VIT, batch, KEY, engine="autodiff", loss="hinge")
        y_F = np.asarray(margins(other, weights))
        by_hand = np.mean([max(0.0, 1 - margin) for margin in y_F])
        assert float(loss_and_field(engine, state)[0]) == pytest.approx(by_hand, rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("name", ["heads", "collapsed_heads"])
def test_weights_of_samples_count_as_shares(name, loss):
    """Those that add up to 42 give the mean loss that those which add up to one give."""
    given = [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    losses = []
    for weights in (given, np.asarray(given) / 42):
        engine, state = start(HEADS, weighted(OWN, weights), KEY, engine=name, loss=loss)
        losses.append(float(loss_and_field(engine, state)[0]))
        y_F = np.asarray(margins(engine, state))
        by_hand = np.asarray(given) / 42 @ np.asarray(LOSSES[loss].value(jnp.asarray(y_F)))
        assert losses[-1] == pytest.approx(float(by_hand), rel=1e-12)
    assert losses[0] == pytest.approx(losses[1], rel=1e-12)


def test_a_class_may_come_late():
    """Counts are those of the first sample of each class, wherever it stands."""
    batch = patterns()
    late = batch.take(jnp.asarray([1, 3, 5, 0]))
    fast = start(VIT, late, KEY, engine="collapsed_tokens", loss="hinge")
    slow = start(VIT, late, KEY, engine="autodiff", loss="hinge")
    (loss, field), (expected, gradient) = loss_and_field(*fast), loss_and_field(*slow)
    assert float(loss) == pytest.approx(float(expected), rel=1e-12)
    for found, right in zip(field, gradient, strict=True):
        np.testing.assert_allclose(found, right, rtol=1e-9, atol=1e-14)
