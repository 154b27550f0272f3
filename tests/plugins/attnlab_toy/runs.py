"""The one run of the toy paper."""

import os
import signal
import time

import jax
import jax.numpy as jnp

from attnlab.core import Key, Result
from attnlab_toy.settings import ToySettings

LARGEST = 1e6


def descend(cell: ToySettings, key: Key) -> Result:
    """Descend and report sizes, the factor per step and the gap to the flow."""
    _provoke(cell, key)
    draw = jax.random.wrap_key_data(jnp.asarray(key.words("start"), jnp.uint32))
    sizes = (cell.eta, cell.curvature, cell.spread, cell.steps)
    values = _descend(draw, *sizes, cell.dimension, cell.method, cell.engine)
    values = {name: value.item() for name, value in values.items()}
    grown = values["distance"] > LARGEST * values["start"]
    return Result(values, diverged="the distance grew a millionfold" if grown else "")


@jax.jit(static_argnames=("dimension", "method", "engine"))
def _descend(draw, eta, curvature, spread, steps, dimension: int, method: str, engine: str):
    start_draw, curvature_draw = jax.random.split(draw)
    x = jax.random.normal(start_draw, (dimension,), jnp.float64)
    rate = curvature * jnp.exp(spread * jax.random.normal(curvature_draw, (), jnp.float64))
    factor = 1 - eta * rate
    if method == "midpoint":
        factor += (eta * rate) ** 2 / 2
    if engine == "closed_form":
        end = x * factor**steps
    else:
        end = jax.lax.fori_loop(0, steps, lambda _, y: y * factor, x)
    start, distance = jnp.linalg.norm(x), jnp.linalg.norm(end)
    return {
        "start": start,
        "distance": distance,
        "rate": rate,
        "factor": (distance / start) ** (1 / steps),
        "gap": jnp.linalg.norm(end - x * jnp.exp(-rate * steps * eta)) / start,
    }


def _provoke(cell: ToySettings, key: Key) -> None:
    time.sleep(cell.sleep)
    if key.seed != cell.fault_seed:
        return
    if cell.fault == "exception":
        raise ArithmeticError("the fault that was asked for")
    if cell.fault == "memory":
        raise MemoryError
    if cell.fault == "timeout":
        time.sleep(3600)
    if cell.fault in ("segfault", "killed"):
        os.kill(os.getpid(), signal.SIGSEGV if cell.fault == "segfault" else signal.SIGKILL)
