"""The run behind appendix C: the printed system against the derivative along the flow."""

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.dynamics.losses import logistic
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import Parameters, Sizes, output_by_definition
from attnlab.numerics.derivatives import directional_difference
from attnlab.numerics.random import stream_key
from attnlab.papers.yang2024.engines import printed_system, weights
from attnlab.papers.yang2024.engines.printed_system import System
from attnlab.papers.yang2024.settings import SystemSettings, TrainingSettings


def compare_system(cell: SystemSettings, key: Key) -> Result:
    """Each kind of variable: the printed derivative against the true one along the flow."""
    sizes = (cell.n, cell.L, cell.m, cell.m1, cell.c0)
    second_terms = jnp.asarray(cell.formula == "printed")
    return Result(_compare(sizes, second_terms, stream_key(key, "data")))


@eqx.filter_jit
def _compare(sizes: tuple, second_terms: Array, key: PRNGKeyArray) -> dict[str, Array]:
    n, L, m, m1, c0 = sizes
    d = TrainingSettings(n=n, L=L, m=m, m1=m1).vocabulary
    data_key, init_key = jax.random.split(key)
    batch = BalancedTrainingSet(d, L).sample(data_key, n)
    engine, parameters = weights.start(init_key, batch, Sizes(d, L, m, m1), Initialisation(c0=c0))

    def loss(parameters: Parameters) -> Float[Array, ""]:
        F = output_by_definition(parameters, engine.a, batch.words)
        return logistic.value(batch.labels * F).mean()

    flow = jax.tree.map(jnp.negative, jax.grad(loss)(parameters))
    _, exact = jax.jvp(printed_system.variables, (parameters,), (flow,))
    stated = printed_system.derivatives(
        parameters, engine.a, batch.words, batch.labels, second_terms=second_terms
    )
    values = {}
    for name in System._fields:
        true, said = getattr(exact, name), getattr(stated, name)
        values[f"system_error_{name}"] = jnp.linalg.norm(said - true) / jnp.linalg.norm(true)
        along = directional_difference(
            lambda at, name=name: getattr(printed_system.variables(at), name), parameters, flow
        )
        values[f"system_difference_{name}"] = (jnp.abs(said - along.value) / along.error).max()
    return values
