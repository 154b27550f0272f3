r"""The engine `classes`: a model with one output a class, on cross-entropy, by reverse mode.

$$\hat L(\theta) = \frac1n \sum_i \Big(\log\sum_c e^{F_c(X_i)} - F_{y_i}(X_i)\Big)$$

The state is the trained weights. Mini-batches are gathered from samples that stay where they are,
so that the training set is not copied; the loss of all of them goes by rows of `CHUNK`.

Legend: $y_i$ the class of sample i, counted from 0; $F_c$ the model's output for class c.
"""

from collections.abc import Callable
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int, PyTree

from attnlab.data.batch import Batch
from attnlab.models.deep_vit_model import DeepViT
from attnlab.models.protocol import Weights

CHUNK = 100
"""Samples that are looked at together when all of them are: their maps fit into memory."""


class Classes(eqx.Module):
    """A model on samples with classes. Make one by `on_batch`."""

    model: DeepViT
    tokens: Float[Array, "n L d"]
    labels: Int[Array, " n"]
    kept: Bool[Array, "n L"]
    places: Int[Array, "n L"]
    size: Int[Array, ""]
    """How many of the rows count: the first ones."""
    fixed: PyTree
    first: PyTree

    state_is_weights: ClassVar[bool] = True

    def outputs(self, state: PyTree) -> Float[Array, "n C"]:
        """One number a class for every row."""
        return self.model.apply(
            Weights(state, self.fixed), self.tokens, self.kept, places=self.places
        )

    def losses(self, state: PyTree) -> Float[Array, " n"]:
        """The cross-entropy of every row."""
        outputs = self.outputs(state)
        own = jnp.take_along_axis(outputs, self.labels[:, None], axis=1)[:, 0]
        return jax.nn.logsumexp(outputs, axis=1) - own

    def loss(self, state: PyTree) -> Float[Array, ""]:
        """The training loss over all samples, by rows of them."""
        return self.mean_of(state, lambda part: part.losses(state))

    def accuracy(self, state: PyTree) -> Float[Array, ""]:
        """The share of samples whose largest output is that of their class."""
        return self.mean_of(state, lambda part: part.hits(state).astype(part.tokens.dtype))

    def hits(self, state: PyTree) -> Bool[Array, " n"]:
        """Whether the largest output of a row is that of its class."""
        return self.outputs(state).argmax(1) == self.labels

    def mean_of(
        self, state: PyTree, of: Callable[["Classes"], Float[Array, " k"]]
    ) -> Float[Array, ""]:
        """The mean over the samples of what `of` says of each row of some."""
        del state

        def add(chunk: Array, total: Array) -> Array:
            rows = chunk * CHUNK + jnp.arange(CHUNK)
            counted = rows < self.size
            found = of(self.rows(jnp.where(counted, rows, 0)))
            return total + jnp.where(counted, found, 0).sum()

        zero = jnp.zeros((), self.tokens.dtype)
        chunks = (self.size + CHUNK - 1) // CHUNK
        return jax.lax.fori_loop(0, chunks, add, zero) / self.size.astype(self.tokens.dtype)

    def by_row(self, state: PyTree) -> Bool[Array, " n"]:
        """Whether each row's class is found, by rows of them; for a test set."""
        n = self.labels.shape[0]
        whole = -(-n // CHUNK) * CHUNK
        rows = jnp.minimum(jnp.arange(whole), n - 1).reshape(-1, CHUNK)
        return jax.lax.map(lambda r: self.rows(r).hits(state), rows).reshape(-1)[:n]

    def rows(self, indices: Int[Array, " k"]) -> "Classes":
        """The same with these rows alone, all of which count."""
        return eqx.tree_at(
            lambda e: (e.tokens, e.labels, e.kept, e.places, e.size),
            self,
            (
                self.tokens[indices],
                self.labels[indices],
                self.kept[indices],
                self.places[indices],
                jnp.asarray(indices.size),
            ),
        )

    def subset(self, indices: Int[Array, " room"], size: Int[Array, ""]) -> "Classes":
        """The same with a mini-batch as its samples, of which the first `size` count alike."""
        return eqx.tree_at(lambda e: e.size, self.rows(indices), size)

    def loss_and_field(self, state: PyTree) -> tuple[Float[Array, ""], PyTree]:
        """The loss of a mini-batch and its negative gradient."""

        def mean(state: PyTree) -> Array:
            counted = jnp.arange(self.labels.shape[0]) < self.size
            losses = jnp.where(counted, self.losses(state), 0)
            return losses.sum() / self.size.astype(losses.dtype)

        loss, gradient = jax.value_and_grad(mean)(state)
        return loss, jax.tree.map(jnp.negative, gradient)

    def step(
        self, state: PyTree, learning_rate: Float[Array, ""]
    ) -> tuple[Float[Array, ""], PyTree]:
        """The loss before, and the state after, one step of plain gradient descent."""
        loss, field = self.loss_and_field(state)
        rate = jnp.asarray(learning_rate, loss.dtype)
        return loss, jax.tree.map(lambda x, v: x + rate * v, state, field)

    def view(self, state: PyTree) -> PyTree:
        """What probes of the model read."""
        start = Weights(self.first, self.fixed)
        return self.model.view(Weights(state, self.fixed), start, jnp.ones(()))

    def is_fitted(self, state: PyTree) -> Bool[Array, ""]:
        """Whether the training loss is zero."""
        return self.loss(state) == 0


def on_batch(
    model: DeepViT,
    batch: Batch,
    weights: Weights,
    *,
    size: Int[Array, ""] | None = None,
    dtype: DTypeLike = jnp.float32,
) -> tuple[Classes, PyTree]:
    """The engine for given samples and weights, and its first state."""
    weights = jax.tree.map(lambda x: jnp.asarray(x, dtype), weights)
    n, L = batch.kept.shape
    places = getattr(batch, "places", None)
    if places is None:
        places = jnp.broadcast_to(jnp.arange(L), (n, L))
    engine = Classes(
        model=model,
        tokens=batch.vectors(dtype),
        labels=batch.labels.astype(jnp.int32),
        kept=batch.kept,
        places=places,
        size=jnp.asarray(n) if size is None else size,
        fixed=weights.fixed,
        first=weights.trained,
    )
    return engine, weights.trained
