"""What the engines on words share: one kind of view, rows for probes, and how to follow a flow."""

from typing import Protocol, TypedDict, TypeVar

import diffrax
from jaxtyping import Array, Float, PyTree

from attnlab.data.batch import Batch
from attnlab.models.word_level import WordView

State = TypeVar("State")


class FlowSettings(TypedDict, total=False):
    """What an engine tells `training.flow.flow`, whose parameters these are."""

    rtol: float | Array
    atol: float | Array
    units: PyTree
    controller: diffrax.PIDController


class WordEngine(Protocol[State]):
    """An `attnlab.training.engine.Engine` whose view is of words."""

    def loss_and_field(self, state: State) -> tuple[Float[Array, ""], State]:
        """The training loss and its negative gradient."""
        ...

    def step(self, state: State, learning_rate: Float[Array, ""]) -> tuple[Float[Array, ""], State]:
        """The loss before, and the state after, one step of gradient descent."""
        ...

    def view(self, state: State) -> WordView:
        """The word-level quantities."""
        ...

    def rows_of(self, batch: Batch) -> Batch:
        """The batch with the places of its words in a view."""
        ...

    def flow_settings(
        self, state: State, rtol: float | Array = 1e-6, atol: float | Array = 1e-8
    ) -> FlowSettings:
        """What to give `training.flow.flow` for this engine."""
        ...
