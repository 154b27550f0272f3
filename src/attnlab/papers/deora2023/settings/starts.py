"""Settings of the properties that a start has before phase 2."""

from dataclasses import dataclass

from attnlab.core import BadInput, setting
from attnlab.papers.deora2023.settings.mixture import MixtureSettings, require_heads
from attnlab.papers.deora2023.settings.training import StartKind

MOST_RANDOM_HEADS = 2**20
"""Random heads whose kernels are added up one by one."""


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
    start: StartKind = setting("phase_1", origin="paper", samples=False, help="or random heads")
    scale: float = setting(1.0, origin="ours", samples=False, help="of a random start")
    epsilon: float = setting(
        0.01, origin="ours", symbol="epsilon", samples=False, help="loss of the target"
    )

    def __post_init__(self):
        super().__post_init__()
        require_heads(self.H)
        if not 0 < self.delta < 1 or not 0 < self.epsilon < 1:
            raise BadInput(
                f"got delta={self.delta}, epsilon={self.epsilon}; both lie between 0 and 1"
            )


def resolve_random(cell: InitialisationSettings) -> InitialisationSettings:
    """Refuse more random heads than can be drawn."""
    if cell.H > MOST_RANDOM_HEADS:
        raise BadInput(
            f"got H={cell.H:g}; random heads are drawn one by one, at most {MOST_RANDOM_HEADS} of "
            "them: take fewer"
        )
    return cell
