"""Verdicts from the ledger, and their JSON form."""

from collections.abc import Iterable
from typing import Any

from attnlab.claims import (
    Claim,
    Constant,
    Effect,
    Hypothesis,
    PartResult,
    ReadingResult,
    RouteResult,
    Verdict,
)
from attnlab.evidence.court import judge
from attnlab.lab.ledger import Ledger
from attnlab.lab.plan import Request, records_for, variant_records


def verdicts(
    claims: Iterable[Claim], request: Request, ledger: Ledger, *, robust: bool = False
) -> list[Verdict]:
    """Judge claims on what the ledger holds. Nothing is run here."""
    return [
        judge(
            claim,
            records_for(claim, request, ledger, {}),
            variant_records(claim, request, ledger),
            scale=request.scale,
            robust=robust,
        )
        for claim in claims
    ]


def as_json(verdict: Verdict) -> dict[str, Any]:
    """The verdict as the command line's `--json` prints it."""
    return {
        "id": verdict.id,
        "scale": verdict.scale,
        "verdict": verdict.outcome,
        "reason": verdict.reason,
        "readings": [_reading(r) for r in verdict.readings],
        "effect": _effect(verdict.effect),
        "trials": verdict.trials,
        "failed_runs": verdict.failed_runs,
        "diverged_runs": verdict.diverged_runs,
        "hypotheses": [_hypothesis(h) for h in verdict.hypotheses],
        "controls": [{"name": c.name, "verdict": c.outcome} for c in verdict.controls],
        "constants": [_constant(c) for c in verdict.constants],
        "seconds": round(verdict.seconds, 3),
    }


def _reading(reading: Reading) -> dict[str, Any]:
    return {
        "name": reading.name,
        "verdict": reading.outcome,
        "effect": _effect(reading.effect),
        "detail": reading.detail,
    }


def _effect(effect: Effect | None) -> dict[str, Any] | None:
    if effect is None:
        return None
    numbers = {k: float(getattr(effect, k)) for k in ("value", "low", "high")}
    return {"name": effect.name, **numbers}


def _hypothesis(hypothesis: Hypothesis) -> dict[str, Any]:
    met, factor = hypothesis.met, hypothesis.factor
    return {
        "name": hypothesis.name,
        "value": float(hypothesis.value),
        "threshold": float(hypothesis.threshold),
        "relation": hypothesis.relation,
        "met": None if met is None else bool(met),
        "factor": None if factor is None else float(factor),
        "constant": hypothesis.constant,
    }


def _constant(constant: Constant) -> dict[str, Any]:
    return {k: getattr(constant, k) for k in ("name", "kind", "value", "low", "high")}
