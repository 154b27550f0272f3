"""Damaged ledgers: bytes of the file, what is in its place, and crafted rows."""

import os
import re
import shutil
import sqlite3
from pathlib import Path

import msgspec
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from attnlab.lab import payload
from attnlab.lab.ledger_rows import COLUMNS

pytestmark = pytest.mark.soak

CLAIM = ("toy.lemma_1", "--scale", "smoke")
DRAWING = (
    ["run", "toy.figure_1", "--scale", "smoke", "--out", "damaged"],
    ["multiverse", *CLAIM, "--universes", "2", "--out", "damaged"],
    ["report", "damaged"],
)
READING = (
    ["check", *CLAIM, "--out", "damaged"],
    ["check", *CLAIM, "--out", "damaged", "--json", "-", "--robust"],
    ["ledger", "damaged"],
    ["ledger", "damaged", "--json", "-"],
    ["ledger", "damaged", "--failures"],
    ["ledger", "damaged", "--failures", "--json", "-"],
    ["profile", "damaged"],
    ["profile", "damaged", "--json", "-"],
    ["diff", "damaged", "whole"],
    ["diff", "whole", "damaged"],
)
COMMANDS = (*READING * 7, *DRAWING)
"""Those that draw take as long as twenty others: they have a twentieth of the cases."""


@pytest.fixture(scope="module")
def whole(attnlab, tmp_path_factory) -> Path:
    """A small ledger, made by a real command; its runs of one claim are all there."""
    folder = tmp_path_factory.mktemp("whole") / "results"
    attnlab("check", *CLAIM, "--out", folder)
    attnlab(
        "check",
        "toy.theorem_2",
        "--scale",
        "smoke",
        "--set",
        "sleep=-1",
        "--out",
        folder,
        expect=None,
    )
    attnlab("check", *CLAIM, "--out", folder)
    return folder / "ledger.sqlite"


@pytest.fixture(scope="module")
def lax(whole, tmp_path_factory) -> Path:
    """The same, with tables that hold anything, NULL included."""
    path = tmp_path_factory.mktemp("lax") / "ledger.sqlite"
    shutil.copy(whole, path)
    db = sqlite3.connect(path)
    for table in COLUMNS:
        db.execute(f"ALTER TABLE {table} RENAME TO old")
        db.execute(f"CREATE TABLE {table} AS SELECT * FROM old")
        db.execute("DROP TABLE old")
    db.commit()
    db.close()
    return path


def laid_out(fuzz, whole: Path) -> Path:
    """The folders `whole` and `damaged`, and the path of the ledger to be damaged."""
    folder = fuzz.fresh()
    for name in ("whole", "damaged"):
        (folder / name).mkdir()
    shutil.copy(whole, folder / "whole" / "ledger.sqlite")
    return folder / "damaged" / "ledger.sqlite"


# --- the file ---


def flips() -> st.SearchStrategy[list[tuple[float, int]]]:
    """Places in the file, as shares of its length, each with another byte."""
    place = st.floats(0, 1, exclude_max=True) | st.floats(0, 0.01)
    return st.lists(st.tuples(place, st.integers(0, 255)), min_size=1, max_size=30)


def damages() -> st.SearchStrategy[tuple]:
    return st.one_of(
        st.tuples(st.just("flipped"), flips()),
        st.tuples(st.just("flipped"), flips()),
        st.tuples(st.just("cut"), st.floats(0, 1)),
        st.tuples(st.just("longer"), st.binary(max_size=5000)),
        st.tuples(st.just("noise"), st.binary(max_size=200)),
        st.tuples(st.just("header and noise"), st.binary(max_size=200)),
        st.tuples(st.sampled_from(
            ("empty", "other database", "folder", "link", "link to itself", "link to nothing",
             "link to a folder", "link to noise", "missing", "log of noise", "unreadable")
        )),
    )  # fmt: skip


def damage(path: Path, whole: Path, how: str, *more) -> None:
    data = whole.read_bytes()
    if how == "flipped":
        changed = bytearray(data)
        for place, byte in more[0]:
            changed[int(place * len(data))] = byte
        path.write_bytes(changed)
    elif how == "cut":
        path.write_bytes(data[: int(more[0] * len(data))])
    elif how == "longer":
        path.write_bytes(data + more[0])
    elif how in ("noise", "header and noise"):
        path.write_bytes((data[:100] if "header" in how else b"") + more[0])
    elif how == "empty":
        path.write_bytes(b"")
    elif how == "other database":
        db = sqlite3.connect(path)
        db.execute("CREATE TABLE record(a, b)")
        db.commit()
        db.close()
    elif how == "folder":
        path.mkdir()
    elif how == "log of noise":
        path.write_bytes(data)
        path.with_name("ledger.sqlite-wal").write_bytes(b"\x37\x7f\x06\x82" + data[:4000])
    elif how == "unreadable":
        path.write_bytes(data)
        path.chmod(0)
    elif how.startswith("link"):
        noise = path.with_name("noise")
        noise.write_bytes(b"precious" * 99)
        targets = {"link": whole, "link to itself": path, "link to a folder": path.parent}
        path.symlink_to({**targets, "link to noise": noise}.get(how, path.with_name("nothing")))


def test_files(fuzz, shares, whole):
    @shares.of("ledger files")
    @given(damages(), st.sampled_from(COMMANDS))
    def run(how, command):
        path = laid_out(fuzz, whole)
        here = fuzz.folder / "whole" / "ledger.sqlite"
        damage(path, here, *how)
        before = path.read_bytes() if path.is_file() and how[0] != "link to noise" else b""
        done = fuzz("ledger files", command)
        if done.code == 2 and before:
            assert path.read_bytes() == before
        noise = path.with_name("noise")
        assert not noise.exists() or noise.read_bytes() == b"precious" * 99

    run()
    shares.reached("ledger files")


@pytest.mark.parametrize("command", [READING[0], READING[2], *READING[-2:], *DRAWING], ids=" ".join)
def test_a_pipe_in_the_place_of_a_ledger(attnlab, whole, tmp_path, command):
    """In a process of its own: no alarm of ours rings while SQLite waits for a pipe."""
    (tmp_path / "damaged").mkdir()
    shutil.copytree(whole.parent, tmp_path / "whole")
    os.mkfifo(tmp_path / "damaged" / "ledger.sqlite")
    words = [str(tmp_path / w) if w in ("damaged", "whole") else w for w in command]
    done = attnlab(*words, expect=2)
    assert "ledger" in done.err


# --- the rows ---

NUMBERS = ("seed", "seconds")
WORDS = (
    None, 0, -1, 1.5, 2**63 - 1, -(2**63), 1e308, float("inf"), "", " ", "x" * 300, "toy.lemma_1",
    "toy", "nothing", "[/b]", "[bold]", "\x1b[31m", "a\0b", "ü", "[]", "{}", "[1]", '["toy"]',
    '["nothing"]', '{"eta": "1e308"}', '{"eta": "slow"}', '{"what": "1"}', '{"eta": 1}', "[" * 5000,
    '{"sleep": "1e308"}', "smoke", "quick", "finished", "failed", "killed", "\n\n", b"",
    b"\xff", b"\x80", b"\xc1", "null", "diverged", '["toy.descent"]', '["toy", "li2023"]',
)  # fmt: skip
ARRAYS = (
    ["<f8", [], b"\0" * 8], ["<f8", [], b"\xff" * 8], ["<f8", [2], b"\0" * 16], ["<f8", [], b""],
    ["<f8", [0], b""], ["<f8", [-1], b"\0" * 16], ["<i8", [], b"\x01" * 8], ["|b1", [], b"\1"],
    ["O", [], b"\0" * 8], ["<U2", [1], b"\0" * 8], ["<f8", [2**62, 4], b"\0" * 8],
    ["<c16", [], b"\0" * 16],
    ["<f8", [], b"\0\0\0\0\0\0\xf0\x7f"], "a word", 1, None, [], {}, ["<M8[s]", [], b"\0" * 8],
)  # fmt: skip


def columns() -> st.SearchStrategy[tuple[str, str]]:
    return st.sampled_from([(table, name) for table, own in COLUMNS.items() for name in own])


def values() -> st.SearchStrategy:
    whole_numbers = st.integers(-(2**63), 2**63 - 1)
    return st.one_of(
        st.sampled_from(WORDS), whole_numbers, st.floats(), st.text(max_size=20),
        st.binary(max_size=40),
    )  # fmt: skip


def set_value(path: Path, table: str, column: str, row: int, value) -> None:
    """Write a value into the row-th row of a table (the last one counts as row 0)."""
    db = sqlite3.connect(path)
    (count,) = db.execute(f"SELECT COUNT(*) FROM {table}").fetchone()
    db.execute(
        f"UPDATE {table} SET {column} = ? WHERE rowid = "
        f"(SELECT rowid FROM {table} ORDER BY rowid DESC LIMIT 1 OFFSET ?)",
        (value, row % count),
    )
    db.commit()
    db.close()


def test_rows(fuzz, shares, lax):
    @shares.of("rows")
    @given(columns(), st.integers(0, 20), values(), st.sampled_from(COMMANDS))
    @example(("attempt", "kind"), 0, "[/b]", ["ledger", "damaged"])
    @example(("attempt", "kind"), 0, "[/b]", ["ledger", "damaged", "--failures"])
    @example(("request", "ids"), 0, "[]", ["report", "damaged"])
    def run(column, row, value, command):
        # SQLite turns a number in a column of texts into a name, and a name may be `Inf`.
        assume(not re.fullmatch("[-+]?(inf|nan)", str(value), re.I) or column[1] in NUMBERS)
        path = laid_out(fuzz, lax)
        shutil.copy(lax, path)
        set_value(path, *column, row, value)
        fuzz("rows", command)

    run()
    shares.reached("rows")


def test_payloads_under_their_own_digest(fuzz, shares, lax):
    """A forged record: readable, with a right digest, and without what its study records."""

    @shares.of("forged")
    @given(
        st.dictionaries(
            st.sampled_from(("distance", "start", "gap", "factor", "other")),
            st.sampled_from(ARRAYS),
        ),
        st.booleans(),
        st.integers(0, 20),
        st.sampled_from(COMMANDS),
    )
    def run(arrays, keeps_the_rest, row, command):
        path = laid_out(fuzz, lax)
        shutil.copy(lax, path)
        forge(path, arrays, keeps_the_rest, row)
        fuzz("forged", command)

    run()
    shares.reached("forged")


def forge(path: Path, arrays: dict, keeps_the_rest: bool, row: int) -> None:
    db = sqlite3.connect(path)
    rows = db.execute("SELECT rowid, payload FROM record ORDER BY rowid DESC").fetchall()
    number, data = rows[row % len(rows)]
    table = {**(msgspec.msgpack.decode(data) if keeps_the_rest else {}), **arrays}
    data = msgspec.msgpack.encode(table)
    digest = payload.digest(data, "")
    db.execute(
        "UPDATE record SET payload = ?, digest = ?, diverged = '' WHERE rowid = ?",
        (data, digest, number),
    )
    db.commit()
    db.close()
