"""From which number of steps on the theorems say something, by the printed formulas."""

import math

import pytest

from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.papers.deora2023.theory import informative

LOG2 = math.log(2)
SIZES = MixtureSizes(6, 3, 1, 1.0, 5 / 6, 0.0, 0.0, 0.0)


def margin(T: int, zeta: float, S: float, M: int) -> float:
    linear = S * zeta * math.sqrt(T / 2)
    attention = T * (1 - zeta) * zeta**2 * S**4 / (4 * math.sqrt(2 * (M + 1)))
    return math.sqrt(linear**2 + attention**2)


def rho(D: float, T: int = 6, d: int = 3, R: float = 1.0, zeta: float = 5 / 6, S=1.0) -> float:
    m = math.sqrt(T) * zeta * math.sqrt(2) * S / 4
    alpha = 3 * math.sqrt(d) * R**2 * (3 * math.sqrt(T) * R**3 * (3 * D + m) + 2 * math.sqrt(T) * R)
    return T * R**2 / 4 * alpha**2


def least_bound(K: float, gamma: float) -> float:
    """(4) at its smallest over targets, every limit of the step taken."""
    best = math.inf
    for k in range(1, 4000):
        D = k / 400 / gamma
        loss = math.log1p(math.exp(-gamma * D))
        eta = min(1.0, 1 / rho(D), D**2 / (K * loss), D**2 / LOG2)
        best = min(best, 2 * loss + 5 * D**2 / (4 * eta * K))
    return best


def test_theorem_1_begins_to_say_something_where_it_says():
    gamma = margin(6, 5 / 6, 1.0, 1)
    found = informative.theorem_1(SIZES)
    assert least_bound(1.02 * found.steps, gamma) < LOG2 < least_bound(0.98 * found.steps, gamma)
    m = math.sqrt(6) * 5 / 6 * math.sqrt(2) / 4
    three = 2 * math.sqrt(18) * (3 * math.sqrt(3) * (m + 3 * found.distance) + 1)
    assert found.heads == pytest.approx((18 * three * found.distance**2) ** 2, rel=1e-12)


def test_corollary_2_begins_where_its_bound_is_log_2():
    found = informative.corollary_2(SIZES)
    gamma = math.sqrt(2) * margin(6, 5 / 6, 1.0, 1)

    def bound(K: float) -> float:
        g = (2 + math.log(K)) / gamma
        return 2 / K + 5 * g**2 * rho(math.sqrt(2) * g) / (4 * K)

    assert bound(found.steps) == pytest.approx(LOG2, rel=1e-9)
    assert informative.corollary_bound(SIZES, 1e6) == pytest.approx(bound(1e6), rel=1e-12)
    assert found.distance == pytest.approx(math.sqrt(2) * (2 + math.log(found.steps)) / gamma)


def test_iterates_say_something_where_4d_is_what_descent_gives():
    gamma, K = margin(6, 5 / 6, 1.0, 1), informative.iterates(SIZES)
    D = -math.log(math.exp(LOG2 / 8) - 1) / gamma
    loss, eta = math.log1p(math.exp(-gamma * D)), 1 / rho(D)
    assert pytest.approx(math.sqrt(2 * eta * K * LOG2), rel=1e-9) == 4 * D
    # The other limit on the step is met with equality: a nearer target has too large a loss.
    assert eta == pytest.approx(D**2 / (K * loss), rel=1e-9)


@pytest.mark.parametrize("K", [100.0, 1e4, 1e6])
def test_theorem_2_needs_as_many_samples_as_its_least_bound_says(K):
    gamma = margin(6, 5 / 6, 1.0, 1)
    least = math.inf
    for k in range(1, 4000):
        D = k / 400 / gamma
        loss = math.log1p(math.exp(-gamma * D))
        eta = min(1.0, 1 / rho(D), D**2 / (K * loss), D**2 / LOG2)
        least = min(least, 4 * (2 * K * loss + 9 * D**2 / (4 * eta)))
    found = informative.samples(SIZES, K)
    assert least / LOG2 == pytest.approx(found, rel=0.02)
    # A target at the start itself would need 17 samples a step: a better one needs fewer.
    assert found / K < 17


def test_iterates_say_nothing_sooner_at_other_signals():
    best = min(
        (informative.iterates(MixtureSizes(T, 3, 1, S, k / T, 0.0, 0.0, 0.0)), T, k, S)
        for T in (4, 6, 8, 12)
        for k in range(1, T)
        for S in (0.5, 0.9, 0.97, 1.0, 1.03, 1.1, 2.0)
    )
    assert best[1:] == (8, 7, 1.0)
    assert best[0] == pytest.approx(2.69e6, rel=0.01)


def test_the_best_signal_is_no_worse_than_its_neighbours():
    S, best = informative.best_strength(SIZES, "theorem_1")
    assert best.steps <= informative.theorem_1(SIZES).steps
    for other in (0.8 * S, 1.25 * S):
        sizes = MixtureSizes(6, 3, 1, other, 5 / 6, 0.0, 0.0, 0.0)
        assert informative.theorem_1(sizes).steps > best.steps


def test_noise_that_leaves_no_margin_says_nothing():
    hopeless = MixtureSizes(6, 3, 1, 0.1, 1 / 6, 0.05, 0.05, 1.0)
    assert informative.unit_margin(hopeless) == 0
    assert informative.theorem_1(hopeless) == informative.NOWHERE
    assert informative.corollary_2(hopeless) == informative.NOWHERE
    assert informative.iterates(hopeless) == math.inf
    assert informative.samples(hopeless, 100.0) == math.inf
