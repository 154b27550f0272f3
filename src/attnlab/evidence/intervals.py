"""Intervals for what was measured, and the rule that turns an interval into an outcome.

An interval that knows nothing is (-inf, inf), one whose data are broken is nan: neither decides.
"""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from attnlab.claims import Outcome


@dataclass(frozen=True)
class Interval:
    """An estimate with the ends of its two-sided confidence interval."""

    value: float
    low: float
    high: float


# --- proportions ------------------------------------------------------------------------------


def wilson(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    r"""Wilson's score interval of a proportion: right on average, also near 0 and 1.

    $$\frac{\hat p + z^2/2n \pm z\sqrt{\hat p(1-\hat p)/n + z^2/4n^2}}{1 + z^2/n}$$

    - $\hat p$: successes / trials, $n$: trials, $z$: normal quantile at (1 + level) / 2.

    Wilson (1927), J. Amer. Statist. Assoc. 22. Without trials the interval is (0, 1).
    """
    return _proportion(successes, trials, level, "wilson")


def clopper_pearson(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    r"""The exact interval of a proportion: covers at least at `level`, whatever the truth.

    Its ends are the $p$ at which the binomial tail beyond `successes` is (1 - level) / 2.
    Clopper and Pearson (1934), Biometrika 26. Without trials the interval is (0, 1).
    """
    return _proportion(successes, trials, level, "exact")


def exact_share(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Both one-sided exact bounds of a proportion, each at `level`: 299 of 299 certify .99.

    A decision by either end is wrong in at most 1 - level of all cases, whatever the truth.
    """
    return clopper_pearson(successes, trials, level=max(2 * level - 1, 1e-9))


def share_interval(successes: int, trials: int, *, level: float = 0.95) -> Interval:
    """Wilson's interval, no narrower than `exact_share`.

    Wilson's is right on average, but near 0 and 1 one end may miss far too often: at a truth of
    .99 its upper end lies below in 16 % of all samples of 17.
    """
    score, exact = (f(successes, trials, level=level) for f in (wilson, exact_share))
    return Interval(score.value, min(score.low, exact.low), max(score.high, exact.high))


def _proportion(
    successes: int, trials: int, level: float, method: Literal["wilson", "exact"]
) -> Interval:
    _require_counts(successes, trials)
    require_level(level)
    if trials == 0:
        return Interval(math.nan, 0.0, 1.0)
    from scipy.stats import binomtest

    ends = binomtest(int(successes), int(trials)).proportion_ci(level, method=method)
    return Interval(successes / trials, float(ends.low), float(ends.high))


def certified_probability(successes: int, trials: int, *, confidence: float = 0.95) -> float:
    r"""The largest success probability that the trials certify: the exact one-sided lower bound.

    With no failure it is $(1-c)^{1/n}$, $c$ the confidence and $n$ the trials.
    """
    _require_counts(successes, trials)
    require_level(confidence)
    if trials == 0:
        return 0.0
    from scipy.stats import binomtest

    test = binomtest(int(successes), int(trials), alternative="greater")
    ends = test.proportion_ci(confidence, method="exact")
    return float(ends.low)


# --- means and other statistics ---------------------------------------------------------------


def mean_interval(values: ArrayLike, *, level: float = 0.95, skewed: bool = False) -> Interval:
    r"""Student's interval of a mean, $\bar x \pm t_{n-1} s / \sqrt n$.

    - $\bar x$, $s$: mean and standard deviation, $t_{n-1}$: quantile at (1 + level) / 2.

    One value alone gives (-inf, inf), constant values an interval of width zero. With `skewed`,
    the end on the side of the longer tail moves out by Johnson's correction
    $(1 + 2 t^2) \mu_3 / (6 s^2 n)$, $\mu_3$ the third central moment: of 20 log-normal values
    (spread 1/2) Student's misses there in 6.3 % of all cases, the corrected one in 4.5 %.
    Johnson (1978), J. Amer. Statist. Assoc. 73.
    """
    require_level(level)
    x = np.asarray(values, dtype=float).ravel()
    if x.size == 0 or not np.isfinite(x).all():
        return Interval(math.nan, math.nan, math.nan)
    if x.size == 1:
        return Interval(float(x[0]), -math.inf, math.inf)
    if np.ptp(x) == 0:
        return Interval(float(x[0]), float(x[0]), float(x[0]))
    from scipy.special import stdtrit

    mean, n = float(x.mean()), x.size
    t, spread = float(stdtrit(n - 1, (1 + level) / 2)), float(x.std(ddof=1))
    half, shift = t * spread / math.sqrt(n), 0.0
    if skewed and n > 2:
        units = (x - mean) / spread  # first, lest the cube of a small spread be lost
        third = float((units**3).sum()) * n / ((n - 1) * (n - 2))
        shift = (1 + 2 * t**2) * third * spread / (6 * n)
    return Interval(mean, mean - half + min(shift, 0.0), mean + half + max(shift, 0.0))


def median_interval(values: ArrayLike, *, level: float = 0.95) -> Interval:
    r"""The interval of a median between two order statistics, exact for any distribution.

    $$[x_{(k)}, x_{(n+1-k)}], \qquad k = \max\{k : P(\mathrm{Bin}(n, 1/2) < k) \le 1 - c\}$$

    - $c$: the level of either end. Below five values (c = .95) there is none: (-inf, inf).

    The bootstrap is too narrow here: of eight values its one end misses in 10 % of all cases.
    """
    require_level(level)
    x = np.sort(np.asarray(values, dtype=float).ravel())
    if x.size == 0 or not np.isfinite(x).all():
        return Interval(math.nan, math.nan, math.nan)
    from scipy.special import bdtr

    middle = float(np.median(x))
    if x.size > 1 and x[0] == x[-1]:
        return Interval(middle, middle, middle)
    ranks = [k for k in range(1, x.size // 2 + 1) if bdtr(k - 1, x.size, 0.5) <= 1 - level]
    if not ranks:
        return Interval(middle, -math.inf, math.inf)
    return Interval(middle, float(x[ranks[-1] - 1]), float(x[-ranks[-1]]))


def bootstrap_interval(
    statistic: Callable[..., np.ndarray | np.floating | float],
    *columns: ArrayLike,
    level: float = 0.95,
    resamples: int = 2000,
    seed: int = 0,
) -> Interval:
    """Bootstrap interval (BCa) of any statistic of independent records; same seed, same interval.

    `columns` hold one value per record; several columns are resampled together, and `statistic`
    takes them in this order. Where BCa is undefined (the statistic barely moves under
    resampling) the percentile interval stands in. Constant data give an interval of width zero,
    fewer than two records (-inf, inf). Below some ten records the bootstrap is too narrow.

    Efron (1987), J. Amer. Statist. Assoc. 82.
    """
    require_level(level)
    data = [np.asarray(column, dtype=float) for column in columns]
    if not data or any(c.ndim != 1 or c.size != data[0].size for c in data):
        raise ValueError("the bootstrap needs one or more columns of one value per record each")
    if data[0].size == 0 or not all(np.isfinite(column).all() for column in data):
        return Interval(math.nan, math.nan, math.nan)
    value = float(statistic(*data))
    if data[0].size == 1:
        return Interval(value, -math.inf, math.inf)
    if all(np.ptp(column) == 0 for column in data):
        return Interval(value, value, value)
    from scipy.stats import DegenerateDataWarning, bootstrap

    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore", DegenerateDataWarning)
        result = bootstrap(
            data,
            statistic,
            paired=len(data) > 1,
            confidence_level=level,
            n_resamples=resamples,
            method="BCa",
            rng=np.random.default_rng(seed),
        )
    low, high = map(float, result.confidence_interval)
    if math.isnan(low) or math.isnan(high):
        tail = (1 - level) / 2
        low, high = map(float, np.quantile(result.bootstrap_distribution, [tail, 1 - tail]))
    return Interval(value, low, high)


# --- from an interval to an outcome -----------------------------------------------------------


def decide_at_least(low: float, high: float, bound: float) -> Outcome:
    """Is the quantity >= `bound`? Supported if all of [low, high] is, contradicted if none is."""
    if low > high:
        raise ValueError(f"the interval [{low}, {high}] has its ends swapped")
    if math.isnan(low) or math.isnan(high) or math.isnan(bound):
        return "inconclusive"
    if low >= bound:
        return "supported"
    return "contradicted" if high < bound else "inconclusive"


# --- what the arguments must be ---------------------------------------------------------------


def require_level(level: float) -> None:
    """Refuse a confidence level outside (0, 1), such as 95 for 95 %."""
    if not 0 < level < 1:
        raise ValueError(f"level={level}; a confidence level lies between 0 and 1, e.g. 0.95")


def _require_counts(successes: int, trials: int) -> None:
    if not 0 <= successes <= trials:
        raise ValueError(f"successes={successes} of trials={trials}; need 0 <= successes <= trials")
