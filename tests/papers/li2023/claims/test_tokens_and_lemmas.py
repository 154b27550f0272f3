"""Attention's ceiling, lucky neurons and pruning: scalars by hand, second routes, fixtures."""

from dataclasses import replace

import numpy as np
import pytest

from attnlab.core import Record, Records
from attnlab.evidence import court
from attnlab.evidence.fixtures import positive_records
from attnlab.lab import multiverse
from attnlab.lab.plan import Request
from attnlab.papers.li2023.claims import appendix_d, appendix_f, appendix_g
from attnlab.papers.li2023.claims.section_3_3_tokens import PROPOSITION_2, SECTION_3_3_TOKENS
from attnlab.papers.li2023.claims.section_4_1_tokens import SECTION_4_1_TOKENS
from attnlab.papers.li2023.scalars import attention, neurons
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.studies import STUDIES, designs
from attnlab.papers.li2023.studies.engine_choice import resolve
from attnlab.papers.li2023.theory.conditions import lucky_bound, sizes_of

MINE = (
    *SECTION_3_3_TOKENS,
    *SECTION_4_1_TOKENS,
    *appendix_d.APPENDIX_D,
    *appendix_f.APPENDIX_F,
    *appendix_g.APPENDIX_G,
)
CELL = resolve(designs.DYNAMICS)


def record(cell=CELL, study="dynamics", seed=0, **values):
    return Record(f"li2023.{study}", cell, seed, values)


# --- what no weights can pass -----------------------------------------------------------------


def masses(scores, counts):
    """The mass on relevant tokens by class and query pattern, with token counts as weights."""
    size = np.array(counts, dtype=float)
    odds = size[:, :, None] * np.exp(scores - scores.max(0))
    return np.stack([odds[y, y] / odds[y].sum(0) for y in range(2)]), size / size.sum(1)[:, None]


def test_the_odds_of_the_two_classes_multiply_to_the_ratio_of_fractions_squared():
    rng = np.random.default_rng(1)
    counts = np.array([[50, 5, 15, 15, 15], [5, 50, 15, 15, 15]], dtype=float)
    for _ in range(20):
        scores = 3 * rng.normal(size=(5, 5))
        weight = counts[:, :, None] * np.exp(scores)
        odds = [weight[y, y] / weight[y, 1 - y] for y in range(2)]
        np.testing.assert_allclose(odds[0] * odds[1], 100.0)


@pytest.mark.parametrize("size", [0.3, 1.0, 3.0])
def test_no_keys_and_queries_pass_the_ceilings(size):
    """Softmax over the tokens of one sample a class, from random W_K and W_Q."""
    rng = np.random.default_rng(int(10 * size))
    cell = TrainingSettings(alpha_star=0.4, alpha_sharp=0.1, L=20, M=4, d=6)
    mu = np.linalg.qr(rng.normal(size=(6, 6)))[0][:4]
    for _ in range(20):
        W_K, W_Q = (size * rng.normal(size=(5, 6)) for _ in range(2))
        means, least, odds = [], 1.0, []
        for y, counts in enumerate(cell.counts()):
            kinds = np.repeat(np.arange(4), counts)
            X = mu[kinds]
            weight = np.exp((W_K @ X.T).T @ (W_Q @ X.T))
            weight /= weight.sum(0)
            mass, confusion = weight[kinds == y].sum(0), weight[kinds == 1 - y].sum(0)
            means.append(mass.mean())
            least = min(least, float(mass.min()))
            odds.append([(mass / confusion)[kinds == k][0] for k in range(4)])
        np.testing.assert_allclose(np.prod(odds, axis=0), 16.0)
        assert np.mean(means) <= attention.mean_ceiling(0.4, 0.1)
        assert least <= attention.least_ceiling(0.4, 0.1)


@pytest.mark.parametrize(("alpha_star", "alpha_sharp"), [(0.5, 0.05), (0.3, 0.2), (0.4, 0.1)])
def test_no_scores_pass_the_ceiling_and_some_reach_it(alpha_star, alpha_sharp):
    cell = TrainingSettings(alpha_star=alpha_star, alpha_sharp=alpha_sharp, L=100, M=4)
    ceiling = attention.mean_ceiling(alpha_star, alpha_sharp)
    rng = np.random.default_rng(0)
    best = 0.0
    for u in np.linspace(-1, 6, 141):
        # The best family: queries of mu_1 prefer mu_1 by u, mirrored; others are indifferent.
        scores = np.full((4, 4), -50.0)
        scores[:2] = 0.0
        scores[0, 0] = scores[1, 1] = u
        mass, share = masses(scores, cell.counts())
        best = max(best, float((mass * share).sum(1).mean()))
    assert ceiling - 1e-3 < best <= ceiling + 1e-12
    for size in (0.5, 2.0, 8.0):
        mass, share = masses(size * rng.normal(size=(4, 4)), cell.counts())
        assert (mass * share).sum(1).mean() <= ceiling
        assert mass.min(0).max() <= attention.least_ceiling(alpha_star, alpha_sharp) + 1e-12
    reached = attention.ascended_mass(cell.counts())
    assert reached == pytest.approx(attention.least_ceiling(alpha_star, alpha_sharp), rel=1e-3)


def test_the_ceiling_at_figure_4_is_933_and_without_confusion_1():
    assert attention.mean_ceiling(0.5, 0.05) == pytest.approx(0.9327, abs=1e-4)
    assert attention.least_ceiling(0.5, 0.05) == pytest.approx(1 / 1.1)
    assert attention.mean_ceiling(0.5, 0.0) == attention.least_ceiling(0.5, 0.0) == 1.0


def test_the_second_route_of_proposition_2_looks_at_the_records_and_at_the_stated_c():
    low, high = (record(least_relevant_mass=np.array([0.5, x])) for x in (0.6, 0.95))
    agrees = attention.ceiling_route(Records([low]))
    assert agrees.outcome == "contradicted"
    assert agrees.effect is not None
    assert agrees.effect.value == pytest.approx(np.log(1 / 11) / np.log(0.5))
    assert attention.ceiling_route(Records([low, high])).outcome == "inconclusive"
    # With few confusion tokens and a step near 1 the ceiling is above 1 - eta^10: no objection.
    rare = replace(CELL, L=2000, alpha_sharp=0.0005)
    slow = record(replace(rare, eta=0.9), least_relevant_mass=np.array([0.5, 0.9]))
    assert attention.ceiling_route(Records([slow])).outcome == "inconclusive"


def test_scalars_of_attention_by_hand():
    t = np.array([0.0, 1, 2, 4, 8, 16, 32])
    ceiling = attention.mean_ceiling(0.5, 0.05)
    mass = np.append(0.5, ceiling - 0.2 * t[1:] ** -1.5)
    run = record(times=t, relevant_mass=mass, least_relevant_mass=np.append(mass[:-1], 0.75))
    assert attention.LATE_RATE.of(run) == pytest.approx(1.5)
    assert attention.LEAST_MASS_C.of(run) == pytest.approx(2.0)
    assert attention.RISE.of(run) == pytest.approx(mass[-1] - 0.5)
    assert attention.OVER_CEILING.of(run) == pytest.approx(mass[-1] / ceiling)
    assert attention.START_OVER_CEILING.of(run) == pytest.approx(0.5 / ceiling)


# --- lucky neurons ----------------------------------------------------------------------------


def test_the_cone_and_the_margin_agree_with_draws():
    rng = np.random.default_rng(3)
    w = rng.normal(size=(200_000, 4))
    cosine = w[:, 0] / np.linalg.norm(w, axis=1)
    for angle in (0.3, 0.8):
        drawn = (np.arccos(cosine) <= angle).mean()
        assert neurons.cone_share(angle, 4) == pytest.approx(drawn, rel=0.05)
    # Without an error the nearest of M orthogonal axes is each with probability 1/M.
    none = replace(sizes_of(CELL), sigma=0.0, tau=0.0)
    share, error = neurons.margin_share(none, 10)
    assert share == pytest.approx(1 / none.M, abs=4 * error)


def test_lemma_3_is_contradicted_by_two_routes_and_lucky_counts_are_over_the_bound():
    bound = lucky_bound(sizes_of(CELL))
    counts = np.zeros((3, 2, 3, 2))
    counts[0, 0, 1], counts[0, 0, 2] = (70, 80), (190, 200)
    run = record(lucky=counts, lucky_kept=np.ones((3, 2, 3, 2)))
    assert neurons.lucky_over_bound("proof").of(run) == pytest.approx(70 / bound)
    assert neurons.lucky_over_bound("best").of(run) == pytest.approx(190 / bound)
    verdict = court.judge(appendix_f.LEMMA_3, Records([run]), {}, scale="quick")
    assert verdict.outcome == "contradicted"
    assert verdict.second_route is not None
    assert verdict.second_route.agrees
    # A bound that is not above what is expected is not called false by the route.
    wide = record(replace(CELL, m_a=400, d=400, M=5, m=400), lucky=counts)
    assert neurons.cone_route(Records([wide])).outcome == "inconclusive"


def test_scalars_of_neurons_and_features_by_hand():
    t = np.array([0.0, 1, 2, 4, 8, 16])
    grown = np.ones((6, 5))
    grown[-1] = (3, 2, 1.5, 1, 0.5)
    kept = np.ones((6, 2, 3, 2))
    kept[2, 0, 1, 1], kept[3, 1, 1, 0] = 0.7, 0.4
    run = record(
        times=t, key_norm=grown, query_norm=grown, value_along=grown, lucky_kept=kept,
        value_error=0.1 * grown, lucky_V_negative=np.linspace(0, 1, 6),
        unlucky_V_least=-np.linspace(0, 0.5, 6), mean_margin=0.04 * t**1.2,
        class_projections=np.array([0.1, 0.4, -0.2, -0.3]),
    )  # fmt: skip
    assert neurons.LEAST_FEATURE_GROWTH.of(run) == neurons.VALUE_GROWTH.of(run) == 2
    assert neurons.OTHER_FEATURE_GROWTH.of(run) == neurons.OTHER_VALUE_GROWTH.of(run) == 1
    assert neurons.AHEAD.of(run) == 2.5
    assert neurons.VALUE_ERROR.of(run) == pytest.approx(0.3 / (0.1 + 0.01 * np.sqrt(10)))
    assert neurons.NEGATIVE.of(run) == pytest.approx(0.8)  # at step 8 of 16
    assert neurons.UNLUCKY_V.of(run) == pytest.approx(-0.5 * np.sqrt(20))
    assert neurons.lucky_kept("proof").of(run) == 0.7
    assert neurons.lucky_kept("proof", neurons.PRESENT).of(run) == 0.4
    assert neurons.OUTPUT_EXPONENT.of(run) == pytest.approx(1.2)
    assert neurons.class_change(2).of(run) == 1
    assert neurons.class_change(1, 4).of(run) == pytest.approx(-0.75)
    log = np.ones((6, 5)) * np.sqrt(1 + np.log(np.maximum(t, 1)))[:, None]
    assert neurons.LOGARITHMIC.of(record(times=t, key_norm=log, query_norm=log)) > 0
    line = np.ones((6, 5)) * np.sqrt(1 + t)[:, None]
    assert neurons.LOGARITHMIC.of(record(times=t, key_norm=line, query_norm=line)) < 0


# --- the claims -------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", MINE, ids=[claim.id for claim in MINE])
def test_a_fixture_supports_its_claim_and_no_control(claim):
    records = positive_records(claim, STUDIES)
    assert court.measure(claim, records).outcome == "supported"
    for control in claim.controls:
        if not control.changes:
            outcome = court.control_outcome(claim, control, records)
            assert outcome == "contradicted", control.name


def test_a_cutoff_of_ours_does_not_decide_figure_7():
    claim = next(c for c in MINE if c.id == "li2023.figure_7a")
    cell = resolve(replace(designs.WIDER, M=10))
    ends = 0.89 * attention.mean_ceiling(0.5, 0.05) + 1e-3 * np.linspace(-1, 1, 12)
    runs = Records(
        record(cell, "figure_7a", seed, relevant_mass=np.array([0.6, end]))
        for seed, end in enumerate(ends)
    )
    verdict = court.judge(claim, runs, {}, scale="quick")
    assert verdict.outcome == "inconclusive"
    assert "our cutoff decides" in verdict.reason


def test_proposition_2_needs_all_queries():
    records = Records(
        replace(run, values={**run.values, "least_relevant_mass": np.full(20, 0.6)})
        for run in positive_records(PROPOSITION_2, STUDIES)
    )
    verdict = court.judge(PROPOSITION_2, records, {}, scale="quick")
    assert verdict.outcome == "contradicted"
    assert "3.459" in verdict.reason


def pruned(oracle, random=1.0, study="figure_5", **changes):
    for seed in range(12):
        for name, scale in (
            ("none", 1.0),
            ("irrelevant", oracle),
            ("noisy", oracle),
            ("random", random),
        ):
            removed = {"none": 0.0, "noisy": 0.3}.get(name, 0.6)
            plain = {} if name == "none" else changes
            cell = resolve(replace(designs.PRUNE, selector=name, removed=removed, **plain))
            loss = 10.0 ** (-seed % 3) * scale * (1 + 0.01 * seed)
            yield record(cell, study, seed, test_loss=loss)


@pytest.mark.parametrize(
    ("oracle", "random", "outcome"),
    [(0.01, 1.0, "supported"), (2.0, 1.0, "contradicted"), (0.01, 0.5, "contradicted")],
)
def test_pruning_is_measured_seed_by_seed(oracle, random, outcome):
    claim = next(c for c in MINE if c.id == "li2023.figure_5")
    assert court.measure(claim, Records(pruned(oracle, random))).outcome == outcome


def test_other_ways_of_removal_stand_beside_figure_5_and_its_universes_decide():
    claim = next(c for c in MINE if c.id == "li2023.figure_5")
    otherwise = pruned(3.0, study="pruning_readings", removal="zeroed")
    found = court.measure(claim, Records([*pruned(0.1), *otherwise]))
    outcomes = {reading.name: reading.outcome for reading in found.readings}
    assert outcomes["as designed"] == "supported"
    assert outcomes["set to zero"] == "contradicted"
    assert outcomes["at test only"] == "inconclusive"
    assert found.outcome == "supported"  # asides never decide
    changed = Records(pruned(0.1, positions="renumbered", removal="zeroed"))
    assert court.measure(claim, changed).outcome == "supported"  # a universe is judged alike
    factors = {f.name for f in multiverse.factors_of(claim, Request("quick"))}
    assert {"steps", "positions", "removal", "prune_at", "eta", "queries", "sigma_as"} <= factors


def test_figure_8_needs_every_number_of_patterns():
    claim = next(c for c in MINE if c.id == "li2023.figure_8")
    assert len(claim.parts) == 9
    by_M = [
        Record("li2023.figure_8", replace(r.cell, M=M, d=20, m_a=20, m_b=20), r.seed, r.values)
        for M, oracle in ((10, 0.1), (15, 0.1), (20, 3.0))
        for r in pruned(oracle)
    ]
    assert court.measure(claim, Records(by_M)).outcome == "contradicted"
    without = Records(r for r in by_M if r.cell.M != 20)
    assert court.measure(claim, without).outcome == "inconclusive"


def test_the_ceiling_of_counts_in_turn_is_the_mean_of_both():
    cell = designs.PRINTED
    assert cell.counts()[0][:2] == (25, 2)
    assert cell.counts()[2][:2] == (25, 3)
    both = (attention.mean_ceiling(0.5, 0.04) + attention.mean_ceiling(0.5, 0.06)) / 2
    assert attention.cell_ceiling(cell) == pytest.approx(both)


def test_when_sparsity_emerges_by_hand():
    t = np.array([0.0, 10, 20, 40])
    run = record(times=t, relevant_mass=np.array([0.5, 0.7, 0.9, 0.9]), mean_margin=t / 40)
    assert attention.EMERGENCE.of(run) == pytest.approx(10 / 20)
    assert attention.LATE_EMERGENCE.of(run) == pytest.approx((10 + 10 * 0.49 / 0.5) / 4)
    flat = record(times=t, relevant_mass=np.full(4, 0.5), mean_margin=t / 40)
    assert np.isnan(attention.EMERGENCE.of(flat))


def test_neurons_of_the_fitting_sign_by_hand():
    t, kept = np.array([0.0, 8, 16]), np.ones((3, 2, 3, 2))
    kept[1, 0, 1, 0] = 0.6
    run = record(
        times=t, signed_along_own=np.array([0.1, 0.2, 0.5]), signed_kept=kept,
        signed_along_others=np.array([0.0, 0.0, 0.02]), signed_V=np.array([0, -0.3, -1]),
        opposite_V_least=np.array([0, -0.06, 0]), relevant_query_mass=np.array([0, 0.8, 1.0]),
    )  # fmt: skip
    assert neurons.SIGNED_GROWTH.of(run) == pytest.approx(5)
    assert neurons.SIGNED_OTHERS.of(run) == pytest.approx(0.02 / run.cell.xi)
    assert neurons.signed_kept("proof").of(run) == 0.6
    asked = run.cell.alpha_star * 0.8 / 2
    assert neurons.SIGNED_V.of(run) == pytest.approx(0.3 / asked)
    assert neurons.OPPOSITE_V.of(run) == pytest.approx(0.06 / asked)
