"""Section 5.3's inequalities point by point, in numbers rather than in logarithms."""

import math

import numpy as np
import pytest

from attnlab.papers.deora2023.theory import impossibility


def meets_everything(w: float, h: float, s: float, n: float, c: float, power: float) -> bool:
    """Saturation, (12), and the target at least as long as its two parts, at constants one."""
    norm_W, H, S = math.exp(w), math.exp(h), math.exp(s)
    of_U, of_W = H ** (c - 0.5) * math.log(n) / S, math.sqrt(H) * norm_W
    tolerance = 1 + 1e-7
    saturates = norm_W * tolerance >= S**-2
    enough = all(H**c * tolerance >= S**5 * part**power for part in (of_U, of_W))
    return saturates and enough


@pytest.mark.parametrize(("c", "power"), [(0.5, 3.0), (0.5, 1.0), (0.25, 0.5), (1.0, 2.0)])
def test_the_linear_inequalities_are_the_conditions(c, power):
    random = np.random.default_rng(3)
    A, b = impossibility.inequalities(40.0, c, power)
    seen = []
    for _ in range(4000):
        w, h, s = random.uniform(-6, 6), random.uniform(0, 6), random.uniform(-4, 4)
        linear = bool((A @ [w, h, s] <= b).all())
        assert linear == meets_everything(w, h, s, 40.0, c, power)
        seen.append(linear)
    assert any(seen) == (power < 3)


@pytest.mark.parametrize(("c", "power"), [(0.5, 3.0), (0.5, 1.0), (0.25, 0.5)])
def test_the_grid_is_counted_one_point_at_a_time(c, power):
    axis = [-8 + 2 * k for k in range(9)]
    half = list(range(9))
    count = sum(
        meets_everything(w, h, s, 40.0, c, power) for w in axis for h in half for s in axis
    )  # fmt: skip
    assert impossibility.searched(40.0, c, power, points=9, reach=8.0) == count
    assert (count > 0) == (power < 3)
    assert impossibility.feasible(40.0, c, power) == (power < 3)


def test_the_usual_grid_reaches_sixty():
    """Points counted in a box of 41^3 from -60 to 60, by rows of the same conditions."""
    A, b = impossibility.inequalities(100.0, 0.5, 1.0)
    axis = np.linspace(-60, 60, 41)
    count = 0
    for w in axis:
        for h in np.linspace(0, 60, 41):
            slack = b - A[:, 0] * w - A[:, 1] * h
            count += int((np.outer(axis, A[:, 2]) <= slack + 1e-9).all(axis=1).sum())
    assert impossibility.searched(100.0, 0.5, 1.0) == count


def test_by_default_the_models_scaling_and_the_power_are_the_papers(monkeypatch):
    asked = []
    exact = impossibility.inequalities

    def noted(n: float, c: float, power: float):
        asked.append((n, c, power))
        return exact(n, c, power)

    monkeypatch.setattr(impossibility, "inequalities", noted)
    assert not impossibility.feasible(30.0)
    assert asked == [(30.0, 0.5, 3.0)]


@pytest.mark.parametrize(("n", "possible"), [(2.5, True), (2.71, True), (2.73, False)])
def test_the_argument_turns_at_e(n, possible):
    """(3/2) log H <= -3 log log n: below e a model of one head, or little more, would do."""
    assert impossibility.feasible(n) == possible
