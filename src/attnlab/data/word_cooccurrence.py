r"""Sentences in which two words must be found together (Yang et al. 2024, section 2.1).

A sample is L words out of d orthonormal ones. The common token $\mu_3$ is in every sample;
the label is +1 exactly if both target signals $\mu_1, \mu_2$ are; all other places hold random
words $\mu_4 \dots \mu_d$. Places within a sample are uniformly random.

Legend: d words, L places in a sample, n samples. Word index 0, 1, 2 is $\mu_1, \mu_2, \mu_3$ and
3 and above are random words. Types 1..4 are the paper's $I_1 \dots I_4$: both signals, only
$\mu_1$, only $\mu_2$, neither. A sample is stored as word indices, never as one-hot vectors.
"""

from dataclasses import dataclass
from enum import IntEnum

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Int, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data import word_sizes
from attnlab.data.batch import Batch
from attnlab.data.word_sizes import SIGNALS as SIGNALS
from attnlab.data.word_sizes import TYPE_PROBABILITIES as TYPE_PROBABILITIES
from attnlab.data.word_sizes import random_words_required as random_words_required


class Role(IntEnum):
    """What a place in a sample holds."""

    RANDOM = 0
    FIRST_SIGNAL = 1
    SECOND_SIGNAL = 2
    COMMON = 3


_SIGNALS_OF_TYPE = (
    (Role.COMMON, Role.FIRST_SIGNAL, Role.SECOND_SIGNAL),
    (Role.COMMON, Role.FIRST_SIGNAL),
    (Role.COMMON, Role.SECOND_SIGNAL),
    (Role.COMMON,),
)


@dataclass(frozen=True)
class IndependentSamples:
    """Independent samples of the distribution D (Definition 2.1).

    `shuffled_labels` is a control: labels are permuted over the samples. `pool` is another: only
    that many random words are in use, so that they repeat.
    """

    d: int
    L: int
    shuffled_labels: bool = False
    pool: int | None = None

    def __post_init__(self) -> None:
        _require_sizes(self.d, self.L, self.pool)

    def sample(self, key: PRNGKeyArray, n: int) -> Batch:
        """Draw n samples."""
        _require_some(n)
        draw_types, rest = jax.random.split(key)
        probabilities = jnp.asarray(TYPE_PROBABILITIES)
        types = jax.random.choice(draw_types, 4, (n,), p=probabilities).astype(jnp.int8) + 1
        place, draw_words, shuffle = jax.random.split(rest, 3)
        roles = _placed_roles(place, types, self.L)
        words = _uniform_words(draw_words, roles, self.pool or self.d - SIGNALS)
        return _batch(words, roles, types, self.d, shuffle if self.shuffled_labels else None)


@dataclass(frozen=True)
class BalancedTrainingSet:
    """A training set with exact proportions of the four types (Assumption 2.3), in type order.

    With `distinct` no random word occurs twice in the whole set, part (ii) of the assumption;
    without it they are drawn uniformly with replacement, as appendix A's sizes force.

    Controls: `type_counts` breaks part (i) by giving the four counts; `pool` uses only that many
    random words, so that they repeat; `label_correlation` is the probability that a random place
    takes its word from the half of the vocabulary (odd or even words) that goes with the
    sample's label; `shuffled_labels` permutes the labels over the samples.
    """

    d: int
    L: int
    distinct: bool = True
    type_counts: tuple[int, int, int, int] | None = None
    pool: int | None = None
    label_correlation: float = 0.0
    shuffled_labels: bool = False

    def __post_init__(self) -> None:
        _require_sizes(self.d, self.L, self.pool)
        if self.distinct and (self.pool is not None or self.label_correlation):
            raise BadInput(
                f"got distinct=True with pool={self.pool} and "
                f"label_correlation={self.label_correlation}; repeated or correlated words need "
                "distinct=False"
            )
        if not 0 <= self.label_correlation <= 1:
            raise BadInput(
                f"got label_correlation={self.label_correlation}; it is a probability: "
                "give a number from 0 to 1"
            )
        if self.label_correlation and (self.pool or self.d - SIGNALS) < 2:
            raise BadInput(
                f"got {self.pool or self.d - SIGNALS} random word in use; words that go with the "
                "label need at least 2; raise d or pool"
            )
        if self.type_counts is not None and min(self.type_counts) < 0:
            raise BadInput(f"got type_counts={self.type_counts}; give four counts, none negative")

    def counts(self, n: int) -> tuple[int, int, int, int]:
        """How many of n samples are of each type; a sentence if n cannot be split so."""
        _require_some(n)
        if self.type_counts is not None:
            if sum(self.type_counts) != n:
                raise BadInput(
                    f"got n={n} with type_counts={self.type_counts}, which add up to "
                    f"{sum(self.type_counts)}; make them equal"
                )
            return self.type_counts
        return word_sizes.type_counts(n)

    def sample(self, key: PRNGKeyArray, n: int) -> Batch:
        """Draw the set."""
        counts = self.counts(n)
        required = random_words_required(counts, self.L)
        if self.distinct and self.d - SIGNALS < required:
            raise BadInput(
                f"got d={self.d}, that is {self.d - SIGNALS} random words, but n={n} samples of "
                f"L={self.L} with distinct words need {required}; take d>={required + SIGNALS}, "
                "fewer or shorter samples, or distinct=False"
            )
        types = jnp.asarray(np.repeat(np.arange(1, 5), counts), jnp.int8)
        place, draw_words, shuffle = jax.random.split(key, 3)
        roles = _placed_roles(place, types, self.L)
        if self.distinct:
            words = _distinct_words(draw_words, roles, self.d)
        else:
            words = _uniform_words(draw_words, roles, self.pool or self.d - SIGNALS)
        if self.label_correlation:
            words = _towards_label(draw_words, words, roles, types, self)
        return _batch(words, roles, types, self.d, shuffle if self.shuffled_labels else None)


# --- descriptions, for the tables of hypotheses -----------------------------------------------


def type_proportions(types: np.ndarray) -> np.ndarray:
    """The proportion of samples of type 1, 2, 3 and 4."""
    return np.bincount(np.asarray(types), minlength=5)[1:] / len(types)


def repeated_random_words(words: np.ndarray, roles: np.ndarray) -> int:
    """How many random places hold a word that a place before them holds already."""
    random = np.asarray(words)[np.asarray(roles) == Role.RANDOM]
    return int(random.size - np.unique(random).size)


def samples_with_a_repeated_word(words: np.ndarray) -> int:
    """How many samples hold some word twice (appendix C's lemmas need none)."""
    in_order = np.sort(np.asarray(words), axis=1)
    return int((in_order[:, 1:] == in_order[:, :-1]).any(axis=1).sum())


# --- the draw ---------------------------------------------------------------------------------


def _placed_roles(key: PRNGKeyArray, types: Int[Array, " n"], L: int) -> Int[Array, "n L"]:
    layouts = np.full((4, L), Role.RANDOM, np.int8)
    for row, signals in zip(layouts, _SIGNALS_OF_TYPE, strict=True):
        row[: len(signals)] = signals
    return jax.random.permutation(key, jnp.asarray(layouts)[types - 1], axis=1, independent=True)


def _uniform_words(key: PRNGKeyArray, roles: Int[Array, "n L"], pool: int) -> Int[Array, "n L"]:
    return SIGNALS + jax.random.randint(key, roles.shape, 0, pool, jnp.int32)


def _distinct_words(key: PRNGKeyArray, roles: Int[Array, "n L"], d: int) -> Int[Array, "n L"]:
    # The k-th random place of the set takes the k-th word of one permutation of all of them.
    order = SIGNALS + jax.random.permutation(key, d - SIGNALS).astype(jnp.int32)
    is_random = (roles == Role.RANDOM).reshape(-1)
    rank = jnp.where(is_random, jnp.cumsum(is_random) - 1, 0)
    return order[rank].reshape(roles.shape)


def _towards_label(
    key: PRNGKeyArray,
    words: Int[Array, "n L"],
    roles: Int[Array, "n L"],
    types: Int[Array, " n"],
    of: BalancedTrainingSet,
) -> Int[Array, "n L"]:
    choose, draw = jax.random.split(jax.random.fold_in(key, 1))
    tied = jax.random.bernoulli(choose, of.label_correlation, roles.shape)
    half = (of.pool or of.d - SIGNALS) // 2
    drawn = jax.random.randint(draw, roles.shape, 0, half, jnp.int32)
    return jnp.where(tied, SIGNALS + 2 * drawn + (types != 1)[:, None], words)


def _batch(
    words: Int[Array, "n L"],
    roles: Int[Array, "n L"],
    types: Int[Array, " n"],
    d: int,
    shuffle: PRNGKeyArray | None,
) -> Batch:
    words = jnp.where(roles == Role.RANDOM, words, roles.astype(jnp.int32) - 1)
    labels = jnp.where(types == 1, 1, -1).astype(jnp.int8)
    if shuffle is not None:
        labels = jax.random.permutation(shuffle, labels)
    return Batch(words, labels, roles, types, jnp.ones(words.shape, bool), vocabulary=d)


def _require_sizes(d: int, L: int, pool: int | None) -> None:
    word_sizes.require_sizes(d, L)
    if pool is not None and not 1 <= pool <= d - SIGNALS:
        raise BadInput(
            f"got pool={pool} random words in use with d={d}; give a number from 1 to {d - SIGNALS}"
        )


def _require_some(n: int) -> None:
    if n < 1:
        raise BadInput(f"got n={n} samples; at least 1 is required")
