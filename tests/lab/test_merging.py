"""Ledgers merged into a new one: what is kept, what is refused, and what is left behind."""

import os
import sqlite3

import pytest

from attnlab.core import BadInput
from attnlab.lab import fingerprint, ledger, ledger_rows, merging, payload, plan
from attnlab.lab.ledger import reading, writing
from attnlab.lab.merging import merge


@pytest.fixture
def tasks():
    return plan.tasks_for(["toy.descent"], plan.Request("smoke"))


def save(book, tasks, shift=0.0):
    for task in tasks:
        book.save(task, payload.encode({"x": task.seed + shift}), "", 1.0)


def made(folder, tasks, shift=0.0):
    with writing(folder) as book:
        save(book, tasks, shift)
    return folder


def altered(folder, statement, *values):
    db = sqlite3.connect(ledger.path_of(folder))
    with db:
        db.execute(statement, values)
    db.close()


def rows(folder, table):
    with reading(folder) as book:
        return [row for _, row in book.rows(table)]


def files(folder):
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


# --- what is kept ---


def test_the_merged_ledger_holds_the_records_of_all(tmp_path, tasks):
    parts = [made(tmp_path / "a", tasks[:8]), made(tmp_path / "b", tasks[4:12])]
    parts.append(made(tmp_path / "c", tasks[10:]))
    merged = merge(parts, tmp_path / "new" / "all")
    assert merged.path == tmp_path / "new" / "all" / "ledger.sqlite"
    assert (merged.records, merged.repeated, merged.differing) == (len(tasks), 6, 0)
    assert files(tmp_path / "new") == ["all/ledger.sqlite"]
    with writing(tmp_path / "new" / "all") as book:  # an ordinary ledger from here on
        assert [r["x"] for r in book.records(tasks)] == [task.seed for task in tasks]
        assert book._db.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert book.finished(tasks) == {task.identity for task in tasks}


def test_every_column_of_a_row_is_carried_over(tmp_path, tasks):
    with writing(tmp_path / "a") as book:
        book.save(tasks[0], payload.encode({"x": 1.0}), "it grew", 2.5)
        book.add_request("check", ["toy"], plan.Request("smoke", 3, {"eta": "0.1"}))
    made(tmp_path / "b", tasks[1:2])
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    for table in ledger_rows.COLUMNS:
        both = rows(tmp_path / "a", table) + rows(tmp_path / "b", table)
        assert rows(tmp_path / "c", table) == sorted(both, key=lambda row: row.get("finished", ""))
    with reading(tmp_path / "c") as book:
        (record,) = book.records(tasks[:1])
        assert (record.diverged, record.seconds) == ("it grew", 2.5)
        assert book.last_request().seed == 3


def test_attempts_of_both_are_counted_each_once(tmp_path, tasks):
    with writing(tmp_path / "a") as book:
        for _ in range(2):  # twice within a second
            book.add_attempt(tasks[0], "killed", "SIGKILL")
        book.add_attempt(tasks[1], "exception", "a reason")
        book.add_attempt(tasks[1], "failed", "given up")
    with writing(tmp_path / "b") as book:
        book.add_attempt(tasks[2], "timeout", "slow")
        save(book, tasks[1:2])
    merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    # A ledger that is in the other already adds nothing.
    merge([tmp_path / "c", tmp_path / "a"], tmp_path / "d")
    for name in "cd":
        with reading(tmp_path / name) as book:
            (row,) = book.summary()
            assert row.attempts == {"killed": 2, "exception": 1, "timeout": 1}
            assert (row.current, row.runs) == (1, 1)
            assert book.has_failed(tasks[1])
            records = book.records(tasks[:3])
            assert (len(records), records.failed, records.missing) == (1, 0, 2)


def test_stale_rows_stay_and_the_newest_is_last(tmp_path, tasks, monkeypatch):
    made(tmp_path / "new", tasks[:2], shift=1.0)
    with monkeypatch.context() as patch:
        patch.setattr(fingerprint, "stack", lambda: "jax=another")
        made(tmp_path / "old", tasks[:2])
    altered(tmp_path / "old", "UPDATE record SET finished='2020-01-01T00:00:00+00:00'")
    for number, order in enumerate((("new", "old"), ("old", "new"))):
        out = tmp_path / f"both{number}"
        merged = merge([tmp_path / name for name in order], out)
        assert (merged.records, merged.repeated) == (4, 0)
        with reading(out) as book:
            (row,) = book.summary()
            assert (row.current, row.stale) == (2, 2)
            newest = book.newest_rows()
            assert [newest[t.identity].values["x"] for t in tasks[:2]] == [1.0, 2.0]


def test_a_ledger_that_is_being_written_is_taken_as_it_is(tmp_path, tasks):
    made(tmp_path / "b", tasks[:2])
    with writing(tmp_path / "a") as book:
        save(book, tasks[2:5])
        assert merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c").records == 5
        save(book, tasks[5:6])


def test_what_is_written_during_a_merge_is_all_in_or_all_out(tmp_path, tasks, monkeypatch):
    made(tmp_path / "b", tasks[:2])
    with writing(tmp_path / "a") as book:
        save(book, tasks[2:5])
        overlap = merging._overlap

        def slowly(*arguments):
            found = overlap(*arguments)
            save(book, tasks[5:6])  # after its payload could have been checked
            return found

        monkeypatch.setattr(merging, "_overlap", slowly)
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "c")
    assert [len(rows(tmp_path / "c", t)) for t in ("record", "attempt")] == [5, 5]


# --- what is refused ---


def refused(tmp_path, folders, pattern, out="out", **options):
    before = {f: (tmp_path / f).read_bytes() for f in files(tmp_path) if f.endswith("sqlite")}
    descriptors = len(os.listdir("/proc/self/fd"))
    with pytest.raises(BadInput, match=pattern):
        merge([tmp_path / f for f in folders], tmp_path / out, **options)
    assert len(os.listdir("/proc/self/fd")) == descriptors
    after = {f: (tmp_path / f).read_bytes() for f in files(tmp_path) if f.endswith("sqlite")}
    assert after == before
    assert not [f for f in files(tmp_path) if "/.ledger" in f]
    for folder in folders:  # no lock is held
        if ledger.path_of(tmp_path / folder).is_file() and "damaged" not in folder:
            with writing(tmp_path / folder):
                pass


def test_records_that_differ_are_refused_or_the_first_is_taken(tmp_path, tasks):
    made(tmp_path / "a", tasks[:4])
    made(tmp_path / "b", [*tasks[4:6], tasks[3]])
    altered(tmp_path / "b", "DELETE FROM record WHERE identity=?", tasks[3].identity)
    with writing(tmp_path / "b") as book:
        save(book, tasks[3:4], shift=0.5)
    pattern = r"a/ledger.sqlite and .*b/ledger.sqlite differ in toy.descent seed 3 \{.*although"
    refused(tmp_path, "ab", pattern)
    assert not (tmp_path / "out").exists()
    for order, value in (("ab", 3.0), ("ba", 3.5)):
        merged = merge([tmp_path / f for f in order], tmp_path / order, prefer_first=True)
        assert (merged.records, merged.repeated, merged.differing) == (6, 0, 1)
        with reading(tmp_path / order) as book:
            assert book.records(tasks[3:4])[0]["x"] == value


@pytest.mark.parametrize("part", ["payload", "digest", "diverged"])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_payload_that_does_not_match_its_digest_is_named(tmp_path, tasks, part, repeated):
    made(tmp_path / "a", tasks[:4])
    made(tmp_path / "damaged", tasks[1:4] if repeated else tasks[4:7])
    value = {"payload": payload.encode({"x": 9.0}), "digest": "0" * 64, "diverged": "it grew"}[part]
    altered(tmp_path / "damaged", f"UPDATE record SET {part}=? WHERE rowid=2", value)
    pattern = "row 2 of the table record in .*damaged/ledger.sqlite .* does not match its digest"
    for order in (["a", "damaged"], ["damaged", "a"]):
        refused(tmp_path, order, pattern)
        refused(tmp_path, order, pattern, prefer_first=True)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("table", ["attempt", "request"])
def test_a_damaged_row_of_another_table_is_named(tmp_path, tasks, table):
    made(tmp_path / "a", tasks[:2])
    with writing(tmp_path / "damaged") as book:
        save(book, tasks[2:4])
        book.add_request("check", ["toy"], plan.Request("smoke"))
    altered(tmp_path / "damaged", f"UPDATE {table} SET at=x'fffe' WHERE rowid=1")
    refused(tmp_path, ["a", "damaged"], f"row 1 of the table {table} .* its at is damaged")


def test_what_is_no_ledger(tmp_path, tasks):
    made(tmp_path / "a", tasks[:2])
    (tmp_path / "damaged").mkdir()
    (tmp_path / "damaged" / "ledger.sqlite").write_bytes(b"my thesis" * 100)
    refused(tmp_path, ["a", "missing"], "there is no ledger in .*missing")
    refused(tmp_path, ["missing", "missing"], "there is no ledger in .*missing")
    refused(tmp_path, ["a", "damaged"], "damaged or not a ledger")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "damaged"]


def test_fewer_than_two_and_the_same_twice(tmp_path, tasks):
    made(tmp_path / "a", tasks[:2])
    made(tmp_path / "b", tasks[:2])
    (tmp_path / "link").symlink_to(tmp_path / "a")
    (tmp_path / "hard").mkdir()
    os.link(ledger.path_of(tmp_path / "a"), ledger.path_of(tmp_path / "hard"))
    refused(tmp_path, "", "no folder was given; name two or more")
    refused(tmp_path, "a", "only .*a was given; name two or more")
    for other in ("a", "link", "hard"):
        refused(tmp_path, ["a", "b", other], f"a and .*{other} are the same ledger")
    assert not (tmp_path / "out").exists()


def test_a_target_that_is_there_is_left_alone(tmp_path, tasks):
    made(tmp_path / "a", tasks[:2])
    made(tmp_path / "b", tasks[2:4])
    made(tmp_path / "c", tasks[4:5])
    for out in "abc":
        refused(tmp_path, "ab", "is there already", out=out)
    (tmp_path / "dangling").mkdir()
    (tmp_path / "dangling" / "ledger.sqlite").symlink_to(tmp_path / "nowhere")
    refused(tmp_path, "ab", "is there already", out="dangling")
    (tmp_path / "file").write_text("in the way")
    refused(tmp_path, "ab", "cannot write in .*file", out="file")
    refused(tmp_path, "ab", "cannot write in .*file/below", out="file/below")
    refused(tmp_path, "ab", "cannot write in .*File name too long", out="x" * 300)
    assert (tmp_path / "file").read_text() == "in the way"


def test_a_target_that_appears_meanwhile_is_left_alone(tmp_path, tasks, monkeypatch):
    made(tmp_path / "a", tasks[:2])
    made(tmp_path / "b", tasks[2:4])
    insert = merging._insert

    def slowly(*arguments):
        ledger.path_of(tmp_path / "out").write_text("somebody's")
        return insert(*arguments)

    monkeypatch.setattr(merging, "_insert", slowly)
    with pytest.raises(BadInput, match="is there already"):
        merge([tmp_path / "a", tmp_path / "b"], tmp_path / "out")
    assert ledger.path_of(tmp_path / "out").read_text() == "somebody's"
    assert files(tmp_path / "out") == ["ledger.sqlite"]
