"""Lemma 1 three ways: each formula against autodiff and central differences."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, PRNGKeyArray

from attnlab.core import Key, Result
from attnlab.models.multihead import head_output
from attnlab.numerics.derivatives import directional_difference
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.deora2023.settings.landscape import FormulaSettings
from attnlab.training.inputs import Inputs, compiled

FORMULAS = ("gradient_U", "gradient_W", "mixed", "hessian_W")


def compare_formulas(cell: FormulaSettings, key: Key) -> Result:
    """Each formula of Lemma 1 against autodiff and central differences."""
    values = _compare(compiled(cell), stream_key(key, "parameters"))
    return Result({name: np.asarray(x) for name, x in values.items()})


@eqx.filter_jit
def _compare(inputs: Inputs, key: PRNGKeyArray) -> dict[str, Array]:
    T, d, scale = inputs.T, inputs.d, inputs.scale
    keys = jax.random.split(key, 7)
    X, U = (scale * normal(k, (T, d), 1.0) for k in keys[:2])
    W = scale * normal(keys[2], (d, d), d**-0.5)
    a, b, c = normal(keys[3], (T,), 1.0), normal(keys[4], (d,), 1.0), normal(keys[5], (d,), 1.0)
    stated = printed_formulas(X, U, W, (a, b, c), inputs.softmax.is_("printed"))

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
