r"""Matrices that treat alike all samples of a type, and the one sample that stands for each type.

On the class $r_t$ of the random words of type t (n_t samples with k_t words each, N = n_t k_t) an
invariant matrix is $\alpha I + \beta J_{\text{same sample}} + \gamma J_{\text{all}}$. It is stored
by its values on three invariant spaces: $\alpha$ within a sample, $\alpha + k\beta$ between
samples, $\alpha + k\beta + N\gamma$ on the class mean; class means and signals make a 7 by 7 matrix
in the orthonormal basis $e_c/\sqrt{N_c}$.

In a sample of type t a query is mu_1, mu_2, mu_3 or a random word, and a key is mu_1, mu_2, mu_3,
the query itself (`own`, if it is a random word) or any other random word (`other`). Numbers of
words and of samples are real numbers.
"""

from typing import NamedTuple

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

CLASSES = ("mu_1", "mu_2", "mu_3", "r_1", "r_2", "r_3", "r_4")
LABELS = np.array([1.0, -1.0, -1.0, -1.0])
_PRESENT = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]], float)
"""Which signals a sample of type t holds."""
_CLASS_OF_QUERY = np.array([[0, 1, 2, 3 + t] for t in range(4)])
_CLASS_OF_KEY = np.array([[0, 1, 2, 3 + t, 3 + t] for t in range(4)])
_KEYS = _CLASS_OF_KEY[:, None, :]
_QUERIES = _CLASS_OF_QUERY[:, :, None]
OWN, OTHER, RANDOM = 3, 4, 3

ByPlace = Float[Array, "4 4 5"]
"""By type, kind of query and kind of key."""


class Blocks(NamedTuple):
    """An invariant matrix by sector; rows keys, columns queries."""

    means: Float[Array, "7 7"]
    """On signals and class means."""
    rest: Float[Array, "2 4"]
    """For r_1..r_4: between the samples of a type, and within a sample."""


class Entries(NamedTuple):
    """The entries of an invariant matrix; nan for a class without words."""

    across: Float[Array, "7 7"]
    """For words of these classes that share no sample, and for every pair with a signal."""
    own: Float[Array, " 4"]
    """A random word of type t with itself."""
    same_sample: Float[Array, " 4"]
    """With another random word of its sample."""


class Layout(NamedTuple):
    """How many samples and words there are."""

    samples: Float[Array, " 4"]
    """n_t."""
    random_words: Float[Array, " 4"]
    """k_t."""

    @property
    def class_sizes(self) -> Float[Array, " 7"]:
        """N_c."""
        return jnp.concatenate([jnp.ones(3), self.samples * self.random_words])

    @property
    def roots(self) -> Float[Array, " 7"]:
        """sqrt(N_c), and 1 for an empty class, all of whose totals are 0."""
        return jnp.sqrt(_or_one(self.class_sizes))

    @property
    def queries(self) -> Float[Array, "4 4"]:
        """How many queries of each kind a sample of type t has."""
        return jnp.concatenate([jnp.asarray(_PRESENT), self.random_words[:, None]], axis=1)

    @property
    def keys(self) -> ByPlace:
        """How many keys of each kind a query of each kind has."""
        k = self.random_words
        signals = jnp.broadcast_to(jnp.asarray(_PRESENT)[:, None, :], (4, 4, 3))
        own = jnp.zeros((4, 4)).at[:, RANDOM].set(k > 0)
        other = jnp.broadcast_to(k[:, None], (4, 4)).at[:, RANDOM].set(jnp.maximum(k - 1, 0))
        return jnp.concatenate([signals, own[..., None], other[..., None]], axis=2)


def entries(layout: Layout, blocks: Blocks) -> Entries:
    """The entries; those of an empty class are not nan here."""
    N, k = _or_one(layout.class_sizes[3:]), _or_one(layout.random_words)
    between, within = blocks.rest
    random = jnp.arange(3, 7)
    gamma = (blocks.means[random, random] - between) / N
    beta = (between - within) / k
    across = blocks.means / jnp.outer(layout.roots, layout.roots)
    return Entries(across.at[random, random].set(gamma), gamma + beta + within, gamma + beta)


def blank_empty(layout: Layout, of: Entries) -> Entries:
    """Nan where a class has no words."""
    there = layout.class_sizes > 0
    pairs = there[:, None] & there[None, :]
    return Entries(
        jnp.where(pairs, of.across, jnp.nan),
        jnp.where(there[3:], of.own, jnp.nan),
        jnp.where(there[3:], of.same_sample, jnp.nan),
    )


def by_place(of: Entries) -> ByPlace:
    """The entry that each query of the standing samples meets at each key."""
    met = of.across[_KEYS, _QUERIES]
    return met.at[:, RANDOM, OWN].set(of.own).at[:, RANDOM, OTHER].set(of.same_sample)


def attention(layout: Layout, scores: ByPlace) -> ByPlace:
    """What a query pays to one key of a kind; 0 if it has none."""
    keys = layout.keys
    masked = jnp.where(keys > 0, scores, -jnp.inf)
    weights = jnp.exp(masked - masked.max(axis=2, keepdims=True))
    return weights / (keys * weights).sum(axis=2, keepdims=True)


def outputs_of_keys(layout: Layout, G: Float[Array, " 7"]) -> Float[Array, "4 5"]:
    """The output of a word of each kind, from the vector in the orthonormal basis."""
    return (G / layout.roots)[_CLASS_OF_KEY]


def vector(layout: Layout, received: ByPlace) -> Float[Array, " 7"]:
    """In the orthonormal basis, what each word receives from the queries, r_i included."""
    total = jnp.einsum("t,tq,tqh,tqh->th", layout.samples, layout.queries, layout.keys, received)
    return jnp.zeros(7, received.dtype).at[_CLASS_OF_KEY].add(total) / layout.roots


def matrix(layout: Layout, terms: ByPlace) -> Blocks:
    """The invariant matrix with these entries inside each sample, and 0 elsewhere."""
    total = jnp.einsum("t,tq,tqh,tqh->tqh", layout.samples, layout.queries, layout.keys, terms)
    sums = jnp.zeros((7, 7), terms.dtype).at[_KEYS, _QUERIES].add(total)
    own, other = terms[:, RANDOM, OWN], terms[:, RANDOM, OTHER]
    between = own + layout.keys[:, RANDOM, OTHER] * other
    return Blocks(sums / jnp.outer(layout.roots, layout.roots), jnp.stack([between, own - other]))


def _or_one(x: Array) -> Array:
    return jnp.where(x > 0, x, 1.0)
