r"""Theorems 1 and 2 and Corollary 2: the heads and the step size that they ask for.

With D = |theta - theta_0| and m the largest norm of a head of the target theta, the proof of
section 6 gives, with its constants:

$$\sqrt H\ge c\,\beta_3(m+3D')D^2,\qquad
  \eta\le1\wedge\frac1\rho\wedge\frac{D^2}{K\hat L(\theta)}\wedge\frac{D^2}{\hat L(\theta_0)}$$

| variant | c, Theorem 1 | c, Theorem 2 | D' | rho |
|---|---|---|---|---|
| printed | unknown, $dT^{1/2}R^5mD^3$ | unknown | | section 6.1, loose |
| corrected | 18 | 72 | D | section 6.1 with $\sqrt{Td}$ |
| sharp | 169/24 | 14.43 | D | beta_2 at m + 3D, sharp |
| symmetric | 169/24 | 14.43 | $D/\sqrt{c_{\min}}$ | beta_2 at m + 3D', sharp |

Theorem 2 also needs rho >= beta_1^2: section 6.1's rho is far above it, for the tight ones rho is
the larger of beta_2 and beta_1^2.

*corrected* puts |theta_k - theta| <= 3D (6D between two runs) into (18). *sharp* tightens the
quasi-convexity (the middle of a segment is at most half its length from an end: the factor
4/3 becomes 1/(1 - a/8)) and the iterates' bound (sqrt(13/3) D): with a = 8/13 this keeps 5/4 and
4D and gives 169/24 = 7.04; for Theorem 2 the product of the growth factors must stay below 2,
which gives (17/2 + (13/6) log 2)/log 2 = 14.43. *symmetric* uses that equal heads move alike, so
that none of $c_{\min}$ equal ones moves further than $D/\sqrt{c_{\min}}$.
"""

import math
from dataclasses import dataclass
from typing import Literal

from attnlab.core import Hypothesis
from attnlab.papers.deora2023.theory.real import Real, exp, log
from attnlab.papers.deora2023.theory.smoothness import Betas, betas

Proof = Literal["corrected", "sharp", "symmetric"]
Theorem = Literal[1, 2]
PROOFS: tuple[Proof, ...] = ("corrected", "sharp", "symmetric")
THEOREM_1 = {"corrected": 18.0, "sharp": 169 / 24, "symmetric": 169 / 24}
_TIGHT_2 = (17 / 2 + 13 / 6 * math.log(2)) / math.log(2)
THEOREM_2 = {"corrected": 72.0, "sharp": _TIGHT_2, "symmetric": _TIGHT_2}
ITERATES = 3.0
"""|theta_k - theta| is at most this times D."""


@dataclass(frozen=True)
class Target:
    """A target of Theorem 1 on one instance: what its conditions are functions of."""

    T: Real
    d: Real
    R: Real
    H: Real
    D: Real
    """Its distance from the start."""
    m: Real
    """The largest norm of one of its heads."""
    loss: Real
    start_loss: Real
    K: Real
    least_count: Real = 1.0
    """How many heads the smallest group of equal heads has."""


def head_radius(target: Target, proof: Proof) -> Real:
    """m + 3D': how long a head can be anywhere the proof looks."""
    far = target.D / target.least_count**0.5 if proof == "symmetric" else target.D
    return target.m + ITERATES * far


def _betas(target: Target, proof: Proof) -> Betas[Real]:
    variant = "corrected" if proof == "corrected" else "sharp"
    m = head_radius(target, proof)
    return betas(variant, target.T, target.d, target.R, m, target.H)


def heads_needed(target: Target, proof: Proof, theorem: Theorem = 1) -> Real:
    """The H that the theorem asks for (for `symmetric`, at the H that D' was taken at)."""
    constant = (THEOREM_1 if theorem == 1 else THEOREM_2)[proof]
    return (constant * _betas(target, proof).three * target.D**2) ** 2


def printed_heads_needed(target: Target) -> Real:
    """(3) at constant one; it silently takes D and the norm for at least 1."""
    m, D = max(target.m, 1), max(target.D, 1)
    return (target.d * target.T**0.5 * target.R**5 * m * D**3) ** 2


def smoothness(target: Target, proof: Proof, theorem: Theorem = 1) -> Real:
    r"""rho: no smaller than beta_2 at any iterate, nor, for Theorem 2, than beta_1^2.

    Corrected: $(2\sqrt{Td}R^3/\sqrt H+TR^2/4)\,\alpha^2$ with
    $\alpha=3\sqrt dR^2[3\sqrt TR^3(3D+m)+2\sqrt TR]$ (section 6.1).
    """
    if proof != "corrected":
        b = _betas(target, proof)
        return b.two if theorem == 1 else max(b.two, b.one**2)
    return _section_6_1(target, (target.T * target.d) ** 0.5)


def printed_smoothness(target: Target) -> Real:
    """rho of section 6.1 as printed, with sqrt(T) d in place of sqrt(T d): loose."""
    return _section_6_1(target, target.T**0.5 * target.d)


def theorem_smoothness(target: Target) -> Real:
    """Theorem 1's rho <~ d^1.5 T^1.5 R^13 m^2 D^2 at constant one; it drops a term d T^2 R^12."""
    m, D = max(target.m, 1), max(target.D, 1)
    return target.d**1.5 * target.T**1.5 * target.R**13 * m**2 * D**2


def _section_6_1(target: Target, size: Real) -> Real:
    T, d, R = target.T, target.d, target.R
    reach = 3 * target.D + target.m
    alpha = 3 * d**0.5 * R**2 * (3 * T**0.5 * R**3 * reach + 2 * T**0.5 * R)
    return (2 * size * R**3 / target.H**0.5 + T * R**2 / 4) * alpha**2


def step_limits(target: Target, proof: Proof, theorem: Theorem = 1) -> dict[str, Real]:
    """The four upper bounds on the step size; a loss that underflows to 0 bounds nothing."""
    return {
        "1": 1.0,
        "1/rho": 1 / smoothness(target, proof, theorem),
        "D^2/(K L(theta))": _over(target.D**2, target.K * target.loss),
        "D^2/L(theta_0)": _over(target.D**2, target.start_loss),
    }


def _over(part: Real, whole: Real) -> Real:
    return part / whole if whole else math.inf


def largest_step(target: Target, proof: Proof, theorem: Theorem = 1) -> Real:
    """The largest step size that the theorem allows."""
    return min(step_limits(target, proof, theorem).values())


def loss_bound(target: Target, eta: Real) -> Real:
    """(4): 2 L(theta) + 5 D^2/(4 eta K), on the mean training loss."""
    return 2 * target.loss + 5 * target.D**2 / (4 * eta * target.K)


def gap_bound(target: Target, eta: Real, n: Real) -> Real:
    """(5): (4/n)(2 K L(theta) + 9 D^2/(4 eta)), on the expected generalisation gap."""
    return 4 / n * _regret(target, eta)


def stability_bound(target: Target, eta: Real, n: Real, beta_1: Real) -> Real:
    """Section 6.2: the mean leave-one-out distance, (2 eta b1/n)(2 K L(theta) + 9 D^2/(4 eta))."""
    return 2 * eta * beta_1 / n * _regret(target, eta)


def _regret(target: Target, eta: Real) -> Real:
    return 2 * target.K * target.loss + 9 * target.D**2 / (4 * eta)


def hypotheses(
    target: Target, eta: float, proof: Proof, theorem: Theorem = 1
) -> tuple[Hypothesis, ...]:
    """The theorem's conditions with their values; never rounded to a yes or no."""
    needed = heads_needed(target, proof, theorem)
    rows = [Hypothesis(f"heads H ({proof} constants)", float(target.H), float(needed))]
    for name, limit in step_limits(target, proof, theorem).items():
        rows.append(Hypothesis(f"step size against {name}", float(eta), float(limit), "<="))
    return tuple(rows)


# --- Corollary 2: from a good initialisation ---------------------------------------------------


@dataclass(frozen=True)
class GoodStart:
    """P1-P3 of Definition 1: bounds on heads and outputs, and the margin along |theta_*|=sqrt 2."""

    B_2: Real
    B_Phi: Real
    gamma: Real


def target_distance(start: GoodStart, epsilon: Real) -> Real:
    """g_0: sqrt(2)(2 B + log 1/eps)/gamma. The print drops sqrt(2), the length of theta_*."""
    return 2**0.5 * printed_target_distance(start, epsilon)


def printed_target_distance(start: GoodStart, epsilon: Real) -> Real:
    """g_0 as printed."""
    return (2 * start.B_Phi + log(1 / epsilon)) / start.gamma


def target_of(start: GoodStart, T: Real, d: Real, R: Real, H: Real, K: Real) -> Target:
    """The target that a good start yields, with loss at most 1/K (Proposition 7)."""
    D = target_distance(start, 1 / K)
    # log(1 + e^B) as it does not overflow.
    first_loss = start.B_Phi + log(1 + exp(-start.B_Phi))
    return Target(T, d, R, H, D, start.B_2 + D / H**0.5, 1 / K, first_loss, K)


def realisable_heads(start: GoodStart, T: Real, d: Real, R: Real, H: Real, epsilon: Real) -> Real:
    """Proposition 7, reconstructed: the H for which the target's loss is at most epsilon.

    The curvature may take away B of the 2B + log(1/eps) that the first order gives.
    """
    D = target_distance(start, epsilon)
    three = betas("corrected", T, d, R, start.B_2 + D / H**0.5, H).three
    return (three * D**2 / (2 * start.B_Phi)) ** 2


def printed_corollary_heads(start: GoodStart, T: Real, d: Real, R: Real, K: Real) -> Real:
    """Corollary 2's H at constant one: (d T^1/2 R^5 B_2^2 g_0(1/K)^3)^2."""
    g = printed_target_distance(start, 1 / K)
    return (d * T**0.5 * R**5 * start.B_2**2 * g**3) ** 2


def printed_corollary_smoothness(start: GoodStart, T: Real, d: Real, R: Real, K: Real) -> Real:
    """Corollary 2's rho(K) at constant one (B_2 dropped, as printed)."""
    return d**1.5 * T**1.5 * R**13 * printed_target_distance(start, 1 / K) ** 4


def corollary_bounds(start: GoodStart, eta: Real, K: Real, n: Real) -> tuple[Real, Real]:
    """Corollary 2's bounds on training loss and gap, with g_0 corrected by its sqrt(2).

    The gap: (4/n)(2 + 9 g^2/(4 eta)), of which the print is the case g^2 >= eta.
    """
    g = target_distance(start, 1 / K)
    return 2 / K + 5 * g**2 / (4 * eta * K), 4 / n * (2 + 9 * g**2 / (4 * eta))
