"""Settings of a point on a path: all sizes of Condition 1 as functions of log m."""

import math
from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting
from attnlab.data.word_sizes import SIGNALS
from attnlab.papers.yang2024.settings import Attention, require_tolerance

Neurons = Literal["log m", "log^2 m"]
Scale = Literal["constant", "1 / log m"]
LONGEST = 160.0
"""The largest log m: beyond it squares of gradients at a loss of 1/m^2 are no numbers."""


@dataclass(frozen=True)
class PathSettings:
    """One flow on classes of words at sizes that Condition 1 couples to m.

    m = exp(log_m), L = length log m (4 if length is 0), n = samples L^2 log^power m m^more.
    """

    log_m: float = setting(14.0, origin="ours", symbol="log m", help="logarithm of the width m")
    power: int = setting(
        1, origin="inferred", symbol="k", help="of log m in n = samples L^2 log^k m"
    )
    samples: float = setting(
        1.0,
        origin="inferred",
        help="the constant of n",
        alternatives={0.5: "half as many samples", 4.0: "four times as many"},
    )
    length: float = setting(
        1.0,
        origin="inferred",
        help="L over log m; 0: L = 4 at every m",
        alternatives={0.6: "shorter samples", 2.0: "longer ones"},
    )
    more: float = setting(
        0.0,
        origin="ours",
        help="a power of m on top of n, which Condition 1 bounds from below only",
    )
    neurons: Neurons = setting(
        "log m",
        origin="inferred",
        symbol="m_1",
        help="m1, which Condition 1 asks for up to logarithms",
        alternatives={"log^2 m": "more, up to logarithms"},
    )
    c0: float = setting(
        0.1,
        origin="inferred",
        symbol="c_0",
        help="sigma_0 = c0 / sqrt(L m)",
        alternatives={1.0: "Condition 1's tilde with constant one"},
    )
    scale: Scale = setting(
        "constant",
        origin="inferred",
        help="of c0, whose logarithms Condition 1 hides",
        alternatives={"1 / log m": "one hidden logarithm"},
    )
    attention: Attention = setting(
        "trained", origin="paper", samples=False, help="frozen and uniform are controls"
    )
    rtol: float = setting(
        1e-6, origin="ours", samples=False, help="relative tolerance of the flow's solver"
    )

    def __post_init__(self):
        if not math.log(16) <= self.log_m <= LONGEST:
            raise BadInput(
                f"got log_m={self.log_m}; it lies from log 16 to {LONGEST:g}, beyond which "
                "squares of 1/m^2 are no numbers: change log_m"
            )
        if self.length and not self.length * self.log_m >= 3.5:
            raise BadInput(
                f"got length={self.length}, that is L={self.L}; L of 4 at least is required: give "
                "a larger one, or 0 for L = 4 at every m"
            )
        require_tolerance(self.rtol)
        for name in ("samples", "c0"):
            if not getattr(self, name) > 0:
                raise BadInput(f"got {name}={getattr(self, name)}; it must be positive")
        if self.power < 0 or not 0 <= self.more <= 1 or self.n < 6:
            raise BadInput(
                f"got power={self.power} and more={self.more}, that is n={self.n}; give a power of "
                "0 or more, more from 0 to 1, and six samples at least"
            )

    @property
    def m(self) -> float:
        """The width."""
        return math.exp(self.log_m)

    @property
    def L(self) -> int:
        """Words in a sample."""
        return round(self.length * self.log_m) if self.length else 4

    @property
    def n(self) -> int:
        """Training samples, a multiple of six."""
        size = self.samples * self.L**2 * self.log_m**self.power * self.m**self.more
        return 6 * round(size / 6)

    @property
    def m1(self) -> float:
        """Neurons, at least two."""
        return max(2.0, self.log_m if self.neurons == "log m" else self.log_m**2)

    @property
    def c(self) -> float:
        """sigma_0 sqrt(L m), the hidden logarithm included."""
        return self.c0 / (1.0 if self.scale == "constant" else self.log_m)

    @property
    def vocabulary(self) -> int:
        """As many words as distinct ones need, to the nearest."""
        return SIGNALS + round(self.n * (self.L - 7 / 3))


@dataclass(frozen=True)
class MapSettings:
    """One flow on classes of words, keys and queries of a scale of their own."""

    n: int = setting(96, origin="ours", symbol="n", help="training samples, in sixes")
    L: int = setting(4, origin="ours", symbol="L", help="words in a sample")
    m: int = setting(256, origin="ours", symbol="m", help="embedding dimension")
    m1: int = setting(64, origin="ours", symbol="m_1", help="neurons")
    c0: float = setting(1.0, origin="ours", symbol="c_0", help="sigma_0 = c0 / sqrt(L m)")
    keys: float = setting(1.0, origin="ours", help="scale of keys and queries over that of values")
    horizon: float = setting(1e5, origin="ours", help="end of the flow, in units of 1/rho(0)")
    attention: Attention = setting("trained", origin="paper", samples=False, help="or frozen")

    def __post_init__(self):
        for name in ("n", "m", "m1", "c0", "keys"):
            if not getattr(self, name) > 0:
                raise BadInput(f"got {name}={getattr(self, name)}; it must be positive")
        if self.n % 6 or self.L < 4 or not self.horizon > 1e4:
            raise BadInput(
                f"got n={self.n}, L={self.L}, horizon={self.horizon}; give a multiple of six, four "
                "words or more and a horizon beyond 10,000"
            )

    @property
    def vocabulary(self) -> int:
        """As many words as distinct ones need, to the nearest."""
        return SIGNALS + round(self.n * (self.L - 7 / 3))
