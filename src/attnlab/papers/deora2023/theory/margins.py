r"""Margins of the tokenised mixture: linear, along theta_*, and of saturated attention.

$$\gamma_\star=\underbrace{\frac{T(1-\zeta)\zeta(\zeta S^4-7\bar ZS^2-12\bar Z^2-16\bar Z^3/S^2)}
  {4\sqrt{2(M+1)}}}_{\text{attention}}-PT^{5/2}(S+Z)^3+
  \underbrace{\frac{S\sqrt T}{\sqrt2}\Bigl(\zeta-2(1-\zeta)\frac{Z_\mu}{S^2}\Bigr)}_{
  \gamma_{\mathrm{lin}}}\tag{7}$$

$$\gamma_{\mathrm{attn}}(\epsilon)=\frac{\sqrt T}{\sqrt2S}(S^2(1-\epsilon)-2\epsilon Z_\mu),\qquad
  \Gamma_\epsilon=\frac{8\sqrt{2(M+1)}}{3S^2}\log\frac{\zeta^{-1}-1}\epsilon\tag{11}$$

gamma_* is along $\|\tilde\theta_\star\|=\sqrt2$ and linear in the features, gamma_attn is an
output for $\|U\|=1$ and any W: the print compares the two, but they are normalised differently.
Section 7 has $\Gamma\sim1/S$ (it is $1/S^2$), $2\epsilon Z_\mu/S$ (it is $/S^2$) and = (it is >=).

Legend: as in `data.mixture_sizes`; $\bar Z=\max(Z_\mu,Z_\nu)$, P the bound on |p| of Lemma 2.
"""

from typing import Protocol

from attnlab.papers.deora2023.theory.real import Real, log


class _Mixture(Protocol):
    """The sizes behind margins: a `MixtureSizes`, or the same as numbers of mpmath."""

    @property
    def T(self) -> Real: ...

    @property
    def M(self) -> Real: ...

    @property
    def S(self) -> Real: ...

    @property
    def zeta(self) -> Real: ...

    @property
    def Z_mu(self) -> Real: ...

    @property
    def Z_nu(self) -> Real: ...

    @property
    def Z(self) -> Real: ...


def first_phase_bound(R: Real, n1: Real, delta: Real) -> Real:
    """Lemma 2, corrected: P = R/(2 sqrt(n1)) (1 + sqrt(2 log(1/delta))), a constant and all."""
    return R / (2 * n1**0.5) * (1 + (2 * log(1 / delta)) ** 0.5)


def printed_first_phase_bound(S: Real, Z: Real, d: Real, n1: Real, delta: Real) -> Real:
    """Lemma 2, equation 6 at C = 1: (2S+Z)(sqrt(d/n1) + sqrt(log(1/delta)/n1))."""
    return (2 * S + Z) * ((d / n1) ** 0.5 + (log(1 / delta) / n1) ** 0.5)


def gamma_linear(sizes: _Mixture) -> Real:
    """The third term of (7): what a linear model, blind to places, surely reaches."""
    noise = 2 * (1 - sizes.zeta) * sizes.Z_mu / sizes.S**2
    return sizes.S * sizes.T**0.5 / 2**0.5 * (sizes.zeta - noise)


def gamma_linear_fixed(sizes: _Mixture) -> Real:
    """The linear margin if the relevant places are fixed: S sqrt(zeta T / 2)."""
    return sizes.S * (sizes.zeta * sizes.T / 2) ** 0.5


def attention_term(sizes: _Mixture) -> Real:
    """The first term of (7): what moving the attention adds."""
    S, zeta, Z = sizes.S, sizes.zeta, max(sizes.Z_mu, sizes.Z_nu)
    bracket = zeta * S**4 - 7 * Z * S**2 - 12 * Z**2 - 16 * Z**3 / S**2
    return sizes.T * (1 - zeta) * zeta * bracket / (4 * (2 * (sizes.M + 1)) ** 0.5)


def first_phase_term(sizes: _Mixture, P: Real) -> Real:
    """The second term of (7): what an inexact first phase takes away."""
    return P * sizes.T**2.5 * (sizes.S + sizes.Z) ** 3


def gamma_star(sizes: _Mixture, P: Real = 0.0) -> Real:
    """Equation (7): a lower bound on the margin along theta_*."""
    return attention_term(sizes) - first_phase_term(sizes, P) + gamma_linear(sizes)


def gamma_attention(sizes: _Mixture, epsilon: Real = 0.0) -> Real:
    """Equation (11): the margin of attention with an irrelevant mass of at most epsilon."""
    S = sizes.S
    return (sizes.T / 2) ** 0.5 / S * (S**2 * (1 - epsilon) - 2 * epsilon * sizes.Z_mu)


def gamma_scale(sizes: _Mixture, epsilon: Real, power: int = 2) -> Real:
    """Gamma_epsilon of Proposition 3; `power` 1 is section 7's print."""
    needed = log((1 / sizes.zeta - 1) / epsilon)
    return 8 * (2 * (sizes.M + 1)) ** 0.5 / (3 * sizes.S**power) * needed


def largest_S_for_order(sizes: _Mixture) -> Real:
    """Without noise, gamma_attn >= gamma_* exactly if S^3 <= 4 sqrt(M+1)/(zeta^2 sqrt(T)).

    The print says that it always is. The factor: gamma_attn - gamma_lin is S sqrt(T/2)(1-zeta).
    """
    return (4 * (sizes.M + 1) ** 0.5 / (sizes.zeta**2 * sizes.T**0.5)) ** (1 / 3)


def relevant_logit_slack(sizes: _Mixture) -> Real:
    """(8): how far a relevant token's logit under W_* can be from S^4."""
    return sizes.S**2 * (sizes.Z_mu + sizes.Z_nu)


def irrelevant_logit_bound(sizes: _Mixture) -> Real:
    """(8): how large an irrelevant token's logit under W_* can be."""
    return 2 * sizes.Z_mu * (sizes.S**2 + sizes.Z_mu + sizes.Z_nu)
