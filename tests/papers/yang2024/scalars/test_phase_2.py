"""Theorem 3.2, Figure 1 and the sides of n on records made up by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from attnlab.core import Record
from attnlab.papers.yang2024.scalars import examples, phase_2, samples

TIMES = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0])
CELL = SimpleNamespace(n=30, L=4, m=512, m1=5, c0=0.1)


def good() -> dict[str, np.ndarray]:
    """Six records in which every part of Theorem 3.2 holds."""
    up = np.arange(6.0)
    S, V = np.zeros((6, 3, 3)), np.zeros((6, 3, 3))
    S[:, 1, 0] = S[:, 0, 1] = V[:, 0, 1] = up
    S[:, 2, 0] = S[:, 2, 1] = V[:, 0, 2] = V[:, 1, 2] = -up
    G = np.tile([2.0, 2.5, -3.0], (6, 1))
    return {
        "times": TIMES, "scores": S, "value_correlations": V, "signal_outputs": G,
        "rho": np.array([50.0, 60, 60, 60, 60, 60]), "T1_every_sample": 1.5, "T1_type_means": 20.0,
    }  # fmt: skip


def record(values: dict, cell=CELL, **more) -> Record:
    return Record("", cell, 0, {**values, **more})


ENTRIES = [
    ("scores", (1, 0), -1), ("scores", (0, 1), -1), ("scores", (2, 0), 1), ("scores", (2, 1), 1),
    ("value_correlations", (0, 1), -1), ("value_correlations", (0, 2), 1),
    ("value_correlations", (1, 2), 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "entry", "back"), ENTRIES)
def test_each_trend_ends_the_range(name, entry, back):
    """A step back, or none, from record 2 to 3 leaves the records from 3 on."""
    values = good()
    assert phase_2.start(record(values)) == 0
    for size in (1.0, 0.0):
        values[name] = good()[name]
        values[name][3, *entry] = values[name][2, *entry] + back * size
        assert phase_2.start(record(values)) == 4.0
    assert phase_2.duration().of(record(values)) == 4


@pytest.mark.parametrize(
    "outputs",
    [
        (0.0, 2.5, -3.0), (2.0, 0.0, -3.0), (2.0, 2.5, 0.0), (2.0, 2.5, 1.0),
        (2.0, 2.5, -4.5), (3.0, 2.5, -3.0), (2.0, 3.0, -3.0), (-1.0, 5.0, -3.0),
    ],
)  # fmt: skip
def test_each_output_ends_the_range(outputs):
    values = good()
    values["signal_outputs"][2] = outputs
    assert phase_2.start(record(values)) == 4.0


@pytest.mark.parametrize(
    ("outputs", "signs", "margins"),
    [
        ((2.0, 2.5, -3.0), True, True), ((-1.0, 5.0, -3.0), False, False),
        ((5.0, -1.0, -3.0), False, False), ((0.0, 2.5, -3.0), False, False),
        ((2.0, 0.0, -3.0), False, False), ((2.0, 2.5, 0.0), False, False),
        ((4.0, 2.5, -3.0), True, False), ((2.0, 4.0, -3.0), True, False),
        ((2.0, 2.5, -4.5), True, False), ((3.0, 2.5, -3.0), True, False),
    ],
)  # fmt: skip
def test_signs_and_margins_one_by_one(outputs, signs, margins):
    """Each by itself: the margins imply the signs, so that their conjunction hides these."""
    values = good()
    values["signal_outputs"][2] = outputs
    held = phase_2.conditions(record(values))
    assert held["outputs have their signs"][2] == signs
    assert held["margins without random words"][2] == margins


def test_the_sign_of_the_common_token_can_be_reversed():
    values = good()
    assert math.isnan(phase_2.start(record(values), common_output=1))
    values["signal_outputs"][:, 2] = 3.0
    held = phase_2.conditions(record(values), common_output=1)
    assert held["outputs have their signs"].all()
    assert not held["margins without random words"].any()
    assert math.isnan(phase_2.duration(1).of(record(values)))


def test_what_begins_and_never_ends():
    assert phase_2.begin(np.array([True] * 3), TIMES[:3]) == 0
    assert phase_2.begin(np.array([True, False, True]), TIMES[:3]) == 2.0
    assert math.isnan(phase_2.begin(np.array([True, True, False]), TIMES[:3]))


def test_the_start_over_a_detected_end():
    values = good()
    values["signal_outputs"][2] = 0
    r = record(values)
    assert phase_2.start_over("every_sample").of(r) == 4.0 / 2.0
    assert math.isnan(phase_2.start_over("type_means").of(r))
    exactly = record(values, T1_every_sample=2.0)
    assert phase_2.start_over("every_sample").of(exactly) == 1.0
    assert phase_2.START_IN_RHO.of(r) == 200.0


def test_rates_of_rho():
    margins = np.array([-0.1, 0.2, 0.3])
    rate = 2 * 5 * margins
    r = record({"mean_weighted_margin": margins, "rho_rate": rate + np.array([0, 0, 0.3])})
    # Half the printed rate is off by m1 times the margin: 0.3 * 5 + 0.3 over 2 * 1.5.
    assert phase_2.RHO_RATE_ERROR_WITHOUT_FACTOR.of(r) == pytest.approx(1.8 / 3)
    assert phase_2.LEAST_RHO_RATE_EVER.of(r) == pytest.approx(-1.0)


def test_stored_scalars_have_their_prefix():
    r = record({"phase_2_begin": 3.0, "phase_2_R_over_limit": 1.1})
    assert phase_2.BEGIN.of(r) == 3
    assert phase_2.R_OVER["limit"].of(r) == 1.1
    assert set(phase_2.NEEDED) == set(phase_2.FIRST_FAILS)
    named = {f"phase_2_constant_of_{name}": 1.0 for name in phase_2.NEEDED}
    assert all(scalar.of(record(named)) == 1 for scalar in phase_2.NEEDED.values())


# --- samples and Figure 1 -----------------------------------------------------------------------


@pytest.mark.parametrize("n", [14, 16])
def test_values_on_the_side_that_n_predicts(n):
    """Unseen words need n > 15 at L = 4, seen ones 23 + sqrt(577) = 47.02."""
    cell = SimpleNamespace(n=n, L=4)
    r = record({"unseen_margin_end": 0.3, "unseen_margin_log_slope": -0.2}, cell)
    side = 1 if n > 15 else -1
    assert samples.unseen_margin().of(r) == pytest.approx(side * 0.3)
    assert samples.UNSEEN_GROWTH.of(r) == pytest.approx(-side * 0.2)


@pytest.mark.parametrize("n", [47, 48])
def test_seen_words(n):
    cell = SimpleNamespace(n=n, L=4)
    r = record({"worst_margin_log_slope": 0.5, "test_loss_time_exponent": -0.4}, cell)
    side = 1 if n == 48 else -1
    assert samples.worst_growth().of(r) == pytest.approx(side * 0.5)
    assert samples.TEST_LOSS_FALL.of(r) == pytest.approx(side * 0.4)
    assert samples.TEST_LOSS_IN_TIME.of(r) == -0.4
    moved = samples.worst_growth(lambda L: 10 * L)
    assert moved.of(r) == 0.5


def test_the_loss_at_a_time_in_units_of_rho():
    r = record({"times": TIMES, "loss": np.array([9, 1.0, 0.5, 0.25, 0.2, 0.1]), "rho": [2.0]})
    assert samples.loss_at(8.0).of(r) == pytest.approx(0.25)
    assert samples.loss_at(2 * math.sqrt(2)).of(r) == pytest.approx(0.75)
    assert math.isnan(samples.loss_at(40.0).of(r))


def test_figure_1():
    S = np.zeros((6, 3, 3))
    S[0] = 7.0
    S[1:] = 7.0
    changes = {(1, 0): (0.5, 4.0), (0, 1): (-0.6, 3.0), (2, 0): (-0.2, -2.0), (2, 1): (0.1, -5.0)}
    for (key, query), (early, late) in changes.items():
        S[3, key, query] += early
        S[4:, key, query] += late
    losses = np.array(
        [[1, 2, 1, 1], [1.5, 2.2, 1.4, 3], [1.2, 2.6, 1.3, 1], [0.8, 2, 1, 0.5],
         [0.5, 1, 0.7, 0.4], [0.2, 0.8, 0.9, 0.1]]
    )  # fmt: skip
    r = record({"times": TIMES, "scores": S, "loss_by_type": losses, "T1_every_sample": 4.0})
    assert samples.LEAST_SCORE_CHANGE.of(r) == 2
    assert samples.EARLY_PART.of(r) == pytest.approx(max(0.5 / 4, 0.6 / 3, 0.2 / 2, 0.1 / 5))
    assert samples.ONE_SIGNAL_PEAK.of(r) == pytest.approx(min(2.6 / 2, 1.4 / 1))
    assert samples.BOTH_SIGNALS_PEAK.of(r) == pytest.approx(1.5)
    assert samples.LATE_FALL.of(r) == pytest.approx(max(0.2 / 0.8, 0.8 / 2, 0.9 / 1, 0.1 / 0.5))


# --- made-up series of the claims ---------------------------------------------------------------


def test_the_example_of_theorem_3_2_does_what_it_says():
    made = examples.phase_2()
    values = {k: x(CELL, np.random.default_rng(0)) if callable(x) else x for k, x in made.items()}
    r = record(values)
    later = values["times"][values["times"] * CELL.m > 5]
    assert phase_2.start(r) == pytest.approx(later[0])
    G1, G2, G3 = values["signal_outputs"].T
    grown = np.log1p(values["times"] * CELL.m)
    np.testing.assert_allclose(G1, grown)
    np.testing.assert_allclose(G2, grown)
    np.testing.assert_allclose(G3[-1], -1.2 * grown[-1])
    assert values["T1_every_sample"] > later[0]


def test_the_example_of_figure_1():
    values = examples.figure_1()
    assert values["times"][0] == 0
    both, first, second, none = values["loss_by_type"].T
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(both, none)
    r = record(values)
    assert samples.LEAST_SCORE_CHANGE.of(r) == pytest.approx(math.log(30_000 / 1_600))
    assert samples.EARLY_PART.of(r) <= 0.05
    assert samples.ONE_SIGNAL_PEAK.of(r) == pytest.approx(1.2)
    assert samples.BOTH_SIGNALS_PEAK.of(r) == 1
    assert samples.LATE_FALL.of(r) <= 0.75


def test_the_example_of_the_duals_and_of_rho():
    r = record(examples.duals())
    assert phase_2.LOSS_OVER["limit"].of(r) == phase_2.R_OVER["limit"].of(r) == 1
    for of in (phase_2.LOSS_OVER, phase_2.R_OVER):
        assert abs(of["many"].of(r) - 1) > abs(of["twice n"].of(r) - 1) > 0
    values = examples.rho_series()
    rate = values["rho_rate"](CELL, None)
    np.testing.assert_allclose(rate, 10 * values["mean_weighted_margin"])
    assert rate.min() < 0


@pytest.mark.parametrize("n", [14, 16, 47, 48])
def test_the_example_of_the_sides_is_on_them(n):
    cell = SimpleNamespace(n=n, L=4)
    values = {name: value(cell, None) for name, value in examples.sides().items()}
    r = record(values, cell)
    assert samples.unseen_margin().of(r) > 0
    assert samples.UNSEEN_GROWTH.of(r) > 0
    assert samples.worst_growth().of(r) > 0
    assert samples.TEST_LOSS_FALL.of(r) > 0


def test_the_example_of_a_loss_curve():
    values = examples.loss_curve()
    np.testing.assert_allclose(values["loss"] * (1 + values["times"]), 1)
    assert samples.loss_at(100.0).of(record(values)) == pytest.approx(1 / 101, rel=0.02)
