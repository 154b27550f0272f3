"""Section 7's scalings: a cubic in 40 digits, and the printed formulas."""

import math

import mpmath
import pytest

from attnlab.papers.deora2023.theory import demands


@pytest.mark.parametrize(("H", "T", "d", "R"), [(1e12, 4, 8, 1.0), (1e30, 9, 2, 3.0)])
def test_the_largest_distance_by_mpmath(H, T, d, R):
    """sqrt(H) = 18 beta_3(1 + 3D) D^2 is a cubic in D; its positive root in 40 digits."""
    with mpmath.workdps(40):
        a = 18 * 2 * mpmath.sqrt(T * d) * R**3
        cubic = [9 * a * mpmath.sqrt(d) * R**2, a * (3 * mpmath.sqrt(d) * R**2 + 1), 0,
                 -mpmath.sqrt(H)]  # fmt: skip
        roots = mpmath.polyroots(cubic, maxsteps=500, extraprec=200)
        (exact,) = [r.real for r in roots if abs(r.imag) < 1e-20 and r.real > 0]
    assert demands.largest_distance(H, T, d, R) == pytest.approx(float(exact), rel=1e-9)


def test_the_heads_of_a_margin_by_hand():
    T, d, R, gamma, n = 4, 8, 1.5, 0.1, 1e4
    D = math.sqrt(2) * (2 + math.log(n)) / gamma
    three = 2 * math.sqrt(T * d) * R**3 * (3 * math.sqrt(d) * R**2 * (1 + 3 * D) + 1)
    found = demands.heads_for_margin(gamma, T, d, R, n)
    assert found == pytest.approx((72 * three * D**2) ** 2, rel=1e-12)
