"""Settings of the network on another paper's pattern vote."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting
from attnlab.data.pattern_sizes import pattern_counts, require_patterns


@dataclass(frozen=True)
class PatternVoteSettings:
    """The linear-MLP transformer and the shallow vision transformer on a vote (Li et al. 2023)."""

    n: int = setting(4, origin="ours", symbol="N", shape=True, help="training samples")
    L: int = setting(30, origin="ours", symbol="L", shape=True, help="tokens in a sample")
    d: int = setting(10, origin="ours", symbol="d", shape=True, help="dimension of a token")
    M: int = setting(5, origin="ours", symbol="M", shape=True, help="patterns")
    alpha_star: float = setting(0.4, origin="ours", symbol="alpha_*", help="relevant tokens")
    alpha_sharp: float = setting(0.2, origin="ours", symbol="alpha_#", help="confusion tokens")
    noise: float = setting(0.1, origin="ours", symbol="c_0", help="noise of a token's entries")
    m: int = setting(64, origin="ours", symbol="m", shape=True, help="embedding dimension")
    m1: int = setting(16, origin="ours", symbol="m_1", shape=True, help="linear neurons")
    neurons: int = setting(200, origin="ours", shape=True, help="neurons of the other network")
    learning_rate: float = setting(
        0.01, origin="ours", samples=False, help="step size of the linear network"
    )
    eta: float = setting(0.5, origin="ours", samples=False, help="step size of the other network")
    steps: int = setting(200, origin="ours", samples=False, help="steps of both, full batch")
    labels: Literal["true", "shuffled"] = setting(
        "true", origin="ours", samples=False, help="shuffled is a control: labels are fair coins"
    )

    def __post_init__(self):
        require_patterns(self.M, self.d, 2)
        pattern_counts(self.L, self.M, 2, self.alpha_star, self.alpha_sharp)
        for name in ("n", "m", "m1", "neurons", "steps"):
            if getattr(self, name) < 1:
                raise BadInput(f"got {name}={getattr(self, name)}; at least 1 is required")
        if min(self.learning_rate, self.eta) <= 0 or self.noise < 0:
            raise BadInput(
                f"got learning_rate={self.learning_rate}, eta={self.eta}, noise={self.noise}; "
                "steps are positive and a noise is not negative"
            )
