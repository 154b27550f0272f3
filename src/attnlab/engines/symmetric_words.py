r"""Engine `symmetric` on a drawn training set: its numbers shown word by word, as other engines do.

The state is that of `symmetric`. A view spreads it over the words of the batch: an entry of a Gram
is that of the classes of its two words, or of two words of one sample, or of a word with itself.
So every probe on words reads this engine like `gram` started at the mean, and a run costs the
same for every n and m but for the probes.

Legend: d words; the class of word i is 0, 1, 2 for a signal and 2 + t for a random word of type t.
"""

from typing import ClassVar, NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float, Int

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import SIGNALS, BalancedTrainingSet
from attnlab.data.word_exactness import symmetric_why_not, unused_words_why_not
from attnlab.data.word_sizes import type_counts
from attnlab.engines import symmetric
from attnlab.engines.symmetric import Sectors, Symmetric
from attnlab.engines.symmetric_sectors import Entries
from attnlab.engines.word_engine import FlowSettings
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.models.word_level import WordView
from attnlab.training.attention import Attention
from attnlab.training.losses import Loss, logistic

TYPES = 4


class SymmetricOnWords(eqx.Module):
    """Training by classes of words, seen by words. Get one with its first state by `start`."""

    state_is_weights: ClassVar[bool] = False
    """Whether a rule for weights, as optax has them, may act on the state."""

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

    def rows_of(self, batch: Batch) -> Batch:
        """The batch for probes: every word has its own place in a view."""
        return batch

    def flow_settings(
        self, state: Sectors, rtol: float | Array = 1e-6, atol: float | Array = 1e-8
    ) -> FlowSettings:
        """What to give `training.flow.flow` for this engine."""
        return self.classes.flow_settings(state, rtol, atol)

    def _spread(self, entries: Entries) -> Float[Array, "d d"]:
        kind, sample = self.word_class, self.word_sample
        # A signal has no entries beside those across classes.
        signals = jnp.diagonal(entries.across)[:SIGNALS]
        own = jnp.concatenate([signals, entries.own])[kind]
        together = jnp.concatenate([signals, entries.same_sample])[kind]
        matrix = entries.across[kind[:, None], kind]
        matrix = jnp.where(sample[:, None] == sample, together[:, None], matrix)
        return jnp.where(jnp.eye(kind.shape[0], dtype=bool), own[:, None], matrix)


class Balance(NamedTuple):
    """What classes of words need of a training set: each is true where it is exact."""

    shares: bool
    """1/2, 1/6, 1/6 and 1/6 of the samples are of the four types."""
    labels: bool
    """Samples of type 1, and no others, have the label +1."""
    distinct: bool
    """No random word occurs twice."""
    random_words: int
    """How many random words occur, each counted once."""


def balance(batch: Batch) -> Balance:
    """What a batch of words has of this."""
    words, types = np.asarray(batch.words), np.asarray(batch.types)
    n = len(types)
    counts = tuple(int((types == kind).sum()) for kind in range(1, TYPES + 1))
    random = words[words >= SIGNALS]
    different = np.unique(random).size
    return Balance(
        shares=n % 6 == 0 and counts == type_counts(n),
        labels=np.array_equal(batch.labels, np.where(types == 1, 1, -1)),
        distinct=different == random.size,
        random_words=different,
    )


def why_not(
    sizes: LinearMLPSizes,
    batch: Batch,
    initialisation: Initialisation,
    *,
    initial: str = "mean",
    method: str = "flow",
) -> str:
    """Why classes of words are not exact for these samples, or nothing.

    `method` is flow, descent, momentum or adam; any width, loss and attention will do.
    """
    del initialisation
    has = balance(batch)
    reason = symmetric_why_not(
        sampler="balanced" if has.shares else "independent",
        words="distinct" if has.distinct else "repeated",
        labels="true" if has.labels else "shuffled",
        method=method,
        initial=initial,
    )
    return reason or unused_words_why_not(sizes.d, has.random_words)


def start(
    batch: Batch,
    sizes: LinearMLPSizes,
    initialisation: Initialisation,
    *,
    attention: Attention = "trained",
    loss: Loss = logistic,
) -> tuple[SymmetricOnWords, Sectors]:
    """The engine for a balanced batch with distinct words that are all there are."""
    reason = why_not(sizes, batch, initialisation)
    if reason:
        raise BadInput(reason)
    n, L = batch.words.shape
    distribution = BalancedTrainingSet(sizes.d, L)
    engine, state = symmetric.start(
        distribution, n, sizes, initialisation, attention=attention, loss=loss
    )
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
