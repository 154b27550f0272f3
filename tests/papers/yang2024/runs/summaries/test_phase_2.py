"""Every scalar of phase 2 by a slow second route."""

import math
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.integrate import quad

from attnlab.core import Record
from attnlab.papers.yang2024.runs.summaries import phase_2 as summary
from attnlab.papers.yang2024.runs.summaries.phase_2 import PREFIX, last_record, summarise
from attnlab.papers.yang2024.runs.summaries.phase_2_series import Phase2Series
from attnlab.papers.yang2024.scalars import phase_2 as scalars
from attnlab.papers.yang2024.theory.asymptote import balanced_limit, root_with_random_words
from attnlab.papers.yang2024.theory.sizes import StatedSizes

N, L, M, M1 = 12, 5, 1024, 64
S0, S1 = 0.1 / math.sqrt(L * M), 1 / math.sqrt(M1)
SIZES = StatedSizes(N, L, 43, M, M1, S0, S1)
RATE = SIZES.neuron_rate
BEGIN = 12
"""The record from which the synthetic run is in phase 2."""


def words() -> np.ndarray:
    rows, fresh = [], iter(range(3, 1000))
    for count, signals in ((6, (0, 1, 2)), (2, (0, 2)), (2, (1, 2)), (2, (2,))):
        for _ in range(count):
            rows.append([*signals, *(next(fresh) for _ in range(L - len(signals)))])
    return np.array(rows)


@pytest.fixture
def series() -> dict:
    """A run with made-up records, all conditions met from record BEGIN on and broken before."""
    noise = np.random.default_rng(1)
    k = 40
    tau = np.r_[0, np.geomspace(0.1, 1e5, k - 1)]

    def wobble(*shape: int) -> np.ndarray:
        return np.exp(0.05 * noise.normal(size=shape))

    g = np.array([0.9, 1.9, 1.95, 0.3]) * wobble(k, 4) / (3 + tau[:, None])
    grown = np.log1p(tau)
    growth = grown[:, None, None] * np.array([[1, 1, -1], [1, 1, -1], [-1, -1, 0.5]])
    loss = 0.3 / (1 + 0.15 * tau)
    made = {
        "times": tau / RATE,
        "words": words(),
        "s0": np.float64(S0),
        "s1": np.float64(S1),
        "rate": np.float64((S1**2 + S0**2) * M * M1),
        "rho": RATE * (1.02 + 1e-4 * grown**2),
        "rho_rate": np.zeros(k),
        "loss": loss,
        "gradient_by_type": g,
        "curvature_by_type": g * (1 - g / 10),
        "signal_rates": RATE * loss[:, None] * np.array([1.0, 0.9, -1.3]) * wobble(k, 3),
        "signal_outputs": grown[:, None] * np.array([0.9, 0.8, -1.0]) * wobble(k, 3),
        "gradient_spread_by_type": 1 + 0.3 * noise.uniform(size=(k, 4)),
        "smallest_margin": np.where(np.arange(k) < BEGIN, 0.5, 1.5),
        "random_word_sum": 0.4 * grown + 0.1,
        "largest_random_rate": RATE / N * loss * wobble(k),
        "output_change_random": 0.1 * grown * wobble(k),
        "value_rates": RATE * loss[:, None, None] * growth * 1e-3,
        "value_correlations": 1e-3 * growth,
        "value_part": 1e-3 * wobble(k),
        "attention_part": 1e-6 * wobble(k),
        "attention_change": 1e-8 * grown,
        "score_rates": loss[:, None, None] * S0**2 * math.sqrt(M) * growth,
        "softmax_rates": loss[:, None, None] * S0**2 * growth,
        "coefficients": S0**2 / RATE * growth,
        "largest_random_coefficient": S0**2 / RATE * grown / 5,
        "largest_random_score_rate": loss * S0**2 * math.sqrt(M) / 30,
        "largest_random_softmax_rate": loss * S0**2 / 50,
        "mean_weighted_margin": loss * (grown + 0.1),
        "unseen_margins": np.outer(grown, [1.0, 0.5, 0.4, 0.9]) - 0.3,
        "test_loss": 0.5 * (1 + tau) ** -0.2,
        "T1_every_sample": np.float64(tau[BEGIN - 3] / RATE),
        "end_time": np.float64(tau[-1] / RATE),
    }
    for name, scale in (("key_change", 1e-9), ("query_change", 2e-9), ("value_change", 1e-3)):
        made[name] = scale * grown * wobble(k)
    made["rho_rate"] = 2 * M1 * made["mean_weighted_margin"] * (1 + 1e-7)
    return made


def phase_2(series: dict) -> dict[str, float]:
    found = summarise(series, SIZES)
    return {k.removeprefix(PREFIX): v for k, v in found.items() if k.startswith(PREFIX)}


# --- scalars by a second route ----------------------------------------------------------------


def test_scalars_do_not_shadow_series(series):
    assert not set(summarise(series, SIZES)) & set(series)


def test_a_run_without_the_probes_has_no_scalars(series):
    del series["coefficients"]
    assert summarise(series, SIZES) == {}


def test_the_window_begins_where_the_conditions_hold_for_good(series):
    assert phase_2(series)["begin"] == series["times"][BEGIN]
    series["gradient_by_type"] = series["gradient_by_type"].copy()
    series["gradient_by_type"][BEGIN + 4, 3] *= 100  # type 4 above types 2 and 3
    assert phase_2(series)["begin"] == series["times"][BEGIN + 5]


def test_a_phase_that_is_too_short_is_none(series):
    series["smallest_margin"] = np.r_[np.full(38, 0.5), 1.5, 1.5]
    assert all(math.isnan(x) for x in phase_2(series).values())
    assert math.isfinite(summarise(series, SIZES)["loss_end"])


def test_gradients(series):
    found = phase_2(series)
    counts = (6, 2, 2, 2)
    rows = range(BEGIN, len(series["times"]))
    imbalance, gaps, ratios, bands, quotients = [], [], [], [], []
    for i in rows:
        A, B, C, D = (c * g for c, g in zip(counts, series["gradient_by_type"][i], strict=True))
        imbalance.append(abs(B - C) / min(B, C))
        gaps += [x / (A + B + C + D) for x in (B + C + D - A, A - B, A - C)]
        u, v, w = series["signal_rates"][i]
        ratios += [u / v, v / u]
        bands += [-w / max(u, v) - 1, 1 - (-w) / (u + v)]
        s = [c * x for c, x in zip(counts, series["curvature_by_type"][i], strict=True)]
        quotients.append(-(s[1] + s[2] + 2 * s[0]) / (s[0] + s[1]))
    assert found["imbalance_2_3"] == pytest.approx(max(imbalance))
    assert found["least_gap"] == pytest.approx(min(gaps))
    assert found["largest_gap_ratio"] == pytest.approx(1 / min(gaps))
    assert found["signal_rate_ratio"] == pytest.approx(max(ratios))
    assert found["band_constant"] == pytest.approx(min(bands))
    assert found["c_over_a"] == pytest.approx(np.mean(quotients))
    spread = max(max(series["gradient_spread_by_type"][i]) for i in rows)
    assert found["gradient_spread"] == spread


def test_roots_and_contraction(series):
    found = phase_2(series)
    R, roots = [], []
    for i in range(BEGIN, len(series["times"])):
        A, B, C, D = np.array([6, 2, 2, 2]) * series["gradient_by_type"][i]
        s1, s2, s3, s4 = np.array([6, 2, 2, 2]) * series["curvature_by_type"][i]
        R.append((B + C + D - A) / (A - B))
        both = np.roots([s1 + s2, s3 + s4 - s1, -(s2 + s3 + 2 * s1)])
        roots.append(max(both))
    towards = [
        (R[i + 1] - R[i]) * (roots[i] - R[i]) > 0
        for i in range(len(R) - 1)
        if abs(roots[i] - R[i]) > 0.02
    ]
    assert found["least_root"] == pytest.approx(min(roots))
    assert found["largest_root"] == pytest.approx(max(roots))
    assert found["contraction"] == pytest.approx(np.mean(towards))
    assert found["distance_to_root"] == pytest.approx(abs(R[-1] - roots[-1]))


@pytest.mark.parametrize(("n", "length"), [(12, 4), (24, 4), (48, 4), (24, 6), (600, 5)])
def test_the_root_with_random_words_is_the_ratio_of_the_duals(n, length):
    """At late times g and its curvature are the duals, and R is at rest: two theories agree."""
    limit = balanced_limit(n, length)
    own = summary._own_word_terms(limit.totals[:, None], n, length)[:, 0]
    assert root_with_random_words(limit.totals, own) == pytest.approx(limit.R)


def test_outputs(series):
    found = phase_2(series)
    t, rho = series["times"], series["rho"][0]
    rows = range(BEGIN, len(t))
    ratios = []
    for i in rows:
        a, b, c = series["signal_outputs"][i]
        ratios += [a / b, b / a, -a / c, -c / a, -b / c, -c / b]
    assert found["output_ratio"] == pytest.approx(max(ratios))
    bound = RATE / N + M1 * (L * (S0**2 * math.sqrt(M) + 1 / M) + S0**2 * M)
    rates = [series["largest_random_rate"][i] / (series["loss"][i] * bound) for i in rows]
    assert found["random_rate_constant"] == pytest.approx(max(rates))
    moved = [N * series["output_change_random"][i] / math.log1p(t[i] * rho) for i in rows]
    assert found["random_output_constant"] == pytest.approx(max(moved))
    late = [i for i in rows if t[i] >= math.sqrt(t[BEGIN] * t[-1])]
    slope = np.polyfit(np.log(t[late]), series["random_word_sum"][late], 1)[0]
    assert found["random_sum_log_slope"] == pytest.approx(slope)
    assert slope == pytest.approx(0.4, rel=1e-3)
    V = series["value_rates"]
    least = min(V[i][p] / series["loss"][i] for i in rows for p in ((0, 1), (0, 0), (1, 1)))
    most = max(V[i][p] / series["loss"][i] for i in rows for p in ((0, 2), (1, 2)))
    assert found["least_value_rate_between_signals"] == pytest.approx(least)
    assert found["largest_value_rate_to_common"] == pytest.approx(most)
    assert found["value_part"] == pytest.approx(L * max(series["value_part"][BEGIN:]))


def test_losses_and_growth(series):
    found = phase_2(series)
    t, loss = series["times"], series["loss"]
    slopes = [(1 / loss[i + 1] - 1 / loss[i]) / (t[i + 1] - t[i]) for i in range(BEGIN, len(t) - 1)]
    assert found["loss_slope"] == pytest.approx(0.5 * RATE)
    assert found["least_loss_slope"] == pytest.approx(min(slopes) / RATE)
    assert found["largest_loss_slope"] == pytest.approx(max(slopes) / RATE)
    assert found["loss_slope_time_exponent"] == pytest.approx(0, abs=1e-9)
    rate = series["rho"][0] + S0**2 * M * M1
    expected = 0.5 * RATE * balanced_limit(N, L).loss_constant / rate
    assert found["loss_slope_over_limit"] == pytest.approx(expected)
    ends = [series[name] for name in ("value_change", "key_change", "query_change")]
    for name, x in zip(("value", "key", "query"), ends, strict=True):
        assert found[f"{name}_growth"] == pytest.approx(x[-1] + x[BEGIN])
    u, v, w = series["signal_rates"][-1]
    assert found["R_over_limit"] == pytest.approx(-w / max(u, v) / balanced_limit(N, L).R)
    # The integral of the printed rate, by adaptive quadrature of what the records come from.
    printed = lambda s: 2 * M1 * 0.3 / (1 + 0.15 * RATE * s) * (np.log1p(RATE * s) + 0.1)  # noqa: E731
    exact = sum(quad(printed, t[i], t[i + 1])[0] for i in range(BEGIN, len(t) - 1))
    grown = series["rho"][-1] - series["rho"][BEGIN]
    assert found["rho_growth"] == pytest.approx(grown)
    assert found["rho_growth_over_integral"] == pytest.approx(grown / exact, rel=1e-3)


def test_attention(series):
    found = phase_2(series)
    signs = (((1, 0), 1), ((0, 1), 1), ((2, 0), -1), ((2, 1), -1))
    rows = range(BEGIN, len(series["times"]))
    scores = [
        sign * series["score_rates"][i][p] / (series["loss"][i] * S0**2 * M / math.sqrt(M) / L)
        for i in rows
        for p, sign in signs
    ]
    softmax = [
        sign * series["softmax_rates"][i][p] / (series["loss"][i] * S0**2 * M / M / L**2)
        for i in rows
        for p, sign in signs
    ]
    assert found["least_score_rate"] == pytest.approx(min(scores))
    assert found["largest_score_rate"] == pytest.approx(max(scores))
    assert found["least_softmax_rate"] == pytest.approx(min(softmax))
    assert found["largest_softmax_rate"] == pytest.approx(max(softmax))
    assert found["random_score_rate"] == pytest.approx(N * L / 30)
    assert found["random_softmax_rate"] == pytest.approx(N * L**2 / 50)
    size = S0**2 * M / (math.sqrt(M) * L * S1**2 * M * M1) + S0**2 / (S1**2 * M * M1)
    C = min(sign * series["coefficients"][-1][p] for p, sign in signs)
    assert found["least_coefficient"] == pytest.approx(C / size)
    assert found["coefficient_ratio"] == pytest.approx(5)
    assert found["coefficient_ratio_over_guarantee"] == pytest.approx(5 / (math.sqrt(M) / L))
    assert found["softmax_change"] == pytest.approx(L**2 * series["attention_change"][-1])


def test_whole_run(series):
    found = summarise(series, SIZES)
    assert found["rho_rate_error"] == pytest.approx(1e-7, rel=1e-3)
    correct = series["times"] >= series["T1_every_sample"]
    least = 2 * M1 * min(series["mean_weighted_margin"][correct])
    assert found["least_rho_rate_once_correct"] == pytest.approx(least)
    assert found["unseen_margin_end"] == pytest.approx(0.4 * math.log1p(1e5) - 0.3)
    assert found["unseen_margin_log_slope"] == pytest.approx(0.4, rel=0.05)
    assert found["test_loss_time_exponent"] == pytest.approx(-0.2, rel=0.05)


def test_a_rate_without_its_factor_is_half_wrong(series):
    run = Record(
        "yang2024.made_up",
        SimpleNamespace(m1=64),
        0,
        {**series, "rho_rate": 2 * 64 * series["mean_weighted_margin"]},
    )
    assert scalars.RHO_RATE_ERROR_WITHOUT_FACTOR.of(run) == pytest.approx(0.5)


def test_the_trends_of_a_last_record(series):
    n, L = 12, 4
    of_size = StatedSizes.of_theory(n, L, 23, 64, 8)
    values = series | {
        "coefficients": np.zeros((3, 3, 3)),
        "signal_rates": np.array([[1, 1, 1], [9, 1, 1], [2.0, 3.0, -4.0]]),
        "gradient_by_type": np.array([[1, 1, 1, 1], [9, 7, 1, 1], [0.4, 0.6, 0.5, 0.1]]),
        "words": np.zeros((n, L), int),
        "times": np.array([0.0, 3.0, 5.0]),
        "rate": 7.0,
        "loss": np.array([0.7, 0.6, 0.2]),
        "largest_random_coefficient": np.array([9.0, 8.0, 0.5]),
    }
    C = np.full((3, 3), -9.0)
    C[0, 1], C[1, 0], C[2, 0], C[2, 1] = 4.0, 3.0, -2.0, -5.0
    values["coefficients"][2] = C
    limit = balanced_limit(n, L)
    assert last_record(Phase2Series.of(values), of_size) == pytest.approx(
        {
            "late_over_larger_rate": 4 / 3,
            "late_over_sum_of_rates": 4 / 5,
            "late_types_2_over_3": 0.6 / 0.5,
            "late_R_over_limit": 4 / 3 / limit.R,
            "late_loss_over_limit": 0.2 * 5 * 7 / limit.loss_constant,
            "late_coefficient_ratio": 2 / 0.5,
        }
    )
    for key, query, value in ((0, 1, 1.0), (1, 0, 1.5), (2, 1, -1.0)):
        smaller = {**values, "coefficients": values["coefficients"].copy()}
        smaller["coefficients"][2, key, query] = value
        found = last_record(Phase2Series.of(smaller), of_size)
        assert found["late_coefficient_ratio"] == abs(value) / 0.5
