"""A training run that is ready to go: model, samples, engine with its first state, and a rule.

What `train` of the facade takes from a paper, and what `start` and `descend` make of own arrays.
A paper's `prepare(cell, key) -> Setup` makes the run of its studies in these terms.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import PyTree

from attnlab.data.batch import Batch
from attnlab.models.protocol import Weights
from attnlab.training.descent import descend
from attnlab.training.engine import Engine, Probe, no_probe
from attnlab.training.flow import flow
from attnlab.training.minibatch import MiniBatches
from attnlab.training.trajectory import Trajectory
from attnlab.training.updates import Update


@dataclass(frozen=True)
class Setup:
    """One run before it is made."""

    model: Any
    batch: Batch
    """The training samples."""
    engine: Engine
    state: PyTree
    weights_of: Callable[[PyTree], "Weights | str"]
    """The model's weights from a state; a sentence where the engine does not keep them."""
    fixed: PyTree = ()
    """What of the weights is not trained."""
    test: Batch | None = None
    engine_name: str = ""
    loss: str = "logistic"
    score_gain: float = 1.0
    roles: tuple[str, ...] = ()
    update: Update | None = None
    """How it descends; None for the flow."""
    record_at: np.ndarray = field(default_factory=lambda: np.array([0, 1]))
    """Steps, or times of the flow."""
    batches: MiniBatches | None = None
    stop_when_fitted: bool = False
    flow_options: dict[str, Any] = field(default_factory=dict)

    @property
    def probed(self) -> Batch:
        """The training samples as the engine numbers their words."""
        rows_of = getattr(self.engine, "rows_of", None)
        return self.batch if rows_of is None else rows_of(self.batch)

    @property
    def probed_test(self) -> Batch | None:
        """The test samples in the same way."""
        rows_of = getattr(self.engine, "rows_of", None)
        return self.test if rows_of is None or self.test is None else rows_of(self.test)


def trained(setup: Setup, probe: Probe = no_probe, args: PyTree = None) -> Trajectory:
    """Make the run."""
    if setup.update is None:
        times = jnp.asarray(setup.record_at)
        return flow(setup.engine, setup.state, times, probe, args, **setup.flow_options)
    return descend(
        setup.engine,
        setup.state,
        setup.update,
        setup.record_at,
        probe,
        args,
        batches=setup.batches,
        stop_when_fitted=setup.stop_when_fitted and setup.batches is not None,
    )
