"""Claims on the second phase: every scalar by a slow second route, fixtures, and mutations."""

import math
from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from attnlab.core import Record, Records
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.models.word_level import WordView, attention
from attnlab.papers.yang2024.claims.attention_claims import ATTENTION
from attnlab.papers.yang2024.claims.findings import (
    AttentionLaw,
    curve_difference,
    measure_frozen,
    pairs_of,
)
from attnlab.papers.yang2024.claims.samples import SAMPLES_CLAIMS, SamplesLaw, measure_samples
from attnlab.papers.yang2024.claims.second_phase import SECOND_PHASE
from attnlab.papers.yang2024.phase_probes import sample_side, score_rates, score_side
from attnlab.papers.yang2024.settings import TrainingSettings, resolve
from attnlab.papers.yang2024.summaries import second_phase
from attnlab.papers.yang2024.summaries.second_phase import PREFIX, root_with_random_words, summarise
from attnlab.papers.yang2024.theory.asymptote import balanced_limit
from attnlab.probes.context import Context

CLAIMS = {claim.id.removeprefix("yang2024."): claim for claim in (*SECOND_PHASE, *ATTENTION)}
N, L, M, M1 = 12, 5, 1024, 64
CELL = SimpleNamespace(n=N, L=L, d=43, m=M, m1=M1)
S0, S1 = 0.1 / math.sqrt(L * M), 1 / math.sqrt(M1)
RATE = S1**2 * M * M1
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
    found = summarise(series, CELL)
    return {k.removeprefix(PREFIX): v for k, v in found.items() if k.startswith(PREFIX)}


# --- scalars by a second route ----------------------------------------------------------------


def test_scalars_do_not_shadow_series(series):
    assert not set(summarise(series, CELL)) & set(series)


def test_a_run_without_the_probes_has_no_scalars(series):
    del series["coefficients"]
    assert summarise(series, CELL) == {}


def test_the_window_begins_where_the_conditions_hold_for_good(series):
    assert phase_2(series)["begin"] == series["times"][BEGIN]
    series["gradient_by_type"] = series["gradient_by_type"].copy()
    series["gradient_by_type"][BEGIN + 4, 3] *= 100  # type 4 above types 2 and 3
    assert phase_2(series)["begin"] == series["times"][BEGIN + 5]


def test_a_phase_that_is_too_short_is_none(series):
    series["smallest_margin"] = np.r_[np.full(38, 0.5), 1.5, 1.5]
    assert all(math.isnan(x) for x in phase_2(series).values())
    assert math.isfinite(summarise(series, CELL)["loss_end"])


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
    own = second_phase._own_word_terms(limit.totals[:, None], n, length)[:, 0]
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
    found = summarise(series, CELL)
    assert found["rho_rate_error"] == pytest.approx(1e-7, rel=1e-3)
    correct = series["times"] >= series["T1_every_sample"]
    least = 2 * M1 * min(series["mean_weighted_margin"][correct])
    assert found["least_rho_rate_once_correct"] == pytest.approx(least)
    assert found["unseen_margin_end"] == pytest.approx(0.4 * math.log1p(1e5) - 0.3)
    assert found["unseen_margin_log_slope"] == pytest.approx(0.4, rel=0.05)
    assert found["test_loss_time_exponent"] == pytest.approx(-0.2, rel=0.05)


# --- probes by a second route -----------------------------------------------------------------


@pytest.fixture
def context() -> tuple[WordView, Context]:
    noise = np.random.default_rng(3)
    d = 31
    batch = BalancedTrainingSet(d, 4).sample(jax.random.key(0), 12)
    root = noise.normal(size=(3, 40, d)) / 6
    K, Q, V = (jnp.asarray(x.T @ x) for x in root)
    view = WordView(
        G=jnp.asarray(noise.normal(size=d)),
        rho=jnp.asarray(50.0),
        V=V,
        S=jnp.asarray(root[0].T @ root[1]),
        K=K,
        Q=Q,
        A=jnp.asarray(64.0),
        score_scale=jnp.asarray(0.4),
    )
    return view, Context(batch, view)


def test_softmax_rates_are_derivatives(context):
    view, args = context
    found = score_side(jnp.asarray(0.0), view, args)
    rates, h = score_rates(view, args), 1e-5
    words, roles = np.asarray(args.batch.words), np.asarray(args.batch.roles)
    moved = [
        np.asarray(attention(replace(view, S=view.S + sign * h * rates), args.batch.words))
        for sign in (1, -1)
    ]
    slope = (moved[0] - moved[1]) / (2 * h)
    for key in range(3):
        for query in range(3):
            values = [
                slope[i, q, k]
                for i in range(len(words))
                for q in range(4)
                for k in range(4)
                if words[i, q] == query and words[i, k] == key
            ]
            got = float(found["softmax_rates"][key, query])
            assert got == pytest.approx(np.mean(values), rel=1e-5, abs=1e-9)
    to_random = max(
        abs(slope[i, q, k])
        for i in range(len(words))
        for q in range(4)
        for k in range(4)
        if words[i, q] in (0, 1) and roles[i, k] == 0
    )
    assert float(found["largest_random_softmax_rate"]) == pytest.approx(to_random, rel=1e-5)


def test_curvature_and_weighted_margin(context):
    view, args = context
    found = sample_side(jnp.asarray(0.0), view, args)
    margins, types = np.asarray(args.margins(view)), np.asarray(args.batch.types)
    g = 1 / (1 + np.exp(margins))
    for kind in range(1, 5):
        expected = np.mean([x * (1 - x) for x, t in zip(g, types, strict=True) if t == kind])
        assert float(found["curvature_by_type"][kind - 1]) == pytest.approx(expected)
    assert float(found["mean_weighted_margin"]) == pytest.approx(np.mean(g * margins))


# --- mutations --------------------------------------------------------------------------------


def changed(records: Records, change) -> Records:
    """The records with every run's values changed by `change(record, values)`."""
    made = []
    for r in records:
        values = dict(r.values)
        change(r, values)
        made.append(Record(r.study, r.cell, r.seed, values))
    return Records(made)


def outcome(name: str, change) -> str:
    claim = CLAIMS[name]
    return claim.measure(changed(claim.positive(), change), claim.law).outcome


@pytest.mark.parametrize(
    ("name", "scalar", "factor"),
    [
        ("theorem_f8", "loss_slope", lambda m: m**-0.5),
        ("lemma_4_7", "largest_score_rate", lambda m: m**0.5),
        ("corollary_f17", "least_softmax_rate", lambda m: m**-0.5),
        ("lemma_f19", "query_growth", lambda m: m**0.5),
        ("corollary_f9", "rho_growth", lambda m: m**0.5),
        ("lemma_4_5", "band_constant", lambda m: m**-0.5),
        ("definition_f1", "constant_of_value_gradient", lambda m: m**0.3),
        ("theorem_3_3", "random_coefficient", lambda m: m**0.5),
    ],
)
def test_another_power_of_m_is_contradicted(name, scalar, factor):
    def change(record, values):
        if PREFIX + scalar in values:  # a study over n has other scalars
            values[PREFIX + scalar] = values[PREFIX + scalar] * factor(float(record.cell.m))

    assert outcome(name, change) == "contradicted"


@pytest.mark.parametrize(
    ("name", "scalar"),
    [
        ("corollary_4_6", "phase_2_largest_value_rate_to_common"),
        ("lemma_4_7", "phase_2_least_score_rate"),
        ("theorem_3_3", "phase_2_least_coefficient"),
        ("equation_5", "least_rho_rate_once_correct"),
        ("lemma_4_5", "phase_2_least_gap"),
    ],
)
def test_a_sign_reversed_in_a_third_of_the_runs_is_contradicted(name, scalar):
    def change(record, values):
        values[scalar] = values[scalar] * (-1 if record.seed % 3 == 0 else 1)

    assert outcome(name, change) == "contradicted"


def test_runs_without_a_second_phase_count_against_a_claim():
    def change(record, values):
        if record.seed % 2:
            values.update({k: math.nan for k in values if k.startswith(PREFIX)})

    for name in CLAIMS:
        assert outcome(name, change) == "contradicted", name


def test_the_test_loss_is_judged_where_there_are_enough_samples():
    part = next(p for p in CLAIMS["theorem_3_3"].law.parts if p.name.endswith("enough samples"))
    cells = [TrainingSettings(n=n, L=4) for n in (24, 42, 48, 60)]
    records = Records(Record("yang2024.classes_late", cell, 0, {}) for cell in cells)
    assert [r.cell.n for r in part.of(records)] == [48, 60]


def test_asides_do_not_decide():
    def change(record, values):
        values["phase_2_contraction"] = 0.0

    claim = CLAIMS["lemma_4_5"]
    measurement = claim.measure(changed(claim.positive(), change), claim.law)
    assert measurement.outcome == "supported"
    aside = {r.name: r.outcome for r in measurement.readings}
    assert aside["R contracts to that root (aside)"] == "contradicted"


# --- findings ---------------------------------------------------------------------------------


def frozen_pair(factor: float, end: float = 1.0) -> Records:
    times = np.geomspace(0.1, 100, 30)
    made = []
    for attention_kind, loss, T1, length in (
        ("trained", factor, end, 25),
        ("frozen", 1.0, 1.0, 30),
    ):
        cell = resolve(TrainingSettings(n=24, L=4, attention=attention_kind))
        curve = np.where(times > 10, loss, 1.0) / (1 + times)
        values = {"times": times[:length], "loss": curve[:length], "T1_every_sample": T1}
        made += [Record("yang2024.frozen", cell, seed, values) for seed in range(20)]
    return Records(made)


def test_pairs_are_by_seed_and_compared_where_both_have_records():
    records = frozen_pair(1.02)
    pairs = pairs_of(records)
    assert len(pairs) == 20
    assert all(a.seed == b.seed and a.cell.attention == "trained" for a, b in pairs)
    assert curve_difference(*pairs[0]) == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("factor", "end", "expected"),
    [
        (1.02, 1.0, "supported"),
        (0.9, 1.0, "contradicted"),
        (1.02, 1.1, "contradicted"),
        (1.02, math.nan, "contradicted"),
    ],
)
def test_frozen_attention(factor, end, expected):
    assert measure_frozen(frozen_pair(factor, end), AttentionLaw()).outcome == expected


def test_without_pairs_nothing_is_said():
    records = Records(r for r in frozen_pair(1.0) if r.cell.attention == "trained")
    assert measure_frozen(records, AttentionLaw()).outcome == "inconclusive"


def test_samples_needed_looks_at_both_sides():
    good = SAMPLES_CLAIMS[0].positive()
    assert measure_samples(good, SamplesLaw()).outcome == "supported"

    def always(record, values):
        values["unseen_margin_end"] = 1.0

    assert measure_samples(changed(good, always), SamplesLaw()).outcome == "contradicted"
    assert SamplesLaw().least(4) == 15
    assert SamplesLaw(1.0, 0.0, 2.0).least(6) == 36
