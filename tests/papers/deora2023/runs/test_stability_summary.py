"""Section 6.2's scalars from made-up models with one point left out, point by point."""

import math

import numpy as np
import pytest

from attnlab.papers.deora2023.runs.stability_summary import summarise
from attnlab.papers.deora2023.theory.conditions import Target

T, D, R = 3, 5, 1.4
N, ETA, K = 6, 0.3, 20
TARGET = Target(
    T=T, d=D, R=R, H=400.0, D=1.7, m=0.6, loss=0.05, start_loss=0.69, K=K, least_count=9.0
)  # fmt: skip
WEIGHTS = np.array([2, 0, 1, 3]) / N
"""Four atoms, of which one was not drawn."""
INEQUALITIES = ("equation_19_corrected", "equation_20_sharp", "equation_20_still", "expansion")


def made_up() -> dict[str, np.ndarray]:
    random = np.random.default_rng(1)
    arrays = {name: random.uniform(0.5, 1.5, 4) for name in INEQUALITIES}
    for name in INEQUALITIES:
        arrays[name][1] = 99.0  # the atom that was not drawn
    return {
        **arrays,
        "apart": random.uniform(0.01, 0.1, 4),
        "own_loss": random.uniform(0.2, 0.4, 4),
        "point_losses": random.uniform(0.1, 0.2, 4),
        "loss": np.asarray(0.15),
        "test_loss": np.asarray(0.22),
    }


@pytest.mark.parametrize(
    ("proof", "reach", "sharp"),
    [("corrected", 1.7, False), ("sharp", 1.7, True), ("symmetric", 1.7 / 3, True)],
)
def test_gap_and_stability(proof, reach, sharp):
    arrays = made_up()
    found = summarise(arrays, TARGET, ETA, N, WEIGHTS, proof)
    m = 0.6 + 3 * reach
    G = math.sqrt(T) * R * (math.sqrt(R**4 * m**2 + 1) if sharp else 2 * R**2 * m + 1)
    regret = 2 * K * 0.05 + 9 * 1.7**2 / (4 * ETA)
    apart = sum(WEIGHTS[i] * arrays["apart"][i] for i in range(4))
    left = sum(WEIGHTS[i] * (arrays["own_loss"][i] - arrays["point_losses"][i]) for i in range(4))
    gap_bound, stability = 4 / N * regret, 2 * ETA * G / N * regret
    expected = {
        "loss": 0.15,
        "test_loss": 0.22,
        "gap": 0.07,
        "leave_one_out_gap": left,
        "gap_bound": gap_bound,
        "gap_over_bound": 0.07 / gap_bound,
        "leave_one_out_gap_over_bound": left / gap_bound,
        "mean_apart": apart,
        "stability_bound": stability,
        "apart_over_bound": apart / stability,
        "lipschitz": G,
        "gap_over_lemma_3": 0.07 / (2 * G * apart),
        "leave_one_out_over_lemma_3": left / (2 * G * apart),
        "leave_one_out_gap_over_bound_squared": N * left / gap_bound,
        "leave_one_out_over_lemma_3_squared": N * left / (2 * G * apart),
        "apart_over_bound_squared": N * apart / stability,
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)


def test_inequalities_are_the_worst_over_the_points_that_were_drawn():
    arrays = made_up()
    found = summarise(arrays, TARGET, ETA, N, WEIGHTS, "corrected")
    for name in INEQUALITIES:
        assert found[name] == max(arrays[name][i] for i in (0, 2, 3))
    assert set(found) >= set(INEQUALITIES)
    assert "own_loss" not in found
