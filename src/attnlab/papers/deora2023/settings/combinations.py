"""Settings of what the paper does not have: its heads under another optimiser."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting
from attnlab.papers.deora2023.settings.mixture import MixtureSettings

MOST_HEADS = 1024


@dataclass(frozen=True)
class OptimiserSettings(MixtureSettings):
    """Phase 2 from phase 1's heads, every head for itself, by an optimiser of choice."""

    heads: int = setting(
        16, origin="ours", symbol="H", shape=True, samples=False, help="heads, each for itself"
    )
    optimiser: Literal["adam", "sgd"] = setting(
        "adam",
        origin="ours",
        shape=True,
        samples=False,
        own=True,
        help="sgd, the paper's, is a control",
    )
    rate: float = setting(0.01, origin="ours", symbol="eta", samples=False, help="step size")
    K: int = setting(100, origin="ours", symbol="K", samples=False, help="steps of phase 2")

    def __post_init__(self):
        super().__post_init__()
        if not 1 <= self.heads <= MOST_HEADS or self.K < 1 or not self.rate > 0:
            raise BadInput(
                f"got heads={self.heads}, K={self.K}, rate={self.rate}; 1 to {MOST_HEADS} heads, "
                "at least one step and a positive rate are required"
            )
