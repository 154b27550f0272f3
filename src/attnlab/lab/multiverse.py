"""Universes in the laboratory: which runs a multiverse needs, and what they say.

The evidence samples and tallies (`attnlab.evidence.universes`); here a claim's open choices are
read off the settings of its studies, universes become tasks like any other, and two universes
that differ in one choice and are decided oppositely are run again on fresh seeds.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from attnlab import cells
from attnlab.claims import Claim, Effect, Kind, Outcome, Part, Tally, UniverseOutcome
from attnlab.core import BadInput, Record, Records, Scale
from attnlab.evidence import court
from attnlab.evidence.statement import decisive_parts
from attnlab.evidence.universes import (
    Factor,
    Universe,
    opposite_neighbours,
    sample,
    tally,
)
from attnlab.lab import plan, registry
from attnlab.lab.ledger import Ledger
from attnlab.lab.plan import Request, Task

COARSE: Mapping[Scale, Scale] = {"smoke": "smoke", "quick": "smoke", "paper": "quick"}
"""The scale of the design that a universe runs: many universes, each of them coarse."""
CARRIED: Mapping[Scale, int] = {"smoke": 0, "quick": 8, "paper": 24}
"""How many universes a figure or remark carries, and a contradiction needs before it is said."""
CARRIES: tuple[Kind, ...] = ("figure", "remark")
CAUTIOUS: tuple[Kind, ...] = ("sufficient", "scaling", "probability")
"""Kinds whose contradiction in the default universe must hold in eight."""
FRESH = 100_000
"""What is added to the first seed when a pair of universes is run again."""
PAIRS = 3
"""Opposite pairs that are run again, at most."""


Designs = Mapping[str, tuple[cells.Cell, ...]]
"""The cells of each study, by its id."""


@dataclass(frozen=True)
class Row:
    """One universe and what it came out as."""

    universe: Universe
    outcome: UniverseOutcome
    effect: Effect | None


@dataclass(frozen=True)
class Multiverse:
    """A claim over its universes."""

    claim: str
    scale: Scale
    """The scale of the coarse design that ran."""
    factors: tuple[Factor, ...]
    rows: tuple[Row, ...]
    tally: Tally


def factors_of(claim: Claim, request: Request) -> tuple[Factor, ...]:
    """The choices that the paper leaves open in the claim's studies.

    A setting that the design itself varies (or searches over) is no factor, nor is one that the
    user has set or that changes nothing there. A value that the claim does not admit is no level.
    """
    designs = _designs(claim, request)
    deciding = _deciding(claim, designs)
    searches = (plan.design_of(registry.study(s), _coarse(request)).search for s in claim.studies)
    taken = {*request.changes, *(search.size for search in searches if search)}
    open_choices: dict[str, dataclasses.Field[cells.SettingValue]] = {}
    for name in claim.studies:
        for field in dataclasses.fields(registry.study(name).settings):
            if field.metadata["alternatives"] and field.name not in taken:
                open_choices.setdefault(field.name, field)
    found = (_factor(claim, field, deciding, designs) for field in open_choices.values())
    return tuple(factor for factor in found if factor is not None)


def _factor(
    claim: Claim,
    field: "dataclasses.Field[cells.SettingValue]",
    deciding: Designs,
    designs: Designs,
) -> Factor | None:
    having = {
        name: own
        for name, own in deciding.items()
        if all(hasattr(cell, field.name) for cell in own)
    }
    values = [{getattr(cell, field.name) for cell in own} for own in having.values()]
    chosen = (
        field.metadata["matters"](cell)
        and not registry.study(name).without_effect(field.name, cell)
        for name, own in having.items()
        for cell in own
    )
    if any(len(own) > 1 for own in values) or not any(chosen):
        return None
    everywhere = set().union(*values)
    designed = next(iter(everywhere)) if len(everywhere) == 1 else "as designed"
    if field.metadata["origin"] == "paper" and designed == field.default:
        return None
    alternatives = field.metadata["alternatives"]
    others = [v for v in alternatives if v != designed and _admits(claim, {field.name: v}, designs)]
    return Factor(field.name, designed, tuple(others), alternatives) if others else None


def universes_of(claim: Claim, request: Request, count: int) -> tuple[Universe, ...]:
    """The universes of a claim; combinations that it does not admit are left out."""
    designs = _designs(claim, request)
    found = sample(factors_of(claim, request), 2 * count)
    return tuple(islice((u for u in found if _admits(claim, u.changes, designs)), count))


def _designs(claim: Claim, request: Request) -> Designs:
    """The cells of each study in the coarse design."""
    studies = (registry.study(name) for name in claim.studies)
    return {study.id: plan.design_cells(study, _coarse(request), {}) for study in studies}


def _deciding(claim: Claim, designs: Designs) -> Designs:
    """Those of the cells that decide the claim; asides are left out."""
    parts = decisive_parts(claim)
    return {
        name: tuple(c for c in own if any(name in p.studies and p.cells(c) for p in parts))
        for name, own in designs.items()
    }


def _admits(claim: Claim, changes: Mapping[str, cells.SettingValue], designs: Designs) -> bool:
    """Whether the claim can be judged with the changes.

    Every cell takes them, no part that decides loses all of its cells, and a hypothesis that the
    design meets is still met (figures are not held to any).
    """
    try:
        changed = {
            name: tuple(registry.study(name).resolve(cells.override(c, changes)) for c in own)
            for name, own in designs.items()
        }
    except BadInput:
        return False
    if any(_looked_at(p, designs) and not _looked_at(p, changed) for p in decisive_parts(claim)):
        return False
    return claim.kind == "figure" or _unmet(claim, changed) <= _unmet(claim, designs)


def _looked_at(part: Part, designs: Designs) -> bool:
    return any(part.cells(cell) for name in part.studies for cell in designs.get(name, ()))


def _unmet(claim: Claim, designs: Designs) -> set[str]:
    """Hypotheses not met by the settings alone; one that rests on what runs find is not known."""
    deciding = _deciding(claim, designs)
    records = Records(Record(name, cell, 0, {}) for name, own in deciding.items() for cell in own)
    try:
        return {row.name for row in claim.hypotheses(records) if row.met is False}
    except (ArithmeticError, ValueError, LookupError):
        return set()


def carried(claim: Claim, request: Request, ledger: Ledger) -> int:
    """How many universes the verdict on a claim needs, judged by what the ledger holds."""
    count = CARRIED[request.scale]
    if claim.kind in CARRIES:
        return count
    if claim.kind in CAUTIOUS and count:
        records = plan.records_for(claim, request, ledger, {})
        failing = not records.missing and court.measure(claim, records).outcome == "contradicted"
        return CARRIED["quick"] if failing else 0
    return 0


def multiverse(claim: Claim, request: Request, ledger: Ledger, count: int) -> Multiverse:
    """What the ledger says of the claim's universes. Nothing is run here."""
    factors = factors_of(claim, request)
    universes = universes_of(claim, request, count)
    rows = tuple(_row(claim, u, _records(claim, u, request, ledger)) for u in universes)
    outcomes: list[UniverseOutcome] = [row.outcome for row in rows]
    confirmed = [
        (a, b)
        for a, b, _ in opposite_neighbours(factors, universes, outcomes)[:PAIRS]
        if all(_again(claim, rows[k], request, ledger) == outcomes[k] for k in (a, b))
    ]
    found = tally(factors, universes, outcomes, confirmed)
    return Multiverse(claim.id, _coarse(request).scale, factors, rows, found)


def tasks_for(claim: Claim, request: Request, ledger: Ledger, count: int) -> list[Task]:
    """The runs of the universes, and, once those are made, of opposite pairs on fresh seeds."""
    universes = universes_of(claim, request, count)
    tasks = [task for u in universes for task in _tasks(claim, u, _coarse(request), ledger)]
    if ledger.finished(tasks) != {task.identity for task in tasks}:
        return tasks
    factors = factors_of(claim, request)
    rows = [_row(claim, u, _records(claim, u, request, ledger)) for u in universes]
    outcomes: list[UniverseOutcome] = [row.outcome for row in rows]
    pairs = opposite_neighbours(factors, universes, outcomes)[:PAIRS]
    again = dict.fromkeys(k for a, b, _ in pairs for k in (a, b))
    return tasks + [t for k in again for t in _tasks(claim, universes[k], _fresh(request), ledger)]


def rounds(
    claims: Sequence[Claim], request: Request, ledger: Ledger, count: int | None = None
) -> Iterator[list[Task]]:
    """The runs that universes still need, round by round, each a function of the records so far.

    `count` asks for so many universes of every claim; without it each claim gets what its kind
    carries. A round that left everything as it was is the last one.
    """
    before: set[str] | None = None
    while True:
        unique: dict[str, Task] = {}
        for claim in claims:
            wanted = carried(claim, request, ledger) if count is None else count
            if wanted:
                for task in tasks_for(claim, request, ledger, wanted):
                    unique.setdefault(task.identity, task)
        tasks = list(unique.values())
        have = ledger.finished(tasks)
        missing = {t.identity for t in tasks if t.identity not in have and not ledger.has_failed(t)}
        if not missing or missing == before:
            return
        before = missing
        yield tasks


def tallies(claims: Iterable[Claim], request: Request, ledger: Ledger) -> dict[str, Multiverse]:
    """The multiverse of every claim whose verdict carries one."""
    wanted = {claim.id: (claim, carried(claim, request, ledger)) for claim in claims}
    return {
        name: multiverse(claim, request, ledger, count)
        for name, (claim, count) in wanted.items()
        if count
    }


def _coarse(request: Request) -> Request:
    coarse = request.scale != "paper" and not request.dense
    return replace(request, scale=COARSE[request.scale], coarse=coarse)


def _fresh(request: Request) -> Request:
    return replace(_coarse(request), seed=request.seed + FRESH)


def _tasks(claim: Claim, universe: Universe, request: Request, ledger: Ledger) -> list[Task]:
    """The runs of one universe: of the cells that decide, asides are left out."""
    parts = decisive_parts(claim)
    return [
        task
        for task in plan.tasks_for(
            claim.studies, request, universe.changes, every_seed=True, ledger=ledger
        )
        if any(task.study.id in p.studies and p.cells(task.cell) for p in parts)
    ]


def _records(claim: Claim, universe: Universe, request: Request, ledger: Ledger) -> Records:
    return ledger.records(_tasks(claim, universe, _coarse(request), ledger))


def _again(claim: Claim, row: Row, request: Request, ledger: Ledger) -> UniverseOutcome:
    records = ledger.records(_tasks(claim, row.universe, _fresh(request), ledger))
    return _row(claim, row.universe, records).outcome


def _row(claim: Claim, universe: Universe, records: Records) -> Row:
    if not records or records.missing:
        return Row(universe, "undecided", None)
    measured = court.measure(claim, records)
    rests_on = court.decisive(measured)
    effect = rests_on.effect if rests_on else None
    if sum(bool(r.diverged) for r in records) > len(records) / 2:
        return Row(universe, "diverged", effect)
    known: dict[Outcome, UniverseOutcome] = {
        "supported": "supported",
        "contradicted": "contradicted",
    }
    return Row(universe, known.get(measured.outcome, "undecided"), effect)
