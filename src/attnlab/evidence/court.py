"""The court: from a claim, its records and those of its controls to a verdict.

    not_applicable   a hypothesis with a known constant is not met (figures are never gated)
    depends          some allowed readings are supported, some contradicted
    vacuous          a bound holds, and says no more than the trivial one anywhere
    contradicted     every allowed reading is, the cutoff does not decide it, a second route agrees
    supported        every allowed reading is, and every control is rejected
    inconclusive     everything else, with the reason

A control is judged by its part's law alone. docs/evidence.md has the rules with their numbers.
"""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from attnlab.claims import (
    Claim,
    Constant,
    ControlResult,
    Effect,
    Fitted,
    Hypothesis,
    Informative,
    Outcome,
    PartResult,
    RouteResult,
    Tally,
    Verdict,
)
from attnlab.core import Records
from attnlab.evidence.intervals import bootstrap_interval
from attnlab.evidence.laws import values_of
from attnlab.evidence.measuring import Measurement as Measurement
from attnlab.evidence.measuring import control_outcome as control_outcome
from attnlab.evidence.measuring import measure as measure
from attnlab.evidence.measuring import second_route as second_route
from attnlab.evidence.statement import decisive_parts
from attnlab.evidence.words import effect_text, listed, number, owned, shortfall

FAILED_SHARE = 0.1
"""Ours: the share of failed runs beyond which nothing is decided."""
MOVES = (0.5, 2.0)
"""The flip test: a cutoff of ours is moved by these factors."""
FLIPPED = ("supported", "contradicted", "depends")
ROBUST_GROUPS = 5


def judge(
    claim: Claim,
    records: Records,
    variants: Mapping[str, Records],
    *,
    scale: str,
    robust: bool = False,
    universes: Tally | None = None,
) -> Verdict:
    """The verdict on a claim, from its own records and those of its controls and routes.

    `universes` is what the claim's multiverse says, if it carries one. With `robust`, the measure
    is repeated five times, each time without a fifth of the seeds; a verdict that changes is
    inconclusive.
    """
    with np.errstate(all="ignore"):  # what overflows is named below, not warned of
        return _judge(claim, records, variants, scale, robust, universes)


def _judge(
    claim: Claim,
    records: Records,
    variants: Mapping[str, Records],
    scale: str,
    robust: bool,
    universes: Tally | None,
) -> Verdict:
    hypotheses, trouble = _hypotheses(claim, records)
    measurement = measure(claim, records)
    controls = tuple(
        ControlResult(c.name, control_outcome(claim, c, variants.get(c.name, records)))
        for c in claim.controls
    )
    informative = _informative(claim, records)
    route, flips = None, ""
    outcome, reasons = _gated(claim, records, measurement, hypotheses, trouble)
    if not reasons:
        outcome = _over_universes(claim, outcome, universes)
        if outcome in FLIPPED and outcome == measurement.outcome:
            flips = _flips(claim, records, outcome)
        if outcome == "contradicted":
            route = second_route(claim, records, variants)
        outcome, reasons = _decided(
            claim, outcome, measurement, controls, informative, route, flips
        )
        reasons += [universes.reason] if universes else []
    if robust and outcome in ("supported", "contradicted"):
        changed = _without_a_fifth(claim, records, measurement.outcome)
        if changed:
            outcome, reasons = "inconclusive", [f"not robust: {changed}", *reasons]
    rests_on = decisive(measurement)
    varied = [variants[c.name] for c in claim.controls if c.changes and c.name in variants]
    everything = [records, *varied]
    failed = sum(r.failed for r in everything)
    if failed:
        reasons = [*reasons, f"{failed} runs failed"]
    shown = rests_on.effect if rests_on else None
    if outcome == "vacuous" and informative is not None:
        shown = Effect.exactly(f"bound over {informative.trivial}, at its best", informative.factor)
    return Verdict(
        id=claim.id,
        kind=claim.kind,
        scale=scale,
        outcome=outcome,
        reason="; ".join(reasons),
        source=str(claim.source),
        stated=claim.stated,
        cutoff=rests_on.cutoff if rests_on else "",
        cutoff_owner=rests_on.owner if rests_on else "paper",
        cutoff_why=claim.why,
        readings=measurement.readings,
        effect=shown,
        trials=len(records),
        failed_runs=failed,
        diverged_runs=sum(bool(r.diverged) for r in records),
        hypotheses=hypotheses,
        controls=controls,
        second_route=route,
        informative=informative,
        tightness=_tightness(claim, measurement),
        flips=flips,
        constants=tuple(_constant(c, records) for c in claim.constants),
        seconds=sum(record.seconds for r in everything for record in r),
        universes=universes,
    )


# --- deciding ---------------------------------------------------------------------------------


def _hypotheses(claim: Claim, records: Records) -> tuple[tuple[Hypothesis, ...], str]:
    """The hypotheses, or why they have no values here.

    A run that diverged is looked at too, for its settings may be what a hypothesis excludes; if it
    lacks what they are computed from, the others are looked at alone.
    """
    finite, reason = records.finite(), ""
    for some in (records, finite) if len(finite) < len(records) else (records,):
        if not some:
            continue
        try:
            rows = claim.hypotheses(some)
        except (ArithmeticError, ValueError, LookupError) as error:
            if isinstance(error, LookupError) and len(some) == len(finite):
                raise  # only a run that diverged may lack a value
            reason = f"{type(error).__name__}: {error}"
            continue
        lost = [row.name for row in rows if math.isnan(row.value) or math.isnan(row.threshold)]
        if not lost:
            return rows, ""
        reason = f"{lost[0]} is not a number"
    return (), f"the hypotheses have no values at these settings ({reason})" if reason else ""


def _gated(
    claim: Claim,
    records: Records,
    measurement: Measurement,
    hypotheses: tuple[Hypothesis, ...],
    trouble: str,
) -> tuple[Outcome, list[str]]:
    """The outcome with its reasons if a gate closes, else the measured one without any."""
    total = len(records) + records.failed + records.missing
    if records.missing:
        return "inconclusive", [f"unfinished: {records.missing} of {total} runs are not made yet"]
    if not records:
        return "inconclusive", [f"no record: all {records.failed} runs failed"]
    if records.failed > FAILED_SHARE * total:
        share = f"{records.failed} of {total} runs"
        return "inconclusive", [f"{share} failed, more than {FAILED_SHARE:.0%} (ours)"]
    if not records.finite():
        return "inconclusive", [
            f"all {len(records)} runs diverged; the first: {records[0].diverged}"
        ]
    if trouble:
        return "inconclusive", [trouble]
    unmet = [h for h in hypotheses if h.met is False]
    if unmet and claim.kind != "figure":
        return "not_applicable", ["hypotheses not met: " + "; ".join(map(shortfall, unmet))]
    return measurement.outcome, []


def _over_universes(claim: Claim, outcome: Outcome, universes: Tally | None) -> Outcome:
    """What the choices that the paper leaves open make of the outcome of the designed ones.

    A figure or remark is decided by its universes, and only if the designed universe, at the full
    design, says the same; any other statement that fails as designed must fail in its universes.
    """
    if universes is None or outcome == "depends":
        return outcome
    if universes.outcome == "depends":
        told = claim.kind in ("figure", "remark") or outcome == "contradicted"
        return "depends" if told else outcome
    if claim.kind in ("figure", "remark") or outcome == "contradicted":
        return outcome if universes.outcome == outcome else "inconclusive"
    return outcome


def _decided(
    claim: Claim,
    outcome: Outcome,
    measurement: Measurement,
    controls: tuple[ControlResult, ...],
    informative: Informative | None,
    route: RouteResult | None,
    flips: str,
) -> tuple[Outcome, list[str]]:
    sentence = _sentence(claim, measurement)
    blunt = [c.name for c in controls if c.outcome != "contradicted"]
    if blunt and outcome in ("supported", "depends"):
        return "inconclusive", [f"the control {blunt[0]} was not rejected", sentence]
    if outcome == "depends":
        by_reading = measurement.outcome == "depends"
        why = _dependence(measurement) if by_reading else "depends on choices that are left open"
        return outcome, [why, sentence, *([flips] if flips else [])]
    if outcome == "supported":
        if informative is not None and informative.share == 0:
            least = f"at best {number(informative.factor)} times what is trivial"
            where = f"the bound holds, but in none of {informative.runs} runs does it say anything"
            where += f": {least} ({informative.trivial})"
            if informative.search:
                return "vacuous", [where, f"searched: {informative.search}"]
            return "inconclusive", [where, "no search for an informative instance was made"]
        return outcome, [sentence, *([flips] if flips else [])]
    if outcome == "contradicted":
        if flips:
            return "inconclusive", [f"our cutoff decides: {flips}", sentence]
        if route is None:
            return "inconclusive", ["fails here, but no second route confirms it", sentence]
        if not route.agrees:
            return "inconclusive", [f"the second route ({route.name}) does not agree", sentence]
        return outcome, [sentence, f"second route, {route.name}: {effect_text(route.effect)}"]
    told = measurement.outcome in ("supported", "contradicted")
    open_choices = ["as designed it is " + measurement.outcome] if told else []
    return outcome, [*open_choices, sentence]


def decisive(measurement: Measurement) -> PartResult | None:
    """The part on which the verdict rests: of the first allowed reading with its outcome."""
    allowed = [r for r in measurement.readings if r.allowed]
    wanted = "contradicted" if measurement.outcome == "depends" else measurement.outcome
    chosen = [r for r in allowed if r.outcome == wanted] or allowed
    for reading in chosen:
        parts = [part for part in reading.parts if part.outcome == reading.outcome]
        if parts:
            return parts[0]
    return None


def _sentence(claim: Claim, measurement: Measurement) -> str:
    """Rule 7: measured, stated and cutoff in one sentence."""
    part = decisive(measurement)
    if part is None:
        return "nothing was measured"
    several = len({p.name for r in measurement.readings if r.allowed for p in r.parts}) > 1
    head = f"{part.name}: " if several else ""
    measured = effect_text(part.effect) if part.effect else part.detail or "no number"
    more = ""
    if part.effect and part.outcome == "inconclusive":
        more = f" ({part.detail or 'the interval crosses the cutoff'})"
    return f"{head}{measured}{more}; stated {claim.stated}; {owned(part.cutoff, part.owner)}"


def _dependence(measurement: Measurement) -> str:
    allowed = [r for r in measurement.readings if r.allowed]
    holds = [r.name for r in allowed if r.outcome == "supported"]
    fails = [r.name for r in allowed if r.outcome == "contradicted"]
    return f"depends on the reading: holds as {listed(holds)}, fails as {listed(fails)}"


def _flips(claim: Claim, records: Records, outcome: Outcome) -> str:
    """Rule 3: what the verdict becomes when every cutoff of ours is moved; nothing if it stays."""
    for factor in MOVES:
        moved = replace(
            claim, parts=tuple(replace(p, law=p.law.moved(factor)) for p in claim.parts)
        )
        other = measure(moved, records)
        if other.outcome != outcome:
            part = decisive(other)
            cutoff = f" ({part.name}: {part.cutoff})" if part else ""
            word = "half" if factor < 1 else "twice"
            return f"{other.outcome} with our cutoffs at {word} their distance{cutoff}"
    return ""


def _informative(claim: Claim, records: Records) -> Informative | None:
    trivial = claim.trivial
    if claim.kind != "bound" or trivial is None or trivial.ratio is None:
        return None
    study = trivial.study or claim.parts[0].study
    ratios = values_of([r for r in records if r.study == study], trivial.ratio)
    ratios = ratios[~(ratios != ratios)]
    if not ratios.size:
        return None
    share = float((ratios < 1).mean())
    return Informative(trivial.name, share, ratios.size, float(ratios.min()), trivial.search)


def _constant(constant: Constant | Fitted, records: Records) -> Constant:
    """A constant as declared, or fitted: the median over the runs that have it."""
    if isinstance(constant, Constant):
        return constant
    runs = [r for r in records if r.study == constant.study and constant.cells(r.cell)]
    values = values_of(runs, constant.scalar)
    values = values[np.isfinite(values)]
    if values.size < 2:
        return Constant(constant.name, "fitted")
    found = bootstrap_interval(np.median, values)
    return Constant(constant.name, "fitted", found.value, found.low, found.high)


def _tightness(claim: Claim, measurement: Measurement) -> str:
    if claim.kind != "sufficient":
        return ""
    details = [p.detail for r in measurement.readings for p in r.parts if p.detail]
    return details[0] if details else ""


def _without_a_fifth(claim: Claim, records: Records, outcome: Outcome) -> str:
    """A sentence on the first group of seeds whose absence changes the outcome, or nothing."""
    seeds = sorted({record.seed for record in records})
    for group in range(min(ROBUST_GROUPS, len(seeds))):
        left_out = set(seeds[group::ROBUST_GROUPS])
        rest = Records((r for r in records if r.seed not in left_out), failed=records.failed)
        other = measure(claim, rest).outcome if rest else "inconclusive"
        if other != outcome:
            names = ", ".join(map(str, sorted(left_out)[:4]))
            return f"{outcome} becomes {other} without seeds {names}"
    return ""


# --- what the court demands of claims ---------------------------------------------------------


def unmoved_scalars(claim: Claim, records: Records, variants: Mapping[str, Records]) -> list[str]:
    """Rule 5: scalars equal over a claim's records and those of all its controls, not declared."""
    found = []
    for part in decisive_parts(claim):
        if part.scalar.exact:
            continue
        replaced = [c.scalar for c in claim.controls if c.scalar and c.part == part.name]
        everything = [records, *variants.values()]
        runs = [r for some in everything for r in some if r.study in part.studies]
        values = {str(v) for s in (part.scalar, *replaced) for v in values_of(runs, s)}
        if len(values) == 1 and len(runs) > 1:
            found.append(f"{part.name}: {part.scalar.name} is {values.pop()} in every run")
    return found
