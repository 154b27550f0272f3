"""The hard-margin routine against closed forms, its own certificate and a slow route."""

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from attnlab.core import BadInput
from attnlab.numerics.max_margin import max_margin, max_margin_of_gram


def separable_data(seed: int, n: int, p: int, push: float = 0.3):
    rng = np.random.default_rng(seed)
    X, w = rng.normal(size=(n, p)), rng.normal(size=p)
    y = np.where(X @ w >= 0, 1.0, -1.0)
    return X + push * y[:, None] * w / np.linalg.norm(w), y


def assert_optimal(solution, X, y, tolerance=1e-12):
    """Karush, Kuhn and Tucker: feasible, spanned by the duals, tight where a dual is positive."""
    w, alpha = solution.direction, solution.dual
    outputs = y * (X @ w)
    assert solution.separable
    assert outputs.min() >= 1 - tolerance
    assert alpha.min() >= 0
    np.testing.assert_allclose((alpha * y) @ X, w, rtol=0, atol=tolerance * np.linalg.norm(w))
    assert np.abs(alpha * (outputs - 1)).sum() <= tolerance * alpha.sum()
    assert 1 / np.linalg.norm(w) == pytest.approx(solution.margin, rel=tolerance)
    assert 0 <= solution.gap <= tolerance
    np.testing.assert_allclose(solution.signed_outputs, outputs, rtol=tolerance)


# --- closed forms -----------------------------------------------------------------------------


def test_one_sample_is_its_own_direction():
    solution = max_margin(np.array([[3.0, 4.0]]), np.array([-1]))
    assert solution.margin == pytest.approx(5, rel=1e-15)
    np.testing.assert_allclose(solution.direction, [-3 / 25, -4 / 25], rtol=1e-15)
    assert list(solution.support) == [0]


def test_orthogonal_samples_add_their_inverse_squares():
    lengths = np.array([1.0, 2.0, 0.5, 7.0])
    y = np.array([1, -1, -1, 1])
    solution = max_margin(np.diag(lengths), y)
    assert solution.margin == pytest.approx((lengths**-2).sum() ** -0.5, rel=1e-14)
    np.testing.assert_allclose(solution.direction, y / lengths, rtol=1e-13)
    np.testing.assert_allclose(solution.dual, lengths**-2, rtol=1e-13)


def test_no_intercept_is_fitted():
    # With an intercept these two points would be separated at distance 1/2 from each.
    solution = max_margin(np.array([[1.0, 1.0], [2.0, 1.0]]), np.array([1, 1]))
    assert solution.margin == pytest.approx(np.sqrt(2), rel=1e-14)
    assert list(solution.support) == [0]


def test_two_words_and_a_common_one():
    # Types 1..4 of word co-occurrence without random words: w = (2, 2, -3), margin 1/sqrt(17).
    X = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]])
    solution = max_margin(X, np.array([1, -1, -1, -1]))
    np.testing.assert_allclose(solution.direction, [2, 2, -3], rtol=1e-13)
    np.testing.assert_allclose(solution.dual, [7, 5, 5, 0], rtol=1e-12, atol=1e-14)
    assert list(solution.support) == [0, 1, 2]


# --- the certificate and a slow route ---------------------------------------------------------


@pytest.mark.parametrize(("n", "p"), [(1, 5), (8, 3), (60, 10), (40, 40), (30, 200), (100, 150)])
def test_the_certificate_closes(n, p):
    X, y = separable_data(n + p, n, p)
    assert_optimal(max_margin(X, y), X, y)


@pytest.mark.parametrize("seed", range(5))
def test_agrees_with_a_general_solver(seed):
    X, y = separable_data(seed, 12, 4)
    slow = minimize(
        lambda w: w @ w / 2,
        np.zeros(4),
        jac=lambda w: w,
        method="SLSQP",
        constraints={
            "type": "ineq",
            "fun": lambda w: y * (X @ w) - 1,
            "jac": lambda w: y[:, None] * X,
        },
        options={"ftol": 1e-14, "maxiter": 500},
    )
    assert slow.success
    np.testing.assert_allclose(max_margin(X, y).direction, slow.x, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize(("n", "p"), [(20, 5), (30, 100)])
def test_a_gram_matrix_gives_the_same(n, p):
    X, y = separable_data(7, n, p)
    by_features, by_gram = max_margin(X, y), max_margin_of_gram(X @ X.T, y)
    assert by_gram.gap <= 1e-12
    assert by_gram.direction is None
    assert by_gram.margin == pytest.approx(by_features.margin, rel=1e-12)
    np.testing.assert_allclose(by_gram.dual, by_features.dual, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(by_gram.signed_outputs, by_features.signed_outputs, rtol=1e-10)


def test_signed_rows_need_no_labels():
    X, y = separable_data(3, 20, 6)
    np.testing.assert_array_equal(max_margin(X, y).direction, max_margin(y[:, None] * X).direction)


def test_duplicates_change_nothing_but_share_the_dual():
    X, y = separable_data(11, 15, 4)
    once, thrice = max_margin(X, y), max_margin(np.repeat(X, 3, axis=0), np.repeat(y, 3))
    assert_optimal(thrice, np.repeat(X, 3, axis=0), np.repeat(y, 3))
    np.testing.assert_allclose(thrice.direction, once.direction, rtol=1e-10)
    np.testing.assert_allclose(thrice.dual.reshape(-1, 3).sum(axis=1), once.dual, atol=1e-9)


def test_a_small_margin_is_still_certified():
    # Lengths that differ by a million, and the margin a millionth of the longest.
    solution = max_margin(np.array([[1.0, 0.0], [0.0, 1e-6]]))
    assert solution.margin == pytest.approx((1 + 1e12) ** -0.5, rel=1e-12)
    assert solution.gap <= 1e-12


# --- properties -------------------------------------------------------------------------------


@settings(derandomize=True, deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(1, 25),
    p=st.integers(1, 30),
    factor=st.floats(-30, 30).map(lambda e: 10.0**e),
)
def test_scaling_the_features_scales_the_margin(seed, n, p, factor):
    X, y = separable_data(seed, n, p)
    plain, scaled = max_margin(X, y), max_margin(factor * X, y)
    assert scaled.margin == pytest.approx(factor * plain.margin, rel=1e-10)
    np.testing.assert_allclose(
        scaled.direction * factor, plain.direction, rtol=1e-8, atol=1e-8 / plain.margin
    )
    assert scaled.gap <= 1e-12


@settings(derandomize=True, deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 25), p=st.integers(1, 30))
def test_one_more_sample_never_widens_the_margin(seed, n, p):
    X, y = separable_data(seed, n, p)
    assert max_margin(X, y).margin <= max_margin(X[:-1], y[:-1]).margin * (1 + 1e-12)


@settings(derandomize=True, deadline=None, max_examples=50)
@given(seed=st.integers(0, 10**6), n=st.integers(1, 20), p=st.integers(1, 20))
def test_margin_and_bound_enclose_every_other_direction(seed, n, p):
    X, y = separable_data(seed, n, p)
    solution = max_margin(X, y)
    other = np.random.default_rng(seed + 1).normal(size=p) + 3 * solution.direction
    assert (y * (X @ other)).min() / np.linalg.norm(other) <= solution.margin_bound * (1 + 1e-12)


# --- inseparable data and bad input -----------------------------------------------------------


def assert_inseparable(solution, A):
    assert not solution.separable
    assert solution.margin == 0
    assert solution.direction is None
    assert "not separable" in solution.message
    # Gordan: weights that sum to one and cancel the signed samples.
    assert solution.dual.min() >= 0
    assert solution.dual.sum() == pytest.approx(1, rel=1e-12)
    assert np.linalg.norm(solution.dual @ A) <= 1e-10 * np.abs(A).max(initial=1)


@pytest.mark.parametrize(
    "rows",
    [
        [[1.0, 0.0], [-1.0, 0.0]],
        [[1.0, 0.0], [0.0, 0.0]],
        [[0.0, 0.0]],
        [[1.0, 0.0], [-0.5, 1.0], [-0.5, -1.0]],
    ],
)
def test_inseparable_data_are_reported_with_a_proof(rows):
    A = np.array(rows)
    assert_inseparable(max_margin(A), A)
    assert_inseparable(max_margin_of_gram(A @ A.T), A)


@pytest.mark.parametrize("seed", range(5))
def test_random_labels_on_few_features_are_inseparable(seed):
    A = np.random.default_rng(seed).normal(size=(200, 5))
    assert_inseparable(max_margin(A), A)


def test_the_sentence_names_margin_support_and_gap():
    message = max_margin(np.eye(3)).message
    assert message.startswith("separable with margin 0.57735; 3 of 3 samples support it")


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: max_margin(np.zeros((0, 3))), "at least one"),
        (lambda: max_margin(np.array([[np.nan]])), "0 of 1 finite"),
        (lambda: max_margin(np.eye(2), np.array([0, 1])), "each -1 or +1"),
        (lambda: max_margin(np.eye(2), np.array([1])), "give 2 labels"),
        (lambda: max_margin_of_gram(np.ones((2, 3))), "square and symmetric"),
        (lambda: max_margin_of_gram(np.array([[1.0, 2.0], [2.0, 1.0]])), "none below zero"),
    ],
)
def test_bad_input_is_named(call, words):
    with pytest.raises(BadInput, match=words.replace("+", r"\+")):
        call()


def test_thousands_of_samples(capsys):
    # Timed for the reader only: a wall clock decides nothing on a shared machine.
    for n, p in [(1000, 60), (2000, 120)]:
        X, y = separable_data(1, n, p)
        start = time.perf_counter()
        solution = max_margin(X, y)
        seconds = time.perf_counter() - start
        with capsys.disabled():
            print(f"\nmax_margin n={n} p={p}: {seconds:.2f} s, gap {solution.gap:.0e}")
        assert_optimal(solution, X, y)
