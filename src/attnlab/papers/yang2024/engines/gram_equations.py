r"""The closed system of word-level Grams, term by term.

$$\dot G = \rho z + A V z,\qquad \dot\rho = 2A\, G\cdot z,\qquad \dot V = G z^\top + z G^\top,$$
$$\dot S = MQ + KM,\qquad \dot K = M S^\top + S M^\top,\qquad \dot Q = M^\top S + S^\top M.$$

One step $\eta$ of gradient descent is $\eta$ times this plus $\eta^2$ times

$$G: A (G\cdot z) z,\quad \rho: A^2 z^\top V z,\quad V: \rho z z^\top,\quad
  S: M S^\top M,\quad K: M Q M^\top,\quad Q: M^\top K M,$$

exactly: a Gram is quadratic in the weights, so nothing of third order is left.

The state also follows the start $u_0 = u(0)$, a vector that stands still:
$\sigma = u_0\cdot u$ and $f = W_V^\top u_0$ obey $\dot\sigma = A f\cdot z$, $\dot f = \sigma z$,
with no term of second order. They tell how far the neurons have moved (`gram_neurons`).

Legend: G, rho, V, S, K, Q, A, z, M as in `attnlab.models.word_level`, but here M holds the factor
1/sqrt(m), and 0 where the scores are not trained. Every sum is kept as the tuple of its terms, so
that a test can leave out any one of them. Matrices may have leading axes (the sectors of
`symmetric`).
"""

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from attnlab.models.word_level import score_drive

Terms = Mapping[str, tuple[Array, ...]]
Matrix = Float[Array, "... w w"]


class Grams(NamedTuple):
    """The state: inner products of the columns of the weights, and of u = W^T a."""

    G: Float[Array, " w"]
    rho: Float[Array, ""]
    V: Float[Array, "w w"]
    S: Float[Array, "w w"]
    K: Float[Array, "w w"]
    Q: Float[Array, "w w"]
    G_start: Float[Array, " w"]
    """f = W_V^T u(0)."""
    rho_start: Float[Array, ""]
    """sigma = u(0).u."""


# --- the value side ---------------------------------------------------------------------------


def value_first(z: Array, A: Array, G: Array, rho: Array, V: Array) -> Terms:
    """The derivatives of G, rho and V."""
    return {
        "G": (rho * z, A * (V @ z)),
        "rho": (2 * A * (G @ z),),
        "V": (jnp.outer(G, z), jnp.outer(z, G)),
    }


def value_second(z: Array, A: Array, G: Array, rho: Array, V: Array) -> Terms:
    """What a step of descent adds to G, rho and V in second order."""
    return {
        "G": (A * (G @ z) * z,),
        "rho": (A**2 * (z @ (V @ z)),),
        "V": (rho * jnp.outer(z, z),),
    }


def start_first(z: Array, A: Array, G_start: Array, rho_start: Array) -> Terms:
    """The derivatives of the products with u(0)."""
    return {"G_start": (rho_start * z,), "rho_start": (A * (G_start @ z),)}


# --- the score side ---------------------------------------------------------------------------


class ScoreDrive(Protocol):
    """The matrix M, as far as it is needed: its products from the left."""

    def times(self, B: Matrix) -> Matrix:
        """M B."""
        ...

    def transposed_times(self, B: Matrix) -> Matrix:
        """M^T B."""
        ...


class ScoreProducts(NamedTuple):
    """The products that the derivatives of S, K and Q are made of."""

    MQ: Matrix
    KM: Matrix
    MSt: Matrix
    """M S^T."""
    StM: Matrix
    """S^T M."""


def score_products(M: ScoreDrive, S: Matrix, K: Matrix, Q: Matrix) -> ScoreProducts:
    """The four products, each with M on the left as K is symmetric."""
    return ScoreProducts(
        MQ=M.times(Q),
        KM=_transposed(M.transposed_times(K)),
        MSt=M.times(_transposed(S)),
        StM=_transposed(M.transposed_times(S)),
    )


def score_first(of: ScoreProducts) -> Terms:
    """The derivatives of S, K and Q."""
    return {
        "S": (of.MQ, of.KM),
        "K": (of.MSt, _transposed(of.MSt)),
        "Q": (_transposed(of.StM), of.StM),
    }


def score_second(M: ScoreDrive, of: ScoreProducts) -> Terms:
    """What a step of descent adds to S, K and Q in second order."""
    return {
        "S": (M.times(of.StM),),
        "K": (M.times(_transposed(of.MQ)),),
        "Q": (M.transposed_times(of.KM),),
    }


class DenseDrive(eqx.Module):
    """M as a matrix."""

    M: Matrix

    def times(self, B: Matrix) -> Matrix:
        """M B."""
        return self.M @ B

    def transposed_times(self, B: Matrix) -> Matrix:
        """M^T B."""
        return _transposed(self.M) @ B


class PlaceDrive(eqx.Module):
    """M as it arises, sample by sample: an L by L block on the words of each.

    A product then costs n L^2 rows instead of w^2, which is much less where words rarely recur.
    """

    terms: Float[Array, "n L L"]
    """By sample, query place and key place; see `word_level.place_drive`."""
    words: Int[Array, "n L"]

    def times(self, B: Matrix) -> Matrix:
        """M B: each key takes the rows of B of the queries."""
        return self._collect(jnp.swapaxes(self.terms, 1, 2), B)

    def transposed_times(self, B: Matrix) -> Matrix:
        """M^T B: each query takes the rows of B of the keys."""
        return self._collect(self.terms, B)

    def _collect(self, weights: Float[Array, "n L L"], B: Matrix) -> Matrix:
        rows = B[self.words]
        # A sum over places, not a batched matrix product: XLA makes one quick loop of it.
        places = range(self.words.shape[1])
        received = sum(weights[:, :, q, None] * rows[:, q, None, :] for q in places)
        return jnp.zeros_like(B).at[self.words].add(received)


_PAIRS_PER_PLACE_PAIR = 4
"""Above this many word pairs per pair of places `PlaceDrive` is faster (measured)."""


def score_drive_of(terms: Float[Array, "n L L"], words: Int[Array, "n L"], count: int) -> Any:
    """M for so many words, in the form that multiplies faster at these sizes."""
    n, L = words.shape
    if count**2 > _PAIRS_PER_PLACE_PAIR * n * L**2:
        return PlaceDrive(terms, words)
    return DenseDrive(score_drive(terms, words, count))


# --- sums -------------------------------------------------------------------------------------


def total(terms: Terms) -> dict[str, Array]:
    """Each sum."""
    return {name: sum(parts[1:], parts[0]) for name, parts in terms.items()}


def moved(
    now: Mapping[str, Array], eta: Array, first: Terms, second: Terms | None = None
) -> dict[str, Array]:
    """The values after one step of descent."""
    linear, quadratic = total(first), total(second or {})
    after = {name: now[name] + eta * linear[name] for name in linear}
    return after | {name: after[name] + eta**2 * quadratic[name] for name in quadratic}


def _transposed(x: Array) -> Array:
    return jnp.swapaxes(x, -1, -2)
