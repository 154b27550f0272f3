"""A point of a path in scalars: the first phase, and the second at each of three stops.

| stop | the second phase ends at |
|---|---|
| `1/m` | the last record with a loss of at least 1/m |
| `1/m^2` | the last with a loss of at least 1/m^2 |
| `10 T` | the end of the run: ten times as long |

A scalar of the second phase has the stop in its name: `name_at_stop`. The test loss is exact up to
L = LONGEST words; beyond, the number of ways to draw a new sample is too large, and it is nan.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from attnlab.papers.yang2024.runs.summaries import phase_1, phase_2, phase_2_classes
from attnlab.papers.yang2024.runs.summaries.series import Series
from attnlab.papers.yang2024.theory.sizes import StatedSizes

STOPS: Mapping[str, float] = {"1/m": 1.0, "1/m^2": 2.0, "10 T": math.inf}
"""By name, the power of 1/m at which the loss stops."""
LONGEST = 40
_ONCE = ("type_counts", "rate", "s0", "s1", "end_time", "T1_every_sample", "T1_type_means")


def key(name: str, stop: str) -> str:
    """What a scalar of the second phase is called in a record."""
    return f"{name}_at_{stop}"


def summarise(series: Series, sizes: StatedSizes) -> dict[str, Any]:
    """All scalars, and the test loss over time."""
    of_new_samples = _test_losses(series, sizes)
    whole = {**series, **of_new_samples}
    scalars: dict[str, Any] = {**phase_1.summarise(series, sizes), **of_new_samples}
    scalars |= _first_phase(series, sizes)
    for stop, power in STOPS.items():
        cut = until(whole, sizes.m**-power if math.isfinite(power) else 0.0)
        found = phase_2.summarise(cut, sizes)
        found |= _over_stated(cut, found, sizes)
        scalars |= {key(name, stop): value for name, value in found.items()}
    return scalars


def _first_phase(series: Series, sizes: StatedSizes) -> dict[str, float]:
    """Corollary E.24 and equation (8)."""
    n, L, m = sizes.n, sizes.L, sizes.m
    times = series["times"]
    until = times <= float(series[phase_1.END])
    both, others = series["attention_rates"][until].max(axis=0)
    score = 1 / L + 1 / math.sqrt(m)
    moved = float(series["attention_change"][until].max())
    g1, g2, g3, g4 = series["gradient_by_type"].T * (np.array([3, 1, 1, 1]) / 6)[:, None]
    balance = np.gradient(2 * g1 - 2 * g2 - g3 - g4, times, edge_order=1)
    crossed = np.flatnonzero(series["signal_rates"][:, 0] <= -series["signal_rates"][:, 2])
    return {
        "e24_random_over_stated": both * L * (L**2 + n) * math.sqrt(m),
        "e24_other_over_stated": others * L**2 * math.sqrt(m),
        "e24_random_over_proved": both * L * m / ((1 / L + 1 / n) * score),
        "e24_other_over_proved": others * L * m / score,
        "e24_change_over_bound": moved * L * m**2 / score,
        "equation_8_rate": -float(balance[crossed[0]]) / sizes.neuron_rate
        if crossed.size
        else math.nan,
    }


def _over_stated(cut: Series, found: Mapping[str, float], sizes: StatedSizes) -> dict[str, float]:
    """Quotients by what the paper states in n, L, m, m1, s0 and s1, all of which vary here."""
    n, L, m, m1, s0 = sizes.n, sizes.L, sizes.m, sizes.m1, sizes.s0
    log_m, rho = math.log(m), sizes.neuron_rate
    begin = found[phase_2.PREFIX + "begin"]
    if math.isnan(begin):
        return {}
    w = cut["times"] >= begin
    loss = cut["loss"][w]
    unit = s0**2 / rho
    others = m1 * (L * (s0**2 * math.sqrt(m) + 1 / m) + s0**2 * m)
    quotients = {
        "begin_in_units": begin * rho,
        "rho_growth_over_size": found[phase_2.PREFIX + "rho_growth"] * m / m1,
        "rho_growth_over_bound": found[phase_2.PREFIX + "rho_growth"] * rho / (m1 * log_m**2),
        "value_growth_over_bound": found[phase_2.PREFIX + "value_growth"] * rho / log_m**2,
        "random_score_over_bound": np.max(
            cut["largest_random_score_rate"][w] / (loss * s0**2 * (math.sqrt(m) / (n * L) + 1))
        ),
        "random_softmax_over_bound": np.max(
            cut["largest_random_softmax_rate"][w]
            / (loss * s0**2 * (math.sqrt(m) / (n * L**2) + 1 / L))
        ),
        "random_coefficient_over_bound": cut["largest_random_coefficient"][-1]
        / (unit * (math.sqrt(m) / (n * L) + 1)),
        "random_change_over_bound": np.max(cut["output_change_random"][w]) / (1 / n + others / rho),
        "softmax_over_printed": found[phase_2.PREFIX + "least_softmax_rate"] / math.sqrt(m),
        "largest_signal": np.abs(cut["signal_outputs"][-1]).max(),
        "end_time_exponent": math.log(cut["times"][-1] * rho) / log_m,
        "worst_test_loss": cut["worst_test_loss"][-1],
    }
    return {phase_2.PREFIX + name: float(value) for name, value in quotients.items()}


def _test_losses(series: Series, sizes: StatedSizes) -> dict[str, np.ndarray]:
    """The expected loss of a new sample, and that of the worst one that there is."""
    parts = phase_2_classes.signal_margins(series["signal_outputs"])
    random = np.nan_to_num(series["random_outputs"])
    worst = phase_2_classes.worst_margins(parts, random, sizes.L).min(axis=1)
    expected = (
        phase_2_classes.test_loss(parts, random, sizes.n, sizes.L)
        if sizes.L <= LONGEST
        else np.full(len(parts), np.nan)
    )
    return {"test_loss": expected, "worst_test_loss": np.logaddexp(0, -worst)}


def until(series: Series, loss: float) -> dict[str, Any]:
    """The series up to the last record with at least this loss."""
    last = int(np.flatnonzero(series["loss"] >= loss)[-1]) + 1
    cut = {name: x if name in _ONCE else x[:last] for name, x in series.items()}
    return {**cut, "end_time": float(cut["times"][-1])}
