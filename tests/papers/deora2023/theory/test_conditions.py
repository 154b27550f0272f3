"""Theorems 1 and 2 and Corollary 2: conditions and bounds written out once more by hand."""

import math
from dataclasses import replace

import mpmath
import pytest

from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import GoodStart, Target

T, DIM, R, H, D, M, K = 3, 5, 1.4, 400.0, 1.7, 1.2, 50
TARGET = Target(
    T=T, d=DIM, R=R, H=H, D=D, m=M, loss=0.05, start_loss=0.69, K=K, least_count=16.0
)  # fmt: skip
SHORT = replace(TARGET, D=0.5, m=0.25)
START = GoodStart(B_2=1.5, B_Phi=1.25, gamma=0.4)
FIRST = {"corrected": 18.0, "sharp": 169 / 24, "symmetric": 169 / 24}
LOG_2 = math.log(2)
SECOND_TIGHT = 8.5 / LOG_2 + 13 / 6
SECOND = {"corrected": 72.0, "sharp": SECOND_TIGHT, "symmetric": SECOND_TIGHT}
REACH = {"corrected": M + 3 * D, "sharp": M + 3 * D, "symmetric": M + 3 * D / 4}


def one(m: float, sharp: bool) -> float:
    root = math.sqrt(R**4 * m**2 + 1) if sharp else 2 * R**2 * m + 1
    return math.sqrt(T) * R * root


def three(m: float, sharp: bool) -> float:
    if sharp:
        return math.sqrt(T) * R**3 * (2 * R**2 * m + 1)
    return 2 * math.sqrt(T * DIM) * R**3 * (3 * math.sqrt(DIM) * R**2 * m + 1)


def section_6_1(size: float) -> float:
    alpha = 3 * math.sqrt(DIM) * R**2
    alpha *= 3 * math.sqrt(T) * R**3 * (3 * D + M) + 2 * math.sqrt(T) * R
    return (2 * size * R**3 / math.sqrt(H) + T * R**2 / 4) * alpha**2


def rho(proof: str, theorem: int) -> float:
    if proof == "corrected":
        return section_6_1(math.sqrt(T * DIM))
    first = one(REACH[proof], True)
    second = three(REACH[proof], True) / math.sqrt(H) + first**2 / 4
    return second if theorem == 1 else max(second, first**2)


@pytest.mark.parametrize("proof", conditions.PROOFS)
@pytest.mark.parametrize("theorem", [1, 2])
def test_heads_and_step_of_a_theorem(proof, theorem):
    constant = (FIRST if theorem == 1 else SECOND)[proof]
    needed = (constant * three(REACH[proof], proof != "corrected") * D**2) ** 2
    assert conditions.heads_needed(TARGET, proof, theorem) == pytest.approx(needed, rel=1e-12)
    assert conditions.head_radius(TARGET, proof) == pytest.approx(REACH[proof], rel=1e-13)
    limits = {
        "1": 1.0,
        "1/rho": 1 / rho(proof, theorem),
        "D^2/(K L(theta))": D**2 / (K * 0.05),
        "D^2/L(theta_0)": D**2 / 0.69,
    }
    assert conditions.step_limits(TARGET, proof, theorem) == pytest.approx(limits, rel=1e-12)
    assert conditions.largest_step(TARGET, proof, theorem) == pytest.approx(min(limits.values()))
    rows = conditions.hypotheses(TARGET, 0.01, proof, theorem)
    assert [row.value for row in rows] == [H, *[0.01] * 4]
    assert [row.threshold for row in rows] == pytest.approx([needed, *limits.values()])
    assert [row.met for row in rows] == [needed <= H, *(limit >= 0.01 for limit in limits.values())]


def test_a_loss_that_underflows_bounds_no_step():
    limits = conditions.step_limits(replace(TARGET, loss=0.0, start_loss=0.0), "sharp")
    own = conditions.step_limits(TARGET, "sharp")
    assert limits["D^2/(K L(theta))"] == limits["D^2/L(theta_0)"] == math.inf
    assert (limits["1"], limits["1/rho"]) == (own["1"], own["1/rho"])


def test_the_default_theorem_is_the_first():
    assert conditions.heads_needed(TARGET, "sharp") == conditions.heads_needed(TARGET, "sharp", 1)
    assert conditions.smoothness(TARGET, "sharp") == conditions.smoothness(TARGET, "sharp", 1)
    few = replace(TARGET, H=1e12)  # beta_1^2 decides Theorem 2 here, beta_2 where heads are few
    for target in (TARGET, few):
        first = conditions.step_limits(target, "sharp")
        assert first == conditions.step_limits(target, "sharp", 1)
        assert conditions.largest_step(target, "sharp") == min(first.values())
        assert conditions.hypotheses(target, 0.1, "sharp") == conditions.hypotheses(
            target, 0.1, "sharp", 1
        )
    scarce = replace(TARGET, H=1e-6)
    b = conditions.smoothness(scarce, "sharp")
    assert conditions.smoothness(scarce, "sharp", 2) == b > one(REACH["sharp"], True) ** 2


def test_one_head_in_the_smallest_group_is_no_symmetry():
    alone = Target(T=T, d=DIM, R=R, H=H, D=D, m=M, loss=0.05, start_loss=0.69, K=K)
    assert conditions.head_radius(alone, "symmetric") == conditions.head_radius(alone, "sharp")


def test_what_is_printed():
    assert conditions.printed_smoothness(TARGET) == pytest.approx(section_6_1(math.sqrt(T) * DIM))
    for target, m, far in ((TARGET, M, D), (SHORT, 1, 1)):
        heads = (DIM * math.sqrt(T) * R**5 * m * far**3) ** 2
        assert conditions.printed_heads_needed(target) == pytest.approx(heads, rel=1e-12)
        smooth = DIM**1.5 * T**1.5 * R**13 * m**2 * far**2
        assert conditions.theorem_smoothness(target) == pytest.approx(smooth, rel=1e-12)


def test_bounds_at_a_step():
    eta, n = 0.3, 20
    assert conditions.loss_bound(TARGET, eta) == pytest.approx(0.1 + 5 * D**2 / (4 * eta * K))
    regret = 2 * K * 0.05 + 9 * D**2 / (4 * eta)
    assert conditions.gap_bound(TARGET, eta, n) == pytest.approx(4 * regret / n)
    assert conditions.stability_bound(TARGET, eta, n, 7.0) == pytest.approx(
        2 * eta * 7 * regret / n
    )


def test_a_good_start_gives_a_target():
    g = (2 * 1.25 + math.log(100)) / 0.4
    assert conditions.printed_target_distance(START, 0.01) == pytest.approx(g, rel=1e-13)
    assert conditions.target_distance(START, 0.01) == pytest.approx(math.sqrt(2) * g, rel=1e-13)
    target = conditions.target_of(START, T, DIM, R, H, 100)
    far = math.sqrt(2) * g
    assert target == Target(
        T, DIM, R, H,
        pytest.approx(far), pytest.approx(1.5 + far / math.sqrt(H)), pytest.approx(0.01),
        pytest.approx(math.log(1 + math.exp(1.25))), 100,
    )  # fmt: skip
    with mpmath.workdps(30):
        exact = conditions.target_of(
            GoodStart(mpmath.mpf("1.5"), mpmath.mpf("1.25"), mpmath.mpf("0.4")),
            T, DIM, mpmath.mpf("1.4"), mpmath.mpf(400), mpmath.mpf(100),
        )  # fmt: skip
        assert mpmath.almosteq(exact.start_loss, mpmath.log(1 + mpmath.exp(mpmath.mpf("1.25"))))


def test_a_huge_output_does_not_overflow():
    start = GoodStart(B_2=1.0, B_Phi=2000.0, gamma=1.0)
    assert conditions.target_of(start, T, DIM, R, H, 10).start_loss == 2000.0


def test_corollary_2_and_proposition_7():
    g, far = (2 * 1.25 + math.log(K)) / 0.4, math.sqrt(2) * (2 * 1.25 + math.log(K)) / 0.4
    heads = (DIM * math.sqrt(T) * R**5 * 1.5**2 * g**3) ** 2
    assert conditions.printed_corollary_heads(START, T, DIM, R, K) == pytest.approx(heads)
    smooth = DIM**1.5 * T**1.5 * R**13 * g**4
    assert conditions.printed_corollary_smoothness(START, T, DIM, R, K) == pytest.approx(smooth)
    loss, gap = conditions.corollary_bounds(START, 0.3, K, 20)
    assert loss == pytest.approx(2 / K + 5 * far**2 / (4 * 0.3 * K), rel=1e-12)
    assert gap == pytest.approx(4 / 20 * (2 + 9 * far**2 / (4 * 0.3)), rel=1e-12)
    # Proposition 7: the curvature along the way may cost B_Phi at most.
    needed = (three(1.5 + far / math.sqrt(H), False) * far**2 / (2 * 1.25)) ** 2
    found = conditions.realisable_heads(START, T, DIM, R, H, 1 / K)
    assert found == pytest.approx(needed, rel=1e-12)
