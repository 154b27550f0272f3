"""Figures 1 to 3, Theorem 1, Proposition 1, Remarks 1 and 3 on records of known truth."""

from dataclasses import replace

import numpy as np
import pytest

from attnlab.core import Record, Records
from attnlab.evidence import court
from attnlab.evidence.fixtures import positive_records, step_trials
from attnlab.papers.li2023.claims import CLAIMS
from attnlab.papers.li2023.claims.common import trial
from attnlab.papers.li2023.scalars import trials as scalars
from attnlab.papers.li2023.scalars.trials import (
    ITERATIONS,
    LEAST_MARGIN,
    MASS_OVER_STATED,
    WEIGHT_OVER_STATED,
)
from attnlab.papers.li2023.studies import STUDIES
from attnlab.papers.li2023.studies.designs import ASSUMED, DYNAMICS, MAP, TIMES, VALUES
from attnlab.papers.li2023.theory.conditions import stated_attention

BY_ID = {claim.id.removeprefix("li2023."): claim for claim in CLAIMS}
SLICE = (0.28, 0.32, 0.37, 0.42, 0.48)
RATIO = (0.3, 0.4, 0.5, 0.6, 0.7)


def measured(name, records):
    found = court.measure(BY_ID[name], Records(records))
    return found.outcome, {r.name: r.outcome for r in found.readings}


def trials(study, n50, rule, shares, **changes):
    cells = [replace(MAP, confusion=rule, alpha_star=a, **changes) for a in shares]
    return step_trials(f"li2023.{study}", cells, n50, seeds=30)


@pytest.mark.parametrize(("power", "outcome"), [(2, "supported"), (5, "contradicted")])
def test_figure_1a_by_the_exponent_of_n50_on_the_papers_slice(power, outcome):
    runs = trials("figure_1a", lambda c: 1.5 * c.alpha_star**-power, "paper_slice", SLICE)
    assert measured("figure_1a", runs)[1]["a power"] == outcome


def test_figure_1a_has_no_threshold_where_four_samples_are_enough():
    runs = [Record("li2023.figure_1a", replace(MAP, confusion="paper_slice", alpha_star=a, N=4),
                   seed, {"success": True}) for a in SLICE for seed in range(10)]  # fmt: skip
    assert measured("figure_1a", runs)[0] == "contradicted"


@pytest.mark.parametrize(("slope", "outcome"), [(4.0, "supported"), (0.0, "contradicted")])
def test_figure_1b_by_the_slope_of_log_n50_over_sigma(slope, outcome):
    cells = [replace(VALUES, sigma=s) for s in (0.05, 0.15, 0.3, 0.45, 0.6)]
    runs = step_trials("li2023.figure_1b", cells, lambda c: 20 * np.exp(slope * c.sigma), seeds=30)
    assert measured("figure_1b", runs)[0] == outcome


def times(T, **fitted):
    noise = np.random.default_rng(0)
    levels = {"paper_slice": SLICE, "constant_ratio": (0.1, 0.2, 0.3, 0.4, 0.5),
              "number": (0.15, 0.2, 0.3, 0.4, 0.5)}  # fmt: skip
    for rule, shares in levels.items():
        for a in shares:
            cell = replace(TIMES, confusion=rule, alpha_star=a, alpha_sharp=0.0)
            for seed in range(6):
                value = T(cell) * np.exp(0.01 * noise.normal())
                values = {"fitted": fitted.get(rule, True), "iterations": value, "success": True}
                yield Record("li2023.figure_2", cell, seed, values)


def test_figure_2_is_a_line_in_every_slice_or_depends_on_it():
    assert measured("figure_2", times(lambda c: 20 + 100 / c.alpha_star))[0] == "supported"
    assert measured("figure_2", times(lambda c: 1000 * c.alpha_star))[0] == "contradicted"
    outcome, readings = measured(
        "figure_2",
        times(lambda c: 20 / c.gap**4 if c.confusion == "paper_slice" else 50 / c.alpha_star),
    )
    assert outcome == "depends"
    assert readings["constant ratio"] == "supported"
    never = times(lambda c: 50 / c.alpha_star, paper_slice=False)
    assert measured("figure_2", never)[1]["paper's slice"] == "contradicted"


def with_and_without(frozen, trained=lambda c: 6 * c.alpha_star**-2):
    for rule, shares in (("paper_slice", SLICE), ("constant_ratio", RATIO)):
        yield from trials("figure_1a", trained, rule, shares)
        yield from trials("figure_3", frozen, rule, shares, attention="frozen")


def test_figure_3_by_the_ratio_of_two_thresholds_in_two_studies():
    more = list(with_and_without(lambda c: 30 * c.alpha_star**-2))
    assert measured("figure_3", more)[0] == "supported"
    fewer = list(with_and_without(lambda c: 2 * c.alpha_star**-2))
    assert measured("figure_3", fewer)[0] == "contradicted"
    # Without the other study there is nothing to compare.
    alone = [r for r in more if r.study == "li2023.figure_1a"]
    assert measured("figure_3", alone)[0] == "inconclusive"


@pytest.mark.parametrize("power", [0, 1, 3])
def test_needing_fewer_samples_never_contradicts_what_is_sufficient(power):
    fewer = list(with_and_without(lambda c: 40 * c.alpha_star**-power,
                                  lambda c: 8 * c.alpha_star ** -(power / 2)))  # fmt: skip
    for name in ("theorem_1_samples", "proposition_1", "remark_1"):
        assert measured(name, fewer)[0] != "contradicted", name
    assert measured("proposition_1", fewer)[1]["as a law"] != "supported"


def test_needing_ever_more_than_is_asked_contradicts_it():
    more = list(with_and_without(lambda c: c.alpha_star**-7 / 5, lambda c: 2 * c.alpha_star**-5))
    for name in ("theorem_1_samples", "proposition_1", "remark_1"):
        assert measured(name, more)[0] == "contradicted", name


@pytest.mark.parametrize(
    ("won", "outcome"), [(299, "supported"), (298, "inconclusive"), (285, "contradicted")]
)
def test_theorem_1_is_certified_by_299_of_299(won, outcome):
    ends = [(0.0, 1.0) if seed < won else (0.1, 0.9) for seed in range(299)]
    runs = [
        Record("li2023.certificate", ASSUMED, seed, {"test_loss": loss, "least_margin": margin})
        for seed, (loss, margin) in enumerate(ends)
    ]
    assert measured("theorem_1", runs)[0] == outcome
    close = [Record(r.study, r.cell, r.seed, {"test_loss": 1e-5, "least_margin": 0.99})
             for r in runs]  # fmt: skip
    assert measured("theorem_1", close)[0] == "depends"


@pytest.mark.parametrize(("power", "outcome"), [(1, "inconclusive"), (3, "contradicted")])
def test_iterations_may_not_grow_faster_than_11(power, outcome):
    # Slower growth than stated is decided only over 1.5 decades, which these cells do not span.
    assert measured("theorem_1_iterations", times(lambda c: c.alpha_star**-power))[0] == outcome
    claim = BY_ID["theorem_1_iterations"]
    assert court.measure(claim, positive_records(claim, STUDIES)).outcome == "supported"


def test_pairs_that_come_out_differently_contradict_the_spot_check():
    claim = BY_ID["spot_check"]
    good = positive_records(claim, STUDIES)
    turned = Records(
        replace(r, values={"success": not r["success"]}) if r.cell.dtype == "float64" else r
        for r in good
    )
    assert measured("spot_check", good)[0] == "supported"
    assert measured("spot_check", turned)[0] == "contradicted"


def test_the_scalars_of_a_trial():
    ended = trial("figure_2", 0, {"fitted": True, "iterations": 7.0, "least_margin": 3.0},
                  margin=2.0)  # fmt: skip
    assert ITERATIONS.of(ended) == 7.0
    assert LEAST_MARGIN.of(ended) == 1.5
    assert np.isnan(ITERATIONS.of(replace(ended, values={**ended.values, "fitted": False})))


def test_the_scalars_of_definition_1_take_the_shorter_feature_and_the_worst_step():
    q = np.array([1.0, 1.5, 1.2])
    _, nu, p = stated_attention(q, 50, 100, 0.2 + 0.01 * np.sqrt(10))
    longer = np.stack([q, 2 * q, 0 * q], axis=1)
    values = {"key_norm": longer, "query_norm": longer, "relevant_query_mass": p * [1.1, 0.9, 1.0],
              "largest_irrelevant_weight": nu * [9.0, 9.0, 2.5]}  # fmt: skip
    run = trial("dynamics", 0, values, alpha_star=0.5, alpha_sharp=0.05)
    assert MASS_OVER_STATED.of(run) == pytest.approx(0.9)
    assert WEIGHT_OVER_STATED.of(run) == pytest.approx(2.5)


def test_the_axes_are_their_names():
    cell = replace(DYNAMICS, alpha_star=0.4, alpha_sharp=0.1, eta=0.25, sigma=0.3,
                   delta=0.2, c0=0.02, d=25, m_a=25, m_b=25, m=20_000)  # fmt: skip
    expected = {
        "INVERSE_FRACTION": 2.5,
        "INVERSE_SQUARE": 6.25,
        "INVERSE_FOURTH": 39.0625,
        "INVERSE_GAP": 1 / 0.3,
        "INVERSE_SQUARE_GAP": 1 / 0.09,
        "RELATIVE_GAP": 4 / 3,
        "INVERSE_SQUARE_RELATIVE_GAP": 16 / 9,
        "INVERSE_STEP": 4.0,
        "VALUE_ERROR": np.exp(0.3),
        "KEY_ERROR": np.exp(0.2),
        "TOKEN_NOISE": np.exp(0.1),
    }
    for name, value in expected.items():
        assert getattr(scalars, name).of(cell) == pytest.approx(value), name
    none = replace(cell, sigma=0.05)
    assert scalars.EQUATION_13.of(none) == pytest.approx((0.4 * 0.25) ** -2)
    share = 1 - none.M * (np.sqrt(np.log(none.N) / 20_000) + 0.15 / np.pi)
    assert scalars.EQUATION_11.of(none) == pytest.approx(1 / (share * 0.25 * 0.4))


def test_a_run_that_was_fitted_from_the_start_counts_one_iteration():
    fitted = trial("figure_2", 0, {"fitted": True, "iterations": 0.0})
    assert ITERATIONS.of(fitted) == 1.0
