"""The sizes of a co-occurrence data set by hand."""

import pytest

from attnlab.core import BadInput
from attnlab.data import word_sizes


def test_types_and_what_they_hold():
    assert word_sizes.SIGNALS == 3
    assert word_sizes.TYPE_PROBABILITIES == (1 / 2, 1 / 6, 1 / 6, 1 / 6)
    assert word_sizes.SIGNALS_IN_TYPE == (3, 2, 2, 1)
    assert word_sizes.type_counts(6) == (3, 1, 1, 1)
    assert word_sizes.type_counts(60) == (30, 10, 10, 10)


def test_random_words_place_by_place():
    """Of 5 places the signals take 3, 2, 2 and 1, by type."""
    assert word_sizes.random_words_required((1, 0, 0, 0), 5) == 2
    assert word_sizes.random_words_required((0, 1, 2, 0), 5) == 9
    assert word_sizes.random_words_required((3, 1, 1, 1), 5) == 6 + 3 + 3 + 4


def test_edges():
    word_sizes.require_sizes(4, 3)
    for sizes, words in (((3, 3), "d=3"), ((4, 2), "L=2")):
        with pytest.raises(BadInput, match=words):
            word_sizes.require_sizes(*sizes)
    with pytest.raises(BadInput, match="n=0"):
        word_sizes.type_counts(0)
    for n, better in ((1, 6), (7, 12), (62, 66)):
        with pytest.raises(BadInput, match=f"take n={better}"):
            word_sizes.type_counts(n)
