r"""Proposition 1 and Corollary 1: how steep and how curved model and loss can be.

$$\|\nabla\hat L\|\le\beta_1\hat L,\qquad \|\nabla^2\hat L\|\le\beta_2=\frac{\beta_3}{\sqrt H}+
  \frac{\beta_1^2}4,\qquad \lambda_{\min}(\nabla^2\hat L)\ge-\frac{\beta_3}{\sqrt H}\hat L$$

| variant | beta_1 | beta_3 |
|---|---|---|
| printed | $\sqrt T R(2R^2m+1)$ | $2\sqrt T d R^3(3\sqrt d R^2m+1)$ |
| corrected | as printed | $2\sqrt{Td}R^3(3\sqrt dR^2m+1)$: the print is loose |
| sharp (ours) | $\sqrt TR\sqrt{R^4m^2+1}$ | $\sqrt TR^3(2R^2m+1)$, free of the dimension |

Every function takes floats, numpy arrays or numbers of mpmath.

Legend: m the largest $\|U_h\|$ (or $\|\theta_h\|$, which is looser), R >= 1 the longest token, T
places, d the dimension, H heads.
"""

from dataclasses import dataclass
from typing import Generic, Literal, TypeVar

import numpy as np

from attnlab.papers.deora2023.theory.real import Real

Variant = Literal["printed", "corrected", "sharp"]
Size = TypeVar("Size", Real, np.ndarray)
"""What is bounded at one place, or along a path."""
VARIANTS: tuple[Variant, ...] = ("printed", "corrected", "sharp")


@dataclass(frozen=True)
class Betas(Generic[Size]):
    """beta_1, beta_2 and beta_3 at one place."""

    one: Size
    two: Size
    three: Size


def beta_1(variant: Variant, T: Real, R: Real, m: Size) -> Size:
    """Self-boundedness of the loss: |grad L| <= beta_1 L."""
    if variant == "sharp":
        return T**0.5 * R * (R**4 * m**2 + 1) ** 0.5
    return T**0.5 * R * (2 * R**2 * m + 1)


def beta_3(variant: Variant, T: Real, d: Real, R: Real, m: Size) -> Size:
    """Weak convexity of the loss: lambda_min >= -beta_3 L / sqrt(H)."""
    if variant == "sharp":
        return T**0.5 * R**3 * (2 * R**2 * m + 1)
    size = T**0.5 * d if variant == "printed" else (T * d) ** 0.5
    return 2 * size * R**3 * (3 * d**0.5 * R**2 * m + 1)


def betas(variant: Variant, T: Real, d: Real, R: Real, m: Size, H: Real) -> Betas[Size]:
    """All three."""
    one, three = beta_1(variant, T, R, m), beta_3(variant, T, d, R, m)
    return Betas(one, three / H**0.5 + one**2 / 4, three)


def pooled_beta_1(T: Real, R: Real, m: Real) -> Real:
    """beta_1 for the pooled decoder, m the largest |u_h|: T R, not sqrt(T) R, stands in front."""
    return T * R * (2 * R**2 * m + 1)


def gradient_bound(T: Real, longest: Real, decoded: Real, variant: Variant = "printed") -> Real:
    r"""Proposition 1, gradient: $2\|X\|_{2,\infty}^2\sum_t\|Xu_t\|_\infty+\sqrt T\|X\|_{2,\infty}$.

    `longest` is the longest token, `decoded` the sum over t of max_t' |x_t' u_t|. Sharp: both
    parts as legs of a right triangle, and without the 2.
    """
    if variant == "sharp":
        return ((longest**2 * decoded) ** 2 + T * longest**2) ** 0.5
    return 2 * longest**2 * decoded + T**0.5 * longest


def hessian_bound(
    T: Real, d: Real, longest: Real, largest: Real, decoded: Real, variant: Variant = "printed"
) -> Real:
    r"""Proposition 1, Hessian, exactly as printed, with $\|X\|_{1,\infty}=\max|X_{tj}|$.

    $$6d\|X\|_{2,\infty}^2\|X\|_{1,\infty}^2\sum_t\|Xu_t\|_\infty
      +2\sqrt{Td}\|X\|_{2,\infty}^2\|X\|_{1,\infty}$$

    Sharp (ours): $2\|X\|_{2,\infty}^4\sum_t\|Xu_t\|_\infty+\sqrt T\|X\|_{2,\infty}^3$.
    """
    if variant == "sharp":
        return 2 * longest**4 * decoded + T**0.5 * longest**3
    first = 6 * d * longest**2 * largest**2 * decoded
    return first + 2 * (T * d) ** 0.5 * longest**2 * largest
