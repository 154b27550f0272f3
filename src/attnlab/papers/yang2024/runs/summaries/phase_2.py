r"""The second phase in scalars: what claims on appendix F read off a finished run.

The window. Phase 2 is defined by its conditions (Definition F.1), so it is taken to begin where
those with exact constants, and margins of at least 1, hold for good; it ends with the run. A run
in which that stretch is shorter than a factor of ten in time has no phase 2: its scalars are nan.

Legend: $S_k=\sum_{i\in I_k}g_i$; $s_k=\sum_{i\in I_k}g_i(1-g_i)$; $\tau=\rho(0)\,t$; `late` is the
second half of the window in log t. Attention is in the paper's units, at constant one; what has a
random word is in units of its bound's first term alone, which makes the check the stricter one.
"""

import math

import numpy as np

from attnlab.papers.yang2024.runs.summaries.phase_2_series import Phase2Series
from attnlab.papers.yang2024.runs.summaries.series import (
    Series,
    integral,
    line_slope,
    slope_in_late_time,
)
from attnlab.papers.yang2024.theory.asymptote import (
    balanced_limit,
    balancing_root,
    root_with_random_words,
)
from attnlab.papers.yang2024.theory.conditions import DEFINITION_F1, Course, courses
from attnlab.papers.yang2024.theory.sizes import StatedSizes

PREFIX = "phase_2_"
"""Of every scalar that is nan where a run has no second phase."""
SHORTEST = 10.0
"""A second phase lasts until at least ten times its beginning."""
DECISIVE = tuple(
    c.name for c in DEFINITION_F1 if c.constant == "given" or c.name == "smallest_margin"
)
"""The conditions whose holding for good is the beginning of phase 2."""
MANY = balanced_limit(math.inf, 4)
"""The limit of infinitely many samples: 17 and 3/2, whatever their length."""
OFF_ROOT = 0.02
"""R counts as away from a root if it is off by more than this."""


def summarise(recorded: Series, sizes: StatedSizes) -> dict[str, float]:
    """All scalars of the second phase; none for a run without the probes they need."""
    if "coefficients" not in recorded:
        return {}
    series = Phase2Series.of(recorded)
    with np.errstate(all="ignore"):
        table = conditions(series, sizes)
        first = begin(table, series.times)
        found = first is not None
        w = slice(first or 0, None)
        scalars = {
            "begin": series.times[w][0],
            **_implied(series, sizes, w),
            **_gradients(series, sizes, w),
            **_outputs(series, sizes, w),
            **_growth(series, sizes, w),
            **_attention(series, sizes, w),
        }
        prefixed = {f"{PREFIX}{k}": float(x) if found else math.nan for k, x in scalars.items()}
        return {**prefixed, **_whole_run(series, sizes, table), **last_record(series, sizes)}


# --- the window -------------------------------------------------------------------------------


def conditions(series: Phase2Series, sizes: StatedSizes) -> tuple[Course, ...]:
    """Every condition of Definition F.1 that a run records, along the run."""
    S = _sums(series.type_counts, series.gradient_by_type)
    with np.errstate(all="ignore"):
        values = {
            "key_change": series.key_change,
            "query_change": series.query_change,
            "softmax_change": series.attention_change,
            "neuron_sum": series.rho,
            "value_gradient": series.value_part,
            "attention_gradient": series.attention_part,
            "type_4_below_2_and_3": S[3] / np.minimum(S[1], S[2]),
            "types_2_and_3_below_1": np.maximum(S[1], S[2]) / S[0],
            "type_1_below_the_rest": S[0] / (S[1] + S[2] + S[3]),
            "types_2_and_3_alike": np.maximum(S[1] / S[2], S[2] / S[1]),
            "smallest_margin": series.smallest_margin,
            "signal_size": np.abs(series.signal_outputs).max(axis=1),
            "random_word_sum": series.random_word_sum,
            "time_exponent": np.log(series.times) / math.log(sizes.m),
        }
        return courses(DEFINITION_F1, sizes, series.times, values)


def begin(table: tuple[Course, ...], times: np.ndarray) -> int | None:
    """The record from which the decisive conditions hold for good; None if phase 2 is too short."""
    first = _for_good(table, DECISIVE)
    if first >= len(times) or times[-1] < SHORTEST * times[first]:
        return None
    return first


def _for_good(table: tuple[Course, ...], names: tuple[str, ...]) -> int:
    """The first record, after time 0, from which these conditions hold; past the end if never."""
    first = 1
    for course in table:
        if course.condition.name in names:
            upper = course.condition.relation == "<="
            failed = ~(course.ratio <= 1) if upper else ~(course.ratio >= 1)
            first = max(first, int(np.flatnonzero(failed)[-1]) + 1 if failed.any() else 1)
    return first


def _implied(series: Phase2Series, sizes: StatedSizes, w: slice) -> dict[str, float]:
    """Per condition the constant that the window needs, and when constant one first fails.

    The latter in units of 1/rho(0), and the end of the run if it never does.
    """
    inside = series.within(w)
    rho = float(series.rho[0])
    scalars = {}
    for course in conditions(inside, sizes):
        name, late = course.condition.name, course.first_violation
        scalars[f"constant_of_{name}"] = course.implied_constant
        scalars[f"violation_of_{name}"] = rho * (inside.times[-1] if late is None else late)
    return scalars


# --- gradients --------------------------------------------------------------------------------


def _gradients(series: Phase2Series, sizes: StatedSizes, w: slice) -> dict[str, float]:
    S1, S2, S3, S4 = _sums(series.type_counts, series.gradient_by_type)[:, w]
    slopes = _sums(series.type_counts, series.curvature_by_type)[:, w].T
    total, rest = S1 + S2 + S3 + S4, S2 + S3 + S4
    rate_1, rate_2, rate_3 = series.signal_rates[w].T
    gaps = np.array([rest - S1, S1 - S2, S1 - S3])
    R = (rest - S1) / (S1 - S2)
    # The band's two sides, each as the constant C that it leaves.
    above = -rate_3 / np.maximum(rate_1, rate_2) - 1
    below = 1 + rate_3 / (rate_1 + rate_2)
    n, L = sizes.n, sizes.L
    roots = np.array([balancing_root(s) for s in slopes])
    own = _own_word_terms(np.array([S1, S2, S3, S4]), n, L)
    full = np.array([root_with_random_words(s, e) for s, e in zip(slopes, own.T, strict=True)])
    s1, s2, s3, _ = slopes.T
    return {
        "imbalance_2_3": np.max(np.abs(S2 - S3) / np.minimum(S2, S3)),
        "imbalance_1_2": np.max(np.abs(S1 - S2) / np.minimum(S1, S2)),
        "least_gap": np.min(gaps / total),
        "largest_gap_ratio": np.max(np.abs(total / gaps)),
        "signal_rate_ratio": np.max(np.maximum(rate_1 / rate_2, rate_2 / rate_1)),
        "band_constant": np.min([above, below]),
        "band_constant_late": min(above[-1], below[-1]),
        "c_over_a": np.mean(-(s2 + s3 + 2 * s1) / (s1 + s2)),
        "least_root": roots.min(),
        "largest_root": roots.max(),
        "contraction": _contraction(R, roots),
        "contraction_with_random_words": _contraction(R, full),
        "R_end": R[-1],
        "distance_to_root": abs(R[-1] - roots[-1]),
        "distance_to_root_with_random_words": abs(R[-1] - full[-1]),
        "gradient_spread": np.max(series.gradient_spread_by_type[w]),
    }


def _own_word_terms(S: np.ndarray, n: float, L: float) -> np.ndarray:
    """e_1..e_4: what a sample's own random words add to (yF)', over S_1 - S_2, by type."""
    places = np.array([L - 3, L - 2, L - 2, L - 1])[:, None]
    share = np.array([2, 6, 6, 6])[:, None] / n
    return places * share * S / (S[0] - S[1])


def _contraction(R: np.ndarray, roots: np.ndarray) -> float:
    """The share of steps, among those away from the root, in which R goes towards it."""
    away = roots[:-1] - R[:-1]
    counted = np.abs(away) > OFF_ROOT
    towards = np.diff(R) * away > 0
    return float(towards[counted].mean()) if counted.any() else 1.0


# --- outputs ----------------------------------------------------------------------------------


def _outputs(series: Phase2Series, sizes: StatedSizes, w: slice) -> dict[str, float]:
    times, loss = series.times[w], series.loss[w]
    G1, G2, G3 = series.signal_outputs[w].T
    ratios = np.array([G1 / G2, -G1 / G3, -G2 / G3])
    spread = np.where((ratios > 0).all(axis=0), np.maximum(ratios, 1 / ratios).max(axis=0), np.nan)
    n, L, m, m1 = sizes.n, sizes.L, sizes.m, sizes.m1
    value_terms = m1 * (L * (sizes.s0**2 * math.sqrt(m) + 1 / m) + sizes.s0**2 * m)
    random_rate = series.largest_random_rate[w] / (loss * (sizes.neuron_rate / n + value_terms))
    limit = balanced_limit(n, L)
    slope = slope_in_late_time(times, series.random_word_sum[w])
    grown = np.log1p(times * series.rho[0])
    values = np.array([series.value_rates[w][:, i, j] for i, j in ((0, 1), (0, 0), (1, 1))])
    common = np.array([series.value_rates[w][:, i, 2] for i in (0, 1)])
    return {
        "output_ratio": np.max(spread),
        "output_ratio_time_exponent": line_slope(np.log(times), np.log(spread)),
        "random_rate_constant": np.max(random_rate),
        "random_output_constant": np.max(n * series.output_change_random[w] / grown),
        "random_sum_end": series.random_word_sum[-1],
        "random_sum_log_slope": slope,
        "random_sum_slope_over_limit": slope / np.abs(limit.random_sums).max(),
        "least_value_rate_between_signals": np.min(values / loss),
        "largest_value_rate_to_common": np.max(common / loss),
        "value_part": np.max(series.value_part[w]) * L,
    }


# --- losses and the growth of rho and V -------------------------------------------------------


def _growth(series: Phase2Series, sizes: StatedSizes, w: slice) -> dict[str, float]:
    times, loss, rho = series.times[w], series.loss[w], series.rho[w]
    rho_growth = series.rho_change[-1] - series.rho_change[w][0]
    n, L = sizes.n, sizes.L
    limit = balanced_limit(n, L)
    steps = np.diff(1 / loss) / np.diff(times)
    middle = np.sqrt(times[1:] * times[:-1])
    # The paper's s1^2 m m1 is the mean of rho(0): with rho(0) itself the draw does not blur it.
    rate = float(series.rate) - sizes.neuron_rate + float(series.rho[0])
    twice = balanced_limit(2 * n, L)
    rate_1, rate_2, rate_3 = series.signal_rates[-1]
    R = -rate_3 / max(rate_1, rate_2)
    printed = 2 * sizes.m1 * series.mean_weighted_margin[w]
    V12 = series.value_correlations[w][:, 0, 1]
    return {
        "loss_slope": steps[-1],
        "least_loss_slope": np.min(steps) / sizes.neuron_rate,
        "largest_loss_slope": np.max(steps) / sizes.neuron_rate,
        "loss_slope_time_exponent": line_slope(np.log(middle), np.log(steps)),
        "loss_slope_over_limit": steps[-1] * limit.loss_constant / rate,
        "loss_slope_over_twice_n": steps[-1] * twice.loss_constant / rate,
        "loss_slope_over_many_samples": steps[-1] * MANY.loss_constant / rate,
        "R_over_limit": R / limit.R,
        "R_over_twice_n": R / twice.R,
        "R_over_many_samples": R / MANY.R,
        "rho_growth": rho_growth,
        "rho_over_neuron_rate": rho[-1] / sizes.neuron_rate,
        "rho_growth_over_integral": rho_growth / integral(times, printed),
        "value_growth": series.value_change[-1] + series.value_change[w][0],
        "value_growth_over_integral": (V12[-1] - V12[0])
        / integral(times, series.value_rates[w][:, 0, 1]),
        "key_growth": series.key_change[-1] + series.key_change[w][0],
        "query_growth": series.query_change[-1] + series.query_change[w][0],
    }


# --- attention --------------------------------------------------------------------------------

PAIRS = ((1, 0, 1), (0, 1, 1), (2, 0, -1), (2, 1, -1))
"""(key, query, sign) of the coefficients that the paper says to be large."""


def _attention(series: Phase2Series, sizes: StatedSizes, w: slice) -> dict[str, float]:
    loss, times = series.loss[w], series.times[w]
    n, L, m, s0 = sizes.n, sizes.L, sizes.m, sizes.s0
    scores = _pairs(series.score_rates[w]) / (loss * s0**2 * math.sqrt(m) / L)
    softmax = _pairs(series.softmax_rates[w]) / (loss * s0**2 / L**2)
    coefficients = _pairs(series.coefficients[w])[:, -1]
    unit = s0**2 / sizes.neuron_rate
    random_score = loss * s0**2 * math.sqrt(m) / (n * L)
    random_softmax = loss * s0**2 / (n * L**2)
    largest_random = series.largest_random_coefficient[-1]
    in_logs = scores.mean(axis=0) / np.log1p(times * series.rho[0])
    return {
        "least_score_rate": scores.min(),
        "largest_score_rate": scores.max(),
        "score_rate_time_exponent": line_slope(np.log(times), np.log(in_logs)),
        "random_score_rate": np.max(series.largest_random_score_rate[w] / random_score),
        "least_softmax_rate": softmax.min(),
        "largest_softmax_rate": softmax.max(),
        "random_softmax_rate": np.max(series.largest_random_softmax_rate[w] / random_softmax),
        "softmax_change": series.attention_change[-1] * L**2,
        "attention_part": np.max(series.attention_part[w]),
        "least_coefficient": coefficients.min() / (unit * (math.sqrt(m) / L + 1)),
        "largest_coefficient": coefficients.max() / (unit * (math.sqrt(m) / L + 1)),
        "random_coefficient": largest_random / (unit * math.sqrt(m) / (n * L)),
        "coefficient_ratio": coefficients.min() / largest_random,
        "coefficient_ratio_over_guarantee": coefficients.min()
        / largest_random
        / min(n, math.sqrt(m) / L),
    }


# --- without a window -------------------------------------------------------------------------


def _whole_run(
    series: Phase2Series, sizes: StatedSizes, table: tuple[Course, ...]
) -> dict[str, float]:
    """Scalars that a run has even if it never enters phase 2."""
    times, end = series.times, float(series.T1_every_sample)
    exact = _for_good(table, tuple(c.name for c in DEFINITION_F1 if c.constant == "given"))
    printed = 2 * sizes.m1 * np.asarray(series.mean_weighted_margin)
    correct = printed[times >= end]
    unseen = np.min(series.unseen_margins[1:], axis=1)
    test = np.log(np.maximum(series.test_loss[1:], 1e-300))
    size = np.abs(printed).max()
    return {
        "rho_rate_error": float(np.max(np.abs(series.rho_rate - printed)) / size),
        "least_rho_rate_once_correct": float(np.min(correct)) if correct.size else math.nan,
        "exact_conditions_over_T1": float(times[exact] / end) if exact < len(times) else math.nan,
        "loss_end": float(series.loss[-1]),
        "end_time_in_rho": float(series.end_time * series.rho[0]),
        "test_loss_end": float(series.test_loss[-1]),
        "test_loss_time_exponent": slope_in_late_time(times[1:], test),
        "unseen_margin_end": float(unseen[-1]),
        "unseen_margin_log_slope": slope_in_late_time(times[1:], unseen),
    }


def last_record(series: Phase2Series, sizes: StatedSizes) -> dict[str, float]:
    """Scalars `late_...` of the last record: the trends that figures show."""
    G1, G2, G3 = series.signal_rates[-1]
    g = series.gradient_by_type[-1]
    C = series.coefficients[-1]
    limit = balanced_limit(sizes.n, sizes.L)
    least = np.min([C[0, 1], C[1, 0], -C[2, 0], -C[2, 1]])
    tau = series.times[-1] * series.rate
    return {
        "late_over_larger_rate": float(-G3 / max(G1, G2)),
        "late_over_sum_of_rates": float(-G3 / (G1 + G2)),
        "late_types_2_over_3": float(g[1] / g[2]),
        "late_R_over_limit": float(-G3 / max(G1, G2) / limit.R),
        "late_loss_over_limit": float(series.loss[-1] * tau / limit.loss_constant),
        "late_coefficient_ratio": float(least / series.largest_random_coefficient[-1]),
    }


# --- arithmetic -------------------------------------------------------------------------------


def _sums(counts: np.ndarray, means: np.ndarray) -> np.ndarray:
    """Sums over the samples of each type, (4, records), from the means by type."""
    return (np.asarray(means) * counts).T


def _pairs(series: np.ndarray) -> np.ndarray:
    """The entries that the paper says to be large, with their signs (4, records)."""
    return np.array([sign * series[:, key, query] for key, query, sign in PAIRS])
