"""The limit's C12 by a plain loop."""

import math

import pytest

from attnlab.papers.yang2024.scalars.uniform import integral_of_c12


def by_a_loop(n: float, L: float, loss: float, step: float = 2e-3) -> float:
    """Heun's rule in log(1 + tau), six numbers written out."""

    def rates(x: list[float]) -> tuple[list[float], float]:
        G1, G3, X1, X2, X4, _ = x
        F1, F2, F4 = 2 * G1 + G3 + X1, -(G1 + G3 + X2), -(G3 + X4)
        g1, g2, g4 = (1 / (1 + math.exp(F)) for F in (F1, F2, F4))
        losses = [math.log1p(math.exp(-F)) for F in (F1, F2, F4)]
        return [
            g1 / 2 - g2 / 6, g1 / 2 - g2 / 3 - g4 / 6,
            (L - 3) / n * g1, -(L - 2) / n * g2, -(L - 1) / n * g4, g1 * (G1 - F1 / L),
        ], losses[0] / 2 + losses[1] / 3 + losses[2] / 6  # fmt: skip

    x, s = [0.0] * 6, 0.0
    while True:
        first, now = rates(x)
        if now <= loss:
            return x[5]
        a, b = math.exp(s), math.exp(s + step)
        ahead = [u + step * a * v for u, v in zip(x, first, strict=True)]
        second, _ = rates(ahead)
        x = [u + step / 2 * (a * v + b * w) for u, v, w in zip(x, first, second, strict=True)]
        s += step


@pytest.mark.parametrize(("n", "L", "loss"), [(126, 5, 1e-2), (10_000, 10, 1e-3), (24, 4, 0.05)])
def test_the_integral_is_that_of_a_plain_loop(n, L, loss):
    assert integral_of_c12(n, L, math.log(loss)) == pytest.approx(by_a_loop(n, L, loss), rel=5e-3)


def test_the_integral_grows_like_the_square_of_the_logarithm():
    values = [integral_of_c12(1e6, 20, -x) for x in (40.0, 80.0)]
    assert math.log2(values[1] / values[0]) == pytest.approx(2, abs=0.15)
