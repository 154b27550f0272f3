r"""The sizes that every bound of the paper is a function of, and the tail bound of appendix D.

$$b(m, x) = \sqrt{\tfrac4m\log x} + \tfrac4m\log x$$

Legend: n samples of L words out of d, width m, m1 neurons, $s_0=\sigma_0$ the deviation of
$W_V, W_K, W_Q$ and $s_1=\sigma_1$ that of W at the start. Lemma H.2: for independent
$w_1, w_2 \sim N(0, I_m/m)$, $||w_1|^2-1|$ and $|\langle w_1,w_2\rangle|$ are each at least
$b(m, 2/\delta)$ with probability at most $\delta$.
"""

import math
from dataclasses import dataclass

from attnlab.core import BadInput


@dataclass(frozen=True)
class StatedSizes:
    """What every threshold and rate that the paper states is a function of."""

    n: float
    L: float
    d: int
    m: float
    m1: float
    s0: float
    s1: float

    @classmethod
    def of_theory(
        cls, n: float, L: float, d: int, m: float, m1: float, c0: float = 1.0
    ) -> "StatedSizes":
        """Condition 1's deviations: s0 = c0/sqrt(L m), s1 = 1/sqrt(m1)."""
        if not (n > 0 and L >= 3 and d >= 4 and m > 0 and m1 > 0 and c0 >= 0):
            raise BadInput(
                f"got n={n}, L={L}, d={d}, m={m}, m1={m1}, c0={c0}; give positive sizes with "
                "L >= 3, d >= 4 and c0 >= 0"
            )
        return cls(n, L, d, m, m1, c0 / math.sqrt(L * m), 1 / math.sqrt(m1))

    @property
    def neuron_rate(self) -> float:
        """s1^2 m m1: the paper's rate, and the expected size of rho = |W^T a|^2 at the start."""
        return self.s1**2 * self.m * self.m1

    @property
    def rate(self) -> float:
        """(s1^2 + s0^2) m m1: the rate of the signals' G as m -> infinity."""
        return (self.s1**2 + self.s0**2) * self.m * self.m1


def bernstein(m: float, x: float) -> float:
    """The bound b(m, x)."""
    part = 4 / m * math.log(x)
    return math.sqrt(part) + part
