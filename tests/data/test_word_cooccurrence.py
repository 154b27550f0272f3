import dataclasses
from functools import cache, partial
from types import SimpleNamespace

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from attnlab.core import BadInput
from attnlab.data.batch import Batch
from attnlab.data.word_cooccurrence import (
    TYPE_PROBABILITIES,
    BalancedTrainingSet,
    IndependentSamples,
    Role,
    random_words_required,
    repeated_random_words,
    samples_with_a_repeated_word,
    type_proportions,
)

# Few shapes and many seeds: a new shape is a new compilation.
SHAPES = st.sampled_from([(6, 3, 7), (60, 5, 163)])
SEEDS = st.integers(0, 2**31 - 1)
quick = settings(max_examples=25, deadline=None, derandomize=True)


@cache
def sampler(distribution, n):
    return jax.jit(partial(distribution.sample, n=n))


def in_numpy(batch: Batch) -> SimpleNamespace:
    names = ("words", "labels", "roles", "types", "kept")
    return SimpleNamespace(**{name: np.asarray(getattr(batch, name)) for name in names})


def draw(distribution, n: int, seed: int = 0) -> SimpleNamespace:
    return in_numpy(sampler(distribution, n)(jax.random.key(seed)))


def draw_once(distribution, n: int) -> SimpleNamespace:
    """Uncompiled: several distributions of one shape share their primitive operations."""
    return in_numpy(distribution.sample(jax.random.key(0), n))


def assert_is_a_batch_of_the_model(batch: SimpleNamespace, d: int) -> None:
    """Invariants of every sampler: signals once, words match roles, labels match types."""
    words, roles = np.asarray(batch.words), np.asarray(batch.roles)
    for index, role in enumerate([Role.FIRST_SIGNAL, Role.SECOND_SIGNAL, Role.COMMON]):
        np.testing.assert_array_equal(words == index, roles == role)
    np.testing.assert_array_equal(words >= 3, roles == Role.RANDOM)
    assert words.max() < d
    has_first = (words == 0).sum(axis=1)
    has_second = (words == 1).sum(axis=1)
    np.testing.assert_array_equal((words == 2).sum(axis=1), 1)
    np.testing.assert_array_equal(has_first, np.isin(batch.types, [1, 2]))
    np.testing.assert_array_equal(has_second, np.isin(batch.types, [1, 3]))
    assert np.asarray(batch.kept).all()
    assert words.dtype == np.int32
    assert roles.dtype == np.int8


@quick
@given(SHAPES, SEEDS)
def test_balanced_set_keeps_assumption_2_3(shape, seed) -> None:
    n, L, d = shape
    batch = draw(BalancedTrainingSet(d, L), n, seed)
    assert_is_a_batch_of_the_model(batch, d)
    np.testing.assert_array_equal(batch.labels, np.where(batch.types == 1, 1, -1))
    np.testing.assert_array_equal(type_proportions(batch.types), TYPE_PROBABILITIES)
    assert repeated_random_words(batch.words, batch.roles) == 0
    assert samples_with_a_repeated_word(batch.words) == 0
    random = int((batch.roles == Role.RANDOM).sum())
    assert random == random_words_required((n // 2, n // 6, n // 6, n // 6), L)
    assert 3 * random == n * (3 * L - 7)


@quick
@given(SEEDS)
def test_without_distinctness_only_the_words_change(seed) -> None:
    loose, tight = BalancedTrainingSet(163, 5, distinct=False), BalancedTrainingSet(163, 5)
    a, b = draw(loose, 60, seed), draw(tight, 60, seed)
    assert_is_a_batch_of_the_model(a, 163)
    np.testing.assert_array_equal(a.roles, b.roles)
    assert repeated_random_words(a.words, a.roles) > 0


@settings(quick, max_examples=5)
@given(SEEDS)
def test_independent_samples_keep_definition_2_1(seed) -> None:
    batch = draw(IndependentSamples(11, 5), 12_000, seed)
    assert_is_a_batch_of_the_model(batch, 11)
    np.testing.assert_array_equal(batch.labels, np.where(batch.types == 1, 1, -1))


def test_independent_types_words_and_places_have_their_frequencies() -> None:
    n, d, L = 12_000, 11, 5
    batch = draw(IndependentSamples(d, L), n, 7)
    counts = np.bincount(batch.types, minlength=5)[1:]
    assert stats.chisquare(counts, n * np.array(TYPE_PROBABILITIES)).pvalue > 1e-3
    random = np.bincount(batch.words[batch.roles == Role.RANDOM] - 3, minlength=d - 3)
    assert stats.chisquare(random).pvalue > 1e-3
    for role in (Role.FIRST_SIGNAL, Role.SECOND_SIGNAL, Role.COMMON):
        assert stats.chisquare((batch.roles == role).sum(axis=0)).pvalue > 1e-3
    # Pairs of places too: each of the L (L-1) ordered pairs of the two signals is as likely.
    both = batch.roles[batch.types == 1]
    first, second = (np.argmax(both == role, axis=1) for role in (1, 2))
    pairs = np.bincount(first * L + second, minlength=L * L).reshape(L, L)
    assert np.trace(pairs) == 0
    assert stats.chisquare(pairs[~np.eye(L, dtype=bool)]).pvalue > 1e-3


def test_balanced_places_are_uniform() -> None:
    roles = np.concatenate(
        [draw(BalancedTrainingSet(163, 5), 60, seed).roles for seed in range(60)]
    )
    for role in (Role.FIRST_SIGNAL, Role.SECOND_SIGNAL, Role.COMMON):
        assert stats.chisquare((roles == role).sum(axis=0)).pvalue > 1e-3


def test_appendix_a_cannot_have_distinct_words() -> None:
    counts = BalancedTrainingSet(64, 5).counts(60)
    assert counts == (30, 10, 10, 10)
    assert random_words_required(counts, 5) == 160
    batch = draw_once(BalancedTrainingSet(64, 5, distinct=False), 60)
    assert repeated_random_words(batch.words, batch.roles) >= 160 - 61
    with pytest.raises(BadInput, match=r"61 random words.*n=60.*L=5.*need 160.*d>=163"):
        BalancedTrainingSet(64, 5).sample(jax.random.key(0), 60)


def test_controls_break_what_they_say_and_nothing_else() -> None:
    plain = draw_once(BalancedTrainingSet(64, 5, distinct=False), 60)
    shuffled = draw_once(BalancedTrainingSet(64, 5, distinct=False, shuffled_labels=True), 60)
    np.testing.assert_array_equal(plain.words, shuffled.words)
    assert shuffled.labels.sum() == 0
    assert (shuffled.labels != plain.labels).any()

    unbalanced = draw_once(
        BalancedTrainingSet(64, 5, distinct=False, type_counts=(40, 19, 0, 1)), 60
    )
    np.testing.assert_array_equal(np.bincount(unbalanced.types, minlength=5)[1:], [40, 19, 0, 1])

    pooled = draw_once(BalancedTrainingSet(64, 5, distinct=False, pool=2), 60)
    assert_is_a_batch_of_the_model(pooled, 64)
    assert set(pooled.words[pooled.roles == 0]) == {3, 4}
    assert samples_with_a_repeated_word(pooled.words) > 0

    tied = draw_once(BalancedTrainingSet(64, 5, distinct=False, label_correlation=1.0), 60)
    assert_is_a_batch_of_the_model(tied, 64)
    odd = tied.words % 2 == 1
    is_random = tied.roles == Role.RANDOM
    np.testing.assert_array_equal(
        odd[is_random], np.broadcast_to((tied.labels == 1)[:, None], odd.shape)[is_random]
    )
    independent = draw_once(IndependentSamples(64, 5, shuffled_labels=True, pool=3), 60)
    assert (independent.labels != np.where(independent.types == 1, 1, -1)).any()
    assert independent.words.max() == 5


def test_words_that_go_with_the_label_are_every_second_word_of_the_pool() -> None:
    """Of four random words 3..6, samples with label +1 take 3 and 5, the others 4 and 6."""
    of = BalancedTrainingSet(11, 5, distinct=False, pool=4, label_correlation=1.0)
    batch = draw_once(of, 60)
    for label, words in ((1, {3, 5}), (-1, {4, 6})):
        random = batch.words[batch.labels == label][batch.roles[batch.labels == label] == 0]
        assert set(random.tolist()) == words
    # Half of the places tied: three in four words are of the label's half.
    half = draw_once(dataclasses.replace(of, label_correlation=0.5), 600)
    of_label = (half.words % 2 == 1) == (half.labels == 1)[:, None]
    own = of_label[half.roles == 0]
    assert stats.binomtest(int(own.sum()), own.size, 0.75).pvalue > 1e-3
    whole = draw_once(dataclasses.replace(of, pool=None), 600)
    assert set(whole.words[whole.roles == 0].tolist()) == set(range(3, 11))


def test_descriptions_count_by_hand() -> None:
    np.testing.assert_allclose(type_proportions(np.array([1, 1, 2, 4])), [0.5, 0.25, 0, 0.25])
    words = np.array([[2, 3, 3], [0, 2, 4], [2, 4, 3]])
    roles = np.array([[3, 0, 0], [1, 3, 0], [3, 0, 0]])
    assert repeated_random_words(words, roles) == 3  # 3 twice more, 4 once more
    assert samples_with_a_repeated_word(words) == 1


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: IndependentSamples(3, 5), r"d=3 .*d>=4"),
        (lambda: IndependentSamples(64, 5, pool=0), r"pool=0 .*1 to 61"),
        (lambda: BalancedTrainingSet(64, 5).counts(0), r"n=0 .*at least 1"),
        (lambda: IndependentSamples(64, 2), r"L=2 .*L>=3"),
        (lambda: IndependentSamples(64, 5).sample(jax.random.key(0), 0), r"n=0 .*at least 1"),
        (lambda: BalancedTrainingSet(64, 5).counts(62), r"n=62.*divisible by 6.*n=66"),
        (lambda: BalancedTrainingSet(64, 5, type_counts=(1, 1, 1, 1)).counts(6), r"n=6 .*to 4"),
        (lambda: BalancedTrainingSet(64, 5, type_counts=(1, 1, 1, -1)), r"none negative"),
        (lambda: BalancedTrainingSet(64, 5, distinct=False, pool=62), r"pool=62 .*1 to 61"),
        (lambda: BalancedTrainingSet(64, 5, pool=9), r"distinct=False"),
        (
            lambda: BalancedTrainingSet(64, 5, distinct=False, label_correlation=1.5),
            r"1\.5.*0 to 1",
        ),
        (
            lambda: BalancedTrainingSet(4, 5, distinct=False, label_correlation=0.5),
            r"got 1 random word .*at least 2",
        ),
    ],
)
def test_impossible_sizes_are_refused_with_the_numbers(make, sentence) -> None:
    # The smallest sizes that can exist.
    IndependentSamples(4, 3, pool=1)
    BalancedTrainingSet(5, 3, distinct=False, label_correlation=1.0)
    BalancedTrainingSet(64, 5, type_counts=(1, 0, 0, 0))
    with pytest.raises(BadInput, match=sentence):
        make()


def test_a_batch_of_vectors_has_no_words() -> None:
    batch = BalancedTrainingSet(64, 5, distinct=False).sample(jax.random.key(0), 60)
    vectors = jax.nn.one_hot(batch.words, 64)
    with pytest.raises(TypeError, match="not word indices"):
        _ = dataclasses.replace(batch, tokens=vectors).words
