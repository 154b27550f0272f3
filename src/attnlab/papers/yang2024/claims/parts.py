"""Claims that are conjunctions: several exponents and ranges, over one study or several."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnlab.core import (
    Claim,
    Constant,
    Control,
    Hypothesis,
    Measurement,
    Reading,
    Record,
    Records,
)
from attnlab.evidence.multiplicity import combine_outcomes, simultaneous_level
from attnlab.papers.yang2024.claims.builders import (
    ExponentLaw,
    RangeLaw,
    measure_exponent,
    measure_range,
)
from attnlab.papers.yang2024.claims.common import hypotheses
from attnlab.papers.yang2024.settings import TrainingSettings, resolve

Levels = Mapping[str, Sequence[float]]
LEVELS: Levels = {
    "m": tuple(2**k for k in range(9, 16)),
    "n": (12, 18, 24, 36, 48, 60, 96),
    "L": (4, 5, 6, 7, 8, 10, 12),
    "c0": (0.003, 0.01, 0.03, 0.1),
}
"""Where a fixture has its runs, by setting."""


@dataclass(frozen=True)
class Part:
    """One part of a statement, and the study (without its paper) that measures it."""

    name: str
    study: str
    law: ExponentLaw | RangeLaw


@dataclass(frozen=True)
class PartsLaw:
    """All parts must hold."""

    parts: tuple[Part, ...]

    def but(self, name: str, **changes: Any) -> "PartsLaw":
        """The same with one part's law changed: a control."""
        if name not in {part.name for part in self.parts}:
            raise ValueError(f"no part is called {name!r}")
        return PartsLaw(
            tuple(
                replace(part, law=replace(part.law, **changes)) if part.name == name else part
                for part in self.parts
            )
        )


def measure_parts(records: Records, law: PartsLaw) -> Measurement:
    """The conjunction, and each part as a reading of its own.

    All parts must hold, so each is supported by its own 95 % interval (an intersection-union
    test: that all are supported though one is wrong is no likelier than that this one is). But
    any one may fail by chance, so one is contradicted only by its simultaneous interval.
    """
    exponents = sum(isinstance(part.law, ExponentLaw) for part in law.parts)
    level = simultaneous_level(max(exponents, 1))
    found = []
    constants = []
    for part in law.parts:
        own = records.of(f"yang2024.{part.study}")
        if isinstance(part.law, ExponentLaw):
            reading = measure_exponent(own, part.law).readings[0]
            if reading.outcome == "contradicted":
                reading = measure_exponent(own, part.law, level).readings[0]
            constants += _implied(own, part.law)
        else:
            reading = measure_range(own, part.law).readings[0]
        found.append(replace(reading, name=part.name))
    outcome = combine_outcomes([reading.outcome for reading in found])
    decisive = [reading for reading in found if reading.outcome == outcome]
    detail = "; ".join(f"{reading.name}: {reading.outcome}" for reading in decisive)
    whole = Reading("all parts", outcome, decisive[0].effect, detail)
    return Measurement((whole, *found), tuple(constants))


def _implied(records: Records, law: ExponentLaw) -> list[Constant]:
    """A scalar that is a quotient by its bound is the constant that one would have to grant."""
    values = np.array([float(r[law.scalar]) for r in records.finite()])
    values = values[np.isfinite(values)]
    if law.exponent != 0 or not values.size:
        return []
    low, middle, high = map(float, np.quantile(values, (0.025, 0.5, 0.975)))
    return [Constant(implied_name(law), "fitted", middle, low, high)]


def implied_name(law: ExponentLaw) -> str:
    """The name of the constant that a flat quotient implies."""
    return f"constant implied by {law.scalar}"


def parts_claim(
    id: str,
    *,
    parts: Sequence[Part],
    wrong: Sequence[tuple[str, str, Mapping[str, Any]]] = (),
    changes: Sequence[Control] = (),
    positive: Mapping[str, float] | None = None,
    **texts: Any,
) -> Claim:
    """A claim of several parts.

    `wrong` holds controls as (name, part, what is changed in its law); `positive` gives
    the scalars of the range laws at which they hold.
    """
    law = PartsLaw(tuple(parts))
    controls = [
        Control(text, f"{name}: {text}", law=law.but(name, **change))
        for text, name, change in wrong
    ]
    constants = [
        Constant(implied_name(part.law), "fitted")
        for part in parts
        if isinstance(part.law, ExponentLaw) and part.law.exponent == 0
    ]
    names = ((part.name, describe(part.law)) for part in parts)
    return Claim(
        id=f"yang2024.{id}",
        studies=tuple(dict.fromkeys(f"yang2024.{part.study}" for part in parts)),
        measure=measure_parts,
        law=law,
        hypotheses=texts.pop("hypotheses", drawn_hypotheses),
        controls=(*controls, *changes),
        positive=lambda: parts_fixture(law, positive or {}),
        readings=(("all parts", "the conjunction of the parts"), *names),
        constants=(*constants, *texts.pop("constants", ())),
        **texts,
    )


def drawn_hypotheses(records: Records) -> tuple[Hypothesis, ...]:
    """The hypotheses of the runs that draw a training set; classes of words have none to check."""
    return hypotheses(Records(r for r in records if "words" in r.values))


def describe(law: ExponentLaw | RangeLaw) -> str:
    """A law in a few words."""
    if isinstance(law, RangeLaw):
        ranges = (f"{name} in [{low:g}, {high:g}]" for name, low, high in law.ranges)
        return ", ".join(ranges)
    kind = law.kind.replace("_", " ").replace("equal", "equal to")
    return f"the exponent of {law.scalar} in {law.setting} is {kind} {law.exponent:g}"


def parts_fixture(law: PartsLaw, positive: Mapping[str, float], seeds: int = 20) -> Records:
    """Runs on which every part holds, with two per cent of noise on the exponents' scalars."""
    noise = np.random.default_rng(0)
    records = []
    for study in dict.fromkeys(part.study for part in law.parts):
        laws = [part.law for part in law.parts if part.study == study]
        powers = [own for own in laws if isinstance(own, ExponentLaw)]
        setting = powers[0].setting if powers else "m"
        for level in LEVELS[setting]:
            cell = resolve(TrainingSettings(**{"n": 24, "L": 4, "m": 512, setting: level}))
            for seed in range(seeds):
                scalars = {name: np.float64(value) for name, value in positive.items()}
                for own in powers:
                    spread = np.exp(0.02 * noise.normal())
                    size = positive.get(own.scalar, 1.0)
                    scalars[own.scalar] = size * spread * float(level) ** own.exponent
                records.append(Record(f"yang2024.{study}", cell, seed, scalars))
    return Records(records)
