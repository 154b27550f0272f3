r"""The whole path as m -> infinity, and the end of its first phase.

With uniform attention, distinct random words and G = 0 at the start, samples of one type are
alike, and gradient flow in $\tau=(\sigma_1^2+\sigma_0^2)\,m\,m_1\,t$ closes in five numbers:

$$G_1'=\tfrac12g_1-\tfrac16g_2,\qquad G_3'=\tfrac12g_1-\tfrac16(2g_2+g_4),$$
$$X_1'=\tfrac{L-3}{n}g_1,\qquad X_2'=-\tfrac{L-2}{n}g_2,\qquad X_4'=-\tfrac{L-1}{n}g_4,$$
$$y_kF_k:\quad 2G_1+G_3+X_1,\quad -(G_1+G_3+X_2),\quad -(G_3+X_4),\qquad g_k=\sigma(-y_kF_k).$$

At tau = 0 every g is 1/2, so $G_1'=1/6$ and $G_3'=0$: the signals rise first, and samples with
one signal go wrong unless their own random words outweigh it ($n\le3(L-2)$). Phase 1 ends when
they come back: $T_1=\tau_1(n,L)/\text{rate}$.

Legend: $G_1=G(\mu_1)=G(\mu_2)$, $G_3=G(\mu_3)$, $X_k$ the sum of G over the random words of a
sample of type k (types 2 and 3 are alike), sigma the logistic function. The paper's $T_1$ is
$C_{T_1}/(\sigma_1^2 m m_1)$ with a constant that is only said to be large; here it has a value.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.special import expit

from attnlab.core import BadInput

_TOLERANCES = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-12}
_LAST_CROSSING = 1e4
"""Far later than any type last changes sign: tau_1 is below 12.98, its value at infinite n."""


@dataclass(frozen=True)
class UniformPath:
    """The path at the times tau (k,), for types 1..4."""

    tau: np.ndarray
    signals: np.ndarray
    """G of mu_1, mu_2, mu_3 (k, 3)."""
    random_sums: np.ndarray
    """X: the sum of G over a sample's random words, by type (k, 4)."""
    margins: np.ndarray
    """y F by type (k, 4)."""

    @property
    def loss_by_type(self) -> np.ndarray:
        """The logistic loss of each type (k, 4)."""
        return np.logaddexp(0, -self.margins)

    @property
    def loss(self) -> np.ndarray:
        """The training loss (k,)."""
        return self.loss_by_type @ np.array([3, 1, 1, 1]) / 6

    @property
    def R(self) -> np.ndarray:
        """-G'(mu_3)/G'(mu_1) (k,)."""
        g1, g2, _, g4 = expit(-self.margins).T
        return -(3 * g1 - 2 * g2 - g4) / (3 * g1 - g2)


def uniform_path(n: float, L: float, tau: np.ndarray) -> UniformPath:
    """The path at the given increasing times; n may be infinite and L any real from 3."""
    field = _field(n, L)
    tau = np.asarray(tau, float)
    if tau.ndim != 1 or not len(tau) or tau[0] < 0 or (np.diff(tau) <= 0).any():
        raise BadInput(f"got times {tau}; give increasing ones, none negative")
    s = np.log1p(tau)
    span = (0.0, max(float(s[-1]), 1e-12))
    done = solve_ivp(field, span, np.zeros(5), t_eval=s, **_TOLERANCES)
    G1, G3, X1, X2, X4 = done.y
    return UniformPath(
        tau=tau,
        signals=np.stack([G1, G1, G3], axis=1),
        random_sums=np.stack([X1, X2, X2, X4], axis=1),
        margins=_margins(done.y)[[0, 1, 1, 2]].T,
    )


def phase_1_end(n: float, L: float) -> float:
    """tau_1: the time after which every type is classified correctly; 0 if always."""
    crossings = [lambda s, x, k=k: _margins(x)[k] for k in range(3)]
    for crossing in crossings:
        crossing.direction = 1  # pyright: ignore[reportFunctionMemberAccess]
    span = (0.0, math.log1p(_LAST_CROSSING))
    done = solve_ivp(_field(n, L), span, np.zeros(5), events=crossings, **_TOLERANCES)
    return float(max(np.expm1(times).max(initial=0.0) for times in done.t_events))


def implied_constant(n: float, L: float, s0: float, s1: float) -> float:
    """C_T1 of definition E.2: T1 x s1^2 m m1 = tau_1 s1^2 / (s1^2 + s0^2)."""
    return phase_1_end(n, L) * s1**2 / (s1**2 + s0**2)


def _margins(x: np.ndarray) -> np.ndarray:
    """y F of types 1, 2 (as 3) and 4, from (G1, G3, X1, X2, X4)."""
    G1, G3, X1, X2, X4 = x
    return np.array([2 * G1 + G3 + X1, -(G1 + G3 + X2), -(G3 + X4)])


def _field(n: float, L: float):
    """The flow in s = log(1 + tau), in which late times are no stiffer than early ones."""
    if not (n > 0 and L >= 3):
        raise BadInput(f"got n={n} and L={L}; give n > 0 and L >= 3")
    r1, r2, r4 = (L - 3) / n, (L - 2) / n, (L - 1) / n

    def field(s: float, x: np.ndarray) -> np.ndarray:
        g1, g2, g4 = expit(-_margins(x))
        by_tau = (g1 / 2 - g2 / 6, g1 / 2 - (2 * g2 + g4) / 6, r1 * g1, -r2 * g2, -r4 * g4)
        return math.exp(s) * np.array(by_tau)

    return field
