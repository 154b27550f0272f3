"""What the claims of li2023 share: shares of runs, thresholds N50 and their exponents."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from attnlab.core import (
    Control,
    Effect,
    Hypothesis,
    Measurement,
    Outcome,
    Reading,
    Record,
    Records,
)
from attnlab.evidence.fits import fit_exponent
from attnlab.evidence.intervals import decide_at_least, decide_at_most, decide_equal, wilson
from attnlab.evidence.multiplicity import combine_outcomes
from attnlab.evidence.threshold import ThresholdFit, fit_threshold
from attnlab.papers.li2023.settings import TrainingSettings, resolve
from attnlab.papers.li2023.theory import conditions

PROBABILITY = 0.9
"""Ours: the share of runs that stands for a statement about every run."""
LEAST_LEVELS = 3
STRAIGHT = 0.95
"""Ours: the share of variance from which points lie on a straight line."""

MAP, WITHOUT = "li2023.figure_1a", "li2023.figure_3"
ERRORS, NOISE = "li2023.figure_1b", "li2023.token_noise"
TIMES, MANY = "li2023.figure_2", "li2023.certificate"

SHUFFLED = Control(
    "shuffled labels",
    "the labels are permuted over the samples, and 600 steps are enough to see it",
    changes={"labels": "shuffled", "steps": 600},
)
FROZEN = Control(
    "frozen attention", "keys and queries are not trained", changes={"attention": "frozen"}
)
SHARED_AT_4 = Control(
    "shared output weights",
    "one vector of output weights for all positions, N = 4: every trial succeeds",
    changes={"output_weights": "shared", "N": 4},
)
FIXED_ORDER_AT_4 = Control(
    "fixed order",
    "tokens in the same order in every sample, N = 4: every trial succeeds",
    changes={"order": "fixed", "N": 4},
)


def share_reading(
    name: str, effect: str, held: Sequence[Any], probability: float = PROBABILITY, detail: str = ""
) -> Reading:
    """The outcome from the share of runs in which something held."""
    if not len(held):
        return Reading(name, "inconclusive", None, "no run of this kind")
    found = Effect.of(effect, wilson(sum(map(bool, held)), len(held)))
    return Reading(name, decide_at_least(found.low, found.high, probability), found, detail)


def all_of(name: str, parts: list[Reading]) -> Measurement:
    """A conjunction with its parts as further readings."""
    outcome = combine_outcomes([part.outcome for part in parts])
    decisive = [part for part in parts if part.outcome == outcome] or parts
    detail = "; ".join(f"{part.name}: {part.outcome}" for part in parts)
    return Measurement((Reading(name, outcome, decisive[0].effect, detail), *parts))


@dataclass(frozen=True)
class PowerLaw:
    """An exponent: exactly, at least or at most."""

    exponent: float
    kind: Literal["equal", "at_least", "at_most"] = "equal"
    tolerance: float = 0.5

    def decide(self, low: float, high: float) -> Outcome:
        """The outcome of an interval of the exponent."""
        if self.kind == "at_least":
            return decide_at_least(low, high, self.exponent - self.tolerance)
        if self.kind == "at_most":
            return decide_at_most(low, high, self.exponent + self.tolerance)
        return decide_equal(low, high, self.exponent, self.tolerance)


Regressor = Callable[[TrainingSettings], float]


def inverse_fraction(cell: TrainingSettings) -> float:
    """1 / alpha_*."""
    return 1 / cell.alpha_star


def inverse_gap(cell: TrainingSettings) -> float:
    """1 / (alpha_* - alpha_#)."""
    return 1 / cell.gap


def inverse_relative_gap(cell: TrainingSettings) -> float:
    """alpha_* / (alpha_* - alpha_#) = 1 / (1 - alpha_#/alpha_*)."""
    return cell.alpha_star / cell.gap


def thresholds(records: Records, level: Callable[[Any], Any]) -> dict[Any, ThresholdFit]:
    """N50 with its interval at every level of a regressor, in increasing order."""
    groups: dict[Any, list[Record]] = {}
    for r in records:
        groups.setdefault(level(r.cell), []).append(r)
    found = {}
    for x in sorted(groups):
        rows = groups[x]
        sizes = sorted({r.cell.N for r in rows})
        own = [[bool(r["success"]) for r in rows if r.cell.N == N] for N in sizes]
        found[x] = fit_threshold(sizes, [sum(s) for s in own], [len(s) for s in own])
    return found


def bounded(found: Mapping[Any, ThresholdFit]) -> dict[Any, ThresholdFit]:
    """The levels whose interval the tested sizes bound on both sides."""
    return {x: fit for x, fit in found.items() if fit.censored == "no"}


def without_threshold(records: Records, found: Mapping[Any, ThresholdFit]) -> int:
    """How many levels have all of N50's interval at or below the smallest N tried."""
    smallest = min(r.cell.N for r in records)
    return sum(fit.high <= smallest for fit in found.values())


def describe(found: Mapping[Any, ThresholdFit]) -> str:
    """N50 by level in a few words."""
    return "; ".join(
        f"{x:.3g}: {fit.n50:.3g} [{fit.low:.3g}, {fit.high:.3g}]" for x, fit in found.items()
    )


def threshold_reading(
    name: str, records: Records, regressor: Regressor, law: PowerLaw, what: str
) -> Reading:
    """The exponent of N50 in a regressor, over the levels at which N50 is bounded.

    If most levels succeed already at the smallest N there is no sample complexity to speak of,
    which contradicts any law of it.
    """
    found = thresholds(records, regressor)
    if not found:
        return Reading(name, "inconclusive", None, "no run of this kind")
    at_once = without_threshold(records, found)
    if at_once > len(found) / 2:
        share = Effect.of(
            "share of levels with a threshold", wilson(len(found) - at_once, len(found))
        )
        detail = "trials succeed at the smallest N already: " + describe(found)
        return Reading(name, "contradicted", share, detail)
    # (13) is infinite where alpha_* <= sigma + tau: such a level has no place on a log scale.
    known = {x: fit for x, fit in bounded(found).items() if math.isfinite(x)}
    if len(known) < LEAST_LEVELS:
        detail = f"N50 is bounded at {len(known)} of {len(found)} levels: {describe(found)}"
        return Reading(name, "inconclusive", None, detail)
    fit = fit_exponent(list(known), [f.n50 for f in known.values()])
    effect = Effect(f"exponent of N50 in {what}", fit.exponent, fit.low, fit.high)
    detail = f"R^2 {fit.r_squared:.3f}; N50 by {what}: {describe(found)}"
    return Reading(name, law.decide(fit.low, fit.high), effect, detail)


def exponent_reading(
    name: str, x: Sequence[float], y: Sequence[float], law: PowerLaw, effect_name: str
) -> Reading:
    """The exponent of y in x over runs."""
    if len(set(x)) < LEAST_LEVELS:
        return Reading(name, "inconclusive", None, f"{len(set(x))} levels; at least 3 are needed")
    fit = fit_exponent(x, y)
    effect = Effect(effect_name, fit.exponent, fit.low, fit.high)
    return Reading(name, law.decide(fit.low, fit.high), effect, f"R^2 {fit.r_squared:.3f}")


def slope_reading(
    name: str, x: Sequence[float], y: Sequence[float], law: PowerLaw, effect_name: str
) -> Reading:
    """The slope of log y over x: the exponent of y in exp(x)."""
    return exponent_reading(name, [math.exp(v) for v in x], y, law, effect_name)


def straight_line_reading(name: str, points: Mapping[float, float], what: str) -> Reading:
    """How straight y is in x, an intercept allowed: R^2, with its range without any one level.

    A curve and a line with an intercept both have an exponent other than one; this tells them
    apart.
    """
    if len(points) <= LEAST_LEVELS:
        return Reading(name, "inconclusive", None, f"{len(points)} levels; at least 4 are needed")
    x, y = np.array(list(points)), np.array(list(points.values()))

    def straightness(chosen: np.ndarray) -> float:
        r = float(np.corrcoef(x[chosen], y[chosen])[0, 1])
        return max(r, 0.0) ** 2

    every = np.ones(x.size, bool)
    left_out = [straightness(every & (np.arange(x.size) != k)) for k in range(x.size)]
    effect = Effect(f"R^2 of a straight line in {what}", straightness(every), min(left_out),
                    max(left_out))  # fmt: skip
    return Reading(name, decide_at_least(effect.low, effect.high, STRAIGHT), effect)


def theorem_hypotheses(records: Records) -> tuple[Hypothesis, ...]:
    """Theorem 1's hypotheses, each at its worst cell, and what runs tell."""
    rows = conditions.hypotheses(r.cell for r in records)
    return (*rows, *_of_the_runs(records))


def data_hypotheses(records: Records) -> tuple[Hypothesis, ...]:
    """The same without (8), for the paper's figures, whose own settings break it in part."""
    return conditions.hypotheses((r.cell for r in records), with_8=False)


def _of_the_runs(records: Records) -> tuple[Hypothesis, ...]:
    """The balance of the classes, and how long training took in units of 1/eta."""
    largest = max((r.cell for r in records), key=lambda cell: cell.N)
    apart = largest.N % largest.classes if largest.balance == "exact" else math.sqrt(largest.N)
    rows = [Hypothesis("|D+| - |D-| = O(sqrt N)", apart, math.sqrt(largest.N), "<=", "unknown")]
    times = [r.cell.eta * float(r["iterations"]) for r in records if "iterations" in r.values]
    if times:
        rows.append(Hypothesis("eta T = O(1)", float(np.mean(times)), 1.0, "<=", "unknown"))
    return tuple(rows)


def slices(records: Records) -> dict[str, Records]:
    """The records by how alpha_# follows alpha_*."""
    return {
        "paper slice": records.where(confusion="paper_slice"),
        "constant ratio": records.where(confusion="constant_ratio"),
        "fixed alpha_*": records.where(confusion="number"),
    }


# --- fixtures ---------------------------------------------------------------------------------


def trial(study: str, seed: int, values: Mapping[str, Any], **settings: Any) -> Record:
    """One synthetic record of a study."""
    chosen: dict[str, Any] = {"engine": "collapsed", "approximate": True, **settings}
    return Record(f"li2023.{study}", resolve(TrainingSettings(**chosen)), seed, dict(values))


def step_trials(
    study: str,
    n50: Callable[[TrainingSettings], float],
    cells: Sequence[dict[str, Any]],
    seeds: int = 10,
) -> list[Record]:
    """Trials that succeed with the probability of a steep logistic curve around a given N50."""
    draw = np.random.default_rng(0)
    records = []
    for settings in cells:
        base = TrainingSettings(engine="collapsed", approximate=True, **settings)
        at = n50(base)
        for N in np.unique(np.round(np.geomspace(at / 4, at * 4, 15)).astype(int)).tolist():
            chance = 1 / (1 + (at / max(N, 1)) ** 12)
            for seed in range(seeds):
                cell = resolve(replace(base, N=max(N, 1)))
                won = bool(draw.uniform() < chance)
                records.append(Record(f"li2023.{study}", cell, seed, {"success": won}))
    return records
