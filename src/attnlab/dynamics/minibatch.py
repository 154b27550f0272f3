"""Mini-batch descent with an early stop at zero training loss, recorded at chosen steps.

Batches are drawn with replacement, so a batch may be larger than the training set. A run is one
compiled call. The engine must be able to give itself with other samples (`subset`) and to tell
whether its training loss is zero (`is_fitted`), which is asked only after a batch of zero loss and,
where such a batch leaves the state alone (plain descent), only once for a state.
"""

from typing import Any, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from attnlab.dynamics.descent import PlainStep, Update
from attnlab.dynamics.engine import Engine, Probe, no_probe
from attnlab.dynamics.trajectory import Ending, Trajectory, as_floats, blank_unreached


@runtime_checkable
class SampleEngine(Engine, Protocol):
    """An engine that knows its samples one by one."""

    size: Int[Array, ""]

    def subset(self, indices: Int[Array, " room"], size: Int[Array, ""]) -> "SampleEngine":
        """The engine with the first `size` of these samples."""
        ...

    def loss(self, state: Any) -> Float[Array, ""]:
        """The training loss."""
        ...

    def is_fitted(self, state: Any) -> Bool[Array, ""]:
        """Whether the training loss is zero."""
        ...


def batch_indices(
    key: PRNGKeyArray, step: Int[Array, ""], size: Int[Array, ""], room: int
) -> Int[Array, " room"]:
    """The samples of one step's batch: independent, uniform over the first `size`."""
    drawn = jax.random.uniform(jax.random.fold_in(key, step), (room,), jnp.float32)
    return jnp.minimum(jnp.floor(drawn * size).astype(size.dtype), size - 1)


def train(
    engine: SampleEngine,
    state: Any,
    update: Update,
    key: PRNGKeyArray,
    batch_size: Int[Array, ""],
    room: int,
    record_at: Int[Array, " k"],
    probe: Probe = no_probe,
    args: Any = None,
    stop_when_fitted: Bool[Array, ""] | bool = True,
) -> Trajectory:
    """Train by mini-batches; `probe(step, view, args)` before the steps given.

    `room` is the batch's room in the compiled program, `batch_size` how much of it is used.

    `end_time` is the first step at which the training loss was zero, if the run stopped for that;
    records after it are nan, except that the last record is always taken of the last state.
    """
    rests = isinstance(update, PlainStep)

    def go_on(carry: Any) -> Array:
        _, _, step, _, _, good, fitted, target = carry
        return good & ~fitted & (step < target)

    def one_step(carry: Any) -> Any:
        state, memory, step, changed, asked, good, fitted, target = carry
        batch = engine.subset(batch_indices(key, step, engine.size, room), batch_size)
        loss, moved, memory = update.apply(batch, state, memory)  # pyright: ignore[reportArgumentType]
        good = jnp.isfinite(loss)
        idle = loss == 0
        ask = idle & stop_when_fitted & ~(asked & rests)
        fitted = jax.lax.cond(ask, lambda: engine.is_fitted(state), lambda: jnp.asarray(False))
        changed = jnp.where(idle, changed, step + 1) if rests else step
        asked = idle & (asked | ask)
        return moved, memory, step + 1, changed, asked, good, fitted, target

    def until(carry: Any, target: Array) -> tuple[Any, tuple[Array, Any]]:
        carry = jax.lax.while_loop(go_on, one_step, (*carry, target))[:-1]
        state, _, step, _, _, good, fitted = carry
        last = target == record_at[-1]
        time = jnp.where(good & (last | ~fitted), step.astype(float), jnp.nan)
        values = {"loss": engine.loss(state), **probe(time, engine.view(state), args)}
        return carry, (time, as_floats(values))

    zero, no = jnp.zeros_like(record_at[0]), jnp.asarray(False)
    begin = (state, update.init(state), zero, zero, no, jnp.asarray(True), no)
    (state, _, step, changed, _, good, fitted), (times, values) = jax.lax.scan(
        until, begin, record_at
    )
    reached = jnp.isfinite(times)
    stopped = jnp.where(fitted, int(Ending.TARGET_LOSS), int(Ending.FINISHED))
    return Trajectory(
        times=times,
        values=jax.tree.map(lambda x: blank_unreached(reached, x), values),
        end_time=jnp.where(fitted, changed, step).astype(float),
        steps=step,
        state=state,
        ending=jnp.where(good, stopped, int(Ending.DIVERGED)),
    )


def as_plain(learning_rate: Any, dtype: Any) -> PlainStep:
    """Plain descent with the learning rate in the weights' precision."""
    return PlainStep(jnp.asarray(learning_rate, dtype))
