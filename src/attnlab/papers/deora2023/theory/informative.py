r"""From which number of steps on Theorem 1 and Corollary 2 say something, Theorem 2 of samples.

For many heads the target at distance D along the direction of the largest tangent margin has the
loss $\ell=\log(1+e^{-\gamma D})$, and (4) at the step $1/\rho(D)$ is below the loss at the start,
log 2 (section 6.1's rho), from

$$K(D)=\frac{5D^2\rho(D)}{4(\log2-2\ell)},\qquad\ell\le\frac{4\log2}{13}$$

on (a larger loss limits the step by $D^2/(K\ell)$, and (4) is then $\tfrac{13}4\ell$ for every K).
K is smallest over D, and then over the signal S. Corollary 2 fixes $D=\sqrt2g_0(1/K)$ at
$B_\Phi=1$, so that its K solves an equation.

Legend: gamma the margin for a direction of length one, $\sqrt{\gamma_{lin}^2+a^2}$ with the
attention term a of (7) at P = 0; rho section 6.1's at many heads; signs are even.
"""

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.papers.deora2023.theory import conditions, margins
from attnlab.papers.deora2023.theory.conditions import Proof, Target

Promise = Literal["theorem_1", "corollary_2"]
MANY = 1e300
"""Heads without end: what the constants need of H is asked for afterwards."""
OUTPUTS = np.linspace(-math.log(math.expm1(4 * math.log(2) / 13)) + 1e-9, 12.0, 120)
"""gamma D of the targets that are tried."""
NEAR_AND_FAR = np.geomspace(0.01, 12.0, 120)
"""gamma D of the targets that are tried for Theorem 2, which a loss of any size allows."""
STRENGTHS = np.geomspace(0.1, 10.0, 61)


@dataclass(frozen=True)
class Informative:
    """Where a bound on the loss begins to say something."""

    steps: float
    """K: from here on the bound is below log 2; infinite if nowhere."""
    distance: float
    heads: float
    """H that the theorem asks for there."""


NOWHERE = Informative(math.inf, math.inf, math.inf)


def unit_margin(sizes: MixtureSizes) -> float:
    """The tangent margin that a direction of length one surely has after an exact phase 1."""
    linear = max(margins.gamma_linear(sizes), 0.0)
    return math.hypot(linear, max(margins.attention_term(sizes), 0.0))


def target_at(sizes: MixtureSizes, D: float, K: float, loss: float) -> Target:
    """The target at this distance, with heads without end."""
    m = sizes.T**0.5 * sizes.zeta * 2**0.5 * sizes.S / 4
    return Target(
        T=sizes.T, d=sizes.d, R=sizes.R, H=MANY, D=D, m=m, loss=loss, start_loss=math.log(2), K=K,
        least_count=MANY,
    )  # fmt: skip


def theorem_1(sizes: MixtureSizes, proof: Proof = "corrected") -> Informative:
    """The smallest K at which (4) is below log 2, over targets."""
    gamma, best = unit_margin(sizes), NOWHERE
    if gamma <= 0:
        return best
    for x in OUTPUTS:
        loss, D = math.log1p(math.exp(-x)), float(x / gamma)
        target = target_at(sizes, D, 1.0, loss)
        # The step is at most 1 and D^2/log 2 too; both are the larger ones for usual sizes.
        eta = min(1 / conditions.smoothness(target, proof), 1.0, D**2 / math.log(2))
        K = 5 * D**2 / (4 * eta * (math.log(2) - 2 * loss))
        if best.steps > K:
            best = Informative(K, D, float(conditions.heads_needed(target, proof)))
    return best


def samples(sizes: MixtureSizes, K: float, proof: Proof = "corrected") -> float:
    """Theorem 2: the smallest n at which (5) after K steps is below log 2, over targets."""
    gamma = unit_margin(sizes)
    if gamma <= 0:
        return math.inf
    bounds = []
    for x in NEAR_AND_FAR:
        target = target_at(sizes, float(x / gamma), K, math.log1p(math.exp(-x)))
        eta = conditions.largest_step(target, proof, 2)
        bounds.append(float(conditions.gap_bound(target, eta, 1.0)))
    return min(bounds) / math.log(2)


def iterates(sizes: MixtureSizes, proof: Proof = "corrected") -> float:
    r"""The smallest K at which 4D says more than $\sqrt{2\eta K\hat L(\theta_0)}$ does.

    Descent alone gives the latter. With the step 1/rho that is K = 8 D^2 rho/log 2; the step's
    limit D^2/(K l) then needs l <= log(2)/8.
    """
    gamma = unit_margin(sizes)
    if gamma <= 0:
        return math.inf
    least = -math.log(math.expm1(math.log(2) / 8))
    D = least / gamma
    rho = conditions.smoothness(target_at(sizes, D, 1.0, math.log(2) / 8), proof)
    return float(8 * D**2 * rho / math.log(2))


def corollary_bound(sizes: MixtureSizes, K: float, proof: Proof = "corrected") -> float:
    """Corollary 2's bound on the loss at the longest step that section 6.1's rho allows."""
    g, target = _corollary_target(sizes, K)
    eta = min(1 / conditions.smoothness(target, proof, 2), 1.0, 4 * g**2 / math.log1p(math.e))
    return 2 / K + 5 * g**2 / (4 * eta * K)


def _corollary_target(sizes: MixtureSizes, K: float) -> tuple[float, Target]:
    """g_0(1/K) as printed at B_Phi = 1, and the target at sqrt 2 of it."""
    gamma = 2**0.5 * unit_margin(sizes)
    g = (2 + math.log(K)) / gamma
    return g, target_at(sizes, 2**0.5 * g, K, 1 / K)


def corollary_2(sizes: MixtureSizes, proof: Proof = "corrected") -> Informative:
    """The smallest K at which Corollary 2's bound is below log 2, by bisection in its logarithm."""
    if unit_margin(sizes) <= 0:
        return NOWHERE
    low, high = math.log(10.0), math.log(1e30)
    if corollary_bound(sizes, math.exp(high), proof) >= math.log(2):
        return NOWHERE
    for _ in range(80):
        middle = (low + high) / 2
        above = corollary_bound(sizes, math.exp(middle), proof) >= math.log(2)
        low, high = (middle, high) if above else (low, middle)
    _, target = _corollary_target(sizes, math.exp(high))
    heads = float(conditions.heads_needed(target, proof, 2))
    return Informative(math.exp(high), float(target.D), heads)


def best_strength(sizes: MixtureSizes, promise: Promise) -> tuple[float, Informative]:
    """The signal S, noise in proportion to S^2, at which K is smallest."""
    find = theorem_1 if promise == "theorem_1" else corollary_2
    found = []
    for S in STRENGTHS:
        grown = (S / sizes.S) ** 2
        other = replace(
            sizes, S=float(S), Z_mu=sizes.Z_mu * grown, Z_nu=sizes.Z_nu * grown,
            Z=sizes.Z * S / sizes.S,
        )  # fmt: skip
        found.append((float(S), find(other)))
    return min(found, key=lambda pair: pair[1].steps)
