"""The runs of the yang2024 studies: a training with its probes, and a comparison of gradients."""

from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import BalancedTrainingSet, IndependentSamples
from attnlab.dynamics.descent import OptaxStep, PlainStep, Update, descend, log_spaced_steps
from attnlab.dynamics.engine import together
from attnlab.dynamics.flow import flow
from attnlab.dynamics.losses import logistic
from attnlab.dynamics.trajectory import Trajectory
from attnlab.models.linear_mlp_initialisation import Initialisation, deviations
from attnlab.models.linear_mlp_transformer import Parameters, Sizes, output_by_definition
from attnlab.numerics.derivatives import directional_difference
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.yang2024.engines import printed
from attnlab.papers.yang2024.engines import weights as weights_engine
from attnlab.papers.yang2024.settings import GradientSettings, TrainingSettings
from attnlab.probes.attention import attention_by_role, attention_change
from attnlab.probes.context import Context
from attnlab.probes.losses_by_type import losses_by_type
from attnlab.probes.neurons import neuron_movement
from attnlab.probes.phase import phase_one_end
from attnlab.probes.rates import word_rates
from attnlab.probes.word_scores import closeness, word_scores

WORD_PROBES = together(
    losses_by_type, word_scores, closeness, word_rates, attention_change, attention_by_role
)
NEURON_PROBES = together(WORD_PROBES, neuron_movement)
FIRST_RECORD = 1e-2
"""The first recorded time of a flow after 0, in units of 1/rho(0)."""

_NUMBERS = ("horizon", "target_loss", "learning_rate", "rtol")
_SHARED = {
    "horizon": 1.0,
    "learning_rate": 1.0,
    "rtol": 1.0,
    "attention": "trained",
    "labels": "true",
}
"""What these settings are in the compiled program's own cell: their values come as data."""


def train(cell: TrainingSettings, key: Key) -> Result:
    """Train once and return every probe's series, the data's description and both T1."""
    numbers = {name: jnp.asarray(getattr(cell, name), float) for name in _NUMBERS}
    # Numbers and control switches are data of the compiled program: a control shares the
    # program of what it is compared with.
    shape = replace(cell, **_SHARED, target_loss=float(cell.target_loss > 0))
    gain, rate = {"trained": (1.0, 1.0), "frozen": (1.0, 0.0), "uniform": (0.0, 0.0)}[
        cell.attention
    ]
    switches = {
        "gain": jnp.asarray(gain),
        "rate": jnp.asarray(rate),
        "shuffle": jnp.asarray(cell.labels == "shuffled"),
    }
    batch, trajectory = _train(
        shape, stream_key(key, "data"), stream_key(key, "init"), numbers, switches
    )
    return Result(
        {**_series(trajectory), **_description(cell, batch)},
        diverged=trajectory.why if not trajectory.complete else "",
    )


@eqx.filter_jit
def _train(
    cell: TrainingSettings,
    data_key: PRNGKeyArray,
    init_key: PRNGKeyArray,
    numbers: dict[str, Float[Array, ""]],
    switches: dict[str, Array],
) -> tuple[Batch, Trajectory]:
    batch = _draw(cell, data_key, switches["shuffle"])
    sizes = Sizes(cell.d, cell.L, cell.m, cell.m1)
    engine, state = weights_engine.start(init_key, batch, sizes, _initialisation(cell))
    engine = eqx.tree_at(
        lambda e: (e.score_gain, e.score_rate), engine, (switches["gain"], switches["rate"])
    )
    initial = engine.view(state)
    context = Context(batch, initial)
    probe = NEURON_PROBES if cell.probes == "neurons" else WORD_PROBES
    if cell.method == "flow":
        grid = np.geomspace(FIRST_RECORD, 1.0, cell.records - 1)
        times = jnp.r_[0.0, FIRST_RECORD * (numbers["horizon"] / FIRST_RECORD) ** _unit(grid)]
        return batch, flow(
            engine,
            state,
            times / initial.rho,
            probe,
            context,
            rtol=numbers["rtol"],
            atol=numbers["rtol"] / 100,
            target_loss=numbers["target_loss"] if cell.target_loss else None,
        )
    record_at = log_spaced_steps(cell.steps, cell.records)
    update = _update(cell, numbers["learning_rate"])
    return batch, descend(engine, state, update, record_at, probe, context)


def _unit(grid: np.ndarray) -> np.ndarray:
    """The grid's places on a logarithmic scale, from 0 to 1."""
    return np.log(grid / grid[0]) / np.log(grid[-1] / grid[0])


def _draw(cell: TrainingSettings, key: PRNGKeyArray, shuffle: Array) -> Batch:
    # One draw serves both: the types tell the true labels, and the words are the same.
    if cell.sampler == "balanced":
        source = BalancedTrainingSet(cell.d, cell.L, cell.words == "distinct", shuffled_labels=True)
    else:
        source = IndependentSamples(cell.d, cell.L, shuffled_labels=True)
    drawn = source.sample(key, cell.n)
    true = jnp.where(drawn.types == 1, 1, -1).astype(drawn.labels.dtype)
    labels = jnp.where(shuffle, drawn.labels, true)
    return eqx.tree_at(lambda batch: batch.labels, drawn, labels)


def _initialisation(cell: TrainingSettings) -> Initialisation:
    if cell.weights == "theory":
        return Initialisation(cell.weights, cell.output_layer, c0=cell.c0)
    return Initialisation(cell.weights, cell.output_layer)


def _update(cell: TrainingSettings, learning_rate: Float[Array, ""]) -> Update:
    if cell.method == "momentum":
        return OptaxStep(optax.sgd, {"learning_rate": learning_rate, "momentum": 0.9})
    if cell.method == "adam":
        return OptaxStep(optax.adam, {"learning_rate": learning_rate})
    return PlainStep(learning_rate)


def _series(trajectory: Trajectory) -> dict[str, Any]:
    """The reached part of every series, and T1 by both detections."""
    times = np.asarray(trajectory.times)
    reached = np.isfinite(times)
    series = {name: np.asarray(x)[reached] for name, x in trajectory.values.items()}
    end = phase_one_end(times[reached], series["smallest_margin"], series["margin_by_type"])
    return {
        **series,
        "times": times[reached],
        "end_time": trajectory.end_time,
        "solver_steps": trajectory.steps,
        "T1_every_sample": end.every_sample,
        "T1_type_means": end.every_type_mean,
    }


def _description(cell: TrainingSettings, batch: Batch) -> dict[str, Any]:
    sizes = Sizes(cell.d, cell.L, cell.m, cell.m1)
    scales = deviations(sizes, _initialisation(cell))
    return {
        "s0": scales.embeddings,
        "s1": scales.neurons,
        "a_scale": scales.output_layer,
        "words": np.asarray(batch.words, np.int32),
        "labels": np.asarray(batch.labels, np.int8),
    }


# --- gradients three ways ---------------------------------------------------------------------


def compare_gradients(cell: GradientSettings, key: Key) -> Result:
    """The formulas of appendix B against autodiff and central differences, matrix by matrix."""
    values = _compare(replace(cell, formula="printed"), stream_key(key, "data"), cell.formula)
    return Result(values)


@eqx.filter_jit
def _compare(cell: GradientSettings, key: PRNGKeyArray, formula: str) -> dict[str, Array]:
    data_key, init_key, direction_key = jax.random.split(key, 3)
    training = TrainingSettings(n=cell.n, L=cell.L, m=cell.m, m1=cell.m1)
    batch = BalancedTrainingSet(training.vocabulary, cell.L).sample(data_key, cell.n)
    sizes = Sizes(training.vocabulary, cell.L, cell.m, cell.m1)
    engine, parameters = weights_engine.start(init_key, batch, sizes, Initialisation(c0=cell.c0))

    def loss(parameters: Parameters) -> Float[Array, ""]:
        F = output_by_definition(parameters, engine.a, batch.words)
        return logistic.value(batch.labels * F).mean()

    stated = printed.negative_gradients(
        parameters, engine.a, batch.words, batch.labels, centred=formula == "printed"
    )
    automatic = jax.tree.map(jnp.negative, jax.grad(loss)(parameters))
    _, fast = engine.loss_and_field(parameters)
    values = {}
    keys = jax.random.split(direction_key, len(parameters))
    for name, direction_key, start in zip(Parameters._fields, keys, parameters, strict=True):
        direction = normal(direction_key, start.shape, 1.0)
        zeros = jax.tree.map(jnp.zeros_like, parameters)
        along = zeros._replace(**{name: direction})
        difference = directional_difference(loss, parameters, along)
        slope = -jnp.vdot(getattr(stated, name), direction)
        exact = getattr(automatic, name)
        size = jnp.linalg.norm(exact)
        values[f"printed_error_{name}"] = jnp.linalg.norm(getattr(stated, name) - exact) / size
        values[f"engine_error_{name}"] = jnp.linalg.norm(getattr(fast, name) - exact) / size
        values[f"difference_error_{name}"] = jnp.abs(slope - difference.value) / difference.error
    return values
