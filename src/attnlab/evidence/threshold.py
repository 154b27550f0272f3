r"""The sample size at which half of the runs succeed: a grid posterior, and where to try next.

$$P(\text{success} \mid N) = \sigma(s\,(\log N - \log N_{50})), \qquad \sigma(z) = 1/(1+e^{-z})$$

- $N_{50}$: the threshold; prior log-uniform over a stated range, by default the sizes' range
  widened by `REACH` at both ends.
- $s > 0$: the slope; prior log-uniform over `SLOPES`: from 10 % to 90 % success takes a factor
  $81^{1/s}$ in N, from about 6,600 (s = 1/2) down to 1.015 (s = 300). A smaller upper end would
  rule out steps, and then exclude, wrongly, a threshold close to a tested size.

A grid rather than a maximum of the likelihood, for separable data (all fail up to some N, all
succeed from the next on) have no maximum: their posterior is flat between the two sizes.

Two intervals. The credible one describes a posterior. The *confidence sequence* holds N50 with
probability 95 % at every stopping time at once, however the sizes were chosen: with data D so far,

$$C = \{N_{50} : p(N_{50} \mid D) / p(N_{50}) > \alpha\}.$$

Under the true N50 prior over posterior is a martingale of mean one, so by Ville's inequality it
ever reaches $1/\alpha$ with probability at most $\alpha$ (Waudby-Smith and Ramdas 2020, the
prior-posterior ratio, of which the beta-binomial confidence sequence is the case of one size). The
slope is averaged over its prior, so this holds on average over slopes; tests look at single ones.
The logistic curve is taken for granted, and the prior is fixed beforehand: `SEQUENCE_RANGE`.
"""

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from attnlab.evidence.intervals import require_level

REACH = 10.0
SLOPES = (0.5, 300.0)
THRESHOLD_POINTS = 600
SLOPE_POINTS = 64
SEQUENCE_RANGE = (0.2, 2e5)
"""The prior range of N50 behind a confidence sequence: the same whatever was tried."""

Censoring = Literal["no", "below", "above", "both"]


@dataclass(frozen=True)
class ThresholdFit:
    """The posterior of N50 and of the slope: medians and equal-tailed credible intervals.

    `censored` says on which side the interval leaves the tested sizes. That end is then 0 or
    inf, not the prior's edge: what no run has tested, no verdict may rest on.
    """

    n50: float
    low: float
    high: float
    slope: float
    slope_low: float
    slope_high: float
    censored: Censoring
    prior_low: float
    prior_high: float
    sizes: int
    trials: int
    sequence_low: float
    sequence_high: float
    """The confidence sequence: valid however the sizes were chosen and whenever one stopped."""


@dataclass(frozen=True, eq=False)
class Posterior:
    """Weights on a grid of log N50 (rows) and log slope (columns)."""

    log_n50: np.ndarray
    log_slope: np.ndarray
    weights: np.ndarray


def posterior(
    sizes: ArrayLike,
    successes: ArrayLike,
    trials: ArrayLike,
    prior_range: tuple[float, float],
    points: tuple[int, int] = (THRESHOLD_POINTS, SLOPE_POINTS),
) -> Posterior:
    """The posterior of (N50, slope) given how many of the trials at each size succeeded."""
    low, high = prior_range
    if not 0 < low < high < math.inf:
        raise ValueError(f"prior_range={prior_range}; need 0 < low < high, both finite")
    log_n50 = _cells(low, high, points[0])
    log_slope = _cells(*SLOPES, points[1])
    log_weights = np.zeros(points)
    for size, won, tried in zip(*_counts(sizes, successes, trials), strict=True):
        z = _logits(log_n50, log_slope, size)
        log_weights += won * special.log_expit(z) + (tried - won) * special.log_expit(-z)
    weights = np.exp(log_weights - log_weights.max())
    return Posterior(log_n50, log_slope, weights / weights.sum())


def fit_threshold(
    sizes: ArrayLike,
    successes: ArrayLike,
    trials: ArrayLike,
    *,
    prior_range: tuple[float, float] | None = None,
    level: float = 0.95,
) -> ThresholdFit:
    """N50 with its credible interval, from the successes out of the trials at each size.

    The model takes for granted that success does not become rarer with N; test that apart
    (`attnlab.evidence.trends`) where it is in doubt.
    """
    require_level(level)
    counts = (tuple(column.tolist()) for column in _counts(sizes, successes, trials))
    return _fitted(*counts, prior_range, level)


@functools.lru_cache(maxsize=4096)
def _fitted(
    sizes: tuple[float, ...],
    successes: tuple[float, ...],
    trials: tuple[float, ...],
    prior_range: tuple[float, float] | None,
    level: float,
) -> ThresholdFit:
    """The fit; kept, for claims, their controls and figures ask for the same ones."""
    tested, _, counts = _counts(sizes, successes, trials)
    tested, total = tested[counts > 0], int(counts.sum())
    if total == 0:
        raise ValueError("no trials: a threshold needs at least one size with one trial")
    edges = prior_range or default_range(tested)
    grid = posterior(sizes, successes, trials, edges)
    quantiles = ((1 - level) / 2, 0.5, (1 + level) / 2)
    low, median, high = np.exp(_quantiles(grid.log_n50, grid.weights.sum(axis=1), quantiles))
    slopes = np.exp(_quantiles(grid.log_slope, grid.weights.sum(axis=0), quantiles))
    below, above = low < tested.min(), high > tested.max()
    sequence = confidence_sequence(sizes, successes, trials, level=level)
    censored: Censoring = (
        "both" if below and above else "below" if below else "above" if above else "no"
    )
    return ThresholdFit(
        n50=float(median),
        low=0.0 if below else float(low),
        high=math.inf if above else float(high),
        slope=float(slopes[1]),
        slope_low=float(slopes[0]),
        slope_high=float(slopes[2]),
        censored=censored,
        prior_low=float(edges[0]),
        prior_high=float(edges[1]),
        sizes=int(np.unique(tested).size),
        trials=total,
        sequence_low=sequence[0],
        sequence_high=sequence[1],
    )


def success_chance(
    sizes: ArrayLike,
    successes: ArrayLike,
    trials: ArrayLike,
    at: float,
    *,
    level: float = 0.95,
) -> tuple[float, float, float]:
    """The chance of success at a size by the fitted curve: posterior mean, and its quantiles."""
    grid = posterior(sizes, successes, trials, default_range([*np.asarray(sizes).ravel(), at]))
    chance = special.expit(_logits(grid.log_n50, grid.log_slope, at)).ravel()
    weight = grid.weights.ravel()
    order = chance.argsort()
    cumulated = weight[order].cumsum()
    low, high = (chance[order][np.searchsorted(cumulated, q)] for q in _tails(level))
    return float(weight @ chance), float(low), float(high)


def _tails(level: float) -> tuple[float, float]:
    return (1 - level) / 2, (1 + level) / 2


def confidence_sequence(
    sizes: ArrayLike,
    successes: ArrayLike,
    trials: ArrayLike,
    *,
    level: float = 0.95,
    points: tuple[int, int] = (THRESHOLD_POINTS, SLOPE_POINTS),
) -> tuple[float, float]:
    """The ends of N50's confidence sequence; 0 or inf where they leave the tested sizes."""
    tested, _, counts = _counts(sizes, successes, trials)
    tested = tested[counts > 0]
    if not tested.size:
        return 0.0, math.inf
    grid = posterior(sizes, successes, trials, SEQUENCE_RANGE, points)
    over_prior = grid.weights.sum(axis=1) * points[0]
    held = np.flatnonzero(over_prior > 1 - level)
    half = (grid.log_n50[1] - grid.log_n50[0]) / 2
    low, high = (math.exp(grid.log_n50[held[k]] + sign * half) for k, sign in ((0, -1), (-1, 1)))
    return low if low >= tested.min() else 0.0, high if high <= tested.max() else math.inf


def next_size(
    sizes: ArrayLike,
    successes: ArrayLike,
    trials: ArrayLike,
    candidates: Sequence[float],
    *,
    batch: int = 1,
    prior_range: tuple[float, float] | None = None,
    points: tuple[int, int] = (THRESHOLD_POINTS, SLOPE_POINTS),
) -> float:
    r"""The candidate size at which `batch` further trials narrow N50 the most.

    $$\arg\min_N \; \mathbb{E}_k\, \mathrm{Var}(\log N_{50} \mid N, k)$$

    - $k$: how many of the batch succeed at $N$, as the posterior predicts it.

    With no trials yet (empty lists) the prior predicts. The default prior range is that of sizes
    and candidates together; give one to keep it fixed over an adaptive design. A tie goes to the
    earlier candidate.
    """
    tried_sizes, _, _ = _counts(sizes, successes, trials)
    proposals = np.asarray(candidates, dtype=float)
    if proposals.ndim != 1 or proposals.size == 0 or not (proposals > 0).all() or batch < 1:
        raise ValueError(
            f"candidates={list(candidates)}, batch={batch}; need positive sizes and batch >= 1"
        )
    edges = prior_range or default_range(np.concatenate([tried_sizes, proposals]))
    grid = posterior(sizes, successes, trials, edges, points)
    return float(min(proposals, key=lambda size: _expected_variance(grid, size, batch)))


def default_range(sizes: ArrayLike) -> tuple[float, float]:
    """The prior's range of N50: that of the sizes, widened by `REACH` at both ends."""
    values = np.asarray(sizes, dtype=float)
    return float(values.min()) / REACH, float(values.max()) * REACH


def _expected_variance(grid: Posterior, size: float, batch: int) -> float:
    z = _logits(grid.log_n50, grid.log_slope, size)
    log_win, log_lose = special.log_expit(z), special.log_expit(-z)
    expected = 0.0
    for won in range(batch + 1):
        likelihood = special.comb(batch, won) * np.exp(won * log_win + (batch - won) * log_lose)
        joint = (grid.weights * likelihood).sum(axis=1)
        chance = joint.sum()
        if chance > 0:
            mean = joint @ grid.log_n50 / chance
            # chance * variance, and the chance cancels.
            expected += float(joint @ (grid.log_n50 - mean) ** 2)
    return expected


def _cells(low: float, high: float, count: int) -> np.ndarray:
    """The midpoints of `count` cells of equal width in the logarithm."""
    edges = np.linspace(math.log(low), math.log(high), count + 1)
    return (edges[:-1] + edges[1:]) / 2


def _logits(log_n50: np.ndarray, log_slope: np.ndarray, size: float) -> np.ndarray:
    return np.exp(log_slope) * (math.log(size) - log_n50[:, None])


def _quantiles(grid: np.ndarray, mass: np.ndarray, at: tuple[float, ...]) -> np.ndarray:
    # The distribution function is known at the cells' edges, and linear between them.
    half = (grid[1] - grid[0]) / 2
    edges = np.append(grid - half, grid[-1] + half)
    return np.interp(at, np.append(0.0, np.cumsum(mass)), edges)


def _counts(*columns: ArrayLike) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    sizes, successes, trials = (np.asarray(column, dtype=float).ravel() for column in columns)
    if not sizes.size == successes.size == trials.size:
        raise ValueError(
            f"{sizes.size} sizes, {successes.size} successes, {trials.size} trials; "
            "give one of each per size"
        )
    if not ((sizes > 0) & np.isfinite(sizes) & (successes >= 0) & (successes <= trials)).all():
        raise ValueError(
            "sizes must be positive and 0 <= successes <= trials at every size; got "
            f"sizes={sizes.tolist()}, successes={successes.tolist()}, trials={trials.tolist()}"
        )
    return sizes, successes, trials
