r"""Phase 1 in scalars: its end, what has happened by then, and appendix E's bounds on it.

The paper's T1 carries an unknown constant. Ours is read off the run: the last time at which
something is still not positive, interpolated in the logarithm of time, by two detections:

| name | after it |
|---|---|
| `T1_every_sample` | every sample is classified correctly |
| `T1_type_means` | the mean margin of every type is positive |

T1 is the first of them, unless a name ends in `_late`: Theorem E.27 speaks of a time
$C_{T_1}/(\sigma_1^2 m m_1)$ with a large enough constant, and a sample is only just correct at the
detected T1. All is nan if there is no T1.

Legend: as in `theory.sizes`; $R$ is the largest movement of a neuron's output on a signal,
$R_S, R_K, R_Q, R_P$ the largest changes of scores, keys, queries and attention up to T1.
"""

import math
from functools import cache

import numpy as np

from attnlab.papers.yang2024.runs.summaries.initial import DELTA
from attnlab.papers.yang2024.runs.summaries.phase_1_series import (
    ClassSeries,
    NeuronSeries,
    SampleSeries,
    WordSeries,
    taken,
)
from attnlab.papers.yang2024.runs.summaries.series import Series, Until, at_time, largest_until
from attnlab.papers.yang2024.theory.phase_1 import phase_1_end
from attnlab.papers.yang2024.theory.sizes import StatedSizes

END = "T1_every_sample"
LATE = 2.0
"""Ours: C_T1 of Theorem E.27 is this many times the limit's tau_1."""
MARGIN = 0.1
"""Ours: the small constant of Corollary E.20."""
CLASSES = ("signals", "mixed", "random")


DETECTIONS = ("every_sample", "type_means")
"""Two ways to see the end of phase 1."""
CHANGES = ("value_change", "score_change", "key_change", "query_change", "neuron_gram_change")


def summarise(series: Series, sizes: StatedSizes) -> dict[str, float]:
    """Every scalar that the run's probes allow; `series` has both T1 of `detected_ends`."""
    end = float(series[END])
    scalars = by_detection(series) | _samples(taken(SampleSeries, series), end)
    if "signal_rates" in series:
        words = taken(WordSeries, series)
        scalars |= _band(words, sizes, end) | _words(words, sizes, end)
        scalars |= _at_the_end(words, sizes)
    if "neuron_rate_error" in series:
        scalars |= _neurons(taken(NeuronSeries, series), sizes, end)
    return scalars


def summarise_classes(series: Series, sizes: StatedSizes) -> dict[str, float]:
    """What a run on classes of words says of random words and of scores (E.9, E.15, E.26, E.28)."""
    end = float(series[END])
    seen = taken(ClassSeries, series)
    until = Until(seen.times, end)
    signals = np.abs(seen.signal_outputs).max(axis=1)
    random = np.nanmax(np.abs(seen.random_outputs), axis=1)
    value = float(until.largest_per_time(seen.random_value_change))
    return {
        "random_growth": float(until.largest_per_time(random)) / sizes.rate,
        "random_share": _over(until.largest(random), until.largest(signals)),
        # Each random word is in one sample: (N_mu + N_nu)/n = 2/n.
        "value_use_rate_random": value * sizes.n / 2,
        "score_over_bound": until.largest(seen.score_change) / _score_bound(sizes),
    }


# --- T1 ---------------------------------------------------------------------------------------


def detected_ends(series: Series) -> dict[str, float]:
    """T1 by both detections, from the smallest margin (k,) and the mean margin by type (k, 4)."""
    by_type = np.asarray(series["margin_by_type"], float)
    present = ~np.isnan(by_type).all(axis=0)  # a type without samples has no mean
    margins = {
        "every_sample": series["smallest_margin"],
        "type_means": by_type[:, present].min(axis=1),
    }
    return {f"T1_{name}": positive_for_good(series["times"], x) for name, x in margins.items()}


def positive_for_good(times: np.ndarray, values: np.ndarray) -> float:
    """The time after which `values` stay positive; nan if they do not end positive.

    If they are positive from the start it is the first time. Between two records the value is
    taken as linear in log t (in t itself from time 0). A nan is not positive.
    """
    t, x = np.asarray(times, float), np.asarray(values, float)
    bad = np.flatnonzero(~(x > 0))
    if bad.size == 0:
        return float(t[0])
    i = int(bad[-1])
    if i == len(x) - 1:
        return float("nan")
    if not np.isfinite(x[i]):
        return float(t[i + 1])
    part = -x[i] / (x[i + 1] - x[i])
    if t[i] <= 0:
        return float(t[i] + part * (t[i + 1] - t[i]))
    return float(t[i] * (t[i + 1] / t[i]) ** part)


def by_detection(series: Series) -> dict[str, float]:
    """Scalars named `<quantity>_by_<detection>` or `<quantity>_at_<detection>`; nan if no T1."""
    scalars = {}
    for detection in DETECTIONS:
        end = float(series[f"T1_{detection}"])
        G1, G2, G3 = at_time(series, "signal_outputs", end)
        scalars[f"alignment_at_{detection}"] = float(np.min([G1, G2, -G3]))
        scalars[f"loss_at_{detection}"] = float(at_time(series, "loss", end))
        for name in CHANGES:
            if name in series:
                scalars[f"{name}_by_{detection}"] = largest_until(series, name, end)
    return scalars


# --- appendix E -------------------------------------------------------------------------------


def _score_bound(sizes: StatedSizes) -> float:
    """Theorem E.28's bound at constant one."""
    return sizes.m**-1.5 * (1 / sizes.L + 1 / math.sqrt(sizes.m))


def _samples(series: SampleSeries, end: float) -> dict[str, float]:
    """Corollary E.20 and Proposition E.21."""
    counts, g = series.type_counts, series.gradient_by_type
    shares = [counts[k - 1] / counts.sum() for k in (2, 3)]
    gap = np.abs(np.nan_to_num(g[:, 1]) * shares[0] - np.nan_to_num(g[:, 2]) * shares[1])
    margins = series.smallest_margin_by_type[:, 1:3].min(axis=1)
    return {
        "gradient_gap": Until(series.times, end).largest_record(gap),
        "right_by": first_reached(series.times, margins, MARGIN),
    }


def _band(series: WordSeries, sizes: StatedSizes, end: float) -> dict[str, float]:
    """Lemma 4.3 (E.19): when the band begins to hold until T1, its C, and the slowest signal.

    C and the rate are taken over the later half, in log t, of the stretch, for C is 0 where the
    stretch begins.
    """
    times, rates = series.times, series.signal_rates
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


def _words(series: WordSeries, sizes: StatedSizes, end: float) -> dict[str, float]:
    """Definition E.2, E.3, E.9, E.15, E.23, E.25 and E.28, as far as words show them."""
    n, L, m = sizes.n, sizes.L, sizes.m
    until = Until(series.times, end)
    score = until.largest(series.score_change)
    unit = (sizes.s0**2 + sizes.s1**2) * m
    random_rate = until.largest(series.largest_random_rate) / sizes.m1
    keys = sizes.s0**2 * math.sqrt(m)
    scalars = {
        "score_movement": score * m**1.5,
        "key_movement": _over(until.largest(series.key_change), keys),
        "query_movement": _over(until.largest(series.query_change), keys),
        "attention_over_bound": until.largest(series.attention_change)
        / (1 / (math.sqrt(m) * L) + L / m),
        "score_over_bound": score / _score_bound(sizes),
        "random_rate_over_bound": random_rate / (unit / n + sizes.s0**2 * L * math.sqrt(m)),
    }
    per_use = {
        "value": series.value_change_per_use,
        "score": series.score_change_per_use,
        "key": series.key_change_per_use,
        "query": series.query_change_per_use,
    }
    for kind, changes in per_use.items():
        by_class = until.largest_per_time(changes)
        scalars |= {f"{kind}_use_rate_{k}": by_class[i] for i, k in enumerate(CLASSES)}
        scalars[f"{kind}_use_rate"] = float(np.max(by_class))
    return scalars


def _at_the_end(series: WordSeries, sizes: StatedSizes) -> dict[str, float]:
    """Theorem E.27, at twice the limit's T1."""
    late = Until(series.times, LATE * _tau_1(sizes.n, sizes.L) / sizes.neuron_rate)
    G1, G2, G3 = late.value(series.signal_outputs)
    scale = sizes.s0 * sizes.s1 * math.sqrt(sizes.m * sizes.m1)
    return {
        "margin_least_late": float(late.value(series.smallest_margin)),
        "margin_most_late": float(late.value(series.largest_output)),
        "signal_least_late": float(np.min([G1, G2, -G3])),
        "signal_most_late": float(np.max(np.abs([G1, G2, G3]))),
        "random_output_late": _over(float(late.value(series.largest_random_output)), scale),
        "rho_late": float(late.value(series.rho)) / sizes.neuron_rate,
    }


def _neurons(series: NeuronSeries, sizes: StatedSizes, end: float) -> dict[str, float]:
    """Definition E.2, E.12, E.14 and E.15 by single neuron."""
    n, L, m, m1, s0, s1 = sizes.n, sizes.L, sizes.m, sizes.m1, sizes.s0, sizes.s1
    until = Until(series.times, end)
    R = until.largest(series.neuron_output_change_signal)
    random = until.largest(series.neuron_output_change_random)
    R_P = until.largest(series.attention_change)
    outputs = s1 * s0 * math.sqrt(m / L * math.log(m1 * n * L / DELTA))
    stated = 2 * L * (outputs + L * R_P * s0 * s1 * math.sqrt(m) + 4 * R / L)
    rate = until.largest_per_time(series.neuron_gram_change)
    unit = (s0**2 + s1**2) * m
    error = L * s0**2 * math.sqrt(m) + s1**2 * math.sqrt(m * m1)
    factors = series.neuron_factors / unit
    of_random = until.largest(series.largest_random_neuron_rate)
    return {
        "neuron_movement": R * m1,
        "neuron_random_share": _over(random, R),
        "neuron_gram_rate": float(rate),
        "neuron_gram_over_bound": _over(float(rate), stated),
        "neuron_error_over_bound": until.largest_record(series.neuron_rate_error) / error,
        "neuron_factor_least": -until.largest_record(-factors[:, 0]),
        "neuron_factor_most": until.largest_record(factors[:, 1]),
        "neuron_random_rate_over_bound": of_random / (unit / n + s0**2 * L * math.sqrt(m)),
        "neuron_common_rate": until.largest(series.largest_common_neuron_rate) / (s1**2 * m),
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


@cache
def _tau_1(n: float, L: float) -> float:
    return phase_1_end(n, L)
