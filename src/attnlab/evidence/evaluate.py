"""The evaluation of a claim: the gate (its hypotheses) and the measure (its records).

    verdict = not_applicable   if a hypothesis with a known constant is not met
            = inconclusive     if runs are missing, or a control was not rejected
            = measure(records) otherwise

A control is the same measure, gate off, on a study variant or against a replaced law. A measure
that does not reject its controls cannot be trusted when it says *supported*, so then the
verdict is inconclusive and names the control.
"""

from collections.abc import Mapping
from dataclasses import replace

from attnlab.core import (
    Claim,
    Control,
    ControlResult,
    Hypothesis,
    Measurement,
    Outcome,
    Reading,
    Records,
    Verdict,
)

ROBUST_GROUPS = 5


def evaluate(
    claim: Claim,
    records: Records,
    control_records: Mapping[str, Records],
    *,
    scale: str,
    robust: bool = False,
) -> Verdict:
    """The verdict on a claim, from its own records and from those of its controls.

    With `robust`, the measure is repeated five times, each time without a fifth of the seeds;
    a verdict that changes is inconclusive.
    """
    hypotheses = claim.hypotheses(records) if records else ()
    if records:
        measurement = claim.measure(records, claim.law)
    else:
        measurement = Measurement((Reading("no record", "inconclusive"),))
    controls = tuple(
        ControlResult(control.name, control_outcome(claim, control, control_records[control.name]))
        for control in claim.controls
    )
    outcome, reason = _decide(claim, records, measurement, hypotheses, controls)
    if robust and outcome in ("supported", "contradicted"):
        changed = _outcome_without_a_fifth(claim, records, measurement.outcome)
        if changed:
            outcome, reason = "inconclusive", f"not robust: {changed}"
    # A control that replaces only the law reads the claim's own records: count them once.
    varied = [control_records[c.name] for c in claim.controls if c.changes]
    everything = [records, *varied]
    return Verdict(
        id=claim.id,
        scale=scale,
        outcome=outcome,
        reason=reason,
        readings=measurement.readings,
        effect=measurement.effect,
        trials=len(records),
        failed_runs=sum(r.failed for r in everything),
        diverged_runs=sum(bool(r.diverged) for r in records),
        hypotheses=hypotheses,
        controls=controls,
        constants=_merge_constants(claim, measurement),
        seconds=sum(record.seconds for r in everything for record in r),
    )


def control_outcome(claim: Claim, control: Control, records: Records) -> Outcome:
    """What the claim's measure, gate off, says of a control."""
    if not records:
        return "inconclusive"
    law = claim.law if control.law is None else control.law
    return claim.measure(records, law).outcome


def _decide(
    claim: Claim,
    records: Records,
    measurement: Measurement,
    hypotheses: tuple[Hypothesis, ...],
    controls: tuple[ControlResult, ...],
) -> tuple[Outcome, str]:
    if records.missing:
        total = len(records) + records.failed + records.missing
        return "inconclusive", f"unfinished: {records.missing} of {total} runs are not made yet"
    if not records:
        return "inconclusive", f"no record: all {records.failed} runs failed"
    unmet = [h for h in hypotheses if h.met is False]
    if unmet:
        return "not_applicable", "hypotheses not met: " + "; ".join(map(_shortfall, unmet))
    blunt = [c.name for c in controls if c.outcome != "contradicted"]
    if measurement.outcome == "supported" and blunt:
        return "inconclusive", f"the control {blunt[0]} was not rejected at this scale"
    return measurement.outcome, measurement.readings[0].detail


def _shortfall(hypothesis: Hypothesis) -> str:
    factor = hypothesis.factor
    by = f" by a factor of {factor:.3g}" if factor is not None else ""
    have = f"{hypothesis.value:.4g}, needs {hypothesis.relation} {hypothesis.threshold:.4g}"
    return f"{hypothesis.name} is {have}{' (short' + by + ')' if by else ''}"


def _outcome_without_a_fifth(claim: Claim, records: Records, outcome: Outcome) -> str:
    """A sentence on the first group of seeds whose absence changes the outcome, or nothing."""
    seeds = sorted({record.seed for record in records})
    for group in range(min(ROBUST_GROUPS, len(seeds))):
        left_out = set(seeds[group::ROBUST_GROUPS])
        rest = Records((r for r in records if r.seed not in left_out), failed=records.failed)
        other = claim.measure(rest, claim.law).outcome if rest else "inconclusive"
        if other != outcome:
            names = ", ".join(map(str, sorted(left_out)[:4]))
            return f"{outcome} becomes {other} without seeds {names}"
    return ""


def _merge_constants(claim: Claim, measurement: Measurement):
    """The claim's constants, with the fitted values that the measure returned put in."""
    fitted = {c.name: c for c in measurement.constants}
    declared = tuple(fitted.pop(c.name, replace(c)) for c in claim.constants)
    return declared + tuple(fitted.values())
