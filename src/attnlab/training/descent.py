"""Gradient descent, full or by mini-batches, plain or by any optax rule, recorded at chosen steps.

A run is one compiled call: a scan over the records, each a loop of as many steps as lie between
two of them. Which steps are recorded is data, so another list of the same length costs no
compilation.
"""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Int, PyTree

from attnlab.core import BadInput
from attnlab.training.engine import Engine, Probe, no_probe
from attnlab.training.minibatch import MiniBatches, descend_in_batches
from attnlab.training.trajectory import Ending, Trajectory, as_floats, blank_unreached
from attnlab.training.updates import OptaxStep as OptaxStep
from attnlab.training.updates import PlainStep as PlainStep
from attnlab.training.updates import Update as Update
from attnlab.training.updates import require_exact


def log_spaced_steps(last: int, count: int) -> Int[np.ndarray, " k"]:
    """At most `count` step numbers, about evenly spaced in the logarithm, with 0 and the last."""
    if last < 1 or count < 2:
        raise BadInput(
            f"got {count} records of {last} steps; at least 2 records and 1 step are required"
        )
    return np.unique(np.r_[0, np.round(np.geomspace(1, last, count - 1)).astype(np.int64), last])


Carried = tuple[PyTree, PyTree, Array, Array]
"""What goes from record to record: state, memory, step, and whether the loss is finite."""


@eqx.filter_jit
def descend(
    engine: Engine,
    state: PyTree,
    update: Update,
    record_at: Int[np.ndarray | Array, " k"],
    probe: Probe = no_probe,
    args: PyTree = None,
    *,
    batches: MiniBatches | None = None,
    stop_when_fitted: Bool[Array, ""] | bool = False,
) -> Trajectory:
    """Train, and call `probe(step, view, args)` before the steps with the given numbers.

    `record_at` increases; the run ends at its last entry. As soon as the loss is infinite or nan
    no step is taken any more: `end_time` is the first such step, and later records are nan. With
    `batches` each step sees a mini-batch; then a run may also stop where the training loss is zero
    (`minibatch` has the details).
    """
    require_exact(engine, update)
    record_at = jnp.asarray(record_at)
    if batches is not None:
        return descend_in_batches(
            engine, state, update, batches, record_at, probe, args, stop_when_fitted
        )
    if stop_when_fitted is not False:
        raise BadInput("a stop at zero training loss is for mini-batches; give batches")

    def go_on(carry: tuple[*Carried, Array]) -> Array:
        _, _, step, good, target = carry
        return good & (step < target)

    def one_step(carry: tuple[*Carried, Array]) -> tuple[*Carried, Array]:
        state, memory, step, _, target = carry
        loss, moved, memory = update.apply(engine, state, memory)
        good = jnp.isfinite(loss)
        # A bad loss belongs to the state before the move: the count stays at that state.
        return moved, memory, jnp.where(good, step + 1, step), good, target

    def until(carry: Carried, target: Array) -> tuple[Carried, tuple[Array, dict[str, Array]]]:
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
