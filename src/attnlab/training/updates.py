"""How a state moves in one step: plain descent, or any optax rule."""

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from jaxtyping import Array, Float, PyTree

from attnlab.core import BadInput
from attnlab.training.engine import Engine


@runtime_checkable
class Update(Protocol):
    """How a state moves in one step."""

    def init(self, state: PyTree) -> PyTree:
        """What the rule remembers, at the start."""
        ...

    def apply(self, engine: Engine, state: PyTree, memory: PyTree) -> tuple[Array, PyTree, PyTree]:
        """The loss before the step, the state after it, and the memory after it."""
        ...


class PlainStep(eqx.Module):
    """Plain gradient descent, by the engine's own step (exact for reduced engines too)."""

    learning_rate: Float[Array, ""] = eqx.field(converter=jnp.asarray)

    def init(self, state: PyTree) -> PyTree:
        """Nothing to remember."""
        del state
        return ()

    def apply(self, engine: Engine, state: PyTree, memory: PyTree) -> tuple[Array, PyTree, PyTree]:
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

    @property
    def reads_weights(self) -> bool:
        """Whether a move depends on the weights beside the gradient, as weight decay does.

        optax makes no such move without them: so a rule of one's own need not say it.
        """
        rule = self.rule(**self.hyperparameters)
        try:
            jax.eval_shape(lambda g: rule.update(g, rule.init(g), None)[0], jnp.zeros(1))
        except (ValueError, AttributeError, TypeError):  # a rule that looks into what is not there
            return True
        return False

    def init(self, state: PyTree) -> PyTree:
        """The rule's own memory."""
        return self.rule(**self.hyperparameters).init(state)

    def apply(self, engine: Engine, state: PyTree, memory: PyTree) -> tuple[Array, PyTree, PyTree]:
        """One step."""
        loss, field = engine.loss_and_field(state)
        gradient = jax.tree.map(jnp.negative, field)
        move, memory = self.rule(**self.hyperparameters).update(gradient, memory, state)
        return loss, optax.apply_updates(state, move), memory


def require_exact(engine: Engine, update: Update) -> None:
    """Refuse a rule that is not descent on the weights where the state is not the weights."""
    if not isinstance(update, OptaxStep):
        return
    name = type(engine).__name__
    if not getattr(engine, "state_is_weights", True):
        raise BadInput(
            f"got an optax rule with the engine {name}, whose state is a reduction of the weights: "
            "on it the rule would not be the rule on the weights; take plain descent (sgd), or an "
            "engine on the weights"
        )
    if getattr(engine, "state_is_moves", False) and update.reads_weights:
        raise BadInput(
            f"got a rule with weight decay with the engine {name}, whose state is how far the "
            "weights have moved: it would decay the moves; take engine='autodiff'"
        )
