r"""Which sizes a tokenised mixture can have. Plain arithmetic: settings check it before a run.

Deora et al. 2023, section 5, data model DM1 under Assumption 3. M+2 orthogonal patterns of
length S: $\mu_+,\mu_-,\nu_1\dots\nu_M$. Of T places, $\zeta T$ hold $\mu_y$ and each other one
$\nu_j+z$ with

$$|\langle z,\mu_\pm\rangle|\le Z_\mu,\qquad |\langle z,\nu_l\rangle|\le Z_\nu/M,\qquad
  \|z\|\le Z,\qquad R=\max\bigl(1,\sqrt{S^2+Z^2+2Z_\nu/M}\bigr).$$

Legend: T places, d the dimension, M irrelevant patterns, S their length, zeta the share of
relevant places, Z_mu, Z_nu, Z the noise's bounds, R the longest a token can be. The print has no
max with 1, but its bounds ask for R >= 1.
"""

import math
from dataclasses import dataclass

from attnlab.core import BadInput

MOST_ATOMS = 20_000


@dataclass(frozen=True)
class MixtureSizes:
    """The sizes of a mixture; making one refuses what cannot exist."""

    T: int
    d: int
    M: int
    S: float
    zeta: float
    Z_mu: float = 0.0
    Z_nu: float = 0.0
    Z: float = 0.0

    def __post_init__(self) -> None:
        if self.T < 2 or self.M < 1 or not self.S > 0:
            raise BadInput(
                f"got T={self.T}, M={self.M}, S={self.S}; at least two places, one irrelevant "
                "pattern and a positive length are required"
            )
        if self.d < self.M + 2:
            raise BadInput(
                f"got d={self.d} with M={self.M}; M+2 orthogonal patterns need d >= {self.M + 2}: "
                f"raise d or take M <= {self.d - 2}"
            )
        count = self.zeta * self.T
        if abs(count - round(count)) > 1e-9:
            raise BadInput(
                f"got zeta={self.zeta} with T={self.T}, that is {count:g} relevant places; their "
                f"number must be whole: take zeta = k/{self.T}, e.g. {round(count) / self.T:g}"
            )
        if not 1 <= round(count) <= self.T - 1:
            raise BadInput(
                f"got zeta={self.zeta} with T={self.T}, that is {round(count)} relevant places; "
                f"from 1 to {self.T - 1} are required: take zeta between {1 / self.T:g} and "
                f"{1 - 1 / self.T:g}"
            )
        if min(self.Z_mu, self.Z_nu, self.Z) < 0:
            raise BadInput(
                f"got Z_mu={self.Z_mu}, Z_nu={self.Z_nu}, Z={self.Z}; bounds of a size cannot be "
                "negative: give 0 for no noise"
            )
        if self.least_Z**2 * (1 - 1e-12) > self.Z**2:
            raise BadInput(
                f"got Z={self.Z}, that is Z^2={self.Z**2:g}, but noise that may reach "
                f"Z_mu={self.Z_mu} and Z_nu/M={self.Z_nu / self.M:g} along every pattern needs "
                f"Z^2 >= 2 Z_mu^2/S^2 + Z_nu^2/(M S^2) = {self.least_Z**2:g}; take "
                f"Z >= {self.least_Z:g}, or smaller Z_mu and Z_nu"
            )

    @property
    def relevant(self) -> int:
        """How many places are relevant: zeta T."""
        return round(self.zeta * self.T)

    @property
    def least_Z(self) -> float:
        """The smallest Z that leaves room for the noise along the patterns."""
        return math.sqrt(2 * self.Z_mu**2 + self.Z_nu**2 / self.M) / self.S

    @property
    def rest_radius(self) -> float:
        """How long the noise may be orthogonally to all patterns."""
        return math.sqrt(max(self.Z**2 - self.least_Z**2, 0.0))

    @property
    def longest(self) -> float:
        """How long a token can be: sqrt(S^2 + Z^2 + 2 Z_nu/M)."""
        return math.sqrt(self.S**2 + self.Z**2 + 2 * self.Z_nu / self.M)

    @property
    def R(self) -> float:
        """max(1, the longest a token can be): the R of Assumption 1."""
        return max(1.0, self.longest)

    @property
    def noise_free(self) -> bool:
        """Whether the irrelevant tokens are patterns exactly."""
        return self.Z == 0

    def atoms(self, fixed_places: bool) -> int:
        """How many samples the noise-free mixture has, all equally likely."""
        sets = 1 if fixed_places else math.comb(self.T, self.relevant)
        return 2 * sets * self.M ** (self.T - self.relevant)

    def require_atoms(self, fixed_places: bool) -> int:
        """The number of atoms; refuse if there is noise, or if they are too many."""
        if not self.noise_free:
            raise BadInput(
                f"got Z={self.Z} with points=atoms; only the mixture without noise has finite "
                "support: take Z_mu=Z_nu=Z=0, or points=samples"
            )
        digits = self._log_atoms(fixed_places) / math.log(10)
        # A count of thousands of digits takes longer than anybody waits.
        count = self.atoms(fixed_places) if digits < 15 else math.inf
        if count > MOST_ATOMS:
            number = count if digits < 15 else f"about 10^{digits:.0f}"
            raise BadInput(
                f"got T={self.T}, M={self.M}, zeta={self.zeta}: {number} atoms; at most "
                f"{MOST_ATOMS} are enumerated: take smaller sizes, or points=samples"
            )
        return int(count)

    def _log_atoms(self, fixed_places: bool) -> float:
        """The logarithm of `atoms`, within rounding."""
        chosen, others = self.relevant, self.T - self.relevant
        sets = math.lgamma(self.T + 1) - math.lgamma(chosen + 1) - math.lgamma(others + 1)
        return math.log(2) + (0.0 if fixed_places else sets) + others * math.log(self.M)
