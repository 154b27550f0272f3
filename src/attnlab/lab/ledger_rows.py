"""The rows of a ledger: the tables, and a check of every value that is not a payload.

SQLite lets any column hold any type, so that a damaged or crafted row could otherwise surface
anywhere as any exception. Payloads have digests, which are checked when a payload is read.
"""

import json
import sqlite3
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, TypeGuard

from attnlab.core import SCALES, BadInput, Scale

if TYPE_CHECKING:
    from attnlab.lab.payload import Values

Column = str | int | float | bytes
"""What a column of a row holds."""

TABLES = """
CREATE TABLE record(
  identity TEXT NOT NULL, code TEXT NOT NULL, stack TEXT NOT NULL,
  study TEXT NOT NULL, cell TEXT NOT NULL, seed INTEGER NOT NULL,
  diverged TEXT NOT NULL, digest TEXT NOT NULL, payload BLOB NOT NULL,
  seconds REAL NOT NULL, finished TEXT NOT NULL, preparing REAL NOT NULL DEFAULT 0,
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


MOST_SECONDS = 1e12
"""No run takes so long, and sums of such times are numbers still."""


@dataclass(frozen=True)
class Failure:
    """An attempt that gave no record, as `ledger --failures --json` prints it."""

    study: str
    seed: int
    kind: str
    message: str
    at: str


@dataclass(frozen=True)
class Asked:
    """A request that the ledger remembers."""

    command: str
    ids: list[str]
    scale: Scale
    seed: int
    changes: dict[str, str]


@dataclass
class StudySummary:
    """The records and attempts of one study, counted row by row; `ledger --json` prints it."""

    study: str
    current: int = 0
    stale: int = 0
    diverged: int = 0
    runs: int = 0
    attempts: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0


@dataclass(frozen=True)
class Timed:
    """How long a run took, as `profile` counts it."""

    study: str
    cell: str
    seconds: float
    preparing: float
    finished: str


@dataclass(frozen=True)
class Newest:
    """The newest record of an identity, as `diff` compares it."""

    study: str
    cell: str
    seed: int
    diverged: str
    digest: str
    values: "Values"


def _text(value: object) -> TypeGuard[bytes]:
    if not isinstance(value, bytes):
        return False
    try:
        value.decode()
    except UnicodeDecodeError:
        return False
    return True


def _whole(value: object) -> bool:
    return isinstance(value, int)


def _seconds(value: object) -> bool:
    return isinstance(value, int | float) and 0 <= value <= MOST_SECONDS


def _blob_type(value: object) -> bool:
    return value == b"blob"


def _scale(value: object) -> bool:
    return _text(value) and value.decode() in SCALES


def _json(accepts: Callable[[object], bool]) -> Callable[[object], bool]:
    def check(value: object) -> bool:
        try:
            return _text(value) and accepts(json.loads(value))
        except (ValueError, RecursionError):
            return False

    return check


def _names(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(x, str) for x in value)


def _changes(value: object) -> bool:
    return isinstance(value, dict) and all(isinstance(x, str) for x in value.values())


# As blobs, for a text that is not UTF-8 must be seen, not raised; typeof tells text from blob.
COLUMNS: dict[str, dict[str, Callable[[object], bool]]] = {
    "record": {
        **dict.fromkeys(("identity", "code", "stack", "study", "cell"), _text),
        "seed": _whole,
        **dict.fromkeys(("diverged", "digest"), _text),
        "payload": _blob_type,
        "seconds": _seconds,
        "finished": _text,
        "preparing": _seconds,
    },
    "attempt": {
        **dict.fromkeys(("identity", "code", "stack", "study"), _text),
        "seed": _whole,
        **dict.fromkeys(("kind", "message", "at"), _text),
    },
    "request": {
        **dict.fromkeys(("at", "command"), _text),
        "ids": _json(_names),
        "scale": _scale,
        "seed": _whole,
        "changes": _json(_changes),
    },
}


def check(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a ledger one of whose values cannot be what its column holds."""
    for table, columns in COLUMNS.items():
        before, db.text_factory = db.text_factory, _Text
        try:
            for row, *values in db.execute(_query(table, columns)):
                for (name, accepts), value in zip(columns.items(), values, strict=True):
                    plain = bytes(value) if isinstance(value, _Text) else value
                    blob = isinstance(value, bytes) and not isinstance(value, _Text)
                    if blob or not accepts(plain):
                        raise BadInput(damaged(path, table, row, f"its {name} is damaged"))
        finally:
            db.text_factory = before


def damaged(path: Path, table: str, row: int, what: str) -> str:
    """The sentence on a row that cannot be used."""
    return (
        f"row {row} of the table {table} in {path} cannot be used: {what}; nothing was changed; "
        "restore the file from a copy or use another --out"
    )


def _query(table: str, columns: dict[str, Callable[[object], bool]]) -> str:
    # A payload is large and has a digest: here only its type matters.
    names = ("typeof(payload)" if name == "payload" else name for name in columns)
    return f"SELECT rowid, {', '.join(names)} FROM {table} ORDER BY rowid"


class _Text(bytes):
    """A text as SQLite has it, which a blob is not."""
