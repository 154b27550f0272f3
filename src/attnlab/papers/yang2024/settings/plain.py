"""Settings of studies in plain numpy: products of drawn weights, a derivative, bounded sums."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting


def _require(cell: object, *names: str) -> None:
    for name in names:
        if not getattr(cell, name) > 0:
            raise BadInput(f"got {name}={getattr(cell, name)}; it must be positive")


@dataclass(frozen=True)
class ProductSettings:
    """One draw of the weights, and products of three and more of them."""

    n: int = setting(24, origin="ours", symbol="n", help="training samples, in sixes")
    L: int = setting(4, origin="ours", symbol="L", help="words in a sample")
    m: int = setting(1024, origin="ours", symbol="m", help="embedding dimension")
    m1: int = setting(32, origin="ours", symbol="m_1", help="neurons")
    c0: float = setting(0.1, origin="ours", symbol="c_0", help="sigma_0 = c0 / sqrt(L m)")

    def __post_init__(self):
        _require(self, "n", "m", "m1", "c0")
        if self.n % 6 or self.L < 4:
            raise BadInput(
                f"got n={self.n} and L={self.L}; give a multiple of six, and four words or more"
            )


@dataclass(frozen=True)
class DerivativeSettings:
    """A softmax of scores that move: its derivative by the formula and by differences."""

    L: int = setting(8, origin="ours", symbol="l", help="length of the vector of scores")
    spread: float = setting(2.0, origin="ours", help="standard deviation of scores and rates")
    jacobian: Literal["printed", "diagonal"] = setting(
        "printed", origin="paper", samples=False, help="diagonal is a control: without p p^T"
    )

    def __post_init__(self):
        _require(self, "L", "spread")


@dataclass(frozen=True)
class SumSettings:
    """Sums of n bounded centred numbers, most of them zero."""

    n: int = setting(64, origin="ours", symbol="n", help="summands")
    delta: float = setting(0.1, origin="ours", samples=False, symbol="delta", help="failure chance")
    rare: float = setting(0.1, origin="ours", help="chance of a summand not to be zero")
    draws: int = setting(400, origin="ours", help="sums in a run")

    def __post_init__(self):
        _require(self, "n", "delta", "rare", "draws")
        if self.delta >= 1 or self.rare > 1:
            raise BadInput(f"got delta={self.delta} and rare={self.rare}; both are chances")
