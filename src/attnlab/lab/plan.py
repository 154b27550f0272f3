"""Plans: which runs a command needs, as a list of tasks without repetition."""

import math
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from attnlab import cells
from attnlab.claims import Claim
from attnlab.core import SCALES, BadInput, Design, Figure, Records, Scale, Study
from attnlab.lab import registry
from attnlab.lab.ledger import Ledger


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


@dataclass(frozen=True)
class Task:
    """One run: a cell of a study and a seed."""

    study: Study
    cell: Any
    seed: int
    identity: str

    @property
    def group(self) -> Hashable:
        """Runs of one group share a compiled program."""
        return self.study.run, self.study.program(self.cell)


def design_of(study: Study, request: Request) -> Design:
    """The design that a request runs of a study."""
    if request.coarse and study.coarse is not None:
        return study.coarse
    return study.designs[request.scale]


def design_cells(study: Study, request: Request, changes: Mapping[str, Any]) -> tuple[Any, ...]:
    """The study's cells at the request's scale, with the user's sizes and a variant's changes."""
    unique: dict[Any, None] = {}
    for cell in design_of(study, request).cells:
        cell = cells.override(cell, request.changes, text=True)
        unique.setdefault(_resolved(study, cells.override(cell, changes)))
    return tuple(unique)


def _resolved(study: Study, cell: Any) -> Any:
    """A cell without `auto`; a sentence if its sizes are so extreme that no plan can be made."""
    try:
        cell = study.resolve(cell)
        study.program(cell)
        if math.isfinite(study.cost(cell)):
            return cell
        reason = "its time has no end"
    except (ArithmeticError, ValueError) as error:
        reason = str(error)
    raise BadInput(
        f"a cell of {study.id} cannot be run at these settings ({reason}); give less extreme ones"
    )


def study_tasks(
    study: Study, request: Request, changes: Mapping[str, Any], *, every_seed: bool = False
) -> list[Task]:
    """Every run of one study, variant applied: with fewer seeds, unless every one is wanted."""
    design = design_of(study, request)
    fewer = changes and design.control_trials and not every_seed
    trials = design.control_trials if fewer and design.control_trials else design.trials
    seeds = range(request.seed, request.seed + trials)
    return [
        Task(study, cell, seed, cells.identity(study.id, cell, seed))
        for cell in design_cells(study, request, changes)
        for seed in seeds
    ]


def tasks_for(
    studies: Iterable[str],
    request: Request,
    changes: Mapping[str, Any] | None = None,
    *,
    every_seed: bool = False,
) -> list[Task]:
    """Every run of the named studies."""
    return [
        task
        for name in studies
        for task in study_tasks(registry.study(name), request, changes or {}, every_seed=every_seed)
    ]


def variants_of(item: Claim | Figure) -> tuple[Mapping[str, Any], ...]:
    """The settings changes under which a claim or figure needs its studies run."""
    if isinstance(item, Figure):
        return item.changes
    return ({}, *(x.changes for x in (*item.controls, *item.routes) if x.changes))


def everything_for(items: Iterable[Claim | Figure], request: Request) -> list[Task]:
    """Every run that claims, their controls and figures need, each once."""
    items = list(items)
    names = sorted({name for item in items for name in item.studies})
    cells.require_known(request.changes, [registry.study(name).settings for name in names])
    unique: dict[str, Task] = {}
    for item in items:
        for changes in variants_of(item):
            for task in tasks_for(item.studies, request, changes):
                unique.setdefault(task.identity, task)
    return list(unique.values())


def records_for(
    item: Claim | Figure, request: Request, ledger: Ledger, changes: Mapping[str, Any] | None
) -> Records:
    """The records of a claim or figure (under one variant), in the design's order."""
    return ledger.records(tasks_for(item.studies, request, changes))


def figure_records(figure: Figure, request: Request, ledger: Ledger) -> Records:
    """The records of a figure under all its variants, each once."""
    tasks = {
        task.identity: task
        for changes in figure.changes
        for task in tasks_for(figure.studies, request, changes)
    }
    return ledger.records(tasks.values())


def variant_records(claim: Claim, request: Request, ledger: Ledger) -> dict[str, Records]:
    """The records of those controls and second routes that change a study, by their name."""
    varied = [x for x in (*claim.controls, *claim.routes) if x.changes]
    return {x.name: records_for(claim, request, ledger, x.changes) for x in varied}


def with_engine(changes: Mapping[str, str], engine: str | None) -> dict[str, str]:
    """`--engine X` is `--set engine=X`."""
    return {**changes, "engine": engine} if engine else dict(changes)


def origins(settings: type) -> list[dict[str, Any]]:
    """The settings of a class with where each default comes from."""
    return [
        {"name": f.name, "default": f.default, **{k: f.metadata[k] for k in ("origin", "help")}}
        | {k: f.metadata[k] for k in ("symbol", "alternatives")}
        for f in fields(settings)
    ]


def levels(study: Study, request: Request) -> dict[str, list[Any]]:
    """The values that each setting takes in a study's design, in the design's order."""
    chosen = design_cells(study, request, {})
    return {
        f.name: list(dict.fromkeys(getattr(cell, f.name) for cell in chosen))
        for f in fields(study.settings)
    }
