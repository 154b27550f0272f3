"""The limit at late times: closed form, maximum margin and direct integration agree."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import expit

from attnlab.core import BadInput
from attnlab.papers.yang2024.theory.asymptote import (
    balanced_limit,
    balancing_root,
    general_limit,
    samples_for_seen_words,
    samples_for_unseen_words,
    samples_to_free_type_4,
    types_of,
    worst_seen_margins,
)
from attnlab.papers.yang2024.theory.phase_1 import (
    uniform_path,
)

SIGNALS = {1: [0, 1, 2], 2: [0, 2], 3: [1, 2], 4: [2]}
sizes = st.tuples(st.floats(6, 1e6), st.floats(3, 200))


def balanced_set(n: int, L: int) -> tuple[np.ndarray, np.ndarray]:
    """Word indices and labels with exact proportions and distinct random words."""
    types = np.repeat([1, 2, 3, 4], [n // 2, n // 6, n // 6, n // 6])
    rows, next_word = [], 3
    for kind in types:
        k = L - len(SIGNALS[kind])
        rows.append(SIGNALS[kind] + list(range(next_word, next_word + k)))
        next_word += k
    return np.array(rows), np.where(types == 1, 1, -1)


def logistic_flow(words: np.ndarray, labels: np.ndarray, tau: float) -> np.ndarray:
    """G at time tau by integrating dG/dtau = (1/n) sum g_i y_i bag_i word by word: the oracle."""
    X = np.zeros((len(words), words.max() + 1))
    np.add.at(X, (np.arange(len(words))[:, None], words), 1)

    def field(s, G):  # in s = log(1 + tau), or late times would take millions of steps
        return np.exp(s) * ((expit(-labels * (X @ G)) * labels) @ X) / len(words)

    span = (0, math.log1p(tau))
    done = solve_ivp(field, span, np.zeros(X.shape[1]), method="DOP853", rtol=1e-11, atol=1e-12)
    return np.append(done.y[:, -1], X @ done.y[:, -1])


# --- closed form ------------------------------------------------------------------------------


def test_many_samples():
    limit = balanced_limit(math.inf, 7)
    np.testing.assert_allclose(limit.totals, [7, 5, 5, 0], rtol=1e-14)
    np.testing.assert_allclose(limit.signals, [2, 2, -3], rtol=1e-14)
    np.testing.assert_allclose(limit.unseen_margins, [1, 1, 1, 3], rtol=1e-14)
    assert limit.loss_constant == pytest.approx(17, rel=1e-14)
    np.testing.assert_allclose(limit.R, 1.5, rtol=1e-14)
    assert not limit.type_4_supports


@pytest.mark.parametrize(
    ("n", "L", "supports"),
    [
        *[(60, 5, False), (120, 5, False), (42, 5, False), (60, 3, False)],
        *[
            (36, 5, True),
            (24, 5, True),
            (18, 8, True),
            (12, 4, True),
            (120, 20, True),
            (6, 3, True),
        ],
    ],
)
def test_closed_form_agrees_with_the_maximum_margin(n, L, supports):
    closed, general = balanced_limit(n, L), general_limit(*balanced_set(n, L))
    assert closed.type_4_supports == supports == general.type_4_supports
    assert general.solution is not None
    assert general.solution.gap <= 1e-12
    np.testing.assert_allclose(general.totals, closed.totals, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(general.signals, closed.signals, rtol=1e-9)
    np.testing.assert_allclose(general.random_sums, closed.random_sums, rtol=1e-9, atol=1e-12)
    assert general.loss_constant == pytest.approx(closed.loss_constant, rel=1e-10)
    assert general.loss_constant == pytest.approx(general.solution.margin**-2, rel=1e-10)
    np.testing.assert_allclose(general.R, closed.R, rtol=1e-10)


@settings(derandomize=True, deadline=None)
@given(sizes)
def test_the_equations_hold_and_w_is_what_the_words_add_up_to(size):
    n, L = size
    limit = balanced_limit(n, L)
    A = limit.totals
    outputs = limit.unseen_margins + np.array([1, -1, -1, -1]) * limit.random_sums
    np.testing.assert_allclose(outputs[:3], 1, rtol=1e-9)  # on the support
    assert outputs[3] >= 1 - 1e-9
    assert min(A[:3]) > 0
    assert A[3] >= 0
    assert A[3] * (outputs[3] - 1) == pytest.approx(0, abs=1e-8)
    # The squared length of w over signals and random words is the sum of the duals.
    counts = n * np.array([3, 1, 1, 1]) / 6
    places = L - np.array([3, 2, 2, 1])
    length = (limit.signals**2).sum() + (A**2 / counts * places).sum()
    assert length == pytest.approx(A.sum(), rel=1e-8)


@settings(derandomize=True, deadline=None)
@given(sizes, st.floats(1.01, 100))
def test_more_samples_raise_the_constant_R_and_the_test_margin(size, factor):
    (n, L) = size
    fewer, more = balanced_limit(n, L), balanced_limit(factor * n, L)
    assert fewer.loss_constant < more.loss_constant < 17
    assert fewer.R < more.R < 1.5
    # Below n* the worst margin first sinks, so it is monotone in sign, not in size.
    if fewer.unseen_margins.min() > 1e-9:
        assert more.unseen_margins.min() > fewer.unseen_margins.min()


@settings(derandomize=True, deadline=None)
@given(sizes)
def test_the_order_of_definition_F1_holds_in_the_limit(size):
    A1, A2, _, A4 = balanced_limit(*size).totals
    assert A4 <= A2 <= A1 <= 2 * A2 + A4


@settings(derandomize=True, deadline=None)
@given(st.floats(3, 1e4))
def test_the_switch_is_continuous(L):
    n = samples_to_free_type_4(L)
    assert not balanced_limit(n * (1 + 1e-9), L).type_4_supports
    assert balanced_limit(n * (1 - 1e-9), L).type_4_supports
    assert -balanced_limit(n * (1 + 1e-9), L).signals[2] == pytest.approx(1, abs=1e-6)
    before, after = (balanced_limit(n * (1 + e), L) for e in (-1e-9, 1e-9))
    np.testing.assert_allclose(before.totals, after.totals, atol=1e-6)


@settings(derandomize=True, deadline=None)
@given(st.floats(3, 1e4), st.floats(1e-6, 5))
def test_unseen_words_need_three_samples_a_word(L, excess):
    n = samples_for_unseen_words(L)
    above, below = balanced_limit(n * (1 + excess), L), balanced_limit(n / (1 + excess), L)
    assert above.unseen_margins.min() > 0
    assert above.R > 1
    assert below.unseen_margins.min() < 0
    assert below.R < 1


@settings(derandomize=True, deadline=None)
@given(st.floats(3.01, 1e4), st.floats(1e-6, 0.5))
def test_seen_words_need_about_twenty(L, excess):
    n = samples_for_seen_words(L)
    assert worst_seen_margins(n * (1 + excess), L).min() > 0
    assert worst_seen_margins(n / (1 + excess), L).min() < 0


def test_how_the_sample_sizes_grow():
    L = 1e9
    assert samples_for_unseen_words(L) / L == pytest.approx(3, rel=1e-8)
    assert samples_to_free_type_4(L) / L == pytest.approx((13 + math.sqrt(193)) / 2, rel=1e-7)
    assert samples_for_seen_words(L) / L == pytest.approx(10 + math.sqrt(112), rel=1e-7)
    # Appendix A has n = 60 and L = 5: enough for unseen words, too few for the worst seen ones.
    assert samples_for_unseen_words(5) == 18
    assert samples_for_seen_words(5) == pytest.approx(67.598, abs=1e-3)
    assert worst_seen_margins(60, 5).min() < 0 < balanced_limit(60, 5).unseen_margins.min()
    # At L = 3 no random word speaks for the positive label.
    np.testing.assert_allclose(worst_seen_margins(24, 3), balanced_limit(24, 3).unseen_margins)


def test_what_random_words_add_grows_like_the_logarithm():
    """The paper bounds it by O(1) (corollary F.15); of type 1 it is (L - 3) 2 A_1 / n x log t."""
    limit = balanced_limit(60, 5)
    A1, A2, _, A4 = limit.totals
    expected = [2 * 2 * A1 / 60, -0.3 * A2, -0.3 * A2, -0.4 * A4]
    np.testing.assert_allclose(limit.random_sums, expected)


def test_the_root_of_the_balancing_quadratic():
    # Without random words the root is the limit's R, and c/a = -2.
    assert balancing_root(balanced_limit(math.inf, 5).totals) == pytest.approx(1.5, rel=1e-13)
    assert 1 < balancing_root(np.array([1.0, 0.6, 0.6, 0.3])) < 2


# --- direct integration as the oracle ---------------------------------------------------------


@pytest.mark.parametrize(("n", "L"), [(60, 5), (24, 5), (12, 4)])
def test_the_flow_on_words_reaches_the_limit(n, L):
    words, labels = balanced_set(n, L)
    tau = 1e10
    state = logistic_flow(words, labels, tau)
    G, F = state[:-n], state[-n:]
    g = expit(-labels * F)
    limit = balanced_limit(n, L)
    assert np.logaddexp(0, -labels * F).mean() * tau == pytest.approx(limit.loss_constant, rel=1e-3)
    slopes = np.array([(g * labels)[(words == k).any(axis=1)].sum() for k in range(3)])
    assert -slopes[2] / slopes[:2].max() == pytest.approx(limit.R, rel=1e-3)
    np.testing.assert_allclose(tau * slopes / n, limit.signals, rtol=2e-3)
    # The five-number path is the same flow.
    path = uniform_path(n, L, np.array([1.0, tau]))
    np.testing.assert_allclose(path.signals[-1], G[:3], rtol=1e-7)
    np.testing.assert_allclose(path.margins[-1][types_of(words) - 1], labels * F, rtol=1e-7)


def test_the_flow_reaches_the_limit_for_repeated_words_too():
    rng = np.random.default_rng(2)
    words, labels = balanced_set(12, 5)
    words = np.where(words >= 3, 3 + rng.integers(0, 25, words.shape), words)
    limit = general_limit(words, labels)
    assert limit.solution is not None
    assert limit.solution.separable
    early, late = (logistic_flow(words, labels, tau) for tau in (1e11, 1e12))
    loss = np.logaddexp(0, -labels * late[-12:]).mean()
    assert loss * 1e12 == pytest.approx(limit.loss_constant, rel=0.02)
    np.testing.assert_allclose((late - early)[:3] / math.log(10), limit.signals, atol=0.05)


def test_inseparable_bags_have_no_limit():
    words = np.array([[0, 1, 2], [0, 1, 2]])
    limit = general_limit(words, np.array([1, -1]))
    assert limit.solution is not None
    assert "not separable" in limit.solution.message
    assert math.isnan(limit.loss_constant)
    assert math.isnan(limit.R)


# --- bad input --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda: balanced_limit(0, 5),
        lambda: balanced_limit(60, 2),
        lambda: samples_for_seen_words(1),
        lambda: general_limit(np.ones((2, 3)), np.array([1, -1])),
        lambda: general_limit(np.array([[0, 1, 2]]), np.array([3])),
    ],
)
def test_bad_input_is_named(call):
    with pytest.raises(BadInput, match=r"got .*give"):
        call()
