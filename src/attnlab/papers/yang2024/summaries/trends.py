"""The trends that the figures show, as scalars of the end of a run."""

import numpy as np

from attnlab.papers.yang2024.summaries.series import Series
from attnlab.papers.yang2024.theory.asymptote import balanced_limit


def summarise(series: Series) -> dict[str, float]:
    """Scalars `late_...` of the last record; nan for a run without the probes they need."""
    if "coefficients" not in series:
        return {}
    with np.errstate(divide="ignore", invalid="ignore"):
        G1, G2, G3 = series["signal_rates"][-1]
        g = series["gradient_by_type"][-1]
        C = series["coefficients"][-1]
        n, L = series["words"].shape
        limit = balanced_limit(n, L)
        least = np.min([C[0, 1], C[1, 0], -C[2, 0], -C[2, 1]])
        tau = series["times"][-1] * series["rate"]
        return {
            "late_over_larger_rate": float(-G3 / max(G1, G2)),
            "late_over_sum_of_rates": float(-G3 / (G1 + G2)),
            "late_types_2_over_3": float(g[1] / g[2]),
            "late_R_over_limit": float(-G3 / max(G1, G2) / limit.R),
            "late_loss_over_limit": float(series["loss"][-1] * tau / limit.loss_constant),
            "late_coefficient_ratio": float(least / series["largest_random_coefficient"][-1]),
        }
