"""Properties P1-P3 of a start, margins and random starts by slow second routes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.engines import explicit_heads
from attnlab.numerics.random import stream_key
from attnlab.papers.deora2023.runs import good_starts
from attnlab.papers.deora2023.runs.samples import draw, host_random
from attnlab.papers.deora2023.settings import InitialisationSettings

CELL = InitialisationSettings(
    T=2, d=5, M=2, S=1.3, Z_mu=0.02, Z_nu=0.02, Z=0.2, noise="uniform", n=6, n1=200, H=50.0,
    delta=0.2, epsilon=0.05,
)  # fmt: skip
T, D, S = 2, 5, 1.3


def key(cell) -> Key:
    return Key.of(cell, 2)


@pytest.fixture(scope="module")
def start():
    return draw(CELL, key(CELL)), good_starts.good_start(CELL, key(CELL)).values


def paper_direction() -> np.ndarray:
    U = np.zeros((T, D))
    U[:, 0], U[:, 1] = 0.5, -0.5
    W = np.zeros((D, D))
    W[0, 0] = W[1, 1] = 1
    W[2:4, :2] = 1
    return np.r_[U.ravel(), (W / math.sqrt(6)).ravel()]


def test_margins_at_the_start(plain, start):
    drawn, values = start
    y = drawn.labels
    features = plain.head_gradients(np.tile(drawn.v, (T, 1)), np.zeros((D, D)), drawn.tokens)
    along = y * (features @ paper_direction())
    p = np.linalg.norm(drawn.v - 0.5 / 4 * S * np.r_[1, -1, np.zeros(D - 2)])
    bracket = 0.5 * S**4 - 7 * 0.02 * S**2 - 12 * 0.02**2 - 16 * 0.02**3 / S**2
    first = T * 0.25 * bracket / (4 * math.sqrt(6))
    third = S * math.sqrt(T / 2) * (0.5 - 0.02 / S**2)
    star = first - p * T**2.5 * (S + 0.2) ** 3 + third
    tangent = math.sqrt(2) * plain.best_margin(features, y)
    linear = plain.best_margin(drawn.tokens.reshape(6, -1), y)
    expected = {
        "p_norm": p,
        "along_theta_star": along.min(),
        "gamma_star": star,
        "star_minus_along": star - along.min(),
        "doubled_star_minus_along": star + first - along.min(),
        "tangent_margin": tangent,
        "along_over_tangent": along.min() / tangent,
        "linear_margin": linear,
        "gamma_linear": third,
        "gamma_linear_fixed": S * math.sqrt(0.5 * T / 2),
        "gamma_attention": S * math.sqrt(T / 2),
        "linear_over_formula": linear / third,
        "along_gain": along.min() - third,
        "along_gain_over_formula": (along.min() - third) / first,
    }
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=1e-6)
    # Heads of sign -1 see the same slope along their part of the direction.
    assert abs(values["sign_spread"]) <= 1e-12
    assert abs(values["tangent_gap"]) <= 1e-9


def test_the_gradient_of_section_5_2(start):
    _, values = start
    assert values["start_gradient_error"] <= 1e-13
    # T times too large is off by T - 1.
    assert values["start_gradient_error_printed"] == pytest.approx(T - 1, rel=1e-12)


def test_P1_P2_and_the_target_of_proposition_7(plain, start):
    drawn, values = start
    R = math.sqrt(S**2 + 0.2**2 + 0.02)
    P = R / (2 * math.sqrt(200)) * (1 + math.sqrt(2 * math.log(5)))
    B_2 = max(1, math.sqrt(T) * (S + P))
    B_Phi = max(1, T * R * (S + P) * math.sqrt(2 * math.log(6 / 0.2)))
    u = np.tile(drawn.v, (T, 1))
    per_head = max(abs(plain.head(u, np.zeros((D, D)), X)) for X in drawn.tokens)
    plus = host_random(key(CELL), "signs").binomial(50, 0.5, 200)
    largest = [abs(k - (50 - k)) / math.sqrt(50) * per_head for k in plus]
    # The signs of the target's start: the 0.8 quantile of a binomial of 50.
    below, ups = 0, -1
    while below < 0.8 * 2**50:
        ups += 1
        below += math.comb(50, ups)
    downs = 50 - ups
    B = max(1, abs(ups - downs) / math.sqrt(50) * per_head)
    far = (2 * B + math.log(1 / 0.05)) / values["along_theta_star"]
    w = far * paper_direction() / math.sqrt(50)
    U = np.array([u + w[: T * D].reshape(T, D), -u + w[: T * D].reshape(T, D)])
    W = np.array([w[T * D :].reshape(D, D), -w[T * D :].reshape(D, D)])
    data = (drawn.tokens, drawn.labels, drawn.weights)
    loss = plain.loss(U, W, (ups, downs), 50, *data)
    longest = max(math.hypot(np.linalg.norm(U[g]), np.linalg.norm(W[g])) for g in range(2))
    m = B_2 + math.sqrt(2) * far / math.sqrt(50)
    three = 2 * math.sqrt(T * D) * R**3 * (3 * math.sqrt(D) * R**2 * m + 1)
    expected = {
        "B_2": B_2,
        "head_over_B_2": np.linalg.norm(u) / B_2,
        "B_Phi": B_Phi,
        "exceeds_B_Phi": sum(x > B_Phi for x in largest) / 200,
        "output_over_B_Phi": np.quantile(largest, 0.99) / B_Phi,
        "exceeds_head_spread": sum(x > per_head for x in largest) / 200,
        "target_loss_over_epsilon": loss / 0.05,
        "target_distance_over_g_0": 1.0,
        "target_distance_over_printed": math.sqrt(2),
        "target_head_over_g": longest / m,
        "realisable_heads_over_H": (three * (math.sqrt(2) * far) ** 2 / (2 * B)) ** 2 / 50,
    }
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=1e-8)
    assert 0 < values["exceeds_head_spread"] < 1


def test_bounds_of_a_start_are_at_least_one():
    small = replace(CELL, S=0.1, Z_mu=0.0, Z_nu=0.0, Z=0.0)
    assert good_starts.start_bounds(small, 0.0) == (
        1.0, max(1.0, T * 1.0 * 0.1 * math.sqrt(2 * math.log(30))),
    )  # fmt: skip
    assert good_starts.start_bounds(replace(small, S=0.01), 0.0) == (1.0, 1.0)


def test_an_exact_first_phase_has_no_P():
    exact = replace(CELL, n1=0)
    values = good_starts.good_start(exact, key(exact)).values
    assert values["p_norm"] == 0
    assert values["B_2"] == pytest.approx(math.sqrt(T) * S)


def test_the_linear_model(plain):
    values = good_starts.linear_model(CELL, key(CELL)).values
    drawn = draw(CELL, key(CELL))
    margin = plain.best_margin(drawn.tokens.reshape(6, -1), drawn.labels)
    third = S * math.sqrt(T / 2) * (0.5 - 0.02 / S**2)
    expected = {
        "linear_margin": margin,
        "linear_over_formula": margin / third,
        "linear_over_fixed_formula": margin / (S * math.sqrt(0.5 * T / 2)),
    }
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=1e-6)
    assert abs(values["linear_gap"]) <= 1e-9


def test_a_random_start(plain):
    """Three heads: the kernel is the mean of theirs, and its margin that of stacked features."""
    cell = replace(CELL, H=3.0, scale=1.5, start="random")
    values = good_starts.random_start(cell, key(cell)).values
    drawn = draw(cell, key(cell))
    heads = explicit_heads.random_heads(
        stream_key(key(cell), "init"), good_starts.BLOCK, T, D, 1.5
    )  # fmt: skip
    features = np.concatenate(
        [
            plain.head_gradients(np.asarray(heads.U[h]), np.asarray(heads.W[h]), drawn.tokens)
            for h in range(3)
        ],
        axis=1,
    ) / math.sqrt(3)
    margin = math.sqrt(2) * plain.best_margin(features, drawn.labels)
    u = np.tile(drawn.v, (T, 1))
    after = plain.head_gradients(u, np.zeros((D, D)), drawn.tokens)
    phase_1 = math.sqrt(2) * plain.best_margin(after, drawn.labels)
    third = S * math.sqrt(T / 2) * (0.5 - 0.02 / S**2)
    expected = {
        "random_margin": margin,
        "separable": 1.0,
        "phase_1_margin": phase_1,
        "random_over_phase_1": margin / phase_1,
        "random_over_linear": margin / third,
        "linear_over_random": third / margin,
    }
    assert {name: values[name] for name in expected} == pytest.approx(expected, rel=1e-5)
