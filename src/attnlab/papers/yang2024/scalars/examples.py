"""Made-up series that have what a statement says: the positive fixtures of claims on series."""

from typing import Any

import numpy as np

from attnlab.papers.yang2024.scalars.samples import PAIRS
from attnlab.papers.yang2024.summaries.second_phase import PREFIX
from attnlab.papers.yang2024.theory.asymptote import samples_for_seen_words


def second_phase() -> dict[str, Any]:
    """A run in which all of Theorem 3.2 goes as stated from time 5 / rho(0) on."""
    times = np.r_[0, np.geomspace(0.01, 5000, 80)] / 512
    growth = np.log1p(times * 512)
    correlations = np.zeros((81, 3, 3))
    for i, j, sign in (*PAIRS, (0, 2, -1), (1, 2, -1)):
        correlations[:, i, j] = sign * growth
    G3 = np.where(times * 512 > 5, -1.2, -0.5) * growth
    return {
        "times": times,
        "scores": correlations,
        "value_correlations": correlations,
        "signal_outputs": np.stack([growth, growth, G3], axis=1),
        "rho": np.full(81, 512.0),
        "T1_every_sample": 6 / 512,
        "T1_type_means": 6 / 512,
    }


def figure_1() -> dict[str, Any]:
    """A run with the shape of Figure 1."""
    times = np.r_[0, np.geomspace(1, 30_000, 100)]
    late = np.maximum(np.log(np.maximum(times, 1) / 1_600), 0)
    scores = np.zeros((101, 3, 3))
    for key, query, sign in PAIRS:
        scores[:, key, query] = sign * late
    fall = np.where(times > 2_000, 0.5, 1.0)
    losses = [0.69 * (1 + bump * (times > 100)) * fall for bump in (0.0, 0.2, 0.2, 0.0)]
    by_type = np.stack(losses, axis=1)
    return {"times": times, "scores": scores, "loss_by_type": by_type, "T1_every_sample": 1_650.0}


def rho_series() -> dict[str, Any]:
    """rho's rate by equation (5), negative before every sample is correct."""
    margins = np.array([-0.1, 0.2, 0.1])
    return {
        "phase_2_rho_growth_over_integral": 1.0,
        "mean_weighted_margin": margins,
        "rho_rate": lambda cell, _: 2 * cell.m1 * margins,
    }


def loss_curve() -> dict[str, Any]:
    """A loss that falls like 1/t, whatever the attention."""
    times = np.r_[0, np.geomspace(1e-2, 1e8, 200)]
    return {"times": times, "loss": 1 / (1 + times), "rho": np.ones(201), "T1_every_sample": 0.1}


def duals() -> dict[str, float]:
    """The late constants of a small set: those of the duals, and of no larger set."""
    values = {
        "loss_slope_over_limit": 1.0,
        "R_over_limit": 1.0,
        "random_sum_slope_over_limit": 1.0,
        "loss_slope_over_twice_n": 1.5,
        "loss_slope_over_many_samples": 3.0,
        "R_over_twice_n": 0.9,
        "R_over_many_samples": 0.7,
    }
    return {PREFIX + name: value for name, value in values.items()}


def sides() -> dict[str, Any]:
    """Margins and test losses on the side of their thresholds that n and L say."""

    def seen(cell: Any, _: Any) -> float:
        return 1.0 if cell.n > samples_for_seen_words(cell.L) else -1.0

    def unseen(cell: Any, _: Any) -> float:
        return cell.n - 3.0 * (cell.L + 1)

    return {
        "worst_margin_log_slope": seen,
        "test_loss_time_exponent": lambda cell, _: -seen(cell, _),
        "unseen_margin_end": unseen,
        "unseen_margin_log_slope": unseen,
    }
