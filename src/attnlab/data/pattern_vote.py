r"""Samples whose label is a majority vote of tokens (Li et al. 2023, section 3.2, G.1 and G.2).

A sample has L tokens, each a noisy pattern, $x_l \sim N(\mu_{j(l)}, c_0^2 I_d)$. The label is the
class whose discriminative pattern has the most tokens.

Legend: M patterns $\mu_1 \dots \mu_M$ in R^d, orthonormal; the first C of them are discriminative,
one a class (C = 2: y = +1, -1; C = 4: y in {+1,-1}^2, G.1). With sets (G.2) a pattern is one of K
vectors $\mu_{j,1} \dots \mu_{j,K}$ of unit norm at distance Delta from each other, K <= 3 d / M.

Everything that is a number (counts, noise) is data, not shape: one compiled draw serves all
fractions. Roles are stored per token; `types` is the class, counted from 1.
"""

from enum import IntEnum
from typing import ClassVar

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.pattern_sizes import farthest_apart, require_sets
from attnlab.numerics.random import fractions, normal

CODES = {2: ((1,), (-1,)), 4: ((1, 1), (1, -1), (-1, 1), (-1, -1))}
"""The label vector of each class."""


class Role(IntEnum):
    """What a token is to its sample's label."""

    RELEVANT = 0
    CONFUSION = 1
    NON_DISCRIMINATIVE = 2
    NOISY = 3


class PatternBatch(Batch):
    """A batch that knows the pattern behind each token."""

    patterns: Int[Array, "n L"]
    noisy: Bool[Array, "n L"]
    """The tokens with the extra noise, whatever their pattern."""
    pattern_vectors: Float[Array, "M K d"] | None = None
    """The patterns, as sets of K vectors, where they are known."""

    of_the_batch: ClassVar[tuple[str, ...]] = ("pattern_vectors",)


class PatternVote(eqx.Module):
    """The distribution. `counts[c, j]`: tokens of pattern j in a sample of class c.

    With more rows than classes, samples take them in turn: row c + C k, k = 0, 1, ..., is class c.
    """

    vectors: Float[Array, "M K d"]
    """The patterns, as sets of K vectors (K = 1 without G.2)."""
    counts: Int[Array, "C M"]
    c0: Float[Array, ""]
    noisy_share: Float[Array, ""]
    noisy_c0: Float[Array, ""]
    shuffled_order: Bool[Array, ""]
    normalise: Bool[Array, ""]
    """Whether tokens are scaled to unit norm."""
    multinomial: bool = eqx.field(static=True, default=False)
    exact_balance: Bool[Array, ""] | bool = True
    classes: int = eqx.field(static=True, default=0)
    """How many classes there are; 0: as many as rows of `counts`."""

    @property
    def length(self) -> Int[Array, ""]:
        """Tokens in a sample."""
        return self.counts[0].sum()

    def sample(self, key: PRNGKeyArray, n: int, L: int | None = None) -> PatternBatch:
        """Draw n samples of L tokens, which is the sum of every row of `counts`.

        L must be given to a compiled run, where the counts are data and L is a shape, and for
        `multinomial`, where counts are proportions. The tokens' noise has a stream of its own, so
        that the places of the patterns are the same whatever the noise.
        """
        if L is None:
            if self.multinomial:
                raise BadInput("got multinomial without L; give the number of tokens in a sample")
            L = int(self.length)
        rows, M = self.counts.shape
        classes = self.classes or rows
        of_class, of_place, of_noise, of_noisy, of_member = jax.random.split(key, 5)
        drawn_label = jax.random.randint(of_class, (n,), 0, classes)
        label = jnp.where(self.exact_balance, jnp.arange(n) % classes, drawn_label)
        if self.multinomial:
            share = jnp.cumsum(self.counts, 1) / self.counts.sum(1, keepdims=True)
            drawn = fractions(of_place, (n, L))[..., None]
            patterns = (drawn >= share[label, None, :-1]).sum(-1)
            votes = (patterns[..., None] == jnp.arange(classes)).sum(1)
            # The drawn label where it has as many votes as any other, else the winner.
            tied = votes[jnp.arange(n), label] == votes.max(1)
            label = jnp.where(tied, label, votes.argmax(1))
        else:
            layout = jax.vmap(lambda row: jnp.repeat(jnp.arange(M), row, total_repeat_length=L))(
                self.counts
            )
            order = fractions(of_place, (n, L)).argsort(axis=1)
            order = jnp.where(self.shuffled_order, order, jnp.arange(L))
            row = label + classes * (jnp.arange(n) // classes % (rows // classes))
            patterns = jnp.take_along_axis(layout[row], order, axis=1)
        patterns = patterns.astype(jnp.int32)
        noisy = fractions(of_noisy, (n, L)) < self.noisy_share
        member = jnp.floor(fractions(of_member, (n, L)) * self.vectors.shape[1]).astype(jnp.int32)
        deviation = jnp.where(noisy, self.noisy_c0, self.c0)
        noise = normal(of_noise, (n, L, self.vectors.shape[2]), 1.0)
        tokens = self.vectors[patterns, member] + deviation[..., None] * noise
        norms = jnp.linalg.norm(tokens, axis=-1, keepdims=True)
        tokens /= jnp.where(self.normalise, norms, 1.0)
        return PatternBatch(
            tokens=tokens,
            labels=jnp.where(label < classes // 2, 1, -1),
            roles=roles_of(patterns, label, noisy, classes),
            types=label + 1,
            kept=jnp.ones((n, L), bool),
            patterns=patterns,
            noisy=noisy,
            pattern_vectors=self.vectors,
        )


def roles_of(
    patterns: Int[Array, "n L"], label: Int[Array, " n"], noisy: Bool[Array, "n L"], classes: int
) -> Int[Array, "n L"]:
    """The role of each token; extra noise goes before everything else."""
    role = jnp.where(patterns == label[:, None], int(Role.RELEVANT), int(Role.CONFUSION))
    role = jnp.where(patterns >= classes, int(Role.NON_DISCRIMINATIVE), role)
    return jnp.where(noisy, int(Role.NOISY), role)


def label_vectors(types: Int[Array, " n"], classes: int) -> Int[Array, "n outputs"]:
    """The labels as vectors: one sign for two classes, two signs for four."""
    if classes not in CODES:
        raise BadInput(f"got classes={classes}; labels are defined for 2 and 4 classes")
    return jnp.asarray(CODES[classes])[types - 1]


def shuffled(key: PRNGKeyArray, batch: PatternBatch, size: Int[Array, ""]) -> PatternBatch:
    """The first `size` samples with their classes permuted: a control. Tokens stay."""
    n = batch.types.size
    order = jnp.where(jnp.arange(n) < size, fractions(key, (n,)), 2.0)
    types = batch.types[order.argsort()]
    return eqx.tree_at(lambda b: b.types, batch, types)


def orthonormal_sets(M: int, d: int, size: int = 1, distance: float = 0.0) -> np.ndarray:
    r"""M sets of `size` unit vectors in R^d: sets mutually orthogonal, members `distance` apart.

    $$\mu_{j,b} = \cos\theta\, e_j + \sin\theta\, f_{j,b}, \qquad
      |\mu_{j,b} - \mu_{j,c}| = \sin\theta\,|f_{j,b} - f_{j,c}|$$

    - $e_j$: unit vectors; $f_{j,b}$: directions from a basis of what the $e_j$ leave over, one
      direction for two members (f and -f), else all different.
    """
    e = np.eye(d)
    if size == 1:
        return e[:M, None, :]
    require_sets(M, d, size, distance)
    sine = distance / farthest_apart(size)
    vectors = np.zeros((M, size, d))
    for j in range(M):
        for b in range(size):
            f = e[M + j] * (1 - 2 * b) if size == 2 else e[M + j * size + b]
            vectors[j, b] = np.sqrt(1 - sine**2) * e[j] + sine * f
    return vectors
