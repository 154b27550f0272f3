"""Counts of patterns: whole tokens, a majority, and what is refused."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.core import BadInput
from attnlab.data.pattern_sizes import pattern_counts, require_patterns

L = 20


@given(
    alpha_star=st.integers(1, 20),
    alpha_sharp=st.integers(0, 20),
    M=st.integers(3, 12),
    classes=st.sampled_from([2, 4]),
)
@settings(max_examples=150, deadline=None)
def test_counts_add_up_and_give_a_majority_or_a_sentence(alpha_star, alpha_sharp, M, classes):
    fractions = alpha_star / L, alpha_sharp / L
    if classes >= M:
        return
    try:
        counts = np.array(pattern_counts(L, M, classes, *fractions))
    except BadInput:
        assert alpha_sharp >= alpha_star or alpha_star + alpha_sharp > L
        return
    assert (counts.sum(1) == L).all()
    assert (counts >= 0).all()
    for label, row in enumerate(counts):
        assert row[label] == alpha_star
        assert row[:classes].sum() - alpha_star == alpha_sharp
        assert row[:classes].argmax() == label
        assert np.ptp(row[classes:]) <= 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((20, 5, 2, 0.41, 0.2), ("0.41", "L=20", "8.2 tokens", "whole number")),
        ((20, 5, 2, 0.2, 0.4), ("0.2", "0.4", "majority")),
        ((20, 5, 2, 0.8, 0.4), ("together 1.2",)),
        ((20, 5, 2, -0.1, 0.0), ("alpha_star=-0.1", "between 0 and 1")),
    ],
)
def test_impossible_fractions_are_refused_with_the_numbers(arguments, words):
    with pytest.raises(BadInput) as refusal:
        pattern_counts(*arguments)
    for word in words:
        assert word in str(refusal.value)


def test_fractions_that_round_to_a_tie_are_refused():
    with pytest.raises(BadInput, match="4 label-relevant tokens against 4"):
        pattern_counts(20, 5, 2, 0.2 + 4e-7, 0.2)


def test_the_first_patterns_take_the_rest():
    assert pattern_counts(20, 6, 2, 0.4, 0.2) == ((8, 4, 2, 2, 2, 2), (4, 8, 2, 2, 2, 2))
    assert pattern_counts(20, 5, 2, 0.35, 0.25) == ((7, 5, 3, 3, 2), (5, 7, 3, 3, 2))
    assert pattern_counts(20, 6, 4, 0.4, 0.25)[1] == (2, 8, 2, 1, 4, 3)
    assert pattern_counts(10, 3, 2, 1.0, 0.0) == ((10, 0, 0), (0, 10, 0))


@pytest.mark.parametrize(
    ("arguments", "words"), [((5, 4, 2), "M <= d"), ((4, 9, 4), "raise M"), ((2, 9, 2), "raise M")]
)
def test_patterns_that_do_not_fit_are_refused(arguments, words):
    require_patterns(5, 5, 4)
    require_patterns(3, 3, 2)
    with pytest.raises(BadInput, match=words):
        require_patterns(*arguments)


def test_a_whole_number_of_tokens_up_to_a_millionth_of_the_sample():
    assert pattern_counts(20, 5, 2, 0.4 + 0.9e-6, 0.2)[0][0] == 8
    with pytest.raises(BadInput, match="whole number"):
        pattern_counts(20, 5, 2, 0.4 + 1.1e-6, 0.2)


def test_fractions_at_their_edges():
    assert pattern_counts(10, 3, 2, 0.6, 0.4) == ((6, 4, 0), (4, 6, 0))
    with pytest.raises(BadInput, match="together"):
        pattern_counts(1000, 3, 2, 0.6, 0.401)
    with pytest.raises(BadInput, match="majority"):
        pattern_counts(10, 3, 2, 0.4, 0.4)
    with pytest.raises(BadInput, match=r"alpha_star=0\.3 or 0\.4"):
        pattern_counts(10, 3, 2, 0.35, 0.1)
