"""Ascended segments: every quotient once more in plain numpy, and what ascending adds."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput, Key
from attnlab.models.multihead import Heads
from attnlab.papers.deora2023.runs import segment_ascent as ascent
from attnlab.papers.deora2023.settings import PairSettings

H, T, D = 2, 2, 3
RANDOM = np.random.default_rng(3)
U, W = RANDOM.normal(size=(H, T, D)), RANDOM.normal(size=(H, D, D))
GAP_U, GAP_W = 0.4 * RANDOM.normal(size=(H, T, D)), 0.4 * RANDOM.normal(size=(H, D, D))
X = 0.9 * RANDOM.normal(size=(2, T, D))
R = max(1.0, max(np.linalg.norm(x) for sample in X for x in sample))
LENGTH = math.sqrt((GAP_U**2).sum() + (GAP_W**2).sum())
LONGEST = max(np.linalg.norm(u) for u in (*U, *(U + GAP_U)))


def beta_3(variant: str, m: float = LONGEST) -> float:
    if variant == "sharp":
        return math.sqrt(T) * R**3 * (2 * R**2 * m + 1)
    return 2 * math.sqrt(T * D) * R**3 * (3 * math.sqrt(D) * R**2 * m + 1)


def beta_1(variant: str, m: float = LONGEST) -> float:
    if variant == "sharp":
        return math.sqrt(T) * R * math.sqrt(R**4 * m**2 + 1)
    return math.sqrt(T) * R * (2 * R**2 * m + 1)


@pytest.fixture
def found() -> dict[str, float]:
    segment = ascent.Segment(
        Heads(jnp.asarray(U), jnp.asarray(W)),
        Heads(jnp.asarray(GAP_U), jnp.asarray(GAP_W)),
        jnp.asarray(LENGTH),
        jnp.asarray(LONGEST),
        jnp.asarray(R),
        jnp.asarray(X),
    )
    return {name: float(x) for name, x in ascent.measured(segment).items()}


def test_every_quotient_in_plain_numpy(plain, found):
    labels, weights = np.array([1.0, -1.0]), np.array([0.5, 0.5])

    def loss(x: np.ndarray) -> float:
        u, w = x[: H * T * D].reshape(H, T, D), x[H * T * D :].reshape(H, D, D)
        return plain.loss(u, w, np.ones(H), float(H), X, labels, weights)

    first = np.r_[U.ravel(), W.ravel()]
    gap = np.r_[GAP_U.ravel(), GAP_W.ravel()]
    fine = [loss(first + a * gap) for a in np.linspace(0, 1, 401)]
    coarse = max(fine[::50])
    ends = max(fine[0], fine[-1])
    assert found["growth"] == pytest.approx(max(fine) / ends, rel=1e-5)
    h = 1e-5
    slope = (loss(first + h * gap) - loss(first - h * gap)) / (2 * h)
    below = fine[0] + slope - fine[-1]
    assert found["below_tangent"] == pytest.approx(below / ends, rel=1e-6)
    least = min(least_eigenvalue(loss, first + a * gap) for a in np.linspace(0, 1, 41))
    for variant in ("corrected", "sharp"):
        kappa = beta_3(variant) / math.sqrt(H)
        expected = {
            f"equation_16_{variant}": below / (kappa / 2 * coarse * LENGTH**2),
            f"weak_over_smooth_{variant}": kappa * coarse / (kappa + beta_1(variant) ** 2 / 4),
        }
        for name, value in expected.items():
            assert found[name] == pytest.approx(value, rel=1e-6), name
        assert found[f"segment_convexity_{variant}"] == pytest.approx(
            max(-least, 0) / (kappa * coarse), rel=1e-2
        )
    assert found["closeness_18"] == pytest.approx(2 * beta_3("sharp") * LENGTH**2 / math.sqrt(H))
    assert found["self_bounded_growth"] == pytest.approx(math.exp(beta_1("corrected") * LENGTH / 2))


def least_eigenvalue(loss, x: np.ndarray, h: float = 1e-4) -> float:
    """The smallest eigenvalue of the Hessian by second differences."""
    size = len(x)
    steps = h * np.eye(size)
    matrix = np.empty((size, size))
    for i in range(size):
        for j in range(i + 1):
            pairs = ((1, 1), (-1, -1), (1, -1), (-1, 1))
            a, b, c, d = (loss(x + p * steps[i] + q * steps[j]) for p, q in pairs)
            matrix[i, j] = matrix[j, i] = (a + b - c - d) / (4 * h * h)
    return float(np.linalg.eigvalsh(matrix)[0])


@pytest.mark.parametrize(
    ("objective", "key", "least"),
    [("growth", "growth", 1.005), ("tangent", "equation_16_sharp", 0.3),
     ("concave", "segment_convexity_sharp", 0.3)],
)  # fmt: skip
def test_ascending_finds_what_random_pairs_do_not(objective, key, least):
    values = []
    for seed in range(4):
        cells = (PairSettings(objective=o, H=1) for o in ("none", objective))
        values.append([ascent.ascend_pairs(c, Key.of(c, seed)).values[key] for c in cells])
    random, ascended = np.array(values).T
    assert ascended.max() > least > random.max()


def test_segments_of_proposition_4_meet_18_with_equality():
    for stretch in (1.0, 3.0):
        cell = PairSettings(objective="growth", steps=30, stretch=stretch)
        found = ascent.ascend_pairs(cell, Key.of(cell, 0)).values
        assert found["closeness_18"] == pytest.approx(1.0, rel=1e-6) or stretch > 1
        assert found["closeness_18"] > 1 - 1e-6


@pytest.mark.parametrize("changes", [{"T": 1}, {"H": 0}, {"steps": 0}, {"stretch": 0.0}])
def test_settings_refuse_with_the_numbers(changes):
    with pytest.raises(BadInput, match=next(iter(changes))):
        PairSettings(**changes)
