from dataclasses import dataclass, make_dataclass, replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnlab import cells
from attnlab.core import BadInput, Key, setting


@dataclass(frozen=True)
class Sizes:
    m: int = setting(8, origin="paper", help="width")
    eta: float = setting(0.5, origin="ours", help="step")
    engine: Literal["a", "b"] = setting("a", origin="ours", help="engine", samples=False)


def test_identity_depends_on_study_every_field_and_seed():
    cell = Sizes()
    names = {
        cells.identity("p.s", cell, 0),
        cells.identity("p.other", cell, 0),
        cells.identity("p.s", cell, 1),
        cells.identity("p.s", replace(cell, m=9), 0),
        cells.identity("p.s", replace(cell, engine="b"), 0),
    }
    assert len(names) == 5
    assert cells.identity("p.s", Sizes(), 0) == cells.identity("p.s", cell, 0)


def test_key_ignores_switches_so_that_comparisons_are_paired():
    assert Key.of(Sizes(engine="b"), 3) == Key.of(Sizes(), 3)
    assert Key.of(Sizes(m=9), 3) != Key.of(Sizes(), 3)
    assert Key.of(Sizes(), 4) != Key.of(Sizes(), 3)


def test_a_setting_added_later_moves_no_key_but_its_other_values_do():
    new = setting(1, origin="ours", help="added later")
    Later = make_dataclass("Later", [("extra", int, new)], bases=(Sizes,), frozen=True)
    assert Key.of(Later(), 0).words("data") == Key.of(Sizes(), 0).words("data")
    assert Key.of(Later(extra=2), 0).words("data") != Key.of(Sizes(), 0).words("data")


def test_known_words():
    """A golden value: a change here moves every random number of every record."""
    assert Key.of(Sizes(m=9), 7).words("data") == (2724067760, 879738444)


@given(st.text(max_size=8), st.integers(0, 2**31 - 1))
def test_words_are_32_bit_and_differ_between_streams(stream, seed):
    key = Key.of(Sizes(), seed)
    assert all(0 <= word < 2**32 for word in key.words(stream))
    assert key.words(stream) != key.words(stream + "x")


def test_whole_number_for_a_float_field_is_the_same_cell():
    assert cells.identity("s", Sizes(eta=1), 0) == cells.identity("s", Sizes(eta=1.0), 0)


@given(st.integers(1, 10**9), st.floats(allow_nan=False, allow_infinity=False))
def test_round_trip(m, eta):
    cell = Sizes(m=m, eta=eta)
    assert cells.from_dict(Sizes, cells.as_dict(cell)) == cell


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_setting_must_be_finite(value):
    with pytest.raises(BadInput, match=r"eta=.* is not a finite number"):
        cells.as_dict(Sizes(eta=value))


def test_override_converts_words_of_the_command_line():
    changed = cells.override(Sizes(), {"m": "4096", "eta": "1e-3", "engine": "b"}, text=True)
    assert changed == Sizes(m=4096, eta=1e-3, engine="b")
    assert cells.override(Sizes(), {"unheard_of": "1"}, text=True) == Sizes()


@pytest.mark.parametrize(("name", "value"), [("m", "many"), ("m", "1.5"), ("engine", "c")])
def test_override_refuses_a_bad_value(name, value):
    with pytest.raises(BadInput, match=f"{name}='{value}'"):
        cells.override(Sizes(), {name: value}, text=True)


def test_unknown_setting_names_the_nearest():
    with pytest.raises(BadInput, match="did you mean engine"):
        cells.require_known(["engin"], [Sizes])


@pytest.mark.parametrize("text", ["m", "=4", "m=", ""])
def test_assignments_must_have_a_name_and_a_value(text):
    with pytest.raises(BadInput, match="name=value"):
        cells.parse_assignments([text])


def test_a_number_without_its_zero_is_taken():
    for word, number in ((".5", 0.5), ("-.25", -0.25), ("0.5", 0.5), ("1e-3", 1e-3)):
        assert cells.override(Sizes(), {"eta": word}, text=True).eta == number
    for word in (".", "-.", ".x", ""):
        with pytest.raises(BadInput):
            cells.override(Sizes(), {"eta": word}, text=True)
