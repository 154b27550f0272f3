r"""Section 7's scalings: how far a target may be for H heads, and the heads that a margin asks for.

$$\|\tilde\theta-\tilde\theta^{(0)}\|\lesssim d^{-1/3}T^{-1/6}R^{-5/3}H^{1/6},\qquad
  H\gtrsim d^2TR^{10}\,\mathrm{polylog}(n)/\gamma^6$$

Both follow from section 6.1's $\sqrt H\ge18\beta_3(m+3D)D^2$: the first where D is large beside
the heads' norm m = 1, the second with $D=\sqrt2(2B_\Phi+\log n)/\gamma$ where it is, too.
"""

import math

from scipy.optimize import root_scalar

from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import GoodStart, Target


def largest_distance(H: float, T: float, d: float, R: float) -> float:
    """The D at which section 6.1's condition on the heads holds with equality, m = 1."""

    def missing(log_D: float) -> float:
        D = math.exp(log_D)
        target = Target(T=T, d=d, R=R, H=H, D=D, m=1.0, loss=0.0, start_loss=math.log(2), K=1.0)
        return math.log(float(conditions.heads_needed(target, "corrected"))) - math.log(H)

    return math.exp(root_scalar(missing, bracket=(-60.0, 60.0), xtol=1e-12).root)


def heads_for_margin(gamma: float, T: float, d: float, R: float, n: float) -> float:
    """The H that section 6.1's constants ask for at B_2 = B_Phi = 1 and K = n steps."""
    D = conditions.target_distance(GoodStart(1.0, 1.0, gamma), 1 / n)
    target = Target(T=T, d=d, R=R, H=1.0, D=D, m=1.0, loss=1 / n, start_loss=math.log(2), K=n)
    return float(conditions.heads_needed(target, "corrected", 2))
