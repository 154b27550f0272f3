r"""Single terms of a neuron's rate up to T1: Lemma E.7, Corollary E.10 and Lemma E.11.

Each scalar is the largest value up to the detected T1 over its order with constant one.

Legend: as in `theory.sizes`; R the largest movement of a neuron's output on a signal, R_P that of
an attention weight.
"""

import math

import equinox as eqx
import numpy as np
from jaxtyping import PyTree

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.engines.gram_neurons import GramWithNeurons
from attnlab.papers.yang2024.runs import draws
from attnlab.papers.yang2024.runs.probes.neuron_terms import Followed, neuron_terms
from attnlab.papers.yang2024.runs.summaries.phase_1 import END, positive_for_good
from attnlab.papers.yang2024.runs.summaries.series import Series, Until
from attnlab.papers.yang2024.settings import FIRST_RECORD, TrainingSettings
from attnlab.papers.yang2024.theory.sizes import StatedSizes
from attnlab.probes.context import Context
from attnlab.training.flow import flow, log_spaced_times
from attnlab.training.inputs import Inputs, compiled
from attnlab.training.trajectory import Trajectory, nan_names


def follow_terms(cell: TrainingSettings, key: Key) -> Result:
    """The flow, the terms over time, and each over its bound."""
    batch = draws.training_set(cell, key)
    engine, state = draws.start(cell, key, batch, batch)
    assert isinstance(engine, GramWithNeurons), "the terms are those of single neurons"
    trajectory = _flow(compiled(cell), engine, state, batch)
    times = np.asarray(trajectory.times)
    reached = np.isfinite(times)
    series = {name: np.asarray(x)[reached] for name, x in trajectory.values.items()}
    described = {**series, "times": times[reached], **draws.description(cell, batch)}
    if not trajectory.complete:
        return Result(described, diverged=trajectory.why)
    end = positive_for_good(described["times"], described["smallest_margin"])
    scalars = {END: end, **over_bounds(described, draws.stated_sizes(cell), end)}
    return Result({**described, **scalars}, absent=nan_names(scalars))


def over_bounds(series: Series, sizes: StatedSizes, end: float) -> dict[str, float]:
    """The three quotients, nan without a T1."""
    L, m, s0, s1 = sizes.L, sizes.m, sizes.s0, sizes.s1
    until = Until(np.asarray(series["times"]), end)
    R = until.largest_record(series["signal_output_change"])
    R_P = until.largest_record(series["attention_change"])
    bounds = {
        "sample_output_change": L * R_P * s0 * s1 * math.sqrt(m) + 4 * R / L,
        "value_term": L * s0**2 * math.sqrt(m),
        "neuron_term": s1**2 * math.sqrt(m * sizes.m1),
    }
    return {f"{k}_over_bound": until.largest_record(series[k]) / x for k, x in bounds.items()}


@eqx.filter_jit
def _flow(inputs: Inputs, engine: GramWithNeurons, state: PyTree, batch: Batch) -> Trajectory:
    initial = engine.view(state)
    args = Followed(Context(engine.rows_of(batch), initial), engine.neurons.outputs)
    times = log_spaced_times(FIRST_RECORD, inputs.horizon, inputs.records) / initial.rho
    tolerances = engine.flow_settings(state, inputs.rtol, inputs.rtol / 100)
    return flow(engine, state, times, neuron_terms, args, **tolerances)
