"""Bounds, conditions and margins: the numbers that are known, and the errata."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.core import BadInput
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.papers.deora2023.settings import BoundsSettings
from attnlab.papers.deora2023.theory import conditions, impossibility, margins, smoothness
from attnlab.papers.deora2023.theory.conditions import GoodStart, Target
from attnlab.papers.deora2023.theory.table import rows


def by_name(**sizes):
    return {row.name: row for row in rows(BoundsSettings(**sizes))}


def test_the_tightened_constants_solve_their_equations():
    # Theorem 1: a q = 2/3 with q = 1/(1 - a/8), and kappa D^2 = a / (13/3).
    a = 8 / 13
    assert a / (1 - a / 8) == pytest.approx(2 / 3)
    assert conditions.THEOREM_1["sharp"] == pytest.approx((13 / 3) / a)
    # Theorem 2: the growth factors multiply to 2, two runs being up to 2 sqrt(13/3) D apart.
    x = 1 / conditions.THEOREM_2["sharp"]
    apart = 4 * 13 / 3 * x
    assert 17 / 2 * x / (1 - apart / 8) == pytest.approx(math.log(2))
    assert conditions.THEOREM_1["sharp"] == pytest.approx(7.04, abs=0.01)
    assert conditions.THEOREM_2["sharp"] == pytest.approx(14.43, abs=0.01)


def test_theorem_1_gives_the_printed_five_quarters_and_four():
    target = Target(T=4, d=8, R=1, H=1e7, D=2.0, m=0.3, loss=0.01, start_loss=0.7, K=100)
    assert conditions.loss_bound(target, 0.5) == pytest.approx(0.02 + 5 * 4 / (4 * 0.5 * 100))
    assert conditions.gap_bound(target, 0.5, 10) == pytest.approx(0.4 * (2 + 9 * 4 / 2))
    # |theta_K - theta_0| <= D + sqrt(13/3) D.
    assert 1 + math.sqrt(13 / 3) <= 4


@settings(max_examples=60, deadline=None)
@given(
    T=st.integers(2, 50),
    d=st.integers(2, 50),
    R=st.floats(1, 20),
    m=st.floats(0, 50),
    H=st.floats(1, 1e8),
)
def test_each_variant_is_at_most_the_one_before(T, d, R, m, H):
    printed, corrected, sharp = (
        smoothness.betas(v, T, d, R, m, H) for v in ("printed", "corrected", "sharp")
    )
    for name in ("one", "two", "three"):
        assert getattr(sharp, name) <= getattr(corrected, name) * (1 + 1e-12)
        assert getattr(corrected, name) <= getattr(printed, name) * (1 + 1e-12)


@settings(max_examples=40, deadline=None)
@given(D=st.floats(1e-3, 30), m=st.floats(0.1, 10), count=st.floats(1, 1e8))
def test_the_proofs_demand_less_and_less(D, m, count):
    target = Target(4, 8, 1.2, 2 * count, D, m, 0.01, 0.7, 100, count)
    needed = [conditions.heads_needed(target, proof) for proof in conditions.PROOFS]
    assert needed[0] >= needed[1] * (1 - 1e-12) >= needed[2] * (1 - 2e-12)
    for theorem in (1, 2):
        steps = [conditions.largest_step(target, p, theorem) for p in conditions.PROOFS]
        assert steps[1] <= steps[2] * (1 + 1e-12)
    assert conditions.largest_step(target, "sharp", 2) <= conditions.largest_step(target, "sharp")


def test_errata_6_and_7_at_their_settings():
    large = MixtureSizes(10, 8, 4, 4.0, 0.5, 0.02, 0.02, 0.05)
    assert margins.gamma_star(large) == pytest.approx(29.3, abs=0.3)
    assert margins.gamma_attention(large) == pytest.approx(8.9, abs=0.1)
    small = MixtureSizes(10, 8, 4, 1.0, 0.1, 0.02, 0.02, 0.05)
    assert margins.gamma_star(small) == pytest.approx(0.140, abs=0.001)
    assert margins.gamma_linear(small) == pytest.approx(0.143, abs=0.001)


@settings(max_examples=60, deadline=None)
@given(S=st.floats(0.1, 10), k=st.integers(1, 9), M=st.integers(1, 6))
def test_the_order_of_margins_turns_at_the_stated_S(S, k, M):
    sizes = MixtureSizes(10, 8, M, S, k / 10)
    edge = margins.largest_S_for_order(sizes)
    if abs(S - edge) > 1e-6:
        assert (margins.gamma_attention(sizes) >= margins.gamma_star(sizes)) == (edge > S)


def test_erratum_21_theorem_1s_rho_falls_behind_section_6_1s_for_many_places():
    def quotient(T: int) -> float:
        target = Target(T=T, d=2, R=1, H=1e8, D=1.0, m=1.0, loss=0.1, start_loss=0.7, K=10)
        return conditions.smoothness(target, "corrected") / conditions.theorem_smoothness(target)

    # The dropped term is d T^2 R^12 beside d^1.5 T^1.5 R^13: behind by sqrt(T).
    assert quotient(10**6) / quotient(10**4) == pytest.approx(10, rel=0.01)


def test_erratum_12_the_target_is_sqrt_2_farther_than_printed():
    start = GoodStart(2.0, 1.0, 0.5)
    quotient = conditions.target_distance(start, 0.01) / conditions.printed_target_distance(
        start, 0.01
    )
    assert quotient == pytest.approx(2**0.5)


def test_what_is_demanded_at_the_specs_example():
    table = by_name(T=4, d=8, n=100, S=1.0, K=100, n1=1e8)
    through = table["proposition_2.theorem_1.heads_corrected"]
    assert 1e20 < through.threshold < 1e21
    assert through.met is False
    assert "short by a factor of" in through.meaning
    own = table["instance.theorem_1.heads_corrected"]
    assert 1e13 < own.threshold < 1e14
    assert 1e6 < table["instance.theorem_1.heads_symmetric"].threshold < 1e7
    assert table["instance.theorem_1.heads_printed"].constant == "unknown"


def test_a_run_with_enough_heads_meets_the_condition():
    table = by_name(H=1e8, eta=0.1)
    assert table["instance.theorem_1.heads_symmetric"].met is True
    assert table["instance.theorem_2.step_symmetric"].met is True


def test_numbers_beyond_a_float_are_told_as_powers_of_ten():
    table = by_name(S=1e40, n1=1e12)
    row = table["corollary_1.beta_3_printed"]
    assert math.isinf(row.value) or row.value > 1e100
    huge = [r for r in table.values() if math.isinf(r.value)]
    assert huge
    assert all("10^" in r.meaning for r in huge)


def test_a_margin_that_is_not_positive_is_said_so():
    table = by_name(n1=10)
    assert table["proposition_2.gamma"].met is False
    assert "raise n1" in table["proposition_2.gamma"].meaning
    assert "proposition_2.g_0" not in table


@pytest.mark.parametrize(
    ("sizes", "words"),
    [({"H": 0.0}, "H=0"), ({"delta": 2.0}, "delta=2"), ({"K": 1.0}, "K=1"), ({"d": 2}, "d >= 4")],
)
def test_bounds_refuse_bad_sizes(sizes, words):
    with pytest.raises(BadInput, match=words):
        by_name(**sizes)


def test_floats_and_mpmath_agree():
    with mpmath.workdps(30):
        ours = smoothness.beta_3(
            "sharp", mpmath.mpf(4), mpmath.mpf(8), mpmath.mpf(2), mpmath.mpf(3)
        )
    assert float(ours) == pytest.approx(smoothness.beta_3("sharp", 4, 8, 2.0, 3.0), rel=1e-14)


@pytest.mark.parametrize("c", [0.1, 0.25, 0.5, 1.0, 3.0])
def test_no_scaling_is_feasible_and_with_another_power_one_is(c):
    assert not impossibility.feasible(100.0, c)
    assert impossibility.searched(100.0, c, 3.0) == 0
    assert impossibility.feasible(100.0, 0.5, power=1.0)
    assert impossibility.searched(100.0, 0.5, 1.0) > 0


def test_the_algebra_of_section_5_3_is_the_certificate():
    # 1.5 h <= -3 log log n follows from the three inequalities with these multipliers.
    c, n = 0.5, 50.0
    A, b = impossibility.inequalities(n, c, 3.0)
    multipliers = np.array([3.0, 1.0, 0.5])
    combined = multipliers @ A
    assert combined[0] == pytest.approx(0)
    assert combined[2] == pytest.approx(0)
    assert combined[1] > 0
    assert multipliers @ b < 0
