"""The runs of the yang2024 studies: a training with its probes, and a comparison of gradients."""

from dataclasses import replace
from typing import Any, NamedTuple

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
from attnlab.dynamics.engine import applied_to, together
from attnlab.dynamics.flow import NO_TARGET, flow, log_spaced_times
from attnlab.dynamics.losses import logistic
from attnlab.dynamics.trajectory import Trajectory
from attnlab.models.linear_mlp_initialisation import Initialisation, deviations
from attnlab.models.linear_mlp_transformer import Parameters, Sizes, output_by_definition
from attnlab.numerics.derivatives import directional_difference
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.yang2024.early_probes import change_per_use, neuron_rates
from attnlab.papers.yang2024.engines import (
    gram,
    gram_neurons,
    printed,
    symmetric,
    symmetric_words,
    weights,
)
from attnlab.papers.yang2024.engines.gram_momentum import GramMomentum
from attnlab.papers.yang2024.phase_probes import sample_side, score_side, test_loss, value_side
from attnlab.papers.yang2024.settings import GradientSettings, TrainingSettings
from attnlab.papers.yang2024.summaries import first_phase, phase_1, second_phase, trends
from attnlab.papers.yang2024.theory import conditions
from attnlab.probes.attention import attention_by_role, attention_change
from attnlab.probes.context import Context
from attnlab.probes.losses_by_type import losses_by_type
from attnlab.probes.neurons import neuron_movement
from attnlab.probes.phase import phase_one_end
from attnlab.probes.rates import word_rates
from attnlab.probes.word_scores import closeness, word_scores

TEST_SAMPLES = 600
MOMENTUM = 0.9
FIRST_RECORD = 1e-2
"""The first recorded time of a flow after 0, in units of 1/rho(0)."""


class Samples(eqx.Module):
    """What the probes look at: the training set and samples that were not trained on."""

    train: Context
    test: Context


def _on_train(samples: Samples) -> Context:
    return samples.train


def _on_test(samples: Samples) -> Context:
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
    shuffle = jnp.asarray(cell.labels == "shuffled")
    batch = _draw(_data_settings(cell), stream_key(key, "data"), shuffle)
    test = _draw_test(_data_settings(cell), stream_key(key, "test"))
    engine, state = _start(cell, stream_key(key, "init"), batch, test)
    numbers = {
        name: jnp.asarray(getattr(cell, name), float)
        for name in ("horizon", "target_loss", "learning_rate", "rtol")
    }
    trajectory = _train(_program(cell), engine, state, batch, test, numbers)
    series = {**_series(trajectory), **_description(cell, batch)}
    return Result(
        {
            **series,
            **phase_1.summarise(series),
            **trends.summarise(series),
            **second_phase.summarise(series, cell),
            **first_phase.summarise(series, _stated_sizes(cell, series)),
        },
        diverged="" if trajectory.complete else trajectory.why,
    )


# --- data and start ---------------------------------------------------------------------------


def _data_settings(cell: TrainingSettings) -> tuple[int, int, int, str, str]:
    return cell.n, cell.L, cell.d, cell.sampler, cell.words


@eqx.filter_jit
def _draw(data: tuple[int, int, int, str, str], key: PRNGKeyArray, shuffle: Array) -> Batch:
    n, L, d, sampler, words = data
    if sampler == "balanced":
        source = BalancedTrainingSet(d, L, words == "distinct", shuffled_labels=True)
    else:
        source = IndependentSamples(d, L, shuffled_labels=True)
    # One draw serves both: the types tell the true labels, and the words are the same.
    drawn = source.sample(key, n)
    true = jnp.where(drawn.types == 1, 1, -1).astype(drawn.labels.dtype)
    labels = jnp.where(shuffle, drawn.labels, true)
    return eqx.tree_at(lambda batch: batch.labels, drawn, labels)


@eqx.filter_jit
def _draw_test(data: tuple[int, int, int, str, str], key: PRNGKeyArray) -> Batch:
    _, L, d, _, _ = data
    return IndependentSamples(d, L).sample(key, TEST_SAMPLES)


def _start(cell: TrainingSettings, key: PRNGKeyArray, batch: Batch, test: Batch) -> tuple[Any, Any]:
    """The engine and its first state. Not compiled as a whole, so that m costs no compilation."""
    sizes, scheme = Sizes(cell.d, cell.L, cell.m, cell.m1), _initialisation(cell)
    if cell.engine == "symmetric":
        started = symmetric_words.start(batch, sizes, scheme, attention=cell.attention)
    elif cell.engine == "weights":
        started = weights.start(key, batch, sizes, scheme, attention=cell.attention)
    else:
        engine = gram_neurons if cell.probes == "neurons" else gram
        started = engine.start(
            key,
            batch,
            sizes,
            scheme,
            initial=cell.initial,  # pyright: ignore[reportArgumentType]
            also=test.words.reshape(-1),
            attention=cell.attention,
        )
    # Without jax's weak types, which differ between the ways to start and would compile twice.
    return jax.tree.map(lambda x: jax.lax.convert_element_type(x, x.dtype), started)


def _initialisation(cell: TrainingSettings) -> Initialisation:
    if cell.weights == "theory":
        return Initialisation(cell.weights, cell.output_layer, c0=cell.c0)
    return Initialisation(cell.weights, cell.output_layer)


# --- training ---------------------------------------------------------------------------------


class Program(NamedTuple):
    """What a compiled training depends on beside shapes."""

    engine: str
    method: str
    probes: str
    records: int
    steps: int
    stops_at_target: bool


def _program(cell: TrainingSettings) -> Program:
    steps = 0 if cell.method == "flow" else cell.steps
    # On Grams all widths are one program, with and without a target. On weights each width is
    # one of its own, and is compiled sooner without the search for a time that is never met.
    stops = cell.engine != "weights" or cell.target_loss > 0
    return Program(cell.engine, cell.method, cell.probes, cell.records, steps, stops)


@eqx.filter_jit
def _train(
    program: Program,
    engine: Any,
    state: Any,
    batch: Batch,
    test: Batch,
    numbers: dict[str, Float[Array, ""]],
) -> Trajectory:
    initial = engine.view(state)
    if program.engine == "gram":
        batch, test = engine.rows_of(batch), engine.rows_of(test)
    samples = Samples(Context(batch, initial), Context(test))
    probe = PROBES[program.probes]
    if program.method == "flow":
        times = log_spaced_times(FIRST_RECORD, numbers["horizon"], program.records) / initial.rho
        rtol, atol = numbers["rtol"], numbers["rtol"] / 100
        tolerances: dict[str, Any] = {"rtol": rtol, "atol": atol}
        if isinstance(engine, gram_neurons.GramWithNeurons):
            tolerances = gram_neurons.flow_settings(engine, state, rtol, atol)
        elif isinstance(engine, gram.Gram):
            tolerances = gram.flow_settings(engine, state, rtol, atol)
        elif isinstance(engine, symmetric_words.SymmetricOnWords):
            tolerances = symmetric.flow_settings(engine.classes, state, rtol, atol)
        # A target that is never met stands for none.
        target = jnp.maximum(numbers["target_loss"], NO_TARGET) if program.stops_at_target else None
        return flow(engine, state, times, probe, samples, target_loss=target, **tolerances)
    record_at = log_spaced_steps(program.steps, program.records)
    update = _update(program, numbers["learning_rate"])
    return descend(engine, state, update, record_at, probe, samples)


def _update(program: Program, learning_rate: Float[Array, ""]) -> Update:
    if program.method == "momentum" and program.engine == "gram":
        return GramMomentum(learning_rate, MOMENTUM)  # pyright: ignore[reportArgumentType]
    if program.method == "momentum":
        return OptaxStep(optax.sgd, {"learning_rate": learning_rate, "momentum": MOMENTUM})
    if program.method == "adam":
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
        "rate": (scales.neurons**2 + scales.embeddings**2)
        * cell.m
        * cell.m1
        * scales.output_layer**2,
        "words": np.asarray(batch.words, np.int32),
        "labels": np.asarray(batch.labels, np.int8),
    }


def _stated_sizes(cell: TrainingSettings, series: dict[str, Any]) -> conditions.Sizes:
    """What the paper's bounds are functions of."""
    s0, s1 = series["s0"], series["s1"]
    return conditions.Sizes(cell.n, cell.L, cell.d, cell.m, cell.m1, s0, s1)


# --- gradients three ways ---------------------------------------------------------------------


def compare_gradients(cell: GradientSettings, key: Key) -> Result:
    """The formulas of appendix B against autodiff and central differences, matrix by matrix."""
    sizes = replace(cell, formula="printed")
    return Result(_compare(sizes, stream_key(key, "data"), jnp.asarray(cell.formula == "printed")))


@eqx.filter_jit
def _compare(cell: GradientSettings, key: PRNGKeyArray, centred: Array) -> dict[str, Array]:
    data_key, init_key, direction_key = jax.random.split(key, 3)
    training = TrainingSettings(n=cell.n, L=cell.L, m=cell.m, m1=cell.m1)
    batch = BalancedTrainingSet(training.vocabulary, cell.L).sample(data_key, cell.n)
    sizes = Sizes(training.vocabulary, cell.L, cell.m, cell.m1)
    engine, parameters = weights.start(init_key, batch, sizes, Initialisation(c0=cell.c0))

    def loss(parameters: Parameters) -> Float[Array, ""]:
        F = output_by_definition(parameters, engine.a, batch.words)
        return logistic.value(batch.labels * F).mean()

    stated = printed.negative_gradients(
        parameters, engine.a, batch.words, batch.labels, centred=centred
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
