"""Settings of what is drawn: samples of the tokenised mixture, and what phase 1 makes of them."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting, shape
from attnlab.data.mixture_sizes import MixtureSizes

Noise = Literal["clipped_gaussian", "uniform", "extreme"]
Places = Literal["random", "fixed"]
Support = Literal["samples", "atoms"]

POOL = 4096
"""Samples drawn at once: test samples first, then those of phase 1, training samples last."""
TEST_SAMPLES = 480


def _noise_free(cell: "MixtureSettings") -> str:
    return "" if cell.Z > 0 else "there is no noise (Z=0)"


@dataclass(frozen=True)
class MixtureSettings:
    """A data set of the tokenised mixture and what phase 1 makes of it."""

    T: int = setting(
        4,
        origin="ours",
        symbol="T",
        shape=True,
        help="places in a sample",
        alternatives={8: "twice as many"},
    )
    d: int = setting(
        8,
        origin="ours",
        symbol="d",
        shape=True,
        help="dimension of a token",
        alternatives={16: "twice as many"},
    )
    M: int = setting(
        2,
        origin="ours",
        symbol="M",
        shape=True,
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
        own=True,
        help="kind of noise",
        alternatives={
            "uniform": "Assumption 3 bounds the noise and names no distribution",
            "extreme": "the corners: every bound of Assumption 3 is attained",
        },
        idle=_noise_free,
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
    points: Support = setting(
        "samples", origin="ours", help="samples, or the support with drawn weights (no noise)"
    )
    labels: Literal["true", "shuffled"] = setting(
        "true",
        origin="ours",
        samples=False,
        help="shuffled is a control: labels of the samples that a study learns from are fair coins",
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

    @property
    @shape
    def training_points(self) -> int:
        """How many points the loss is a weighted mean over: samples, or the whole support."""
        return self.mixture().atoms(self.places == "fixed") if self.points == "atoms" else self.n

    def mixture(self) -> MixtureSizes:
        """The mixture's sizes; refuses what cannot exist."""
        return MixtureSizes(self.T, self.d, self.M, self.S, self.zeta, self.Z_mu, self.Z_nu, self.Z)


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


def resolve_first_phase(cell: MixtureSettings) -> MixtureSettings:
    """Refuse the expectation of phase 1: how far samples are from it is what is measured."""
    if cell.n1 == 0:
        raise BadInput(
            "got n1=0, the expectation of phase 1, where the distance of n1 samples from it is "
            "measured; take n1 >= 1"
        )
    return cell


def require_heads(H: float) -> None:
    """Refuse what is no number of heads."""
    if not H >= 1 or int(H) != H:
        raise BadInput(f"got H={H}; a whole number of heads, at least 1, is required")
