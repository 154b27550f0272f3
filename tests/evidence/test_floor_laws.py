"""A floor plus a multiple of an axis: the fit, and which axis is preferred."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from attnlab.claims import Axis, Scalar
from attnlab.core import Record
from attnlab.evidence.floor_laws import PrefersFloor, fit_floor

WON = Scalar("success", lambda r: float(r["success"]))
SQUARE, FOURTH = (Axis(f"x^{k}", lambda cell, k=k: cell.x**k) for k in (2, 4))
XS = (2.5, 5.0, 10.0, 20.0, 40.0)


@dataclass(frozen=True)
class Cell:
    x: float
    N: int


def runs(n50, seed=0):
    random = np.random.default_rng(seed)
    sizes = sorted({round(2 * 2 ** (k / 2)) for k in range(24)})
    return [
        Record("s", Cell(x, N), k, {"success": random.uniform() < 1 / (1 + (n50(x) / N) ** 8)})
        for x in XS
        for N in sizes
        if n50(x) / 4 <= N <= 4 * n50(x)
        for k in range(8)
    ]


@pytest.mark.parametrize("floor", [0.0, 5.0, 200.0])
def test_the_fit_finds_floor_and_slope(floor):
    x = np.array(XS) ** 2
    fit = fit_floor(x, floor + 0.5 * x)
    assert fit.floor == pytest.approx(floor, rel=0.05, abs=1e-2)
    assert fit.slope == pytest.approx(0.5, rel=0.05)
    assert math.sqrt(fit.square) < 0.02


def test_a_floor_alone_has_no_slope_to_speak_of():
    fit = fit_floor(np.array(XS), np.full(5, 7.0))
    assert fit.at(np.array([40.0]))[0] == pytest.approx(7.0, rel=0.01)


@pytest.mark.parametrize(
    ("n50", "outcome"),
    [
        (lambda x: 6 + 0.3 * x**2, "supported"),
        (lambda x: 6 + 0.001 * x**4, "contradicted"),
        (lambda x: 12.0, "inconclusive"),
    ],
)
def test_the_true_law_is_preferred(n50, outcome):
    found = PrefersFloor(SQUARE, (FOURTH,)).judge(runs(n50), WON, 0.95)
    assert found.outcome == outcome, found


def test_four_levels_are_too_few():
    few = [r for r in runs(lambda x: 6 + 0.3 * x**2) if r.cell.x < 40]
    assert PrefersFloor(SQUARE, (FOURTH,)).judge(few, WON, 0.95).outcome == "inconclusive"
