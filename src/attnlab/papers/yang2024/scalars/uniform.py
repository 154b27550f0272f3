r"""A second computation of the coefficients of equation (3): the limit of uniform attention.

With uniform attention five numbers close (`theory.phase_1`), and to first order in the scores

$$C_{12}(t) = \frac{\sigma_0^2 m}{\sqrt m\,L} \int_0^t g_1\,\Big(G_1 - \frac{F_1}{L}\Big)\,dt'
  .$$

Late, $g_1$ falls like 1/t and $G_1$ grows like log t: the integral grows like $\log^2 t$.

Legend: as in `theory.phase_1`; tau = s1^2 m m1 t. It shares no code with the engines: scipy
integrates a sixth number beside the five.
"""

import math
from functools import cache

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from attnlab.claims import Scalar
from attnlab.core import Record


@cache
def integral_of_c12(n: float, L: float, log_loss: float) -> float:
    """The integral over tau until the loss is exp(log_loss)."""

    def margins(x: np.ndarray) -> np.ndarray:
        G1, G3, X1, X2, X4, _ = x
        return np.array([2 * G1 + G3 + X1, -(G1 + G3 + X2), -(G3 + X4)])

    def field(s: float, x: np.ndarray) -> np.ndarray:
        F = margins(x)
        g1, g2, g4 = expit(-F)
        own = ((L - 3) * g1 / n, -(L - 2) * g2 / n, -(L - 1) * g4 / n)
        rates = (g1 / 2 - g2 / 6, g1 / 2 - (2 * g2 + g4) / 6, *own, g1 * (x[0] - F[0] / L))
        return math.exp(s) * np.array(rates)

    def reached(s: float, x: np.ndarray) -> float:
        return float(np.log(np.logaddexp(0, -margins(x)) @ np.array([3, 2, 1]) / 6) - log_loss)

    reached.terminal = True  # pyright: ignore[reportFunctionMemberAccess]
    span = (0.0, 20.0 - 2 * log_loss)
    done = solve_ivp(field, span, np.zeros(6), events=reached, method="DOP853", rtol=1e-8,
                     atol=1e-10)  # fmt: skip
    return float(done.y[5, -1])


def _c12(record: Record) -> float:
    cell = record.cell
    scores = math.sqrt(cell.m) / cell.L
    return integral_of_c12(float(cell.n), float(cell.L), -math.log(cell.m)) * scores / (scores + 1)


C12 = Scalar("C12 over its size, by the limit of uniform attention", _c12)
