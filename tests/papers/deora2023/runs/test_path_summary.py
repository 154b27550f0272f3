"""Section 6.1's inequalities on made-up paths, step by step in loops from the printed formulas."""

import math

import numpy as np
import pytest

from attnlab.papers.deora2023.runs.path_summary import LongPath, Path, summarise, summarise_long
from attnlab.papers.deora2023.theory.conditions import Target

T, D, R, H = 3, 5, 1.4, 900.0
K, LAST, EVERY = 6, 10, 3
ALPHAS = (0.0, 0.5, 1.0)
ETA = 0.2
TARGET = Target(
    T=T, d=D, R=R, H=H, D=1.7, m=0.6, loss=0.05, start_loss=0.69, K=K, least_count=4.0
)  # fmt: skip


def made_up(seed: int = 0) -> dict[str, np.ndarray]:
    """A path whose every array is drawn, so that no two quantities can be exchanged."""
    random = np.random.default_rng(seed)
    steps = LAST + 1
    loss = 0.69 * np.exp(-np.linspace(0, 1, steps)) * random.uniform(0.95, 1, steps)
    return {
        "loss": np.sort(loss)[::-1],
        "gradient": random.uniform(0.3, 0.6, steps),
        "from_start": random.uniform(0, 5, steps),
        "from_target": random.uniform(0.5, 4, steps),
        "decoder_norm": random.uniform(0.3, 0.9, steps),
        "along": random.uniform(-0.4, 0.1, steps),
        "segment_loss": random.uniform(0.1, 1.2, (steps, len(ALPHAS))),
        "segment_lambda": random.uniform(-0.3, 0.1, len(range(0, steps, EVERY))),
        "target_loss": np.asarray(0.07),
    }


def beta_1(m: float, sharp: bool) -> float:
    if sharp:
        return math.sqrt(T) * R * math.sqrt(R**4 * m**2 + 1)
    return math.sqrt(T) * R * (2 * R**2 * m + 1)


def beta_3(m: float, sharp: bool) -> float:
    if sharp:
        return math.sqrt(T) * R**3 * (2 * R**2 * m + 1)
    return 2 * math.sqrt(T * D) * R**3 * (3 * math.sqrt(D) * R**2 * m + 1)


def beta_2(m: float, sharp: bool) -> float:
    return beta_3(m, sharp) / math.sqrt(H) + beta_1(m, sharp) ** 2 / 4


def kappa(path: dict, k: int, sharp: bool) -> float:
    """The larger beta_3 of the two ends of segment k, over sqrt(H)."""
    ends = (beta_3(path["decoder_norm"][k], sharp), beta_3(TARGET.m, sharp))
    return max(ends) / math.sqrt(H)


@pytest.fixture
def found() -> dict:
    return summarise(Path(**made_up()), TARGET, ETA, EVERY)


def same(found: dict, expected: dict) -> None:
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-12)


def test_theorem_1_and_the_iterates(found):
    path = made_up()
    losses = [path["loss"][k] for k in range(1, K + 1)]
    mean = sum(losses) / K
    bound = 2 * 0.05 + 5 * 1.7**2 / (4 * ETA * K)
    moved = max(path["from_start"][k] for k in range(K + 1))
    same(
        found,
        {
            "mean_loss": mean,
            "last_loss": path["loss"][K],
            "loss_bound": bound,
            "mean_over_bound": mean / bound,
            "mean_over_square_rate": mean / (2 * 0.05 / K + 5 * 1.7**2 / (4 * ETA * K**2)),
            "last_over_mean": path["loss"][K] / mean,
            "moved_over_4D": moved / (4 * 1.7),
            "moved_over_D": moved / 1.7,
            "iterates_over_3D": max(path["from_target"][: K + 1]) / (3 * 1.7),
            "moved_by_descent": math.sqrt(2 * ETA * K * path["loss"][0]),
        },
    )
    assert list(found["losses"]) == [path["loss"][k] for k in range(K + 1)]


def test_descent_is_the_worst_step(found):
    path = made_up()
    quotients = [
        (path["loss"][k] - path["loss"][k + 1]) / (ETA / 2 * path["gradient"][k] ** 2)
        for k in range(K)
    ]
    assert found["descent"] == pytest.approx(min(quotients), rel=1e-12)


@pytest.mark.parametrize(("size", "counts"), [(0.9e-12, False), (1.1e-12, True)])
def test_a_step_lost_in_rounding_says_nothing_about_descent(size, counts):
    """The step's promise over the loss decides, and the line is drawn at 1e-12."""
    path = made_up()
    path["loss"][3] = path["loss"][2]
    path["gradient"][2] = math.sqrt(2 * size * path["loss"][2] / ETA)
    descent = summarise(Path(**path), TARGET, ETA, EVERY)["descent"]
    assert (descent == 0) == counts


def test_taylors_bound_14(found):
    path = made_up()
    slacks = []
    for row, k in enumerate(k for k in range(0, LAST + 1, EVERY) if k <= K):
        least = path["segment_lambda"][row]
        bound = path["loss"][k] + path["along"][k] + least / 2 * path["from_target"][k] ** 2
        slacks.append((0.07 - bound) / path["loss"][k])
    same(found, {"taylor_smallest": min(slacks), "taylor_largest": max(slacks)})


@pytest.mark.parametrize("variant", ["corrected", "sharp"])
def test_segments_15_and_16(found, variant):
    path, sharp = made_up(), variant == "sharp"
    convexity, lost = [], []
    for row, k in enumerate(k for k in range(0, LAST + 1, EVERY) if k <= K):
        worst = max(path["segment_loss"][k])
        concave = max(0.0, -path["segment_lambda"][row])
        convexity.append(concave / (kappa(path, k, sharp) * worst))
    for k in range(K + 1):
        worst = max(path["segment_loss"][k])
        room = kappa(path, k, sharp) / 2 * worst * path["from_target"][k] ** 2
        lost.append((path["loss"][k] + path["along"][k] - 0.07) / room)
    same(
        found,
        {f"segment_convexity_{variant}": max(convexity), f"equation_16_{variant}": max(lost)},
    )


def test_a_segment_on_which_the_loss_is_convex_has_no_concavity():
    path = made_up()
    path["segment_lambda"] = np.abs(path["segment_lambda"])
    assert summarise(Path(**path), TARGET, ETA, EVERY)["segment_convexity_sharp"] == 0


def test_proposition_4_and_its_condition_18(found):
    path = made_up()
    growth = [
        max(path["segment_loss"][k]) / max(path["loss"][k], path["target_loss"])
        for k in range(K + 1)
    ]
    close = [2 * kappa(path, k, True) * path["from_target"][k] ** 2 for k in range(K + 1)]
    same(found, {"growth": max(growth), "closeness_18": max(close)})


def test_the_larger_end_of_a_segment_counts():
    path = made_up()
    path["target_loss"] = np.asarray(0.8)
    growth = summarise(Path(**path), TARGET, ETA, EVERY)["growth"]
    assert growth == pytest.approx(path["segment_loss"][: K + 1].max() / 0.8)


def test_the_regret_17(found):
    path = made_up()
    mean = sum(path["loss"][k] for k in range(1, K + 1)) / K
    terms = [
        kappa(path, k, False) * max(path["segment_loss"][k]) * path["from_target"][k] ** 2
        for k in range(K)
    ]
    bound = 0.07 + 1.7**2 / (2 * ETA * K) + sum(terms) / (2 * K)
    same(found, {"equation_17": mean / bound, "equation_17_slow": mean / (bound / K)})


def rho(proof: str, theorem: int) -> float:
    if proof == "corrected":
        alpha = 3 * math.sqrt(D) * R**2
        alpha *= 3 * math.sqrt(T) * R**3 * (3 * 1.7 + 0.6) + 2 * math.sqrt(T) * R
        return (2 * math.sqrt(T * D) * R**3 / math.sqrt(H) + T * R**2 / 4) * alpha**2
    m = radius(proof)
    return beta_2(m, True) if theorem == 1 else max(beta_2(m, True), beta_1(m, True) ** 2)


def radius(proof: str) -> float:
    return 0.6 + 3 * 1.7 / (2 if proof == "symmetric" else 1)


@pytest.mark.parametrize("proof", ["corrected", "sharp", "symmetric"])
def test_constants_along_the_path_and_heads(found, proof):
    path, sharp = made_up(), proof != "corrected"
    longest = max(path["decoder_norm"][: K + 1])
    constant = 18.0 if proof == "corrected" else 169 / 24
    needed = (constant * beta_3(radius(proof), sharp) * 1.7**2) ** 2
    same(
        found,
        {
            f"rho_k_over_rho_{proof}": beta_2(longest, sharp) / rho(proof, 1),
            f"beta_1_squared_over_rho_{proof}": beta_1(radius(proof), sharp) ** 2 / rho(proof, 2),
            f"heads_{proof}_over_H": needed / H,
        },
    )


def test_heads_as_printed(found):
    # (3) with a norm below 1 taken for 1.
    assert found["heads_printed_over_H"] == pytest.approx(
        (D * math.sqrt(T) * R**5 * 1 * 1.7**3) ** 2 / H, rel=1e-12
    )


def test_a_long_path():
    """Three records; the sum has the losses of steps 0 to K-1."""
    seen = LongPath(
        loss=np.array([0.7, 0.4, 0.2]),
        sum=np.array([0.0, 1.6, 2.3]),
        from_start=np.array([0.0, 3.3, 3.1]),
        from_target=np.array([1.7, 0.4, 2.9]),
        decoder_norm=np.array([0.5, 0.8, 0.6]),
    )
    found = summarise_long(seen, TARGET, ETA)
    bound = 2 * 0.05 + 5 * 1.7**2 / (4 * ETA * K)
    mean = (2.3 - 0.7 + 0.2) / K
    expected = {
        "mean_loss": mean,
        "last_loss": 0.2,
        "loss_bound": bound,
        "mean_over_bound": mean / bound,
        "mean_over_square_rate": mean / (0.1 / K + 5 * 1.7**2 / (4 * ETA * K**2)),
        "last_over_mean": 0.2 / mean,
        "moved_over_4D": 3.3 / 6.8,
        "moved_over_D": 3.3 / 1.7,
        "iterates_over_3D": 2.9 / 5.1,
        "overshoot_over_D": 2.9 / 1.7,
        "moved_by_descent": math.sqrt(2 * ETA * K * 0.7),
        "descends": 1.0,
    }
    same(found, expected)
    for proof in ("corrected", "sharp", "symmetric"):
        sharp = proof != "corrected"
        assert found[f"rho_k_over_rho_{proof}"] == pytest.approx(beta_2(0.8, sharp) / rho(proof, 1))
    risen = seen._replace(loss=np.array([0.7, 0.71, 0.2]))
    assert summarise_long(risen, TARGET, ETA)["descends"] == 0
