r"""Appendix E in scalars: each quantity of phase 1 over the bound that the paper states for it.

T1 is the detection `every_sample` of a run, unless a name ends in `_late`: Theorem E.27 speaks of
a time $C_{T_1}/(\sigma_1^2 m m_1)$ with a large enough constant, and a sample is only just
correct at the detected T1. All is nan if there is no T1.

Legend: as in `theory.conditions`; $R$ is the largest movement of a neuron's output on a signal,
$R_S, R_K, R_Q, R_P$ the largest changes of scores, keys, queries and attention up to T1.
"""

import math
from functools import cache

import numpy as np

from attnlab.papers.yang2024.summaries.initial import DELTA
from attnlab.papers.yang2024.summaries.series import Series, at_time, largest_until
from attnlab.papers.yang2024.theory import early_phase
from attnlab.papers.yang2024.theory.asymptote import types_of
from attnlab.papers.yang2024.theory.conditions import Sizes

END = "T1_every_sample"
LATE = 2.0
"""Ours: C_T1 of Theorem E.27 is this many times the limit's tau_1."""
MARGIN = 0.1
"""Ours: the small constant of Corollary E.20."""
CLASSES = ("signals", "mixed", "random")


def summarise(series: Series, sizes: Sizes) -> dict[str, float]:
    """Every scalar that the run's probes allow."""
    end = float(series[END])
    scalars = _samples(series, end)
    if "signal_rates" in series:
        scalars |= _band(series, sizes, end) | _words(series, sizes, end)
        scalars |= _at_the_end(series, sizes)
    if "neuron_rate_error" in series:
        scalars |= _neurons(series, sizes, end)
    return scalars


def summarise_classes(series: Series, sizes: Sizes) -> dict[str, float]:
    """What a run on classes of words says of random words and of scores (E.9, E.15, E.26, E.28)."""
    end = float(series[END])
    signals = np.abs(np.asarray(series["signal_outputs"])).max(axis=1)
    random = np.nanmax(np.abs(np.asarray(series["random_outputs"])), axis=1)
    values = {**series, "signals": signals, "random": random}
    score = largest_until(values, "score_change", end)
    moved = largest_until(values, "random", end)
    value = float(_per_time(values, "random_value_change", end))
    return {
        "random_growth": float(_per_time(values, "random", end)) / sizes.rate,
        "random_share": _over(moved, largest_until(values, "signals", end)),
        # Each random word is in one sample: (N_mu + N_nu)/n = 2/n.
        "value_use_rate_random": value * sizes.n / 2,
        "score_over_bound": score / _score_bound(sizes),
    }


def _score_bound(sizes: Sizes) -> float:
    """Theorem E.28's bound at constant one."""
    return sizes.m**-1.5 * (1 / sizes.L + 1 / math.sqrt(sizes.m))


def _samples(series: Series, end: float) -> dict[str, float]:
    """Corollary E.20 and Proposition E.21."""
    types = types_of(np.asarray(series["words"]))
    g = np.asarray(series["gradient_by_type"])
    shares = [(types == k).mean() for k in (2, 3)]
    gap = np.abs(np.nan_to_num(g[:, 1]) * shares[0] - np.nan_to_num(g[:, 2]) * shares[1])
    margins = np.asarray(series["smallest_margin_by_type"])[:, 1:3].min(axis=1)
    return {
        "gradient_gap": _sup(series, gap, end),
        "right_by": first_reached(np.asarray(series["times"]), margins, MARGIN),
    }


def _band(series: Series, sizes: Sizes, end: float) -> dict[str, float]:
    """Lemma 4.3 (E.19): when the band begins to hold until T1, its C, and the slowest signal.

    C and the rate are taken over the later half, in log t, of the stretch, for C is 0 where the
    stretch begins.
    """
    times, rates = np.asarray(series["times"]), np.asarray(series["signal_rates"])
    upper, lower = rates[:, 0] + rates[:, 1], rates[:, :2].max(axis=1)
    common = -rates[:, 2]
    inside = (lower < common) & (common < upper)
    before = np.flatnonzero(times <= end)
    names = ("band_begin", "band_constant", "band_rate")
    if not before.size or not inside[before[-1]]:
        return dict.fromkeys(names, math.nan)
    outside = before[~inside[before]]
    begin = float(times[outside[-1] + 1]) if outside.size else float(times[1])
    half = (times >= math.sqrt(begin * end)) & (times <= end)
    half[before[-1]] = True
    constant = np.minimum(common / lower - 1, 1 - common / upper)[half].min()
    slowest = rates[half, :2].min() / sizes.rate
    return dict(zip(names, (begin / end, float(constant), float(slowest)), strict=True))


def _words(series: Series, sizes: Sizes, end: float) -> dict[str, float]:
    """Definition E.2, E.3, E.9, E.15, E.23, E.25 and E.28, as far as words show them."""
    n, L, m = sizes.n, sizes.L, sizes.m
    by = {
        name: largest_until(series, name, end)
        for name in (
            "score_change",
            "key_change",
            "query_change",
            "attention_change",
            "largest_random_rate",
        )
    }
    unit = (sizes.s0**2 + sizes.s1**2) * m
    random_rate = by["largest_random_rate"] / sizes.m1
    keys = sizes.s0**2 * math.sqrt(m)
    scalars = {
        "score_movement": by["score_change"] * m**1.5,
        "key_movement": _over(by["key_change"], keys),
        "query_movement": _over(by["query_change"], keys),
        "attention_over_bound": by["attention_change"] / (1 / (math.sqrt(m) * L) + L / m),
        "score_over_bound": by["score_change"] / _score_bound(sizes),
        "random_rate_over_bound": random_rate / (unit / n + sizes.s0**2 * L * math.sqrt(m)),
    }
    for kind in ("value", "score", "key", "query"):
        by_class = _per_time(series, f"{kind}_change_per_use", end)
        scalars |= {f"{kind}_use_rate_{k}": by_class[i] for i, k in enumerate(CLASSES)}
        scalars[f"{kind}_use_rate"] = float(np.max(by_class))
    return scalars


def _at_the_end(series: Series, sizes: Sizes) -> dict[str, float]:
    """Theorem E.27, at twice the limit's T1."""
    L = np.asarray(series["words"]).shape[1]
    end = LATE * _tau_1(sizes.n, L) / sizes.neuron_rate
    G1, G2, G3 = at_time(series, "signal_outputs", end)
    scale = sizes.s0 * sizes.s1 * math.sqrt(sizes.m * sizes.m1)
    return {
        "margin_least_late": float(at_time(series, "smallest_margin", end)),
        "margin_most_late": float(at_time(series, "largest_output", end)),
        "signal_least_late": float(np.min([G1, G2, -G3])),
        "signal_most_late": float(np.max(np.abs([G1, G2, G3]))),
        "random_output_late": _over(float(at_time(series, "largest_random_output", end)), scale),
        "rho_late": float(at_time(series, "rho", end)) / sizes.neuron_rate,
    }


def _neurons(series: Series, sizes: Sizes, end: float) -> dict[str, float]:
    """Definition E.2, E.12, E.14 and E.15 by single neuron."""
    n, L, m, m1, s0, s1 = sizes.n, sizes.L, sizes.m, sizes.m1, sizes.s0, sizes.s1
    R = largest_until(series, "neuron_output_change_signal", end)
    random = largest_until(series, "neuron_output_change_random", end)
    R_P = largest_until(series, "attention_change", end)
    outputs = s1 * s0 * math.sqrt(m / L * math.log(m1 * n * L / DELTA))
    stated = 2 * L * (outputs + L * R_P * s0 * s1 * math.sqrt(m) + 4 * R / L)
    rate = _per_time(series, "neuron_gram_change", end)
    unit = (s0**2 + s1**2) * m
    error = L * s0**2 * math.sqrt(m) + s1**2 * math.sqrt(m * m1)
    factors = np.asarray(series["neuron_factors"]) / unit
    of_random = largest_until(series, "largest_random_neuron_rate", end)
    return {
        "neuron_movement": R * m1,
        "neuron_random_share": _over(random, R),
        "neuron_gram_rate": float(rate),
        "neuron_gram_over_bound": _over(float(rate), stated),
        "neuron_error_over_bound": _sup(series, np.asarray(series["neuron_rate_error"]), end)
        / error,
        "neuron_factor_least": -_sup(series, -factors[:, 0], end),
        "neuron_factor_most": _sup(series, factors[:, 1], end),
        "neuron_random_rate_over_bound": of_random / (unit / n + s0**2 * L * math.sqrt(m)),
        "neuron_common_rate": largest_until(series, "largest_common_neuron_rate", end)
        / (s1**2 * m),
    }


# --- readings of a series ---------------------------------------------------------------------


def first_reached(times: np.ndarray, values: np.ndarray, level: float) -> float:
    """The first time at which `values` are at least `level`, linear in t between two records."""
    reached = np.flatnonzero(values >= level)
    if not reached.size:
        return math.nan
    i = int(reached[0])
    if i == 0:
        return float(times[0])
    part = (level - values[i - 1]) / (values[i] - values[i - 1])
    return float(times[i - 1] + part * (times[i] - times[i - 1]))


def _over(value: float, bound: float) -> float:
    """A quotient that is nan where the bound is 0 (no initialisation, nothing moved)."""
    return value / bound if bound else math.nan


def _sup(series: Series, values: np.ndarray, end: float) -> float:
    """The largest of the records up to `end`; nan if there is no end."""
    if not math.isfinite(end):
        return math.nan
    return float(values[np.asarray(series["times"]) <= end].max())


def _per_time(series: Series, name: str, end: float) -> np.ndarray:
    """The largest value over t, of the records in (0, end]; nan if there is no end."""
    times, values = np.asarray(series["times"]), np.asarray(series[name])
    chosen = (times > 0) & (times <= end)
    if not chosen.any():
        return np.full(values.shape[1:], math.nan)
    t = times[chosen].reshape(-1, *(1,) * (values.ndim - 1))
    return (values[chosen] / t).max(axis=0)


@cache
def _tau_1(n: float, L: float) -> float:
    return early_phase.phase_one_end(n, L)
