"""Claims on the second phase: every scalar by a slow second route, fixtures, and mutations."""

import math
from dataclasses import replace
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from attnlab.claims import Outcome
from attnlab.core import Record, Records
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.evidence.court import control_outcome, measure
from attnlab.evidence.fixtures import positive_records
from attnlab.models.word_level import WordView, attention
from attnlab.papers.yang2024.claims.appendix_a import FIGURE_1
from attnlab.papers.yang2024.claims.appendix_f import APPENDIX_F
from attnlab.papers.yang2024.claims.findings import FINDINGS
from attnlab.papers.yang2024.claims.section_3_phase_2 import SECTION_3_PHASE_2
from attnlab.papers.yang2024.claims.section_4_2 import SECTION_4_2
from attnlab.papers.yang2024.phase_probes import sample_side, score_rates, score_side
from attnlab.papers.yang2024.scalars import examples, samples
from attnlab.papers.yang2024.scalars import second_phase as scalars
from attnlab.papers.yang2024.settings import TrainingSettings, resolve
from attnlab.papers.yang2024.studies import STUDIES
from attnlab.papers.yang2024.summaries import second_phase
from attnlab.papers.yang2024.summaries.second_phase import PREFIX, root_with_random_words, summarise
from attnlab.papers.yang2024.theory.asymptote import balanced_limit
from attnlab.probes.context import Context

SECOND_PHASE = (*SECTION_3_PHASE_2[1:], *SECTION_4_2, *APPENDIX_F)
"""The claims on the window of phase 2 (Theorem 3.2 has its own)."""
CLAIMS = {
    claim.id.removeprefix("yang2024."): claim
    for claim in (*SECTION_3_PHASE_2, *SECTION_4_2, *APPENDIX_F, FIGURE_1, *FINDINGS)
}
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


# --- the scalars of Theorem 3.2, of Figure 1 and of n against its thresholds -------------------


def made(values: dict, **cell) -> Record:
    settings = resolve(TrainingSettings(**{"n": 24, "L": 4, **cell}))
    return Record("yang2024.made_up", settings, 0, values)


def test_theorem_3_2_begins_where_its_last_part_does():
    run = made(examples.second_phase())
    first = np.flatnonzero(run["times"] * 512 > 5)[0]
    assert scalars.start(run) == run["times"][first]
    assert scalars.duration().of(run) == run["times"][-1] / run["times"][first]
    # T1 = 6/512 lies between two records, and the range begins no later than the second.
    assert scalars.start_over("every_sample").of(run) <= 1
    early = made({**run.values, "T1_every_sample": 1 / 512})
    assert scalars.start_over("every_sample").of(early) > 1
    assert math.isnan(scalars.duration(common_output=1).of(run))


@pytest.mark.parametrize("name", ["scores", "value_correlations"])
def test_one_step_back_ends_the_range_of_theorem_3_2(name):
    values = examples.second_phase()
    series = values[name].copy()
    series[70, 0, 1] = series[69, 0, 1] - 1e-6
    run = made({**values, name: series})
    assert scalars.start(run) == run["times"][70]


def test_figure_1_by_hand():
    run = made(examples.figure_1())
    late = math.log(30_000 / 1_600)
    assert samples.LEAST_SCORE_CHANGE.of(run) == pytest.approx(late)
    assert samples.EARLY_PART.of(run) == pytest.approx(math.log(1_650 / 1_600) / late, rel=0.3)
    assert samples.ONE_SIGNAL_PEAK.of(run) == pytest.approx(1.2)
    assert samples.BOTH_SIGNALS_PEAK.of(run) == 1.0
    assert samples.LATE_FALL.of(run) == pytest.approx(0.5)
    still = made({**run.values, "scores": np.zeros_like(run["scores"])})
    assert math.isnan(samples.EARLY_PART.of(still))
    assert not samples.LEAST_SCORE_CHANGE.of(still) > 0


@pytest.mark.parametrize(("n", "margin", "right"), [(12, -1, True), (12, 1, False), (18, 1, True)])
def test_a_margin_is_on_the_side_that_n_says(n, margin, right):
    run = made({"unseen_margin_end": margin}, n=n)
    assert (samples.unseen_margin().of(run) > 0) == right
    assert samples.unseen_margin(lambda L: L**2).of(made({"unseen_margin_end": 1.0}, n=12)) < 0


def test_the_test_loss_falls_on_the_right_side():
    for n, exponent, right in ((24, 0.1, True), (24, -0.1, False), (60, -0.1, True)):
        run = made({"test_loss_time_exponent": exponent}, n=n)
        assert (samples.TEST_LOSS_FALL.of(run) > 0) == right


def test_a_rate_without_its_factor_is_half_wrong(series):
    run = made({**series, "rho_rate": 2 * 64 * series["mean_weighted_margin"]}, m1=64)
    assert scalars.RHO_RATE_ERROR_WITHOUT_FACTOR.of(run) == pytest.approx(0.5)


# --- fixtures and mutations -------------------------------------------------------------------


def changed(records: Records, change) -> Records:
    """The records with every run's values changed by `change(record, values)`."""
    made = []
    for r in records:
        values = dict(r.values)
        change(r, values)
        made.append(Record(r.study, r.cell, r.seed, values))
    return Records(made)


def positive(name: str) -> Records:
    return positive_records(CLAIMS[name], STUDIES)


def readings(name: str, change) -> dict[str, Outcome]:
    found = measure(CLAIMS[name], changed(positive(name), change)).readings
    return {reading.name: reading.outcome for reading in found}


def outcome(name: str, change) -> Outcome:
    return measure(CLAIMS[name], changed(positive(name), change)).outcome


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_hold_on_their_fixture_and_their_controls_do_not(name):
    claim, records = CLAIMS[name], positive(name)
    assert measure(claim, records).outcome == "supported"
    for control in claim.controls:
        if not control.changes:
            assert control_outcome(claim, control, records) == "contradicted", control.name


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
        ("lemma_4_5", "phase_2_band_constant"),
    ],
)
def test_a_sign_reversed_in_a_third_of_the_runs_is_contradicted(name, scalar):
    def change(record, values):
        if scalar in values:
            values[scalar] = values[scalar] * (-1 if record.seed % 3 == 0 else 1)

    assert outcome(name, change) == "contradicted"


@pytest.mark.parametrize("claim", SECOND_PHASE, ids=lambda claim: claim.id)
def test_runs_without_a_second_phase_count_against_a_claim(claim):
    def change(record, values):
        if record.seed % 2:
            values.update({k: math.nan for k in values if k.startswith(PREFIX)})

    assert outcome(claim.id.removeprefix("yang2024."), change) == "contradicted"


# --- readings ---------------------------------------------------------------------------------


def test_the_test_loss_is_judged_where_there_are_enough_samples():
    parts = CLAIMS["theorem_3_3"].parts
    part = next(p for p in parts if p.name == "test loss above the threshold")
    assert [n for n in (24, 42, 48, 60) if part.cells(TrainingSettings(n=n, L=4))] == [48, 60]


def test_theorem_3_3_depends_on_the_constant_of_condition_1():
    def change(record, values):
        if record.study == "yang2024.phase_2":  # n = 24
            values["test_loss_time_exponent"] = 0.1

    found = readings("theorem_3_3", change)
    assert found["n = 1.5 L^2"] == "contradicted"
    assert found["n above the threshold of test_loss"] == "supported"
    assert outcome("theorem_3_3", change) == "depends"


def test_theorem_3_2_depends_on_its_T1():
    def change(record, values):
        values["T1_every_sample"] = 1 / 512

    found = readings("theorem_3_2", change)
    assert found["some T1"] == found["T1 by types"] == "supported"
    assert found["T1 of Theorem 3.1"] == "contradicted"
    assert outcome("theorem_3_2", change) == "depends"


def test_lemma_4_5_depends_on_the_root_of_its_proof():
    def change(record, values):
        values["phase_2_contraction"] = 0.0

    found = readings("lemma_4_5", change)
    assert found["the lemma"] == "supported"
    assert found["with the root of its proof"] == "contradicted"
    assert outcome("lemma_4_5", change) == "depends"


def test_asides_do_not_decide():
    def change(record, values):
        values["phase_2_distance_to_root_with_random_words"] = 1.0

    assert readings("lemma_4_5", change)["root with random words"] == "contradicted"
    assert outcome("lemma_4_5", change) == "supported"


# --- findings ---------------------------------------------------------------------------------


def attention_costs(factor: float, end: float = 1.0):
    """Trained runs whose loss from rho(0) t = 10 on, and whose T1, are so many times as large."""

    def change(record, values):
        if record.cell.attention == "trained":
            values["loss"] = values["loss"] * np.where(values["times"] > 10, factor, 1.0)
            values["T1_every_sample"] = end * values["T1_every_sample"]

    return change


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
    assert outcome("finding_frozen_attention", attention_costs(factor, end)) == expected


def test_without_pairs_nothing_is_said():
    records = positive("finding_frozen_attention")
    trained = Records(r for r in records if r.cell.attention == "trained")
    assert measure(CLAIMS["finding_frozen_attention"], trained).outcome == "inconclusive"


def test_samples_needed_looks_at_both_sides():
    def always(record, values):
        values["unseen_margin_end"] = 1.0

    assert outcome("finding_samples_needed", always) == "contradicted"


def test_the_test_loss_is_one_statement_over_both_sides_of_n():
    def falls_everywhere(record, values):
        values["test_loss_time_exponent"] = -1.0

    found = readings("test_loss", falls_everywhere)
    assert found == {"by the worst margin": "supported", "by the test loss": "contradicted"}
