"""The ledger's file: opened, locked for one writer, checked, and kept in its place.

The lock is on the database file itself, so that it cannot be deleted apart from it. The file
`ledger.lock` beside it is a note with the writer's pid and locks nothing.
"""

import contextlib
import fcntl
import os
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attnlab.core import BadInput
from attnlab.lab import ledger_rows

APPLICATION = 0x61746E6C  # "atnl", in the SQLite header
SCHEMA = 1
MIGRATIONS: dict[int, str] = {}
"""For each earlier format, the SQL that turns it into the next one."""
BUSY_SECONDS = 30


class LedgerFile:
    """An open ledger's database, and its lock if this process writes it."""

    def __init__(self, path: Path, db: sqlite3.Connection, lock: int | None = None):
        self.path = path
        self.db = db
        self._lock = lock

    def keep(self) -> None:
        """Put the file back if somebody has deleted it: this process still has all of it.

        Raises BadInput if another file has taken its place; ours is then saved beside it.
        """
        if self._lock is None:
            return
        if _is_at(self._lock, self.path):
            if not os.path.exists(f"{self.path}-wal"):  # deleted too: what it had goes to the file
                self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            return
        # Not before it is all in a file again may the connection, the last hold on it, be closed.
        with _explained(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            saved = _unused(self.path)
            copy = sqlite3.connect(saved)
            try:
                self.db.backup(copy)
            finally:
                copy.close()
            self.close()
            if not self.path.exists():
                for ending in ("-wal", "-shm"):  # the deleted file's would be taken for ours
                    Path(f"{self.path}{ending}").unlink(missing_ok=True)
            try:
                os.link(saved, self.path)
            except FileExistsError:
                raise BadInput(
                    f"{self.path} was replaced by another file while it was written; nothing is "
                    f"lost: its runs are in {saved}; move that as ledger.sqlite into a folder of "
                    "its own and give the same command again with that folder as --out"
                ) from None
            saved.unlink()
            self._lock = _locked(self.path)
            self.db = _connect(self.path, "mode=rwc")
            self.db.execute("PRAGMA journal_mode=WAL")

    def close(self) -> None:
        """Close the database, then give the lock back: the other way round, SQLite's would go."""
        self.db.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


@contextmanager
def reading(path: Path) -> Iterator[LedgerFile]:
    """Open an existing ledger for reading."""
    with _explained(path):
        try:
            db = _connect(path, "mode=ro")
        except sqlite3.OperationalError:
            # A ledger on a read-only medium: SQLite cannot make its shared-memory file there.
            db = _connect(path, "immutable=1")
        file = LedgerFile(path, db)
        try:
            yield file
        finally:
            file.close()


@contextmanager
def writing(path: Path) -> Iterator[LedgerFile]:
    """Open (or make) a ledger for writing, as its only writer."""
    lock = _locked(path)
    try:
        with _explained(path):
            file = LedgerFile(path, _connect(path, "mode=rwc"), lock)
    except BaseException:
        os.close(lock)
        raise
    with _explained(path):
        try:
            yield file
        finally:
            try:
                file.keep()
            finally:
                file.close()


def _locked(path: Path) -> int:
    """The descriptor of the database file (made if it is not there), with its lock on it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except (OSError, ValueError) as error:
        raise BadInput(
            f"cannot write in {path.parent}: {getattr(error, 'strerror', error)}; give a folder "
            "you can write to by --out"
        ) from None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not _is_at(lock, path):
            raise BlockingIOError
    except OSError:
        os.close(lock)
        raise BadInput(
            f"another attnlab (pid {_noted(_note(path))}) is writing {path}; wait until it has "
            "ended, or use another --out"
        ) from None
    _leave_note(_note(path))
    return lock


def _is_at(lock: int, path: Path) -> bool:
    """Whether the open file is still the one that the path names."""
    try:
        return os.path.samestat(os.fstat(lock), os.stat(path))
    except OSError:
        return False


def _note(path: Path) -> Path:
    return path.with_name("ledger.lock")


def _noted(note: Path) -> str:
    """The pid in a note; `unknown` if there is none, or the file is something else."""
    try:
        if not stat.S_ISREG(note.lstat().st_mode):
            return "unknown"
        text = note.read_bytes()[:32].strip()
    except OSError:
        return "unknown"
    return text.decode() if text.isdigit() else "unknown"


def _leave_note(note: Path) -> None:
    """Write our pid for whoever is refused; a file that is no such note is left as it is."""
    with contextlib.suppress(OSError):
        if os.path.lexists(note) and _noted(note) == "unknown":
            return
        # Beside and renamed: a link in this place is replaced, never followed.
        beside = note.with_name(f".{note.name}.{os.getpid()}")
        beside.write_text(str(os.getpid()))
        beside.replace(note)


def _unused(path: Path) -> Path:
    """A name beside the path that nobody has."""
    names = (path.with_name(f"{path.stem}-saved-{n}{path.suffix}") for n in range(1, 10_000))
    return next(name for name in names if not os.path.lexists(name))


def _connect(path: Path, options: str) -> sqlite3.Connection:
    uri = f"{path.resolve().as_uri()}?{options}"
    db = sqlite3.connect(uri, uri=True, timeout=BUSY_SECONDS, check_same_thread=True)
    try:
        return _accepted(db, path, writable=options == "mode=rwc")
    except BaseException:
        db.close()
        raise


def _accepted(db: sqlite3.Connection, path: Path, *, writable: bool) -> sqlite3.Connection:
    """The connection, if it is to a ledger of a format that we read; a new file is made one."""
    application = db.execute("PRAGMA application_id").fetchone()[0]
    empty = application == 0 and not db.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()[0]
    if writable and empty:
        db.execute("PRAGMA journal_mode=WAL")
        # One transaction: a kill leaves either a whole ledger or an empty file, taken up next time.
        marks = f"PRAGMA application_id={APPLICATION}; PRAGMA user_version={SCHEMA};"
        db.executescript(f"BEGIN; {ledger_rows.TABLES} {marks} COMMIT;")
        return db
    if application != APPLICATION:
        whose = "an empty file" if empty else "an SQLite file of another program"
        raise BadInput(
            f"{path} is {whose}, not an attnlab ledger; nothing was changed; use another --out"
        )
    schema = db.execute("PRAGMA user_version").fetchone()[0]
    if schema != SCHEMA and schema not in MIGRATIONS:
        raise BadInput(
            f"{path} has ledger format {schema}, this attnlab reads format {SCHEMA}; use the "
            "attnlab that wrote it, or another --out"
        )
    problem = db.execute("PRAGMA quick_check(1)").fetchone()[0]
    if problem != "ok":
        raise sqlite3.DatabaseError(problem)
    if schema != SCHEMA:
        db = _migrated(db, schema, in_place=writable)
    ledger_rows.check(db, path)
    return db


def _migrated(db: sqlite3.Connection, schema: int, *, in_place: bool) -> sqlite3.Connection:
    """The ledger in today's format: the file's own, or for a reader a copy in memory."""
    if not in_place:
        copy = sqlite3.connect(":memory:")
        db.backup(copy)
        db.close()
        db = copy
    steps = "".join(MIGRATIONS[n] for n in range(schema, SCHEMA))
    db.executescript(f"BEGIN; {steps} PRAGMA user_version={SCHEMA}; COMMIT;")
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
