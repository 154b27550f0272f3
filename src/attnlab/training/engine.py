"""What an engine is, and what a probe is.

An engine is one exact way to compute a training run: on the weights, or on a reduction of them.
It is a pytree (an `equinox.Module`) whose data and masks are array leaves, so that they reach a
compiled program as arguments and never as constants. Its module has a function that draws the
engine together with its first state. Engines of one model give the same kind of view, so they
share probes.
"""

from collections.abc import Callable, Mapping
from typing import Protocol, TypeVar, runtime_checkable

from jaxtyping import Array, Float, PyTree

State = TypeVar("State")

Named = Mapping[str, Array]
Probe = Callable[[Float[Array, ""], PyTree, PyTree], Named]
"""`(t, view, args) -> named arrays`. Define probes once, at module level: a compiled run is
reused only for the very same function object."""


@runtime_checkable
class Engine(Protocol[State]):
    """One exact way to compute a run."""

    def loss_and_field(self, state: State) -> tuple[Float[Array, ""], State]:
        """The training loss and its negative gradient, the right-hand side of the flow."""
        ...

    def step(self, state: State, learning_rate: Float[Array, ""]) -> tuple[Float[Array, ""], State]:
        """The loss before, and the state after, one step of plain gradient descent."""
        ...

    def view(self, state: State) -> PyTree:
        """What probes read."""
        ...


def no_probe(t: Float[Array, ""], view: PyTree, args: PyTree) -> Named:
    """Record nothing but the training loss."""
    del t, view, args
    return {}


def together(*probes: Probe) -> Probe:
    """One probe that records what all of these do."""

    def probe(t: Float[Array, ""], view: PyTree, args: PyTree) -> Named:
        return {name: x for one in probes for name, x in one(t, view, args).items()}

    return probe


def applied_to(select: Callable[[PyTree], PyTree], probe: Probe, prefix: str = "") -> Probe:
    """The probe on a part of `args`, its names with a prefix (e.g. the test samples)."""

    def selected(t: Float[Array, ""], view: PyTree, args: PyTree) -> Named:
        return {prefix + name: x for name, x in probe(t, view, select(args)).items()}

    return selected
