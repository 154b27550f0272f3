"""Several ledgers as one: what array jobs, each with a ledger of its own, have made together."""

import heapq
import os
import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from attnlab.core import BadInput
from attnlab.lab import ledger, ledger_file
from attnlab.lab.ledger import Ledger
from attnlab.lab.ledger_rows import Column

Row = dict[str, Column]


@dataclass(frozen=True)
class Merged:
    """The new ledger's records, and how many of the sources' it did not need."""

    path: Path
    records: int
    repeated: int
    """Records that an earlier ledger holds too, with the same digest."""
    differing: int
    """Records that an earlier ledger holds with another digest, whose one was taken."""


def merge(folders: Sequence[Path], out: Path, *, prefer_first: bool = False) -> Merged:
    """Merge the ledgers of result folders into a new one in `out`; the sources stay as they are.

    Every payload is hashed again. A record that two ledgers hold with different digests although
    its code and stack are the same is refused or, with `prefer_first`, taken from the ledger that
    is named first. A ledger that is being written is taken as it is at one moment.
    """
    path = ledger.path_of(out)
    _require_apart(folders, path)
    with ExitStack() as stack:
        sources = [stack.enter_context(ledger.reading(folder)) for folder in folders]
        for source in sources:
            source.hold()
        repeated, differing = _overlap(sources, prefer_first)
        with ledger_file.making(path) as db:
            # Newest last, as in every ledger: `diff` and `report` go by the order of the rows.
            records = _insert(db, "record", _in_time(_records(sources, differing), "finished"))
            _insert(db, "attempt", _in_time(_unseen(sources, "attempt"), "at"))
            _insert(db, "request", _in_time(_unseen(sources, "request"), "at"))
    return Merged(path, records, repeated, len(differing))


def _require_apart(folders: Sequence[Path], path: Path) -> None:
    """Refuse fewer than two ledgers, one that is named twice, and a target that is there."""
    if len(folders) < 2:
        given = f"only {folders[0]} was given" if folders else "no folder was given"
        raise BadInput(f"{given}; name two or more folders of results to merge")
    if os.path.lexists(path):
        raise BadInput(
            f"{path} is there already, and a merge writes a new ledger; give another --out"
        )
    for a, b in combinations(folders, 2):
        try:
            same = os.path.samefile(ledger.path_of(a), ledger.path_of(b))
        except OSError:  # one of them is missing, which its reader will say
            continue
        if same:
            raise BadInput(f"{a} and {b} are the same ledger; name each once")


def _overlap(sources: Sequence[Ledger], prefer_first: bool) -> tuple[int, set[tuple[int, int]]]:
    """How many records are repeated; and those (source, row) that differ from an earlier source's.

    Raises BadInput for a damaged record, and for one that differs unless the first is preferred.
    """
    known: dict[tuple[Column, ...], tuple[Column, Ledger]] = {}
    repeated, differing = 0, set()
    for number, source in enumerate(sources):
        for row_number, row in source.rows("record"):
            key = (row["identity"], row["code"], row["stack"])
            digest, owner = known.setdefault(key, (row["digest"], source))
            if owner is source:
                continue
            if digest == row["digest"]:
                repeated += 1
                continue
            if not prefer_first:
                raise BadInput(
                    f"{owner.path} and {source.path} differ in {row['study']} seed {row['seed']} "
                    f"{row['cell']}, although its code and stack are the same; `attnlab diff "
                    f"{owner.path.parent} {source.path.parent}` shows by how much; find out which "
                    "machine to trust, or give --prefer-first to take what the ledger named first "
                    "holds"
                )
            differing.add((number, row_number))
    return repeated, differing


def _records(sources: Sequence[Ledger], left_out: set[tuple[int, int]]) -> list[Iterator[Row]]:
    """The records of each source."""

    def of(number: int, source: Ledger) -> Iterator[Row]:
        rows = source.rows("record")
        return (row for row_number, row in rows if (number, row_number) not in left_out)

    return [of(number, source) for number, source in enumerate(sources)]


def _unseen(sources: Sequence[Ledger], table: str) -> list[list[Row]]:
    """The rows of each source that no earlier one has: a ledger may itself be a merged one.

    A table may hold a row twice, e.g. two kills within a second: then so often is it kept.
    """
    seen: Counter[tuple[Column, ...]] = Counter()
    kept: list[list[Row]] = []
    for source in sources:
        own: Counter[tuple[Column, ...]] = Counter()
        kept.append([])
        for _, row in source.rows(table):
            values = tuple(row.values())
            own[values] += 1
            if own[values] > seen[values]:
                kept[-1].append(row)
        seen |= own
    return kept


def _in_time(parts: Iterable[Iterable[Row]], column: str) -> Iterator[Row]:
    """All rows by time; those of one source stay in their order."""
    return heapq.merge(*parts, key=lambda row: row[column])


def _insert(db: sqlite3.Connection, table: str, rows: Iterable[Row]) -> int:
    """Write the rows, a repeated record once; how many they were."""
    count = 0
    for row in rows:
        names, marks = ", ".join(row), ", ".join("?" * len(row))
        query = f"INSERT INTO {table} ({names}) VALUES ({marks}) ON CONFLICT DO NOTHING"
        count += db.execute(query, tuple(row.values())).rowcount
    return count
