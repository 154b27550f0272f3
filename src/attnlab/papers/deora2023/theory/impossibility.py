r"""Section 5.3: the parameters of Proposition 3 are no target that Theorem 1 admits.

With $U_h\propto\frac{\log n}{\gamma_{attn}}U_{opt}$ and $W_h=CH^{-p}W_{opt}$ on every head of a
model scaled by $1/H^c$, all of this is asked for at constants one:

$$\|W_h\|\ge S^{-2}\ (\text{saturation}),\qquad H^c\ge S^5\|\tilde\theta\|^3\ (12),\qquad
  \|\tilde\theta\|\ge\|\tilde W\|=\sqrt H\|W_h\|,\quad
  \|\tilde\theta\|\ge\|\tilde U\|=H^{c-1/2}\log(n)/S .$$

In logarithms $w=\log\|W_h\|$, $h=\log H\ge0$, $s=\log S$ these are linear inequalities, so that
*no choice of C and p* is the infeasibility of a linear programme. The algebra: the second and
the first give $s\ge(3/2-c)h$, the last two $2s\le(3/2-2c)h-3\log\log n$; together
$\tfrac32h\le-3\log\log n$, impossible for n > e. The print's $H^{p-1/4}$ is $H^{p-3/4}$.
"""

import math

import numpy as np
from scipy.optimize import linprog


def feasible(n: float, c: float = 0.5, power: float = 3.0) -> bool:
    """Whether some C, p, S and H >= 1 meet every condition; `power` is 3 in (12)."""
    A, b = inequalities(n, c, power)
    found = linprog(np.zeros(3), A_ub=A, b_ub=b, bounds=[(None, None), (0, None), (None, None)])
    return bool(found.status == 0)


def inequalities(n: float, c: float, power: float) -> tuple[np.ndarray, np.ndarray]:
    """A (w, h, s) <= b."""
    log_log = math.log(math.log(n))
    A = np.array(
        [
            [-1.0, 0.0, -2.0],
            [power, power / 2 - c, 5.0],
            [0.0, power * (c - 0.5) - c, 5.0 - power],
        ]
    )
    return A, np.array([0.0, 0.0, -power * log_log])


def searched(n: float, c: float, power: float, points: int = 41, reach: float = 60.0) -> int:
    """How many points of a grid in (w, h, s) meet every condition: an independent, slow route."""
    A, b = inequalities(n, c, power)
    axis = np.linspace(-reach, reach, points)
    w, h, s = np.meshgrid(axis, np.linspace(0, reach, points), axis, indexing="ij")
    grid = np.stack([w.ravel(), h.ravel(), s.ravel()])
    return int((A @ grid <= b[:, None] + 1e-9).all(axis=0).sum())
