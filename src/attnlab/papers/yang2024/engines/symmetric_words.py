r"""Engine `symmetric` on a drawn training set: its numbers shown word by word, as other engines do.

The state is that of `symmetric`. A view spreads it over the words of the batch: an entry of a Gram
is that of the classes of its two words, or of two words of one sample, or of a word with itself.
So every probe on words reads this engine like `gram` started at the mean, and a run costs the
same for every n and m but for the probes.

Legend: d words; the class of word i is 0, 1, 2 for a signal and 2 + t for a random word of type t.
"""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import SIGNALS, BalancedTrainingSet
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import Sizes
from attnlab.models.word_level import WordView
from attnlab.papers.yang2024.engines import symmetric
from attnlab.papers.yang2024.engines.symmetric import Sectors, Symmetric
from attnlab.papers.yang2024.engines.symmetric_sectors import Entries
from attnlab.papers.yang2024.engines.weights import Attention


class SymmetricOnWords(eqx.Module):
    """Training by classes of words, seen by words. Get one with its first state by `start`."""

    classes: Symmetric
    word_class: Int[Array, " d"]
    word_sample: Int[Array, " d"]
    """The sample that holds a random word; a number of its own for each signal."""

    def loss_and_field(self, state: Sectors) -> tuple[Float[Array, ""], Sectors]:
        """The training loss, and the derivative of the state under gradient flow."""
        return self.classes.loss_and_field(state)

    def step(
        self, state: Sectors, learning_rate: Float[Array, ""]
    ) -> tuple[Float[Array, ""], Sectors]:
        """The loss before, and the state after, one step of gradient descent on the weights."""
        return self.classes.step(state, learning_rate)

    def view(self, state: Sectors) -> WordView:
        """The word-level quantities over all d words."""
        seen = self.classes.view(state)
        return WordView(
            G=seen.G[self.word_class],
            rho=seen.rho,
            V=self._spread(seen.V),
            S=self._spread(seen.S),
            K=self._spread(seen.K),
            Q=self._spread(seen.Q),
            A=seen.A,
            score_scale=self.classes.score_gain * self.classes.score_scale,
        )

    def _spread(self, entries: Entries) -> Float[Array, "d d"]:
        kind, sample = self.word_class, self.word_sample
        # A signal has no entries beside those across classes.
        signals = jnp.diagonal(entries.across)[:SIGNALS]
        own = jnp.concatenate([signals, entries.own])[kind]
        together = jnp.concatenate([signals, entries.same_sample])[kind]
        matrix = entries.across[kind[:, None], kind]
        matrix = jnp.where(sample[:, None] == sample, together[:, None], matrix)
        return jnp.where(jnp.eye(kind.shape[0], dtype=bool), own[:, None], matrix)


def start(
    batch: Batch,
    sizes: Sizes,
    initialisation: Initialisation,
    *,
    attention: Attention = "trained",
) -> tuple[SymmetricOnWords, Sectors]:
    """The engine for a balanced batch with distinct words that are all there are."""
    n, L = batch.words.shape
    distribution = BalancedTrainingSet(sizes.d, L)
    engine, state = symmetric.start(distribution, n, sizes, initialisation, attention=attention)
    words, samples = batch.words, jnp.arange(n)[:, None]
    kinds = jnp.broadcast_to(SIGNALS - 1 + batch.types[:, None], words.shape)
    signals = jnp.arange(SIGNALS, dtype=jnp.int32)
    # Written over the whole vocabulary; the signals last, for every sample writes theirs.
    word_class = jnp.zeros(sizes.d, jnp.int32).at[words].set(kinds.astype(jnp.int32))
    word_sample = jnp.zeros(sizes.d, jnp.int32).at[words].set(samples.astype(jnp.int32))
    return (
        SymmetricOnWords(
            engine,
            word_class.at[signals].set(signals),
            word_sample.at[signals].set(signals + n),
        ),
        state,
    )
