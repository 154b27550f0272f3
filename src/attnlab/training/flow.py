r"""Gradient flow $\dot\theta = -\nabla L(\theta)$ by an adaptive explicit solver (diffrax).

What is integrated is the change from the start, $y = (\theta - \theta_0)/\text{units}$: the
solver's absolute tolerance then bounds the error of the *change*, which for attention scores can
be a tiny part of the whole. The equations are only mildly stiff, and an implicit solver was
hundreds of times slower.
"""

import diffrax
import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optimistix
from jaxtyping import Array, Float, PyTree, Real

from attnlab.training.engine import Engine, Probe, no_probe
from attnlab.training.trajectory import Ending, Trajectory, as_floats, blank_unreached

EVENT_TOLERANCE = 1e-12
NO_TARGET = 1e-300
"""A target loss that is never met: a run without a target in the program of runs with one."""


def log_spaced_times(first: float, last: Float[Array, ""], count: int) -> Float[Array, " count"]:
    """So many times: 0, then evenly spaced in the logarithm from the first to the last."""
    part = np.linspace(0, 1, count - 1)
    return jnp.concatenate([jnp.zeros(1), first * (last / first) ** part])


def flow(
    engine: Engine,
    state: PyTree,
    times: Real[np.ndarray | Array, " k"],
    probe: Probe = no_probe,
    args: PyTree = None,
    *,
    rtol: float | Array = 1e-6,
    atol: float | Array = 1e-8,
    max_steps: int = 100_000,
    target_loss: float | Array | None = None,
    units: PyTree | None = None,
    solver: diffrax.AbstractSolver | None = None,
    controller: diffrax.AbstractStepSizeController | None = None,
    first_step: float | Array | None = None,
) -> Trajectory:
    """Follow the flow from `times[0]` to `times[-1]`, and call `probe(t, view, args)` at `times`.

    With `target_loss` the run ends where the loss first comes down to it, found as a root within
    the solver's step; `end_time` is that time, and later records are nan. If the loss is at the
    target already, `end_time` is `times[0]` and the run goes on to its horizon. Too many solver
    steps are an `Ending`, not an exception. `units` (a pytree like the state) are the natural
    sizes of the changes. `solver`, `controller` and `first_step` are for studies of the solver.
    """
    # As arrays, these numbers are data: another tolerance or target costs no compilation.
    relative, absolute = jnp.asarray(rtol, float), jnp.asarray(atol, float)
    return _flow(
        engine,
        state,
        jnp.asarray(times, float),
        probe,
        args,
        units=jax.tree.map(jnp.ones_like, state) if units is None else units,
        target_loss=None if target_loss is None else jnp.asarray(target_loss, float),
        solver=solver or diffrax.Tsit5(),
        controller=controller or diffrax.PIDController(rtol=relative, atol=absolute),
        first_step=None if first_step is None else jnp.asarray(first_step, float),
        max_steps=max_steps,
    )


@eqx.filter_jit
def _flow(
    engine: Engine,
    state: PyTree,
    times: Float[Array, " k"],
    probe: Probe,
    args: PyTree,
    *,
    units: PyTree,
    target_loss: Float[Array, ""] | None,
    solver: diffrax.AbstractSolver,
    controller: diffrax.AbstractStepSizeController,
    first_step: Float[Array, ""] | None,
    max_steps: int,
) -> Trajectory:
    def state_of(y: PyTree) -> PyTree:
        return jax.tree.map(lambda start, unit, change: start + unit * change, state, units, y)

    def right_hand_side(t: Array, y: PyTree, args: PyTree) -> PyTree:
        del t, args
        _, field = engine.loss_and_field(state_of(y))
        return jax.tree.map(lambda unit, x: x / unit, units, field)

    def record(t: Array, y: PyTree, args: PyTree) -> dict[str, Array]:
        now = state_of(y)
        loss, _ = engine.loss_and_field(now)
        return as_floats({"loss": loss, **probe(t, engine.view(now), args)})

    event = None
    if target_loss is not None:

        def above_target(t: Array, y: PyTree, args: PyTree, **_: object) -> Array:
            del t, args
            # In logarithms the loss is close to a straight line, early and late.
            return jnp.log(engine.loss_and_field(state_of(y))[0]) - jnp.log(target_loss)

        bisection = optimistix.Bisection(EVENT_TOLERANCE, EVENT_TOLERANCE, flip="detect")
        event = diffrax.Event(above_target, root_finder=bisection)
    solution = diffrax.diffeqsolve(
        diffrax.ODETerm(right_hand_side),  # pyright: ignore[reportArgumentType]
        solver,
        t0=times[0],
        t1=times[-1],
        dt0=first_step,
        y0=jax.tree.map(jnp.zeros_like, state),
        args=args,
        saveat=diffrax.SaveAt(
            subs=[diffrax.SubSaveAt(ts=times, fn=record), diffrax.SubSaveAt(t1=True)]
        ),
        stepsize_controller=controller,
        event=event,
        # Forward only: no memory for a backward pass through the solver.
        adjoint=diffrax.ForwardMode(),
        max_steps=max_steps,
        throw=False,
    )
    assert solution.ts is not None
    assert solution.ys is not None
    (_, end_times), (values, changes) = solution.ts, solution.ys
    final = state_of(jax.tree.map(lambda y: y[0], changes))
    end_time = end_times[0]
    ending = _ending(solution.result, engine.loss_and_field(final)[0])
    reached = times <= end_time
    if target_loss is not None:
        at_once = engine.loss_and_field(state)[0] <= target_loss
        end_time = jnp.where(at_once, times[0], end_time)
        ending = jnp.where(at_once, int(Ending.TARGET_LOSS), ending)
    return Trajectory(
        times=jnp.where(reached, times, jnp.nan),
        values=jax.tree.map(lambda x: blank_unreached(reached, x), values),
        end_time=end_time,
        steps=solution.stats["num_steps"],
        state=final,
        ending=ending,
    )


def _ending(result: diffrax.RESULTS, loss: Float[Array, ""]) -> Array:
    codes = [
        (~jnp.isfinite(loss), Ending.DIVERGED),
        (result == diffrax.RESULTS.successful, Ending.FINISHED),
        (result == diffrax.RESULTS.event_occurred, Ending.TARGET_LOSS),
        (result == diffrax.RESULTS.max_steps_reached, Ending.STEP_LIMIT),
    ]
    return jnp.select(
        [condition for condition, _ in codes],
        [jnp.asarray(int(ending)) for _, ending in codes],
        int(Ending.SOLVER_FAILED),
    )
