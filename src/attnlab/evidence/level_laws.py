"""Laws of levels: a scalar beside a number, a share of runs, a rate; and what all laws share.

A law takes runs and a scalar and returns an outcome with the number that it rests on. The cutoff
of a law belongs to the paper or to us; one of ours can be moved, and the court moves it (the flip
test). A run that diverged, or in which the scalar is not a number, never speaks for a law.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypedDict, Unpack

import numpy as np

from attnlab.claims import Axis, Effect, Finding, Outcome, Owner, Scalar
from attnlab.core import Cell, Record
from attnlab.evidence.intervals import (
    Interval,
    certified_probability,
    clopper_pearson,
    decide_at_least,
    exact_share,
    mean_interval,
    median_interval,
    share_interval,
)
from attnlab.evidence.words import number

Over = Literal["every", "mean", "median"]
Relation = Literal["equal", "at_most", "at_least"]

ROUNDING = 1e-9
"""Relative slack of a bound that can be attained exactly."""
MISSING = 0.9
"""Ours: the share of runs that must have a scalar before its size is spoken of."""
SIGNIFICANT = 0.01
"""Ours: the p-value of a trend test that decides."""


def stored(key: str, name: str = "", *, exact: str = "", scale: float = 1.0) -> Scalar:
    """The scalar that a record holds under `key`, named in words, times a factor."""
    words = name or key.replace("_", " ")
    return Scalar(words, lambda record: scale * float(record[key]), exact, key)


def axis(setting: "str | Axis") -> Axis:
    """A setting's name, or an axis, as an axis."""
    if isinstance(setting, Axis):
        return setting
    return Axis(setting, lambda cell: float(getattr(cell, setting)))


def values_of(runs: Sequence[Record], scalar: Scalar) -> np.ndarray:
    """The scalar of every run; nan where the run diverged or has no such number."""
    return np.array([math.nan if r.diverged else _value(scalar, r) for r in runs])


def _value(scalar: Scalar, run: Record) -> float:
    try:
        return float(scalar.of(run))
    except ArithmeticError:  # a quotient by 0, or beyond the largest number: none to speak of
        return math.nan


def missing_finding(good: np.ndarray, scalar: Scalar) -> Finding | None:
    """Contradicted, or undecided, if too many runs do not have the scalar."""
    if good.all():
        return None
    found = share_interval(int(good.sum()), good.size)
    share = Effect.of(f"share of runs that have {scalar.name}", found)
    detail = f"{int((~good).sum())} of {good.size} runs diverged or do not have it"
    if decide_at_least(share.low, share.high, MISSING) == "contradicted":
        return Finding("contradicted", share, detail)
    return None if good.any() else Finding("inconclusive", share, detail)


# --- levels -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Range:
    """The scalar lies in [low, high]: in every run, or its mean or median does.

    `trivial` is the value at which a cutoff of ours would say nothing (rule 3).
    """

    low: float
    high: float
    over: Over = "every"
    owner: Owner = "paper"
    trivial: float | None = None

    def __post_init__(self):
        one_sided = math.isinf(self.low) or math.isinf(self.high)
        if self.owner == "ours" and one_sided and self.trivial is None:
            raise ValueError(f"{self}: a one-sided cutoff of ours needs the trivial value")

    @property
    def estimated(self) -> bool:
        """Means and medians are estimated; the worst of all runs is not."""
        return self.over != "every"

    def holds(self, value: float) -> bool:
        """Whether one value lies in the range."""
        return bool(self.low <= value <= self.high)

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the worst run, or by the interval of the mean or median."""
        if not runs:
            return Finding("inconclusive", None, "no run")
        values = values_of(runs, scalar)
        if self.over == "every":
            return self._worst(values, scalar)
        good = np.isfinite(values)
        missing = missing_finding(good, scalar)
        if missing is not None:
            return missing
        found = values[good]
        interval = (
            mean_interval(found, level=level, skewed=True)
            if self.over == "mean"
            else median_interval(found, level=level)
        )
        effect = Effect.of(f"{self.over} of {scalar.name}", interval)
        return Finding(self.decide(interval), effect)

    def _worst(self, values: np.ndarray, scalar: Scalar) -> Finding:
        lost = np.isnan(values)
        if lost.any():
            detail = f"{scalar.name} is not a number in {int(lost.sum())} of {lost.size} runs"
            return Finding("contradicted", None, detail)
        outside = np.maximum(self.low - values, values - self.high)
        worst = float(values[int(np.argmax(outside))])
        word = (
            "largest" if math.isinf(self.low) else "smallest" if math.isinf(self.high) else "worst"
        )
        effect = Effect.exactly(f"{word} {scalar.name}", worst)
        return Finding("supported" if self.holds(worst) else "contradicted", effect)

    def decide(self, interval: Interval) -> Outcome:
        """Inside: supported; disjoint: contradicted."""
        if math.isnan(interval.low) or math.isnan(interval.high):
            return "inconclusive"
        if self.low <= interval.low and interval.high <= self.high:
            return "supported"
        if interval.high < self.low or interval.low > self.high:
            return "contradicted"
        return "inconclusive"

    def inside(self) -> str:
        """The range in words."""
        if math.isinf(self.low):
            return f"at most {number(_unrounded(self.high))}"
        if math.isinf(self.high):
            return f"at least {number(_unrounded(self.low))}"
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        if 0 < half < 1e-6 * max(1.0, abs(middle)):
            return f"{number(middle)} to within {number(half, 2)}"
        return f"between {number(self.low)} and {number(self.high)}"

    def cutoff(self) -> str:
        """The decision line in words."""
        return self.inside() + (" in every run" if self.over == "every" else "")

    def moved(self, factor: float) -> "Range":
        """Ours: both ends about their middle, one end about the trivial value."""
        if self.owner == "paper":
            return self
        if self.trivial is None:
            middle, half = (self.low + self.high) / 2, factor * (self.high - self.low) / 2
            return replace(self, low=middle - half, high=middle + half)
        ends = [
            self.trivial + factor * (end - self.trivial) if math.isfinite(end) else end
            for end in (self.low, self.high)
        ]
        return replace(self, low=ends[0], high=ends[1])

    def example(self, cell: Cell) -> float:
        """A value well inside."""
        if math.isinf(self.low):
            return self.high / 2 if self.high > 0 else 2 * self.high - 1.0
        if math.isinf(self.high):
            return 2 * self.low if self.low > 0 else self.low / 2 + 1.0
        return (self.low + self.high) / 2


class RangeOptions(TypedDict, total=False):
    """What else a range may be given: see `Range`."""

    owner: Owner
    trivial: float | None


def AtMost(bound: float, over: Over = "every", **options: Unpack[RangeOptions]) -> Range:
    """At most a bound."""
    return Range(-math.inf, bound, over, **options)


def AtLeast(bound: float, over: Over = "every", **options: Unpack[RangeOptions]) -> Range:
    """At least a bound."""
    return Range(bound, math.inf, over, **options)


def Between(
    low: float, high: float, over: Over = "every", **options: Unpack[RangeOptions]
) -> Range:
    """Between two values."""
    return Range(low, high, over, **options)


def Equal(
    target: float, tolerance: float, over: Over = "every", **options: Unpack[RangeOptions]
) -> Range:
    """A value up to a tolerance, which is ours unless said otherwise."""
    given: RangeOptions = {"owner": "ours", **options}
    return Range(target - tolerance, target + tolerance, over, **given)


@dataclass(frozen=True)
class Share:
    """In at least the share `probability` of the runs the scalar lies in a range.

    A run that diverged counts against it. `exact` takes Clopper and Pearson's interval, which a
    statement of kind *probability* needs; `at_most` turns it into: in at most so many.
    """

    inside: Range
    probability: float = 0.9
    exact: bool = False
    at_most: bool = False
    owner: Owner = "ours"

    @property
    def estimated(self) -> bool:
        """A share has an interval."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the interval of the share."""
        if not runs:
            return Finding("inconclusive", None, "no run")
        held = sum(self.inside.holds(value) for value in values_of(runs, scalar))
        share = self._interval(held, len(runs), level)
        name = f"share of runs with {scalar.name} {self.inside.inside()}"
        limits = (0.0, self.probability) if self.at_most else (self.probability, 1.0)
        decided = Range(*limits).decide(share)
        return Finding(decided, Effect.of(name, share), f"{held} of {len(runs)}")

    def _interval(self, held: int, trials: int, level: float) -> Interval:
        """Wilson's, widened; or the exact one, with a one-sided end that supports: 299 of 299."""
        if not self.exact:
            return share_interval(held, trials, level=level)
        share = clopper_pearson(held, trials, level=level)
        if self.at_most:
            most = 1 - certified_probability(trials - held, trials, confidence=level)
            return replace(share, high=most)
        return replace(share, low=certified_probability(held, trials, confidence=level))

    def cutoff(self) -> str:
        """The decision line in words."""
        most = "at most" if self.at_most else "at least"
        return f"{self.inside.inside()} in {most} {number(self.probability)} of the runs"

    def moved(self, factor: float) -> "Share":
        """Ours: .9 becomes .95 and .8; the range's own cutoff moves too."""
        probability = self.probability
        if self.owner == "ours":
            trivial = 0.0 if self.at_most else 1.0
            probability = trivial + factor * (probability - trivial)
        return replace(
            self, inside=self.inside.moved(factor), probability=max(0.0, min(1.0, probability))
        )

    def example(self, cell: Cell) -> float:
        """A value of the range."""
        return self.inside.example(cell)


@dataclass(frozen=True)
class Rate:
    """Of the trials inside the runs, pooled, at least the share `probability` succeeds.

    The scalar is the number of successes in a run and `trials` (a setting, or an axis) that of
    its independent trials; the ends of the interval are exact. A run that diverged has none.
    """

    trials: str | Axis
    probability: float
    owner: Owner = "ours"

    @property
    def exact(self) -> bool:
        """As a statement of kind *probability* needs it."""
        return True

    @property
    def estimated(self) -> bool:
        """A share has an interval."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the exact interval of the pooled share."""
        if not runs:
            return Finding("inconclusive", None, "no run")
        held = int(np.nan_to_num(values_of(runs, scalar)).sum())
        total = int(sum(axis(self.trials).of(run.cell) for run in runs))
        share = exact_share(held, total, level=level)
        effect = Effect.of(f"share of trials: {scalar.name}", share)
        return Finding(Range(self.probability, 1.0).decide(share), effect, f"{held} of {total}")

    def cutoff(self) -> str:
        """The decision line in words."""
        return f"at least {number(self.probability)} of the trials"

    def moved(self, factor: float) -> "Rate":
        """Ours: .9 becomes .95 and .8."""
        if self.owner == "paper":
            return self
        return replace(self, probability=max(0.0, 1 - factor * (1 - self.probability)))

    def example(self, cell: Cell) -> float:
        """Every trial succeeds."""
        return axis(self.trials).of(cell)


def _unrounded(bound: float) -> float:
    """A bound without its slack for rounding, for words."""
    rounded = round(bound, 6)
    if rounded == 0:  # a small bound is one; only the least number above zero stands for zero
        return 0.0 if abs(bound) < 1e-100 else bound
    return rounded if abs(bound - rounded) <= 2 * ROUNDING else bound
