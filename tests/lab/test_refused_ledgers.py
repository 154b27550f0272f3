"""A ledger that is refused is given back: no connection, descriptor or lock stays with us."""

import fcntl
import gc
import os
import sqlite3
import sys
import warnings

import pytest

from attnlab.core import BadInput
from attnlab.lab import ledger, ledger_file, ledger_rows, merging, payload, plan
from attnlab.lab.ledger import reading, writing

BAD_ROW = "UPDATE record SET seed='words' WHERE rowid=2"


@pytest.fixture
def tasks():
    return plan.tasks_for(["toy.descent"], plan.Request("smoke"))


def altered(path, *statements):
    db = sqlite3.connect(path)
    for statement in statements:
        db.execute(statement)
    db.commit()
    db.close()


def overwritten(path, start, data):
    with path.open("r+b") as file:
        file.seek(start)
        file.write(data)


def replaced_by_sqlite(path):
    path.unlink()
    altered(path, "CREATE TABLE theirs(x)")


def replaced_by_folder(path):
    path.unlink()
    path.mkdir()


def replaced_by_loop(path):
    path.unlink()
    path.symlink_to(path)


def without_tables(path):
    path.unlink()
    altered(
        path,
        f"PRAGMA application_id={ledger_file.APPLICATION}",
        f"PRAGMA user_version={ledger_file.SCHEMA}",
    )


REFUSED = {
    "text": lambda path: path.write_bytes(b"precious" * 100),
    "folder": replaced_by_folder,
    "loop": replaced_by_loop,
    "another program's": replaced_by_sqlite,
    "later format": lambda path: altered(path, "PRAGMA user_version=99"),
    "unknown format": lambda path: altered(path, "PRAGMA user_version=0"),
    "no tables": without_tables,
    "a table fewer": lambda path: altered(path, "DROP TABLE attempt"),
    "a column fewer": lambda path: altered(path, "ALTER TABLE request DROP COLUMN scale"),
    "cut short": lambda path: os.truncate(path, 6000),
    "damaged page": lambda path: overwritten(path, 4096 * 2, b"\xff" * 4096),
    "damaged header": lambda path: overwritten(path, 30, b"\xff" * 40),
    "damaged row": lambda path: altered(path, BAD_ROW),
    "damaged row of an earlier format": lambda path: altered(path, BAD_ROW),
    "earlier format that cannot be carried over": lambda path: None,
    "damaged payload": lambda path: altered(path, "UPDATE record SET payload=x'00'"),
}


class Counted(sqlite3.Connection):
    """A connection that is remembered."""

    opened: list[sqlite3.Connection]

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.opened.append(self)


@pytest.fixture
def nothing_left(monkeypatch):
    """After the test every connection is closed, and no descriptor is open that was not before.

    From Python 3.13 on a connection that nobody closed also warns when it is collected.
    """
    Counted.opened = []
    connect, complaints = sqlite3.connect, []

    def counted(*arguments, **options):
        return connect(*arguments, **{"factory": Counted, **options})

    gc.collect()
    before = sorted(os.listdir("/proc/self/fd"))
    with monkeypatch.context() as patch:
        patch.setattr(sqlite3, "connect", counted)
        yield
    patch = pytest.MonkeyPatch()
    patch.setattr(sys, "unraisablehook", lambda problem: complaints.append(str(problem.exc_value)))
    assert Counted.opened
    for db in Counted.opened:
        with pytest.raises(sqlite3.ProgrammingError, match="closed"):
            db.execute("SELECT 1")
    Counted.opened.clear()
    db = None
    with warnings.catch_warnings():
        warnings.simplefilter("error", ResourceWarning)
        gc.collect()
    patch.undo()
    assert complaints == []
    assert sorted(os.listdir("/proc/self/fd")) == before


@pytest.mark.parametrize("use", ["read", "write", "merge"])
@pytest.mark.parametrize("kind", REFUSED)
def test_a_refused_ledger_is_closed(tmp_path, tasks, monkeypatch, kind, use, nothing_left):
    path = ledger.path_of(tmp_path / "a")
    for name in "ab":
        with writing(tmp_path / name) as book:
            for task in tasks[:4]:
                book.save(task, payload.encode({"x": [1.0] * 2000}), "", 1.0)
    REFUSED[kind](path)
    if "earlier format" in kind:
        fails = "cannot" in kind
        step = "nonsense;" if fails else "ALTER TABLE request ADD COLUMN note TEXT;"
        today = ledger_file.SCHEMA
        monkeypatch.setattr(ledger_file, "SCHEMA", today + 1)
        monkeypatch.setattr(ledger_file, "MIGRATIONS", {today: step})

    def used():
        if use == "merge":
            merging.merge([tmp_path / "b", tmp_path / "a"], tmp_path / "c")
        with (reading if use == "read" else writing)(tmp_path / "a") as book:
            book.records(tasks[:4])

    with pytest.raises(BadInput):
        used()
    assert not (tmp_path / "c").exists()
    if path.is_file():
        with path.open() as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)


@pytest.mark.parametrize("kind", ["empty", "locked", "replaced", "deleted on a full disk"])
def test_a_ledger_that_is_given_up_later_is_closed(
    tmp_path, tasks, monkeypatch, kind, nothing_left
):
    path = ledger.path_of(tmp_path)

    def full(db, place):
        raise sqlite3.OperationalError("database or disk is full")

    def given_up():
        if kind == "empty":
            with writing(tmp_path / "any"):
                pass
            path.touch()
            with reading(tmp_path):
                pass
        with writing(tmp_path) as book:
            book.add_attempt(tasks[0], "killed", "a reason")
            if kind == "locked":
                with writing(tmp_path):
                    pass
            path.unlink()
            if kind == "replaced":
                path.write_text("somebody's")
            else:
                monkeypatch.setattr(ledger_file, "_copied", full)
            book.keep()

    with pytest.raises(BadInput):
        given_up()


def test_each_table_is_checked():
    """A table that is added must be among those whose rows are checked."""
    db = sqlite3.connect(":memory:")
    db.executescript(ledger_rows.TABLES)
    tables = {name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type='table'")}
    columns = {t: [row[1] for row in db.execute(f"PRAGMA table_info({t})")] for t in tables}
    db.close()
    assert columns == {table: list(names) for table, names in ledger_rows.COLUMNS.items()}
