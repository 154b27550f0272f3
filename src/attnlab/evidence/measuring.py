"""Measuring: what the laws say of the parts of a claim, reading by reading, before any gate."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from attnlab.claims import (
    Claim,
    Control,
    Finding,
    Law,
    Outcome,
    Part,
    PartResult,
    Reading,
    ReadingResult,
    RouteResult,
    Scalar,
)
from attnlab.core import BadInput, Record, Records
from attnlab.evidence.multiplicity import combine_outcomes, simultaneous_level
from attnlab.evidence.statement import decisive_parts, parts_of
from attnlab.evidence.words import listed, number

LEVEL = 0.95
DECADES = 1.5
"""Ours: the range of the predicted quantity from which an exponent speaks of a law."""


@dataclass(frozen=True)
class Measurement:
    """What the readings of a claim came out as, before any gate."""

    outcome: Outcome
    readings: tuple[ReadingResult, ...]


def measure(claim: Claim, records: Records) -> Measurement:
    """Every reading of the claim, and rule 1: what the allowed ones say together."""
    chances = sum(part.law.estimated for part in decisive_parts(claim))
    results = {part.name: _part(claim, part, records, max(chances, 1)) for part in claim.parts}
    readings = tuple(
        _reading(reading, [results[part.name] for part in parts_of(claim, reading)])
        for reading in claim.readings
    )
    allowed: list[Outcome] = [reading.outcome for reading in readings if reading.allowed]
    return Measurement(_together(allowed), readings)


def _part(claim: Claim, part: Part, records: Records, chances: int) -> PartResult:
    """One part. Any of several may fail by chance: contradiction takes the joint interval."""
    runs = [r for r in records if r.study in part.studies and part.cells(r.cell)]
    found = _found(part.law, runs, part.scalar)
    if found.outcome == "contradicted" and part.law.estimated:
        found = _found(part.law, runs, part.scalar, simultaneous_level(chances, LEVEL))
    span = getattr(part.law, "decades", None)
    if claim.kind == "scaling" and found.outcome == "supported" and span and not part.whole_range:
        decades = span([r.cell for r in runs])
        if decades < DECADES:
            detail = f"only {number(decades, 2)} decades of the predicted quantity, of {DECADES}"
            found = replace(found, outcome="inconclusive", detail=detail)
    return PartResult(
        part.name, found.outcome, found.effect, part.law.cutoff(), part.law.owner, found.detail
    )


def _found(law: Law, runs: Sequence[Record], scalar: Scalar, level: float = LEVEL) -> Finding:
    """What the law says; undecided, with the reason, where the settings leave it no number."""
    try:
        return law.judge(runs, scalar, level)
    except (ArithmeticError, ValueError, BadInput) as error:
        return Finding("inconclusive", None, f"no number at these settings ({error})")


def _reading(reading: Reading, parts: list[PartResult]) -> ReadingResult:
    outcome = combine_outcomes([part.outcome for part in parts])
    decisive = [part for part in parts if part.outcome == outcome]
    effect = decisive[0].effect if decisive else None
    detail = "" if len(parts) == 1 else listed([f"{p.name}: {p.outcome}" for p in decisive])
    return ReadingResult(
        reading.name, outcome, effect, reading.allowed, reading.why, detail, tuple(parts)
    )


def _together(allowed: Sequence[Outcome]) -> Outcome:
    """Rule 1."""
    kinds = set(allowed)
    if kinds == {"supported"}:
        return "supported"
    if kinds == {"contradicted"}:
        return "contradicted"
    return "depends" if {"supported", "contradicted"} <= kinds else "inconclusive"


def control_outcome(claim: Claim, control: Control, records: Records) -> Outcome:
    """What the named part's law, or any decisive part's, says of a control, gate off."""
    outcomes: list[Outcome] = []
    for part in decisive_parts(claim):
        if control.part and part.name != control.part:
            continue
        law, scalar = control.law or part.law, control.scalar or part.scalar
        runs = [r for r in records if r.study in part.studies and part.cells(r.cell)]
        outcomes.append(_found(law, runs, scalar).outcome)
    return combine_outcomes(outcomes)


def second_route(
    claim: Claim, records: Records, variants: Mapping[str, Records]
) -> RouteResult | None:
    """The first route that agrees, else the first one; None if the claim has none."""
    results = []
    for route in claim.routes:
        if route.compute is not None:
            found = _computed(route.compute, records)
        else:
            part = next(p for p in claim.parts if p.name == route.part)
            own = variants.get(route.name, Records(()))
            runs = [r for r in own if r.study in part.studies and part.cells(r.cell)]
            found = _found(part.law, runs, route.scalar or part.scalar)
        agrees = found.outcome == "contradicted"
        results.append(RouteResult(route.name, agrees, found.effect, found.detail))
        if agrees:
            return results[-1]
    return results[0] if results else None


def _computed(compute: Callable[[Records], Finding], records: Records) -> Finding:
    """What a route computes from the records; undecided if they lack what it needs."""
    try:
        return compute(records)
    except (ArithmeticError, ValueError, LookupError, BadInput) as error:
        if isinstance(error, LookupError) and len(records.finite()) == len(records):
            raise  # only a run that diverged may lack a value
        return Finding("inconclusive", None, f"no number at these settings ({error})")
