"""Claims of one kind from their numbers: an exponent, a bound on a share of runs, an identity.

Each builder takes the name of a scalar that every record has, so its positive fixture is made
from the law itself, with two per cent of noise.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from attnlab.evidence.intervals import decide_at_least, decide_at_most, decide_equal, wilson
from attnlab.papers.yang2024.claims.common import hypotheses
from attnlab.papers.yang2024.settings import TrainingSettings, resolve

TOLERANCE = 0.1
"""Ours, for exponents. The stated bounds hide powers of log m; one is an exponent of about 0.1."""
PROBABILITY = 0.9
"""Ours: the share of runs that stands for `with high probability`."""


@dataclass(frozen=True)
class ExponentLaw:
    """A scalar grows like a power of a setting: exactly, at most or at least."""

    scalar: str
    setting: str
    exponent: float
    kind: Literal["equal", "at_most", "at_least"] = "equal"
    tolerance: float = TOLERANCE


def measure_exponent(records: Records, law: ExponentLaw, level: float = 0.95) -> Measurement:
    """The fitted exponent against the law. A run without the scalar counts against it."""
    finite = [r for r in records.finite() if np.isfinite(r[law.scalar]) and r[law.scalar] > 0]
    share = Effect.of(f"share of runs that have {law.scalar}", wilson(len(finite), len(records)))
    if decide_at_least(share.low, share.high, PROBABILITY) == "contradicted":
        return Measurement((Reading("exponent", "contradicted", share),))
    if not finite:
        return Measurement((Reading("exponent", "inconclusive", share),))
    fit = fit_exponent(
        [getattr(r.cell, law.setting) for r in finite],
        [float(r[law.scalar]) for r in finite],
        level=level,
    )
    effect = Effect(f"exponent of {law.scalar} in {law.setting}", fit.exponent, fit.low, fit.high)
    constant = Constant(
        "constant of the law", "fitted", fit.constant, fit.constant_low, fit.constant_high
    )
    return Measurement((Reading("exponent", _decide(fit.low, fit.high, law), effect),), (constant,))


def _decide(low: float, high: float, law: ExponentLaw) -> Outcome:
    if law.kind == "at_most":
        return decide_at_most(low, high, law.exponent + law.tolerance)
    if law.kind == "at_least":
        return decide_at_least(low, high, law.exponent - law.tolerance)
    return decide_equal(low, high, law.exponent, law.tolerance)


@dataclass(frozen=True)
class RangeLaw:
    """Scalars lie in a range in nearly every run. `ranges`: scalar -> (low, high)."""

    ranges: tuple[tuple[str, float, float], ...]
    probability: float = PROBABILITY
    widest: bool = False
    """Take the runs of the largest width only, for statements about the limit of large m."""

    def holds(self, record: Record) -> bool:
        """Whether every scalar is in its range; nan is not."""
        return not record.diverged and all(
            bool(low <= record[name] <= high) for name, low, high in self.ranges
        )


def measure_range(records: Records, law: RangeLaw) -> Measurement:
    """The share of runs in which every scalar is in its range, and each scalar's own spread."""
    if law.widest:
        records = records.where(m=max(r.cell.m for r in records))
    held = [law.holds(r) for r in records]
    effect = Effect.of("share of runs in which it holds", wilson(sum(held), len(held)))
    details = []
    for name, low, high in law.ranges:
        values = np.array([float(r[name]) for r in records.finite()])
        if np.isfinite(values).any():
            a, b, c = np.nanquantile(values, (0.025, 0.5, 0.975))
            details.append(f"{name}: {b:.4g} [{a:.4g}, {c:.4g}] in [{low:.4g}, {high:.4g}]")
    outcome = decide_at_least(effect.low, effect.high, law.probability)
    return Measurement((Reading("share of runs", outcome, effect, "; ".join(details)),))


def exponent_claim(
    id: str,
    *,
    study: str,
    law: ExponentLaw,
    wrong: Sequence[float],
    levels: Sequence[float],
    changes: Sequence[Control] = (),
    **texts: Any,
) -> Claim:
    """A claim on an exponent; `wrong` are exponents that must be rejected (controls)."""
    controls = tuple(
        Control(f"exponent {power:g}", f"a law with exponent {power:g}", law=_with(law, power))
        for power in wrong
    )
    return Claim(
        id=f"yang2024.{id}",
        studies=(f"yang2024.{study}",),
        measure=measure_exponent,
        law=law,
        hypotheses=texts.pop("hypotheses", hypotheses),
        controls=(*controls, *changes),
        positive=lambda: exponent_fixture(f"yang2024.{study}", law, levels),
        constants=(Constant("constant of the law", "fitted"),),
        **texts,
    )


def range_claim(
    id: str,
    *,
    study: str,
    law: RangeLaw,
    controls: Sequence[Control],
    positive: Mapping[str, float],
    **texts: Any,
) -> Claim:
    """A claim that scalars lie in ranges; `positive` gives values at which it holds."""
    return Claim(
        id=f"yang2024.{id}",
        studies=(f"yang2024.{study}",),
        measure=measure_range,
        law=law,
        hypotheses=texts.pop("hypotheses", hypotheses),
        controls=tuple(controls),
        positive=lambda: range_fixture(f"yang2024.{study}", positive),
        **texts,
    )


def exponent_fixture(
    study: str, law: ExponentLaw, levels: Sequence[float], seeds: int = 10
) -> Records:
    """Runs on which the law holds, with two per cent of noise."""
    noise = np.random.default_rng(0)
    return Records(
        Record(
            study,
            resolve(TrainingSettings(**{"n": 24, "L": 4, law.setting: level})),
            seed,
            {law.scalar: np.exp(0.02 * noise.normal()) * float(level) ** law.exponent},
        )
        for level in levels
        for seed in range(seeds)
    )


def range_fixture(study: str, values: Mapping[str, float], seeds: int = 60) -> Records:
    """Runs with the same scalars."""
    cell = resolve(TrainingSettings(n=24, L=4))
    scalars = {name: np.float64(value) for name, value in values.items()}
    return Records(Record(study, cell, seed, scalars) for seed in range(seeds))


def _with(law: ExponentLaw, exponent: float) -> ExponentLaw:
    return ExponentLaw(law.scalar, law.setting, exponent, law.kind, law.tolerance)
