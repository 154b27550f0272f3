"""Lemma 1 three ways, and searches for parameters at which a bound is tight."""

from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jax.flatten_util import ravel_pytree
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.dynamics.losses import logistic
from attnlab.models.multihead import Heads, head_gradient, head_output
from attnlab.numerics.derivatives import directional_difference
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.deora2023.settings import AscentSettings, FormulaSettings
from attnlab.papers.deora2023.theory.smoothness import betas, gradient_bound, hessian_bound

FORMULAS = ("gradient_U", "gradient_W", "mixed", "hessian_W")
RATIOS = ("model_gradient", "model_hessian", "self_bounded", "smooth", "weakly_convex")
VARIANTS = ("printed", "corrected", "sharp")
SAMPLES = 2


def compare_formulas(cell: FormulaSettings, key: Key) -> Result:
    """Each formula of Lemma 1 against autodiff and central differences."""
    sizes = jnp.asarray(cell.scale)
    printed = jnp.asarray(cell.softmax == "printed")
    values = _compare((cell.T, cell.d), stream_key(key, "parameters"), sizes, printed)
    return Result({name: np.asarray(x) for name, x in values.items()})


@eqx.filter_jit
def _compare(
    shape: tuple[int, int], key: PRNGKeyArray, scale: Array, printed: Array
) -> dict[str, Array]:
    T, d = shape
    keys = jax.random.split(key, 7)
    X, U = (scale * normal(k, (T, d), 1.0) for k in keys[:2])
    W = scale * normal(keys[2], (d, d), d**-0.5)
    a, b, c = normal(keys[3], (T,), 1.0), normal(keys[4], (d,), 1.0), normal(keys[5], (d,), 1.0)
    stated = printed_formulas(X, U, W, (a, b, c), printed)

    def of_W(W: Array) -> Array:
        """The output, and the two gradients along fixed vectors: one program for all three."""
        gradient = jax.grad(head_output, argnums=(0, 1))(U, W, X)
        return jnp.stack([head_output(U, W, X), a @ gradient[0] @ b, c @ gradient[1] @ b])

    along_U, along_W = normal(keys[0], (T, d), 1.0), normal(keys[6], (d, d), 1.0)
    gradient_U = jax.grad(head_output)(U, W, X)
    exact = dict(zip(FORMULAS, (gradient_U, *jax.jacrev(of_W)(W)), strict=True))
    first = directional_difference(lambda x: head_output(x, W, X), U, along_U)
    others = directional_difference(of_W, W, along_W)
    values = {}
    for k, name in enumerate(FORMULAS):
        direction = along_U if k == 0 else along_W
        value, error = first if k == 0 else (others.value[k - 1], others.error[k - 1])
        slope = jnp.vdot(stated[name], direction)
        size = jnp.maximum(jnp.linalg.norm(exact[name]), 1.0)
        values[f"autodiff_error_{name}"] = jnp.linalg.norm(stated[name] - exact[name]) / size
        values[f"difference_error_{name}"] = jnp.abs(slope - value) / error
    return values


def printed_formulas(
    X: Float[Array, "T d"],
    U: Float[Array, "T d"],
    W: Float[Array, "d d"],
    vectors: tuple[Array, Array, Array],
    printed: Array,
) -> dict[str, Array]:
    """Lemma 1 term by term; with `printed`, phi' = diag(phi) - v v' as the notation has it."""
    a, b, c = vectors

    def terms(x: Array, u: Array, a_t: Array) -> tuple[Array, Array, Array, Array]:
        v = X @ W.T @ x
        phi = jax.nn.softmax(v)
        second = jnp.where(printed, jnp.outer(v, v), jnp.outer(phi, phi))
        slope = jnp.diag(phi) - second
        e = (X @ b) * (X @ u) - X @ u * (b @ X.T @ phi) - X @ b * (u @ X.T @ phi)
        return (
            phi @ X,
            jnp.outer(x, u @ X.T @ slope @ X),
            a_t * jnp.outer(x, b @ X.T @ slope @ X),
            (c @ x) * jnp.outer(x, e @ slope @ X),
        )

    of_U, of_W, mixed, of_WW = jax.vmap(terms)(X, U, a)
    return {
        "gradient_U": of_U,
        "gradient_W": of_W.sum(0),
        "mixed": mixed.sum(0),
        "hessian_W": of_WW.sum(0),
    }


# --- searches ---------------------------------------------------------------------------------


def ascend(cell: AscentSettings, key: Key) -> Result:
    """Ascend one quotient measured/bound over parameters and tokens, and report them all."""
    chosen = jnp.asarray([float(name == cell.objective) for name in RATIOS])
    steps = jnp.asarray(cell.steps)
    found = _ascend((cell.T, cell.d), stream_key(key, "parameters"), chosen, steps)
    return Result({name: float(x) for name, x in found.items()})


@eqx.filter_jit
def _ascend(
    shape: tuple[int, int], key: PRNGKeyArray, chosen: Array, steps: Array
) -> dict[str, Array]:
    T, d = shape
    keys = jax.random.split(key, 3)
    point = {
        "U": normal(keys[0], (T, d), 1.0),
        "W": normal(keys[1], (d, d), 1.0),
        "X": normal(keys[2], (SAMPLES, T, d), 1.0),
    }
    rule = optax.adam(0.03)

    def objective(point: dict[str, Array]) -> Array:
        values = quotients(measured(point), "sharp")
        logs = jnp.stack([jnp.log(jnp.maximum(values[name], 1e-12)) for name in RATIOS])
        return -chosen @ logs

    def step(_: Array, carry: Any) -> Any:
        point, memory, best, best_value = carry
        value, gradient = jax.value_and_grad(objective)(point)
        better = value < best_value
        best = jax.tree.map(lambda new, old: jnp.where(better, new, old), point, best)
        move, memory = rule.update(gradient, memory, point)
        return optax.apply_updates(point, move), memory, best, jnp.minimum(value, best_value)

    start = (point, rule.init(point), point, objective(point))
    _, _, best, _ = jax.lax.fori_loop(0, steps, step, start)
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


def measured(point: dict[str, Array]) -> Measured:
    """Proposition 1's quantities on the first sample, Corollary 1's (H = 1) on both."""
    U, W, X = point["U"], point["W"], point["X"]
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


def quotients(x: Measured, variant: Any) -> dict[str, Array]:
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
