"""Laws of the sample size at which half of the runs succeed, and of what suffices.

The scalar is 1 in a run that succeeded and 0 in one that did not; a run that diverged failed.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np

from attnlab.claims import Axis, Effect, Finding, Outcome, Owner, Scalar
from attnlab.core import Cell, OfCell, Record, SettingValue
from attnlab.evidence.fits import LEAST_LEVELS, compare_powers, fit_exponent
from attnlab.evidence.intervals import Interval, mean_interval, wilson
from attnlab.evidence.laws import Power, Range, Straight, axis, values_of
from attnlab.evidence.threshold import ThresholdFit, fit_threshold, success_chance
from attnlab.evidence.words import number

AIC_PREFERENCE = 2.0
"""Ours: the difference of AIC from which one law is preferred to another."""
Level = TypeVar("Level", bound=float | tuple[float, ...])
"""A number, or several, that cells of one threshold share."""


def thresholds(
    runs: Sequence[Record], scalar: Scalar, level: OfCell[Level], size: str = "N"
) -> dict[Level, ThresholdFit]:
    """N50 with its interval at each level (a function of the cell), in increasing order."""
    return {x: fit_threshold(*rows) for x, rows in counted(runs, scalar, level, size).items()}


def counted(
    runs: Sequence[Record], scalar: Scalar, level: OfCell[Level], size: str = "N"
) -> dict[Level, tuple[list[float], list[int], list[int]]]:
    """Sizes, successes and trials at each level, in increasing order."""
    groups: dict[Level, dict[float, list[bool]]] = {}
    for run, value in zip(runs, values_of(runs, scalar), strict=True):
        sizes = groups.setdefault(level(run.cell), {})
        sizes.setdefault(getattr(run.cell, size), []).append(bool(value > 0.5))
    found = {}
    for x in sorted(groups):
        rows = sorted(groups[x].items())
        found[x] = ([n for n, _ in rows], [sum(s) for _, s in rows], [len(s) for _, s in rows])
    return found


def bounded(found: Mapping[Level, ThresholdFit]) -> dict[Level, ThresholdFit]:
    """The levels whose interval the tested sizes bound on both sides."""
    return {x: fit for x, fit in found.items() if fit.censored == "no"}


def describe(found: Mapping[float, ThresholdFit]) -> str:
    """N50 by level in a few words, with its confidence sequence."""
    return "; ".join(
        f"{number(x, 3)}: {number(fit.n50, 3)} [{number(fit.sequence_low, 3)}, "
        f"{number(fit.sequence_high, 3)}]"
        for x, fit in found.items()
    )


@dataclass(frozen=True)
class Threshold:
    """N50 obeys a law along an axis.

    If most levels succeed already at the smallest size there is no threshold to speak of, which
    contradicts any law of it.
    """

    law: Power | Straight
    size: str = "N"

    @property
    def owner(self) -> Owner:
        """Whose the inner law's cutoff is."""
        return self.law.owner

    @property
    def estimated(self) -> bool:
        """A threshold has an interval."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the inner law on the levels at which N50 is bounded."""
        along = axis(self.law.along)
        found = thresholds(runs, scalar, along.of, self.size)
        if not found:
            return Finding("inconclusive", None, "no run")
        smallest = min(getattr(r.cell, self.size) for r in runs)
        at_once = sum(fit.high <= smallest for fit in found.values())
        detail = f"N50 by {along.name}: {describe(found)}"
        if at_once > len(found) / 2:
            share = wilson(len(found) - at_once, len(found))
            effect = Effect.of("share of levels with a threshold", share)
            return Finding("contradicted", effect, f"success at the smallest size; {detail}")
        known = {x: fit.n50 for x, fit in bounded(found).items() if math.isfinite(x)}
        x, y = (np.array(list(v), dtype=float) for v in (known, known.values()))
        if x.size < LEAST_LEVELS:
            return Finding("inconclusive", None, f"N50 is bounded at {x.size} levels; {detail}")
        return self.law.of_points(x, y, "N50", level, detail)

    def decades(self, cells: Sequence[Cell]) -> float:
        """Over how many powers of ten the predicted N50 goes."""
        return self.law.decades(cells) if isinstance(self.law, Power) else math.inf

    def cutoff(self) -> str:
        """The decision line in words."""
        return self.law.cutoff()

    def moved(self, factor: float) -> "Threshold":
        """The inner law moves."""
        return replace(self, law=self.law.moved(factor))

    def example(self, cell: Cell) -> float:
        """Success from the law on, in units of its value (see `step_cells` for the sizes)."""
        return float(getattr(cell, self.size) >= self.law.example(cell))


@dataclass(frozen=True)
class ThresholdRatio:
    """N50 at `setting` = `value` over that at `other`, by levels of an axis.

    With a range as `law`, the geometric mean over levels lies in it; with a power, the ratio goes
    like that power of the axis. Only levels at which both N50 are bounded speak. Their
    scatter gives the interval, or, where there are fewer than three, the posteriors of N50.
    """

    setting: str
    value: SettingValue
    other: SettingValue
    along: Axis
    law: Range | Power
    size: str = "N"

    @property
    def owner(self) -> Owner:
        """Whose the inner law's cutoff is."""
        return self.law.owner

    @property
    def estimated(self) -> bool:
        """A threshold has an interval."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the inner law on the levels at which both N50 are bounded."""
        sides = []
        for wanted in (self.value, self.other):
            own = [r for r in runs if getattr(r.cell, self.setting) == wanted]
            sides.append(bounded(thresholds(own, scalar, self.along.of, self.size)))
        both = sorted(set(sides[0]) & set(sides[1]))
        few = len(both) < LEAST_LEVELS
        if not both or (few and isinstance(self.law, Power)):
            return Finding("inconclusive", None, f"both N50 are bounded at {len(both)} levels")
        pairs = [(sides[0][x].n50, sides[1][x].n50) for x in both]
        ratios = np.array([a / b for a, b in pairs])
        name = f"N50 with {self.setting} {self.value} over {self.other}"
        detail = f"by {self.along.name}: " + "; ".join(
            f"{number(x, 3)}: {number(a, 3)} over {number(b, 3)}"
            for x, (a, b) in zip(both, pairs, strict=True)
        )
        if isinstance(self.law, Power):
            return self.law.of_points(np.array(both, dtype=float), ratios, name, level, detail)
        if few:
            logs = _from_posteriors([(sides[0][x], sides[1][x]) for x in both], level)
        else:
            logs = mean_interval(np.log(ratios), level=level)
        found = Interval(*(math.exp(v) for v in (logs.value, logs.low, logs.high)))
        return Finding(self.law.decide(found), Effect.of(name, found), detail)

    def cutoff(self) -> str:
        """The decision line in words."""
        return self.law.inside() if isinstance(self.law, Range) else self.law.cutoff()

    def moved(self, factor: float) -> "ThresholdRatio":
        """The inner law moves."""
        return replace(self, law=self.law.moved(factor))

    def example(self, cell: Cell) -> float:
        """Success from a size on that has the stated ratio (see `step_trials` for the sizes)."""
        ratio = self.law.example(cell) if getattr(cell, self.setting) == self.value else 1.0
        return float(getattr(cell, self.size) >= 4 * ratio)


def _from_posteriors(pairs: Sequence[tuple[ThresholdFit, ThresholdFit]], level: float) -> Interval:
    """The mean log ratio of two N50, with an interval from their credible ones as if normal."""
    from scipy.special import ndtri

    means = [math.log(a.n50 / b.n50) for a, b in pairs]
    spread = math.sqrt(sum(math.log(f.high / f.low) ** 2 for pair in pairs for f in pair))
    half = spread / (2 * ndtri(0.975)) / len(pairs) * float(ndtri((1 + level) / 2))
    mean = float(np.mean(means))
    return Interval(mean, mean - half, mean + half)


@dataclass(frozen=True)
class Prefers:
    """One law of N50 fits better than its rivals: by AIC, on cells it has not seen, and by weight.

    $$\\log N_{50} = c + (1 - w) \\log s + w \\log r$$

    - $s$, $r$: the stated law and a rival; $w$: the rival's weight, with its interval.

    AIC alone decides between two laws that are equally wrong as often as not; a weight whose
    interval holds one half leaves it open.
    """

    stated: Axis
    rivals: tuple[Axis, ...]
    size: str = "N"
    owner: Owner = "ours"

    @property
    def estimated(self) -> bool:
        """A preference can be chance."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """Supported if all criteria prefer the stated law, contradicted if all prefer a rival."""
        laws = (self.stated, *self.rivals)
        found = bounded(
            thresholds(runs, scalar, lambda cell: tuple(a.of(cell) for a in laws), self.size)
        )
        if len(found) <= LEAST_LEVELS:
            return Finding("inconclusive", None, f"N50 is bounded at {len(found)} cells only")
        table = np.array(list(found))
        fits = compare_powers(
            {law.name: table[:, k] for k, law in enumerate(laws)},
            [fit.n50 for fit in found.values()],
        )
        by_name = {fit.name: fit for fit in fits}
        own = by_name.pop(self.stated.name)
        rival = min(by_name.values(), key=lambda fit: fit.aic)
        difference = own.aic - rival.aic
        better = own.held_out_error < rival.held_out_error
        needed = np.array([fit.n50 for fit in found.values()])
        weights = {
            law.name: fit_exponent(table[:, k] / table[:, 0], needed / table[:, 0], level=level)
            for k, law in enumerate(laws)
            if k
        }
        weight = weights[rival.name]
        outcome: Outcome = "inconclusive"
        if difference < -AIC_PREFERENCE and better and all(w.high < 0.5 for w in weights.values()):
            outcome = "supported"
        elif difference > AIC_PREFERENCE and not better and weight.low > 0.5:
            outcome = "contradicted"
        detail = "; ".join(
            f"{f.name}: AIC {number(f.aic, 3)}, held-out error {number(f.held_out_error, 3)}"
            for f in fits
        )
        name = f"weight of {rival.name} against {self.stated.name}"
        return Finding(outcome, Effect(name, weight.exponent, weight.low, weight.high), detail)

    def cutoff(self) -> str:
        """The decision line in words."""
        return f"weight below 0.5, AIC lower by {AIC_PREFERENCE:g}, smaller error on held-out cells"

    def moved(self, factor: float) -> "Prefers":
        """Three criteria must agree; none is moved."""
        return self

    def example(self, cell: Cell) -> float:
        """Success from the stated law on."""
        return float(getattr(cell, self.size) >= self.stated.of(cell))


@dataclass(frozen=True)
class Sufficient:
    """With a size of at least a constant times `asked`, runs succeed: the constant is fitted.

    $$c(x) = N_{50}(x) / \\mathrm{asked}(x)$$

    - $x$: the level of `path`, larger for harder cells.

    Contradicted if c grows along the path (its exponent's interval lies above 0). Supported if
    the largest c of the easier half makes the harder half succeed: the chance of success in the
    middle between c and `near` c times `asked`, by the curve that fits each held-out level, mean
    over them. (Not the runs there: a search spends its runs at N50, and where far fewer samples are
    needed than asked it has none.)
    """

    asked: Axis
    path: Axis
    probability: float = 0.5
    near: float = 2.0
    size: str = "N"
    owner: Owner = "ours"

    @property
    def estimated(self) -> bool:
        """A threshold has an interval."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the needed constant along the path, then on held-out cells."""
        found = thresholds(runs, scalar, lambda c: (self.path.of(c), self.asked.of(c)), self.size)
        known = {
            key: fit for key, fit in bounded(found).items() if all(math.isfinite(v) for v in key)
        }
        if len(known) < LEAST_LEVELS:
            return Finding("inconclusive", None, f"N50 is bounded at {len(known)} levels")
        x = np.array([key[0] for key in known])
        asked = np.array([key[1] for key in known])
        needed = np.array([fit.n50 for fit in known.values()])
        growth = fit_exponent(x, needed / asked, level=level)
        tight = fit_exponent(asked, needed, level=level) if np.ptp(asked) > 0 else None
        words = "" if tight is None else (
            f"needed N50 goes like the asked size to the power {number(tight.exponent, 3)} "
            f"[{number(tight.low, 3)}, {number(tight.high, 3)}]"
        )  # fmt: skip
        if growth.low > 0:
            name = f"exponent of the needed constant in {self.path.name}"
            effect = Effect(name, growth.exponent, growth.low, growth.high)
            return Finding("contradicted", effect, words)
        grown = f"its exponent {number(growth.exponent, 3)} [{number(growth.low, 3)}, "
        words = f"{grown}{number(growth.high, 3)}] along the path; {words}"
        return self._held_out(runs, scalar, x, needed / asked, words, level)

    def _held_out(
        self, runs: Sequence[Record], scalar: Scalar, x: np.ndarray, constants: np.ndarray,
        words: str, level: float,
    ) -> Finding:  # fmt: skip
        half = np.median(x)
        constant = float(constants[x <= half].max())
        rows = counted(runs, scalar, lambda c: (self.path.of(c), self.asked.of(c)), self.size)
        chances = [
            success_chance(*own, math.sqrt(self.near) * constant * asked, level=level)
            for (place, asked), own in rows.items()
            if half < place < math.inf and math.isfinite(asked)
        ]
        if not chances:
            return Finding("inconclusive", None, f"no held-out level; {words}")
        share = Interval(*(float(v) for v in np.mean(chances, axis=0)))
        name = f"share of held-out successes within {number(self.near)} of the boundary"
        detail = f"constant {number(constant, 3)} from the easier half; {words}"
        held = share.low >= self.probability
        outcome: Outcome = "supported" if held else "inconclusive"
        return Finding(outcome, Effect.of(name, share), detail)

    def cutoff(self) -> str:
        """The decision line in words."""
        return f"at least {number(self.probability)} of held-out runs near the boundary succeed"

    def moved(self, factor: float) -> "Sufficient":
        """Ours: the share of held-out successes."""
        return replace(self, probability=1 - factor * (1 - self.probability))

    def example(self, cell: Cell) -> float:
        """Success from the asked size on."""
        return float(getattr(cell, self.size) >= self.asked.of(cell))
