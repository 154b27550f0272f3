"""Every condition and every row of the bounds table, again in 30 digits."""

import dataclasses
import math

import mpmath as mp
import numpy as np
import pytest

from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.theory import conditions
from attnlab.papers.li2023.theory.bounds import BoundsSettings, bounds
from attnlab.papers.li2023.theory.conditions import TheoremSizes

mp.mp.dps = 30
GIVEN = {
    "alpha_star": 0.45,
    "alpha_sharp": 0.12,
    "sigma": 0.07,
    "delta": 0.21,
    "tau": 0.05,
    "M": 6,
    "m": 2500,
    "N": 300,
    "B": 25,
}
SIZES = TheoremSizes(**GIVEN)
A, C, S, D, TAU = (
    mp.mpf(repr(GIVEN[name])) for name in ("alpha_star", "alpha_sharp", "sigma", "delta", "tau")
)
EPSILON = 6 * mp.sqrt(mp.log(300) / 2500)
SHARE = 1 - EPSILON - (S + TAU) * 6 / mp.pi
EXACT = {
    "fraction": C / (mp.mpf("0.5") * mp.exp(-(D + TAU)) * (1 - S - TAU)),
    "batch": (A - mp.exp(-(D + TAU)) * (TAU + S)) ** -2,
    "samples": (A - S - TAU) ** -2,
    "alone": (A * (A - S - TAU)) ** -2,
    "lucky": mp.mpf(2500) / 6 * SHARE,
    "iterations": 1 / (SHARE * mp.mpf("0.02") * A),
}


def close(value: float, exact) -> bool:
    return value == pytest.approx(float(exact), rel=1e-12)


def test_every_condition_is_its_formula():
    assert close(SIZES.error, S + TAU)
    assert close(conditions.least_relevant_fraction(SIZES), EXACT["fraction"])
    assert close(conditions.least_relevant_fraction(SIZES, 0.2), EXACT["fraction"] * 5 / 2)
    assert close(conditions.least_batch(SIZES), EXACT["batch"])
    assert close(conditions.least_samples(SIZES), EXACT["samples"])
    assert close(conditions.least_samples(SIZES, 3.0), (A - 3 * (S + TAU)) ** -2)
    assert close(conditions.least_samples_without_attention(SIZES), EXACT["alone"])
    assert close(conditions.least_epsilon(SIZES), EPSILON)
    assert close(conditions.lucky_share(SIZES), SHARE)
    assert close(conditions.lucky_bound(SIZES), EXACT["lucky"])
    assert close(conditions.iterations(SIZES, 0.02), EXACT["iterations"])


def test_where_a_condition_cannot_be_met_it_is_infinite():
    def at(**changes) -> TheoremSizes:
        return dataclasses.replace(SIZES, **changes)

    assert conditions.least_relevant_fraction(at(sigma=0.75, tau=0.25)) == math.inf
    assert conditions.least_relevant_fraction(at(sigma=0.7, tau=0.25)) < math.inf
    assert conditions.least_samples(at(alpha_star=0.75, sigma=0.5, tau=0.25)) == math.inf
    assert conditions.least_samples_without_attention(at(alpha_star=0.05)) == math.inf
    # Beyond the edge too, although the square of a negative number would be positive.
    assert conditions.least_samples(at(alpha_star=0.1)) == math.inf
    assert conditions.least_batch(at(alpha_star=0.01)) == math.inf
    assert conditions.iterations(at(m=1), 0.02) == math.inf


def test_definition_1_token_by_token():
    """A softmax over 20 relevant tokens of score q^2 -+ e q and 30 others of score 0."""
    q, e = np.array([0.3, 1.2]), 0.26
    phi, nu, p = conditions.stated_attention(q, 20.0, 50.0, e)
    for k, size in enumerate(q):
        low, high = (mp.exp(mp.mpf(float(size)) ** 2 + s * e * float(size)) for s in (-1, 1))
        assert close(phi[k], 1 / (20 * high + 30))
        assert close(nu[k], 1 / (20 * low + 30))
        assert close(p[k], 20 * low / (20 * low + 30))


def test_the_noise_of_a_token():
    cell = TrainingSettings(c0=0.02, d=25)
    assert close(conditions.token_noise(cell), mp.mpf("0.1"))
    # P(chi2_25 <= x) = .99 by the incomplete gamma function.
    quantile = mp.mpf(conditions.noise_quantile(cell) / 0.02) ** 2
    assert close(mp.gammainc(12.5, 0, quantile / 2, regularized=True), mp.mpf("0.99"))
    median = mp.mpf(conditions.noise_quantile(cell, 0.5) / 0.02) ** 2
    assert close(mp.gammainc(12.5, 0, median / 2, regularized=True), mp.mpf("0.5"))


def test_the_sizes_of_a_cell():
    cell = TrainingSettings(
        alpha_star=0.4, alpha_sharp=0.1, sigma=0.03, delta=0.04, c0=0.01, d=16, M=5, m=70, N=90,
        B=11, m_a=8, m_b=9,
    )  # fmt: skip
    assert conditions.sizes_of(cell) == TheoremSizes(0.4, 0.1, 0.03, 0.04, 0.04, 5, 70, 90, 11)


def rows_of(**changes):
    given = BoundsSettings(**{**GIVEN, "eta": 0.02, **changes})
    return {row.name: row for row in bounds(given)}


def test_every_row_of_the_table():
    quarter = mp.sqrt(2) / 4
    tilt = mp.exp(1 - D - TAU)
    one = A * tilt + 1 - A
    expected = {
        "(5)": (TAU, quarter, True),
        "theorem_1.noise": (TAU, S, True),
        "assumption_1.sigma": (S, mp.mpf(1) / 6, None),
        "assumption_1.delta": (D, mp.mpf("0.5"), True),
        "(8)": (A, EXACT["fraction"], True),
        "(9)": (25, EXACT["batch"], None),
        "(10)": (300, EXACT["samples"], None),
        "(11)": (EXACT["iterations"], None, None),
        "(13)": (300, EXACT["alone"], None),
        "remark_1": (EXACT["alone"] / EXACT["samples"], None, None),
        "width": (EPSILON, 1, True),
        "lemma_3": (EXACT["lucky"], 0, True),
        "definition_1.p": (A * tilt / one, None, None),
        "definition_1.nu": (1 / one, None, None),
    }
    rows = rows_of()
    assert list(rows) == list(expected)
    for name, (value, bound, met) in expected.items():
        row = rows[name]
        assert close(row.value, value), name
        assert row.threshold is None if bound is None else close(row.threshold, bound), name
        assert row.met is met, name
        assert row.constant in ("given", "unknown")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"tau": 0.36}, "(5)"),
        ({"tau": 0.08}, "theorem_1.noise"),
        ({"tau": 0.22, "sigma": 0.5}, "theorem_1.noise"),
        ({"delta": 0.5}, "assumption_1.delta"),
        ({"alpha_sharp": 0.2}, "(8)"),
        ({"m": 200}, "width"),
        ({"m": 200}, "lemma_3"),
    ],
)
def test_a_row_that_is_not_met_says_so(changes, name):
    assert rows_of(**changes)[name].met is False


def test_noise_at_the_smaller_error_is_still_met():
    assert rows_of(tau=0.07)["theorem_1.noise"].met is True


# --- hypotheses at the worst of several cells -------------------------------------------------

GOOD = TrainingSettings(
    alpha_star=0.5, alpha_sharp=0.05, sigma=0.03, delta=0.1, c0=0.004, d=20, M=5, m=20_000, N=300,
    B=30, m_a=20, m_b=20,
)  # fmt: skip
BAD = dataclasses.replace(
    GOOD, alpha_star=0.3, alpha_sharp=0.2, sigma=0.25, delta=0.6, c0=0.15, m=20, N=4, B=2, m_a=5,
    m_b=6, sigma_as="scale",
)  # fmt: skip


def test_every_hypothesis_is_taken_at_its_worst_cell_whatever_the_order():
    s = conditions.sizes_of(BAD)
    expected = {
        "(8) with eps_S = 1/2": (0.3, conditions.least_relevant_fraction(s), ">="),
        "Assumption 1: error of the first values": (5.25, 0.25, "<="),
        "Assumption 1: norms of the first maps": (6.25, 1.0, "<="),
        "(5) tau <= kappa/4, .99 quantile": (
            conditions.noise_quantile(BAD), math.sqrt(2) / 4, "<="),
        "tau <= min(sigma, delta)": (0.15 * math.sqrt(20), 0.25, "<="),
        "delta <= 1/2": (0.6, 0.5, "<="),
        "sigma = O(1/M)": (0.25, 0.2, "<="),
        "(9) batch size": (2, conditions.least_batch(s), ">="),
        "(10) samples": (4, conditions.least_samples(s), ">="),
        "width: m >= M^2 log N": (20, 25 * math.log(4), ">="),
        "M < m_a, m_b": (5, 4, "<="),
    }  # fmt: skip
    for cells in ([GOOD, BAD], [BAD, GOOD, BAD]):
        rows = conditions.hypotheses(cells)
        assert {row.name for row in rows} == set(expected)
        for row in rows:
            value, bound, relation = expected[row.name]
            assert row.value == pytest.approx(value), row.name
            assert row.threshold == pytest.approx(bound), row.name
            assert row.relation == relation, row.name
    assert all(row.met is not False for row in conditions.hypotheses([GOOD]))
    assert len(conditions.hypotheses([GOOD], with_8=False)) == len(expected) - 1


def test_the_width_of_a_single_sample_is_that_of_two():
    lone = dataclasses.replace(GOOD, N=1)
    rows = {row.name: row for row in conditions.hypotheses([lone])}
    assert rows["width: m >= M^2 log N"].threshold == pytest.approx(25 * math.log(2))
