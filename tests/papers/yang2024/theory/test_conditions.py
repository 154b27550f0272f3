"""The tables of hypotheses and bounds: at the paper's sizes, and on samples counted by hand."""

import math
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.core import BadInput
from attnlab.papers.yang2024.theory.bounds import bounds, coefficient_sizes
from attnlab.papers.yang2024.theory.conditions import (
    DEFINITION_E2,
    DEFINITION_F1,
    THEOREM_E28,
    assumption_2_3,
    condition_1,
    courses,
    definition_2_1,
    random_words_required,
)
from attnlab.papers.yang2024.theory.sizes import StatedSizes

APPENDIX_A = StatedSizes.of_theory(n=60, L=5, d=64, m=128, m1=256)
DISTINCT = np.array(
    [[0, 1, 2, 3], [1, 4, 0, 2], [2, 1, 0, 5], [2, 0, 6, 7], [1, 8, 2, 9], [10, 11, 2, 12]]
)
LABELS = np.array([1, 1, 1, -1, -1, -1])


def named(rows, start):
    (row,) = [row for row in rows if row.name.startswith(start)]
    return row


# --- data and parameters ----------------------------------------------------------------------


def test_appendix_a_lacks_words_and_width():
    words = named(assumption_2_3(APPENDIX_A), "random words")
    assert (words.value, words.threshold, words.met) == (61, 160, False)
    assert words.factor == pytest.approx(160 / 61)
    width = named(condition_1(APPENDIX_A), "m against")
    assert (width.value, width.threshold) == (128, 256)
    assert width.constant == "unknown"
    assert width.met is None  # a hidden constant never gates, but the factor is shown
    assert width.factor == 2


def test_a_set_that_keeps_the_assumption():
    sizes = StatedSizes.of_theory(n=6, L=4, d=13, m=64, m1=4)
    for row in assumption_2_3(sizes, DISTINCT) + definition_2_1(sizes, DISTINCT, LABELS):
        assert row.met, row
    assert named(assumption_2_3(sizes, DISTINCT), "random words").threshold == 10


def test_a_set_that_breaks_it():
    sizes = StatedSizes.of_theory(n=6, L=4, d=11, m=64, m1=4)
    words = DISTINCT.copy()
    words[5] = [3, 3, 2, 4]  # three places with words used before
    words[0] = [0, 2, 3, 2]  # of type 2 now, and the common token twice
    rows = assumption_2_3(sizes, words)
    assert named(rows, "proportion of samples of type 1").met is False
    assert named(rows, "proportion of samples of type 2").value == pytest.approx(2 / 6)
    assert named(rows, "random places").value == 3
    assert named(rows, "random words").met is False
    made = definition_2_1(sizes, words, LABELS)
    assert named(made, "share of samples with the common").value == pytest.approx(5 / 6)
    assert named(made, "share of samples labelled").value == pytest.approx(5 / 6)


def test_condition_1_at_its_own_initialisation():
    rows = condition_1(StatedSizes.of_theory(n=60, L=5, d=200, m=4096, m1=16, c0=0.5), delta=0.01)
    assert all(row.met is None for row in rows)
    assert named(rows, "s0").value == pytest.approx(0.5)
    assert named(rows, "s1").value == pytest.approx(1)
    assert named(rows, "n against").factor == pytest.approx(25 / 60)
    assert named(rows, "log(1/delta)").value == pytest.approx(math.log(100))


@settings(derandomize=True, deadline=None)
@given(st.integers(1, 50), st.integers(3, 20))
def test_required_words_of_a_balanced_set(sixth, L):
    n = 6 * sixth
    assert random_words_required(n * np.array([3, 1, 1, 1]) / 6, L) == pytest.approx(
        n * (L - 7 / 3)
    )


# --- over time --------------------------------------------------------------------------------


def test_thresholds_at_constant_one():
    def thresholds(conditions):
        return {c.name: c.threshold(APPENDIX_A) for c in conditions}

    s0_squared = 1 / (5 * 128)
    assert thresholds(DEFINITION_E2) == pytest.approx(
        {
            "time": 1 / 128,
            "signal_change": 1 / 256,
            "random_change": (1 / 60 + 128**-0.5) / 256,
            "score_change": 128**-1.5,
            "key_change": s0_squared * 128**0.5,
            "query_change": s0_squared * 128**0.5,
        }
    )
    late = thresholds(DEFINITION_F1)
    assert late["softmax_change"] == pytest.approx(1 / 25)
    assert late["neuron_sum"] == pytest.approx(128)
    assert late["signal_size"] == pytest.approx(math.log(128))
    assert thresholds(THEOREM_E28)["score_change"] == pytest.approx(128**-1.5 * (0.2 + 128**-0.5))
    exact = {c.name for c in DEFINITION_F1 if c.constant == "given"}
    assert exact == {
        "type_4_below_2_and_3",
        "types_2_and_3_below_1",
        "type_1_below_the_rest",
        "types_2_and_3_alike",
    }
    assert all(c.constant == "unknown" for c in DEFINITION_E2 + THEOREM_E28)


def test_names_are_unique_in_each_definition():
    for conditions in (DEFINITION_E2, THEOREM_E28, DEFINITION_F1):
        assert len({c.name for c in conditions}) == len(conditions)


def test_a_course_finds_the_first_violation_and_the_constant():
    times = np.array([1.0, 2.0, 3.0])
    values = {
        "smallest_margin": np.array([2.0, 1.5, 0.5]),
        "types_2_and_3_alike": np.array([1.0, 2.5, 3.0]),
        "softmax_change": np.array([0.0, 0.01, 0.02]),
    }
    rows = {c.condition.name: c for c in courses(DEFINITION_F1, APPENDIX_A, times, values)}
    assert rows["smallest_margin"].first_violation == 3
    assert rows["smallest_margin"].implied_constant == 0.5
    assert rows["smallest_margin"].hypothesis().met is None
    assert rows["types_2_and_3_alike"].first_violation == 2
    assert rows["types_2_and_3_alike"].hypothesis().met is False
    assert rows["types_2_and_3_alike"].hypothesis().factor == pytest.approx(1.5)
    assert rows["softmax_change"].first_violation is None
    assert rows["softmax_change"].implied_constant == pytest.approx(0.5)


def test_a_nan_violates():
    (course,) = courses(
        DEFINITION_F1, APPENDIX_A, np.array([1.0, 2.0]), {"softmax_change": np.array([0, np.nan])}
    )
    assert course.first_violation == 2
    assert math.isnan(course.implied_constant)


def test_bad_input_is_named():
    one = np.ones(1)
    with pytest.raises(BadInput, match="got values for spin; the conditions are time"):
        courses(DEFINITION_E2, APPENDIX_A, one, {"spin": one})
    with pytest.raises(BadInput, match="one value for every time"):
        courses(DEFINITION_E2, APPENDIX_A, one, {"time": np.ones(2)})
    with pytest.raises(BadInput, match="L >= 3"):
        StatedSizes.of_theory(n=60, L=2, d=64, m=128, m1=256)


# --- bounds -----------------------------------------------------------------------------------


def test_bounds_at_the_sizes_of_appendix_a():
    rows = bounds(n=60, L=5, d=64, m=128, m1=256)
    value = {row.name: row.value for row in rows}
    assert value["rate"] == pytest.approx((1 / 256 + 1 / 640) * 128 * 256)
    assert value["limit.R"] == pytest.approx(1.26866, rel=1e-5)
    assert value["limit.loss_constant"] == pytest.approx(8.22327, rel=1e-6)
    assert value["phase_one.T1"] * 128 == pytest.approx(value["phase_one.C_T1"])
    assert value["theorem_3_3.guaranteed_ratio"] == pytest.approx(math.sqrt(128) / 5)
    assert named(rows, "samples.unseen_words").met is True
    assert named(rows, "samples.seen_words").met is False
    short = [row for row in rows if row.met is False]
    assert any((row.value, row.threshold) == (61, 160) for row in short)
    assert all(row.met is None for row in rows if row.constant == "unknown")
    assert all(math.isfinite(row.value) and row.meaning for row in rows)


@settings(derandomize=True, deadline=None)
@given(
    st.floats(6, 1e5), st.floats(3, 100), st.floats(16, 1e12), st.floats(1, 1e4), st.floats(0.01, 1)
)
def test_the_guaranteed_ratio_is_the_quotient_within_a_factor_two(n, L, m, m1, c0):
    rows = coefficient_sizes(StatedSizes.of_theory(n, L, 64, m, m1, c0))
    signal, random, quotient, ratio = (row.value for row in rows)
    assert quotient == pytest.approx(signal / random)
    assert ratio / 2 <= quotient <= 2 * max(ratio, 1)


def test_more_samples_than_sqrt_m_over_L_do_not_help_the_guarantee():
    few, many = (
        coefficient_sizes(StatedSizes.of_theory(n, 5, 64, 10**6, 16)) for n in (10**3, 10**9)
    )
    assert many[2].value / few[2].value < 1.3
    assert few[3].value == many[3].value == 200


def test_theory_needs_no_jax():
    code = "import attnlab.papers.yang2024.theory.bounds, sys; sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# --- samples that break them, counted by hand -------------------------------------------------

SIZES = StatedSizes(n=4, L=4, d=20, m=64, m1=4, s0=0.1, s1=0.5)


@pytest.mark.parametrize(
    ("sample", "most"),
    [([0, 0, 2, 7], 2), ([1, 1, 1, 2], 3), ([0, 1, 2, 7], 1), ([2, 7, 8, 9], 1)],
)
def test_the_most_places_of_one_signal(sample, most):
    words = np.array([[0, 1, 2, 3], [0, 2, 4, 5], [2, 6, 10, 11], sample])
    room, vocabulary, once, places = definition_2_1(SIZES, words)
    assert (room.value, vocabulary.value) == (4, 20)
    assert once.value == 1
    assert (places.value, places.met) == (most, most <= 1)


def test_labels_proportions_and_repeats():
    words = np.array([[0, 1, 2, 3], [0, 2, 4, 3], [1, 2, 2, 6], [2, 6, 3, 11]])
    *_, once, _, right = definition_2_1(SIZES, words, np.array([1, 1, -1, -1]))
    assert (once.value, once.met) == (0.75, False)
    assert (right.value, right.met) == (0.75, False)
    rows = assumption_2_3(SIZES, words)
    assert [row.value for row in rows[:4]] == [0.25, 0.25, 0.25, 0.25]
    assert [row.met for row in rows[:4]] == [False] * 4
    available, repeated = rows[4:]
    # Types 1 to 4 have 1, 2, 2 and 3 random places; of the seven words there, 3 and 6 come again.
    assert (available.value, available.threshold) == (17, 8)
    assert repeated.value == 3
