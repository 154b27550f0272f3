"""The runs behind appendices B and C: printed formulas against derivatives, at random weights."""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.engines import word_weights
from attnlab.engines.word_weights import Weights
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, Parameters, output_by_definition
from attnlab.numerics.derivatives import directional_difference
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.yang2024.settings import GradientSettings, SystemSettings
from attnlab.papers.yang2024.theory import printed
from attnlab.training.inputs import Inputs, compiled
from attnlab.training.losses import logistic


def compare_gradients(cell: GradientSettings, key: Key) -> Result:
    """The formulas of appendix B against autodiff and central differences, matrix by matrix."""
    return Result(_compare_gradients(compiled(cell), stream_key(key, "data")))


def compare_system(cell: SystemSettings, key: Key) -> Result:
    """Each kind of variable: the printed derivative against the true one along the flow."""
    return Result(_compare_system(compiled(cell), stream_key(key, "data")))


@eqx.filter_jit
def _compare_gradients(inputs: Inputs, key: PRNGKeyArray) -> dict[str, Array]:
    data_key, init_key, direction_key = jax.random.split(key, 3)
    batch, engine, parameters = _drawn(inputs, data_key, init_key)
    loss = _loss(engine, batch)
    stated = printed.negative_gradients(
        parameters, engine.a, batch.words, batch.labels, centred=inputs.formula.is_("printed")
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


@eqx.filter_jit
def _compare_system(inputs: Inputs, key: PRNGKeyArray) -> dict[str, Array]:
    batch, engine, parameters = _drawn(inputs, *jax.random.split(key))
    loss = _loss(engine, batch)
    flow = jax.tree.map(jnp.negative, jax.grad(loss)(parameters))
    _, exact = jax.jvp(printed.variables, (parameters,), (flow,))
    stated = printed.derivatives(
        parameters, engine.a, batch.words, batch.labels, second_terms=inputs.formula.is_("printed")
    )
    values = {}
    for name in printed.DynamicalSystem._fields:
        true, said = getattr(exact, name), getattr(stated, name)
        values[f"system_error_{name}"] = jnp.linalg.norm(said - true) / jnp.linalg.norm(true)
        along = directional_difference(
            lambda at, name=name: getattr(printed.variables(at), name), parameters, flow
        )
        values[f"system_difference_{name}"] = (jnp.abs(said - along.value) / along.error).max()
    return values


def _drawn(
    inputs: Inputs, data_key: PRNGKeyArray, init_key: PRNGKeyArray
) -> tuple[Batch, Weights, Parameters]:
    batch = BalancedTrainingSet(inputs.vocabulary, inputs.L).sample(data_key, inputs.n)
    sizes = LinearMLPSizes(inputs.vocabulary, inputs.L, inputs.m, inputs.m1)
    engine, parameters = word_weights.start(init_key, batch, sizes, Initialisation(c0=inputs.c0))
    return batch, engine, parameters


def _loss(engine: Weights, batch: Batch) -> Callable[[Parameters], Float[Array, ""]]:
    """The training loss by the model's definition."""

    def loss(parameters: Parameters) -> Float[Array, ""]:
        F = output_by_definition(parameters, engine.a, batch.words)
        return logistic.value(batch.labels * F).mean()

    return loss
