"""Settings of formulas, of searches for tight bounds, and of looks at the loss's landscape."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting
from attnlab.papers.deora2023.settings.mixture import MixtureSettings, require_heads

Objective = Literal[
    "none",
    "model_gradient",
    "model_hessian",
    "self_bounded",
    "smooth",
    "weakly_convex",
]

PairObjective = Literal["none", "growth", "tangent", "concave"]


@dataclass(frozen=True)
class FormulaSettings:
    """One comparison of Lemma 1's formulas at random parameters."""

    T: int = setting(5, origin="ours", symbol="T", shape=True, help="places in a sample")
    d: int = setting(4, origin="ours", symbol="d", shape=True, help="dimension of a token")
    scale: float = setting(1.0, origin="ours", help="size of U, W and X")
    softmax: Literal["corrected", "printed"] = setting(
        "corrected",
        origin="ours",
        samples=False,
        help="printed is a control: phi' = diag(phi) - v v'",
    )

    def __post_init__(self):
        if self.T < 2 or self.d < 2:
            raise BadInput(f"got T={self.T}, d={self.d}; at least 2 of each are required")


@dataclass(frozen=True)
class AscentSettings:
    """One search for parameters and tokens at which a bound is tight."""

    T: int = setting(3, origin="ours", symbol="T", shape=True, help="places in a sample")
    d: int = setting(3, origin="ours", symbol="d", shape=True, help="dimension of a token")
    objective: Objective = setting(
        "none", origin="ours", samples=False, help="the quotient that is ascended; none: random"
    )
    steps: int = setting(
        400,
        origin="ours",
        samples=False,
        help="steps of Adam",
        idle=lambda cell: (
            "" if cell.objective != "none" else "nothing is ascended (objective=none)"
        ),
    )

    def __post_init__(self):
        if self.T < 2 or self.d < 2 or self.steps < 1:
            raise BadInput(
                f"got T={self.T}, d={self.d}, steps={self.steps}; at least 2, 2 and 1 are required"
            )


def _nothing_ascended(cell: "PairSettings") -> str:
    return "" if cell.objective != "none" else "nothing is ascended (objective=none)"


@dataclass(frozen=True)
class PairSettings:
    """One search for two points and samples at which an inequality on their segment is tight."""

    T: int = setting(2, origin="ours", symbol="T", shape=True, help="places in a sample")
    d: int = setting(2, origin="ours", symbol="d", shape=True, help="dimension of a token")
    H: int = setting(2, origin="ours", symbol="H", shape=True, help="heads")
    objective: PairObjective = setting(
        "none", origin="ours", samples=False, help="the quotient that is ascended; none: random"
    )
    steps: int = setting(
        400, origin="ours", samples=False, help="steps of Adam", idle=_nothing_ascended
    )
    stretch: float = setting(
        1.0,
        origin="ours",
        samples=False,
        help="length of the segment over what (18) allows; beyond 1 is a control",
    )

    def __post_init__(self):
        if min(self.T, self.d) < 2 or self.H < 1 or self.steps < 1 or not self.stretch > 0:
            raise BadInput(
                f"got T={self.T}, d={self.d}, H={self.H}, steps={self.steps}, stretch="
                f"{self.stretch}; at least 2, 2, 1 and 1 are required, and a positive stretch"
            )


@dataclass(frozen=True)
class SegmentSettings(MixtureSettings):
    """Pairs of points between which Proposition 4 looks."""

    H: float = setting(2.0, origin="ours", symbol="H", samples=False, help="heads")
    pair: Literal["near", "exchanged"] = setting(
        "near",
        origin="ours",
        samples=False,
        help="as far as (18) allows; exchanged is a control: a solution with its heads swapped",
    )

    def __post_init__(self):
        super().__post_init__()
        require_heads(self.H)


@dataclass(frozen=True)
class GlobalMarginSettings(MixtureSettings):
    """An ascent of the smallest output over parameters of a given length."""

    H: int = setting(2, origin="ours", symbol="H", samples=False, shape=True, help="heads")
    length: float = setting(
        2**0.5,
        origin="paper",
        samples=False,
        help="length of the parameters; the paper's is sqrt 2",
    )
    steps: int = setting(600, origin="ours", samples=False, help="steps of Adam")
