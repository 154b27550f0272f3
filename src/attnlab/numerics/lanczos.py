r"""The two ends of a symmetric operator's spectrum, by Lanczos (scipy's `eigsh`).

A Ritz pair $(\lambda,x)$ with $\|x\|=1$ is off by no more than its residual: some eigenvalue lies
within $\|Ax-\lambda x\|$ of $\lambda$. The residual is measured, not taken from the routine.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse.linalg import LinearOperator, eigsh

from attnlab.core import BadInput

Product = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class SpectrumEnds:
    """The smallest and the largest eigenvalue, each with the residual of its Ritz pair."""

    smallest: float
    largest: float
    smallest_residual: float
    largest_residual: float

    @property
    def norm(self) -> float:
        """The spectral norm."""
        return max(abs(self.smallest), abs(self.largest))


def spectrum_ends(product: Product, size: int, *, seed: int = 0, tol: float = 0.0) -> SpectrumEnds:
    """The ends of the spectrum of the symmetric operator x -> product(x) on `size` numbers.

    They are nan if the operator's numbers are not finite.
    """
    if size < 3:
        raise BadInput(f"got an operator on {size} numbers; Lanczos needs at least 3: use eigvalsh")
    operator = LinearOperator((size, size), matvec=product, dtype=float)  # pyright: ignore
    begin = np.random.default_rng(seed).normal(size=size)
    image = product(begin)
    if not np.isfinite(image).all():
        return SpectrumEnds(np.nan, np.nan, np.nan, np.nan)
    if not image.any():  # a random vector is mapped to zero by the zero operator alone
        return SpectrumEnds(0.0, 0.0, 0.0, 0.0)
    ends = []
    for which in ("SA", "LA"):
        values, vectors = eigsh(
            operator,
            k=1,
            which=which,
            v0=begin,
            tol=tol,  # pyright: ignore[reportArgumentType]
        )
        x = vectors[:, 0] / np.linalg.norm(vectors[:, 0])
        ends.append((float(values[0]), float(np.linalg.norm(product(x) - values[0] * x))))
    (smallest, error), (largest, other) = ends
    return SpectrumEnds(smallest, largest, error, other)
