"""Settings of the yang2024 studies that draw no model: softmax and tails."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting


@dataclass(frozen=True)
class SoftmaxSettings:
    """One batch of perturbations of a softmax."""

    L: int = setting(8, origin="ours", symbol="l", help="length of the vector of scores")
    size: float = setting(
        0.1, origin="ours", samples=False, symbol="|epsilon|", help="norm of the perturbation"
    )
    spread: float = setting(1.0, origin="ours", help="standard deviation of the scores")
    draws: int = setting(200, origin="ours", help="perturbations in a run")
    jacobian: Literal["printed", "diagonal"] = setting(
        "printed",
        origin="paper",
        samples=False,
        help="diagonal is a control: the derivative without the product of probabilities",
    )

    def __post_init__(self):
        _require_positive(self, "L", "size", "spread", "draws")


@dataclass(frozen=True)
class TailSettings:
    """One batch of pairs of Gaussian vectors."""

    m: int = setting(64, origin="ours", symbol="m", help="dimension of the vectors")
    delta: float = setting(
        0.1, origin="ours", samples=False, symbol="delta", help="failure probability of the bound"
    )
    draws: int = setting(200, origin="ours", help="pairs of vectors in a run")

    def __post_init__(self):
        _require_positive(self, "m", "delta", "draws")
        if self.delta >= 1:
            raise BadInput(f"got delta={self.delta}; a failure probability is below 1")


@dataclass(frozen=True)
class ClassSettings:
    """One flow on seven classes of words, from the mean of the theory's initialisation."""

    n: int = setting(96, origin="ours", symbol="n", help="training samples")
    L: int = setting(4, origin="ours", symbol="L", help="words in a sample; 3, or 4 and more")
    m: int = setting(2**14, origin="ours", symbol="m", help="embedding dimension")
    m1: int = setting(
        64,
        origin="ours",
        symbol="m_1",
        help="neurons",
        alternatives={32: "half as many", 256: "appendix A's number"},
    )
    c0: float = setting(
        0.1,
        origin="ours",
        symbol="c_0",
        help="sigma_0 = c0 / sqrt(L m)",
        alternatives={1.0: "Condition 1's tilde with constant one", 0.03: "smaller"},
    )
    horizon: float = setting(
        100.0,
        origin="ours",
        help="end of the flow, in units of 1/rho(0)",
        alternatives={1000.0: "ten times as long"},
    )
    target_loss: float = setting(
        0.0, origin="ours", samples=False, help="the flow stops at this loss; 0: at the horizon"
    )
    records: int = setting(100, origin="ours", samples=False, help="recorded times")

    def __post_init__(self):
        _require_positive(self, "n", "m", "m1", "c0", "horizon")
        if self.L < 3 or self.records < 3:
            raise BadInput(
                f"got L={self.L} and records={self.records}; at least 3 of each are required"
            )
        if self.target_loss < 0:
            raise BadInput(f"got target_loss={self.target_loss}; it may not be negative")


def _require_positive(cell: object, *names: str) -> None:
    for name in names:
        if not getattr(cell, name) > 0:
            raise BadInput(f"got {name}={getattr(cell, name)}; it must be positive")
