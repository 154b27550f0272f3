"""Margins by enumerating the noise-free mixture, and the noisy terms by 30 digits of mpmath."""

import math
from itertools import combinations, product

import mpmath
import numpy as np
import pytest

from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.papers.deora2023.theory import margins

CLEAN = MixtureSizes(T=4, d=6, M=2, S=1.3, zeta=0.5)
SPARSE = MixtureSizes(T=5, d=7, M=3, S=0.7, zeta=0.2)
NOISY = MixtureSizes(T=5, d=9, M=3, S=1.7, zeta=0.4, Z_mu=0.11, Z_nu=0.07, Z=0.9)
LOUD = MixtureSizes(T=5, d=9, M=3, S=1.7, zeta=0.4, Z_mu=0.05, Z_nu=0.13, Z=0.9)


def every_sample(sizes: MixtureSizes):
    """All samples of the mixture without noise, with their labels and relevant places."""
    axes = sizes.S * np.eye(sizes.d)
    for y in (1, -1):
        for places in combinations(range(sizes.T), sizes.relevant):
            others = [t for t in range(sizes.T) if t not in places]
            for patterns in product(range(sizes.M), repeat=len(others)):
                X = np.zeros((sizes.T, sizes.d))
                for t in places:
                    X[t] = axes[0 if y > 0 else 1]
                for t, j in zip(others, patterns, strict=True):
                    X[t] = axes[2 + j]
                yield X, y, places


def attention_weights(sizes: MixtureSizes) -> np.ndarray:
    """W_* of section 5.2, entry by entry: both relevant patterns and every nu ask for them."""
    W = np.zeros((sizes.d, sizes.d))
    W[0, 0] = W[1, 1] = sizes.S**2
    W[2 : 2 + sizes.M, :2] = sizes.S**2
    return W


@pytest.mark.parametrize("sizes", [CLEAN, SPARSE])
def test_gamma_star_is_the_margin_along_theta_star(sizes):
    """y <gradient after an exact phase 1, theta_*>, with the softmax's slope at zero in loops."""
    T, d = sizes.T, sizes.d
    u_star = np.zeros(d)
    u_star[:2] = sizes.S, -sizes.S
    U = np.tile(u_star, (T, 1))
    W = attention_weights(sizes)
    U, W = U / np.linalg.norm(U), W / np.linalg.norm(W)
    v = sizes.zeta / 4 * u_star
    slope = (np.eye(T) - np.full((T, T), 1 / T)) / T
    of_attention, of_decoder = [], []
    for X, y, _ in every_sample(sizes):
        of_decoder.append(y * sum(U[t] @ X.mean(axis=0) for t in range(T)))
        gradient = sum(np.outer(X[t], v @ X.T @ slope @ X) for t in range(T))
        of_attention.append(y * np.sum(gradient * W))
    assert min(of_decoder) == pytest.approx(margins.gamma_linear(sizes), rel=1e-12)
    assert min(of_attention) == pytest.approx(margins.attention_term(sizes), rel=1e-12)
    both = np.add(of_attention, of_decoder).min()
    assert both == pytest.approx(margins.gamma_star(sizes), rel=1e-12)


def test_the_linear_margin_for_fixed_places_is_that_of_their_direction():
    sizes = CLEAN
    best = np.zeros((sizes.T, sizes.d))
    best[: sizes.relevant, 0], best[: sizes.relevant, 1] = 1, -1
    best /= np.linalg.norm(best)
    found = [
        y * np.sum(best * X) for X, y, places in every_sample(sizes) if places == (0, 1)
    ]  # fmt: skip
    assert min(found) == pytest.approx(margins.gamma_linear_fixed(sizes), rel=1e-12)


@pytest.mark.parametrize("sizes", [CLEAN, SPARSE])
def test_gamma_attention_is_the_output_of_saturated_attention(sizes):
    """Each place sees the mean of the relevant tokens, and U has length one."""
    U = np.zeros((sizes.T, sizes.d))
    U[:, 0], U[:, 1] = 1, -1
    U /= np.linalg.norm(U)
    outputs = [
        y * sum(U[t] @ X[list(places)].mean(axis=0) for t in range(sizes.T))
        for X, y, places in every_sample(sizes)
    ]
    assert min(outputs) == pytest.approx(margins.gamma_attention(sizes), rel=1e-12)
    assert margins.gamma_attention(sizes, 0.25) == pytest.approx(0.75 * min(outputs), rel=1e-12)


@pytest.mark.parametrize("sizes", [CLEAN, SPARSE])
def test_the_scale_of_W_leaves_less_than_epsilon_to_irrelevant_places(sizes):
    """Three eighths of it would do without noise, and leave epsilon/(1 + epsilon) exactly."""
    W = attention_weights(sizes)
    W = W / np.linalg.norm(W)
    for epsilon in (0.3, 0.01):
        Gamma = margins.gamma_scale(sizes, epsilon)

        def left(share: float, Gamma: float = Gamma) -> float:
            worst = 0.0
            for X, _, places in every_sample(sizes):
                scores = np.exp(share * Gamma * X @ W @ X.T)
                scores /= scores.sum(axis=1, keepdims=True)
                worst = max(worst, float((1 - scores[:, list(places)].sum(axis=1)).max()))
            return worst

        assert left(1.0) <= epsilon
        assert left(3 / 8) == pytest.approx(epsilon / (1 + epsilon), rel=1e-10)


@pytest.mark.parametrize("power", [1, 2])
def test_the_scale_falls_with_the_power_of_S(power):
    expected = 8 * math.sqrt(2 * 4) / (3 * 1.7**power) * math.log((1 / 0.4 - 1) / 0.1)
    assert margins.gamma_scale(NOISY, 0.1, power) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("sizes", [NOISY, LOUD])
def test_the_noisy_terms_in_thirty_digits(sizes):
    with mpmath.workdps(30):
        T, M, S = mpmath.mpf(5), mpmath.mpf(3), mpmath.mpf("1.7")
        zeta, Z = mpmath.mpf("0.4"), mpmath.mpf("0.9")
        Z_mu = mpmath.mpf(str(sizes.Z_mu))
        bar = max(Z_mu, mpmath.mpf(str(sizes.Z_nu)))
        bracket = zeta * S**4 - 7 * bar * S**2 - 12 * bar**2 - 16 * bar**3 / S**2
        first = T * (1 - zeta) * zeta * bracket / (4 * mpmath.sqrt(2 * (M + 1)))
        P = mpmath.mpf("0.003")
        second = P * mpmath.power(T, mpmath.mpf(5) / 2) * (S + Z) ** 3
        third = S * mpmath.sqrt(T) * (zeta - 2 * (1 - zeta) * Z_mu / S**2) / mpmath.sqrt(2)
        attention = mpmath.sqrt(T) / (mpmath.sqrt(2) * S)
        attention *= S**2 * (1 - mpmath.mpf("0.2")) - 2 * mpmath.mpf("0.2") * Z_mu
    for ours, exact in (
        (margins.attention_term(sizes), first),
        (margins.first_phase_term(sizes, 0.003), second),
        (margins.gamma_linear(sizes), third),
        (margins.gamma_star(sizes, 0.003), first - second + third),
        (margins.gamma_attention(sizes, 0.2), attention),
    ):
        assert ours == pytest.approx(float(exact), rel=1e-13)


def test_the_bounds_on_what_phase_1_leaves():
    ours = margins.first_phase_bound(1.9, 250, 0.05)
    assert ours == pytest.approx(1.9 / (2 * math.sqrt(250)) * (1 + math.sqrt(2 * math.log(20))))
    printed = margins.printed_first_phase_bound(1.7, 0.9, 9, 250, 0.05)
    expected = (2 * 1.7 + 0.9) * (math.sqrt(9 / 250) + math.sqrt(math.log(20) / 250))
    assert printed == pytest.approx(expected, rel=1e-13)


def test_where_the_order_of_margins_turns_without_noise():
    """gamma_attn - gamma_* changes its sign at the stated S: bisection on the two formulas."""

    def excess(S: float) -> float:
        sizes = MixtureSizes(T=4, d=6, M=2, S=S, zeta=0.25)
        return margins.gamma_attention(sizes) - margins.gamma_star(sizes)

    low, high = 0.1, 50.0
    assert excess(low) > 0 > excess(high)
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > 0 else (low, middle)
    stated = margins.largest_S_for_order(MixtureSizes(T=4, d=6, M=2, S=1.0, zeta=0.25))
    assert stated == pytest.approx(low, rel=1e-12)


@pytest.mark.parametrize("sizes", [NOISY, LOUD])
def test_the_logits_under_extreme_noise_stay_within_8(sizes):
    """Noise at the corners of Assumption 3, tried one by one: no logit is beyond its bound."""
    W = attention_weights(sizes)
    relevant, irrelevant = [], []
    mu, nu = sizes.Z_mu / sizes.S, sizes.Z_nu / (sizes.M * sizes.S)
    queries = [sizes.S * np.eye(sizes.d)[0]]
    keys = []
    for signs in product((1, -1), repeat=2 + sizes.M):
        z = np.zeros(sizes.d)
        z[: 2 + sizes.M] = np.array(signs) * np.r_[mu, mu, [nu] * sizes.M]
        token = sizes.S * np.eye(sizes.d)[2] + z
        queries.append(token)
        keys.append(token)
    for query in queries:
        relevant.append(abs(query @ W @ queries[0] - sizes.S**4))
        irrelevant += [abs(query @ W @ key) for key in keys]
    assert max(relevant) == pytest.approx(margins.relevant_logit_slack(sizes), rel=1e-12)
    assert max(irrelevant) == pytest.approx(margins.irrelevant_logit_bound(sizes), rel=1e-12)
