"""The outcome of one training run."""

from collections.abc import Mapping
from enum import IntEnum

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PyTree
from numpy.typing import ArrayLike


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
    state: PyTree
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


def absent_throughout(series: Mapping[str, np.ndarray]) -> frozenset[str]:
    """Series with places that are nan at every record: what the data do not have, as a type.

    Each has the records first. A nan that comes later than the first record is none of these.
    """
    lost = {name: np.isnan(x) for name, x in series.items() if np.ndim(x)}
    return frozenset(name for name, x in lost.items() if x.any() and (x == x[0]).all())


def nan_names(scalars: Mapping[str, ArrayLike]) -> frozenset[str]:
    """The names of the values that hold a nan."""
    return frozenset(name for name, x in scalars.items() if np.isnan(x).any())


def overflow(series: Mapping[str, np.ndarray]) -> str:
    """A sentence on the first record, at `times`, with a bad number or a loss of 0; or nothing."""
    times = series["times"]
    for name, x in series.items():
        finite = np.isfinite(x.reshape(len(times), -1)).all(axis=1)
        if not finite.all():
            words, step = name.replace("_", " "), times[int(np.argmin(finite))]
            return f"{words} was first infinite or nan at {step:.6g}; lower the learning rate"
    zero = series["loss"] == 0
    if zero.any():
        return (
            f"the loss was first 0, below the smallest number there is, at "
            f"{times[int(np.argmax(zero))]:.6g}: nothing is measured over it; lower the learning "
            "rate or the number of steps"
        )
    return ""
