"""Settings of training in two phases: heads, their start, descent."""

from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from attnlab.core import BadInput, setting, shape
from attnlab.papers.deora2023.settings.mixture import MixtureSettings, require_heads
from attnlab.papers.deora2023.theory.conditions import Proof, Theorem

Signs = Literal["random", "balanced"]
Decoder = Literal["full", "pooled", "last"]
StartKind = Literal["phase_1", "random", "zero"]
Aim = Literal["least_bound", "horizon", "corollary_2"]
"""How far a target is: where the bound is smallest, at log(K)/gamma, or at Corollary 2's g_0."""

LARGEST_EXPLICIT = 4096
"""Beyond so many heads the engine `weights` is refused: its time and memory grow with H."""
MOST_KEPT = 2**27
"""Numbers that a path kept state by state may have: a gigabyte."""
FEW_STEPS, USUAL_STEPS = 25, 100
"""Paths of at most so many steps are one program; longer ones are padded to a multiple of it."""


def _not_random(cell: "TrainingSettings") -> str:
    return "" if cell.start == "random" else f"start={cell.start} is not drawn"


def _random(cell: "TrainingSettings") -> str:
    return "random heads have no signs (start=random)" if cell.start == "random" else ""


def _own_step(cell: "TrainingSettings") -> str:
    """Why the theorem's step size is not taken."""
    if cell.start != "phase_1":
        return f"the theorems are about start=phase_1, not {cell.start}"
    return f"the step size is given (eta={cell.eta:g})" if cell.eta > 0 else ""


@dataclass(frozen=True)
class TrainingSettings(MixtureSettings):
    """One training run in two phases."""

    H: float = setting(100.0, origin="ours", symbol="H", help="heads", samples=False)
    signs: Signs = setting(
        "random",
        origin="paper",
        symbol="alpha",
        samples=False,
        help="of phase 1: coins, or even",
        idle=_random,
    )
    output: Decoder = setting(
        "full", origin="paper", symbol="U", shape=True, help="the decoder's shape"
    )
    start: StartKind = setting(
        "phase_1", origin="paper", samples=False, help="one step from zero, random, or zero"
    )
    scale: float = setting(
        1.0,
        origin="ours",
        samples=False,
        help="of a random start: |U_h| is about this",
        idle=_not_random,
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
        "symmetric",
        origin="ours",
        samples=False,
        help="whose constants decide the step size",
        idle=_own_step,
    )
    theorem: Theorem = setting(
        1,
        origin="ours",
        samples=False,
        help="whose step size: Theorem 2's is the smaller",
        idle=_own_step,
    )
    engine: Literal["auto", "weights", "collapsed_heads"] = setting(
        "auto", origin="ours", samples=False, help="auto: collapsed heads where they are exact"
    )

    def __post_init__(self):
        super().__post_init__()
        require_heads(self.H)
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

    @property
    @shape
    def groups(self) -> int:
        """Heads that are computed: each for itself, or one of each sign for all."""
        return int(self.H) if self.engine == "weights" else 2


def _not_from_phase_1(cell: "TrainingSettings") -> str:
    return "" if cell.start == "phase_1" else f"start={cell.start} is not made by phase 1"


def _own_step_and_aim(cell: "GuaranteedSettings") -> str:
    """Why no theorem decides where a run aims and how it steps."""
    if cell.eta == 0 or cell.aim == "least_bound":
        return ""
    return (
        f"the step size is given (eta={cell.eta:g}) and the target is not sought (aim={cell.aim})"
    )


@dataclass(frozen=True)
class CurvatureSettings(TrainingSettings):
    """One training run of which only the curvature at both ends is measured."""

    n1: int = setting(
        1024,
        origin="ours",
        symbol="n_1",
        help="samples of phase 1; 0: their expectation",
        alternatives={512: "half as many", 2048: "twice as many"},
        idle=_not_from_phase_1,
    )


@dataclass(frozen=True)
class GuaranteedSettings(TrainingSettings):
    """One training run beside a target of Theorem 1."""

    aim: Aim = setting(
        "least_bound",
        origin="paper",
        samples=False,
        help="the target's distance: where the bound is least (section 4.1), log(K)/gamma, or g_0",
    )
    n1: int = setting(
        1024,
        origin="ours",
        symbol="n_1",
        help="samples of phase 1; 0: their expectation",
        alternatives={512: "half as many", 2048: "twice as many"},
        idle=_not_from_phase_1,
    )
    proof: Proof = setting(
        "symmetric",
        origin="ours",
        samples=False,
        help="whose constants decide target and step size",
        idle=_own_step_and_aim,
    )
    theorem: Theorem = setting(
        1,
        origin="ours",
        samples=False,
        help="whose step size and bound: Theorem 2's step is the smaller",
        idle=_own_step_and_aim,
    )


@dataclass(frozen=True)
class PathSettings(GuaranteedSettings):
    """One training run of which every state is kept."""

    @property
    @shape
    def padded_steps(self) -> int:
        """How many steps the arrays of a path have room for: K rounded up, few programs."""
        room = FEW_STEPS if self.K <= FEW_STEPS else USUAL_STEPS
        return room * -(-self.K // room)


@dataclass(frozen=True)
class StabilitySettings(PathSettings):
    """A training run with all its leave-one-out models."""

    proof: Proof = setting(
        "symmetric", origin="ours", samples=False, help="whose constants are in step and bounds"
    )


Trained = TypeVar("Trained", bound=TrainingSettings)


def resolve(cell: Trained) -> Trained:
    """Replace `auto`: heads collapse unless their start is random."""
    if cell.engine != "auto":
        return cell
    return replace(cell, engine="weights" if cell.start == "random" else "collapsed_heads")


def resolve_guaranteed(cell: GuaranteedSettings) -> GuaranteedSettings:
    """Replace `auto`; refuse a start at zero, whose tangent features no target here is made of."""
    if cell.start == "zero":
        raise BadInput(
            "got start=zero; a run beside a target starts after phase 1 or at random heads: take "
            "start=phase_1 or start=random"
        )
    return resolve(cell)


def resolve_from_phase_1(cell: Trained) -> Trained:
    """The same for runs that start at phase 1 whatever `start` says."""
    return replace(cell, engine="collapsed_heads") if cell.engine == "auto" else cell


def resolve_kept(cell: PathSettings) -> PathSettings:
    """The same for runs that keep every state; refuse paths that do not fit into memory."""
    cell = resolve_from_phase_1(cell)
    kept = cell.groups * (cell.T * cell.d + cell.d**2) + cell.training_points
    if cell.K * kept > MOST_KEPT:
        raise BadInput(
            f"got K={cell.K} with T={cell.T}, d={cell.d}, {cell.groups} groups of heads and "
            f"{cell.training_points} points; every step is kept, {kept:g} numbers each: take K <= "
            f"{MOST_KEPT // kept:g}, "
            "or a study that keeps none"
        )
    return cell
