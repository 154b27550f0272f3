"""Own arrays as a batch: what is taken, what is refused and how."""

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.pattern_vote import PatternBatch

X = np.arange(24.0).reshape(3, 4, 2)
Y = np.array([1, -1, 1])
WORDS = np.array([[0, 2], [1, 1], [3, 0]])


def test_vectors_become_a_batch():
    batch = Batch.of(X, Y)
    np.testing.assert_array_equal(batch.tokens, X)
    np.testing.assert_array_equal(batch.vectors(), X)
    np.testing.assert_array_equal(batch.labels, Y)
    assert batch.dimension == 2
    assert not batch.is_words
    assert bool(batch.kept.all())
    np.testing.assert_allclose(batch.shares(), np.full(3, 1 / 3))
    with pytest.raises(TypeError, match="not word indices"):
        _ = batch.words


def test_words_become_a_batch_of_unit_vectors():
    batch = Batch.of(WORDS, Y, vocabulary=5)
    assert batch.is_words
    assert batch.dimension == 5
    expected = np.zeros((3, 2, 5))
    for n, place in np.ndindex(3, 2):
        expected[n, place, WORDS[n, place]] = 1
    np.testing.assert_array_equal(batch.vectors(), expected)
    assert Batch.of(WORDS, Y).dimension == 4


def test_what_is_given_beside_is_kept():
    kept = np.array([[True, False, True, True]] * 3)
    roles = np.tile([0, 1, 2, 3], (3, 1))
    batch = Batch.of(X, Y, kept=kept, roles=roles, weights=[1, 1, 2])
    np.testing.assert_array_equal(batch.kept, kept)
    np.testing.assert_array_equal(batch.roles, roles)
    np.testing.assert_allclose(batch.shares(), [0.25, 0.25, 0.5])
    np.testing.assert_array_equal(batch.weight(), [1, 1, 2])
    np.testing.assert_array_equal(Batch.of(X, Y).weight(), np.full(3, 1 / 3))


def test_weighted_vectors_are_taken_as_they_are():
    weights = np.array([0.1, 0.2, 0.3])
    batch = Batch.weighted(X, np.asarray(Y, float), weights)
    np.testing.assert_array_equal(batch.vectors(), X)
    np.testing.assert_array_equal(batch.labels, Y)
    np.testing.assert_array_equal(batch.weight(), weights)
    np.testing.assert_allclose(batch.shares(), weights / weights.sum(), rtol=1e-14)
    assert batch.kept.all()
    assert batch.dimension == X.shape[-1]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ({"X": X[0]}, r"shape \(4, 2\) and dtype float64; token vectors have shape"),
        ({"X": X[:0], "y": Y[:0]}, "at least one sample and one token"),
        ({"X": np.where(X == 5, np.nan, X)}, r"X\[0, 2, 1\] = nan; give finite numbers"),
        ({"y": Y[:2]}, r"shape \(2,\) for 3 samples; give shape \(3,\)"),
        ({"y": [0, 1, 1]}, r"labels 0 and 1; -1 and \+1 are required: give 2 \* y - 1"),
        ({"y": [1, 2, 3]}, r"labels 1, 2, 3; -1 and \+1"),
        ({"kept": np.zeros((3, 4), bool)}, "no kept token in sample 0"),
        ({"kept": np.ones((3, 3), bool)}, r"kept of shape \(3, 3\)"),
        ({"roles": np.ones((3, 4))}, "roles of shape .* whole numbers"),
        ({"weights": [1, -1, 1]}, "negative or not finite"),
        ({"vocabulary": 4}, "with token vectors; it is for words"),
        ({"X": WORDS, "vocabulary": 3}, "words from 0 to 3 with vocabulary=3"),
        ({"X": WORDS - 1}, "words from -1"),
    ],
)
def test_what_does_not_fit_is_refused_with_a_sentence(arguments, sentence):
    with pytest.raises(BadInput, match=sentence):
        Batch.of(**{"X": X, "y": Y, **arguments})


def test_taking_samples_leaves_what_is_of_the_whole_batch():
    batch = Batch.of(X, Y)
    patterns = PatternBatch(
        **{name: getattr(batch, name) for name in ("tokens", "labels", "roles", "types", "kept")},
        patterns=batch.roles,
        noisy=~batch.kept,
        pattern_vectors=jnp.ones((7, 1, 2)),
    )
    taken = patterns.take(jnp.asarray([2, 0]))
    np.testing.assert_array_equal(taken.labels, Y[[2, 0]])
    np.testing.assert_array_equal(taken.tokens, X[[2, 0]])
    assert isinstance(taken, PatternBatch)
    assert taken.pattern_vectors is not None
    assert taken.pattern_vectors.shape == (7, 1, 2)


def test_words_without_a_vocabulary_have_no_dimension():
    batch = Batch(
        jnp.asarray(WORDS), jnp.asarray(Y), jnp.asarray(WORDS), jnp.asarray(Y), WORDS == WORDS
    )
    with pytest.raises(BadInput, match="give vocabulary"):
        _ = batch.dimension
