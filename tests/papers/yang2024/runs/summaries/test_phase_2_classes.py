"""Late training on classes of words: every scalar of a made-up flow once more by hand."""

import math
from itertools import product

import numpy as np
import pytest

from attnlab.papers.yang2024.runs.summaries import phase_2_classes
from attnlab.papers.yang2024.theory.asymptote import balanced_limit
from attnlab.papers.yang2024.theory.sizes import StatedSizes

SIZES = StatedSizes(24, 4, 43, 4096.0, 32.0, 0.01, 1 / math.sqrt(32))
KINDS = (((0, 1, 2), 1, 1 / 2), ((0, 2), -1, 1 / 6), ((1, 2), -1, 1 / 6), ((2,), -1, 1 / 6))


def flow() -> dict[str, np.ndarray]:
    random = np.random.default_rng(0)
    times = np.r_[0, np.geomspace(1e-6, 1.0, 9)]
    grown = np.log1p(4096 * times)[:, None]
    C = random.uniform(0.5, 1, (10, 3, 3)) * np.array([[1, 1, 1], [1, 1, 1], [-1, -1, 1]])
    words = grown * np.array([0.3, -0.2, -0.1, 0.05]) / 10
    words[:, 3] = np.nan
    return {
        "times": times,
        "signal_outputs": grown * np.array([0.9, 0.8, -1.1]) * random.uniform(0.9, 1.1, (10, 3)),
        "random_outputs": words,
        "loss": 0.6 / (1 + 900 * times) * random.uniform(0.9, 1.1, 10),
        "coefficients": C,
        "largest_random_coefficient": random.uniform(0.1, 0.2, 10),
    }


def slope(times: np.ndarray, values: np.ndarray) -> float:
    """The straight line through the later half in log t, by numpy's own fit."""
    late = np.log(times) >= (math.log(times[0]) + math.log(times[-1])) / 2 - 1e-12
    return float(np.polyfit(np.log(times[late]), values[late], 1)[0])


def test_every_scalar():
    series = flow()
    found = phase_2_classes.summarise(series, SIZES)
    times = series["times"][1:]
    signals, words = series["signal_outputs"][1:], np.nan_to_num(series["random_outputs"][1:])
    counts = np.array([12 * 1, 4 * 2, 4 * 2, 4 * 3])
    shares = counts / counts.sum()
    test, unseen, worst = np.zeros(9), np.full(9, np.inf), np.full(9, np.inf)
    for k in range(9):
        for held, y, share in KINDS:
            part = signals[k, list(held)].sum()
            unseen[k] = min(unseen[k], y * part)
            for chosen in product(range(4), repeat=4 - len(held)):
                F = part + words[k, list(chosen)].sum()
                worst[k] = min(worst[k], y * F)
                test[k] += share * np.prod(shares[list(chosen)]) * math.log1p(math.exp(-y * F))
    np.testing.assert_allclose(found["test_loss"], test, rtol=1e-12)
    limit = balanced_limit(24, 4)
    step = (1 / series["loss"][-1] - 1 / series["loss"][-2]) / (times[-1] - times[-2])
    rate = (1 / 32 + 0.01**2) * 4096 * 32
    G1, G2, G3 = signals[-1] - signals[-2]
    C = series["coefficients"][-1]
    ratio = min(C[1, 0], C[0, 1], -C[2, 0], -C[2, 1]) / series["largest_random_coefficient"][-1]
    grown = [max(abs(words[k])) * 24 / math.log1p(4096 * times[k]) for k in range(9)]
    expected = {
        "test_loss_end": test[-1],
        "test_loss_time_exponent": slope(times, np.log(test)),
        "unseen_margin_end": unseen[-1],
        "unseen_margin_log_slope": slope(times, unseen),
        "worst_margin_end": worst[-1],
        "worst_margin_log_slope": slope(times, worst),
        "phase_2_loss_slope_over_limit": step * limit.loss_constant / rate,
        "phase_2_R_over_limit": -G3 / max(G1, G2) / limit.R,
        "phase_2_random_output_constant": max(grown),
        "phase_2_coefficient_ratio": ratio,
        "phase_2_coefficient_ratio_over_guarantee": ratio / min(24, 64 / 4),
    }
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-9)
    few = StatedSizes(6, 4, 43, 4096.0, 32.0, 0.01, SIZES.s1)
    guarantee = phase_2_classes.summarise(series, few)["phase_2_coefficient_ratio_over_guarantee"]
    assert guarantee == pytest.approx(ratio / 6)


def test_each_coefficient_can_be_the_least():
    for key, query, value in ((1, 0, 0.01), (0, 1, 0.02), (2, 0, -0.03), (2, 1, -0.04)):
        series = flow()
        series["coefficients"][-1, key, query] = value
        found = phase_2_classes.summarise(series, SIZES)["phase_2_coefficient_ratio"]
        assert found == pytest.approx(abs(value) / series["largest_random_coefficient"][-1])
