"""A batch of samples, the one thing that every data distribution returns."""

import dataclasses
from typing import ClassVar, Protocol, runtime_checkable

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray
from numpy.typing import ArrayLike

from attnlab.core import BadInput

SomeArray = Array | np.ndarray
UNKNOWN_ROLE = 0
"""The role of every token of a batch whose maker did not give any."""
MOST_ROLES = 63
"""The largest number of a role in own arrays."""


class Batch(eqx.Module):
    """Samples of L tokens each, with what the distribution knows about them.

    Legend: n samples, L tokens in each. What a role or a type number means is said by the
    distribution that drew the batch. Own arrays become a batch by `Batch.of`.
    """

    tokens: Int[Array, "n L"] | Float[Array, "n L d"]
    """Word indices where words are orthonormal, else the vectors themselves."""
    labels: Int[Array, " n"] | Float[Array, " n"]
    """-1 or +1."""
    roles: Int[Array, "n L"]
    types: Int[Array, " n"]
    kept: Bool[Array, "n L"]
    """The tokens that a model may see; all of them unless a sparsification chose."""
    weights: Float[Array, " n"] | None = eqx.field(default=None, kw_only=True)
    """What each sample counts in the loss; all alike if there are none."""
    vocabulary: int | None = eqx.field(default=None, static=True, kw_only=True)
    """How many words there are, where tokens are words."""

    of_the_batch: ClassVar[tuple[str, ...]] = ()
    """Arrays of a subclass that do not have the samples first."""

    @classmethod
    def of(
        cls,
        X: ArrayLike,
        y: ArrayLike,
        *,
        kept: ArrayLike | None = None,
        roles: ArrayLike | None = None,
        weights: ArrayLike | None = None,
        vocabulary: int | None = None,
    ) -> "Batch":
        """Own arrays as a batch: vectors (n, L, d) or words (n, L), and labels -1 or +1 (n,)."""
        tokens, labels = _array("X", X), _array("y", y)
        is_words = _require_tokens(tokens)
        n, L = tokens.shape[:2]
        _require_labels(labels, n)
        if is_words:
            vocabulary = _require_vocabulary(tokens, vocabulary)
        elif vocabulary is not None:
            raise BadInput(
                f"got vocabulary={vocabulary} with token vectors; it is for words (n, L): leave it "
                "out"
            )
        seen = np.ones((n, L), bool) if kept is None else _of_shape("kept", kept, (n, L), "b")
        if not seen.any(axis=1).all():
            empty = int(np.argmin(seen.any(axis=1)))
            raise BadInput(f"got no kept token in sample {empty}; keep at least one in each")
        named = np.full((n, L), UNKNOWN_ROLE) if roles is None else roles
        counted = None if weights is None else _of_shape("weights", weights, (n,), "fiu")
        if counted is not None and not (np.isfinite(counted).all() and (counted >= 0).all()):
            raise BadInput("got weights that are negative or not finite; give numbers from 0 on")
        if counted is not None and not counted.sum() > 0:
            raise BadInput("got weights that are all 0; at least one sample must count")
        of_role = _of_shape("roles", named, (n, L), "iu")
        if of_role.min() < 0 or of_role.max() > MOST_ROLES:
            raise BadInput(
                f"got roles from {of_role.min()} to {of_role.max()}; number them from 0 to at most "
                f"{MOST_ROLES}"
            )
        with jax.enable_x64(True):  # in double precision, whatever the process is set to
            return Batch(
                tokens=jnp.asarray(tokens, jnp.int32 if is_words else float),
                labels=jnp.asarray(labels, jnp.int8),
                roles=jnp.asarray(of_role, jnp.int8),
                types=jnp.asarray(labels, jnp.int8),
                kept=jnp.asarray(seen),
                weights=None if counted is None else jnp.asarray(counted, float),
                vocabulary=vocabulary,
            )

    @classmethod
    def weighted(cls, tokens: SomeArray, labels: SomeArray, weights: SomeArray) -> "Batch":
        """Token vectors of which nothing more is known, each with what it counts; not checked."""
        n, L = tokens.shape[:2]
        return Batch(
            tokens=jnp.asarray(tokens),
            labels=jnp.asarray(labels),
            roles=jnp.full((n, L), UNKNOWN_ROLE, jnp.int8),
            types=jnp.asarray(labels, jnp.int8),
            kept=jnp.ones((n, L), bool),
            weights=jnp.asarray(weights),
        )

    @property
    def is_words(self) -> bool:
        """Whether tokens are word indices."""
        return bool(jnp.issubdtype(self.tokens.dtype, jnp.integer))

    @property
    def words(self) -> Int[Array, "n L"]:
        """The word indices."""
        if not self.is_words:
            raise TypeError("this batch holds token vectors, not word indices; read `tokens`")
        return self.tokens

    @property
    def dimension(self) -> int:
        """The dimension of a token: of its vector, or how many words there are."""
        if not self.is_words:
            return self.tokens.shape[-1]
        if self.vocabulary is None:
            raise BadInput(
                "this batch of words does not know how many words there are; give vocabulary"
            )
        return self.vocabulary

    def vectors(self, dtype: DTypeLike | None = None) -> Float[Array, "n L d"]:
        """The tokens as vectors: words are the unit vectors."""
        if self.is_words:
            return jax.nn.one_hot(self.tokens, self.dimension, dtype=dtype or float)
        return self.tokens if dtype is None else self.tokens.astype(dtype)

    def take(self, rows: Int[Array, " k"] | slice) -> "Batch":
        """The batch with these samples only."""
        names = [
            field.name
            for field in dataclasses.fields(self)
            if eqx.is_array(getattr(self, field.name)) and field.name not in self.of_the_batch
        ]
        return dataclasses.replace(self, **{name: getattr(self, name)[rows] for name in names})

    def weight(self) -> Float[Array, " n"]:
        """What each sample counts in a sum, as it was given; 1/n if nothing was."""
        n = self.labels.shape[0]
        return jnp.full(n, 1 / n) if self.weights is None else self.weights

    def shares(self) -> Float[Array, " n"]:
        """What each sample counts in a mean over the batch; they add up to one."""
        return self.weight() if self.weights is None else self.weights / self.weights.sum()


@runtime_checkable
class Distribution(Protocol):
    """Where samples come from: every data model, and one of your own."""

    def sample(self, key: PRNGKeyArray, n: int) -> Batch:
        """Draw n samples."""
        ...


# --- what own arrays must be ------------------------------------------------------------------


def _array(name: str, given: ArrayLike) -> np.ndarray:
    try:
        return np.asarray(given)
    except ValueError:  # rows of different lengths
        raise BadInput(
            f"got {name} with rows of different lengths; give one array: pad the tokens of short "
            "samples with zeros and leave them out by kept="
        ) from None


def _require_tokens(tokens: np.ndarray) -> bool:
    """Refuse what are neither vectors nor words; whether they are words."""
    if tokens.ndim == 2 and tokens.dtype.kind in "iu":
        kind = "words"
    elif tokens.ndim == 3 and tokens.dtype.kind in "fiu":
        kind = "vectors"
    else:
        raise BadInput(
            f"got X of shape {tokens.shape} and dtype {tokens.dtype}; token vectors have shape "
            "(samples, tokens, dimension), words have shape (samples, tokens) and a whole-number "
            "dtype: reshape or convert X"
        )
    if 0 in tokens.shape:
        raise BadInput(f"got X of shape {tokens.shape}; at least one sample and one token")
    if kind == "vectors" and not np.isfinite(tokens).all():
        place = tuple(int(i) for i in np.argwhere(~np.isfinite(tokens))[0])
        raise BadInput(
            f"got X[{', '.join(map(str, place))}] = {tokens[place]}; give finite numbers"
        )
    return kind == "words"


def _require_labels(labels: np.ndarray, n: int) -> None:
    if labels.shape != (n,):
        raise BadInput(f"got y of shape {labels.shape} for {n} samples; give shape ({n},)")
    values = sorted(set(labels.tolist()))
    if values in ([0, 1], [False, True]):
        raise BadInput("got labels 0 and 1; -1 and +1 are required: give 2 * y - 1")
    if not set(values) <= {-1, 1}:
        shown = ", ".join(map(str, values[:4])) + (", ..." if len(values) > 4 else "")
        raise BadInput(f"got labels {shown}; -1 and +1 are required")


def _require_vocabulary(words: np.ndarray, vocabulary: int | None) -> int:
    least = int(words.max()) + 1
    if words.min() < 0 or (vocabulary is not None and vocabulary < least):
        raise BadInput(
            f"got words from {words.min()} to {words.max()} with vocabulary={vocabulary}; words "
            "are numbered from 0 and below the vocabulary"
        )
    return least if vocabulary is None else vocabulary


def _of_shape(name: str, given: ArrayLike, shape: tuple[int, ...], kinds: str) -> np.ndarray:
    array = np.asarray(given)
    if array.shape != shape or array.dtype.kind not in kinds:
        wanted = {"b": "true or false", "iu": "whole numbers"}.get(kinds, "numbers")
        raise BadInput(
            f"got {name} of shape {array.shape} and dtype {array.dtype}; {wanted} of shape {shape} "
            "are required"
        )
    return array
