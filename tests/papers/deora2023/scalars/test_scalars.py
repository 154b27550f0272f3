"""The scalars that claims read off records, each once more by hand on a made-up record."""

import math

import numpy as np
import pytest

from attnlab.core import Record
from attnlab.papers.deora2023.scalars.curvature import (
    DESCENT,
    EXPANSION_OVER_SMOOTH,
    LEMMA_3_OVER_START,
    OVERSHOOT,
    REGRET_OVER_START,
    RISE,
    SELF_BOUNDED,
    WEAK_OVER_SMOOTH,
    WEAK_OVER_SMOOTH_PAIR,
    WEAK_OVER_SMOOTH_TRAINED,
    closeness_of_left_out,
    step_times_smoothness,
    step_times_smoothness_at_target,
)
from attnlab.papers.deora2023.scalars.margins import (
    ATTENTION_MINUS_STAR,
    ATTENTION_MINUS_TWO_STAR,
    FLATTENING,
    HALF_STAR_SPARED,
    LINEAR_GAP_GROWS,
    LINEAR_GAP_SHRINKS,
    MASS_OVER_UNIFORM,
    STAR_GAP_SHRINKS,
    STAR_MINUS_LINEAR,
    STAR_MINUS_TWO_LINEAR,
    STAR_OVER_LINEAR_SHRINKS,
    WRONG_LINEAR_RULE,
    WRONG_ORDER_RULE,
    in_order,
    shortfalls,
)
from attnlab.papers.deora2023.scalars.promises import (
    COROLLARY,
    COROLLARY_PROMISE,
    EPSILON_OVER_START,
    HEADS_ASKED,
    LOSS_OF_TARGET,
    PROMISED_DISTANCE,
    PROMISED_GAP,
    PROMISED_LOSS,
    PROMISED_STABILITY,
    WITHOUT_DISTANCE,
)
from attnlab.papers.deora2023.scalars.words import quotient, scalar
from attnlab.papers.deora2023.settings import (
    ExpressivitySettings,
    InitialisationSettings,
    MixtureSettings,
    TrainingSettings,
)

T, DIM, R, D, M, H, K, N = 4, 8, 1.0, 2.5, 0.35, 1e6, 100, 48
NUMBERS = {
    "target_R": R, "target_H": H, "target_D": D, "target_m": M, "target_loss": 0.02,
    "target_start_loss": 0.7, "target_K": float(K), "target_least_count": 4e5, "eta": 0.3,
    "tangent_margin": 0.8, "last_loss": 0.11, "mean_loss": 0.25, "equation_17": 0.4,
    "equation_16_corrected": -0.2, "lipschitz": 3.0, "mean_apart": 0.01, "growth": 1.2,
    "expansion": 1.01, "equation_19_corrected": 0.9, "decoder_norm": np.array([0.3, 0.5, 0.4]),
    "times": np.array([0.0, 1, 2, 5, 6]), "loss": np.array([1.0, 0.9, 0.85, 0.5, 0.49]),
    "gradient_norm": np.array([1.0, 0.8, 0.7, 0.6, 0.5]),
    "gamma_attention": 1.9, "gamma_star": 1.3, "gamma_linear": 1.1, "along_theta_star": 1.5,
    "target_loss_over_epsilon": 0.3, "loss_bound": 0.44, "gap_bound": 0.13, "stability_bound": 0.6,
    "start_output": 0.4, "moved_by_descent": 25.0, "overshoot_over_D": 0.6,
    "self_bounded_growth": 2.0, "weak_over_smooth_corrected": 0.3,
}  # fmt: skip


def record(cell=None, **values) -> Record:
    return Record("deora2023.paths", cell or TrainingSettings(H=H), 0, {**NUMBERS, **values})


def beta_1(m: float) -> float:
    return math.sqrt(T) * R * (2 * R**2 * m + 1)


def beta_3(m: float) -> float:
    return 2 * math.sqrt(T * DIM) * R**3 * (3 * math.sqrt(DIM) * R**2 * m + 1)


def beta_2(m: float, heads: float = H) -> float:
    return beta_3(m) / math.sqrt(heads) + beta_1(m) ** 2 / 4


def same(scalar, expected: float, **values) -> None:
    assert scalar.of(record(**values)) == pytest.approx(expected, rel=1e-12)


def test_what_the_theorems_promise():
    same(PROMISED_LOSS, 0.44 / 0.7)
    same(PROMISED_GAP, 0.13 / 0.7)
    same(PROMISED_STABILITY, 0.6 / (8 * D))
    same(PROMISED_DISTANCE, 4 * D / 25)
    same(HEADS_ASKED, (18 * beta_3(M + 3 * D) * D**2) ** 2)


@pytest.mark.parametrize(("output", "B"), [(0.4, 1.0), (1.7, 1.7)])
def test_corollary_2(output, B):
    g = (2 * B + math.log(K)) / 0.8
    bound = 2 / K + 5 * g**2 / (4 * 0.3 * K)
    same(COROLLARY, 0.11 / bound, start_output=output)
    same(COROLLARY_PROMISE, bound / 0.7, start_output=output)
    same(WITHOUT_DISTANCE, 0.11 / (2 / K))


def test_what_curvature_alone_would_say():
    same(WEAK_OVER_SMOOTH, beta_3(M) / math.sqrt(H) * 0.7 / beta_2(M))
    same(WEAK_OVER_SMOOTH_TRAINED, beta_3(0.4) / math.sqrt(H) * 0.11 / beta_2(0.4))
    same(EXPANSION_OVER_SMOOTH, 1.01 / 0.9 / (1 + 0.3 * beta_2(M)))
    same(OVERSHOOT, 0.2)
    same(SELF_BOUNDED, 2 / 3)
    same(WEAK_OVER_SMOOTH_PAIR, 0.3)
    same(REGRET_OVER_START, 0.25 / 0.4 / 0.7)
    same(LEMMA_3_OVER_START, 2 * 3.0 * 0.01 / 0.7)
    assert step_times_smoothness(record()) == pytest.approx(0.3 * beta_2(0.5))
    at_target = step_times_smoothness_at_target(record())
    assert at_target == pytest.approx(0.3 * beta_2(M))
    close = 2 * beta_3(M) * (N * 0.01) ** 2 / math.sqrt(H)
    assert closeness_of_left_out(record()) == pytest.approx(close)


def test_a_trained_run_has_its_own_number_of_heads():
    cell = TrainingSettings(H=100.0)
    expected = beta_3(0.4) / 10 * 0.11 / beta_2(0.4, 100.0)
    found = WEAK_OVER_SMOOTH_TRAINED.of(record(cell))
    assert found == pytest.approx(expected)


def test_the_rise_of_a_segment():
    assert RISE.of(record(growth=1.2)) == pytest.approx(0.2)


def test_descent_over_single_steps():
    steps = [(1.0, 0.9, 1.0), (0.9, 0.85, 0.8), (0.5, 0.49, 0.6)]
    worst = min((a - b) / (0.3 / 2 * slope**2) for a, b, slope in steps)
    same(DESCENT, worst)
    assert worst == pytest.approx(0.01 / (0.15 * 0.36))


def test_margins_and_their_differences():
    same(HALF_STAR_SPARED, 1.5 - 0.65)
    same(ATTENTION_MINUS_STAR, 0.6)
    same(ATTENTION_MINUS_TWO_STAR, 1.9 - 2.6)
    same(STAR_MINUS_LINEAR, 0.2)
    same(STAR_MINUS_TWO_LINEAR, 1.3 - 2.2)
    same(LOSS_OF_TARGET, 0.3)
    assert WRONG_LINEAR_RULE.of(record()) == 0
    assert WRONG_LINEAR_RULE.of(record(gamma_star=1.0)) == 1
    assert WRONG_LINEAR_RULE.of(record(gamma_star=1.1)) == 0
    assert quotient("gamma_star", "gamma_linear", "q").of(record()) == 1.3 / 1.1


@pytest.mark.parametrize("S", [0.5, 2.4, 2.41, 3.81, 3.82, 6.0])
def test_the_wrong_rule_is_wrong_between_the_two_edges(S):
    """T = 4, M = 2, zeta = 1/4: the edges are S^3 = 8 sqrt(3) = 13.86, and 55.43 by the square."""
    cell = MixtureSettings(T=4, d=8, M=2, zeta=0.25, S=S)
    found = WRONG_ORDER_RULE.of(record(cell))
    assert found == float(8 * math.sqrt(3) < S**3 <= 32 * math.sqrt(3))


def test_the_edges_belong_to_the_rules():
    """S = 2 is the first rule's own edge at zeta = 1/2 and S = 4 the square's at 1/4 (M = 3)."""
    first = MixtureSettings(T=4, d=8, M=3, zeta=0.5, S=2.0)
    assert WRONG_ORDER_RULE.of(record(first)) == 0
    second = MixtureSettings(T=4, d=8, M=3, zeta=0.25, S=4.0)
    assert WRONG_ORDER_RULE.of(record(second)) == 1


def gaps(S: float, k: int, T: int = 10, M: int = 4, Z: float = 0.02) -> tuple[float, float, float]:
    """gamma_attn minus gamma_lin and minus gamma_*, and gamma_* minus gamma_lin, from the print."""
    zeta = k / T
    attention = S * math.sqrt(T / 2)
    linear = attention * (zeta - 2 * (1 - zeta) * Z / S**2)
    bracket = zeta * S**4 - 7 * Z * S**2 - 12 * Z**2 - 16 * Z**3 / S**2
    star = linear + T * (1 - zeta) * zeta * bracket / (4 * math.sqrt(2 * (M + 1)))
    return attention - linear, attention - star, star - linear


@pytest.mark.parametrize("S", [0.5, 1.0, 2.0, 4.0])
@pytest.mark.parametrize("k", [1, 5, 8, 9])
def test_gaps_of_margins_with_one_more_relevant_place(S, k):
    cell = MixtureSettings(T=10, d=8, M=4, S=S, zeta=k / 10, Z_mu=0.02, Z_nu=0.02, Z=0.2, n=1)
    low = min(k, 8)
    before, after = gaps(S, low), gaps(S, low + 1)
    for shrinks, a, b in zip(
        (LINEAR_GAP_SHRINKS, STAR_GAP_SHRINKS, STAR_OVER_LINEAR_SHRINKS), before, after, strict=True
    ):
        assert shrinks.of(record(cell)) == pytest.approx(a - b, rel=1e-9)
    assert LINEAR_GAP_GROWS.of(record(cell)) == pytest.approx(after[0] - before[0], rel=1e-9)
    assert in_order(cell) == (before[1] >= 0 and after[1] >= 0)


def test_how_the_exponent_of_a_shortfall_changes():
    """A margin of gamma_attn (1 - K^-a) has exponent -a; here a is 0.2, then 0.1."""
    cell = TrainingSettings(K=10_000)
    times = np.array([0.0, 100, 1000, 10_000])
    short = np.array([1.0, 0.5, 0.5 * 10**-0.2, 0.5 * 10**-0.3])
    values = {"times": times, "decoder_margin": 3.0 * (1 - short)}
    last = {"last_decoder_margin": 3.0 * (1 - short[-1]), "margin_over_attention": 1 - short[-1]}
    assert FLATTENING.of(record(cell, **values, **last)) == pytest.approx(0.1)
    between = shortfalls(record(cell, **values, **last), 10**2.5)
    assert between == pytest.approx(0.5 * 10**-0.1)


def test_sizes_of_epsilon():
    start = record(InitialisationSettings(epsilon=0.02))
    assert EPSILON_OVER_START.of(start) == pytest.approx(0.02 / math.log(2))
    attending = record(ExpressivitySettings(epsilon=0.1, zeta=0.25))
    assert MASS_OVER_UNIFORM.of(attending) == pytest.approx(0.1 / 0.75)


def test_a_stored_value_has_its_name_in_words():
    found = scalar("last_loss")
    assert found.of(record()) == 0.11
    assert found.name == "last loss"
