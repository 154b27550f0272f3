import os
import sqlite3

import pytest

from attnlab.core import BadInput
from attnlab.lab import fingerprint, ledger, payload, plan
from attnlab.lab.ledger import reading, writing


@pytest.fixture
def tasks():
    return plan.tasks_for(["toy.descent"], plan.Request("smoke"))


def test_saved_records_come_back_in_the_designs_order(tmp_path, tasks):
    with writing(tmp_path) as book:
        for task in reversed(tasks[:3]):
            book.save(task, payload.encode({"x": float(task.seed)}), "", 1.5)
    with reading(tmp_path) as book:
        records = book.records(tasks[:5])
        assert [r.seed for r in records] == [0, 1, 2]
        assert [r["x"] for r in records] == [0, 1, 2]
        assert (records.missing, records.failed) == (2, 0)
        assert book.mean_seconds(tasks[0]) == 1.5
        assert book.summary()[0].runs == 3


def test_failed_runs_are_counted_and_other_attempts_are_not_failures(tmp_path, tasks):
    with writing(tmp_path) as book:
        book.add_attempt(tasks[0], "exception", "first")
        assert book.records(tasks[:1]).missing == 1
        book.add_attempt(tasks[0], "exception", "second")
        book.add_attempt(tasks[0], "failed", "given up")
        records = book.records(tasks[:2])
        assert (records.failed, records.missing) == (1, 1)
        assert book.summary()[0].attempts == {"exception": 2}


def test_rows_of_other_code_or_stack_stay_and_are_stale(tmp_path, tasks, monkeypatch):
    with writing(tmp_path) as book:
        book.save(tasks[0], payload.encode({"x": 1.0}), "", 1.0)
        monkeypatch.setattr(fingerprint, "stack", lambda: "jax=another")
        assert book.finished(tasks) == set()
        book.save(tasks[0], payload.encode({"x": 2.0}), "", 1.0)
        assert book.records(tasks[:1])[0]["x"] == 2.0
        row = book.summary()[0]
        assert (row.current, row.stale) == (1, 1)
        monkeypatch.undo()
        assert book.records(tasks[:1])[0]["x"] == 1.0


def test_a_finished_record_is_never_overwritten(tmp_path, tasks):
    with writing(tmp_path) as book:
        book.save(tasks[0], payload.encode({"x": 1.0}), "", 1.0)
    with pytest.raises(BadInput), writing(tmp_path) as book:
        book.save(tasks[0], payload.encode({"x": 2.0}), "", 1.0)
    with reading(tmp_path) as book:
        assert book.records(tasks[:1])[0]["x"] == 1.0


def test_second_writer_is_refused_with_the_pid_and_readers_are_free(tmp_path):
    with writing(tmp_path):
        with pytest.raises(BadInput, match=f"pid {os.getpid()}"), writing(tmp_path):
            pass
        with reading(tmp_path) as book:
            assert book.last_request() is None
    with writing(tmp_path):
        pass


def test_no_ledger(tmp_path):
    with pytest.raises(BadInput, match="there is no ledger"), reading(tmp_path):
        pass


@pytest.mark.parametrize("opener", [reading, writing])
def test_corrupt_file_is_left_alone(tmp_path, opener):
    path = ledger.path_of(tmp_path)
    path.write_bytes(b"not a database, but somebody's file" * 100)
    before = path.read_bytes()
    with pytest.raises(BadInput, match="damaged or not a ledger"), opener(tmp_path):
        pass
    assert path.read_bytes() == before


@pytest.mark.parametrize("opener", [reading, writing])
def test_truncated_ledger_is_refused(tmp_path, tasks, opener):
    with writing(tmp_path) as book:
        for task in tasks:
            book.save(task, payload.encode({"x": [1.0] * 2000}), "", 1.0)
    path = ledger.path_of(tmp_path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(BadInput, match="damaged"), opener(tmp_path):
        pass


@pytest.mark.parametrize("opener", [reading, writing])
def test_another_programs_database_is_left_alone(tmp_path, opener):
    path = ledger.path_of(tmp_path)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE theirs(x)")
    db.close()
    before = path.read_bytes()
    with pytest.raises(BadInput, match="another program"), opener(tmp_path):
        pass
    assert path.read_bytes() == before


def test_a_newer_format_is_refused(tmp_path):
    with writing(tmp_path):
        pass
    with sqlite3.connect(ledger.path_of(tmp_path)) as db:
        db.execute("PRAGMA user_version=99")
    db.close()
    with pytest.raises(BadInput, match="format 99"), writing(tmp_path):
        pass


def test_a_ledger_cut_short_before_its_tables_were_made_is_taken_up(tmp_path):
    db = sqlite3.connect(ledger.path_of(tmp_path))
    db.execute("PRAGMA journal_mode=WAL")
    db.close()
    with writing(tmp_path) as book:
        assert book.summary() == []


def test_a_changed_payload_is_noticed(tmp_path, tasks):
    with writing(tmp_path) as book:
        book.save(tasks[0], payload.encode({"x": 1.0}), "", 1.0)
    with sqlite3.connect(ledger.path_of(tmp_path)) as db:
        db.execute("UPDATE record SET payload=?", (payload.encode({"x": 2.0}),))
    db.close()
    with pytest.raises(BadInput, match="does not match its digest"), reading(tmp_path) as book:
        book.records(tasks[:1])


def test_unwritable_folder(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(BadInput, match="cannot write in"), writing(tmp_path / "file"):
        pass


def test_odd_folder_names(tmp_path):
    with writing(tmp_path / "50% of # runs?"):
        pass
    with reading(tmp_path / "50% of # runs?") as book:
        assert book.summary() == []
