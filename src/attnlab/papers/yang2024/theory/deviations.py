r"""The tail bound behind appendix D (Lemma H.2), as a number.

$$b(m, x) = \sqrt{\tfrac4m\log x} + \tfrac4m\log x$$

Legend: for $w_1, w_2 \sim N(0, I_m/m)$ independent, $||w_1|^2-1|$ and $|\langle w_1,w_2\rangle|$
are each at least $b(m, 2/\delta)$ with probability at most $\delta$.
"""

import math


def bernstein(m: float, x: float) -> float:
    """The bound b(m, x)."""
    part = 4 / m * math.log(x)
    return math.sqrt(part) + part
