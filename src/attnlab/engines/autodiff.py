r"""The engine `autodiff`: any model on any batch with any loss, by automatic differentiation.

$$\hat L(\theta) = \sum_i w_i\, \ell\big(y_i F(X_i; \theta)\big), \qquad
  -\nabla\hat L \text{ by reverse mode.}$$

It is the slow oracle of every exact engine, and what runs where no exact one applies. Exact for
everything that a model's `apply` is written for; the state is the trained weights themselves.

Legend: $w_i$ the samples' weights (1/n each unless the batch says otherwise), $y_i = \pm1$.
"""

from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int, PyTree

from attnlab.data.batch import Batch
from attnlab.models.protocol import Model, Weights
from attnlab.training.attention import GAIN_AND_RATE, Attention
from attnlab.training.losses import Loss


class Autodiff(eqx.Module):
    """A model on samples, by automatic differentiation. Make one by `on_batch`."""

    model: Model
    tokens: Float[Array, "n L d"]
    labels: Float[Array, " n"]
    kept: Bool[Array, "n L"]
    shares: Float[Array, " n"]
    """What each sample counts; 0 for rows that are not of a mini-batch."""
    size: Int[Array, ""]
    fixed: PyTree
    first: PyTree
    """The trained weights at the start, for what probes compare with it."""
    score_gain: Float[Array, ""]
    score_rate: Float[Array, ""]
    """What the gradients of the attention's own weights are multiplied by."""
    of_margin: Loss = eqx.field(static=True)
    counts: Float[Array, " n"] | None = None
    """What each sample counts beside the others, 1 in the mean, where they do not count alike."""

    state_is_weights: ClassVar[bool] = True

    def margins(self, state: PyTree) -> Float[Array, " n"]:
        """y_i times the output on every sample."""
        outputs = self.model.apply(
            Weights(state, self.fixed), self.tokens, self.kept, self.score_gain
        )
        return self.labels * outputs

    def loss(self, state: PyTree) -> Float[Array, ""]:
        """The training loss."""
        return self.shares @ self.of_margin.value(self.margins(state))

    def loss_and_field(self, state: PyTree) -> tuple[Float[Array, ""], PyTree]:
        """The training loss and its negative gradient."""
        loss, gradient = jax.value_and_grad(self.loss)(state)
        slowed = dict.fromkeys(self.model.attention_names, self.score_rate)
        field = {name: -slowed.get(name, 1.0) * part for name, part in gradient._asdict().items()}
        return loss, type(state)(**field)

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
        return self.model.view(Weights(state, self.fixed), start, self.score_gain)

    def subset(self, indices: Int[Array, " room"], size: Int[Array, ""]) -> "Autodiff":
        """The same with a mini-batch as its samples, of which the first `size` are there.

        Its loss is that of the whole batch in expectation, weights included.
        """
        shares = (jnp.arange(indices.size) < size) / size
        if self.counts is not None:
            shares = shares * self.counts[indices]
        return eqx.tree_at(
            lambda e: (e.tokens, e.labels, e.kept, e.shares, e.size),
            self,
            (
                self.tokens[indices],
                self.labels[indices],
                self.kept[indices],
                shares.astype(self.shares.dtype),
                size,
            ),
        )

    def is_fitted(self, state: PyTree) -> Bool[Array, ""]:
        """Whether the training loss is zero."""
        return self.loss(state) == 0


def on_batch(
    model: Model,
    batch: Batch,
    weights: Weights,
    *,
    loss: Loss,
    attention: Attention = "trained",
    dtype: DTypeLike = jnp.float64,
) -> tuple[Autodiff, PyTree]:
    """The engine for given samples and weights, and its first state."""
    gain, rate = GAIN_AND_RATE[attention]
    weights = jax.tree.map(lambda x: jnp.asarray(x, dtype), weights)
    engine = Autodiff(
        model=model,
        tokens=batch.vectors(dtype),
        labels=batch.labels.astype(dtype),
        kept=batch.kept,
        shares=batch.shares().astype(dtype),
        size=jnp.asarray(batch.labels.shape[0]),
        fixed=weights.fixed,
        first=weights.trained,
        score_gain=jnp.asarray(gain, dtype),
        score_rate=jnp.asarray(rate, dtype),
        of_margin=loss,
        counts=None if batch.weights is None else batch.shares() * batch.labels.shape[0],
    )
    return engine, weights.trained
