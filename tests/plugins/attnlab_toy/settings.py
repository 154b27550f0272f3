"""The settings of the toy paper."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting


@dataclass(frozen=True)
class ToySettings:
    """Descent on f(x) = (lambda/2) |x|^2 from x(0) ~ N(0, I_d), over the time T = steps * eta."""

    dimension: int = setting(8, origin="paper", symbol="d", help="number of coordinates")
    eta: float = setting(0.1, origin="paper", symbol="eta", help="step size")
    horizon: float = setting(1.0, origin="inferred", symbol="T", help="time that is simulated")
    curvature: float = setting(1.0, origin="paper", symbol="lambda", help="median curvature")
    spread: float = setting(0.0, origin="ours", help="log-normal spread of the curvature")
    method: Literal["descent", "midpoint"] = setting(
        "descent", origin="ours", samples=False, help="the integrator; midpoint is a control"
    )
    engine: Literal["auto", "iteration", "closed_form"] = setting(
        "auto", origin="ours", samples=False, help="how the steps are made"
    )
    fault: Literal["none", "exception", "memory", "timeout", "segfault", "killed"] = setting(
        "none", origin="ours", samples=False, help="a fault put into one run"
    )
    fault_seed: int = setting(1, origin="ours", samples=False, help="the seed of the faulty run")
    sleep: float = setting(0.0, origin="ours", samples=False, help="seconds that a run idles")

    def __post_init__(self):
        if self.dimension < 1:
            raise BadInput(
                f"dimension={self.dimension} is too small; a point needs at least 1 coordinate"
            )

    @property
    def steps(self) -> int:
        """The number of steps that make up the horizon."""
        return round(self.horizon / self.eta)


def resolve(cell: ToySettings) -> ToySettings:
    """`auto` takes the iteration: it is as fast, and it is what the statements are about."""
    from dataclasses import replace

    return replace(cell, engine="iteration") if cell.engine == "auto" else cell
