"""Every step of a path and of its leave-one-out models once more in plain numpy.

The gradients are central differences of a loss that goes head by head and sample by sample; the
inequalities of sections 6.1 and 6.2 are written out from the print.
"""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.engines import collapsed_heads
from attnlab.models.multihead import Heads
from attnlab.papers.deora2023.runs import paths, stability

T, D, N, H, ETA, K = 2, 3, 3, 5.0, 0.4, 3
COUNTS = np.array([3.0, 2.0])
FAR = {"corrected": 1.7, "sharp": 0.9}
"""How long a head is taken to be able to become: made up, and no two alike."""
RANDOM = np.random.default_rng(5)
TOKENS = RANDOM.normal(size=(N, T, D))
LABELS = np.array([1.0, -1.0, 1.0])
V = 0.4 * RANDOM.normal(size=D)
R = max(np.linalg.norm(x) for X in TOKENS for x in X)
START = (np.array([np.tile(V, (T, 1)), -np.tile(V, (T, 1))]), np.zeros((2, D, D)))
WAY = (0.3 * RANDOM.normal(size=(2, T, D)), 0.3 * RANDOM.normal(size=(2, D, D)))
"""To the target of the path."""


@pytest.fixture(scope="module")
def engine():
    return collapsed_heads.engine(Batch.of(TOKENS, LABELS), jnp.asarray(V), jnp.asarray(COUNTS))


def between(a, b, alpha: float) -> list[np.ndarray]:
    return [x + alpha * (y - x) for x, y in zip(a, b, strict=True)]


def size(x) -> float:
    """The length over all heads."""
    return math.sqrt(sum(COUNTS[g] * sum((part[g] ** 2).sum() for part in x) for g in range(2)))


def apart(a, b) -> float:
    return size([x - y for x, y in zip(a, b, strict=True)])


def longest(x) -> float:
    return max(np.linalg.norm(u) for u in x[0])


def beta_1(variant: str, m: float) -> float:
    if variant == "sharp":
        return math.sqrt(T) * R * math.sqrt(R**4 * m**2 + 1)
    return math.sqrt(T) * R * (2 * R**2 * m + 1)


def beta_3(variant: str, m: float) -> float:
    if variant == "sharp":
        return math.sqrt(T) * R**3 * (2 * R**2 * m + 1)
    return 2 * math.sqrt(T * D) * R**3 * (3 * math.sqrt(D) * R**2 * m + 1)


def beta_2(variant: str, m: float) -> float:
    return beta_3(variant, m) / math.sqrt(H) + beta_1(variant, m) ** 2 / 4


class Descent:
    """Plain descent on a weighted loss."""

    def __init__(self, plain, weights: np.ndarray):
        self.plain, self.weights = plain, weights

    def loss(self, x) -> float:
        return self.plain.loss(*x, COUNTS, H, TOKENS, LABELS, self.weights)

    def gradient(self, x) -> list[np.ndarray]:
        """Of one head of each group: a group's part is shared by its heads."""
        found = []
        for k in range(2):

            def loss(part, k=k):
                return self.loss([part if j == k else x[j] for j in range(2)])

            whole = self.plain.gradient(loss, x[k])
            found.append(whole / COUNTS[:, None, None])
        return found

    def step(self, x) -> list[np.ndarray]:
        return [a - ETA * g for a, g in zip(x, self.gradient(x), strict=True)]

    def path(self, steps: int) -> list:
        path = [list(START)]
        for _ in range(steps):
            path.append(self.step(path[-1]))
        return path


def without(i: int) -> np.ndarray:
    """Over n, not over n - 1."""
    weights = np.full(N, 1 / N)
    weights[i] = 0.0
    return weights


def test_a_path_beside_its_target(plain, engine):
    direction = Heads(*(jnp.asarray(x / size(WAY)) for x in WAY))
    found = paths._walk(
        engine, direction, jnp.asarray(size(WAY)), jnp.asarray(ETA), jnp.asarray(K), 5
    )
    descent = Descent(plain, np.full(N, 1 / N))
    target = [a + b for a, b in zip(START, WAY, strict=True)]
    assert float(found.target_loss) == pytest.approx(descent.loss(target), rel=1e-10)
    path = descent.path(K)
    for k in range(6):
        here = path[min(k, K)]  # beyond K a path stands still
        slope = descent.gradient(here)
        along = sum(
            COUNTS[g] * (slope[part][g] * (target[part][g] - here[part][g])).sum()
            for part in range(2)
            for g in range(2)
        )
        expected = {
            "loss": descent.loss(here),
            "gradient": size(slope),
            "from_start": apart(here, START),
            "from_target": apart(here, target),
            "decoder_norm": longest(here),
            "along": along,
        }
        seen = {name: float(getattr(found, name)[k]) for name in expected}
        assert seen == pytest.approx(expected, rel=1e-6, abs=1e-12), k
        places = [descent.loss(between(here, target, a)) for a in (0, 0.25, 0.5, 0.75, 1)]
        np.testing.assert_allclose(found.segment_loss[k], places, rtol=1e-8)


def growth(descent: Descent, variant: str, a, b) -> float:
    """The factor of (19) at both ends and the middle."""
    factors = []
    for alpha in (0, 0.5, 1):
        x = between(a, b, alpha)
        m = longest(x)
        factors.append(1 + ETA * beta_3(variant, m) / math.sqrt(H) * descent.loss(x))
        factors.append(ETA * beta_2(variant, m))
    return max(factors)


@pytest.fixture(scope="module")
def left_out(engine) -> dict[str, np.ndarray]:
    numbers = (float(N), ETA, K, R, [FAR["corrected"], FAR["sharp"]])
    test = Batch.of(TOKENS[:2], -LABELS[:2])
    found = stability._leave_one_out(
        engine, stability.Constants(*map(jnp.asarray, numbers)), test, 5
    )
    return {name: np.asarray(x) for name, x in found.items()}


@pytest.mark.parametrize("i", range(N))
def test_a_model_without_one_sample(plain, left_out, i):
    whole, other = Descent(plain, np.full(N, 1 / N)), Descent(plain, without(i))
    all_path, own_path = whole.path(K), other.path(K)
    own = Descent(plain, np.eye(N)[i])  # the loss of the sample alone
    far = [apart(a, b) for a, b in zip(all_path, own_path, strict=True)]
    after = apart(other.step(all_path[K]), other.step(own_path[K]))
    expected = {
        "apart": far[K],
        "own_loss": own.loss(own_path[K]),
        "point_losses": own.loss(all_path[K]),
        "expansion": after / far[K],
        "equation_20_still": max(far[k + 1] / far[k] for k in range(1, K)),
    }
    for variant, m in FAR.items():
        three = beta_3(variant, m) / math.sqrt(H)
        rows: dict[str, list[float]] = {}
        for k in range(K):
            a, b = all_path[k], own_path[k]
            pushed = ETA / N * own.loss(a)
            largest = max(other.loss(between(a, b, alpha)) for alpha in (0, 0.5, 1))
            both = other.loss(a) + other.loss(b)
            bounds = {
                "20": growth(other, variant, a, b) * far[k] + beta_1(variant, longest(a)) * pushed,
                "21": (1 + ETA * three * largest) * far[k] + beta_1(variant, m) * pushed,
                "21_printed": (1 + ETA * three) * largest * far[k] + beta_1(variant, m) * pushed,
                "22": (1 + 4 / 3 * ETA * three * both) * far[k] + beta_1(variant, m) * pushed,
            }
            for name, bound in bounds.items():
                rows.setdefault(name, []).append(far[k + 1] / bound)
        expected |= {f"equation_{name}_{variant}": max(x) for name, x in rows.items()}
        factor = growth(other, variant, all_path[K], own_path[K])
        expected[f"equation_19_{variant}"] = after / (factor * far[K])
    assert {name: float(left_out[name][i]) for name in expected} == pytest.approx(
        expected, rel=1e-6
    )


def test_losses_on_training_and_test_samples(plain, left_out):
    last = Descent(plain, np.full(N, 1 / N)).path(K)[K]
    pairs = zip(TOKENS[:2], -LABELS[:2], strict=True)
    on_test = [np.logaddexp(0, -y * plain.model(*last, COUNTS, H, X)) for X, y in pairs]
    assert float(left_out["test_loss"]) == pytest.approx(np.mean(on_test), rel=1e-8)
    on_train = [np.logaddexp(0, -y * plain.model(*last, COUNTS, H, X))
                for X, y in zip(TOKENS, LABELS, strict=True)]  # fmt: skip
    assert float(left_out["loss"]) == pytest.approx(np.mean(on_train), rel=1e-8)
