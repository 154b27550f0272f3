"""Settings of every study of every paper at extreme values, and sizes of every table of bounds."""

from dataclasses import fields, replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attnlab.cells import parse_assignments
from attnlab.lab import registry
from attnlab.lab.plan import Request
from attnlab.report import hypotheses, terminal

pytestmark = pytest.mark.soak

VALUES = (
    "5e-324", "1e-300", "1e-30", "1e30", "1e300", "1e308", "-1e308", "1e400", "-1", "-0.0", "0",
    "1", "2", "3", "7", "0.5", "1.5", "100", "4097", "100000", "1e15", "inf", "-inf", "nan",
    "2147483648", "4294967296", "9007199254740992", "9223372036854775807", "9223372036854775808",
    "1" + "0" * 400, "9" * 5000, "true", "none", "auto", "", " ", "1,2", "[1]", "١٢", "\udcff",
)  # fmt: skip
EVERY_REPORT = 12
"""One in so many accepted requests is shown as a page, which takes as long as ten checks."""


def values() -> st.SearchStrategy[str]:
    return st.one_of(
        st.sampled_from(VALUES),
        st.floats().map(repr),
        st.floats(-10, 10).map(repr),
        st.integers(-5, 200).map(str),
        st.integers().map(str),
    )


def studied() -> list[tuple[str, dict[str, list[str]]]]:
    """Every claim or figure with the settings of its studies, each with ordinary values."""
    found = []
    for paper in registry.papers().values():
        for item in (*paper.claims, *paper.figures):
            command = "check" if item in paper.claims else "run"
            own = {f.name: f for s in item.studies for f in fields(registry.study(s).settings)}
            ordinary = {
                name: [str(value) for value in (f.default, *f.metadata["alternatives"])]
                for name, f in sorted(own.items())
            }
            found.append((f"{command} {item.id}", ordinary))
    return found


def changes() -> st.SearchStrategy[tuple[str, dict[str, str]]]:
    """A command on a claim or figure, one of its settings extreme and perhaps others changed."""

    def of(command: str, ordinary: dict[str, list[str]]) -> st.SearchStrategy:
        name = st.sampled_from(list(ordinary))
        known = name.flatmap(lambda n: st.tuples(st.just(n), st.sampled_from(ordinary[n])))
        pairs = st.tuples(
            st.lists(known, max_size=2), st.lists(st.tuples(name, values()), max_size=1)
        )
        return st.tuples(st.just(command), pairs.map(lambda two: dict([*two[0], *two[1]])))

    return st.sampled_from(studied()).flatmap(lambda pair: of(*pair))


def test_settings(fuzz, shares):
    accepted = []

    @shares.of("settings")
    @given(changes())
    @example(("check deora2023.lemma_2", {"T": "9007199254740992"}))
    @example(("check deora2023.lemma_2", {"T": "100000"}))
    @example(("check deora2023.lemma_2", {"zeta": "nan"}))
    @example(("check toy.lemma_1", {"sleep": "1e308"}))
    @example(("check toy.lemma_1", {"sleep": "-1e308"}))
    def run(case):
        command, changed = case
        fuzz.fresh()
        words = [w for name, value in changed.items() for w in ("--set", f"{name}={value}")]
        done = fuzz("settings", [*command.split(), "--scale", "smoke", "--out", "out", *words])
        assert done.code in (2, 3)  # no run is made here
        if done.code == 2:
            assert not (fuzz.folder / "out").exists()
            return
        accepted.append(command)
        conditions(command.split()[1], changed)
        if len(accepted) % EVERY_REPORT == 0:
            # The page is of the whole paper, of which another study may refuse the setting.
            assert fuzz("settings", ["report", "out"]).code in (0, 2)

    run()
    shares.reached("settings")
    assert len(accepted) >= 200


def conditions(name: str, changed: dict[str, str]) -> None:
    """The hypothesis table of what was asked for, in words and in JSON, as the page has it."""
    target = registry.resolve(name)
    names = {study for item in (*target.claims, *target.figures) for study in item.studies}
    paper = replace(target.paper, studies=tuple(map(registry.study, sorted(names))))
    request = Request("smoke", 0, parse_assignments(f"{k}={v}" for k, v in changed.items()))
    terminal.hypotheses_table(hypotheses.table(paper, request))
    for assumption in hypotheses.table_json(paper, request)["hypotheses"]:
        for row in assumption["rows"]:
            assert row["value"] is not None
            assert row["threshold"] is not None


def sizes() -> st.SearchStrategy[tuple[str, dict[str, str]]]:
    tables = {p.id: p.bounds for p in registry.papers().values() if p.bounds}
    named = {name: [f.name for f in fields(table.settings)] for name, table in tables.items()}
    return st.sampled_from(sorted(named)).flatmap(
        lambda name: st.tuples(
            st.just(name),
            st.dictionaries(st.sampled_from(named[name]), values(), min_size=1, max_size=3),
        )
    )


def test_bounds(fuzz, shares):
    codes = set()

    @shares.of("bounds")
    @given(sizes(), st.booleans())
    def run(case, as_json):
        name, changed = case
        fuzz.fresh()
        words = [f"--{size.replace('_', '-')}={value}" for size, value in changed.items()]
        end = ["--json", "-"] if as_json else []
        codes.add(fuzz("bounds", ["bounds", name, *words, *end]).code)

    run()
    shares.reached("bounds")
    assert codes == {0, 2}


def test_a_planted_fault_is_found(fuzz, monkeypatch):
    """The fuzzing itself bites: a calculator that divides by zero does not get through."""
    paper = registry.paper("toy")

    def divide(*_):
        raise ZeroDivisionError("planted")

    fuzz.fresh()
    monkeypatch.setattr(registry, "resolve", divide)
    with pytest.raises(AssertionError, match="ZeroDivisionError: planted"):
        fuzz("planted", ["show", paper.id])
