"""The ledger: every finished run and every failed attempt, in one SQLite file.

One process writes (a lock names it), any number read. Each run is committed on its own, so a
kill at any moment loses at most the runs under way. Rows are never overwritten: a row whose
code or stack fingerprint is not today's stays, and is shown as stale.
"""

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab import cells
from attnlab.core import BadInput, Record, Records
from attnlab.lab import fingerprint, payload, registry

if TYPE_CHECKING:
    from attnlab.lab.plan import Task

APPLICATION = 0x61746E6C  # "atnl", in the SQLite header
SCHEMA = 1
KEPT_BYTES = 2**29
TABLES = """
CREATE TABLE record(
  identity TEXT NOT NULL, code TEXT NOT NULL, stack TEXT NOT NULL,
  study TEXT NOT NULL, cell TEXT NOT NULL, seed INTEGER NOT NULL,
  diverged TEXT NOT NULL, digest TEXT NOT NULL, payload BLOB NOT NULL,
  seconds REAL NOT NULL, finished TEXT NOT NULL,
  PRIMARY KEY (identity, code, stack));
CREATE INDEX record_study ON record(study);
CREATE TABLE attempt(
  identity TEXT NOT NULL, code TEXT NOT NULL, stack TEXT NOT NULL, study TEXT NOT NULL,
  seed INTEGER NOT NULL, kind TEXT NOT NULL, message TEXT NOT NULL, at TEXT NOT NULL);
CREATE INDEX attempt_identity ON attempt(identity);
CREATE TABLE request(
  at TEXT NOT NULL, command TEXT NOT NULL, ids TEXT NOT NULL, scale TEXT NOT NULL,
  seed INTEGER NOT NULL, changes TEXT NOT NULL);
"""


def path_of(folder: Path) -> Path:
    """Where the ledger of a results folder is."""
    return folder / "ledger.sqlite"


class Ledger:
    """An open ledger. Use `reading` and `writing` to get one."""

    def __init__(self, connection: sqlite3.Connection, path: Path):
        self._db = connection
        self.path = path
        self._read: dict[tuple[str, str, str], Record] = {}
        self._read_bytes = 0

    # --- finished runs ---

    def finished(self, tasks: Iterable["Task"]) -> set[str]:
        """The identities among these tasks that have a record under today's code and stack."""
        return {t.identity for t in tasks if self._row(t, "1") is not None}

    def records(self, tasks: Iterable["Task"]) -> Records:
        """The records of these tasks, in order; what has none counts as failed or missing."""
        found: list[Record] = []
        failed = missing = 0
        for task in tasks:
            record = self._read.get(self._key(task)) or self._record(task)
            if record is None:
                given_up = self.has_failed(task)
                failed, missing = failed + given_up, missing + (not given_up)
            else:
                found.append(record)
        return Records(found, failed=failed, missing=missing)

    def _record(self, task: "Task") -> Record | None:
        row = self._row(task, "diverged, digest, payload, seconds")
        if row is None:
            return None
        diverged, digest, data, seconds = row
        if payload.digest(data, diverged) != digest:
            raise BadInput(
                f"the record {task.identity[:12]} of {task.study.id} in {self.path} does not match "
                "its digest: the file is damaged; restore it from a copy or use another --out"
            )
        values = payload.decode(data)
        record = Record(task.study.id, task.cell, task.seed, values, diverged, float(seconds))
        # Many claims read the same records: keep them, up to a limit.
        if self._read_bytes < KEPT_BYTES:
            self._read[self._key(task)] = record
            self._read_bytes += len(data)
        return record

    def save(self, task: "Task", data: bytes, diverged: str, seconds: float) -> None:
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

    def failures(self) -> list[dict[str, Any]]:
        """Every attempt that gave no record, newest last: study, seed, kind, message, time."""
        query = "SELECT study, seed, kind, message, at FROM attempt "
        query += "WHERE kind NOT IN ('finished', 'failed') ORDER BY rowid"
        names = ("study", "seed", "kind", "message", "at")
        return [dict(zip(names, row, strict=True)) for row in self._db.execute(query)]

    def _attempts(self, task: "Task", kind: str) -> int:
        query = "SELECT COUNT(*) FROM attempt WHERE identity=? AND code=? AND stack=? AND kind=?"
        return self._db.execute(query, (*self._key(task), kind)).fetchone()[0]

    # --- timings, requests, summaries ---

    def mean_seconds(self, task: "Task") -> float | None:
        """The mean time of earlier runs of the task's study and cell, whatever their code."""
        cell = cells.canonical(cells.as_dict(task.cell)).decode()
        query = "SELECT AVG(seconds) FROM record WHERE study=? AND cell=?"
        return self._db.execute(query, (task.study.id, cell)).fetchone()[0]

    def add_request(self, command: str, ids: Iterable[str], request: Any) -> None:
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

    def last_request(self) -> dict[str, Any] | None:
        """The newest request, or None in an empty ledger."""
        query = "SELECT command, ids, scale, seed, changes FROM request ORDER BY rowid DESC LIMIT 1"
        row = self._db.execute(query).fetchone()
        if row is None:
            return None
        command, ids, scale, seed, changes = row
        return {
            "command": command,
            "ids": json.loads(ids),
            "scale": scale,
            "seed": seed,
            "changes": json.loads(changes),
        }

    def summary(self) -> list[dict[str, Any]]:
        """Per study: current and stale records, diverged ones, attempts by kind, seconds."""
        rows: dict[str, dict[str, Any]] = {}
        query = "SELECT study, code, stack, COUNT(*), SUM(diverged != ''), SUM(seconds) "
        query += "FROM record GROUP BY study, code, stack"
        for study, code, stack, count, diverged, seconds in self._db.execute(query):
            row = rows.setdefault(study, _empty_summary(study))
            current = (code, stack) == (_code_of_study(study), fingerprint.stack())
            row["current" if current else "stale"] += count
            row["diverged"] += diverged if current else 0
            row["seconds"] += seconds
        query = "SELECT study, kind, COUNT(*) FROM attempt GROUP BY study, kind"
        for study, kind, count in self._db.execute(query):
            row = rows.setdefault(study, _empty_summary(study))
            if kind == "finished":
                row["runs"] += count
            elif kind != "failed":  # `failed` closes a run whose attempts are already counted
                row["attempts"][kind] = row["attempts"].get(kind, 0) + count
        return [rows[study] for study in sorted(rows)]

    def newest_rows(self) -> dict[str, dict[str, Any]]:
        """The newest record of each identity, whatever its code: what `diff` compares."""
        query = "SELECT identity, study, cell, seed, diverged, digest, payload FROM record "
        query += "ORDER BY rowid"
        names = ("study", "cell", "seed", "diverged", "digest", "payload")
        rows = self._db.execute(query)
        return {identity: dict(zip(names, rest, strict=True)) for identity, *rest in rows}

    # --- keys ---

    def _row(self, task: "Task", columns: str):
        query = f"SELECT {columns} FROM record WHERE identity=? AND code=? AND stack=?"
        return self._db.execute(query, self._key(task)).fetchone()

    @staticmethod
    def _key(task: "Task") -> tuple[str, str, str]:
        package = registry.paper_of(task.study).package
        return task.identity, fingerprint.code(package), fingerprint.stack()


@contextmanager
def reading(folder: Path) -> Iterator[Ledger]:
    """Open an existing ledger for reading."""
    path = path_of(folder)
    if not path.is_file():
        raise BadInput(
            f"there is no ledger in {folder} (looked for {path}); give the --out folder of an "
            "earlier run, or run `attnlab reproduce` first"
        )
    with _explained(path):
        try:
            connection = _connect(path, "mode=ro")
        except sqlite3.OperationalError:
            # A ledger on a read-only medium: SQLite cannot make its shared-memory file there.
            connection = _connect(path, "immutable=1")
        try:
            yield Ledger(connection, path)
        finally:
            connection.close()


@contextmanager
def writing(folder: Path) -> Iterator[Ledger]:
    """Open (or make) a ledger for writing, as its only writer."""
    path = path_of(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = open(folder / "ledger.lock", "a+")  # noqa: SIM115 - held until the end
    except OSError as error:
        raise BadInput(
            f"cannot write in {folder}: {error.strerror}; give a folder you can write to by --out"
        ) from None
    with lock:
        _take(lock, path)
        with _explained(path):
            connection = _connect(path, "mode=rwc")
            try:
                yield Ledger(connection, path)
            finally:
                connection.close()


def _take(lock, path: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        lock.seek(0)
        pid = lock.read().strip() or "unknown"
        raise BadInput(
            f"another attnlab (pid {pid}) is writing {path}; wait until it has ended, or use "
            "another --out"
        ) from None
    lock.truncate(0)
    lock.write(str(os.getpid()))
    lock.flush()


def _connect(path: Path, options: str) -> sqlite3.Connection:
    db = sqlite3.connect(f"{path.resolve().as_uri()}?{options}", uri=True, timeout=30)
    application = db.execute("PRAGMA application_id").fetchone()[0]
    empty = application == 0 and not db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    if options == "mode=rwc" and empty:
        db.execute("PRAGMA journal_mode=WAL")
        # One transaction: a kill leaves either a whole ledger or an empty file, taken up next time.
        marks = f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={SCHEMA};"
        db.executescript(f"BEGIN; {TABLES} {marks} COMMIT;")
        application = APPLICATION
    schema = db.execute("PRAGMA user_version").fetchone()[0]
    if application != APPLICATION:
        raise BadInput(
            f"{path} is an SQLite file of another program, not an attnlab ledger; nothing was "
            "changed; use another --out"
        )
    if schema != SCHEMA:
        raise BadInput(
            f"{path} has ledger format {schema}, this attnlab reads format {SCHEMA}; use the "
            "attnlab that wrote it, or another --out"
        )
    problem = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        raise sqlite3.DatabaseError(problem)
    return db


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    """Turn SQLite's complaints about a damaged or unwritable file into a sentence."""
    try:
        yield
    except sqlite3.OperationalError as error:
        raise BadInput(
            f"cannot use {path}: {error}; check the folder and its free space, or use another --out"
        ) from None
    except sqlite3.DatabaseError as error:
        raise BadInput(
            f"{path} is damaged or not a ledger ({error}); nothing was changed; restore it from "
            "a copy or use another --out"
        ) from None


def last_lines(message: str, count: int) -> str:
    """The error itself, which a worker puts first, and the end of its traceback."""
    head, *trace = [line for line in message.splitlines() if line.strip()] or ["no message"]
    return "\n".join([head, *(trace[-(count - 1) :] if count > 1 else [])])


def _code_of_study(study: str) -> str | None:
    try:
        return fingerprint.code(registry.paper_of(registry.study(study)).package)
    except BadInput:  # the paper's package is not installed here: its rows cannot be current
        return None


def _empty_summary(study: str) -> dict[str, Any]:
    return {
        "study": study,
        "current": 0,
        "stale": 0,
        "diverged": 0,
        "runs": 0,
        "attempts": {},
        "seconds": 0.0,
    }


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
