"""What may befall a ledger's file: deleted, replaced, damaged, locked, of an earlier format."""

import contextlib
import os
import shutil
import sqlite3
from pathlib import Path

import pytest

from attnlab.core import BadInput
from attnlab.lab import ledger, ledger_file, ledger_rows, payload, plan
from attnlab.lab.ledger import reading, writing


@pytest.fixture
def tasks():
    return plan.tasks_for(["toy.descent"], plan.Request("smoke"))


def save(book, tasks):
    for task in tasks:
        book.save(task, payload.encode({"x": float(task.seed), "y": [1.0] * 500}), "", 1.0)


def altered(folder, statement, *values):
    with sqlite3.connect(ledger.path_of(folder)) as db:
        db.execute(statement, values)
    db.close()


# --- deleted and replaced ---


@pytest.mark.parametrize("lost", ["file", "file and log", "log", "folder", "moved folder"])
def test_a_deleted_ledger_is_put_back_with_everything(tmp_path, tasks, lost):
    folder = tmp_path / "results"
    path = ledger.path_of(folder)
    with writing(folder) as book:
        book.add_request("check", ["toy"], plan.Request("smoke"))
        save(book, tasks[:5])
        if lost == "moved folder":
            folder.rename(tmp_path / "elsewhere")
        elif lost == "folder":
            shutil.rmtree(folder)
        else:
            if "file" in lost:
                path.unlink()
            if "log" in lost:
                os.unlink(f"{path}-wal")
        save(book, tasks[5:6])  # before it was noticed
        book.keep()
        assert path.is_file()
        save(book, tasks[6:8])
        with pytest.raises(BadInput, match=f"pid {os.getpid()}"), writing(folder):
            pass
        with reading(folder) as other:
            assert len(other.records(tasks)) == 8
    with reading(folder) as book:
        records = book.records(tasks)
        assert len(records) == 8
        assert book.last_request() is not None
        assert records.missing == len(tasks) - 8
    assert not [p for p in folder.iterdir() if "saved" in p.name]


def test_a_deleted_log_in_whose_place_a_reader_has_made_another(tmp_path, tasks):
    folder = tmp_path / "results"
    path = ledger.path_of(folder)
    with writing(folder) as book:
        save(book, tasks[:3])
        os.unlink(f"{path}-wal")
        with contextlib.suppress(BadInput), reading(folder):  # it may have been all in the log
            pass
        Path(f"{path}-wal").touch()
        save(book, tasks[3:4])
        book.keep()
        save(book, tasks[4:5])
        shutil.copytree(folder, tmp_path / "killed")  # what a kill at this moment would leave
        with reading(folder) as other:
            assert len(other.records(tasks)) == 5
    for name in ("killed", "results"):
        with reading(tmp_path / name) as book:
            assert len(book.records(tasks)) == 5


def test_a_ledger_deleted_just_before_the_end_is_put_back(tmp_path, tasks):
    def interrupted():
        with writing(tmp_path) as book:
            save(book, tasks[:3])
            ledger.path_of(tmp_path).unlink()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted()
    with reading(tmp_path) as book:
        assert len(book.records(tasks)) == 3


def test_a_replaced_ledger_is_left_alone_and_ours_is_saved_beside_it(tmp_path, tasks):
    path = ledger.path_of(tmp_path)

    def replaced():
        with writing(tmp_path) as book:
            save(book, tasks[:4])
            path.unlink()
            path.write_bytes(b"somebody's")
            book.keep()

    with pytest.raises(BadInput, match=r"replaced.*nothing is lost.*ledger-saved-1\.sqlite"):
        replaced()
    assert path.read_bytes() == b"somebody's"
    (tmp_path / "own").mkdir()
    (tmp_path / "ledger-saved-1.sqlite").rename(tmp_path / "own" / "ledger.sqlite")
    with writing(tmp_path / "own") as book:
        assert len(book.records(tasks)) == 4
        save(book, tasks[4:5])


def test_a_command_whose_folder_is_deleted_loses_nothing(attnlab, tmp_path):
    """The runner looks at the file between runs."""
    import time

    folder = tmp_path / "out"
    command = ("check", "toy.theorem_3", "--scale", "smoke", "--set", "sleep=2", "--workers", "1")
    process = attnlab.start(*command, "--out", folder)
    path = ledger.path_of(folder)
    end = time.monotonic() + 120
    while not _count(path):
        assert time.monotonic() < end
        time.sleep(0.05)
    shutil.rmtree(folder)
    end = time.monotonic() + 5
    while not path.exists():
        assert time.monotonic() < end, "not noticed"
        time.sleep(0.05)
    _, errors = process.communicate(timeout=240)
    assert process.returncode == 0, errors
    assert _count(path) == 4


def _count(path):
    try:
        db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            return db.execute("SELECT COUNT(*) FROM record").fetchone()[0]
        finally:
            db.close()
    except sqlite3.OperationalError:
        return 0


# --- the lock ---


def test_without_its_note_the_lock_still_holds(tmp_path):
    with writing(tmp_path):
        (tmp_path / "ledger.lock").unlink()
        with pytest.raises(BadInput, match="pid unknown"), writing(tmp_path):
            pass


def test_a_link_in_the_place_of_the_note_is_not_followed(tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("12345")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "ledger.lock").symlink_to(precious)
    (tmp_path / "b").mkdir()
    os.link(precious, tmp_path / "b" / "ledger.lock")
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / f".ledger.lock.{os.getpid()}").symlink_to(precious)
    for name in "abc":
        with writing(tmp_path / name):
            assert precious.read_text() == "12345"
    assert precious.read_text() == "12345"
    assert (tmp_path / "a" / "ledger.lock").is_symlink()


@pytest.mark.parametrize("kind", ["text", "folder", "pipe"])
def test_a_foreign_file_in_the_place_of_the_note_is_left_alone(tmp_path, kind):
    note = tmp_path / "ledger.lock"
    if kind == "text":
        note.write_text("my thesis")
    elif kind == "folder":
        note.mkdir()
    else:
        os.mkfifo(note)
    with writing(tmp_path), pytest.raises(BadInput, match="pid unknown"), writing(tmp_path):
        pass
    if kind == "text":
        assert note.read_text() == "my thesis"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


# --- damaged rows ---

NO_TEXT = "\udcff".encode("utf-8", "surrogateescape")
CASES = [
    (table, column, value)
    for table, columns in ledger_rows.COLUMNS.items()
    for column in columns
    for value in (
        b"\xff\xfe",
        "\udcff".encode("utf-8", "surrogateescape"),
        7,
        "words",
        1e300,
        1e400,
    )
]


def fits(column, value):
    """Whether the value is a damage that nobody could tell from a proper one."""
    if column == "seed":
        return value == 7
    if column in ("seconds", "preparing"):
        return value == 7
    if column == "payload":
        return isinstance(value, bytes)
    # A number in a column of text affinity becomes a text.
    plain = ("ids", "scale", "changes")
    return not isinstance(value, bytes) and column not in plain


@pytest.mark.parametrize(("table", "column", "value"), CASES)
def test_a_damaged_value_is_named_with_its_row(tmp_path, tasks, table, column, value):
    with writing(tmp_path) as book:
        save(book, tasks[:3])
        book.add_attempt(tasks[4], "exception", "a reason")
        book.add_request("check", ["toy"], plan.Request("smoke"))
        book.add_request("check", ["toy"], plan.Request("smoke"))
    altered(tmp_path, f"UPDATE {table} SET {column}=? WHERE rowid=2", value)
    if fits(column, value):
        return
    for opener in (reading, writing):
        pattern = f"row 2 of the table {table} .* its {column} "
        with pytest.raises(BadInput, match=pattern), opener(tmp_path):
            pass


def test_a_text_that_is_not_utf8_is_named_with_its_row(tmp_path, tasks):
    with writing(tmp_path) as book:
        save(book, tasks[:2])
    altered(tmp_path, "UPDATE record SET cell=CAST(x'fffe' AS TEXT) WHERE rowid=1")
    pattern = "row 1 of the table record .* its cell"
    with pytest.raises(BadInput, match=pattern), reading(tmp_path):
        pass


def test_diff_hashes_payloads_again(tmp_path, tasks, attnlab):
    for name in "ab":
        with writing(tmp_path / name) as book:
            save(book, tasks[:3])
    assert "3 equal, 0 different" in attnlab("diff", tmp_path / "a", tmp_path / "b").out
    other = payload.encode({"x": 9.0})
    altered(tmp_path / "b", "UPDATE record SET payload=? WHERE rowid=3", other)
    done = attnlab("diff", tmp_path / "a", tmp_path / "b", expect=2)
    assert "row 3 of the table record" in done.err
    assert "does not match its digest" in done.err


@pytest.mark.parametrize("crafted", [b"", b"\x93\x01\x02\x03", b"\x81\xa1x\x93\xa1?\x01\x01"])
def test_a_crafted_payload_under_its_own_digest_is_named(tmp_path, tasks, crafted):
    with writing(tmp_path) as book:
        save(book, tasks[:2])
    query = "UPDATE record SET payload=?, digest=? WHERE rowid=2"
    altered(tmp_path, query, crafted, payload.digest(crafted, ""))
    pattern = "row 2 of the table record .* cannot be read"
    with pytest.raises(BadInput, match=pattern), reading(tmp_path) as book:
        book.records(tasks[:2])
    with pytest.raises(BadInput, match="row 2"), reading(tmp_path) as book:
        book.newest_rows()


# --- formats, requests ---


@pytest.mark.parametrize("opener", [reading, writing])
def test_an_earlier_format_is_carried_over(tmp_path, tasks, monkeypatch, opener):
    with writing(tmp_path) as book:
        save(book, tasks[:2])
    today = ledger_file.SCHEMA
    steps = {today: "ALTER TABLE request ADD COLUMN note TEXT NOT NULL DEFAULT '';"}
    monkeypatch.setattr(ledger_file, "SCHEMA", today + 1)
    monkeypatch.setattr(ledger_file, "MIGRATIONS", steps)
    with opener(tmp_path) as book:
        assert len(book.records(tasks)) == 2
        book._db.execute("SELECT note FROM request")
    db = sqlite3.connect(ledger.path_of(tmp_path))
    assert db.execute("PRAGMA user_version").fetchone() == (today + (opener is writing),)
    db.close()


@pytest.mark.parametrize("opener", [reading, writing])
def test_a_ledger_of_the_first_format_is_read_and_written(tmp_path, tasks, opener):
    with writing(tmp_path) as book:
        save(book, tasks[:2])
    db = sqlite3.connect(ledger.path_of(tmp_path))
    db.executescript("ALTER TABLE record DROP COLUMN preparing; PRAGMA user_version=1;")
    db.close()
    with opener(tmp_path) as book:
        assert len(book.records(tasks)) == 2
        assert [run.preparing for run in book.timings()] == [0.0, 0.0]
        if opener is writing:
            book.save(tasks[2], payload.encode({"x": 2.0}), "", 3.0, 1.5)
            assert [run.preparing for run in book.timings()] == [0.0, 0.0, 1.5]


def test_a_refused_request_is_not_stored(attnlab, tmp_path):
    pytest.importorskip("distributed")
    command = ("check", "toy.lemma_1", "--scale", "smoke", "--out", tmp_path)
    attnlab(*command, "--workers", "0", expect=2)
    attnlab(*command, "--workers", "100000", expect=2)
    assert not ledger.path_of(tmp_path).exists()
    attnlab(*command, "--dask", "127.0.0.1:1", expect=2)
    with reading(tmp_path) as book:
        assert book.last_request() is None
