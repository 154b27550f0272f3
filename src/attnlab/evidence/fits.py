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
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlab.evidence.intervals import require_level

LEAST_LEVELS = 3
# Log residuals below this are rounding: they must not make a ratio or a logarithm of sums blow up.
ROUNDING = 1e-12


@dataclass(frozen=True)
class ExponentFit:
    """y ~ constant * x**exponent, with the interval of both (`low`, `high`: the exponent's)."""

    exponent: float
    low: float
    high: float
    constant: float
    constant_low: float
    constant_high: float
    levels: int
    points: int
    r_squared: float


@dataclass(frozen=True)
class Diagnostics:
    """How far the runs lie from a fitted law, in log y."""

    seed_spread: float
    """Standard deviation within levels; nan if no level has two runs."""
    level_spread: float
    """Root mean square of the level means' distance from the law."""
    worst_level: float
    """The x whose mean lies farthest from the law."""
    worst_error: float
    """That mean's signed distance from the law."""
    lack_of_fit_p: float
    """F test that the levels scatter about the law by seed noise only; nan if it cannot tell."""


@dataclass(frozen=True)
class PowerComparison:
    """One candidate law: its fit, Akaike's criterion, and its error on levels it has not seen."""

    name: str
    exponent: float
    constant: float
    aic: float
    aic_excess: float
    """AIC above the best candidate's; beyond about 10 the candidate has no support."""
    held_out_error: float
    """Root mean square error of log y on each level, fitted without it; nan below 3 levels."""


def fit_exponent(
    x: ArrayLike, y: ArrayLike, *, level: float = 0.95, resamples: int = 2000, seed: int = 0
) -> ExponentFit:
    r"""Fit $\log y = \log C + p \log x$ to runs; equal x are runs of one level.

    - $p$: exponent, $C$: constant (the law at x = 1, so far from the levels its interval is wide).

    Fewer than three levels: the exponent's interval is (-inf, inf), the constant's (0, inf).
    """
    log_x, log_y = _logarithms(x, y)
    return _fit(log_x, log_y, None, level, resamples, seed)


def fit_constant(
    x: ArrayLike,
    y: ArrayLike,
    exponent: float,
    *,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> ExponentFit:
    r"""Fit only the constant of $y = C x^p$, with the law's exponent $p$ (then low = high = p).

    `r_squared` compares with a constant y and is negative where the law is worse than that.
    """
    log_x, log_y = _logarithms(x, y)
    return _fit(log_x, log_y, exponent, level, resamples, seed)


def diagnose(x: ArrayLike, y: ArrayLike, exponent: float | None = None) -> Diagnostics:
    """How far runs lie from the fitted law (with the given exponent, if one is given)."""
    log_x, log_y = _logarithms(x, y)
    positions, labels, counts = np.unique(log_x, return_inverse=True, return_counts=True)
    means = np.bincount(labels, log_y) / counts
    design, offset = _design(positions, exponent)
    coefficients, _ = _weighted_least_squares(design, means - offset, counts)
    errors = means - offset - design @ coefficients
    within, between = float(((log_y - means[labels]) ** 2).sum()), float(counts @ errors**2)
    free_seeds = log_y.size - means.size
    free_levels = means.size - design.shape[1]
    worst = int(np.abs(errors).argmax())
    return Diagnostics(
        seed_spread=math.sqrt(within / free_seeds) if free_seeds else math.nan,
        level_spread=float(np.sqrt(np.mean(errors**2))),
        worst_level=float(np.exp(positions[worst])),
        worst_error=float(errors[worst]),
        lack_of_fit_p=_lack_of_fit(between, free_levels, within, free_seeds),
    )


def compare_powers(
    candidates: Mapping[str, ArrayLike],
    y: ArrayLike,
    *,
    groups: Sequence[Hashable] | None = None,
    exponent: float | None = None,
) -> tuple[PowerComparison, ...]:
    r"""Several candidate regressors for one y, each fitted as $y = C x^p$, the best AIC first.

    $$\mathrm{AIC} = n \log(\mathrm{RSS}/n) + 2 k$$

    - RSS: residual sum of squares of log y, $n$: runs, $k$: fitted coefficients.

    `exponent` fixes p for all candidates: 1 if each is a whole law, such as alpha**-2. `groups`
    labels the level of each run; without it, runs with equal regressors are one level. AIC
    counts runs and so overrates them where levels, not seeds, scatter: believe a preference that
    the held-out error shares. Akaike (1974), IEEE Trans. Automat. Control 19.
    """
    logs = {name: _logarithms(x, y) for name, x in candidates.items()}
    if not logs:
        return ()
    regressors = np.stack([log_x for log_x, _ in logs.values()], axis=1)
    keys = groups if groups is not None else list(map(tuple, regressors.tolist()))
    numbers = {key: i for i, key in enumerate(dict.fromkeys(keys))}
    labels = np.asarray([numbers[key] for key in keys])

    fits = {}
    for name, (log_x, log_y) in logs.items():
        if labels.size != log_y.size:
            raise ValueError(f"{labels.size} group labels for {log_y.size} runs")
        design, offset = _design(log_x, exponent)
        coefficients, _ = _weighted_least_squares(design, log_y - offset, np.ones(log_y.size))
        square = float(np.mean((log_y - offset - design @ coefficients) ** 2))
        aic = log_y.size * math.log(max(square, ROUNDING**2)) + 2 * design.shape[1]
        power = float(coefficients[1]) if exponent is None else exponent
        held_out = _held_out_error(design, log_y - offset, labels)
        fits[name] = (power, _exp(coefficients[0]), aic, held_out)
    best = min(aic for _, _, aic, _ in fits.values())
    compared = [
        PowerComparison(name, power, constant, aic, aic - best, held_out)
        for name, (power, constant, aic, held_out) in fits.items()
    ]
    return tuple(sorted(compared, key=lambda fit: fit.aic))


# --- how it is computed -----------------------------------------------------------------------


def _fit(
    log_x: np.ndarray,
    log_y: np.ndarray,
    exponent: float | None,
    level: float,
    resamples: int,
    seed: int,
) -> ExponentFit:
    require_level(level)
    positions, labels, counts = np.unique(log_x, return_inverse=True, return_counts=True)
    means = np.bincount(labels, log_y) / counts
    design, offset = _design(positions, exponent)
    target = means - offset
    coefficients, solve = _weighted_least_squares(design, target, counts)
    if positions.size < LEAST_LEVELS:
        low, high = np.full((2, design.shape[1]), [[-math.inf], [math.inf]])
    else:
        noise = _resampled_means(log_y - means[labels], labels, counts, resamples, seed) @ solve.T
        tails = [(1 - level) / 2, (1 + level) / 2]
        from_seeds = coefficients + np.quantile(noise, tails, axis=0)
        half = _student_half_width(design, target, counts, coefficients, level)
        low = np.minimum(from_seeds[0], coefficients - half)
        high = np.maximum(from_seeds[1], coefficients + half)
    residuals = log_y - (offset + design @ coefficients)[labels]
    total = float(((log_y - log_y.mean()) ** 2).sum())
    told = total > log_y.size * ROUNDING**2
    return ExponentFit(
        exponent=float(coefficients[1]) if exponent is None else exponent,
        low=float(low[1]) if exponent is None else exponent,
        high=float(high[1]) if exponent is None else exponent,
        constant=_exp(coefficients[0]),
        constant_low=_exp(low[0]),
        constant_high=_exp(high[0]),
        levels=positions.size,
        points=log_y.size,
        r_squared=1 - float(residuals @ residuals) / total if told else math.nan,
    )


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


def _design(log_x: np.ndarray, exponent: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Columns to fit (log C and, if it is free, p) and the known part of log y."""
    ones = np.ones_like(log_x)
    if exponent is None:
        return np.stack([ones, log_x], axis=1), np.zeros_like(log_x)
    return ones[:, None], exponent * log_x


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


def _lack_of_fit(between: float, free_levels: int, within: float, free_seeds: int) -> float:
    if free_levels < 1 or free_seeds < 1 or math.isnan(between):
        return math.nan
    if within <= free_seeds * ROUNDING**2:
        return 1.0 if between <= free_levels * ROUNDING**2 else 0.0
    from scipy.special import fdtrc

    ratio = (between / free_levels) / (within / free_seeds)
    return float(fdtrc(free_levels, free_seeds, ratio))


def _held_out_error(design: np.ndarray, target: np.ndarray, labels: np.ndarray) -> float:
    levels = np.unique(labels)
    if levels.size < LEAST_LEVELS:
        return math.nan
    squares = []
    for held_out in levels:
        seen = labels != held_out
        fitted, _ = _weighted_least_squares(design[seen], target[seen], np.ones(seen.sum()))
        squares.append(np.mean((target[~seen] - design[~seen] @ fitted) ** 2))
    return float(np.sqrt(np.mean(squares)))


def _exp(value: Any) -> float:
    # A constant extrapolated from far away may overflow: then nothing bounds it.
    with np.errstate(over="ignore"):
        return float(np.exp(value))
