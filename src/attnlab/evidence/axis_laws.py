"""Laws along an axis: powers, straight lines, trends."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from attnlab.claims import Axis, Effect, Finding, Outcome, Owner, Scalar
from attnlab.core import Cell, Record
from attnlab.evidence.fits import LEAST_LEVELS, fit_exponent
from attnlab.evidence.intervals import (
    Interval,
    wilson,
)
from attnlab.evidence.level_laws import (
    SIGNIFICANT,
    Range,
    Relation,
    axis,
    missing_finding,
    values_of,
)
from attnlab.evidence.trends import Direction, page_trend
from attnlab.evidence.words import number


@dataclass(frozen=True)
class Power:
    """The scalar goes like a power of an axis: exactly, at most or at least."""

    along: str | Axis
    exponent: float
    relation: Relation = "equal"
    tolerance: float = 0.1
    owner: Owner = "ours"

    @property
    def estimated(self) -> bool:
        """An exponent has an interval."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the interval of the fitted exponent."""
        if not runs:
            return Finding("inconclusive", None, "no run")
        values = values_of(runs, scalar)
        good = np.isfinite(values) & (values > 0)
        missing = missing_finding(good, scalar)
        if missing is not None:
            return missing
        x = np.array([axis(self.along).of(r.cell) for r in runs])
        lost = "" if good.all() else f"{int((~good).sum())} of {good.size} runs do not have it"
        return self.of_points(x[good], values[good], scalar.name, level, lost)

    def of_points(
        self, x: np.ndarray, y: np.ndarray, what: str, level: float, detail: str = ""
    ) -> Finding:
        """The same from points."""
        known = np.isfinite(x)
        levels = len(set(x[known]))
        if levels < LEAST_LEVELS:
            few = f"{levels} level" + ("" if levels == 1 else "s")
            return Finding("inconclusive", None, f"the runs have {few} of {axis(self.along).name}, "
                           f"and an exponent needs {LEAST_LEVELS}: leave it free")  # fmt: skip
        fit = fit_exponent(x[known], y[known], level=level)
        name = f"exponent of {what} in {axis(self.along).name}"
        effect = Effect(name, fit.exponent, fit.low, fit.high)
        return Finding(
            self._range().decide(Interval(fit.exponent, fit.low, fit.high)), effect, detail
        )

    def _range(self) -> Range:
        low, high = self.exponent - self.tolerance, self.exponent + self.tolerance
        return Range(
            -math.inf if self.relation == "at_most" else low,
            math.inf if self.relation == "at_least" else high,
            "mean",
        )

    def decades(self, cells: Sequence[Cell]) -> float:
        """Over how many powers of ten the predicted quantity goes (the axis, if it is constant)."""
        x = [axis(self.along).of(cell) for cell in cells]
        x = [v for v in x if math.isfinite(v) and v > 0]
        return (abs(self.exponent) or 1.0) * math.log10(max(x) / min(x)) if x else 0.0

    def cutoff(self) -> str:
        """The decision line in words."""
        if self.relation == "equal":
            return f"within {number(self.exponent)} ± {number(self.tolerance)}"
        word = "at most" if self.relation == "at_most" else "at least"
        sign = "+" if self.relation == "at_most" else "−"
        slack = f" {sign} {number(self.tolerance)}" if self.tolerance else ""
        return f"{word} {number(self.exponent)}{slack}"

    def moved(self, factor: float) -> "Power":
        """The tolerance is halved or doubled."""
        return replace(self, tolerance=factor * self.tolerance) if self.owner == "ours" else self

    def example(self, cell: Cell) -> float:
        """The law itself."""
        return axis(self.along).of(cell) ** self.exponent


@dataclass(frozen=True)
class Straight:
    """The mean of the scalar is a straight line in an axis, an intercept allowed: R^2.

    A curve and a line with an intercept both have an exponent other than one; this tells them
    apart. The interval is the range of R^2 without any one level.
    """

    along: str | Axis
    least: float = 0.95
    owner: Owner = "ours"

    @property
    def estimated(self) -> bool:
        """R^2 has a range."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By R^2 over the levels' means."""
        values = values_of(runs, scalar)
        good = np.isfinite(values)
        missing = missing_finding(good, scalar) if len(runs) else Finding("inconclusive")
        if missing is not None:
            return missing
        x = np.array([axis(self.along).of(r.cell) for r in runs])[good]
        levels = np.unique(x)
        means = np.array([values[good][x == level].mean() for level in levels])
        return self.of_points(levels, means, scalar.name, level)

    def of_points(
        self, x: np.ndarray, y: np.ndarray, what: str, level: float, detail: str = ""
    ) -> Finding:
        """The same from points."""
        if x.size <= LEAST_LEVELS:
            return Finding("inconclusive", None, f"{x.size} levels; a line needs 4")

        def straightness(chosen: np.ndarray) -> float:
            if np.ptp(y[chosen]) == 0:
                return 0.0
            return max(float(np.corrcoef(x[chosen], y[chosen])[0, 1]), 0.0) ** 2

        every = np.ones(x.size, bool)
        left_out = [straightness(every & (np.arange(x.size) != k)) for k in range(x.size)]
        name = f"R^2 of {what} as a rising line in {axis(self.along).name}"
        whole = straightness(every)
        found = Interval(whole, min(whole, *left_out), max(whole, *left_out))
        return Finding(Range(self.least, 1.0).decide(found), Effect.of(name, found), detail)

    def cutoff(self) -> str:
        """The decision line in words."""
        return f"R^2 at least {number(self.least)}"

    def moved(self, factor: float) -> "Straight":
        """The distance to a perfect line is halved or doubled."""
        if self.owner == "paper":
            return self
        return replace(self, least=1 - factor * (1 - self.least))

    def example(self, cell: Cell) -> float:
        """A line."""
        return 1.0 + axis(self.along).of(cell)


@dataclass(frozen=True)
class Monotone:
    """The scalar rises, or falls, along an axis: Page's test over seeds by levels."""

    along: str | Axis
    direction: Direction = "increasing"
    owner: Owner = "ours"

    @property
    def estimated(self) -> bool:
        """A trend can be chance."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the test in the stated direction and in the opposite one."""
        rows: dict[int, dict[float, float]] = {}
        for run, value in zip(runs, values_of(runs, scalar), strict=True):
            rows.setdefault(run.seed, {})[axis(self.along).of(run.cell)] = value
        levels = sorted({x for row in rows.values() for x in row})
        table = np.array([[row.get(x, math.nan) for x in levels] for row in rows.values()])
        whole = table[np.isfinite(table).all(axis=1)] if table.size else table
        if len(whole) < 2 or len(levels) < LEAST_LEVELS:
            return Finding(
                "inconclusive", None, f"{len(whole)} whole seeds at {len(levels)} levels"
            )
        opposite: Direction = "decreasing" if self.direction == "increasing" else "increasing"
        p, against = (page_trend(whole, d).p_value for d in (self.direction, opposite))
        ends = whole[:, -1] - whole[:, 0]
        moved = int(((ends > 0) if self.direction == "increasing" else (ends < 0)).sum())
        name = f"share of seeds whose {scalar.name} is {self.direction} in {axis(self.along).name}"
        effect = Effect.of(name, wilson(moved, len(whole)))
        outcome: Outcome = "inconclusive"
        if p < SIGNIFICANT:
            outcome = "supported"
        elif against < min(SIGNIFICANT, 1 - level):
            outcome = "contradicted"
        return Finding(outcome, effect, f"Page's test: p = {number(p, 2)}")

    def cutoff(self) -> str:
        """The decision line in words."""
        return f"Page's test {self.direction} at p < {SIGNIFICANT}"

    def moved(self, factor: float) -> "Monotone":
        """A p-value is no cutoff on an effect."""
        return self

    def example(self, cell: Cell) -> float:
        """The axis itself, or its opposite."""
        x = axis(self.along).of(cell)
        return x if self.direction == "increasing" else -x
