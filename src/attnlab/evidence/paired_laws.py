"""Laws that compare two groups of runs: ratios and differences of pairs, spreads over seeds.

A pair is two runs of the same seed whose cells differ in the compared setting; the settings named
in `by` must be equal in both, so that a pair sees the same data and the same initial weights.
"""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from attnlab.claims import Effect, Finding, Owner, Scalar
from attnlab.core import Cell, Record
from attnlab.evidence.intervals import Interval, bootstrap_interval, mean_interval, share_interval
from attnlab.evidence.laws import Range, missing_finding, values_of

Statistic = Literal["ratio", "difference", "spread", "agreement"]


@dataclass(frozen=True)
class Paired:
    """The scalar at `setting` = `value` against that at `other`, over pairs of runs.

    $$\\text{ratio: } \\exp \\overline{\\log(a/b)} \\qquad \\text{difference: } \\overline{a - b}
      \\qquad \\text{spread: } \\mathrm{sd}(\\log a) / \\mathrm{sd}(\\log b)$$

    - $a$, $b$: the scalar of a pair's two runs; the bar is the mean over pairs.

    `agreement` is the share of pairs with a = b.

    `floor` is the least value that a ratio takes its logarithm of. `value` may be `max`: the
    largest level of the setting.
    """

    setting: str
    value: object
    other: object
    inside: Range
    statistic: Statistic = "ratio"
    by: tuple[str, ...] = ()
    floor: float = 0.0

    @property
    def owner(self) -> Owner:
        """Whose the range is."""
        return self.inside.owner

    @property
    def estimated(self) -> bool:
        """A mean over pairs has an interval."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the interval of the statistic over pairs."""
        value = self._value(runs)
        pairs = self._pairs(runs, value)
        if len(pairs) < 2:
            return Finding("inconclusive", None, f"{len(pairs)} pairs of runs")
        table = np.stack([values_of(side, scalar) for side in zip(*pairs, strict=True)])
        logarithmic = self.statistic in ("ratio", "spread")
        if logarithmic:
            table = np.where(np.isnan(table), np.nan, np.maximum(table, self.floor))
        usable = np.isfinite(table)
        if logarithmic:
            usable &= table > 0
        good = np.logical_and(*usable)
        missing = missing_finding(good, scalar)
        if missing is not None:
            return missing
        a, b = table[:, good]
        interval = self._interval(a, b, level)
        word = {"difference": "minus", "agreement": "and"}.get(self.statistic, "over")
        head = {
            "spread": "spread of the logarithm of ",
            "agreement": "share of pairs with the same ",
        }.get(self.statistic, "")
        name = f"{head}{scalar.name} with {self.setting} {value} {word} {self.other}"
        detail = f"{a.size} pairs, means {np.mean(a):.4g} and {np.mean(b):.4g}"
        return Finding(self.inside.decide(interval), Effect.of(name, interval), detail)

    def _interval(self, a: np.ndarray, b: np.ndarray, level: float) -> Interval:
        if self.statistic == "difference":
            return mean_interval(a - b, level=level)
        if self.statistic == "agreement":
            return share_interval(int((a == b).sum()), a.size, level=level)
        if self.statistic == "ratio":
            logs = mean_interval(np.log(a) - np.log(b), level=level)
        else:
            logs = bootstrap_interval(_log_spread, np.log(a), np.log(b), level=level)
        ends = (math.exp(min(x, 700.0)) for x in (logs.value, logs.low, logs.high))
        return Interval(*ends)

    def _value(self, runs: Sequence[Record]) -> object:
        if self.value is not max:
            return self.value
        levels = [getattr(r.cell, self.setting) for r in runs]
        return max(levels) if levels else None

    def _pairs(self, runs: Sequence[Record], value: object) -> list[tuple[Record, Record]]:
        def key(run: Record) -> Hashable:
            return (run.seed, *(getattr(run.cell, name) for name in self.by))

        base = {key(r): r for r in runs if getattr(r.cell, self.setting) == self.other}
        ours = [r for r in runs if getattr(r.cell, self.setting) == value]
        return [(r, base[key(r)]) for r in ours if key(r) in base]

    def cutoff(self) -> str:
        """The decision line in words."""
        return self.inside.inside()

    def moved(self, factor: float) -> "Paired":
        """The range moves; that of a ratio in the logarithm, for one half and two are as far."""
        if self.statistic not in ("ratio", "spread") or self.owner == "paper":
            return replace(self, inside=self.inside.moved(factor))
        low, high, trivial = self.inside.low, self.inside.high, self.inside.trivial
        middle = trivial or (math.sqrt(low * high) if 0 < low <= high < math.inf else 1.0)
        ends = [
            middle * (end / middle) ** factor if 0 < end < math.inf else end for end in (low, high)
        ]
        return replace(self, inside=replace(self.inside, low=ends[0], high=ends[1]))

    def example(self, cell: Cell) -> float:
        """One at `other`; at the rest a value that makes the statistic hold (not for a spread)."""
        if getattr(cell, self.setting) == self.other or self.statistic == "agreement":
            return 1.0
        inside = self.inside.example(cell)
        return 1.0 + inside if self.statistic == "difference" else inside


def _log_spread(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
    first, second = (np.std(x, axis=axis) + 1e-12 for x in (a, b))
    return np.log(first / second)
