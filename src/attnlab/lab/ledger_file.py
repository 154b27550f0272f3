"""The ledger's file: opened, locked for one writer, checked, kept in its place, or made whole."""

import contextlib
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from attnlab.core import BadInput
from attnlab.lab import ledger_rows
from attnlab.lab.ledger_lock import is_at, locked, writable

APPLICATION = 0x61746E6C  # "atnl", in the SQLite header
SCHEMA = 2
MIGRATIONS: dict[int, str] = {
    1: "ALTER TABLE record ADD COLUMN preparing REAL NOT NULL DEFAULT 0;",
}
"""For each earlier format, the SQL that turns it into the next one."""
BUSY_SECONDS = 30
AGAIN = "free some space and give the same command again: it makes the runs that are missing"


class LedgerFile:
    """An open ledger's database, and its lock if this process writes it."""

    def __init__(self, path: Path, db: sqlite3.Connection, lock: int | None = None):
        self.path = path
        self.db = db
        self._lock = lock
        self._log = _file_of_log(path)

    def keep(self) -> None:
        """Put the file back if somebody has deleted it: this process still has all of it.

        Raises BadInput if another file has taken its place, or there is no room in it; ours is
        then saved elsewhere.
        """
        if self._lock is None:
            return
        if is_at(self._lock, self.path):
            if self._log is not None and self._log != _file_of_log(self.path):
                self._renew_log()
            return
        # Not before it is all in a file again may the connection, the last hold on it, be closed.
        saved = self._saved()
        self.close()
        with _explained(self.path):
            self._put_back(saved)

    def _saved(self) -> Path:
        """A new file with all of the ledger: beside its place or, without room there, elsewhere."""
        lost = f"{self.path} was deleted while it was written and cannot be put back"
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            return _copied(self.db, _unused(self.path))
        except (OSError, sqlite3.Error) as error:
            reason = str(error)
        try:
            folder = Path(tempfile.mkdtemp(prefix="attnlab-saved-"))
        except OSError as error:
            raise BadInput(f"{lost} ({reason}, {error}); {AGAIN}") from None
        try:
            saved = _copied(self.db, folder / self.path.name)
        except (OSError, sqlite3.Error) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise BadInput(f"{lost} ({reason}; in {folder}: {error}); {AGAIN}") from None
        self.close()
        raise BadInput(
            f"{lost} ({reason}); nothing is lost: its runs are in {saved}; free some space, move "
            f"that file to {self.path} and give the same command again"
        )

    def _put_back(self, saved: Path) -> None:
        if not self.path.exists():
            for ending in ("-wal", "-shm"):  # the deleted file's would be taken for ours
                Path(f"{self.path}{ending}").unlink(missing_ok=True)
        try:
            os.link(saved, self.path)
        except OSError as error:
            taken = isinstance(error, FileExistsError)
            what = "was replaced by another file" if taken else "was deleted"
            raise BadInput(
                f"{self.path} {what} while it was written; nothing is lost: its runs are in "
                f"{saved}; move that as ledger.sqlite into a folder of its own and give the same "
                "command again with that folder as --out"
            ) from None
        saved.unlink()
        self._lock = locked(self.path)
        self._connect_again()

    def _renew_log(self) -> None:
        """After the log was deleted: what it had goes to the file, and what follows to a new log.

        A reader may have made another log in its place already, which nobody writes.
        """
        busy = self.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]
        if not busy:  # else a reader is in the midst of something: next time
            self.db.close()
            self._connect_again()

    def _connect_again(self) -> None:
        try:
            self.db = _connect(self.path, "mode=rwc")
            self.db.execute("PRAGMA journal_mode=WAL")
        except BaseException:
            self.close()
            raise
        self._log = _file_of_log(self.path)

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
            _require_no_log(path)
            db = _connect(path, "immutable=1")
        file = LedgerFile(path, db)
        try:
            yield file
        finally:
            file.close()


@contextmanager
def writing(path: Path) -> Iterator[LedgerFile]:
    """Open (or make) a ledger for writing, as its only writer."""
    lock = locked(path)
    new = os.fstat(lock).st_size == 0
    try:
        with _explained(path):
            file = LedgerFile(path, _connect(path, "mode=rwc"), lock)
    except BaseException:
        if new:  # e.g. on a full disk: half a ledger is of no use to anybody
            _remove(path)
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


@contextmanager
def making(path: Path) -> Iterator[sqlite3.Connection]:
    """A new ledger, written in one transaction beside its place and put there once it is whole."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    new_folder = not os.path.exists(path.parent)
    with writable(path.parent):
        pass
    try:
        with _explained(path):
            db = _connect(beside, "mode=rwc")
            try:
                # Without a log: what is committed is then in the file, or there was an error.
                db.execute("PRAGMA journal_mode=DELETE")
                with db:
                    yield db
                db.execute("PRAGMA journal_mode=WAL")
            finally:
                db.close()
            os.link(beside, path)  # unlike a renaming, it never replaces a file
    except BaseException as error:
        _remove(beside)
        if new_folder:
            with contextlib.suppress(OSError):  # somebody else has put something there
                path.parent.rmdir()
        if isinstance(error, FileExistsError):
            raise BadInput(f"{path} is there already; give another --out") from None
        raise
    _remove(beside)


def _file_of_log(path: Path) -> tuple[int, int] | None:
    """Which file is the database's log; None if there is none."""
    try:
        found = os.stat(f"{path}-wal")
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _remove(path: Path) -> None:
    for ending in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(OSError):
            Path(f"{path}{ending}").unlink()


def _copied(db: sqlite3.Connection, place: Path) -> Path:
    """The place, where all of the database now is; nothing is left there if that fails."""
    try:
        copy = sqlite3.connect(place)
        try:
            db.backup(copy)
        finally:
            copy.close()
    except BaseException:
        _remove(place)
        raise
    return place


def _require_no_log(path: Path) -> None:
    """Refuse a ledger whose newest runs are in a log that cannot be read where it is."""
    log = Path(f"{path}-wal")
    if log.is_file() and log.stat().st_size:
        raise BadInput(
            f"the newest runs of {path} are in {log.name} beside it, which can be read only where "
            "there is room and a right to write; copy the folder to such a place"
        )


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
    try:
        ledger_rows.check(db, path)
    except BaseException:
        db.close()  # it may be a copy that nobody else knows of
        raise
    return db


def _migrated(db: sqlite3.Connection, schema: int, *, in_place: bool) -> sqlite3.Connection:
    """The ledger in today's format: the file's own, or for a reader a copy in memory."""
    steps = "".join(MIGRATIONS[n] for n in range(schema, SCHEMA))
    script = f"BEGIN; {steps} PRAGMA user_version={SCHEMA}; COMMIT;"
    if in_place:
        db.executescript(script)
        return db
    copy = sqlite3.connect(":memory:")
    try:
        db.backup(copy)
        copy.executescript(script)
    except BaseException:
        copy.close()
        raise
    db.close()
    return copy


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
