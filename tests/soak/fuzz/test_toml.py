"""Sweeps from TOML files: every key with every kind of value, and damaged bytes."""

import json
from dataclasses import fields

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from attnlab.lab import registry

pytestmark = pytest.mark.soak

VALUES = (
    "0", "1", "2", "-1", "0.25", "1e400", "inf", "-inf", "nan", "1e308", "5e-324", "0x10", "1_0",
    "2147483648", "9223372036854775808", "9" * 5000, "true", "'auto'", '""', "'''x'''", "'\\u0000'",
    "[]", "[1]", "[1, 'a']", "[[1]]", "[nan]", "[true, false]", "{}", "{a = 1}", "[" * 4000,
    "[" * 4000 + "]" * 4000, "1979-05-27", "1979-05-27T00:00:00Z", "07:32:00", "", " ", "#", "=",
)  # fmt: skip
PLAIN = (bool, int, float, str)


def written(value: object) -> str:
    return json.dumps(value) if isinstance(value, PLAIN) else "0"


def studies() -> dict[str, dict[str, list[str]]]:
    """Every study with its settings, each with ordinary values as TOML writes them."""
    return {
        study.id: {
            f.name: [written(x) for x in (f.default, *f.metadata["alternatives"])]
            for f in fields(study.settings)
        }
        for paper in registry.papers().values()
        for study in paper.studies
    }


@st.composite
def documents(draw) -> str:
    """A sweep of some study with one setting, level or key of another kind."""
    known = studies()
    study = draw(st.sampled_from(sorted(known)))
    names = st.sampled_from(sorted(known[study]))
    other = draw(st.sampled_from(("none", "none", "key", "set", "grid", "paper")))
    strange = st.sampled_from(VALUES)
    own, level = draw(names), draw(names)
    lines = {
        "paper": draw(strange) if other == "paper" else json.dumps(study),
        "seeds": draw(st.sampled_from(("1", "2", "3"))),
    }
    if other == "key":
        lines[draw(st.sampled_from(("seeds", "seed", "set", "grid", "pape", "a.b")))] = draw(
            strange
        )
    value = draw(strange if other == "set" else st.sampled_from(known[study][own]))
    levels = draw(st.lists(st.sampled_from(known[study][level]), min_size=1, max_size=3))
    of_grid = draw(strange) if other == "grid" else f"[{', '.join(levels)}]"
    parts = [f"{name} = {x}" for name, x in lines.items()]
    parts += [f"[set]\n{own} = {value}"] if draw(st.booleans()) or other == "set" else []
    parts += [f"[grid]\n{level} = {of_grid}"] if draw(st.booleans()) or other == "grid" else []
    return "\n".join(parts)


@st.composite
def files(draw) -> bytes:
    """A document, whole or with some bytes of it replaced; now and then any bytes."""
    whole = draw(documents()).encode()
    kind = draw(st.sampled_from(("whole", "whole", "whole", "damaged", "any")))
    if kind == "any":
        return draw(st.binary(max_size=60))
    if kind == "whole":
        return whole
    start = draw(st.integers(0, len(whole)))
    end = draw(st.integers(start, min(len(whole), start + 5)))
    return whole[:start] + draw(st.binary(max_size=3)) + whole[end:]


def test_toml(fuzz, shares):
    codes = []

    @shares.of("toml")
    @given(files())
    @example(b"")
    @example(b"paper = 'toy.descent'\nseeds = " + b"9" * 5000)
    @example(b"paper = 'toy.descent'\n[set]\neta = " + b"[" * 4000)
    @example(b"paper = 'toy.descent'\n[grid]\neta = [0.25, inf]")
    def run(data):
        (fuzz.fresh() / "sweep.toml").write_bytes(data)
        done = fuzz("toml", ["sweep", "sweep.toml", "--out", "out"])
        codes.append(done.code)
        assert done.code in (2, 3)  # no run is made here
        assert (fuzz.folder / "out").exists() == (done.code == 3)
        assert (fuzz.folder / "sweep.toml").read_bytes() == data

    run()
    shares.reached("toml")
    assert codes.count(3) >= 40
