"""The ledger: every finished run and every failed attempt, in one SQLite file.

One process writes (a lock names it), any number read. Each run is committed on its own, so a
kill at any moment loses at most the runs under way. Rows are never overwritten: a row whose
code or stack fingerprint is not today's stays, and is shown as stale.
"""

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from attnlab import cells
from attnlab.core import BadInput, Record, Records
from attnlab.lab import fingerprint, ledger_file, ledger_rows, payload, registry
from attnlab.lab.ledger_file import LedgerFile
from attnlab.lab.ledger_rows import Asked, Column, Failure, Newest, StudySummary, Timed

if TYPE_CHECKING:
    from attnlab.lab.payload import Values
    from attnlab.lab.plan import Request, Task

KEPT_BYTES = 2**29


def path_of(folder: Path) -> Path:
    """Where the ledger of a results folder is."""
    return folder / "ledger.sqlite"


class Ledger:
    """An open ledger. Use `reading` and `writing` to get one."""

    def __init__(self, file: LedgerFile):
        self._file = file
        self.path = file.path
        self._read: dict[tuple[str, str, str], Record] = {}
        self._read_bytes = 0

    @property
    def _db(self) -> sqlite3.Connection:
        return self._file.db

    def keep(self) -> None:
        """Put the file back if it was deleted; see `LedgerFile.keep`."""
        self._file.keep()

    def hold(self) -> None:
        """From here on see the ledger as it is at one moment, whoever writes it meanwhile."""
        self._db.execute("BEGIN")
        self._db.execute("SELECT COUNT(*) FROM request").fetchone()  # begins with the first look

    # --- finished runs ---

    def finished(self, tasks: Iterable["Task"]) -> set[str]:
        """The identities among these tasks that have a record under today's code and stack."""
        return {t.identity for t in tasks if self._row(t, "1") is not None}

    def records(self, tasks: Iterable["Task"]) -> Records:
        """The records of these tasks, in order; what has none counts as failed or missing."""
        found: list[Record] = []
        failed = missing = 0
        for task in tasks:
            record = self.record(task)
            if record is None:
                given_up = self.has_failed(task)
                failed, missing = failed + given_up, missing + (not given_up)
            else:
                found.append(record)
        return Records(found, failed=failed, missing=missing)

    def record(self, task: "Task") -> Record | None:
        """The record of a task under today's code, if it has one."""
        return self._read.get(self._key(task)) or self._record(task)

    def _record(self, task: "Task") -> Record | None:
        row = self._row(task, "rowid, diverged, digest, payload, seconds")
        if row is None:
            return None
        number, diverged, digest, data, seconds = row
        values = self._values(number, diverged, digest, data)
        record = Record(task.study.id, task.cell, task.seed, values, diverged, float(seconds))
        # Many claims read the same records: keep them, up to a limit.
        if self._read_bytes < KEPT_BYTES:
            self._read[self._key(task)] = record
            self._read_bytes += len(data)
        return record

    def _values(self, row: int, diverged: str, digest: str, data: bytes) -> "Values":
        """The values of a record, after its digest was checked."""
        what = ""
        if payload.digest(data, diverged) != digest:
            what = "its payload does not match its digest"
        else:
            try:
                return payload.decode(data)
            except Exception as error:  # a crafted payload under its own digest
                what = f"its payload cannot be read ({error})"
        raise BadInput(ledger_rows.damaged(self.path, "record", row, what))

    def save(
        self, task: "Task", data: bytes, diverged: str, seconds: float, preparing: float = 0.0
    ) -> None:
        """Write a finished run and its attempt, in one transaction."""
        row = (
            *self._key(task),
            task.study.id,
            cells.canonical(cells.as_dict(task.cell)).decode(),
            task.seed,
            diverged,
            payload.digest(data, diverged),
            data,
            seconds,
            _now(),
            preparing,
        )
        with self._db:
            self._db.execute(f"INSERT INTO record VALUES ({','.join('?' * len(row))})", row)
            self._add_attempt(task, "finished", diverged)

    # --- attempts ---

    def add_attempt(self, task: "Task", kind: str, message: str) -> None:
        """Write how a run ended that gave no record: killed, crash, exception, timeout, memory."""
        with self._db:
            self._add_attempt(task, kind, message)

    def _add_attempt(self, task: "Task", kind: str, message: str) -> None:
        row = (*self._key(task), task.study.id, task.seed, kind, message[:2000], _now())
        self._db.execute("INSERT INTO attempt VALUES (?,?,?,?,?,?,?,?)", row)

    def has_failed(self, task: "Task") -> bool:
        """Whether the run was given up under today's code."""
        return bool(self._attempts(task, "failed"))

    def failures(self) -> list[Failure]:
        """Every attempt that gave no record, newest last: study, seed, kind, message, time."""
        query = "SELECT study, seed, kind, message, at FROM attempt "
        query += "WHERE kind NOT IN ('finished', 'failed') ORDER BY rowid"
        return [Failure(*row) for row in self._db.execute(query)]

    def _attempts(self, task: "Task", kind: str) -> int:
        query = "SELECT COUNT(*) FROM attempt WHERE identity=? AND code=? AND stack=? AND kind=?"
        return self._db.execute(query, (*self._key(task), kind)).fetchone()[0]

    # --- timings, requests, summaries ---

    def mean_seconds(self, task: "Task") -> float | None:
        """The mean time of earlier runs of the task's study and cell, whatever their code."""
        cell = cells.canonical(cells.as_dict(task.cell)).decode()
        query = "SELECT AVG(seconds) FROM record WHERE study=? AND cell=?"
        return self._db.execute(query, (task.study.id, cell)).fetchone()[0]

    def timings(self) -> list[Timed]:
        """How long every run took, in the order in which they ended."""
        query = "SELECT study, cell, seconds, preparing, finished FROM record ORDER BY rowid"
        return [Timed(*row) for row in self._db.execute(query)]

    def add_request(self, command: str, ids: Iterable[str], request: "Request") -> None:
        """Remember what was asked for, so that `report` can show it."""
        row = (
            _now(),
            command,
            json.dumps(list(ids)),
            request.scale,
            request.seed,
            json.dumps(dict(request.changes)),
        )
        with self._db:
            self._db.execute("INSERT INTO request VALUES (?,?,?,?,?,?)", row)

    def last_request(self) -> Asked | None:
        """The newest request, or None in an empty ledger."""
        query = "SELECT command, ids, scale, seed, changes FROM request ORDER BY rowid DESC LIMIT 1"
        row = self._db.execute(query).fetchone()
        if row is None:
            return None
        command, ids, scale, seed, changes = row
        return Asked(command, json.loads(ids), scale, seed, json.loads(changes))

    def summary(self) -> list[StudySummary]:
        """Per study: current and stale records, diverged ones, attempts by kind, seconds."""
        rows: dict[str, StudySummary] = {}
        query = "SELECT study, cell, code, stack, COUNT(*), SUM(diverged != ''), SUM(seconds) "
        query += "FROM record GROUP BY study, cell, code, stack"
        for study, cell, code, stack, count, diverged, seconds in self._db.execute(query):
            row = rows.setdefault(study, StudySummary(study))
            current = (code, stack) == (code_of(study, json.loads(cell)), fingerprint.stack())
            row.current += count if current else 0
            row.stale += 0 if current else count
            row.diverged += diverged if current else 0
            row.seconds += seconds
        query = "SELECT study, kind, COUNT(*) FROM attempt GROUP BY study, kind"
        for study, kind, count in self._db.execute(query):
            row = rows.setdefault(study, StudySummary(study))
            if kind == "finished":
                row.runs += count
            elif kind != "failed":  # `failed` closes a run whose attempts are already counted
                row.attempts[kind] = row.attempts.get(kind, 0) + count
        return [rows[study] for study in sorted(rows)]

    def rows(self, table: str) -> Iterator[tuple[int, dict[str, Column]]]:
        """Every row of a table with its number, oldest first, by column; payloads hashed again."""
        names = tuple(ledger_rows.COLUMNS[table])
        query = f"SELECT rowid, {', '.join(names)} FROM {table} ORDER BY rowid"
        for number, *values in self._db.execute(query):
            row = dict(zip(names, values, strict=True))
            if table == "record":
                self._values(number, row["diverged"], row["digest"], row["payload"])
            yield number, row

    def newest_rows(self) -> dict[str, Newest]:
        """The newest record of each identity, whatever its code: what `diff` compares.

        Every payload is hashed again: a digest in the file says nothing of a damaged payload.
        """
        query = "SELECT identity, rowid, study, cell, seed, diverged, digest, payload FROM record "
        query += "ORDER BY rowid"
        found: dict[str, Newest] = {}
        for identity, number, study, cell, seed, diverged, digest, data in self._db.execute(query):
            values = self._values(number, diverged, digest, data)
            found[identity] = Newest(study, cell, seed, diverged, digest, values)
        return found

    # --- keys ---

    def _row(self, task: "Task", columns: str):
        query = f"SELECT {columns} FROM record WHERE identity=? AND code=? AND stack=?"
        return self._db.execute(query, self._key(task)).fetchone()

    @staticmethod
    def _key(task: "Task") -> tuple[str, str, str]:
        code = fingerprint.of(task.study, vars(task.cell))
        return task.identity, code, fingerprint.stack()


@contextmanager
def reading(folder: Path) -> Iterator[Ledger]:
    """Open an existing ledger for reading."""
    path = path_of(folder)
    if not os.path.isfile(path):  # Path.is_file raises on a name that is too long
        raise BadInput(
            f"there is no ledger in {folder} (looked for {path}); give the --out folder of an "
            "earlier run, or run `attnlab reproduce` first"
        )
    with ledger_file.reading(path) as file:
        yield Ledger(file)


@contextmanager
def writing(folder: Path) -> Iterator[Ledger]:
    """Open (or make) a ledger for writing, as its only writer."""
    with ledger_file.writing(path_of(folder)) as file:
        yield Ledger(file)


def last_lines(message: str, count: int) -> str:
    """The error itself, which a worker puts first, and the end of its traceback."""
    head, *trace = [line for line in message.splitlines() if line.strip()] or ["no message"]
    return "\n".join([head, *(trace[-(count - 1) :] if count > 1 else [])])


def code_of(study: str, cell: Mapping[str, object]) -> str | None:
    """Today's code of a record of this study and cell, if all of it is installed here."""
    try:
        return fingerprint.of(registry.study(study), cell)
    except BadInput:  # the paper's package is not installed here: its rows cannot be current
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
