"""Settings of the deora2023 studies: mixture, first phase, heads, descent."""

from dataclasses import dataclass, replace
from typing import Any, Literal

from attnlab.core import BadInput, setting
from attnlab.data.mixture_sizes import MixtureSizes

Noise = Literal["clipped_gaussian", "uniform", "extreme"]
Places = Literal["random", "fixed"]
Points = Literal["samples", "atoms"]
Signs = Literal["random", "balanced"]
Decoder = Literal["full", "pooled", "last"]
Start = Literal["phase_1", "random", "zero"]
Proof = Literal["corrected", "sharp", "symmetric"]
Objective = Literal[
    "none",
    "model_gradient",
    "model_hessian",
    "self_bounded",
    "smooth",
    "weakly_convex",
]

POOL = 4096
"""Samples drawn at once: test samples first, then those of phase 1, training samples last."""
TEST_SAMPLES = 480
LARGEST_EXPLICIT = 4096
"""Beyond so many heads the engine `weights` is refused: its time and memory grow with H."""


@dataclass(frozen=True)
class MixtureSettings:
    """A data set of the tokenised mixture and what phase 1 makes of it."""

    T: int = setting(
        4,
        origin="ours",
        symbol="T",
        help="places in a sample",
        alternatives={8: "twice as many"},
    )
    d: int = setting(
        8,
        origin="ours",
        symbol="d",
        help="dimension of a token",
        alternatives={16: "twice as many"},
    )
    M: int = setting(
        2,
        origin="ours",
        symbol="M",
        help="irrelevant patterns",
        alternatives={4: "twice as many"},
    )
    S: float = setting(
        1.0,
        origin="ours",
        symbol="S",
        help="length of a pattern",
        alternatives={2.0: "a stronger signal, as section 5 has in mind"},
    )
    zeta: float = setting(
        0.5,
        origin="ours",
        symbol="zeta",
        help="share of relevant places",
        alternatives={0.25: "sparser"},
    )
    Z_mu: float = setting(0.0, origin="ours", symbol="Z_mu", help="bound on <z, mu>")
    Z_nu: float = setting(0.0, origin="ours", symbol="Z_nu", help="bound on M <z, nu>")
    Z: float = setting(0.0, origin="ours", symbol="Z", help="bound on |z|")
    noise: Noise = setting(
        "clipped_gaussian",
        origin="ours",
        help="kind of noise",
        alternatives={
            "uniform": "Assumption 3 bounds the noise and names no distribution",
            "extreme": "the corners: every bound of Assumption 3 is attained",
        },
    )
    places: Places = setting(
        "random",
        origin="inferred",
        help="relevant places drawn per sample, or the first ones",
        alternatives={"fixed": "the set of relevant places may be the same for all samples"},
    )
    n: int = setting(
        48,
        origin="ours",
        symbol="n",
        help="training samples of phase 2",
        alternatives={24: "half as many", 96: "twice as many"},
    )
    n1: int = setting(
        1024,
        origin="ours",
        symbol="n_1",
        help="samples of phase 1; 0: their expectation",
        alternatives={512: "half as many", 2048: "twice as many"},
    )
    points: Points = setting(
        "samples", origin="ours", help="samples, or the support with drawn weights (no noise)"
    )
    labels: Literal["true", "shuffled"] = setting(
        "true", origin="ours", samples=False, help="shuffled is a control: labels are fair coins"
    )

    def __post_init__(self):
        self.mixture()
        if self.n < 1 or self.n1 < 0:
            raise BadInput(f"got n={self.n} and n1={self.n1}; at least 1 and 0 are required")
        if self.points == "atoms":
            self.mixture().require_atoms(self.places == "fixed")
        elif self.n + self.n1 + TEST_SAMPLES > POOL:
            raise BadInput(
                f"got n={self.n} and n1={self.n1}; with {TEST_SAMPLES} test samples at most {POOL} "
                "are drawn: take fewer, n1=0 for the expectation of phase 1, or, without noise, "
                "points=atoms, which takes any number"
            )

    def mixture(self) -> MixtureSizes:
        """The mixture's sizes; refuses what cannot exist."""
        return MixtureSizes(self.T, self.d, self.M, self.S, self.zeta, self.Z_mu, self.Z_nu, self.Z)


@dataclass(frozen=True)
class TrainingSettings(MixtureSettings):
    """One training run in two phases."""

    H: float = setting(100.0, origin="ours", symbol="H", help="heads", samples=False)
    signs: Signs = setting(
        "random", origin="paper", symbol="alpha", samples=False, help="of phase 1: coins, or even"
    )
    output: Decoder = setting("full", origin="paper", symbol="U", help="the decoder's shape")
    start: Start = setting(
        "phase_1", origin="paper", samples=False, help="one step from zero, random, or zero"
    )
    scale: float = setting(
        1.0, origin="ours", samples=False, help="of a random start: |U_h| is about this"
    )
    eta: float = setting(
        0.0,
        origin="ours",
        symbol="eta",
        samples=False,
        help="step size of phase 2; 0: the largest that Theorem 1 allows (by `proof`)",
    )
    K: int = setting(100, origin="ours", symbol="K", samples=False, help="steps of phase 2")
    proof: Proof = setting(
        "symmetric", origin="ours", samples=False, help="whose constants decide the step size"
    )
    theorem: Literal[1, 2] = setting(
        1, origin="ours", samples=False, help="whose step size: Theorem 2's is the smaller"
    )
    engine: Literal["auto", "weights", "collapsed_heads"] = setting(
        "auto", origin="ours", samples=False, help="auto: collapsed heads where they are exact"
    )

    def __post_init__(self):
        super().__post_init__()
        if not self.H >= 1 or int(self.H) != self.H:
            raise BadInput(f"got H={self.H}; a whole number of heads, at least 1, is required")
        if self.K < 1 or self.eta < 0 or self.scale < 0:
            raise BadInput(
                f"got K={self.K}, eta={self.eta}, scale={self.scale}; K is at least 1, the others "
                "are not negative"
            )
        if self.engine == "collapsed_heads" and self.start == "random":
            raise BadInput(
                "got engine=collapsed_heads with start=random; heads that start apart stay apart: "
                "take start=phase_1 or --engine weights"
            )
        if self.engine == "weights" and self.H > LARGEST_EXPLICIT:
            raise BadInput(
                f"got engine=weights with H={self.H:g}; explicit heads go up to "
                f"{LARGEST_EXPLICIT}: take --engine collapsed_heads, which is exact after phase 1"
            )


def resolve(cell: Any) -> Any:
    """Replace `auto`: heads collapse unless their start is random."""
    if getattr(cell, "engine", "") != "auto":
        return cell
    return replace(cell, engine="weights" if cell.start == "random" else "collapsed_heads")


@dataclass(frozen=True)
class FormulaSettings:
    """One comparison of Lemma 1's formulas at random parameters."""

    T: int = setting(5, origin="ours", symbol="T", help="places in a sample")
    d: int = setting(4, origin="ours", symbol="d", help="dimension of a token")
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

    T: int = setting(3, origin="ours", symbol="T", help="places in a sample")
    d: int = setting(3, origin="ours", symbol="d", help="dimension of a token")
    objective: Objective = setting(
        "none", origin="ours", samples=False, help="the quotient that is ascended; none: random"
    )
    steps: int = setting(400, origin="ours", samples=False, help="steps of Adam")

    def __post_init__(self):
        if self.T < 2 or self.d < 2 or self.steps < 1:
            raise BadInput(
                f"got T={self.T}, d={self.d}, steps={self.steps}; at least 2, 2 and 1 are required"
            )


@dataclass(frozen=True)
class ExpressivitySettings(MixtureSettings):
    """Attention with the weights of Proposition 3 on drawn samples."""

    epsilon: float = setting(
        0.1,
        origin="ours",
        symbol="epsilon",
        samples=False,
        help="mass",
        alternatives={0.01: "for any epsilon in (0, 1)", 0.5: "for any epsilon in (0, 1)"},
    )
    Gamma_factor: float = setting(
        1.0, origin="ours", samples=False, help="Gamma over its bound; below 1 is a control"
    )
    Gamma_power: int = setting(
        2, origin="inferred", samples=False, help="power of 1/S in Gamma; 1 is section 7's print"
    )

    def __post_init__(self):
        super().__post_init__()
        if not 0 < self.epsilon < 1:
            raise BadInput(f"got epsilon={self.epsilon}; it lies between 0 and 1")


@dataclass(frozen=True)
class InitialisationSettings(MixtureSettings):
    """Properties P1-P3 of a start, over many draws of the signs."""

    H: float = setting(100.0, origin="ours", symbol="H", samples=False, help="heads")
    delta: float = setting(
        0.1,
        origin="ours",
        symbol="delta",
        samples=False,
        help="failure",
        alternatives={0.01: "the paper leaves the probability open"},
    )
    start: Start = setting("phase_1", origin="paper", samples=False, help="or random heads")
    scale: float = setting(1.0, origin="ours", samples=False, help="of a random start")
    epsilon: float = setting(
        0.01, origin="ours", symbol="epsilon", samples=False, help="loss of the target"
    )

    def __post_init__(self):
        super().__post_init__()
        if not 0 < self.delta < 1 or not 0 < self.epsilon < 1:
            raise BadInput(
                f"got delta={self.delta}, epsilon={self.epsilon}; both lie between 0 and 1"
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


@dataclass(frozen=True)
class ImpossibilitySettings:
    """One search for a scaling that section 5.3 rules out."""

    n: float = setting(100.0, origin="ours", symbol="n", help="samples")
    c: float = setting(0.5, origin="paper", symbol="c", help="the model is scaled by 1/H^c")
    power: float = setting(3.0, origin="paper", help="of the distance in (12); 1 is a control")

    def __post_init__(self):
        if not self.n > 2.8:
            raise BadInput(f"got n={self.n}; the argument needs log log n > 0, that is n >= 3")


@dataclass(frozen=True)
class GlobalMarginSettings(MixtureSettings):
    """An ascent of the smallest output over parameters of a given length."""

    H: int = setting(2, origin="ours", symbol="H", samples=False, help="heads")
    length: float = setting(
        2**0.5,
        origin="paper",
        samples=False,
        help="length of the parameters; the paper's is sqrt 2",
    )
    steps: int = setting(600, origin="ours", samples=False, help="steps of Adam")


@dataclass(frozen=True)
class BoundsSettings:
    """The sizes that `attnlab bounds deora2023` takes."""

    T: int = setting(4, origin="ours", symbol="T", help="places in a sample")
    d: int = setting(8, origin="ours", symbol="d", help="dimension of a token")
    M: int = setting(2, origin="ours", symbol="M", help="irrelevant patterns")
    n: float = setting(100.0, origin="ours", symbol="n", help="samples of phase 2")
    n1: float = setting(1e6, origin="ours", symbol="n_1", help="samples of phase 1")
    S: float = setting(1.0, origin="ours", symbol="S", help="length of a pattern")
    zeta: float = setting(0.5, origin="ours", symbol="zeta", help="share of relevant places")
    Z_mu: float = setting(0.0, origin="ours", symbol="Z_mu", help="bound on <z, mu>")
    Z_nu: float = setting(0.0, origin="ours", symbol="Z_nu", help="bound on M <z, nu>")
    Z: float = setting(0.0, origin="ours", symbol="Z", help="bound on |z|")
    H: float = setting(1e6, origin="ours", symbol="H", help="heads of the run")
    K: float = setting(100.0, origin="ours", symbol="K", help="steps of the run")
    eta: float = setting(1.0, origin="ours", symbol="eta", help="step size of the run")
    delta: float = setting(0.1, origin="ours", symbol="delta", help="probability of failure")
    epsilon: float = setting(0.1, origin="ours", symbol="epsilon", help="mass of Proposition 3")

    def __post_init__(self):
        require_bounds(self)


def require_bounds(sizes: Any) -> None:
    """Refuse sizes for which no bound is defined."""
    for name in ("n", "n1", "H", "K", "eta"):
        if not getattr(sizes, name) > 0:
            raise BadInput(f"got {name}={getattr(sizes, name)}; it must be positive")
    for name in ("delta", "epsilon"):
        if not 0 < getattr(sizes, name) < 1:
            raise BadInput(f"got {name}={getattr(sizes, name)}; it lies between 0 and 1")
    if not sizes.K > 1:
        raise BadInput(f"got K={sizes.K}; a target of loss 1/K needs K > 1")
