"""Settings of what is computed from sizes alone: section 5.3's search, and the table of bounds."""

from dataclasses import dataclass
from typing import Literal

from attnlab.core import BadInput, setting
from attnlab.data.mixture_sizes import MixtureSizes


@dataclass(frozen=True)
class ImpossibilitySettings:
    """One search for a scaling that section 5.3 rules out."""

    n: float = setting(100.0, origin="ours", symbol="n", help="samples")
    c: float = setting(0.5, origin="paper", symbol="c", help="the model is scaled by 1/H^c")
    power: float = setting(3.0, origin="paper", help="of the distance in (12); 1 is a control")

    def __post_init__(self):
        if not self.n > 2.8:
            raise BadInput(f"got n={self.n}; the argument needs log log n > 0, that is n >= 3")


Varied = Literal["H", "d", "T", "R", "gamma", "n"]


@dataclass(frozen=True)
class DemandSettings:
    """Sizes at which section 7's two scalings are read off section 6.1's condition."""

    vary: Varied = setting("H", origin="ours", help="along which size this cell is one of several")
    H: float = setting(1e12, origin="ours", symbol="H", help="heads, for the distance")
    d: float = setting(10.0, origin="ours", symbol="d", help="dimension of a token")
    T: float = setting(10.0, origin="ours", symbol="T", help="places in a sample")
    R: float = setting(1.0, origin="ours", symbol="R", help="longest token")
    gamma: float = setting(1e-3, origin="ours", symbol="gamma", help="margin, for the heads")
    n: float = setting(1e6, origin="ours", symbol="n", help="samples and steps, for the heads")

    def __post_init__(self):
        low = {n: getattr(self, n) for n in ("H", "d", "T", "R") if not getattr(self, n) >= 1}
        if low or not self.gamma > 0 or not self.n > 1:
            raise BadInput(
                f"got {low or {'gamma': self.gamma, 'n': self.n}}; H, d, T and R are at least 1, "
                "gamma is positive and n above 1"
            )


@dataclass(frozen=True)
class SearchSettings:
    """One mixture of which the best signal S is sought, noise-free."""

    T: int = setting(4, origin="ours", symbol="T", help="places in a sample")
    relevant: int = setting(3, origin="ours", symbol="zeta T", help="relevant places")
    d: int = setting(3, origin="ours", symbol="d", help="dimension of a token")
    M: int = setting(1, origin="ours", symbol="M", help="irrelevant patterns")

    def __post_init__(self):
        self.mixture()

    def mixture(self) -> MixtureSizes:
        """The mixture at S = 1; refuses what cannot exist."""
        return MixtureSizes(self.T, self.d, self.M, 1.0, self.relevant / self.T, 0.0, 0.0, 0.0)


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


def require_bounds(sizes: BoundsSettings) -> None:
    """Refuse sizes for which no bound is defined."""
    for name in ("n", "n1", "H", "K", "eta"):
        if not getattr(sizes, name) > 0:
            raise BadInput(f"got {name}={getattr(sizes, name)}; it must be positive")
    for name in ("delta", "epsilon"):
        if not 0 < getattr(sizes, name) < 1:
            raise BadInput(f"got {name}={getattr(sizes, name)}; it lies between 0 and 1")
    if not sizes.K > 1:
        raise BadInput(f"got K={sizes.K}; a target of loss 1/K needs K > 1")
