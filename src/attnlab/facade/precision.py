"""Double precision inside a call, whatever the process is set to: jax's own setting stays."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import PRNGKeyArray, PyTree

from attnlab.core import BadInput

P = ParamSpec("P")
R = TypeVar("R")


def in_double(function: Callable[P, R]) -> Callable[P, R]:
    """The function with jax in 64 bits while it runs."""

    @wraps(function)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with jax.enable_x64(True):
            return function(*args, **kwargs)

    return wrapped


def as_key(key: "PRNGKeyArray | int") -> PRNGKeyArray:
    """A random key: one of jax's, or a whole number."""
    if isinstance(key, bool | float):
        raise BadInput(f"got key={key!r}; give a whole number or jax.random.key(0)")
    if isinstance(key, int | np.integer):
        if key < 0:
            raise BadInput(f"got key={key}; give a whole number from 0 on, or jax.random.key(0)")
        return jax.random.key(int(key))
    array = getattr(key, "dtype", None)
    if array is None:
        raise BadInput(f"got key={key!r}; give a whole number or jax.random.key(0)")
    return key if jnp.issubdtype(array, jax.dtypes.prng_key) else _from_words(key)


def _from_words(key: "jax.Array | np.ndarray") -> PRNGKeyArray:
    if np.shape(key) == (2,) and np.asarray(key).dtype == np.uint32:
        return jax.random.wrap_key_data(jnp.asarray(key))  # as jax.random.PRNGKey(0) makes them
    raise BadInput(
        f"got a key of shape {np.shape(key)} and dtype {np.asarray(key).dtype}; give a whole "
        "number or jax.random.key(0)"
    )


def on_host(tree: PyTree) -> PyTree:
    """Arrays of numpy, which keep their precision outside a call."""
    return jax.tree.map(np.asarray, tree)
