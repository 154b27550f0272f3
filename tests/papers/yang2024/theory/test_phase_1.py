"""The path as m -> infinity: by Runge-Kutta in tau, and by the flow on words."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.integrate import solve_ivp
from scipy.special import expit

from attnlab.core import BadInput
from attnlab.papers.yang2024.theory import phase_1
from attnlab.papers.yang2024.theory.phase_1 import implied_constant, phase_1_end, uniform_path

CASES = [(24, 4), (60, 5), (9, 6), (1e9, 3)]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(x))


def margins(x) -> tuple[float, float, float]:
    G1, G3, X1, X2, X4 = x
    return 2 * G1 + G3 + X1, -(G1 + G3 + X2), -(G3 + X4)


def slopes(x, n: float, L: float) -> np.ndarray:
    """Half of the samples hold both signals, a sixth each one, the other or none."""
    g1, g2, g4 = (sigmoid(m) for m in margins(x))
    return np.array(
        [
            g1 / 2 - g2 / 6,
            g1 / 2 - g2 / 6 - g2 / 6 - g4 / 6,
            (L - 3) * g1 / n,
            -(L - 2) * g2 / n,
            -(L - 1) * g4 / n,
        ]
    )


def walk(n: float, L: float, end: float, step: float) -> tuple[np.ndarray, np.ndarray]:
    """Times and states by the classical rule of fourth order."""
    x = np.zeros(5)
    states = [x]
    count = round(end / step)
    for _ in range(count):
        a = slopes(x, n, L)
        b = slopes(x + step / 2 * a, n, L)
        c = slopes(x + step / 2 * b, n, L)
        d = slopes(x + step * c, n, L)
        x = x + step / 6 * (a + 2 * b + 2 * c + d)
        states.append(x)
    return np.arange(count + 1) * step, np.array(states)


@pytest.mark.parametrize(("n", "L"), CASES)
def test_the_path(n, L):
    times, states = walk(n, L, 16.0, 0.02)
    chosen = [0, 1, 50, 200, 800]
    path = phase_1.uniform_path(n, L, times[chosen])
    for row, k in enumerate(chosen):
        G1, G3, X1, X2, X4 = states[k]
        first, second, fourth = margins(states[k])
        by_type = np.array([first, second, second, fourth])
        close = {"rtol": 1e-6, "atol": 1e-9}
        np.testing.assert_allclose(path.signals[row], [G1, G1, G3], **close)
        np.testing.assert_allclose(path.random_sums[row], [X1, X2, X2, X4], **close)
        np.testing.assert_allclose(path.margins[row], by_type, **close)
        losses = [math.log1p(math.exp(-m)) for m in by_type]
        np.testing.assert_allclose(path.loss_by_type[row], losses, **close)
        mean = losses[0] / 2 + sum(losses[1:]) / 6
        assert path.loss[row] == pytest.approx(mean, rel=1e-6)
        rates = slopes(states[k], n, L)
        assert path.R[row] == pytest.approx(-rates[1] / rates[0], rel=1e-5, abs=1e-8)
    assert (path.tau == times[chosen]).all()


@pytest.mark.parametrize(("n", "L"), CASES)
def test_the_end_of_the_first_phase(n, L):
    times, states = walk(n, L, 16.0, 0.02)
    worst = np.array([min(margins(x)) for x in states])
    wrong = np.flatnonzero(worst[1:] < 0)
    found = phase_1.phase_1_end(n, L)
    if not wrong.size:
        assert found == 0
        assert n <= 3 * (L - 2)
        return
    i = wrong[-1] + 1
    crossing = times[i] - worst[i] * 0.02 / (worst[i + 1] - worst[i])
    assert found == pytest.approx(crossing, abs=1e-3)
    s0, s1 = 0.3, 0.7
    constant = phase_1.implied_constant(n, L, s0, s1)
    assert constant == pytest.approx(found * 0.49 / 0.58, rel=1e-12)


@pytest.mark.parametrize("tau", [[], [-1.0, 1.0], [1.0, 1.0], [2.0, 1.0], [[1.0]]])
def test_times_that_do_not_increase_are_refused(tau):
    with pytest.raises(BadInput, match="give increasing ones"):
        phase_1.uniform_path(24, 4, np.array(tau))


def test_a_start_alone_is_a_path():
    path = phase_1.uniform_path(24, 4, np.array([0.0]))
    assert path.loss == pytest.approx([math.log(2)])


@pytest.mark.parametrize(("n", "L"), [(0, 4), (-1, 4), (24, 2.9)])
def test_sizes_without_samples_or_places_are_refused(n, L):
    with pytest.raises(BadInput, match="give n > 0 and L >= 3"):
        phase_1.phase_1_end(n, L)
    assert phase_1.phase_1_end(24, 3) > 0


# --- against the flow on words ---------------------------------------------------------------

SIGNALS = {1: [0, 1, 2], 2: [0, 2], 3: [1, 2], 4: [2]}


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


def test_the_first_moments():
    path = uniform_path(math.inf, 5, np.array([0, 1e-4]))
    np.testing.assert_allclose(path.signals[1] / 1e-4, [1 / 6, 1 / 6, 0], atol=1e-4)
    assert path.loss[0] == pytest.approx(math.log(2), rel=1e-12)
    np.testing.assert_array_less(path.margins[1, 1:3], 0)  # one signal only: wrong at first


@pytest.mark.parametrize(
    ("n", "L", "tau_1"), [(math.inf, 5, 12.9794), (60, 5, 6.9016), (600, 50, 4.8445), (9, 5, 0.0)]
)
def test_the_end_of_phase_one(n, L, tau_1):
    found = phase_1_end(n, L)
    assert found == pytest.approx(tau_1, abs=1e-4)
    if found:
        path = uniform_path(n, L, found * np.array([0.99, 1.01]))
        assert path.margins[0].min() < 0 < path.margins[1].min()


def test_the_end_of_phase_one_by_the_flow_on_words():
    words, labels = balanced_set(60, 5)
    tau = phase_1_end(60, 5)
    for factor, sign in [(0.99, -1), (1.01, 1)]:
        margins = labels * logistic_flow(words, labels, factor * tau)[-60:]
        assert np.sign(margins.min()) == sign


@settings(derandomize=True, deadline=None, max_examples=20)
@given(st.floats(6, 1e4), st.floats(3, 60), st.floats(1.05, 10))
def test_more_samples_lengthen_phase_one(n, L, factor):
    assume(n > 3 * (L - 2) * 1.01)
    assert 0 < phase_1_end(n, L) < phase_1_end(factor * n, L) < 12.98


def test_the_implied_constant_is_the_limit_for_small_values():
    assert implied_constant(60, 5, 0.0, 0.1) == pytest.approx(phase_1_end(60, 5))
    assert implied_constant(60, 5, 0.1, 0.1) == pytest.approx(phase_1_end(60, 5) / 2)
