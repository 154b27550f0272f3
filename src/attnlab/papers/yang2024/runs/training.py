"""A training of yang2024 with all its probes: by flow or in steps, on any of the engines."""

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PyTree

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines.gram_momentum import GramMomentum
from attnlab.engines.word_engine import WordEngine
from attnlab.papers.yang2024.runs import draws
from attnlab.papers.yang2024.runs.probes.phase_1 import change_per_use, neuron_rates
from attnlab.papers.yang2024.runs.probes.phase_2 import (
    sample_side,
    score_side,
    test_loss,
    value_side,
)
from attnlab.papers.yang2024.runs.summaries import phase_1, phase_2
from attnlab.papers.yang2024.settings import FIRST_RECORD, TrainingSettings
from attnlab.probes.attention import attention_by_role, attention_change
from attnlab.probes.context import Context
from attnlab.probes.losses_by_type import losses_by_type
from attnlab.probes.neurons import neuron_movement
from attnlab.probes.rates import word_rates
from attnlab.probes.word_scores import closeness, word_scores
from attnlab.training.descent import Update, descend, log_spaced_steps
from attnlab.training.engine import applied_to, together
from attnlab.training.flow import NO_TARGET, flow, log_spaced_times
from attnlab.training.inputs import Inputs, compiled
from attnlab.training.optimisers import MOMENTUM, optimiser
from attnlab.training.trajectory import Trajectory, absent_throughout, nan_names

OPTIMISERS = {"descent": "sgd", "momentum": "momentum", "adam": "adam"}
"""By the name of the method, that of the rule."""


class ProbedSamples(eqx.Module):
    """What the probes look at: the training set and samples that were not trained on."""

    train: Context
    test: Context


def _on_train(samples: ProbedSamples) -> Context:
    return samples.train


def _on_test(samples: ProbedSamples) -> Context:
    return samples.test


_ON_WORDS = together(
    losses_by_type,
    word_scores,
    closeness,
    word_rates,
    attention_change,
    attention_by_role,
    value_side,
    score_side,
    sample_side,
    change_per_use,
)
_ON_SAMPLES = together(
    applied_to(_on_train, _ON_WORDS), applied_to(_on_test, test_loss, prefix="test_")
)
PROBES = {
    "words": _ON_SAMPLES,
    "neurons": together(
        _ON_SAMPLES, applied_to(_on_train, together(neuron_movement, neuron_rates))
    ),
}


def train(cell: TrainingSettings, key: Key) -> Result:
    """Train once and return every probe's series, the data's description and both T1."""
    batch, test = draws.training_set(cell, key), draws.new_samples(cell, key)
    engine, state = draws.start(cell, key, batch, test)
    trajectory = _train(compiled(cell), engine, state, batch, test)
    recorded = _series(trajectory)
    described = {**recorded, **draws.description(cell, batch)}
    if not trajectory.complete:
        return Result(described, diverged=trajectory.why)
    ends = phase_1.detected_ends(recorded)
    series, sizes = {**described, **ends}, draws.stated_sizes(cell)
    scalars = {**phase_2.summarise(series, sizes), **phase_1.summarise(series, sizes)}
    # What a run does not reach, as T1 or a second phase, is nan in its summaries.
    absent = absent_throughout(recorded) | nan_names({**ends, **scalars})
    return Result({**series, **scalars}, absent=absent)


@eqx.filter_jit
def _train(
    inputs: Inputs, engine: WordEngine, state: PyTree, batch: Batch, test: Batch
) -> Trajectory:
    initial = engine.view(state)
    samples = ProbedSamples(Context(engine.rows_of(batch), initial), Context(engine.rows_of(test)))
    probe = PROBES[inputs.probes]
    if inputs.method == "flow":
        times = log_spaced_times(FIRST_RECORD, inputs.horizon, inputs.records) / initial.rho
        tolerances = engine.flow_settings(state, inputs.rtol, inputs.rtol / 100)
        # A target that is never met stands for none.
        target = jnp.maximum(inputs.target_loss, NO_TARGET) if inputs.stops_at_target else None
        return flow(engine, state, times, probe, samples, target_loss=target, **tolerances)
    record_at = log_spaced_steps(inputs.last_step, inputs.records)
    update = _update(inputs.method, inputs.engine, inputs.learning_rate)
    return descend(engine, state, update, record_at, probe, samples)


def _update(method: str, engine: str, learning_rate: Float[Array, ""]) -> Update:
    # On Grams optax's momentum would act on the Grams; this one acts on the weights behind them.
    if method == "momentum" and engine == "gram":
        return GramMomentum(learning_rate, jnp.asarray(MOMENTUM))
    return optimiser(OPTIMISERS[method], learning_rate)


def _series(trajectory: Trajectory) -> dict[str, np.ndarray]:
    """The reached part of every series, and where the run ended."""
    times = np.asarray(trajectory.times)
    reached = np.isfinite(times)
    return {
        **{name: np.asarray(x)[reached] for name, x in trajectory.values.items()},
        "times": times[reached],
        "end_time": np.asarray(trajectory.end_time),
        "solver_steps": np.asarray(trajectory.steps),
    }
