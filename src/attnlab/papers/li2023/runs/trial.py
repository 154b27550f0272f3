"""A trial of li2023: Algorithm 1 on the pattern vote, with its probes and its test.

On patterns with counts a trial is one compiled call. On tokens it is a few: which tokens are kept
is decided between them, so that neither a selector nor a share of tokens compiles the draws again.
"""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from attnlab.core import Key, Result
from attnlab.data.pattern_vote import PatternBatch, label_vectors
from attnlab.engines.collapsed_tokens import Collapsed
from attnlab.engines.exact import Exact
from attnlab.models.shallow_vit import Parameters
from attnlab.models.shallow_vit_initialisation import Start
from attnlab.papers.li2023.runs import readouts
from attnlab.papers.li2023.runs.beginning import (
    Beginning,
    begin_on_patterns,
    begin_on_tokens,
)
from attnlab.papers.li2023.runs.given import Given, given
from attnlab.papers.li2023.runs.sparsification import (
    TEST,
    TRAINING,
    on_kept_tokens,
    placed,
    selected,
)
from attnlab.papers.li2023.runs.summaries import absent_values, summarise
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.probes.lucky_neurons import (
    feature_growth,
    lucky_neurons,
    neuron_projections,
    value_gradient,
)
from attnlab.probes.pattern_attention import PatternContext, attention_by_role
from attnlab.training.descent import descend
from attnlab.training.engine import Named, Probe, no_probe, together
from attnlab.training.minibatch import MiniBatches
from attnlab.training.optimisers import optimiser
from attnlab.training.trajectory import Ending, Trajectory

PROBES = {
    "outcome": no_probe,
    "dynamics": together(
        attention_by_role, lucky_neurons, neuron_projections, feature_growth, value_gradient
    ),
}


def train(cell: TrainingSettings, key: Key) -> Result:
    """One trial: draw, train until the loss is zero or T steps are done, and test."""
    collapsed = cell.engine == "collapsed"
    ended = _on_patterns(given(cell, key)) if collapsed else _on_tokens(cell, key)
    values = summarise(cell, jax.tree.map(np.asarray, dict(ended)))
    bad = not np.isfinite(values["test_loss"])
    return Result(values, diverged=_why(values) if bad else "", absent=absent_values(values))


def _why(values: dict[str, Any]) -> str:
    """How a run without a finite test loss ended."""
    which = "training" if int(values["ending"]) == Ending.DIVERGED else "test"
    steps = int(values["iterations"])
    return f"the {which} loss was infinite or nan after {steps} steps; lower eta or the errors"


def start(cell: TrainingSettings, key: Key) -> tuple[Exact | Collapsed, Parameters, Start]:
    """The engine with its first state, and how it was drawn (for tests and benchmarks)."""
    if cell.engine == "collapsed":
        first = begin_on_patterns(given(cell, key))
    else:
        first, _ = _sparsified(cell, key)
    return first.engine, first.drawn.parameters, first.drawn


@eqx.filter_jit
def _on_patterns(run: Given) -> Named:
    first = begin_on_patterns(run)
    path = _trained(run, first)
    # a_(l) . h[y, j] for every place: then a sample is a sum of L numbers.
    batch = _test_samples(run)
    h = first.engine.hidden(path.state)
    by_place = jnp.einsum("olm,cjm->ocjl", first.drawn.a, h)
    row = (batch.types - 1)[:, None]
    picked = by_place[:, row, batch.patterns, jnp.arange(run.inputs.L)]
    margins = (picked.mean(-1).T * _labels(run, batch)).sum(1)
    return _outcome(run, first, path, margins)


def _on_tokens(cell: TrainingSettings, key: Key) -> Named:
    run = given(cell, key)
    first, selecting = _sparsified(cell, key)
    path = _trained(run, first)
    if cell.prune_at == "test":
        selecting = path.state
    test = selected(cell, run, _test_samples(_with_all_tokens(cell, key)), selecting, TEST)
    return _tested(run, first, path, test)


def _sparsified(cell: TrainingSettings, key: Key) -> tuple[Beginning[Exact], Parameters]:
    """The beginning without the tokens that training does without, and the weights that chose."""
    run, whole = given(cell, key), _with_all_tokens(cell, key)
    first = begin_on_tokens(whole)
    selecting = first.drawn.parameters
    if cell.selector == "model":
        # A model trained before on all tokens decides which of them are kept.
        selecting = _trained_before(whole, first)
    if cell.prune_at == "both" and cell.kept < cell.L:
        batch = selected(cell, run, first.batch, selecting, TRAINING)
        first = _on_batch(run, first, batch)
    return first, selecting


def _with_all_tokens(cell: TrainingSettings, key: Key) -> Given:
    """The same run with nothing removed: draws are not compiled for each number of tokens."""
    return given(replace(cell, removed=0.0), key)


@eqx.filter_jit
def _on_batch(run: Given, first: Beginning[Exact], batch: PatternBatch) -> Beginning[Exact]:
    batch = placed(run, batch)
    return Beginning(first.drawn, on_kept_tokens(run, first.engine, batch), batch)


@eqx.filter_jit
def _trained(run: Given, first: Beginning) -> Trajectory:
    probe = PROBES[run.inputs.probes]
    return _descended(run, first, run.record_at, probe, readouts.context(run, first))


@eqx.filter_jit
def _trained_before(run: Given, first: Beginning) -> Parameters:
    ends = jnp.stack([jnp.zeros_like(run.record_at[0]), run.record_at[-1]])
    return _descended(run, first, ends, no_probe, None).state


def _descended(
    run: Given,
    first: Beginning,
    record_at: Int[Array, " k"],
    probe: Probe,
    context: PatternContext | None,
) -> Trajectory:
    inputs = run.inputs
    return descend(
        first.engine,
        first.drawn.parameters,
        optimiser(inputs.optimiser, inputs.eta.astype(run.dtype)),
        record_at,
        probe,
        context,
        batches=MiniBatches(
            run.streams.batches, inputs.B, inputs.batch_room, inputs.replacement, inputs.capacity
        ),
        stop_when_fitted=inputs.stop.is_("zero_loss"),
    )


@eqx.filter_jit
def _test_samples(run: Given) -> PatternBatch:
    """Samples that were not trained on, in the precision of training."""
    batch = run.source.sample(run.streams.test, run.inputs.test_samples, run.inputs.L)
    return replace(batch, tokens=batch.tokens.astype(run.dtype))


@eqx.filter_jit
def _tested(run: Given, first: Beginning[Exact], path: Trajectory, batch: PatternBatch) -> Named:
    engine = replace(first.engine, labels=_labels(run, batch), size=jnp.asarray(len(batch.types)))
    engine = on_kept_tokens(run, engine, placed(run, batch))
    return _outcome(run, first, path, engine.margins(path.state))


def _labels(run: Given, batch: PatternBatch) -> Float[Array, "n outputs"]:
    return label_vectors(batch.types, run.inputs.classes).astype(run.dtype)


def _outcome(run: Given, first: Beginning, path: Trajectory, margins: Float[Array, " n"]) -> Named:
    """All that a record may hold: training, test margins, first maps and tokens."""
    return {
        **{f"series_{name}": x for name, x in path.values.items()},
        "times": path.times,
        "iterations": path.end_time,
        "ending": path.ending,
        "train_loss": path.values["loss"][-1],
        "test_loss": jnp.maximum(first.engine.margin - margins, 0).mean(),
        "test_error": (margins <= 0).mean(),
        "least_margin": margins.min(),
        "steady_gates": readouts.steady_gates(run, first.drawn, path.state),
        **readouts.norms(run, first.drawn),
        **readouts.token_statistics(run, first),
        **readouts.class_projections(run, first.drawn, path.state),
    }
