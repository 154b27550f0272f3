"""Rounds: the runs of a sequential design, as far as the records in the ledger lead to them.

A search (`core.Search`) says at which sizes an arm runs next, given its records so far. Walking
through the rounds from the first one gives the same runs whoever made them, in whatever order,
and however often they were interrupted: a round begins once every run of the one before it has
its record or was given up.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from attnlab import cells
from attnlab.cells import Cell
from attnlab.core import Record, Records, Search, Study
from attnlab.lab.ledger import Ledger


@dataclass(frozen=True)
class Task:
    """One run: a cell of a study and a seed."""

    study: Study
    cell: Cell
    seed: int
    identity: str

    @property
    def group(self) -> Hashable:
        """Runs of one group share a compiled program."""
        return self.study.run, self.study.program(self.cell)


def task(study: Study, cell: Cell, seed: int = 0) -> Task:
    """The run of a cell and a seed."""
    return Task(study, cell, seed, cells.identity(study.id, cell, seed))


def grown(
    study: Study, arms: Sequence[Cell], search: Search, seed: int, ledger: Ledger | None
) -> list[Task]:
    """Every run of the arms that is known so far, arm by arm.

    An arm's last round is whole where its search has ended, else it may have runs to make.
    """
    tasks: dict[Cell, list[Task]] = {arm: [] for arm in arms}
    records: dict[str, Record] = {}
    going = list(tasks)
    while going:
        for arm in list(going):
            known = sorted(t.identity for t in tasks[arm] if t.identity in records)
            sizes = search.further(Records(records[identity] for identity in known))
            tasks[arm] += _round(study, arm, search.size, sizes, tasks[arm], seed)
            if not sizes:
                going.remove(arm)
        if ledger is None:
            break
        new = [t for arm in going for t in tasks[arm] if t.identity not in records]
        waiting = set()
        for run in new:
            record = ledger.record(run)
            if record is not None:
                records[run.identity] = record
            elif not ledger.has_failed(run):
                waiting.add(run.identity)
        going = [arm for arm in going if not any(t.identity in waiting for t in tasks[arm])]
    return [t for own in tasks.values() for t in own]


def _round(
    study: Study, arm: Cell, name: str, sizes: Sequence[float], before: Sequence[Task], seed: int
) -> list[Task]:
    """The runs of one round: at each size the seeds that come after those of earlier rounds."""
    used = Counter(getattr(t.cell, name) for t in before)
    made = []
    for size in sizes:
        cell = study.resolve(replace(arm, **{name: size}))
        made.append(task(study, cell, seed + used[size]))
        used[size] += 1
    return made
