"""Every row of `attnlab bounds deora2023`, written out once more in plain floats."""

import math

import pytest

from attnlab.papers.deora2023.settings import BoundsSettings
from attnlab.papers.deora2023.theory.table import rows

NOISY = BoundsSettings(
    T=5, d=9, M=3, n=70.0, n1=1e9, S=1.7, zeta=0.4, Z_mu=0.03, Z_nu=0.02, Z=0.9, H=1e7, K=60.0,
    eta=1e-3, delta=0.05, epsilon=0.2,
)  # fmt: skip
CLEAN = BoundsSettings(T=4, d=6, M=2, n=30.0, n1=1e8, S=0.6, zeta=0.25, H=500.0, K=20.0, eta=2.0)
FIRST = {"corrected": 18.0, "sharp": 169 / 24, "symmetric": 169 / 24}
TIGHT = (17 / 2 + 13 / 6 * math.log(2)) / math.log(2)
SECOND = {"corrected": 72.0, "sharp": TIGHT, "symmetric": TIGHT}


def beta_1(x, R, m, sharp=False):
    return math.sqrt(x.T) * R * (math.sqrt(R**4 * m**2 + 1) if sharp else 2 * R**2 * m + 1)


def beta_3(x, R, m, variant):
    if variant == "sharp":
        return math.sqrt(x.T) * R**3 * (2 * R**2 * m + 1)
    size = math.sqrt(x.T) * x.d if variant == "printed" else math.sqrt(x.T * x.d)
    return 2 * size * R**3 * (3 * math.sqrt(x.d) * R**2 * m + 1)


def longest(x):
    return max(1.0, math.sqrt(x.S**2 + x.Z**2 + 2 * x.Z_nu / x.M))


def what_phase_1_leaves(x):
    return longest(x) / (2 * math.sqrt(x.n1)) * (1 + math.sqrt(2 * math.log(1 / x.delta)))


def margin_terms(x):
    bar = max(x.Z_mu, x.Z_nu)
    bracket = x.zeta * x.S**4 - 7 * bar * x.S**2 - 12 * bar**2 - 16 * bar**3 / x.S**2
    first = x.T * (1 - x.zeta) * x.zeta * bracket / (4 * math.sqrt(2 * (x.M + 1)))
    second = what_phase_1_leaves(x) * x.T**2.5 * (x.S + x.Z) ** 3
    third = x.S * math.sqrt(x.T / 2) * (x.zeta - 2 * (1 - x.zeta) * x.Z_mu / x.S**2)
    return first, second, third


def test_margins_and_phase_1():
    for x in (NOISY, CLEAN):
        first, second, third = margin_terms(x)
        epsilon = x.epsilon
        needed = math.log((1 / x.zeta - 1) / epsilon)
        printed = (2 * x.S + x.Z) * math.sqrt(1 / x.n1)
        printed *= math.sqrt(x.d) + math.sqrt(math.log(1 / x.delta))
        attention = math.sqrt(x.T / 2) * x.S
        expected = {
            "assumption_3.R": longest(x),
            "lemma_2.P": what_phase_1_leaves(x),
            "lemma_2.P_printed": printed,
            "lemma_2.coefficient": x.zeta / 4,
            "margins.gamma_lin": third,
            "margins.gamma_lin_fixed": x.S * math.sqrt(x.zeta * x.T / 2),
            "margins.attention_term": first,
            "margins.gamma_star": first - second + third,
            "margins.gamma_star_P0": first + third,
            "margins.gamma_attn": attention,
            "proposition_3.gamma_attn": attention * (1 - epsilon - 2 * epsilon * x.Z_mu / x.S**2),
            "proposition_3.Gamma": 8 * math.sqrt(2 * (x.M + 1)) / (3 * x.S**2) * needed,
            "proposition_3.Gamma_section_7": 8 * math.sqrt(2 * (x.M + 1)) / (3 * x.S) * needed,
            "proposition_3.noise": max(x.Z_mu, x.Z_nu),
            "margins.order": x.S,
        }
        table = {row.name: row for row in rows(x)}
        assert {name: table[name].value for name in expected} == pytest.approx(expected, rel=1e-12)
        edge = (4 * math.sqrt(x.M + 1) / (x.zeta**2 * math.sqrt(x.T))) ** (1 / 3)
        assert table["margins.order"].threshold == pytest.approx(edge, rel=1e-12)
        assert table["margins.order"].met == (edge >= x.S)
        assert table["lemma_2.P_printed"].constant == "unknown"
        assert table["section_5_3.feasible"].value == 0
    noise = {row.name: row for row in rows(NOISY)}["proposition_3.noise"]
    assert noise.threshold == pytest.approx(1.7**2 / 8)
    assert noise.met


def test_noise_beyond_an_eighth_is_short_by_its_factor():
    loud = BoundsSettings(S=0.5, Z_mu=0.05, Z_nu=0.05, Z=0.3, n1=1e12)
    row = {row.name: row for row in rows(loud)}["proposition_3.noise"]
    assert row.met is False
    assert row.meaning.endswith("short by a factor of 1.6")


def starts(x):
    """Both chains' B_2, B_Phi and gamma."""
    first, second, third = margin_terms(x)
    P, R = what_phase_1_leaves(x), longest(x)
    B_2 = max(1, math.sqrt(x.T) * (x.S + P))
    B_Phi = max(1, x.T * R * (x.S + P) * math.sqrt(2 * math.log(x.n / x.delta)))
    own = math.sqrt(x.T) * x.zeta / 4 * math.sqrt(2) * x.S
    return {
        "proposition_2": (B_2, B_Phi, (first - second + third) / 2),
        "instance": (own, 0.0, first + third),
    }


@pytest.mark.parametrize("x", [NOISY, CLEAN])
def test_proposition_2(x):
    table = {row.name: row for row in rows(x)}
    B_2, B_Phi, gamma = starts(x)["proposition_2"]
    assert table["proposition_2.B_2"].value == pytest.approx(B_2, rel=1e-12)
    assert table["proposition_2.B_Phi"].value == pytest.approx(B_Phi, rel=1e-12)
    assert table["proposition_2.gamma"].value == pytest.approx(gamma, rel=1e-9)
    assert (table["proposition_2.gamma"].threshold, table["proposition_2.gamma"].met) == (0, True)
    needed = longest(x) ** 4 * x.T * (x.S + what_phase_1_leaves(x)) / (2 * gamma)
    needed *= math.sqrt(2 * math.log(x.n / x.delta))
    heads = table["proposition_2.heads"]
    assert (heads.value, heads.constant, heads.met) == (x.H, "unknown", None)
    assert heads.threshold == pytest.approx(needed**2, rel=1e-9)
    assert heads.meaning.endswith(f"(quotient {x.H / needed**2:.3g})")


@pytest.mark.parametrize("x", [NOISY, CLEAN])
@pytest.mark.parametrize("chain", ["proposition_2", "instance"])
def test_corollary_2_and_what_is_printed(x, chain):
    table = {row.name.removeprefix(f"{chain}."): row for row in rows(x)}
    B_2, B_Phi, gamma = starts(x)[chain]
    R = longest(x)
    g = (2 * B_Phi + math.log(x.K)) / gamma
    far = math.sqrt(2) * g
    # Definition 1 has both bounds at least 1, and (3) takes norms and distances for at least 1.
    full = (2 * max(B_Phi, 1) + math.log(x.K)) / gamma
    m = B_2 + far / math.sqrt(x.H)
    values = {
        "g_0": far,
        "g_0_printed": g,
        "corollary_2.loss": 2 / x.K + 5 * far**2 / (4 * x.eta * x.K),
        "corollary_2.gap": 4 / x.n * (2 + 9 * far**2 / (4 * x.eta)),
    }
    assert {name: table[name].value for name in values} == pytest.approx(values, rel=1e-9)
    size = x.d * math.sqrt(x.T) * R**5
    heads = (size * max(B_2, 1) ** 2 * full**3) ** 2
    printed = (size * max(m, 1) * max(far, 1) ** 3) ** 2
    rho = x.d**1.5 * x.T**1.5 * R**13
    thresholds = {
        "corollary_2.heads_printed": heads,
        "theorem_1.heads_printed": printed,
        "theorem_1.step_printed": 1 / (rho * max(m, 1) ** 2 * max(far, 1) ** 2),
        "corollary_2.step_printed": 1 / (rho * full**4),
    }
    found = {name: table[name].threshold for name in thresholds}
    assert found == pytest.approx(thresholds, rel=1e-8)
    for name in thresholds:
        assert table[name].constant == "unknown"
        assert table[name].value == (x.H if "heads" in name else x.eta)
    if chain == "proposition_2":
        needed = (beta_3(x, R, m, "corrected") * far**2 / (2 * B_Phi)) ** 2
        assert table["proposition_7.heads"].threshold == pytest.approx(needed, rel=1e-8)
        assert table["proposition_7.heads"].met == (needed <= x.H)


@pytest.mark.parametrize("x", [NOISY, CLEAN])
@pytest.mark.parametrize("chain", ["proposition_2", "instance"])
@pytest.mark.parametrize("proof", ["corrected", "sharp", "symmetric"])
def test_theorems_1_and_2(x, chain, proof):
    table = {row.name.removeprefix(f"{chain}."): row for row in rows(x)}
    B_2, B_Phi, gamma = starts(x)[chain]
    R, root = longest(x), math.sqrt(x.H)
    D = math.sqrt(2) * (2 * B_Phi + math.log(x.K)) / gamma
    m = B_2 + D / root
    reach = m + 3 * D / (math.sqrt(x.H / 2) if proof == "symmetric" else 1)
    sharp = "corrected" if proof == "corrected" else "sharp"
    three, one = beta_3(x, R, reach, sharp), beta_1(x, R, reach, sharp == "sharp")
    if proof == "corrected":
        alpha = 3 * math.sqrt(x.d) * R**2
        alpha *= 3 * math.sqrt(x.T) * R**3 * (3 * D + m) + 2 * math.sqrt(x.T) * R
        rho = (2 * math.sqrt(x.T * x.d) * R**3 / root + x.T * R**2 / 4) * alpha**2
        rhos = (rho, rho)
    else:
        two = three / root + one**2 / 4
        rhos = (two, max(two, one**2))
    start_loss = math.log1p(math.exp(-B_Phi)) + B_Phi
    steps = [min(1, 1 / rho, D**2, D**2 / start_loss) for rho in rhos]
    for theorem, constants, limit in ((1, FIRST, steps[0]), (2, SECOND, steps[1])):
        heads = table[f"theorem_{theorem}.heads_{proof}"]
        needed = (constants[proof] * three * D**2) ** 2
        assert heads.threshold == pytest.approx(needed, rel=1e-8)
        assert (heads.value, heads.met) == (x.H, needed <= x.H)
        step = table[f"theorem_{theorem}.step_{proof}"]
        assert step.threshold == pytest.approx(limit, rel=1e-8)
        assert (step.value, step.met) == (x.eta, x.eta <= limit)
        if not step.met:
            assert step.meaning.endswith(f"short by a factor of {x.eta / limit:.3g}")
    first, second = (min(x.eta, limit) for limit in steps)
    loss = 2 / x.K + 5 * D**2 / (4 * first * x.K)
    gap = 4 / x.n * (2 + 9 * D**2 / (4 * second))
    values = {
        f"theorem_1.loss_{proof}": loss,
        f"theorem_2.gap_{proof}": gap,
        f"theorem_2.samples_{proof}": x.n * gap / math.log(2),
    }
    assert {name: table[name].value for name in values} == pytest.approx(values, rel=1e-8)


@pytest.mark.parametrize("x", [NOISY, CLEAN])
@pytest.mark.parametrize("variant", ["printed", "corrected", "sharp"])
def test_smoothness(x, variant):
    table = {row.name: row.value for row in rows(x)}
    R, m = longest(x), math.sqrt(x.T) * x.zeta / 4 * math.sqrt(2) * x.S
    sharp = variant == "sharp"
    one, three = beta_1(x, R, m, sharp), beta_3(x, R, m, variant)
    decoded = math.sqrt(x.T) * R * m
    if sharp:
        gradient = math.hypot(R**2 * decoded, math.sqrt(x.T) * R)
        hessian = 2 * R**4 * decoded + math.sqrt(x.T) * R**3
    else:
        gradient = 2 * R**2 * decoded + math.sqrt(x.T) * R
        hessian = 6 * x.d * R**4 * decoded + 2 * math.sqrt(x.T * x.d) * R**3
    expected = {
        "corollary_1.m": m,
        f"corollary_1.beta_1_{variant}": one,
        f"corollary_1.beta_2_{variant}": three / math.sqrt(x.H) + one**2 / 4,
        f"corollary_1.beta_3_{variant}": three,
        f"proposition_4.radius_{variant}": math.sqrt(math.sqrt(x.H) / (2 * three)),
        f"proposition_1.gradient_{variant}": gradient,
        f"proposition_1.hessian_{variant}": hessian,
        "corollary_1.beta_1_pooled": x.T * R * (2 * R**2 * m + 1),
    }
    assert {name: table[name] for name in expected} == pytest.approx(expected, rel=1e-12)


def test_without_a_margin_the_chains_stop():
    table = {row.name: row for row in rows(BoundsSettings(n1=10.0))}
    gamma = table["proposition_2.gamma"]
    assert gamma.value < 0
    assert (gamma.threshold, gamma.met) == (0, False)
    first, second, third = margin_terms(BoundsSettings(n1=10.0))
    assert gamma.value == pytest.approx((first - second + third) / 2)
    assert "instance.g_0" in table
    noisy = BoundsSettings(n1=10.0, S=0.5, zeta=0.25, Z_mu=0.4, Z_nu=0.4, Z=2.0)
    assert not any(row.name.startswith("instance.") for row in rows(noisy))


def test_powers_of_ten_of_what_no_float_holds():
    """S = 1e40: beta_3 as printed is 2 sqrt(T) d R^3 3 sqrt(d) R^2 m, in logarithms."""
    x = BoundsSettings(S=1e40, n1=1e12, H=1e6)
    gap = {row.name: row for row in rows(x)}["proposition_1.hessian_printed"]
    m = 0.5 + math.log10(0.5 * math.sqrt(4) * math.sqrt(2) / 4) + 40 - 0.5
    power = math.log10(6 * 8 * math.sqrt(4)) + 5 * 40 + m
    assert math.isfinite(gap.value)
    assert math.log10(gap.value) == pytest.approx(power, abs=0.01)
    huge = {row.name: row for row in rows(BoundsSettings(S=1e70, n1=1e12))}
    row = huge["proposition_1.hessian_printed"]
    assert math.isinf(row.value)
    assert row.meaning.endswith(f"[10^{power + 6 * 30:.1f}]")
