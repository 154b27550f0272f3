"""The outcome of one training run."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int


class Ending(IntEnum):
    """Why a run ended."""

    FINISHED = 0
    TARGET_LOSS = 1
    DIVERGED = 2
    STEP_LIMIT = 3
    SOLVER_FAILED = 4


class Trajectory(eqx.Module):
    """Recorded times and named arrays of a run, its last state and why it ended.

    It is a pytree, so a run may be part of a larger compiled function; `ending` is then the
    number of an `Ending`. Records that were not reached are nan.
    """

    times: Float[Array, " k"]
    """Step numbers for descent, time for the flow; nan where not reached."""
    values: Mapping[str, Array]
    """Each with the k records first; `loss` is always there."""
    end_time: Float[Array, ""]
    """When the run ended: the time of the target loss, or the first step with a bad loss."""
    steps: Int[Array, ""]
    """Steps of descent, or attempted steps of the flow's solver."""
    state: Any
    ending: Int[Array, ""]

    @property
    def diverged(self) -> bool:
        """Whether the loss became infinite or nan."""
        return int(self.ending) == Ending.DIVERGED

    @property
    def complete(self) -> bool:
        """Whether the run went to its horizon or to its target."""
        return int(self.ending) in (Ending.FINISHED, Ending.TARGET_LOSS)

    @property
    def why(self) -> str:
        """Why the run ended, in a sentence."""
        time, steps = float(self.end_time), int(self.steps)
        return {
            Ending.FINISHED: f"reached the horizon {time:.6g} in {steps} steps",
            Ending.TARGET_LOSS: f"reached the target loss at {time:.6g} in {steps} steps",
            Ending.DIVERGED: f"the loss was first infinite or nan at {time:.6g}, after {steps} "
            "steps; lower the learning rate or the scale of the initialisation",
            Ending.STEP_LIMIT: f"stopped at time {time:.6g}: all {steps} solver steps allowed were "
            "taken; raise max_steps, shorten the horizon or raise rtol",
            Ending.SOLVER_FAILED: f"the solver gave up at time {time:.6g} after {steps} steps; "
            "raise rtol and atol, or shorten the horizon",
        }[Ending(int(self.ending))]


def as_floats(values: Mapping[str, Array]) -> dict[str, Array]:
    """Counts as floats too, so that a record that was not reached can be nan."""
    return {
        name: x if jnp.issubdtype(x.dtype, jnp.floating) else x.astype(float)
        for name, x in values.items()
    }


def blank_unreached(reached: Bool[Array, " k"], x: Float[Array, "k ..."]) -> Float[Array, "k ..."]:
    """Nan in the records that a run did not reach."""
    return jnp.where(reached.reshape(-1, *(1,) * (x.ndim - 1)), x, jnp.nan)
