"""What the probes of word-level views are given beside the view."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.batch import Batch
from attnlab.models.word_level import WordView, attention, read_out
from attnlab.training.losses import Loss, logistic


class Context(eqx.Module):
    """The samples that a probe looks at, and the view at the start if it compares with it."""

    batch: Batch
    initial: WordView | None = None
    loss: Loss = eqx.field(static=True, default=logistic)

    def margins(self, view: WordView) -> Float[Array, " n"]:
        """y_i F_i of every sample."""
        words = self.batch.words
        return self.batch.labels * read_out(attention(view, words), view.G, words)

    def start(self) -> WordView:
        """The initial view, for a probe that cannot do without."""
        if self.initial is None:
            raise ValueError("this probe compares with the start: give Context the initial view")
        return self.initial


def mean_where(mask: Array, x: Array, axis: int | tuple[int, ...] | None = None) -> Array:
    """The mean of x where the mask holds; nan where it holds nowhere."""
    return jnp.sum(jnp.where(mask, x, 0), axis) / jnp.sum(mask, axis)
