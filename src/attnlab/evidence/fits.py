r"""Power laws $y \approx C x^p$ fitted to independent runs at several levels of x.

The fit is least squares of log y on log x. Its interval is the hull of two, for each alone is
too narrow somewhere:

- the bootstrap over seeds within levels sees the noise of the seeds, also where it differs
  between levels, but takes the law for granted: under a lack of fit more seeds shrink it around
  a wrong exponent;
- Student's interval on the level means sees the lack of fit, for it knows no noise but the
  scatter of the levels about the line, yet k levels give it k - 2 degrees of freedom only, and
  means that happen to lie on a line make it absurdly narrow.

Below three levels a line fits whatever was measured: the interval is then everything.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from attnlab.evidence.intervals import require_level

LEAST_LEVELS = 3
# Log residuals below this are rounding: they must not make the logarithm of their sum blow up.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ExponentFit:
    """y ~ constant * x**exponent, with the interval of the exponent."""

    exponent: float
    low: float
    high: float
    constant: float


@dataclass(frozen=True)
class PowerComparison:
    """One candidate law: Akaike's criterion, and its error on levels it has not seen."""

    name: str
    aic: float
    held_out_error: float
    """Root mean square error of log y on each level, fitted without it; nan below 3 levels."""


def fit_exponent(
    x: ArrayLike, y: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> ExponentFit:
    r"""Fit $\log y = \log C + p \log x$ to runs; equal x are runs of one level.

    - $p$: exponent, $C$: constant (the law at x = 1).

    Fewer than three levels: the exponent's interval is (-inf, inf).
    """
    require_level(level)
    log_x, log_y = _logarithms(x, y)
    positions, labels, counts = np.unique(log_x, return_inverse=True, return_counts=True)
    means = np.bincount(labels, log_y) / counts
    design = np.stack([np.ones_like(positions), positions], axis=1)
    coefficients, solve = _weighted_least_squares(design, means, counts)
    low, high = -math.inf, math.inf
    if positions.size >= LEAST_LEVELS:
        noise = _resampled_means(log_y - means[labels], labels, counts, resamples, seed) @ solve.T
        tails = [(1 - level) / 2, (1 + level) / 2]
        from_seeds = coefficients[1] + np.quantile(noise[:, 1], tails)
        half = _student_half_width(design, means, counts, coefficients, level)[1]
        low = float(min(from_seeds[0], coefficients[1] - half))
        high = float(max(from_seeds[1], coefficients[1] + half))
    return ExponentFit(float(coefficients[1]), low, high, _exp(coefficients[0]))


def compare_powers(
    candidates: Mapping[str, ArrayLike], y: ArrayLike
) -> tuple[PowerComparison, ...]:
    r"""Several candidate laws x for one y, each fitted as $y = C x$, the best AIC first.

    $$\mathrm{AIC} = n \log(\mathrm{RSS}/n) + 2$$

    - RSS: residual sum of squares of log y, $n$: runs.

    Runs with equal regressors are one level. AIC counts runs and so overrates them where levels,
    not seeds, scatter: believe a preference that the held-out error shares.
    Akaike (1974), IEEE Trans. Automat. Control 19.
    """
    logs = {name: _logarithms(x, y) for name, x in candidates.items()}
    if not logs:
        return ()
    regressors = np.stack([log_x for log_x, _ in logs.values()], axis=1)
    labels = np.unique(regressors, axis=0, return_inverse=True)[1].reshape(-1)
    compared = []
    for name, (log_x, log_y) in logs.items():
        errors = log_y - log_x
        square = float(np.mean((errors - errors.mean()) ** 2))
        aic = errors.size * math.log(max(square, ROUNDING**2)) + 2
        compared.append(PowerComparison(name, aic, _held_out_error(errors, labels)))
    return tuple(sorted(compared, key=lambda fit: fit.aic))


# --- how it is computed -----------------------------------------------------------------------


def _logarithms(x: ArrayLike, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    xs, ys = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    if xs.ndim != 1 or xs.shape != ys.shape or xs.size == 0:
        raise ValueError(
            f"x has shape {xs.shape} and y {ys.shape}; give one x and one y per run, at least one"
        )
    for name, values in (("x", xs), ("y", ys)):
        bad = values[~(np.isfinite(values) & (values > 0))]
        if bad.size:
            raise ValueError(
                f"{bad.size} of {values.size} values of {name} are not positive finite numbers "
                f"(the first is {bad[0]}); a power law is fitted to logarithms: leave out runs "
                "that diverged and say so, or fit another quantity"
            )
    return np.log(xs), np.log(ys)


def _weighted_least_squares(
    design: np.ndarray, target: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients, and the matrix that maps a target to them.

    On level means weighted by their number of runs this equals least squares over the runs.
    A slope that one level cannot give is nan, and so is its constant.
    """
    root = np.sqrt(counts)
    if np.linalg.matrix_rank(design) < design.shape[1]:
        return np.full(design.shape[1], math.nan), np.full(design.T.shape, math.nan)
    solve = np.linalg.pinv(root[:, None] * design) * root
    return solve @ target, solve


def _resampled_means(
    deviations: np.ndarray, labels: np.ndarray, counts: np.ndarray, resamples: int, seed: int
) -> np.ndarray:
    """Level means of the runs' deviations from their level's mean, redrawn: (resamples, levels).

    The factor sqrt(n / (n - 1)) undoes that deviations from a mean of n are too small.
    """
    random = np.random.default_rng(seed)
    drawn = np.zeros((resamples, counts.size))
    for number, count in enumerate(counts):
        if count > 1:
            of_level = deviations[labels == number] * math.sqrt(count / (count - 1))
            drawn[:, number] = random.choice(of_level, (resamples, count)).mean(axis=1)
    return drawn


def _student_half_width(
    design: np.ndarray,
    target: np.ndarray,
    counts: np.ndarray,
    coefficients: np.ndarray,
    level: float,
) -> np.ndarray:
    from scipy.special import stdtrit

    errors = target - design @ coefficients
    freedom = target.size - design.shape[1]
    covariance = np.linalg.inv(design.T @ (counts[:, None] * design)) * (counts @ errors**2)
    return stdtrit(freedom, (1 + level) / 2) * np.sqrt(np.diag(covariance) / freedom)


def _held_out_error(errors: np.ndarray, labels: np.ndarray) -> float:
    levels = np.unique(labels)
    if levels.size < LEAST_LEVELS:
        return math.nan
    squares = []
    for held_out in levels:
        seen = labels != held_out
        squares.append(np.mean((errors[~seen] - errors[seen].mean()) ** 2))
    return float(np.sqrt(np.mean(squares)))


def _exp(value: float) -> float:
    # A constant extrapolated from far away may overflow: then nothing bounds it.
    with np.errstate(over="ignore"):
        return float(np.exp(value))
