"""Which words carry a row in the engine `gram`.

The number of rows is a shape, so it depends on the cell alone; which words they are is data, and
found inside the compiled run. If words repeat and fewer occur than there are rows, the rows to
spare are given to words that do not occur: every row is a word, and nothing needs a mask.
"""

import equinox as eqx
import jax.numpy as jnp
from jax.core import Tracer
from jaxtyping import Array, Bool, Int

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import (
    SIGNALS,
    BalancedTrainingSet,
    IndependentSamples,
    random_words_required,
)


def row_count(distribution: BalancedTrainingSet | IndependentSamples, n: int) -> int:
    """How many rows n samples can need: the signals, and a word for each random place."""
    if isinstance(distribution, BalancedTrainingSet):
        places = random_words_required(distribution.counts(n), distribution.L)
    else:
        places = n * (distribution.L - 1)  # the types are drawn; this is enough for any
    return SIGNALS + min(distribution.pool or distribution.d - SIGNALS, places)


def enough_rows(d: int, batch: Batch, also: int = 0) -> int:
    """How many rows any data of the batch's shape can need, and so many words beside it."""
    n, L = batch.words.shape
    return min(d, SIGNALS + n * (L - 1) + also)


def carried_words(
    words: Int[Array, "n L"], also: Int[Array, " k"], d: int, count: int
) -> Int[Array, " w"]:
    """The words that carry a row, increasing: all signals, all that occur, all in `also`."""
    if not SIGNALS <= count <= d:
        raise BadInput(f"got rows={count} with d={d} words; give a number from {SIGNALS} to {d}")
    wanted = jnp.zeros(d, bool).at[:SIGNALS].set(True).at[words].set(True).at[also].set(True)
    wanted = _checked(
        wanted,
        wanted.sum() <= count,
        f"got rows={count}, but more words than that occur or are asked for; leave rows out, or "
        "take `row_count` of the data plus one for each word asked for",
    )
    return jnp.sort(jnp.argsort(~wanted, stable=True)[:count]).astype(words.dtype)


def as_rows(carried: Int[Array, " w"], words: Int[Array, "n L"]) -> Int[Array, "n L"]:
    """The rows of these words."""
    rows = jnp.searchsorted(carried, words).astype(words.dtype)
    rows = jnp.minimum(rows, carried.shape[0] - 1)
    return _checked(
        rows,
        (carried[rows] == words).all(),
        "got samples with a word that carries no row; give such words to `start` as `also`",
    )


def _checked(value: Array, condition: Bool[Array, ""], message: str) -> Array:
    # Inside a compiled run a mistake can only be met when the run runs.
    if isinstance(condition, Tracer):
        return eqx.error_if(value, ~condition, message)
    if not condition:
        raise BadInput(message)
    return value
