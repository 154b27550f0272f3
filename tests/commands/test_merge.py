"""`attnlab merge`: the results of array jobs, each with a ledger of its own."""

import re
import shutil
import sqlite3

import pytest

SMOKE = ("--scale", "smoke")


@pytest.fixture(scope="module")
def jobs(attnlab, tmp_path_factory):
    """Two jobs that share some runs, one with a failed run."""
    folder = tmp_path_factory.mktemp("jobs")
    attnlab("check", "toy.lemma_1", *SMOKE, "--out", folder / "a")
    attnlab("check", "toy.lemma_1", "toy.theorem_3", *SMOKE, "--out", folder / "b")
    attnlab("check", "toy.theorem_3", *SMOKE, "--set", "fault=exception", "--out", folder / "b")
    return folder


@pytest.fixture
def copy(jobs, tmp_path):
    for name in "ab":
        shutil.copytree(jobs / name, tmp_path / name)
    return tmp_path


def altered(folder, statement, *values):
    db = sqlite3.connect(folder / "ledger.sqlite")
    with db:
        db.execute(statement, values)
    db.close()


def test_merged_results_are_those_of_one_folder(attnlab, copy):
    done = attnlab("merge", copy / "a", copy / "b", "--out", copy / "c")
    b = {row["study"]: row for row in attnlab("ledger", copy / "b", "--json").json}
    total = sum(row["current"] for row in b.values())
    shared = b["toy.descent"]["current"]
    assert done.out == (
        f"{total} records of 2 ledgers in {copy / 'c' / 'ledger.sqlite'}; {shared} were repeated\n"
    )
    assert done.err == ""
    assert f"{total} equal, 0 different" in attnlab("diff", copy / "b", copy / "c").out
    c = {row["study"]: row for row in attnlab("ledger", copy / "c", "--json").json}
    assert c["toy.overshoot"] == b["toy.overshoot"]
    assert c["toy.overshoot"]["attempts"] == {"exception": 2}
    assert c["toy.descent"]["runs"] == 2 * shared
    failures = attnlab("ledger", copy / "c", "--failures", "--json").json
    assert failures == attnlab("ledger", copy / "b", "--failures", "--json").json
    again = attnlab("check", "toy.theorem_3", *SMOKE, "--out", copy / "c")
    assert "4 runs: 4 in the ledger, 0 to make" in again.err
    attnlab("report", copy / "c")


def test_the_same_again_is_refused(attnlab, copy):
    attnlab("merge", copy / "a", copy / "b", "--out", copy / "c")
    before = (copy / "c" / "ledger.sqlite").read_bytes()
    done = attnlab("merge", copy / "a", copy / "b", "--out", copy / "c", expect=2)
    assert "is there already" in done.err
    assert (copy / "c" / "ledger.sqlite").read_bytes() == before


REFUSED = {
    "nothing": (["--out", "c"], "no folder was given"),
    "one": (["a", "--out", "c"], "name two or more"),
    "the same": (["a", "b", "a", "--out", "c"], "are the same ledger; name each once"),
    "missing": (["a", "nowhere", "--out", "c"], "there is no ledger in .*nowhere"),
    "into one of them": (["a", "b", "--out", "b"], "is there already"),
    "too long": (["a", "b", "--out", "x" * 300], "File name too long"),
    "nowhere": (["a", "b"], "--out"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(attnlab, copy, case):
    arguments, pattern = REFUSED[case]
    words = [word if word.startswith("--") else copy / word for word in arguments]
    done = attnlab("merge", *words, expect=2)
    assert re.search(pattern, done.err), done.err
    assert done.out == ""
    assert sorted(p.name for p in copy.iterdir()) == ["a", "b"]


def test_a_damaged_payload_is_named_with_its_row(attnlab, copy):
    altered(copy / "b", "UPDATE record SET payload=x'80' WHERE rowid=3")
    done = attnlab("merge", copy / "a", copy / "b", "--out", copy / "c", expect=2)
    assert "row 3 of the table record" in done.err
    assert "does not match its digest" in done.err
    assert not (copy / "c").exists()


def test_records_that_differ(attnlab, copy):
    import hashlib

    data = b"\x80"  # a record of no values, under its right digest
    digest = hashlib.sha256(b"\0" + data).hexdigest()
    altered(copy / "b", "UPDATE record SET payload=?, digest=? WHERE rowid=3", data, digest)
    command = ("merge", copy / "a", copy / "b", "--out", copy / "c")
    done = attnlab(*command, expect=2)
    assert re.search(r"differ in toy\.\w+ seed \d+ .*--prefer-first", done.err)
    assert not (copy / "c").exists()
    done = attnlab(*command, "--prefer-first")
    assert "1 records differed; those of the ledger named first were taken" in done.err
    only = attnlab("diff", copy / "a", copy / "c", expect=1).out
    assert "differs:" not in only
