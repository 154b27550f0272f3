"""Mini-batch descent with an early stop at zero training loss, recorded at chosen steps.

Batches are drawn with replacement, so a batch may be larger than the training set. A run is one
compiled call. The engine must be able to give itself with other samples (`subset`) and to tell
whether its training loss is zero (`is_fitted`), which is asked only after a batch of zero loss and,
where such a batch leaves the state alone (plain descent), only once for a state.
"""

from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray, PyTree

from attnlab.core import BadInput
from attnlab.training.engine import Engine, Probe, no_probe
from attnlab.training.trajectory import Ending, Trajectory, as_floats, blank_unreached
from attnlab.training.updates import PlainStep, Update


@runtime_checkable
class SampleEngine(Engine, Protocol):
    """An engine that knows its samples one by one."""

    size: Int[Array, ""]

    def subset(self, indices: Int[Array, " room"], size: Int[Array, ""]) -> "SampleEngine":
        """The engine with the first `size` of these samples."""
        ...

    def loss(self, state: PyTree) -> Float[Array, ""]:
        """The training loss."""
        ...

    def is_fitted(self, state: PyTree) -> Bool[Array, ""]:
        """Whether the training loss is zero."""
        ...


class MiniBatches(eqx.Module):
    """How mini-batches are drawn: independent samples, uniform over the training set."""

    key: PRNGKeyArray
    size: Int[Array, ""] = eqx.field(converter=jnp.asarray)
    room: int = eqx.field(static=True)
    """The batch's room in the compiled program, of which `size` is used."""
    replacement: Bool[Array, ""] | None = None
    """Whether a batch may hold a sample twice, where that is a choice; None is True. Without, a
    batch that is larger than the training set is the whole set."""
    capacity: int = eqx.field(static=True, default=0)
    """Samples that the engine has room for, where `replacement` is a choice."""

    def drawn(
        self, step: Int[Array, ""], n: Int[Array, ""]
    ) -> tuple[Int[Array, " room"], Int[Array, ""]]:
        """The samples of one step's batch, of the first `n`, and how many of them count."""

        def independent() -> Int[Array, " room"]:
            return batch_indices(self.key, step, n, self.room)

        def distinct() -> Int[Array, " room"]:
            order = jax.random.uniform(
                jax.random.fold_in(self.key, step), (self.capacity,), jnp.float32
            )
            first = jnp.where(jnp.arange(self.capacity) < n, order, 2.0).argsort()
            return jnp.resize(first, (self.room,)).astype(n.dtype)

        if self.replacement is None:
            return independent(), self.size
        size = jnp.where(self.replacement, self.size, jnp.minimum(self.size, n))
        return jax.lax.cond(self.replacement, independent, distinct), size


def batch_indices(
    key: PRNGKeyArray, step: Int[Array, ""], size: Int[Array, ""], room: int
) -> Int[Array, " room"]:
    """The samples of one step's batch: independent, uniform over the first `size`."""
    drawn = jax.random.uniform(jax.random.fold_in(key, step), (room,), jnp.float32)
    return jnp.minimum(jnp.floor(drawn * size).astype(size.dtype), size - 1)


Carried = tuple[PyTree, PyTree, Array, Array, Array, Array, Array]
"""What goes from record to record: state, memory, step, the step after the last change, whether
the state was asked, whether the loss is finite, and whether the state is fitted."""


def descend_in_batches(
    engine: Engine,
    state: PyTree,
    update: Update,
    batches: MiniBatches,
    record_at: Int[Array, " k"],
    probe: Probe = no_probe,
    args: PyTree = None,
    stop_when_fitted: Bool[Array, ""] | bool = True,
) -> Trajectory:
    """Train by mini-batches; `probe(step, view, args)` before the steps given.

    `end_time` is the first step at which the training loss was zero, if the run stopped for that;
    records after it are nan, except that the last record is always taken of the last state.
    """
    if not isinstance(engine, SampleEngine):
        raise BadInput(
            f"got mini-batches with the engine {type(engine).__name__}, which does not know its "
            "samples one by one; take full batches, or engine='autodiff'"
        )
    rests = isinstance(update, PlainStep)

    def go_on(carry: tuple[*Carried, Array]) -> Array:
        _, _, step, _, _, good, fitted, target = carry
        return good & ~fitted & (step < target)

    def one_step(carry: tuple[*Carried, Array]) -> tuple[*Carried, Array]:
        state, memory, step, changed, asked, good, fitted, target = carry
        drawn, size = batches.drawn(step, engine.size)
        batch = engine.subset(drawn, size)
        loss, moved, memory = update.apply(batch, state, memory)  # pyright: ignore[reportArgumentType]
        good = jnp.isfinite(loss)
        idle = loss == 0
        ask = idle & stop_when_fitted & ~(asked & rests)
        fitted = jax.lax.cond(ask, lambda: engine.is_fitted(state), lambda: jnp.asarray(False))
        changed = jnp.where(idle, changed, step + 1) if rests else step
        asked = idle & (asked | ask)
        return moved, memory, step + 1, changed, asked, good, fitted, target

    def until(carry: Carried, target: Array) -> tuple[Carried, tuple[Array, dict[str, Array]]]:
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
