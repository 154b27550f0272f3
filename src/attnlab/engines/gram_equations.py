r"""The closed system of word-level Grams, term by term.

$$\dot G = \rho z + A V z,\qquad \dot\rho = 2A\, G\cdot z,\qquad \dot V = G z^\top + z G^\top,$$
$$\dot S = MQ + KM,\qquad \dot K = M S^\top + S M^\top,\qquad \dot Q = M^\top S + S^\top M.$$

One step $\eta$ of gradient descent changes them by $\eta$ times this plus $\eta^2$ times

$$G: A (G\cdot z) z,\quad \rho: A^2 z^\top V z,\quad V: \rho z z^\top,\quad
  S: M S^\top M,\quad K: M Q M^\top,\quad Q: M^\top K M,$$

exactly: a Gram is quadratic in the weights, so nothing of third order is left.

The state also follows the start $u_0 = u(0)$, a vector that stands still:
$\sigma = u_0\cdot u$ and $f = W_V^\top u_0$ obey $\dot\sigma = A f\cdot z$, $\dot f = \sigma z$,
with no term of second order. They tell how far the neurons have moved (`gram_neurons`).

Legend: G, rho, V, S, K, Q, A, z, M as in `attnlab.models.word_level`, but here M holds the factor
1/sqrt(m), and 0 where the scores are not trained. Sums are kept as tuples of their terms, so that
a test can leave out any one of them. Matrices may have leading axes (the sectors of
`symmetric`).
"""

from collections.abc import Mapping
from typing import NamedTuple, Protocol

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

    def scaled(self, factor: Array) -> "ScoreDrive":
        """The drive of factor M."""
        ...

    def times(self, B: Matrix, onto: Matrix | None = None) -> Matrix:
        """M B, added to `onto` if that is given."""
        ...

    def transposed_times(self, B: Matrix, onto: Matrix | None = None) -> Matrix:
        """M^T B, added to `onto` if that is given."""
        ...


def score_first(M: ScoreDrive, S: Matrix, K: Matrix, Q: Matrix) -> Terms:
    """The derivatives of S, K and Q. K is symmetric, so KM is the transpose of M^T K."""
    MSt, MtS = M.times(_transposed(S)), M.transposed_times(S)
    return {
        "S": (M.times(Q), _transposed(M.transposed_times(K))),
        "K": (MSt, _transposed(MSt)),
        "Q": (MtS, _transposed(MtS)),
    }


def score_step(M: ScoreDrive, eta: Array, S: Matrix, K: Matrix, Q: Matrix) -> dict[str, Array]:
    r"""S, K and Q after one step of descent, in six products instead of the seven above.

    With $E = \eta M$ the columns move to $W_Q^+ = W_Q + W_K E$ and $W_K^+ = W_K + W_Q E^\top$, and
    $X = E (S + \tfrac12 E Q)^\top$ holds half of the change of K.
    """
    E = M.scaled(eta)
    KQ = S + _transposed(E.transposed_times(K))  # W_K^T W_Q^+
    QQ = _transposed(E.transposed_times(S, onto=Q))  # W_Q^T W_Q^+
    half = M.scaled(eta / 2).times(Q, onto=S)
    K_and_X = E.times(_transposed(half), onto=K)
    return {
        "S": E.times(QQ, onto=KQ),
        "K": K_and_X + _transposed(K_and_X) - K,
        "Q": E.transposed_times(KQ, onto=QQ),
    }


class DenseDrive(eqx.Module):
    """M as a matrix."""

    M: Matrix

    def scaled(self, factor: Array) -> "DenseDrive":
        """The drive of factor M."""
        return DenseDrive(factor * self.M)

    def times(self, B: Matrix, onto: Matrix | None = None) -> Matrix:
        """M B, added to `onto`."""
        return self.M @ B if onto is None else onto + self.M @ B

    def transposed_times(self, B: Matrix, onto: Matrix | None = None) -> Matrix:
        """M^T B, added to `onto`."""
        return DenseDrive(_transposed(self.M)).times(B, onto)


class PlaceDrive(eqx.Module):
    """M as it arises, sample by sample: an L by L block on the words of each.

    A product then costs n L^2 rows instead of w^2, which is much less where words rarely recur.
    """

    terms: Float[Array, "n L L"]
    """By sample, query place and key place; see `word_level.place_drive`."""
    words: Int[Array, "n L"]

    def scaled(self, factor: Array) -> "PlaceDrive":
        """The drive of factor M."""
        return PlaceDrive(factor * self.terms, self.words)

    def times(self, B: Matrix, onto: Matrix | None = None) -> Matrix:
        """M B: each key takes the rows of B of the queries."""
        return self._collect(jnp.swapaxes(self.terms, 1, 2), B, onto)

    def transposed_times(self, B: Matrix, onto: Matrix | None = None) -> Matrix:
        """M^T B: each query takes the rows of B of the keys."""
        return self._collect(self.terms, B, onto)

    def _collect(self, weights: Float[Array, "n L L"], B: Matrix, onto: Matrix | None) -> Matrix:
        rows = B[self.words]
        # A sum over places, not a batched matrix product: XLA makes one quick loop of it.
        places = range(self.words.shape[1])
        received = sum(weights[:, :, q, None] * rows[:, q, None, :] for q in places)
        base = jnp.zeros_like(B) if onto is None else onto
        return base.at[self.words].add(received)


_PAIRS_PER_PLACE_PAIR = 4
"""Above this many word pairs per pair of places `PlaceDrive` is faster (measured)."""


def score_drive_of(
    terms: Float[Array, "n L L"], words: Int[Array, "n L"], count: int
) -> ScoreDrive:
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
