"""Command lines of every command, with damaged ids, options, numbers and names of files."""

import subprocess
from types import SimpleNamespace

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from attnlab.cli import COMMANDS
from attnlab.lab import registry

pytestmark = pytest.mark.soak

LONG = "x" * 300
NUMBERS = (
    "0", "-1", "1", "2", "1e400", "-1e400", "5e-324", "1e308", "nan", "inf", "-inf", "0x10", "1_0",
    "٣", "", "1.5", "2147483648", "9" * 30, "9" * 5000, "true", "None",
)  # fmt: skip
NAMES = (
    "results", "a/b/c", "", ".", "..", "file", "file/below", LONG, f"a/{LONG}/b", "/dev/null",
    "/dev/full", "/proc/nowhere", "~", "with space", "ü.json", "v.json", "-", "--", f"{LONG}.json",
    "file.json/", "a\0b", "\udcff.json", "\udc80", "folder", "folder.json", "?mode=rwc", "a#b",
    "%00",
)  # fmt: skip
OPTIONS = (
    "--scale", "--out", "--set", "--seed", "--engine", "--workers", "--dask", "--json", "--strict",
    "--robust", "--universes", "--failures", "--help", "-h", "--version", "--n", "--M", "--",
    "--grid", "--seeds", "--part", "--to", "--study", "--stale", "--from",
)  # fmt: skip
"""All but --fetch, which asks the network."""
SCALES = ("smoke", "quick", "huge", "", "SMOKE")


def ids() -> list[str]:
    papers = registry.papers().values()
    return [x for paper in papers for x in (paper.id, *registry.resolve(paper.id).ids)]


def text() -> st.SearchStrategy[str]:
    """Any letters, those included that stand for bytes which are none."""
    letters = st.characters(codec="utf-8") | st.sampled_from("\udc80\udcff\0\x1b\n[]/\\'\"`$%{}")
    return st.text(letters, max_size=12)


@st.composite
def damaged(draw, words: st.SearchStrategy[str]) -> str:
    """A word with a piece cut out, doubled or replaced."""
    word = draw(words)
    start = draw(st.integers(0, len(word)))
    end = draw(st.integers(start, len(word)))
    return word[:start] + draw(st.sampled_from(("", word[start:end] * 2)) | text()) + word[end:]


def command_lines() -> st.SearchStrategy[list[str]]:
    """A command with what it takes, in part replaced by what it does not take."""
    known = st.sampled_from(ids())
    name = st.sampled_from(NAMES)
    number = st.sampled_from(NUMBERS)
    word = st.one_of(known, known, damaged(known), name, number, text(), st.sampled_from(OPTIONS))
    options = st.one_of(
        st.tuples(st.just("--scale"), st.sampled_from(SCALES)),
        st.tuples(st.just("--out"), name),
        st.tuples(st.just("--json"), name),
        st.tuples(st.sampled_from(("--seed", "--workers", "--universes", "--seeds")), number),
        st.tuples(st.just("--part"), st.builds("{}/{}".format, number, number) | text()),
        st.tuples(st.just("--grid"), st.builds("{}={},{}".format, text(), number, number)),
        st.tuples(st.just("--to"), st.sampled_from(("netcdf", "parquet", "csv", "")) | text()),
        st.tuples(st.sampled_from(("--study", "--from")), known | name),
        st.tuples(st.just("--engine"), text() | st.sampled_from(("auto", "weights", "gram"))),
        st.tuples(st.just("--dask"), name),
        st.tuples(st.just("--set"), st.builds("{}={}".format, text(), number) | text()),
        st.tuples(st.sampled_from(OPTIONS)),
        st.tuples(word),
    )
    commands = st.sampled_from([*COMMANDS])
    command = st.one_of(commands, commands, commands, damaged(commands), text())
    return st.builds(line, command, st.lists(word, max_size=2), st.lists(options, max_size=4))


def line(command: str, words: list[str], options: list[tuple[str, ...]]) -> list[str]:
    """Small designs, unless another scale is drawn: what is looked at is the command line."""
    rest = [word for option in options for word in option]
    scaled = command in ("check", "run", "reproduce", "multiverse") and "--scale" not in rest
    return [command, *words, *(["--scale", "smoke"] if scaled else []), *rest]


def prepared(folder) -> None:
    (folder / "file").write_text("in the way")
    (folder / "folder").mkdir()
    (folder / "folder.json").mkdir()


def test_command_lines(fuzz, shares):
    @shares.of("command lines")
    @given(command_lines())
    @example([])
    @example(["--version"])
    def run(arguments):
        prepared(fuzz.fresh())
        fuzz("command lines", arguments)
        assert (fuzz.folder / "file").read_text() == "in the way"

    run()
    shares.reached("command lines")


def test_processes(attnlab, fuzz, shares, promises):
    """The same in processes of their own: this one is a true stand-in for them."""

    @shares.of("processes")
    @given(command_lines())
    def run(arguments):
        assume(not any("\0" in word for word in arguments))  # no system passes it on
        prepared(fuzz.fresh())
        here = fuzz("command lines", arguments)
        assume(here.code != 3)  # it would make runs
        prepared(fuzz.fresh())
        fuzz.cases["processes"] += 1
        process = subprocess.run(
            [*attnlab.command, *arguments],
            cwd=fuzz.folder,
            env=attnlab.environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
            check=False,
        )
        out, err = process.stdout.decode(), process.stderr.decode()
        there = SimpleNamespace(code=process.returncode, out=out, err=err, trace="", warnings=[])
        promises(arguments, there)
        assert there.code == here.code

    run()
    shares.reached("processes")
