"""Scalars of neurons and features, number by number on records made by hand."""

import math
from dataclasses import replace

import mpmath as mp
import numpy as np
import pytest

from attnlab.core import Record, Records
from attnlab.papers.li2023.scalars import neurons
from attnlab.papers.li2023.studies import designs
from attnlab.papers.li2023.studies.engine_choice import resolve
from attnlab.papers.li2023.theory.conditions import lucky_bound, sizes_of, token_noise

CELL = resolve(designs.DYNAMICS)
TIMES = np.array([0.0, 1.0, 2.0, 4.0, 8.0])


def of(scalar, cell=CELL, **values) -> float:
    return scalar.of(Record("li2023.dynamics", cell, 0, {"times": TIMES, **values}))


def test_sizes_over_xi_and_growth() -> None:
    series = np.array([2.0, 3.0, 5.0, 7.0, 11.0])
    assert of(neurons.OWN_GROWTH, lucky_along_own=series) == 5.5
    for scalar, name in (
        (neurons.OWN_SIZE, "lucky_along_own"),
        (neurons.OTHERS_SIZE, "lucky_along_others"),
        (neurons.UNLUCKY_SIZE, "unlucky_along"),
    ):
        assert of(scalar, **{name: series}) == pytest.approx(11.0 / CELL.xi)


def test_coefficients_at_half_of_the_training() -> None:
    """Half of 8 steps is step 4, the fourth record."""
    shares = np.array([0.1, 0.2, 0.3, 0.4, 0.5])
    assert of(neurons.NEGATIVE, lucky_V_negative=shares) == 0.4
    assert of(neurons.SIGNED_NEGATIVE, signed_V_negative=shares) == 0.4
    least = np.array([0.0, -0.3, -0.1, -0.2, 0.1])
    assert of(neurons.UNLUCKY_V, unlucky_V_least=least) == pytest.approx(-0.3 * CELL.B**0.5)
    assert of(neurons.UNLUCKY_V_WITHOUT_B, unlucky_V_least=least) == pytest.approx(-0.3 * CELL.B)
    assert of(neurons.UNLUCKY_BOUND) == pytest.approx(CELL.B**-0.5)


def test_growth_by_pattern_leaves_out_the_padding() -> None:
    """Of keys twofold and queries threefold at mu_1; padding beyond M is nan."""
    first = np.append(np.full(CELL.M, 2.0), np.nan)
    last = np.append(2.0 * np.array([2, 5, 1, 1, 4][: CELL.M]), np.nan)
    keys = np.stack([first, first, first, first, last])
    queries = np.stack([first, first, first, first, 3 * first])
    arguments = {"key_norm": keys, "query_norm": queries}
    assert CELL.M == 5
    assert of(neurons.LEAST_FEATURE_GROWTH, **arguments) == 2
    assert of(neurons.OTHER_FEATURE_GROWTH, **arguments) == pytest.approx((1 + 1 + 4 + 9) / 6)
    assert of(neurons.AHEAD, **arguments) == pytest.approx((2 + 5 + 3 + 3) / 4 / (15 / 6))
    assert of(neurons.VALUE_GROWTH, value_along=keys) == 2
    assert of(neurons.OTHER_VALUE_GROWTH, value_along=keys) == 2
    error = of(neurons.VALUE_ERROR, value_error=keys)
    assert error == pytest.approx(10 / (CELL.sigma + token_noise(CELL)))


def test_a_logarithm_is_told_from_a_line() -> None:
    t = np.array([0.0, 1, 2, 4, 8, 16])
    curve = np.array([9.0, 1.0, 1.6, 2.4, 3.1, 3.9])
    norms = np.stack([curve, np.ones(6)], axis=1)
    record = Record(
        "li2023.dynamics", CELL, 0, {"times": t, "key_norm": norms, "query_norm": 2 * norms}
    )
    product = 2 * curve[1:] ** 2  # the step before 1 does not count

    def r_squared(x) -> float:
        x, y = x - x.mean(), product - product.mean()
        return float((x @ y) ** 2 / ((x @ x) * (y @ y)))

    expected = r_squared(np.log(t[1:])) - r_squared(t[1:])
    assert neurons.LOGARITHMIC.of(record) == pytest.approx(expected)
    flat = {"times": t, "key_norm": np.ones((6, 2)), "query_norm": np.ones((6, 2))}
    assert math.isnan(neurons.LOGARITHMIC.of(Record("li2023.dynamics", CELL, 0, flat)))
    short = {name: x[:4] for name, x in record.values.items()}
    assert math.isnan(neurons.LOGARITHMIC.of(Record("li2023.dynamics", CELL, 0, short)))


def test_lucky_counts() -> None:
    """Axes: step, features (first, present), reading, class."""
    counts = np.arange(2 * 2 * 3 * 2).reshape(2, 2, 3, 2) + 10.0
    bound = lucky_bound(sizes_of(CELL))
    for k, definition in enumerate(("literal", "proof", "best")):
        expected = counts[0, 0, k].min() / bound
        assert of(neurons.lucky_over_bound(definition), lucky=counts) == pytest.approx(expected)
    assert of(neurons.LUCKY_BOUND) == pytest.approx(1 - bound / CELL.m)
    assert of(neurons.LUCKY_SHARE, lucky=counts) == pytest.approx(12.0 / CELL.m)
    assert of(neurons.lucky_kept("best"), lucky_kept=counts) == 14.0
    assert of(neurons.lucky_kept("literal", neurons.PRESENT), lucky_kept=counts) == 16.0


def test_the_share_of_a_cone_is_an_integral() -> None:
    """The density of the angle to an axis in R^n goes like sin^(n-2)."""
    for angle, n in ((0.4, 5), (1.1, 8)):
        part, whole = (mp.quad(lambda x, n=n: mp.sin(x) ** (n - 2), [0, b]) for b in (angle, mp.pi))
        assert neurons.cone_share(angle, n) == pytest.approx(float(part / whole), rel=1e-10)


def test_the_share_with_a_margin_again_with_other_draws() -> None:
    s = replace(sizes_of(CELL), sigma=0.1, tau=0.02, M=3)
    share, error = neurons.margin_share(s, 4, draws=20_000)
    assert error == pytest.approx(math.sqrt(share * (1 - share) / 20_000))
    w = np.random.default_rng(99).normal(size=(20_000, 4))
    lucky = 0
    for row in w / np.linalg.norm(w, axis=1)[:, None]:
        theta = np.arccos(row[:3])
        lucky += theta[0] + 0.24 <= min(theta[1], theta[2])
    assert lucky / 20_000 == pytest.approx(share, abs=5 * error)


def test_the_second_route_of_lemma_3_is_the_larger_expectation_over_the_bound() -> None:
    records = Records([Record("li2023.dynamics", CELL, 0, {})])
    found = neurons.cone_route(records)
    s = sizes_of(CELL)
    literal = neurons.cone_share(s.error, CELL.m_a)
    proof, error = neurons.margin_share(s, CELL.m_a)
    expected = [s.m * (max(literal, proof) + k * error) / lucky_bound(s) for k in (0, -3, 3)]
    assert [found.effect.value, found.effect.low, found.effect.high] == pytest.approx(expected)
    assert found.outcome == ("contradicted" if expected[2] < 1 else "inconclusive")


def test_the_exponent_of_the_output_between_two_values() -> None:
    t = np.array([0.5, 1, 2, 4, 8, 16, 32])
    margin = 0.04 * t**0.9
    margin[0], margin[-1] = 0.5, 0.81  # before the first step, and beyond the hinge
    values = {"times": t, "mean_margin": margin}
    found = neurons.OUTPUT_EXPONENT.of(Record("li2023.dynamics", CELL, 0, values))
    assert found == pytest.approx(0.9)
    few = {"times": t, "mean_margin": np.where(t < 8, 0.01, margin)}
    assert math.isnan(neurons.OUTPUT_EXPONENT.of(Record("li2023.dynamics", CELL, 0, few)))


def test_changes_of_classes() -> None:
    change = np.array([0.1, 0.4, -0.2, -0.8])
    assert of(neurons.class_change(1), class_projections=change) == pytest.approx(0.125)
    assert of(neurons.class_change(2, 3), class_projections=change) == pytest.approx(0.5)
    assert of(neurons.class_change(3, 4), class_projections=change) == -1
    assert neurons.class_change(1, 3).name == "change along p_1 and p_3 over the largest change"
