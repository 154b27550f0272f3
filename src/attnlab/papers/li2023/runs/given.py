"""A cell of li2023 and its key as a compiled run takes them."""

from typing import NamedTuple

import equinox as eqx
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Bool, Float, Int, PRNGKeyArray

from attnlab.core import Key
from attnlab.data.pattern_vote import PatternVote, orthonormal_sets
from attnlab.numerics.random import stream_key
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.training.descent import log_spaced_steps
from attnlab.training.inputs import Inputs, compiled


class Streams(NamedTuple):
    """The random streams of a run."""

    data: PRNGKeyArray
    init: PRNGKeyArray
    batches: PRNGKeyArray
    test: PRNGKeyArray
    selection: PRNGKeyArray


class Given(eqx.Module):
    """The settings of a run, the arrays that follow from them, and its random streams."""

    inputs: Inputs
    source: PatternVote
    """Where samples are drawn from; its patterns are padded to `pattern_room`."""
    record_at: Int[Array, " recorded"]
    unnormed: Float[Array, "M d"]
    """The directions of the patterns before any layer norm: what the first weights are made for."""
    tau: Float[Array, ""]
    """The norm of a token's noise, as Assumption 1's conditions have it."""
    streams: Streams

    @property
    def dtype(self) -> np.dtype:
        """The precision of training."""
        return np.dtype(self.inputs.dtype)

    @property
    def directions(self) -> Float[Array, "M d"]:
        """The unit vectors of the patterns; with sets (G.2), of their means."""
        mean = self.source.vectors.mean(1)
        return mean / jnp.linalg.norm(mean, axis=1, keepdims=True)

    @property
    def used(self) -> Bool[Array, " M"]:
        """Which patterns are not padding."""
        return jnp.arange(self.inputs.pattern_room) < self.inputs.M


def given(cell: TrainingSettings, key: Key) -> Given:
    """All that a compiled run of the cell needs."""
    vectors = _vectors(cell)
    return Given(
        inputs=compiled(cell),
        source=_source(cell, _layer_normed(vectors) if cell.layer_norm else vectors),
        unnormed=jnp.asarray(_directions(vectors)),
        record_at=jnp.asarray(_recorded_steps(cell)),
        tau=jnp.asarray(cell.c0 * np.sqrt(cell.d)),
        streams=Streams(*(stream_key(key, stream) for stream in Streams._fields)),
    )


def _vectors(cell: TrainingSettings) -> Float[np.ndarray, "room K d"]:
    room = cell.pattern_room
    vectors = np.zeros((room, cell.set_size, cell.d))
    vectors[: cell.M] = orthonormal_sets(cell.M, cell.d, cell.set_size, cell.set_distance)
    if room > cell.M:
        vectors[:, 0] = np.eye(room, cell.d)
    return vectors


def _directions(vectors: np.ndarray) -> np.ndarray:
    mean = vectors.mean(1)
    return mean / np.linalg.norm(mean, axis=1, keepdims=True)


def _layer_normed(vectors: np.ndarray) -> np.ndarray:
    """Entries centred and, the scale being 1/sqrt(d), of unit norm."""
    centred = vectors - vectors.mean(-1, keepdims=True)
    return centred / np.linalg.norm(centred, axis=-1, keepdims=True)


def _source(cell: TrainingSettings, vectors: np.ndarray) -> PatternVote:
    room = cell.pattern_room
    expected = _expected_counts(cell)
    counts = np.zeros((len(expected), room), int)
    counts[:, : cell.M] = expected
    return PatternVote(
        vectors=jnp.asarray(vectors),
        counts=jnp.asarray(counts),
        c0=jnp.asarray(cell.c0),
        noisy_share=jnp.asarray(cell.noisy_share),
        noisy_c0=jnp.asarray(cell.noisy_c0),
        shuffled_order=jnp.asarray(cell.order == "shuffled"),
        normalise=jnp.asarray(cell.normalise),
        multinomial=cell.fractions == "multinomial",
        exact_balance=jnp.asarray(cell.balance == "exact"),
        classes=cell.classes,
    )


def _expected_counts(cell: TrainingSettings) -> Int[np.ndarray, "rows M"]:
    if cell.fractions != "multinomial":
        return np.array(cell.counts())
    # Only their proportions are used: as fine as an integer allows.
    fine = 10**6
    other = (1 - cell.alpha_star - cell.sharp) / (cell.M - cell.classes)
    shares = np.full((cell.classes, cell.M), other)
    shares[:, : cell.classes] = cell.sharp / (cell.classes - 1)
    shares[np.arange(cell.classes), np.arange(cell.classes)] = cell.alpha_star
    return np.round(fine * shares).astype(int)


def _recorded_steps(cell: TrainingSettings) -> Int[np.ndarray, " recorded"]:
    if cell.probes == "outcome":
        return np.array([0, cell.steps])
    steps = log_spaced_steps(cell.steps, cell.records)
    # Of one length whatever the rounding merges, so that the records are data.
    return np.pad(steps, (cell.records - steps.size, 0))
