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


def _require_positive(cell: object, *names: str) -> None:
    for name in names:
        if not getattr(cell, name) > 0:
            raise BadInput(f"got {name}={getattr(cell, name)}; it must be positive")
