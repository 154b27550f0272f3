import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.evidence.multiplicity import combine_outcomes, holm, simultaneous_level

P_VALUES = st.lists(st.floats(0, 1), min_size=1, max_size=12)
OUTCOMES = st.sampled_from(["supported", "contradicted", "inconclusive", "not_applicable"])


def test_holm_known_values():
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.02]) == pytest.approx([0.02])
    assert holm([0.9, 0.8]) == pytest.approx([1, 1])
    assert holm([]).size == 0
    for bad in ([0.5, float("nan")], [1.2], [-0.1], 0.5):
        with pytest.raises(ValueError, match="between 0 and 1"):
            holm(bad)


@settings(deadline=None)
@given(P_VALUES)
def test_holm_lies_between_raw_and_bonferroni_and_keeps_the_order(p):
    adjusted = holm(p)
    assert (adjusted >= p).all()
    assert (adjusted <= np.minimum(1, len(p) * np.asarray(p)) + 1e-12).all()
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()


@settings(deadline=None)
@given(P_VALUES, st.randoms())
def test_holm_does_not_depend_on_the_order(p, random):
    order = list(range(len(p)))
    random.shuffle(order)
    assert holm(np.asarray(p)[order]) == pytest.approx(holm(p)[order])


@settings(deadline=None)
@given(P_VALUES, st.integers(0, 11), st.floats(0, 1))
def test_holm_is_monotone_in_each_p_value(p, index, factor):
    index %= len(p)
    smaller = list(p)
    smaller[index] *= factor
    assert (holm(smaller) <= holm(p) + 1e-12).all()


def test_holm_keeps_false_alarms_and_raw_p_values_do_not():
    p = np.random.default_rng(0).uniform(size=(2000, 10))
    assert np.mean([holm(row).min() <= 0.05 for row in p]) == pytest.approx(0.05, abs=0.015)
    assert np.mean(p.min(axis=1) <= 0.05) > 0.35


def test_simultaneous_level():
    assert simultaneous_level(1) == pytest.approx(0.95)
    assert simultaneous_level(5) == pytest.approx(0.99)
    for bad in ((0, 0.95), (3, 1.0)):
        with pytest.raises(ValueError, match=r"k=0|level=1"):
            simultaneous_level(*bad)


@pytest.mark.parametrize(
    ("parts", "whole"),
    [
        (["supported", "inconclusive", "contradicted"], "contradicted"),
        (["supported", "inconclusive"], "inconclusive"),
        (["supported", "supported"], "supported"),
        (["supported", "not_applicable"], "supported"),
        (["not_applicable", "not_applicable"], "not_applicable"),
        (["not_applicable", "inconclusive"], "inconclusive"),
        (["not_applicable", "contradicted"], "contradicted"),
        ([], "inconclusive"),
    ],
)
def test_combine_outcomes(parts, whole):
    assert combine_outcomes(parts) == whole
    assert combine_outcomes(iter(parts)) == whole


@settings(deadline=None)
@given(st.lists(OUTCOMES, min_size=1), st.lists(OUTCOMES, min_size=1))
def test_a_conjunction_may_be_taken_in_steps(left, right):
    steps = combine_outcomes([combine_outcomes(left), combine_outcomes(right)])
    assert combine_outcomes(left + right) == steps
