"""Gradient descent, plain or by any optax transformation, recorded at chosen steps.

A run is one compiled call: a scan over the records, each a loop of as many steps as lie between
two of them. Which steps are recorded is data, so another list of the same length costs no
compilation.
"""

from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
from jaxtyping import Array, Float, Int, PyTree

from attnlab.core import BadInput
from attnlab.dynamics.engine import Engine, Probe, no_probe
from attnlab.dynamics.trajectory import Ending, Trajectory, as_floats, blank_unreached


@runtime_checkable
class Update(Protocol):
    """How a state moves in one step."""

    def init(self, state: Any) -> PyTree:
        """What the rule remembers, at the start."""
        ...

    def apply(self, engine: Engine, state: Any, memory: PyTree) -> tuple[Array, Any, PyTree]:
        """The loss before the step, the state after it, and the memory after it."""
        ...


class PlainStep(eqx.Module):
    """Plain gradient descent, by the engine's own step (exact for reduced engines too)."""

    learning_rate: Float[Array, ""] = eqx.field(converter=jnp.asarray)

    def init(self, state: Any) -> PyTree:
        """Nothing to remember."""
        del state
        return ()

    def apply(self, engine: Engine, state: Any, memory: PyTree) -> tuple[Array, Any, PyTree]:
        """One step."""
        loss, state = engine.step(state, self.learning_rate)
        return loss, state, memory


class OptaxStep(eqx.Module):
    """Any optax rule, e.g. `OptaxStep(optax.adam, {"learning_rate": 1e-3})`.

    The rule is built inside the compiled run, so its hyperparameters are data: another learning
    rate costs no compilation. The engine's state must be what the rule acts on (the weights).
    """

    rule: Callable[..., optax.GradientTransformation] = eqx.field(static=True)
    hyperparameters: Mapping[str, Array] = eqx.field(
        converter=lambda given: {name: jnp.asarray(x) for name, x in given.items()}
    )

    def init(self, state: Any) -> PyTree:
        """The rule's own memory."""
        return self.rule(**self.hyperparameters).init(state)

    def apply(self, engine: Engine, state: Any, memory: PyTree) -> tuple[Array, Any, PyTree]:
        """One step."""
        loss, field = engine.loss_and_field(state)
        gradient = jax.tree.map(jnp.negative, field)
        move, memory = self.rule(**self.hyperparameters).update(gradient, memory, state)
        return loss, optax.apply_updates(state, move), memory


def log_spaced_steps(last: int, count: int) -> Int[np.ndarray, " k"]:
    """At most `count` step numbers, about evenly spaced in the logarithm, with 0 and the last."""
    if last < 1 or count < 2:
        raise BadInput(
            f"got {count} records of {last} steps; at least 2 records and 1 step are required"
        )
    return np.unique(np.r_[0, np.round(np.geomspace(1, last, count - 1)).astype(np.int64), last])


@eqx.filter_jit
def descend(
    engine: Engine,
    state: Any,
    update: Update,
    record_at: Int[np.ndarray | Array, " k"],
    probe: Probe = no_probe,
    args: Any = None,
) -> Trajectory:
    """Train, and call `probe(step, view, args)` before the steps with the given numbers.

    `record_at` increases; the run ends at its last entry. As soon as the loss is infinite or nan
    no step is taken any more: `end_time` is the first such step, and later records are nan.
    """
    record_at = jnp.asarray(record_at)

    def go_on(carry: Any) -> Array:
        _, _, step, good, target = carry
        return good & (step < target)

    def one_step(carry: Any) -> Any:
        state, memory, step, _, target = carry
        loss, moved, memory = update.apply(engine, state, memory)
        good = jnp.isfinite(loss)
        # A bad loss belongs to the state before the move: the count stays at that state.
        return moved, memory, jnp.where(good, step + 1, step), good, target

    def until(carry: Any, target: Array) -> tuple[Any, tuple[Array, Any]]:
        state, memory, step, good = carry
        state, memory, step, good, _ = jax.lax.while_loop(
            go_on, one_step, (state, memory, step, good, target)
        )
        loss, _ = engine.loss_and_field(state)
        good = good & jnp.isfinite(loss)
        time = jnp.where(good, step.astype(float), jnp.nan)
        values = as_floats({"loss": loss, **probe(time, engine.view(state), args)})
        return (state, memory, step, good), (time, values)

    begin = (state, update.init(state), jnp.zeros_like(record_at[0]), jnp.asarray(True))
    (state, _, step, good), (times, values) = jax.lax.scan(until, begin, record_at)
    reached = jnp.isfinite(times)
    return Trajectory(
        times=times,
        values=jax.tree.map(lambda x: blank_unreached(reached, x), values),
        end_time=step.astype(float),
        steps=step,
        state=state,
        ending=jnp.where(good, int(Ending.FINISHED), int(Ending.DIVERGED)),
    )
