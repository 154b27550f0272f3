"""Settings of the studies that answer section 7's open questions."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting
from attnlab.papers.deora2023.settings.mixture import MixtureSettings

LossName = Literal["logistic", "exponential", "heavy_tailed", "squared"]
OtherStart = Literal["phase_1", "gaussian", "class_means", "steps", "few_samples", "zero"]
MOST_HEADS = 4
"""Of the parity's models: a number of heads is data, up to this."""
Rule = Literal["parity", "one_token"]


@dataclass(frozen=True)
class RankSettings(MixtureSettings):
    """Two heads, one of each sign, with attention of rank d_h and with a free W."""

    d_h: int = setting(
        8, origin="ours", symbol="d_h", samples=False, help="columns of W_Q and of W_K"
    )
    attention: Literal["trained", "frozen"] = setting(
        "trained", origin="ours", samples=False, help="frozen is a control: W stays zero"
    )
    eta: float = setting(1.0, origin="ours", symbol="eta", samples=False, help="step size")
    K: int = setting(300, origin="ours", symbol="K", samples=False, help="steps of phase 2")

    def __post_init__(self):
        super().__post_init__()
        if not 1 <= self.d_h <= self.d:
            raise BadInput(
                f"got d_h={self.d_h} with d={self.d}; heads have from 1 to d columns: take d_h "
                f"between 1 and {self.d}"
            )
        _require_steps(self.K, self.eta)


@dataclass(frozen=True)
class LossSettings(MixtureSettings):
    """Two heads, one of each sign, trained on another loss."""

    loss: LossName = setting(
        "logistic",
        origin="ours",
        samples=False,
        help="of the margin; squared is a control: it is not self-bounded",
    )
    eta: float = setting(2.0, origin="ours", symbol="eta", samples=False, help="step size")
    K: int = setting(2000, origin="ours", symbol="K", samples=False, help="steps of phase 2")

    def __post_init__(self):
        super().__post_init__()
        _require_steps(self.K, self.eta)


def _at_zero(cell: "OtherStartSettings") -> str:
    return "all heads are zero (variant=zero)" if cell.variant == "zero" else ""


def _unless(cell: "OtherStartSettings", variant: OtherStart) -> str:
    return "" if cell.variant == variant else f"variant={cell.variant}, not {variant}"


@dataclass(frozen=True)
class OtherStartSettings(MixtureSettings):
    """Another start for phase 2, beside phase 1 on the same samples."""

    H: int = setting(100, origin="ours", symbol="H", samples=False, help="heads", idle=_at_zero)
    delta: float = setting(0.1, origin="ours", symbol="delta", samples=False, help="failure")
    scale: float = setting(
        1.0,
        origin="ours",
        samples=False,
        help="of the decoders; a large one is a control",
        idle=_at_zero,
    )
    variant: OtherStart = setting("phase_1", origin="ours", samples=False, help="which start")
    few: int = setting(
        8,
        origin="ours",
        samples=False,
        help="samples of `few_samples`",
        idle=lambda cell: _unless(cell, "few_samples"),
    )
    steps: int = setting(
        10,
        origin="ours",
        samples=False,
        help="further steps of `steps`",
        idle=lambda cell: _unless(cell, "steps"),
    )
    eta: float = setting(
        1.0,
        origin="ours",
        symbol="eta",
        samples=False,
        help="of these steps",
        idle=lambda cell: _unless(cell, "steps"),
    )

    def __post_init__(self):
        super().__post_init__()
        if self.H < 1 or not 0 < self.delta < 1:
            raise BadInput(
                f"got H={self.H}, delta={self.delta}; at least one head, and a probability between "
                "0 and 1, are required"
            )
        if not 1 <= self.few <= self.n1 or not self.n <= self.n1:
            raise BadInput(
                f"got few={self.few}, n={self.n}, n1={self.n1}; these starts are made from samples "
                "of phase 1: take n1 at least as large as the others"
            )
        if self.points == "atoms":
            raise BadInput(
                "got points=atoms; these starts are made from drawn samples: take points=samples"
            )
        _require_steps(self.steps, self.eta)


@dataclass(frozen=True)
class ParitySettings:
    """Samples whose label is the parity of two tokens, read at a query token."""

    T: int = setting(4, origin="ours", symbol="T", shape=True, help="places, the query's included")
    d: int = setting(8, origin="ours", symbol="d", shape=True, help="dimension of a token")
    S: float = setting(2.0, origin="ours", symbol="S", help="length of a pattern")
    Z: float = setting(0.3, origin="ours", symbol="Z", help="bound on a noise coordinate")
    n: int = setting(48, origin="ours", symbol="n", shape=True, help="training samples")
    rule: Rule = setting(
        "parity",
        origin="ours",
        samples=False,
        help="one_token is a control: the first token alone is the label",
    )
    H: int = setting(4, origin="ours", symbol="H", samples=False, help="heads beside the one")
    scale: float = setting(1.0, origin="ours", samples=False, help="of the random start")
    eta: float = setting(4.0, origin="ours", symbol="eta", samples=False, help="step size")
    K: int = setting(300, origin="ours", symbol="K", samples=False, help="steps")

    def __post_init__(self):
        if self.T < 4 or self.d < 7 or self.n < 4 or not 1 <= self.H <= MOST_HEADS:
            raise BadInput(
                f"got T={self.T}, d={self.d}, n={self.n}, H={self.H}; at least 4 places, 7 "
                f"dimensions, 4 samples and from 1 to {MOST_HEADS} heads are required"
            )
        if not self.S > 0 or self.Z < 0:
            raise BadInput(f"got S={self.S}, Z={self.Z}; S is positive and Z not negative")
        _require_steps(self.K, self.eta)


def _require_steps(K: int, eta: float) -> None:
    if K < 1 or not eta > 0:
        raise BadInput(f"got {K} steps of size {eta}; at least 1 and a positive size are required")
