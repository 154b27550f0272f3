"""What a model is: weights by a named scheme, outputs, and where its attention goes.

A model is its sizes and switches, without weights. `init` draws them for a batch by a *scheme*,
which every model has a table of: a scheme of your own is an entry of it,

    ShallowViT.schemes["mine"] = lambda key, model, batch: Weights(trained, fixed)

Whatever is fixed in training (an output layer of signs) stands apart from what is trained, so that
an optimiser sees the latter alone. Models act on token vectors (n, L, d); words are unit vectors,
and engines that know better never form them.
"""

from collections.abc import Callable, Mapping
from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, PRNGKeyArray, PyTree

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.tables import entry

AUTO = "auto"


class Weights(NamedTuple):
    """The parameters of a model."""

    trained: PyTree
    """A named tuple of arrays: what an optimiser moves."""
    fixed: PyTree = ()


Scheme = Callable[..., Weights]
"""`(key, model, batch, **numbers) -> Weights`."""


@runtime_checkable
class Model(Protocol):
    """A network with attention and one output a sample; a deep one may have one output a class."""

    schemes: ClassVar[dict[str, Scheme]]
    attention_names: ClassVar[tuple[str, ...]]
    """The trained arrays that act through the attention weights alone."""

    def init(
        self, key: PRNGKeyArray, batch: Batch, scheme: str = AUTO, **numbers: float
    ) -> Weights:
        """The first weights for samples like these, by the scheme of this name."""
        ...

    def apply(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
    ) -> Float[Array, " n"]:
        """The output on every sample; `score_gain` 0 makes the attention uniform."""
        ...

    def attention(
        self,
        weights: Weights,
        X: Float[Array, "n L d"],
        kept: Bool[Array, "n L"],
        score_gain: float | Float[Array, ""] = 1.0,
    ) -> Float[Array, "n H L L"]:
        """What query place l (third axis) pays to key place s (last axis), by head."""
        ...

    def values(self, weights: Weights, X: Float[Array, "n L d"]) -> Float[Array, "n H L v"]:
        """The value vector of each token, by head."""
        ...

    def view(self, weights: Weights, start: Weights, score_gain: Float[Array, ""]) -> PyTree:
        """What probes of this model read."""
        ...


def drawn_by(
    model: Model, scheme: str, key: PRNGKeyArray, batch: Batch, numbers: Mapping[str, float]
) -> Weights:
    """The weights by the scheme of this name, or a sentence."""
    drawn = entry(model.schemes, scheme, f"scheme of {type(model).__name__}")
    try:
        return drawn(key, model, batch, **numbers)
    except TypeError as error:
        if "unexpected keyword" not in str(error):
            raise
        given = ", ".join(numbers)
        raise BadInput(f"the scheme {scheme} takes other numbers than {given}: {error}") from None


def masked_softmax(
    scores: Float[Array, "*batch L S"], kept: Bool[Array, "*batch S"]
) -> Float[Array, "*batch L S"]:
    """The softmax over the tokens that are kept."""
    return jax.nn.softmax(jnp.where(kept[..., None, :], scores, -jnp.inf), axis=-1)
