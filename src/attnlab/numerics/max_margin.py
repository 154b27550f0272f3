r"""Hard-margin support vectors without an intercept, with a certificate.

$$\hat w = \arg\min \|w\| \;\text{ subject to }\; y_i \langle w, x_i\rangle \ge 1, \qquad
  \gamma = 1/\|\hat w\|, \qquad \hat w = \sum_i \alpha_i y_i x_i,\; \alpha \ge 0 .$$

This is least-distance programming, which Lawson and Hanson reduce to non-negative least squares:
with the columns $(y_i x_i, 1)$ in E and the last unit vector f, minimise $\|Eu-f\|$ over
$u\ge0$; then $\alpha = u/(1-\sum u)$.

What comes back is not trusted but measured. Any $\alpha\ge0$ and its $w=\sum\alpha_i y_i x_i$
enclose the margin,

$$\min_i y_i\langle w, x_i\rangle/\|w\| \;\le\; \gamma \;\le\; \|w\|/\textstyle\sum_i\alpha_i ,$$

the left side by a feasible direction and the right side by duality; `gap` is their relative
distance. Data are called separable only if the left side is positive.

Legend: n samples $x_i$ with labels $y_i$, p features, w the direction, gamma the margin, alpha
the dual coefficients. `sklearn.svm.SVC` is no substitute: it fits an intercept.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh, solve_triangular
from scipy.optimize import nnls

from attnlab.core import BadInput

Outputs = Callable[[np.ndarray], np.ndarray]

_GAP_AIMED_AT = 1e-12
_MOST_PASSES = 3


class _Enclosure(NamedTuple):
    """A dual >= 0 and the two sides between which the margin lies by it."""

    dual: np.ndarray
    lower: float
    upper: float

    @property
    def gap(self) -> float:
        return max(1 - self.lower / self.upper, 0.0) if self.upper > 0 else 1.0


@dataclass(frozen=True)
class MaxMargin:
    """The solution of a hard-margin problem, with the evidence for it."""

    separable: bool
    margin: float
    """gamma, as reached by `direction`; 0 if the data are not separable."""
    margin_bound: float
    """No direction of any kind has a larger margin than this (duality)."""
    gap: float
    """1 - margin/margin_bound; 1 if the data are not separable. Rounding alone leaves about
    1e-16 x the longest sample / the margin: 1e-13 for usual data, more for lengths far apart."""
    direction: np.ndarray | None
    """w, scaled so that min_i y_i w.x_i = 1. None for a Gram matrix or inseparable data."""
    dual: np.ndarray
    """alpha (n,), with sum alpha_i y_i x_i = w up to the gap. For inseparable data: weights that
    sum to one under which the signed samples cancel, which is the proof of it."""
    signed_outputs: np.ndarray
    """y_i w.x_i (n,): 1 on the support, more elsewhere."""

    @property
    def support(self) -> np.ndarray:
        """The indices of the samples with a positive dual coefficient."""
        return np.flatnonzero(self.dual > 0)

    @property
    def message(self) -> str:
        """A sentence: what was found."""
        if self.separable:
            return (
                f"separable with margin {self.margin:.6g}; {len(self.support)} of "
                f"{len(self.dual)} samples support it; certified to a relative gap of "
                f"{self.gap:.1e}"
            )
        return (
            "not separable by a direction through the origin: a weighted mean of the signed "
            f"samples has length {self.margin_bound:.1e}, and no margin can be larger"
        )


def max_margin(features: np.ndarray, labels: np.ndarray | None = None) -> MaxMargin:
    """Solve for features (n, p) and labels (n,) of -1 and +1; no labels: rows are y_i x_i."""
    A, unit = _in_units(_signed_rows(features, labels))
    n, p = A.shape
    # More features than samples: in an orthonormal basis of the rows' span they are n at most.
    rows = _triangle(A.T).T if p > n else A
    solution = _solve(np.ascontiguousarray(rows), A, lambda dual: A @ (A.T @ dual))
    return _in_given_scale(solution, unit)


def max_margin_of_gram(gram: np.ndarray, labels: np.ndarray | None = None) -> MaxMargin:
    """Solve from inner products <x_i, x_j> (n, n); no labels: they are of the signed samples."""
    K = np.asarray(gram, float)
    if K.ndim != 2 or K.shape[0] != K.shape[1] or not np.allclose(K, K.T, rtol=1e-8, atol=0):
        raise BadInput(
            f"got a Gram matrix of shape {K.shape}; it must be square and symmetric: give "
            "X @ X.T of the features (n, p)"
        )
    K = _signed_rows(_signed_rows(K, labels).T, labels)
    K, unit = _in_units((K + K.T) / 2)
    values, vectors = eigh(K)
    kept = values > len(K) * np.finfo(float).eps * max(values[-1], 0.0)
    if values[0] < -1e-8 * max(values[-1], 0.0):
        raise BadInput(
            f"got a Gram matrix with eigenvalues from {values[0]:.3g} to {values[-1]:.3g}; inner "
            "products have none below zero: check how it was computed"
        )
    rows = vectors[:, kept] * np.sqrt(values[kept])
    solution = _solve(rows, None, lambda dual: K @ dual)
    return _in_given_scale(solution, float(np.sqrt(unit)))


def _signed_rows(features: np.ndarray, labels: np.ndarray | None) -> np.ndarray:
    X = np.asarray(features, float)
    if X.ndim != 2 or 0 in X.shape or not np.isfinite(X).all():
        raise BadInput(
            f"got features of shape {X.shape}, {np.isfinite(X).sum()} of {X.size} finite; give a "
            "finite array (samples, features) with at least one of each"
        )
    if labels is None:
        return X
    y = np.asarray(labels, float)
    if y.shape != X.shape[:1] or not np.isin(y, (-1, 1)).all():
        raise BadInput(
            f"got labels of shape {y.shape} with values {np.unique(y)[:5]}; give {len(X)} labels, "
            "each -1 or +1"
        )
    return y[:, None] * X


def _in_units(numbers: np.ndarray) -> tuple[np.ndarray, float]:
    """The numbers in units of about their largest, a power of four so that nothing is rounded."""
    largest = float(np.abs(numbers).max())
    unit = 4.0 ** np.round(np.log2(largest) / 2) if largest > 0 else 1.0
    return numbers / unit, unit


def _in_given_scale(solution: MaxMargin, unit: float) -> MaxMargin:
    """The solution for features `unit` times as long."""
    return replace(
        solution,
        margin=solution.margin * unit,
        margin_bound=solution.margin_bound * unit,
        direction=None if solution.direction is None else solution.direction / unit,
        dual=solution.dual / unit**2 if solution.separable else solution.dual,
    )


def _solve(rows: np.ndarray, A: np.ndarray | None, outputs_of: Outputs) -> MaxMargin:
    """Solve for signed `rows` (n, r); `outputs_of(dual)` gives y_i w.x_i in the given data."""
    longest = float(np.sqrt((rows**2).sum(axis=1).max(initial=0.0)))
    if longest == 0:
        return _not_separable(np.eye(1, len(rows))[0], 0.0)
    rounding = 16 * np.finfo(float).eps * longest
    scale, best = longest, _enclosed(np.ones(len(rows)), outputs_of)
    nearest = best
    for _ in range(_MOST_PASSES):
        weights = _nonnegative_weights(rows / scale)
        tried = [_enclosed(w, outputs_of) for w in (weights, _polished(rows, weights))]
        best = min(best, *tried, key=lambda enclosure: enclosure.gap)
        nearest = min(nearest, *tried, key=lambda enclosure: enclosure.upper)
        if best.upper - best.lower <= max(_GAP_AIMED_AT * best.upper, rounding):
            break
        # The method is most accurate for margin one, which is only known after a first pass.
        scale = max(nearest.upper, 1e-12 * longest)
    # A margin below the rounding of the inner products proves nothing.
    if best.lower <= 4 * rounding:
        return _not_separable(nearest.dual / nearest.dual.sum(), nearest.upper)
    return _separable(best, A, outputs_of)


def _enclosed(dual: np.ndarray, outputs_of: Outputs) -> _Enclosure:
    outputs = outputs_of(dual)
    norm = np.sqrt(max(dual @ outputs, 0.0))
    return _Enclosure(dual, outputs.min() / norm if norm > 0 else -np.inf, norm / dual.sum())


def _nonnegative_weights(rows: np.ndarray) -> np.ndarray:
    """Minimise |E u - f| over u >= 0; columns of unit length, so that no sample is favoured."""
    E = np.vstack([rows.T, np.ones(len(rows))])
    lengths = np.sqrt((E**2).sum(axis=0))
    f = np.zeros(len(E))
    f[-1] = 1
    u, _ = nnls(E / lengths, f, maxiter=30 * len(rows))
    return u / lengths


def _triangle(columns: np.ndarray) -> np.ndarray:
    """R of columns = Q R, at most square: the columns in an orthonormal basis of their span."""
    return np.asarray(np.linalg.qr(columns, mode="r"))


def _polished(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """The dual for which every sample of the support is at one exactly, where that is a dual."""
    support = np.flatnonzero(weights)
    R = _triangle(rows[support].T)
    diagonal = np.abs(np.diag(R))
    if len(R) < len(support) or diagonal.min() <= 1e-14 * diagonal.max():
        return weights
    inner = solve_triangular(R.T, np.ones(len(support)), lower=True, check_finite=False)
    dual = np.zeros_like(weights)
    dual[support] = solve_triangular(R, inner, check_finite=False)
    return dual if dual.min() >= 0 else weights


def _separable(best: _Enclosure, A: np.ndarray | None, outputs_of: Outputs) -> MaxMargin:
    # alpha is scaled so that the smallest y_i w.x_i is one: w is then feasible as it stands.
    dual = best.dual / outputs_of(best.dual).min()
    return MaxMargin(
        separable=True,
        margin=float(best.lower),
        margin_bound=float(best.upper),
        gap=float(best.gap),
        direction=None if A is None else A.T @ dual,
        dual=dual,
        signed_outputs=outputs_of(dual),
    )


def _not_separable(weights: np.ndarray, upper: float) -> MaxMargin:
    return MaxMargin(
        separable=False,
        margin=0.0,
        margin_bound=float(upper),
        gap=1.0,
        direction=None,
        dual=weights,
        signed_outputs=np.full(len(weights), np.nan),
    )
