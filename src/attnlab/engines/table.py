"""Which engines there are, what each is exact for, and the choice of the cheapest exact one.

    engine, state = start(model, batch, key)                # the cheapest that is exact
    engine, state = start(model, batch, key, engine="autodiff", loss="hinge")
    why_not(model, batch)                                   # by engine: why not, or nothing

An engine of your own is an entry of `ENGINES`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import PRNGKeyArray, PyTree

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.pattern_vote import PatternBatch
from attnlab.data.word_sizes import SIGNALS
from attnlab.engines import (
    autodiff,
    classes,
    collapsed_heads,
    collapsed_tokens,
    exact,
    explicit_heads,
    gram,
    gram_initialisation,
    symmetric_words,
    word_weights,
)
from attnlab.engines.heads import HeadsEngine
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.multihead_initialisation import first_phase_direction, sign_counts
from attnlab.models.multihead_model import MultiHead
from attnlab.models.protocol import AUTO, Model, Weights
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.tables import entry
from attnlab.training.attention import GAIN_AND_RATE, Attention
from attnlab.training.engine import Engine
from attnlab.training.losses import LOSSES

HINGE_MARGIN = 1.0


class Started(NamedTuple):
    """An engine and its first state."""

    engine: Engine[PyTree]
    state: PyTree


@dataclass(frozen=True)
class Problem:
    """What is to be trained, and from where."""

    model: Any
    batch: Batch
    key: PRNGKeyArray
    scheme: str
    loss: str
    attention: Attention
    numbers: Mapping[str, float]

    @cached_property
    def weights(self) -> Weights:
        """The first weights; an engine that needs none of them never draws them."""
        return self.model.init(self.key, self.batch, self.scheme, **self.numbers)


@dataclass(frozen=True)
class Entry:
    """One engine: what it is exact for, and how it is made. The cheaper come first in `ENGINES`."""

    exact_for: str
    why_not: Callable[[Problem], str]
    """Why the engine is not exact for a problem, in a few words; nothing where it is."""
    build: Callable[[Problem], Started]
    automatic: bool = True
    """Whether `auto` may choose it; not so where its state hides the weights."""


def start(
    model: Model,
    batch: Batch,
    key: PRNGKeyArray,
    *,
    scheme: str = AUTO,
    loss: str = "logistic",
    engine: str = AUTO,
    attention: Attention = "trained",
    **numbers: float,
) -> Started:
    """Draw the first weights by a scheme (which takes `numbers`): an engine and its first state."""
    problem = _problem(model, batch, key, scheme, loss, attention, numbers)
    chosen = entry(ENGINES, choose(problem) if engine == AUTO else engine, "engine")
    if why := chosen.why_not(problem):
        raise BadInput(f"got engine={engine} with {why}; take engine='{choose(problem)}'")
    return chosen.build(problem)


def why_not(
    model: Model,
    batch: Batch,
    *,
    scheme: str = AUTO,
    loss: str = "logistic",
    attention: Attention = "trained",
) -> dict[str, str]:
    """For every engine why it is not exact for this, or nothing where it is."""
    problem = _problem(model, batch, jax.random.key(0), scheme, loss, attention, {})
    return {name: entry.why_not(problem) for name, entry in ENGINES.items()}


def choose(problem: Problem) -> str:
    """The name of the cheapest engine that is exact and keeps the weights."""
    fit = (
        name for name, entry in ENGINES.items() if entry.automatic and not entry.why_not(problem)
    )
    name = next(fit, None)
    if name is None:
        raise BadInput(
            f"no engine trains this: got {_not_classes(problem)}; a model with an output a class "
            "takes classes 0, 1, ... and the logistic loss"
        )
    return name


def _problem(
    model: Model,
    batch: Batch,
    key: PRNGKeyArray,
    scheme: str,
    loss: str,
    attention: Attention,
    numbers: Mapping[str, float],
) -> Problem:
    if loss not in LOSSES:
        raise BadInput(f"no loss is called {loss!r}; there are: {', '.join(LOSSES)}")
    if attention not in GAIN_AND_RATE:
        raise BadInput(f"got attention={attention!r}; it is one of {', '.join(GAIN_AND_RATE)}")
    return Problem(model, batch, key, scheme, loss, attention, numbers)


# --- what each is exact for -------------------------------------------------------------------


def _weighted(batch: Batch) -> str:
    return "weighted samples" if batch.weights is not None else ""


def _removed(batch: Batch) -> str:
    return "" if bool(batch.kept.all()) else "removed tokens"


def _other_numbers(of: Problem, *known: str) -> str:
    """Numbers that the scheme does not take, for an engine that starts without drawing it."""
    others = ", ".join(name for name in of.numbers if name not in known)
    return f"{others}, which the scheme does not take" if others else ""


def _not_signs(model: LinearMLPTransformer) -> str:
    drawn = model.output_layer == "same_as_weights"
    return "output_layer=same_as_weights: it has an output layer of signs" if drawn else ""


def _not_exact(of: Problem) -> str:
    if not isinstance(of.model, ShallowViT):
        return f"{type(of.model).__name__}: it is made for ShallowViT"
    if of.loss != "hinge":
        return f"loss={of.loss}: its gradient is made for the hinge"
    return _weighted(of.batch)


def _not_collapsed_tokens(of: Problem) -> str:
    if why := _not_exact(of):
        return why
    batch = of.batch
    if not isinstance(batch, PatternBatch) or batch.pattern_vectors is None:
        return "tokens whose patterns are not known"
    if batch.pattern_vectors.shape[1] > 1:
        return "sets of patterns: a token is not told by its set"
    if why := _removed(batch):
        return why
    vectors = batch.pattern_vectors[:, 0]
    if not bool((batch.tokens == vectors[batch.patterns]).all()):
        return "token noise: tokens are not their patterns"
    counts = _counts(batch)
    if not bool((counts == _counts_by_class(batch)[batch.types - 1]).all()):
        return "samples of one class with different counts of patterns"
    return ""


def _not_word_weights(of: Problem) -> str:
    if not isinstance(of.model, LinearMLPTransformer):
        return f"{type(of.model).__name__}: it is made for LinearMLPTransformer"
    if not of.batch.is_words:
        return "token vectors: it is made for words"
    return _removed(of.batch) or _weighted(of.batch)


def _not_symmetric(of: Problem) -> str:
    if why := _not_word_weights(of):
        return why
    if of.scheme != "mean":
        return f"scheme={of.scheme}: it starts where the Grams are at their mean (scheme=mean)"
    if why := _other_numbers(of, "c0") or _not_signs(of.model):
        return why
    has = symmetric_words.balance(of.batch)
    if not has.shares:
        return "types that are not 1/2, 1/6, 1/6 and 1/6 of the samples"
    if not has.labels:
        return "labels that are not those of the types"
    if not has.distinct or has.random_words != of.batch.dimension - SIGNALS:
        return "random words that do not occur exactly once"
    return ""


def _not_collapsed_heads(of: Problem) -> str:
    if why := _not_heads(of):
        return why
    if of.scheme not in (AUTO, "phase_1"):
        return f"scheme={of.scheme}: heads are equal only after phase_1"
    return _other_numbers(of)


def _not_heads(of: Problem) -> str:
    if not isinstance(of.model, MultiHead):
        return f"{type(of.model).__name__}: it is made for MultiHead"
    if of.attention != "trained":
        return f"attention={of.attention}: it trains the attention"
    return _removed(of.batch)


def _not_classes(of: Problem) -> str:
    if not isinstance(of.model, DeepViT) or of.model.outputs == 1:
        return f"{type(of.model).__name__} of one output: it is made for an output a class"
    if of.loss != "logistic":
        return f"loss={of.loss}: it has the logistic loss of several classes"
    if of.attention != "trained":
        return f"attention={of.attention}: it trains the attention"
    if not 0 <= int(of.batch.labels.min()) <= int(of.batch.labels.max()) < of.model.outputs:
        return f"labels that are not classes from 0 to {of.model.outputs - 1}"
    return _weighted(of.batch)


def _not_autodiff(of: Problem) -> str:
    several = isinstance(of.model, DeepViT) and of.model.outputs > 1
    return "a model of several outputs: it has losses of one margin" if several else ""


# --- how each is made -------------------------------------------------------------------------


def _build_autodiff(of: Problem) -> Started:
    return Started(
        *autodiff.on_batch(
            of.model, of.batch, of.weights, loss=LOSSES[of.loss], attention=of.attention
        )
    )


def _build_classes(of: Problem) -> Started:
    return Started(*classes.on_batch(of.model, of.batch, of.weights))


def _hinge_parts(of: Problem) -> dict[str, Any]:
    gain, rate = GAIN_AND_RATE[of.attention]
    return {
        "labels": of.batch.labels[:, None].astype(float),
        "size": jnp.asarray(of.batch.labels.shape[0]),
        "margin": jnp.asarray(HINGE_MARGIN),
        "score_gain": jnp.asarray(gain),
        "score_rate": jnp.asarray(rate),
        "skip": jnp.asarray(float(of.model.skip)),
        "combination": of.model.combination,
    }


def _build_exact(of: Problem) -> Started:
    engine = exact.Exact(
        tokens=of.batch.vectors(),
        kept=of.batch.kept,
        keys=of.batch.kept,
        a=of.weights.fixed.transpose(0, 2, 1),
        **_hinge_parts(of),
    )
    return Started(engine, of.weights.trained)


def _counts(batch: PatternBatch) -> jax.Array:
    assert batch.pattern_vectors is not None
    M = batch.pattern_vectors.shape[0]
    return jax.nn.one_hot(batch.patterns, M).sum(1)


def _counts_by_class(batch: PatternBatch) -> jax.Array:
    """The counts of the first sample of each class."""
    of_class = batch.types - 1 == jnp.arange(int(batch.types.max()))[:, None]
    return _counts(batch)[jnp.argmax(of_class, axis=1)]


def _build_collapsed_tokens(of: Problem) -> Started:
    batch = of.batch
    assert isinstance(batch, PatternBatch)
    assert batch.pattern_vectors is not None
    n = batch.labels.shape[0]
    engine = collapsed_tokens.Collapsed(
        vectors=batch.pattern_vectors[:, 0],
        counts=_counts_by_class(batch),
        sums=collapsed_tokens.sums_by_pattern(
            batch, of.weights.fixed, batch.pattern_vectors.shape[0], jnp.asarray(n)
        ),
        classes=batch.types - 1,
        **_hinge_parts(of),
    )
    return Started(engine, of.weights.trained)


def _build_word_weights(of: Problem) -> Started:
    engine = word_weights.on_batch(
        of.batch, of.weights.fixed, attention=of.attention, loss=LOSSES[of.loss]
    )
    return Started(engine, of.weights.trained)


def _build_gram(of: Problem) -> Started:
    words, d = of.batch.words, of.batch.dimension
    everything = jnp.arange(d, dtype=words.dtype)
    state, A = gram_initialisation.of_weights(of.weights.trained, of.weights.fixed, everything)
    engine = gram.on_batch(
        of.batch,
        A,
        of.model.width,
        everything,
        attention=of.attention,
        loss=LOSSES[of.loss],
    )
    return Started(engine, state)


def _build_heads(of: Problem) -> Started:
    engine = explicit_heads.engine(_in_shares(of.batch), of.weights.trained, of.model.output)
    return _with_loss(of, engine)


def _with_loss(of: Problem, engine: HeadsEngine) -> Started:
    engine = eqx.tree_at(lambda e: e.of_margin, engine, LOSSES[of.loss])
    return Started(engine, engine.zero())


def _build_collapsed_heads(of: Problem) -> Started:
    batch = _in_shares(of.batch)
    v = jnp.asarray(first_phase_direction(batch.vectors(), batch.labels, batch.weight()))
    counts = sign_counts(of.key, of.model.heads)
    return _with_loss(of, collapsed_heads.engine(batch, v, counts, of.model.output))


def _in_shares(batch: Batch) -> Batch:
    """The batch with weights that add up to one: its loss is a mean."""
    return replace(batch, weights=batch.shares())


def _build_symmetric(of: Problem) -> Started:
    how = Initialisation("theory", of.model.output_layer, **of.numbers)
    sizes, loss = of.model.sizes(of.batch), LOSSES[of.loss]
    return Started(*symmetric_words.start(of.batch, sizes, how, attention=of.attention, loss=loss))


ENGINES: dict[str, Entry] = {
    "collapsed_tokens": Entry(
        "ShallowViT under the hinge, on patterns without noise in fixed counts",
        _not_collapsed_tokens,
        _build_collapsed_tokens,
    ),
    "exact": Entry("ShallowViT under the hinge, on any tokens", _not_exact, _build_exact),
    "symmetric": Entry(
        "LinearMLPTransformer from the scheme mean, on a balanced set with distinct words",
        _not_symmetric,
        _build_symmetric,
        automatic=False,
    ),
    "gram": Entry(
        "LinearMLPTransformer on words, any loss; descent and its momentum only",
        _not_word_weights,
        _build_gram,
        automatic=False,
    ),
    "word_weights": Entry(
        "LinearMLPTransformer on words, any loss", _not_word_weights, _build_word_weights
    ),
    "collapsed_heads": Entry(
        "MultiHead from phase 1, any number of heads, any loss, trained attention",
        _not_collapsed_heads,
        _build_collapsed_heads,
        automatic=False,
    ),
    "heads": Entry("MultiHead, any loss, trained attention", _not_heads, _build_heads),
    "classes": Entry(
        "DeepViT with an output a class, on classes 0, 1, ...", _not_classes, _build_classes
    ),
    "autodiff": Entry("every model of one output on every batch", _not_autodiff, _build_autodiff),
}
"""The cheapest first."""
