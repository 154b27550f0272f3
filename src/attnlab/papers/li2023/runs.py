"""The run of the li2023 studies: Algorithm 1 on the pattern vote, with its probes and its test."""

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Bool, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.data.pattern_vote import PatternBatch, PatternVote, label_vectors, shuffled
from attnlab.dynamics import minibatch
from attnlab.dynamics.descent import OptaxStep, Update
from attnlab.dynamics.engine import no_probe, together
from attnlab.models import token_selection
from attnlab.models.shallow_vit import Parameters
from attnlab.models.shallow_vit_initialisation import Sizes, Start, draw
from attnlab.numerics.random import stream_key
from attnlab.papers.li2023 import readouts
from attnlab.papers.li2023.engines.collapsed import Collapsed, sums_by_pattern
from attnlab.papers.li2023.engines.exact import Exact
from attnlab.papers.li2023.inputs import numbers
from attnlab.papers.li2023.programs import Program, program
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.summaries import summarise
from attnlab.probes.lucky_neurons import (
    feature_growth,
    lucky_neurons,
    neuron_projections,
    value_gradient,
)
from attnlab.probes.pattern_attention import attention_by_role

MOMENTUM = 0.9
PROBED_SAMPLES = 24
"""Samples that the probes of a series look at."""
PROBES = {
    "outcome": no_probe,
    "dynamics": together(
        attention_by_role, lucky_neurons, neuron_projections, feature_growth, value_gradient
    ),
}
STREAMS = ("data", "init", "batches", "test", "selection")


def train(cell: TrainingSettings, key: Key) -> Result:
    """One trial: draw, train until the loss is zero or T steps are done, and test."""
    keys = {stream: stream_key(key, stream) for stream in STREAMS}
    ended = _run(program(cell), keys, numbers(cell))
    values = summarise(cell, jax.tree.map(np.asarray, ended))
    bad = not np.isfinite(values["test_loss"])
    return Result(values, diverged="the loss became infinite or nan" if bad else "")


def start(cell: TrainingSettings, key: Key) -> tuple[Any, Parameters, Start]:
    """The engine with its first state, and how it was drawn (for tests and benchmarks)."""
    keys = {stream: stream_key(key, stream) for stream in STREAMS}
    return _start(program(cell), keys, numbers(cell))


@eqx.filter_jit
def _start(of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array]) -> Any:
    drawn = _initial(of, keys, data)
    engine, _, state = _engine(of, keys, data, drawn)
    return engine, state, drawn


@eqx.filter_jit
def _run(of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array]) -> dict[str, Array]:
    drawn = _initial(of, keys, data)
    engine, batch, state = _engine(of, keys, data, drawn)
    update = _update(of, data)
    stop = data["stop"]
    filtering = state
    if of.model_filter:
        # A model trained before on all tokens decides which of them are kept.
        everything = engine_with_all_tokens(engine)
        ends = jnp.stack([jnp.zeros_like(data["record_at"][0]), data["record_at"][-1]])
        args = (update, keys["batches"], data["B"], of.batch_room, ends)
        filtering = minibatch.train(everything, state, *args, stop_when_fitted=stop).state
        engine, batch = _pruned(of, keys, data, engine, batch, filtering)
    few = _few(of, keys, data, batch)
    ended = minibatch.train(
        engine,
        state,
        update,
        keys["batches"],
        data["B"],
        of.batch_room,
        data["record_at"],
        PROBES[of.probes],
        readouts.context(of, data, drawn, few, engine),
        stop_when_fitted=stop,
    )
    at_test = jnp.where(data["prune_training"], 0, 1)
    selecting = jax.tree.map(lambda a, b: jnp.where(at_test, b, a), filtering, ended.state)
    test = _test(of, keys, data, drawn, engine, ended.state, selecting)
    return {
        **{f"series_{name}": x for name, x in ended.values.items()},
        "times": ended.times,
        "iterations": ended.end_time,
        "ending": ended.ending,
        "train_loss": ended.values["loss"][-1],
        **test,
        **readouts.norms(of, drawn, data),
        **readouts.token_statistics(of, data, drawn, few),
        **(readouts.class_projections(drawn, ended.state) if of.classes == 4 else {}),
    }


def _initial(of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array]) -> Start:
    sizes = Sizes(
        d=of.d,
        M=of.patterns,
        L=of.L,
        m=of.m,
        m_a=of.m_a,
        m_b=of.m_b,
        H=of.heads,
        outputs=1 if of.classes == 2 else 2,
        combination=of.combination,  # pyright: ignore[reportArgumentType]
    )
    drawn = draw(
        keys["init"],
        sizes,
        readouts.mean_directions(data),
        data,
        shared=data["shared"],
        queries_as_keys=data["queries_as_keys"],
        scheme=of.initial,  # pyright: ignore[reportArgumentType]
        direction=of.error,  # pyright: ignore[reportArgumentType]
    )
    # Padding patterns have no feature: off the patterns in use, orthonormal, the maps are zero.
    used = (jnp.arange(of.patterns) < data["M"]).astype(float)
    mu = readouts.mean_directions(data)
    onto = jnp.eye(of.d) if of.initial == "printed" else (mu.T * used) @ mu
    W_O, *maps = drawn.parameters
    cast = lambda x: x.astype(jnp.dtype(of.dtype))  # noqa: E731
    parameters = Parameters(cast(W_O), *(cast(W @ onto) for W in maps))
    return Start(parameters, cast(drawn.a), drawn.features)


def _source(of: Program, data: dict[str, Array]) -> PatternVote:
    return PatternVote(
        vectors=data["vectors"],
        counts=data["counts"],
        c0=data["c0"],
        noisy_share=data["noisy_share"],
        noisy_c0=data["noisy_c0"],
        shuffled_order=data["shuffled_order"],
        multinomial=of.multinomial,
        normalise=data["normalise"],
        exact_balance=of.exact_balance,
    )


def _engine(
    of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array], drawn: Start
) -> tuple[Any, PatternBatch, Parameters]:
    """The engine on the training set, the set itself and the first state."""
    for_data, for_labels = jax.random.split(keys["data"])
    batch = _source(of, data).sample(for_data, of.capacity, of.L)
    permuted = shuffled(for_labels, batch, data["N"])
    types = jnp.where(data["shuffled_labels"], permuted.types, batch.types)
    # Only the labels are permuted: roles stay those of the true vote.
    labels = label_vectors(types, of.classes).astype(jnp.dtype(of.dtype))
    state = drawn.parameters
    common = {
        "labels": labels,
        "size": data["N"],
        **{
            name: data[name].astype(labels.dtype) for name in ("margin", "score_gain", "score_rate")
        },
        "combination": of.combination,
    }
    if of.engine == "collapsed":
        engine = Collapsed(
            vectors=data["vectors"][:, 0].astype(jnp.dtype(of.dtype)),
            counts=data["counts"].astype(jnp.dtype(of.dtype)),
            sums=sums_by_pattern(batch, drawn.a, of.patterns, data["N"]),
            classes=batch.types - 1,
            skip=data["skip"].astype(labels.dtype),
            **common,
        )
        return engine, batch, state
    batch = eqx.tree_at(lambda b: b.tokens, batch, batch.tokens.astype(jnp.dtype(of.dtype)))
    engine = Exact(
        tokens=batch.tokens,
        kept=batch.kept,
        keys=batch.kept,
        a=drawn.a.transpose(0, 2, 1),
        skip=of.skip,
        **common,
    )
    if not of.model_filter:
        engine, batch = _pruned(of, keys, data, engine, batch, state)
    return engine, batch, state


def engine_with_all_tokens(engine: Exact) -> Exact:
    """The engine before any token is removed."""
    everything = jnp.ones_like(engine.kept)
    return eqx.tree_at(lambda e: (e.kept, e.keys), engine, (everything, everything))


def _kept(
    of: Program,
    key: PRNGKeyArray,
    data: dict[str, Array],
    batch: PatternBatch,
    selecting: Parameters,
) -> Array:
    """The tokens that the selector keeps, by the scores of the given weights."""
    if not of.prunes:
        return batch.kept
    score = token_selection.scores(
        batch.tokens,
        selecting,
        readouts.mean_directions(data).astype(jnp.dtype(of.dtype)),
        jnp.arange(of.patterns) < data["M"],
        relevant=batch.roles == 0,
        noisy=batch.noisy,
    )[data["selector"]]
    kept = token_selection.keep_largest(key, score, data["kept"])
    return jnp.where(data["selector"] == 0, batch.kept, kept)


def _pruned(
    of: Program,
    keys: dict[str, PRNGKeyArray],
    data: dict[str, Array],
    engine: Exact,
    batch: PatternBatch,
    selecting: Parameters,
) -> tuple[Exact, PatternBatch]:
    kept = _kept(of, jax.random.fold_in(keys["selection"], 0), data, batch, selecting)
    batch = _with_kept(batch, jnp.where(data["prune_training"], kept, batch.kept), data)
    return _on(engine, batch, data), batch


def _with_kept(
    batch: PatternBatch, kept: Bool[Array, "n L"], data: dict[str, Array]
) -> PatternBatch:
    """The batch with these tokens kept: at their places, or moved to the first ones."""
    order = jnp.argsort(~kept, axis=1, stable=True)
    order = jnp.where(data["renumbered"], order, jnp.arange(kept.shape[1]))

    def moved(x: Array) -> Array:
        return jnp.take_along_axis(x, order.reshape(*order.shape, *[1] * (x.ndim - 2)), axis=1)

    by_token = (batch.tokens, batch.roles, kept, batch.patterns, batch.noisy)
    return eqx.tree_at(
        lambda b: (b.tokens, b.roles, b.kept, b.patterns, b.noisy),
        batch,
        tuple(moved(x) for x in by_token),
    )


def _on(engine: Exact, batch: PatternBatch, data: dict[str, Array]) -> Exact:
    """The engine on the batch's tokens, those removed left out of the softmax or set to zero."""
    zeroed = data["zeroed"]
    tokens = jnp.where(zeroed & ~batch.kept[..., None], 0, batch.tokens)
    keys = jnp.where(zeroed, True, batch.kept)
    return eqx.tree_at(lambda e: (e.tokens, e.kept, e.keys), engine, (tokens, batch.kept, keys))


def _few(
    of: Program, keys: dict[str, PRNGKeyArray], data: dict[str, Array], batch: PatternBatch
) -> PatternBatch:
    """The first samples. A draw does not depend on how many follow it, so the collapsed engine,
    which needs no tokens, draws these few again and XLA leaves the others out."""
    if of.engine == "collapsed":
        for_data, _ = jax.random.split(keys["data"])
        return _source(of, data).sample(for_data, PROBED_SAMPLES, of.L)
    return jax.tree.map(lambda x: x[:PROBED_SAMPLES], batch)


def _update(of: Program, data: dict[str, Array]) -> Update:
    eta = data["eta"].astype(jnp.dtype(of.dtype))
    if of.optimiser == "sgd":
        return minibatch.as_plain(eta, jnp.dtype(of.dtype))
    if of.optimiser == "momentum":
        return OptaxStep(optax.sgd, {"learning_rate": eta, "momentum": MOMENTUM})
    return OptaxStep(getattr(optax, of.optimiser), {"learning_rate": eta})


def _test(
    of: Program,
    keys: dict[str, PRNGKeyArray],
    data: dict[str, Array],
    drawn: Start,
    engine: Any,
    state: Parameters,
    selecting: Parameters,
) -> dict[str, Array]:
    """The loss, the error rate and the smallest margin on samples that were not trained on."""
    batch = _source(of, data).sample(keys["test"], of.test_samples, of.L)
    labels = label_vectors(batch.types, of.classes).astype(jnp.dtype(of.dtype))
    if of.engine == "collapsed":
        # a_(l) . h[y, j] for every place: then a sample is a sum of L numbers.
        h = engine.hidden(state)
        by_place = jnp.einsum("olm,cjm->ocjl", drawn.a, h)
        row = (batch.types - 1)[:, None]
        picked = by_place[:, row, batch.patterns, jnp.arange(of.L)]
        margins = (picked.mean(-1).T * labels).sum(1)
    else:
        batch = eqx.tree_at(lambda b: b.tokens, batch, batch.tokens.astype(jnp.dtype(of.dtype)))
        kept = _kept(of, jax.random.fold_in(keys["selection"], 1), data, batch, selecting)
        tested = eqx.tree_at(
            lambda e: (e.labels, e.size), engine, (labels, jnp.asarray(of.test_samples))
        )
        margins = _on(tested, _with_kept(batch, kept, data), data).margins(state)
    return {
        "test_loss": jnp.maximum(engine.margin - margins, 0).mean(),
        "test_error": (margins <= 0).mean(),
        "least_margin": margins.min(),
        "steady_gates": readouts.steady_gates(of, data, state, drawn),
    }
