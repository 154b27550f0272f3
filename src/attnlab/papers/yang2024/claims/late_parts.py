"""Claims of several parts on the second phase: parts on some of the runs, and parts aside."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from attnlab.core import Claim, Constant, Measurement, Reading, Records
from attnlab.evidence.multiplicity import combine_outcomes, simultaneous_level
from attnlab.papers.yang2024.claims.builders import (
    ExponentLaw,
    RangeLaw,
    measure_exponent,
    measure_range,
)
from attnlab.papers.yang2024.claims.common import FROZEN, SHUFFLED
from attnlab.papers.yang2024.claims.parts import Part, PartsLaw, implied_name, parts_claim
from attnlab.papers.yang2024.summaries.second_phase import PREFIX
from attnlab.papers.yang2024.theory.asymptote import samples_for_seen_words

Runs = Literal["all", "shortest", "enough"]
POSITIVE = 1e-300
INFINITE = np.inf

# A control's changes go to all studies of a claim: with one n and L, a study over them stays small.
SHUFFLED_ONE_SET = replace(SHUFFLED, changes={**SHUFFLED.changes, "n": 24, "L": 4})
FROZEN_ONE_SET = replace(FROZEN, changes={**FROZEN.changes, "n": 24, "L": 4})

WINDOW = (
    "Flow to a loss of 1e-6, at several widths. Phase 2 is read as the stretch to the end of the "
    "run in which the exact conditions of Definition F.1 hold and every margin is at least 1; a "
    "run without it, or with one shorter than a factor of ten in time, counts against the "
    "statement. "
)
UPPER = (
    "An upper bound is supported if the exponent's interval ends below the stated one + 0.1 and "
    "contradicted if it begins above."
)


@dataclass(frozen=True)
class LatePart(Part):
    """A part that may take only some of the runs, and may stand aside of the conjunction."""

    runs: Runs = "all"
    """`shortest`: the least L of the study; `enough`: n above what seen words need (test_loss)."""
    counted: bool = True

    def of(self, records: Records) -> Records:
        """The runs that this part reads."""
        own = records.of(f"yang2024.{self.study}")
        if self.runs == "shortest" and own:
            own = own.where(L=min(r.cell.L for r in own))
        if self.runs == "enough":
            own = Records(r for r in own if r.cell.n > samples_for_seen_words(r.cell.L))
        return own


def measure_late(records: Records, law: PartsLaw) -> Measurement:
    """The conjunction of the counted parts, then every part as a reading of its own.

    A conjunction is supported at 95 % if each part is; that one part contradicts it must show
    at a level at which all parts hold together.
    """
    level = simultaneous_level(len(law.parts))
    counted, readings, constants = [], [], []
    for part in law.parts:
        own = part.of(records) if isinstance(part, LatePart) else records
        reading = _measured(own, part, level)
        aside = isinstance(part, LatePart) and not part.counted
        readings.append(replace(reading, name=f"{part.name} (aside)") if aside else reading)
        if not aside:
            counted.append(reading)
        constants += _implied(own, part.law)
    outcome = combine_outcomes([reading.outcome for reading in counted])
    decisive = [reading for reading in counted if reading.outcome == outcome]
    detail = "; ".join(f"{reading.name}: {reading.outcome}" for reading in decisive)
    whole = Reading("all parts", outcome, decisive[0].effect, detail)
    return Measurement((whole, *readings), tuple(constants))


def _measured(own: Records, part: Part, level: float) -> Reading:
    if not own:
        return Reading(part.name, "inconclusive", None, "no run of the kind that this part reads")
    if isinstance(part.law, ExponentLaw):
        reading = measure_exponent(own, part.law).readings[0]
        if reading.outcome == "contradicted":
            reading = measure_exponent(own, part.law, level).readings[0]
    else:
        reading = measure_range(own, part.law).readings[0]
    return replace(reading, name=part.name)


def _implied(records: Records, law: ExponentLaw | RangeLaw) -> list[Constant]:
    """The constant that a quotient by its bound implies, over all runs."""
    if not isinstance(law, ExponentLaw) or law.exponent != 0:
        return []
    values = np.array([float(r[law.scalar]) for r in records.finite()])
    values = values[np.isfinite(values)]
    if not values.size:
        return []
    low, middle, high = map(float, np.quantile(values, (0.025, 0.5, 0.975)))
    return [Constant(implied_name(law), "fitted", middle, low, high)]


def late_claim(id: str, *, parts: Sequence[LatePart], **texts: Any) -> Claim:
    """As `parts_claim`, with parts that read some of the runs or stand aside."""
    return replace(parts_claim(id, parts=parts, **texts), measure=measure_late)


def flat(name: str, scalar: str, power: float = 0.0, **options: Any) -> LatePart:
    """A part: a scalar of phase 2 grows with m at most like a power of it, by default not."""
    kind = options.pop("kind", "at_most")
    study, setting = options.pop("study", "phase_2"), options.pop("setting", "m")
    law = ExponentLaw(f"{PREFIX}{scalar}", setting, power, kind)
    return LatePart(name, study, law, **options)


def within(name: str, *ranges: tuple[str, float, float], **options: Any) -> LatePart:
    """A part: scalars lie in ranges in nearly every run."""
    study, probability = options.pop("study", "phase_2"), options.pop("probability", 0.9)
    law = RangeLaw(ranges, probability, options.pop("widest", False))
    return LatePart(name, study, law, **options)
