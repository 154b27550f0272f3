"""A full disk: a sentence, nothing half-written, nothing lost that was there before."""

import os
import resource
import shutil
import tempfile

import pytest

from attnlab.core import BadInput
from attnlab.lab import ledger, ledger_file, ledger_lock, merging, payload, plan
from attnlab.lab.files import replace_by, replace_file
from attnlab.lab.ledger import reading, writing


@pytest.fixture
def tasks():
    return plan.tasks_for(["toy.descent"], plan.Request("smoke"))


@pytest.fixture
def temporary(tmp_path, monkeypatch):
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


def save(book, tasks):
    for task in tasks:
        book.save(task, payload.encode({"x": float(task.seed), "y": [1.0] * 500}), "", 1.0)


def names(folder):
    return sorted(p.name for p in folder.iterdir())


@pytest.mark.parametrize("how", ["file too large", "no page left"])
def test_what_was_saved_before_stays_and_the_next_command_goes_on(tmp_path, tasks, how, full_disk):
    def filled():
        with writing(tmp_path) as book:
            save(book, tasks[:3])
            if how == "no page left":  # SQLite then says what it says of a full disk
                book._db.execute("PRAGMA max_page_count=1")
                save(book, tasks[3:])
            with full_disk(4096):
                save(book, tasks[3:])

    with pytest.raises(BadInput, match=r"cannot use .*ledger\.sqlite: .*free space"):
        filled()
    with writing(tmp_path) as book:
        assert len(book.records(tasks)) == 3
        save(book, tasks[3:])
    with reading(tmp_path) as book:
        assert len(book.records(tasks)) == len(tasks)


@pytest.mark.parametrize("size", [0, 100, 5000])
def test_no_half_ledger_is_begun(tmp_path, size, full_disk):
    with full_disk(size), pytest.raises(BadInput, match="free space"), writing(tmp_path):
        pass
    assert [name for name in names(tmp_path) if name != "ledger.lock"] == []
    with writing(tmp_path):
        pass


def test_no_half_note_is_left(tmp_path, full_disk):
    note = tmp_path / "ledger.lock"
    with full_disk(0):
        ledger_lock._leave_note(note)
    assert names(tmp_path) == []
    ledger_lock._leave_note(note)
    assert note.read_text() == str(os.getpid())


@pytest.mark.parametrize("nowhere", [False, True])
def test_a_deleted_ledger_is_put_back_once_there_is_room(
    tmp_path, tasks, temporary, nowhere, full_disk
):
    folder = tmp_path / "results"
    if nowhere:
        temporary.rmdir()

    def deleted():
        with writing(folder) as book:
            save(book, tasks[:5])
            shutil.rmtree(folder)
            with full_disk(4096):
                try:
                    book.keep()
                finally:
                    assert names(folder) == []
                    assert nowhere or names(temporary) == []

    pattern = "deleted while it was written and cannot be put back .*free some space"
    with pytest.raises(BadInput, match=pattern):
        deleted()
    # The end of the command has tried once more.
    with reading(folder) as book:
        assert len(book.records(tasks)) == 5


def test_a_deleted_ledger_without_a_place_is_saved_among_the_temporary_files(
    tmp_path, tasks, temporary
):
    folder = tmp_path / "results"

    def replaced():
        with writing(folder) as book:
            save(book, tasks[:5])
            shutil.rmtree(folder)
            folder.write_text("in the way")
            book.keep()

    with pytest.raises(BadInput, match=r"nothing is lost: its runs are in .*attnlab-saved-"):
        replaced()
    assert folder.read_text() == "in the way"
    (saved,) = temporary.iterdir()
    assert saved.stat().st_mode & 0o777 == 0o700
    with writing(saved) as book:
        assert len(book.records(tasks)) == 5


def test_no_half_merged_ledger(tmp_path, tasks, full_disk):
    for name, part in (("a", tasks[:10]), ("b", tasks[10:])):
        with writing(tmp_path / name) as book:
            save(book, part)
    for size in (0, 5000, 60_000):
        with full_disk(size), pytest.raises(BadInput, match="free space"):
            merging.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
        assert names(tmp_path) == ["a", "b"]
    merging.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    with reading(tmp_path / "c") as book:
        assert len(book.records(tasks)) == len(tasks)


@pytest.mark.parametrize("how", ["file too large", "no space"])
def test_a_file_is_replaced_whole_or_not_at_all(tmp_path, how, full_disk):
    path = tmp_path / "figure.svg"
    path.write_text("the earlier one")
    if how == "no space":
        (tmp_path / f".{os.getpid()}.{path.name}").symlink_to("/dev/full")
    with (
        full_disk(1000 if how == "file too large" else resource.RLIM_INFINITY),
        pytest.raises(BadInput, match=r"cannot write .*figure\.svg: .*free some space"),
    ):
        replace_file(path, b"x" * 5000)
    assert path.read_text() == "the earlier one"
    assert names(tmp_path) == ["figure.svg"]
    replace_file(path, b"x" * 5000)
    assert path.read_bytes() == b"x" * 5000


def test_what_another_library_writes_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "new" / "table.csv"

    def half(beside):
        assert beside.suffix == ".csv"  # by which libraries tell the format
        beside.write_text("half of it")
        raise OSError("the library's own words")  # without a number or a name

    with pytest.raises(BadInput, match=r"table\.csv: the library's own words; free some space"):
        replace_by(path, half)
    assert names(path.parent) == []
    replace_by(path, lambda beside: beside.write_text("all of it"))
    assert path.read_text() == "all of it"
    assert names(path.parent) == ["table.csv"]


def test_an_interrupted_writing_leaves_nothing(tmp_path, monkeypatch):
    def interrupt(descriptor):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        replace_file(tmp_path / "page.html", b"x")
    assert names(tmp_path) == []


def test_a_log_that_cannot_be_read_is_not_passed_over(tmp_path, tasks, monkeypatch):
    """A reader without room for SQLite's shared memory would see the ledger without its log."""
    connect = ledger_file._connect

    def refusing(path, options):
        if options == "mode=ro":
            raise ledger_file.sqlite3.OperationalError("unable to open database file")
        return connect(path, options)

    with writing(tmp_path) as book:
        save(book, tasks[:2])
        with monkeypatch.context() as patch:
            patch.setattr(ledger_file, "_connect", refusing)
            pattern = r"newest runs .*ledger\.sqlite-wal"
            with pytest.raises(BadInput, match=pattern), reading(tmp_path):
                pass
    assert not os.path.exists(f"{ledger.path_of(tmp_path)}-wal")
    monkeypatch.setattr(ledger_file, "_connect", refusing)
    with reading(tmp_path) as book:
        assert len(book.records(tasks)) == 2
