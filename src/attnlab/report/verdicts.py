"""Verdicts from the ledger: judged, in the order of news, counted, and as JSON."""

import math
from collections.abc import Iterable

from attnlab.claims import (
    NEWS_FIRST,
    Claim,
    Constant,
    Effect,
    Hypothesis,
    Informative,
    Outcome,
    PartResult,
    ReadingResult,
    RouteResult,
    Tally,
    Verdict,
)
from attnlab.core import Json
from attnlab.evidence.court import judge
from attnlab.evidence.words import effect_text, number_or_word, owned
from attnlab.lab import multiverse
from attnlab.lab.ledger import Ledger
from attnlab.lab.plan import Request, records_for, variant_records


def verdicts(
    claims: Iterable[Claim], request: Request, ledger: Ledger, *, robust: bool = False
) -> list[Verdict]:
    """Judge claims on what the ledger holds, universes included. Nothing is run here."""
    claims = list(claims)
    carried = multiverse.tallies(claims, request, ledger)
    return [
        judge(
            claim,
            records_for(claim, request, ledger, {}),
            variant_records(claim, request, ledger),
            scale=request.scale,
            robust=robust,
            universes=carried[claim.id].tally if claim.id in carried else None,
        )
        for claim in claims
    ]


def news_first(found: Iterable[Verdict]) -> list[Verdict]:
    """The verdicts with what contradicts or depends at the top, else in the papers' order."""
    return sorted(found, key=lambda verdict: NEWS_FIRST.index(verdict.outcome))


def counts(found: Iterable[Verdict]) -> list[tuple[Outcome, int]]:
    """How many verdicts there are of each outcome."""
    outcomes = [verdict.outcome for verdict in found]
    return [(name, outcomes.count(name)) for name in NEWS_FIRST]


def cutoff_text(verdict: Verdict) -> str:
    """The cutoff on which a verdict rests, and whose it is."""
    return owned(verdict.cutoff, verdict.cutoff_owner) if verdict.cutoff else "–"


def measured_and_more(verdict: Verdict) -> tuple[str, str]:
    """What was measured, and what the reason says beyond measured, stated and cutoff.

    A reason is whole sentences, for it stands alone in JSON; a table that has columns for the
    three would say them twice.
    """
    measured = effect_text(verdict.effect)
    sentence_end = f"; stated {verdict.stated}; {cutoff_text(verdict)}"
    before, found, after = verdict.reason.partition(sentence_end)
    if not found:
        return measured, verdict.reason
    if verdict.effect is not None:
        before, _, detail = before.rpartition(measured)
        earlier, _, part = before.rpartition("; ")
        measured, before = f"{part}{measured}{detail}", earlier
    return measured, "; ".join(text for text in (before, after.removeprefix("; ")) if text)


# --- JSON -------------------------------------------------------------------------------------


def as_json(verdict: Verdict) -> dict[str, Json]:
    """The verdict as the command line's `--json` prints it."""
    return {
        "id": verdict.id,
        "kind": verdict.kind,
        "scale": verdict.scale,
        "verdict": verdict.outcome,
        "reason": verdict.reason,
        "source": verdict.source,
        "stated": verdict.stated,
        "cutoff": {
            "text": verdict.cutoff,
            "owner": verdict.cutoff_owner,
            "why": verdict.cutoff_why,
        },
        "universes": _universes(verdict.universes),
        "second_route": _route(verdict.second_route),
        "readings": [_reading(r) for r in verdict.readings],
        "effect": effect_json(verdict.effect),
        "trials": verdict.trials,
        "failed_runs": verdict.failed_runs,
        "diverged_runs": verdict.diverged_runs,
        "hypotheses": [hypothesis_json(h) for h in verdict.hypotheses],
        "controls": [{"name": c.name, "verdict": c.outcome} for c in verdict.controls],
        "constants": [_constant(c) for c in verdict.constants],
        "informative": _informative(verdict.informative),
        "tightness": verdict.tightness or None,
        "flips": verdict.flips or None,
        "seconds": round(verdict.seconds, 3),
    }


def _universes(found: Tally | None) -> dict[str, Json] | None:
    if found is None:
        return None
    return {
        "verdict": found.outcome,
        "reason": found.reason,
        "flips": found.flips or None,
        "counts": {**found.counts},
        "levels": [
            {"setting": x.factor, "level": x.level, "counts": {**x.counts}} for x in found.levels
        ],
    }


def hypothesis_json(hypothesis: Hypothesis) -> dict[str, Json]:
    """One condition with its numbers."""
    met = hypothesis.met
    return {
        "name": hypothesis.name,
        "value": number_or_word(hypothesis.value),
        "threshold": number_or_word(hypothesis.threshold),
        "relation": hypothesis.relation,
        "met": None if met is None else bool(met),
        "factor": _finite(hypothesis.factor),
        "constant": hypothesis.constant,
    }


def _finite(value: float | None) -> float | None:
    """A number that JSON can hold; what is not finite is said in the words beside it."""
    return float(value) if value is not None and math.isfinite(value) else None


def effect_json(effect: Effect | None) -> dict[str, Json] | None:
    """An effect with its numbers."""
    if effect is None:
        return None
    return {"name": effect.name, **_numbers(effect)}


def _numbers(effect: Effect | None) -> dict[str, float | None]:
    return {
        end: _finite(getattr(effect, end)) if effect else None for end in ("value", "low", "high")
    }


def _reading(reading: ReadingResult) -> dict[str, Json]:
    return {
        "name": reading.name,
        "verdict": reading.outcome,
        "effect": effect_json(reading.effect),
        "allowed": reading.allowed,
        "why": reading.why,
        "detail": reading.detail,
        "parts": [_part(part) for part in reading.parts],
    }


def _part(part: PartResult) -> dict[str, Json]:
    return {
        "name": part.name,
        "verdict": part.outcome,
        "effect": effect_json(part.effect),
        "cutoff": {"text": part.cutoff, "owner": part.owner},
        "detail": part.detail,
    }


def _route(route: RouteResult | None) -> dict[str, Json] | None:
    if route is None:
        return None
    quantity = route.effect.name if route.effect else None
    return {
        "name": route.name,
        "quantity": quantity,
        **_numbers(route.effect),
        "agrees": route.agrees,
        "detail": route.detail,
    }


def _informative(informative: Informative | None) -> dict[str, Json] | None:
    if informative is None:
        return None
    return {
        "trivial": informative.trivial,
        "share": _finite(informative.share),
        "runs": informative.runs,
        "factor": _finite(informative.factor),
        "search": informative.search or None,
    }


def _constant(constant: Constant) -> dict[str, Json]:
    numbers = {end: _finite(getattr(constant, end)) for end in ("value", "low", "high")}
    return {"name": constant.name, "kind": constant.kind, **numbers}
