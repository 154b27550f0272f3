"""Searches for parameters and tokens at which a bound is tight: Proposition 1, Corollary 1."""

from typing import NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.models.multihead import Heads, head_gradient, head_output
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.deora2023.settings.landscape import AscentSettings
from attnlab.papers.deora2023.theory.smoothness import (
    VARIANTS,
    Variant,
    betas,
    gradient_bound,
    hessian_bound,
)
from attnlab.training.inputs import Inputs, compiled
from attnlab.training.losses import logistic

RATIOS = ("model_gradient", "model_hessian", "self_bounded", "smooth", "weakly_convex")
SAMPLES = 2


class Place(NamedTuple):
    """Where a search is: the parameters of one head, and the samples that it sees."""

    U: Float[Array, "T d"]
    W: Float[Array, "d d"]
    X: Float[Array, "s T d"]


def ascend(cell: AscentSettings, key: Key) -> Result:
    """Ascend one quotient measured/bound over parameters and tokens, and report them all."""
    found = _ascend(compiled(cell), stream_key(key, "parameters"))
    return Result({name: float(x) for name, x in found.items()})


@eqx.filter_jit
def _ascend(inputs: Inputs, key: PRNGKeyArray) -> dict[str, Array]:
    T, d = inputs.T, inputs.d
    chosen = jnp.stack([inputs.objective.is_(name) for name in RATIOS]).astype(float)
    keys = jax.random.split(key, 3)
    point = Place(
        normal(keys[0], (T, d), 1.0),
        normal(keys[1], (d, d), 1.0),
        normal(keys[2], (SAMPLES, T, d), 1.0),
    )
    rule = optax.adam(0.03)

    def objective(point: Place) -> Array:
        values = quotients(measured(point), "sharp")
        logs = jnp.stack([jnp.log(jnp.maximum(values[name], 1e-12)) for name in RATIOS])
        return -chosen @ logs

    def step(_: Array, carry: tuple) -> tuple:
        point, memory, best, best_value = carry
        value, gradient = jax.value_and_grad(objective)(point)
        better = value < best_value
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), point, best)
        move, memory = rule.update(gradient, memory, point)
        return optax.apply_updates(point, move), memory, best, jnp.minimum(value, best_value)

    start = (point, rule.init(point), point, objective(point))
    _, _, best, _ = jax.lax.fori_loop(0, inputs.steps, step, start)
    seen = measured(best)
    found = {
        f"{name}_{variant}": value
        for variant in VARIANTS
        for name, value in quotients(seen, variant).items()
    }
    return {**found, **_wrong(seen)}


def _curved(matrix: Array) -> tuple[Array, Array]:
    """The smallest eigenvalue and the spectral norm, differentiable where eigenvalues meet."""
    _, vectors = jnp.linalg.eigh(jax.lax.stop_gradient(matrix))
    values = jnp.einsum("ik,ij,jk->k", vectors, matrix, vectors)
    return values.min(), jnp.abs(values).max()


class Measured(NamedTuple):
    """Sizes, slopes and bends of a model of one head and of its loss at one point."""

    T: int
    d: int
    longest: Array
    largest: Array
    decoded: Array
    R: Array
    m: Array
    slope: Array
    bend: Array
    loss: Array
    loss_slope: Array
    loss_bend: Array
    lowest: Array
    pooled: Array


def measured(point: Place) -> Measured:
    """Proposition 1's quantities on the first sample, Corollary 1's (H = 1) on both."""
    U, W, X = point
    first = X[0]
    flat, rebuild = ravel_pytree(Heads(U, W))
    labels = jnp.asarray([1.0, -1.0])

    def both(x: Array) -> Array:
        """The first sample's output and the loss of both."""
        head = rebuild(x)
        output = jax.vmap(lambda s: head_output(head.U, head.W, s))(X)
        return jnp.stack([output[0], logistic.value(labels * output).mean()])

    value, slopes, bends = both(flat), jax.jacrev(both)(flat), jax.jacfwd(jax.jacrev(both))(flat)
    _, bend = _curved(bends[0])
    lowest, loss_bend = _curved(bends[1])
    return Measured(
        *U.shape,
        longest=jnp.sqrt((first**2).sum(1)).max(),
        largest=jnp.abs(first).max(),
        decoded=jnp.abs(U @ first.T).max(axis=1).sum(),
        R=jnp.maximum(1.0, jnp.sqrt((X**2).sum(-1)).max()),
        m=jnp.linalg.norm(U),
        slope=jnp.linalg.norm(slopes[0]),
        bend=bend,
        loss=value[1],
        loss_slope=jnp.linalg.norm(slopes[1]),
        loss_bend=loss_bend,
        lowest=lowest,
        pooled=jnp.linalg.norm(head_gradient(U[0], W, first, "pooled").U),
    )


def quotients(x: Measured, variant: Variant) -> dict[str, Array]:
    """Measured over bound: Proposition 1 and Corollary 1."""
    b = betas(variant, x.T, x.d, x.R, x.m, 1.0)
    steep = gradient_bound(x.T, x.longest, x.decoded, variant)
    curved = hessian_bound(x.T, x.d, x.longest, x.largest, x.decoded, variant)
    return {
        "model_gradient": x.slope / steep,
        "model_hessian": x.bend / curved,
        "self_bounded": x.loss_slope / (b.one * x.loss),
        "smooth": x.loss_bend / b.two,
        "weakly_convex": jnp.maximum(-x.lowest, 0.0) / (b.three * x.loss),
    }


def _wrong(x: Measured) -> dict[str, Array]:
    """Bounds that are false: without the decoder's term, and the pooled one with sqrt(T)."""
    flat = 2 * jnp.sqrt(x.T * x.d) * x.longest**2 * x.largest
    return {
        "model_gradient_without_decoder": x.slope / (jnp.sqrt(x.T) * x.longest),
        "model_hessian_without_decoder": x.bend / flat,
        "pooled_gradient": x.pooled / (x.T * x.longest),
        "pooled_gradient_printed": x.pooled / (jnp.sqrt(x.T) * x.longest),
    }
