"""Plans: which runs a command needs, as a list of tasks without repetition."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, NamedTuple

from attnlab import cells
from attnlab.cells import Cell, Origin, SettingValue
from attnlab.claims import Claim
from attnlab.core import SCALES, BadInput, Design, Figure, Records, Scale, Search, Study
from attnlab.lab import registry, rounds
from attnlab.lab.ledger import Ledger
from attnlab.lab.rounds import Task as Task

Changes = Mapping[str, SettingValue]
"""The settings that a variant has otherwise than the design."""


@dataclass(frozen=True)
class Request:
    """What a user asked for, apart from the ids: scale, own sizes, first seed."""

    scale: Scale = "quick"
    seed: int = 0
    changes: Mapping[str, str] = field(default_factory=dict)
    coarse: bool = False
    """Whether studies that have a coarse design run that one."""
    dense: bool = False
    """Whether universes run the whole design of the next smaller scale, not a coarse one."""

    def __post_init__(self):
        if self.scale not in SCALES:
            raise BadInput(f"scale {self.scale!r} is unknown; give one of {', '.join(SCALES)}")
        if not 0 <= self.seed < 2**31:
            raise BadInput(f"seed {self.seed} is out of range; give a number from 0 to 2^31 - 1")


def design_of(study: Study, request: Request) -> Design:
    """The design that a request runs of a study."""
    if request.coarse and study.coarse is not None:
        return study.coarse
    return study.designs[request.scale]


def design_cells(study: Study, request: Request, changes: Changes) -> tuple[Cell, ...]:
    """The study's cells at the request's scale, with the user's sizes and a variant's changes."""
    unique: dict[Cell, None] = {}
    for cell in design_of(study, request).cells:
        unique.setdefault(_resolved(study, cell, request.changes, changes))
    return tuple(unique)


def _resolved(study: Study, cell: Cell, words: Mapping[str, str], changes: Changes) -> Cell:
    """A changed cell without `auto`; a sentence if its sizes are too extreme for any plan."""
    try:
        cell = cells.override(cells.override(cell, words, text=True), changes)
        cell = study.resolve(cell)
        study.program(cell)
        if math.isfinite(study.cost(cell)):
            return cell
        reason = "its time has no end"
    except (ArithmeticError, ValueError, TypeError) as error:
        reason = str(error.args[-1]) if error.args else type(error).__name__
    raise BadInput(
        f"a cell of {study.id} cannot be run at these settings ({reason}); give less extreme ones"
    )


def study_tasks(
    study: Study,
    request: Request,
    changes: Changes,
    *,
    every_seed: bool = False,
    ledger: Ledger | None = None,
) -> list[Task]:
    """Every run of one study, variant applied: with fewer seeds, unless every one is wanted.

    Of a sequential design those that are known so far: the rounds that the ledger's records
    lead to, the first one without a ledger.
    """
    design = design_of(study, request)
    arms = design_cells(study, request, changes)
    fewer = changes and design.control_trials and not every_seed
    search = searched(study, request, changes)
    if search and not fewer:
        return rounds.grown(study, arms, search, request.seed, ledger)
    trials = design.control_trials if fewer and design.control_trials else design.trials
    return [
        rounds.task(study, cell, seed)
        for cell in arms
        for seed in range(request.seed, request.seed + trials)
    ]


def searched(study: Study, request: Request, changes: Changes) -> Search | None:
    """The search of a sequential design, unless its size is given."""
    search = design_of(study, request).search
    given = search is not None and (search.size in changes or search.size in request.changes)
    return None if given else search


def tasks_for(
    studies: Iterable[str],
    request: Request,
    changes: Changes | None = None,
    *,
    every_seed: bool = False,
    ledger: Ledger | None = None,
) -> list[Task]:
    """Every run of the named studies."""
    return [
        task
        for name in studies
        for task in study_tasks(
            registry.study(name), request, changes or {}, every_seed=every_seed, ledger=ledger
        )
    ]


def variants_of(item: Claim | Figure) -> tuple[Changes, ...]:
    """The settings changes under which a claim or figure needs its studies run."""
    if isinstance(item, Figure):
        return item.changes
    return ({}, *(x.changes for x in (*item.controls, *item.routes) if x.changes))


def everything_for(
    items: Iterable[Claim | Figure], request: Request, ledger: Ledger | None = None
) -> list[Task]:
    """Every run that claims, their controls and figures need, each once."""
    items = list(items)
    names = sorted({name for item in items for name in item.studies})
    cells.require_known(request.changes, [registry.study(name).settings for name in names])
    _require_effect(items, request)
    unique: dict[str, Task] = {}
    for item in items:
        for changes in variants_of(item):
            for task in tasks_for(item.studies, request, changes, ledger=ledger):
                unique.setdefault(task.identity, task)
    return list(unique.values())


def most_further(
    items: Iterable[Claim | Figure], request: Request, tasks: Iterable[Task]
) -> list[tuple[Task, int]]:
    """How many more runs than `tasks` the searches of sequential designs can take at most.

    Each with a task that stands for their cost: the largest size.
    """
    begun = Counter(
        (t.study.id, replace(t.cell, **{search.size: search.sizes[-1]}))
        for t in tasks
        if (search := design_of(t.study, request).search)
    )
    found: dict[str, tuple[Task, int]] = {}
    for item in items:
        for changes in variants_of(item):
            for study in map(registry.study, item.studies):
                search, design = searched(study, request, changes), design_of(study, request)
                if search is None or (changes and design.control_trials):
                    continue
                for cell in design_cells(study, request, changes):
                    largest = rounds.task(study, replace(cell, **{search.size: search.sizes[-1]}))
                    left = search.most - begun[study.id, largest.cell]
                    found[largest.identity] = (largest, max(left, 0))
    return list(found.values())


def _require_effect(items: Iterable[Claim | Figure], request: Request) -> None:
    """Refuse a user's setting that departs from the design but changes no run of a command."""
    if not request.changes:
        return
    overridden = [
        (study, designed, cells.override(user, changes))
        for item in items
        for study in map(registry.study, item.studies)
        for designed in design_of(study, request).cells
        for user in (cells.override(designed, request.changes, text=True),)
        for changes in variants_of(item)
    ]
    for name, value in request.changes.items():
        having = [row for row in overridden if name in row[2].__dataclass_fields__]
        departs = any(
            getattr(cell, name) != getattr(designed, name) for _, designed, cell in having
        )
        reasons = [study.without_effect(name, cell) for study, _, cell in having]
        if departs and all(reasons):
            raise BadInput(
                f"{name}={value} has no effect on {having[0][0].id}: {reasons[0]}; leave it out, "
                "or ask for a study that it concerns"
            )


def records_for(
    item: Claim | Figure,
    request: Request,
    ledger: Ledger,
    changes: Changes | None,
) -> Records:
    """The records of a claim or figure (under one variant), in the design's order."""
    return ledger.records(tasks_for(item.studies, request, changes, ledger=ledger))


def figure_records(figure: Figure, request: Request, ledger: Ledger) -> Records:
    """The records of a figure under all its variants, each once."""
    tasks = {
        task.identity: task
        for changes in figure.changes
        for task in tasks_for(figure.studies, request, changes, ledger=ledger)
    }
    return ledger.records(tasks.values())


def variant_records(claim: Claim, request: Request, ledger: Ledger) -> dict[str, Records]:
    """The records of those controls and second routes that change a study, by their name."""
    varied = [x for x in (*claim.controls, *claim.routes) if x.changes]
    return {x.name: records_for(claim, request, ledger, x.changes) for x in varied}


def with_engine(changes: Mapping[str, str], engine: str | None) -> dict[str, str]:
    """`--engine X` is `--set engine=X`."""
    return {**changes, "engine": engine} if engine else dict(changes)


class Declared(NamedTuple):
    """A setting as its class declares it, with where its default comes from."""

    name: str
    default: Any
    """A dataclass's field may have none and its type says so, but a setting has one."""
    origin: Origin
    help: str
    symbol: str
    alternatives: Mapping[SettingValue, str]


def origins(settings: type) -> list[Declared]:
    """The settings of a class with where each default comes from."""
    told = ("origin", "help", "symbol", "alternatives")
    return [Declared(f.name, f.default, *(f.metadata[k] for k in told)) for f in fields(settings)]


def levels(study: Study, request: Request) -> dict[str, list[SettingValue]]:
    """The values that each setting takes in a study's design, in the design's order."""
    chosen = design_cells(study, request, {})
    return {
        f.name: list(dict.fromkeys(getattr(cell, f.name) for cell in chosen))
        for f in fields(study.settings)
    }
