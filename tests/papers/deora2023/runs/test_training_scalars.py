"""What a training run reads off its series, from made-up ones, record by record in loops."""

import math

import numpy as np
import pytest

from attnlab.papers.deora2023.runs import training
from attnlab.papers.deora2023.settings import TrainingSettings

CELL = TrainingSettings(T=3, d=5, M=2, S=1.4, zeta=1 / 3, H=900.0)
T, D, R, H, RECORDS = 3, 5, 1.4, 900.0, 7
RANDOM = np.random.default_rng(2)
SERIES = training.TrainingSeries(
    loss=np.sort(RANDOM.uniform(0.1, 0.7, RECORDS))[::-1],
    test_loss=RANDOM.uniform(0.2, 0.9, RECORDS),
    decoder_norm=RANDOM.uniform(0.3, 0.9, RECORDS),
    decoder_margin=RANDOM.uniform(0.1, 0.9, RECORDS),
    gradient_norm=RANDOM.uniform(0.2, 0.6, RECORDS),
    hessian_norm=RANDOM.uniform(0.2, 3.0, RECORDS),
    lambda_min=RANDOM.uniform(-0.3, 0.1, RECORDS),
    relevant_mass=RANDOM.uniform(0.2, 0.6, (RECORDS, 2)),
)


def betas(variant: str, m: float) -> tuple[float, float, float]:
    if variant == "sharp":
        one = math.sqrt(T) * R * math.sqrt(R**4 * m**2 + 1)
        three = math.sqrt(T) * R**3 * (2 * R**2 * m + 1)
    else:
        one = math.sqrt(T) * R * (2 * R**2 * m + 1)
        front = math.sqrt(T) * D if variant == "printed" else math.sqrt(T * D)
        three = 2 * front * R**3 * (3 * math.sqrt(D) * R**2 * m + 1)
    return one, three / math.sqrt(H) + one**2 / 4, three


def test_corollary_1_along_a_run():
    expected = {}
    for variant in ("printed", "corrected", "sharp"):
        rows = []
        for k in range(RECORDS):
            one, two, three = betas(variant, SERIES.decoder_norm[k])
            negative = max(0.0, -SERIES.lambda_min[k])
            rows.append(
                (
                    SERIES.gradient_norm[k] / (one * SERIES.loss[k]),
                    SERIES.hessian_norm[k] / two,
                    negative / (three / math.sqrt(H) * SERIES.loss[k]),
                )
            )
        names = (f"{name}_{variant}" for name in ("self_bounded", "smooth", "weakly_convex"))
        expected |= dict(zip(names, map(max, zip(*rows, strict=True)), strict=True))
    # With 1/H for 1/sqrt(H) the bound is sqrt(H) times smaller.
    expected["weakly_convex_square"] = 30 * expected["weakly_convex_sharp"]
    assert training.quotients(CELL, SERIES) == pytest.approx(expected, rel=1e-12)


def test_the_last_record():
    concavity = [max(0.0, -SERIES.lambda_min[k]) / SERIES.loss[k] for k in range(RECORDS)]
    gains = [SERIES.relevant_mass[-1][g] - SERIES.relevant_mass[0][g] for g in range(2)]
    assert training._last(SERIES) == pytest.approx(
        {
            "last_loss": SERIES.loss[-1],
            "last_test_loss": SERIES.test_loss[-1],
            "last_decoder_margin": SERIES.decoder_margin[-1],
            "last_gap": SERIES.test_loss[-1] - SERIES.loss[-1],
            "start_concavity": concavity[0],
            "largest_concavity": max(concavity),
            "plus_mass_gain": gains[0],
            "minus_mass_gain": gains[1],
            "mass_difference": gains[0] - gains[1],
            "loss_drop": SERIES.loss[0] / SERIES.loss[-1],
        },
        rel=1e-12,
    )


def test_how_far_a_margin_is_below_saturated_attention():
    reached = SERIES.decoder_margin[-1] / (1.4 * math.sqrt(T / 2))
    assert training._against_attention(CELL, SERIES) == pytest.approx(
        {"margin_over_attention": reached, "attention_shortfall": 1 - reached}
    )


def test_a_bound_is_compared_only_where_the_theorem_chose_the_step():
    assert training._against_bound(SERIES, {}) == {}
    found = training._against_bound(SERIES, {"loss_bound": 0.4, "eta": 0.1})
    assert found == {"loss_bound": 0.4, "eta": 0.1, "loss_over_bound": SERIES.loss[-1] / 0.4}
