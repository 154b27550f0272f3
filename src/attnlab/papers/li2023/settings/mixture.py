"""Settings of the network on the tokens of another paper's mixture."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting
from attnlab.data.mixture_sizes import MixtureSizes


@dataclass(frozen=True)
class MixtureVoteSettings:
    """The shallow vision transformer on the tokenised mixture DM1 (Deora et al. 2023)."""

    N: int = setting(64, origin="ours", symbol="N", shape=True, help="training samples")
    T: int = setting(8, origin="ours", symbol="T", shape=True, help="tokens in a sample")
    d: int = setting(12, origin="ours", symbol="d", shape=True, help="dimension of a token")
    M: int = setting(4, origin="ours", symbol="M", shape=True, help="irrelevant patterns")
    S: float = setting(2.0, origin="ours", symbol="S", help="length of a pattern")
    zeta: float = setting(0.25, origin="ours", symbol="zeta", help="share of relevant tokens")
    m: int = setting(64, origin="ours", symbol="m", shape=True, help="neurons")
    eta: float = setting(0.2, origin="ours", samples=False, symbol="eta", help="step size")
    steps: int = setting(300, origin="ours", samples=False, symbol="T", help="steps, full batch")
    labels: Literal["true", "shuffled"] = setting(
        "true", origin="ours", samples=False, help="shuffled is a control: labels permuted"
    )

    def __post_init__(self):
        MixtureSizes(self.T, self.d, self.M, self.S, self.zeta)
        if min(self.N, self.m, self.steps) < 1 or not self.eta > 0:
            raise BadInput(
                f"got N={self.N}, m={self.m}, steps={self.steps}, eta={self.eta}; at least 1 of "
                "each and a positive step are required"
            )
