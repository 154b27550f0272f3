"""The limit at late times against the hard-margin programme solved by a general optimiser."""

import math
from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from attnlab.core import BadInput
from attnlab.papers.yang2024.theory import asymptote

TYPES = (((0, 1, 2), 1, 3), ((0, 2), -1, 1), ((1, 2), -1, 1), ((2,), -1, 1))


def samples(n: int, L: int) -> tuple[np.ndarray, np.ndarray]:
    """The balanced set with distinct random words, written out."""
    fresh = iter(range(3, 10_000))
    words, labels = [], []
    for signals, label, sixths in TYPES:
        for _ in range(sixths * n // 6):
            words.append([*signals, *(next(fresh) for _ in range(L - len(signals)))])
            labels.append(label)
    return np.array(words), np.array(labels)


def shortest(words: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The shortest w with all margins at least one, by SLSQP."""
    d = words.max() + 1
    A = np.zeros((len(words), d))
    for i, row in enumerate(words):
        for word in row:
            A[i, word] += labels[i]
    done = minimize(
        lambda w: w @ w / 2, np.linalg.lstsq(A, np.full(len(A), 1.5), rcond=None)[0],
        jac=lambda w: w, method="SLSQP",
        constraints={"type": "ineq", "fun": lambda w: A @ w - 1, "jac": lambda w: A},
        options={"ftol": 1e-15, "maxiter": 500},
    )  # fmt: skip
    return done.x


@pytest.mark.parametrize(("n", "L"), [(6, 4), (18, 3), (12, 5), (24, 4), (48, 3)])
def test_the_closed_form_is_the_shortest_separating_vector(n, L):
    words, labels = samples(n, L)
    w = shortest(words, labels)
    limit = asymptote.balanced_limit(n, L)
    np.testing.assert_allclose(limit.signals, w[:3], atol=1e-6)
    assert limit.loss_constant == pytest.approx(float(w @ w), rel=1e-6)
    assert pytest.approx(-w[2] / max(w[0], w[1]), rel=1e-5) == limit.R
    types = asymptote.types_of(words)
    sums = [
        np.mean([w[row[row >= 3]].sum() for row in words[types == k]]) for k in range(1, 5)
    ]  # fmt: skip
    np.testing.assert_allclose(limit.random_sums, sums, atol=1e-6)
    unseen = [y * w[list(signals)].sum() for signals, y, _ in TYPES]
    np.testing.assert_allclose(limit.unseen_margins, unseen, atol=1e-6)
    # A word of type k has w = y alpha, and its type's total is alpha times the type's samples.
    for k, (signals, label, sixths) in enumerate(TYPES):
        if len(signals) < L:
            word = words[types == k + 1][0][-1]
            total = label * w[word] * sixths * n / 6
            assert limit.totals[k] == pytest.approx(float(total), abs=1e-6)
    assert limit.type_4_supports == (w[words[types == 4][0][-1]] < -1e-7)
    # The worst new sample, over every choice of one random word of training for all its places.
    per_word = {k: w[words[types == k][0][-1]] for k in range(1, 5) if (k, L) != (1, 3)}
    worst = []
    for signals, label, _ in TYPES:
        places = L - len(signals)
        worst.append(
            min(
                label * (w[list(signals)].sum() + sum(chosen))
                for chosen in product(per_word.values(), repeat=places)
            )
        )
    if L > 3:
        np.testing.assert_allclose(asymptote.worst_seen_margins(n, L), worst, atol=1e-5)


def test_the_general_limit_is_that_of_the_words():
    """Words that repeat within and across samples, in no order."""
    words = np.array(
        [[0, 1, 2, 3], [2, 4, 1, 0], [3, 0, 1, 2], [0, 2, 5, 5], [1, 2, 4, 6], [2, 5, 7, 3]]
    )
    labels = np.array([1, 1, 1, -1, -1, -1])
    w = shortest(words, labels)
    found = asymptote.general_limit(words, labels)
    np.testing.assert_allclose(found.signals, w[:3], atol=1e-5)
    assert found.loss_constant == pytest.approx(float(w @ w), rel=1e-5)
    sums = [
        np.mean([sum(w[k] for k in words[i] if k >= 3) for i in rows])
        for rows in ((0, 1, 2), (3,), (4,), (5,))
    ]
    np.testing.assert_allclose(found.random_sums, sums, atol=1e-5)
    assert found.totals.sum() == pytest.approx(found.loss_constant)
    assert asymptote.types_of(words).tolist() == [1, 1, 1, 2, 3, 4]
    bags = asymptote.bags_of_words(words).toarray()
    for i, row in enumerate(words):
        assert bags[i].tolist() == [list(row).count(k) for k in range(8)]
    few = asymptote.bags_of_words(np.array([[0, 0]])).toarray()
    assert few.tolist() == [[2, 0, 0]]


def test_a_type_without_samples_adds_nothing():
    words, labels = np.array([[0, 1, 2, 3], [0, 2, 4, 5]]), np.array([1, -1])
    found = asymptote.general_limit(words, labels)
    assert found.random_sums[2:].tolist() == [0, 0]


def crossing(f, low: float, high: float) -> float:
    """Where an increasing function passes zero."""
    assert f(low) < 0 < f(high)
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return low


@pytest.mark.parametrize("L", [3, 4, 6.5, 11])
def test_sample_sizes_are_where_the_limits_turn(L):
    unseen = crossing(lambda n: asymptote.balanced_limit(n, L).unseen_margins.min(), 1, 1e4)
    assert asymptote.samples_for_unseen_words(L) == pytest.approx(unseen, rel=1e-9)
    seen = crossing(lambda n: asymptote.worst_seen_margins(n, L).min(), 1, 1e4)
    assert asymptote.samples_for_seen_words(L) == pytest.approx(seen, rel=1e-6)
    # Type 4 supports as long as the three equations give it a positive share.
    free = crossing(lambda n: 1e-12 - asymptote.balanced_limit(n, L).totals[3], 1, 1e4)
    assert asymptote.samples_to_free_type_4(L) == pytest.approx(free, rel=1e-6)


def test_the_root_of_the_quadratic_is_a_root():
    for s in ([0.3, 0.2, 0.1, 0.05], [1.0, 2.0, 2.0, 0.1]):
        R = asymptote.balancing_root(np.array(s))
        s1, s2, s3, s4 = s
        assert R > 0
        assert (s1 + s2) * R**2 + (s3 + s4 - s1) * R == pytest.approx(s2 + s3 + 2 * s1)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: asymptote.balanced_limit(0, 4), "n=0"),
        (lambda: asymptote.balanced_limit(6, 2.9), "L=2.9"),
        (lambda: asymptote.samples_to_free_type_4(2), "L=2"),
        (lambda: asymptote.general_limit(np.zeros((2, 3)), np.ones(2)), "float"),
        (lambda: asymptote.general_limit(np.zeros(3, int), np.ones(3)), r"\(3,\)"),
    ],
)
def test_sizes_that_mean_nothing_are_refused(call, words):
    with pytest.raises(BadInput, match=words):
        call()
    assert math.isfinite(asymptote.balanced_limit(1, 3).R)
