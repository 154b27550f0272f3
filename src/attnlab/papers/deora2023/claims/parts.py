"""What the claims of deora2023 are made of: bounds in every run, shares, means and exponents.

A claim is a conjunction of parts, each over one study. A part that speaks of *every* run rests on
the worst one: a single violation contradicts it, and its effect has no interval, for nothing is
estimated. Means and exponents have intervals. The positive fixture puts given scalars on the
cells of scale quick, so that the controls that replace a law are tried on it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, Literal

import numpy as np

from attnlab.core import (
    Claim,
    Constant,
    Control,
    Effect,
    Measurement,
    Outcome,
    Reading,
    Record,
    Records,
)
from attnlab.evidence.fits import fit_exponent
from attnlab.evidence.intervals import (
    decide_at_least,
    decide_at_most,
    decide_equal,
    mean_interval,
    wilson,
)
from attnlab.evidence.multiplicity import combine_outcomes, simultaneous_level
from attnlab.papers.deora2023.studies import STUDIES

Kind = Literal["at_most", "at_least", "equal"]
Scalars = Mapping[str, float | Callable[[Any], float]]
"""The scalars of a fixture: numbers, or functions of the cell."""
ROUNDING = 1e-9
"""Slack of a bound that can be attained exactly."""
SHUFFLED = Control("shuffled labels", "the labels are fair coins", changes={"labels": "shuffled"})


@dataclass(frozen=True)
class Every:
    """In every run the scalar is at most, or at least, the bound."""

    scalar: str
    bound: float
    kind: Literal["at_most", "at_least"] = "at_most"

    def describe(self) -> str:
        """The law in a few words."""
        return f"{self.scalar} is {self.kind.replace('_', ' ')} {self.bound:g} in every run"


@dataclass(frozen=True)
class Share:
    """The scalar is at most the bound in at least so many of the runs."""

    scalar: str
    bound: float
    probability: float = 0.9

    def describe(self) -> str:
        """The law in a few words."""
        return f"{self.scalar} <= {self.bound:g} with probability at least {self.probability:g}"


@dataclass(frozen=True)
class Mean:
    """The expectation of the scalar, with Student's interval."""

    scalar: str
    target: float
    kind: Kind = "equal"
    tolerance: float = 0.0

    def describe(self) -> str:
        """The law in a few words."""
        about = f" within {self.tolerance:g}" if self.kind == "equal" else ""
        return f"the mean of {self.scalar} is {self.kind.replace('_', ' ')} {self.target:g}{about}"


@dataclass(frozen=True)
class Power:
    """The scalar goes like a power of a setting."""

    scalar: str
    setting: str
    exponent: float
    kind: Kind = "equal"
    tolerance: float = 0.1

    def describe(self) -> str:
        """The law in a few words."""
        kind = self.kind.replace("_", " ")
        return (
            f"the exponent of {self.scalar} in {self.setting} is {kind} {self.exponent:g} "
            f"(tolerance {self.tolerance:g})"
        )


Law = Every | Share | Mean | Power


@dataclass(frozen=True)
class Part:
    """One part of a statement, the study (without its paper) and the cells that measure it."""

    name: str
    study: str
    law: Law
    cells: Callable[[Any], bool] = lambda cell: True


@dataclass(frozen=True)
class Parts:
    """All parts must hold."""

    parts: tuple[Part, ...]

    def but(self, name: str, law: Law) -> "Parts":
        """The same with one part's law replaced: a control."""
        if name not in {part.name for part in self.parts}:
            raise ValueError(f"no part is called {name!r}")
        changed = (replace(p, law=law) if p.name == name else p for p in self.parts)
        return Parts(tuple(changed))


def measure(records: Records, law: Parts) -> Measurement:
    """The conjunction, and each part as a reading of its own."""
    level = simultaneous_level(max(1, sum(isinstance(p.law, Mean | Power) for p in law.parts)))
    found = []
    for part in law.parts:
        own = [r for r in records.of(f"deora2023.{part.study}") if part.cells(r.cell)]
        outcome, effect, detail = _measure(own, part.law, 0.95)
        if outcome == "contradicted" and isinstance(part.law, Mean | Power):
            # Any one of several parts may fail by chance: contradiction takes the joint interval.
            outcome, effect, detail = _measure(own, part.law, level)
        found.append(Reading(part.name, outcome, effect, detail))
    whole = combine_outcomes([reading.outcome for reading in found])
    decisive = [reading for reading in found if reading.outcome == whole]
    names = "; ".join(reading.name for reading in decisive[:6])
    first = Reading("all parts", whole, decisive[0].effect if decisive else None, names)
    return Measurement((first, *found))


def _measure(records: list[Record], law: Law, level: float) -> tuple[Outcome, Effect | None, str]:
    finite = [r for r in records if not r.diverged]
    if not records:
        return "inconclusive", None, "no run"
    if len(finite) < len(records) and not isinstance(law, Share):
        return "contradicted", None, f"{len(records) - len(finite)} runs diverged"
    values = np.array([float(r[law.scalar]) for r in finite])
    if isinstance(law, Every):
        return _every(values, law)
    if isinstance(law, Share):
        held = int((values <= law.bound).sum())
        share = Effect.of(f"share of runs with {law.describe()}", wilson(held, len(records)))
        return decide_at_least(share.low, share.high, law.probability), share, ""
    if isinstance(law, Mean):
        effect = Effect.of(f"mean of {law.scalar}", mean_interval(values, level=level))
        return _decide(effect, law.target, law.kind, law.tolerance), effect, ""
    if not (np.isfinite(values) & (values > 0)).all():
        return "contradicted", None, f"{law.scalar} is not positive in every run"
    fit = fit_exponent([getattr(r.cell, law.setting) for r in finite], values, level=level)
    effect = Effect(f"exponent of {law.scalar} in {law.setting}", fit.exponent, fit.low, fit.high)
    return _decide(effect, law.exponent, law.kind, law.tolerance), effect, ""


def _every(values: np.ndarray, law: Every) -> tuple[Outcome, Effect, str]:
    worst = float(values.max() if law.kind == "at_most" else values.min())
    name = ("largest " if law.kind == "at_most" else "smallest ") + law.scalar
    effect = Effect(name, worst, worst, worst)
    decide = decide_at_most if law.kind == "at_most" else decide_at_least
    outcome = decide(worst, worst, law.bound)
    # Not a number in any run: the statement was not seen to hold there.
    return ("contradicted" if np.isnan(values).any() else outcome), effect, ""


def _decide(effect: Effect, target: float, kind: Kind, tolerance: float) -> Outcome:
    if kind == "at_most":
        return decide_at_most(effect.low, effect.high, target + tolerance)
    if kind == "at_least":
        return decide_at_least(effect.low, effect.high, target - tolerance)
    return decide_equal(effect.low, effect.high, target, tolerance)


def claim(
    id: str,
    *,
    parts: Sequence[Part],
    positive: Scalars,
    wrong: Sequence[tuple[str, str, Law]] = (),
    changes: Sequence[Control] = (),
    exponents: Mapping[str, float] | None = None,
    **texts: Any,
) -> Claim:
    """A claim from its parts.

    `wrong` holds controls as (name, part, law in its place); `positive` the scalars of the
    fixture; those of exponents are made from the law's exponent, or from that in `exponents`.
    """
    law = Parts(tuple(parts))
    controls = tuple(
        Control(name, f"{part}: {other.describe()}", law=law.but(part, other))
        for name, part, other in wrong
    )
    readings = ((part.name, part.law.describe()) for part in parts)
    return Claim(
        id=f"deora2023.{id}",
        studies=tuple(dict.fromkeys(f"deora2023.{part.study}" for part in parts)),
        measure=measure,
        law=law,
        controls=(*controls, *changes),
        positive=lambda: fixture(law, positive, exponents or {}),
        readings=(("all parts", "the conjunction of the parts below"), *readings),
        **texts,
    )


def fixture(
    law: Parts, positive: Scalars, exponents: Mapping[str, float], seeds: int = 60
) -> Records:
    """Runs on the cells of scale quick on which every part holds."""
    noise = np.random.default_rng(0)
    records = []
    for name in dict.fromkeys(part.study for part in law.parts):
        powers = [p.law for p in law.parts if p.study == name and isinstance(p.law, Power)]
        for cell in _cells(name):
            for seed in range(seeds):
                scalars = {
                    key: np.float64(value(cell) if callable(value) else value)
                    for key, value in positive.items()
                }
                for power in powers:
                    spread = np.exp(0.02 * noise.normal())
                    exponent = exponents.get(power.scalar, power.exponent)
                    size = float(getattr(cell, power.setting)) ** exponent
                    scalars[power.scalar] = scalars.get(power.scalar, 1.0) * spread * size
                records.append(Record(f"deora2023.{name}", cell, seed, scalars))
    return Records(records)


@cache
def _cells(name: str) -> tuple[Any, ...]:
    study = next(s for s in STUDIES if s.id == f"deora2023.{name}")
    return tuple(study.resolve(cell) for cell in study.designs["quick"].cells)


def unknown(name: str) -> Constant:
    """A constant that the paper hides."""
    return Constant(name, "unknown")
