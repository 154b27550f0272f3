"""Why a setting changes nothing in a cell: said exactly where it does not."""

from dataclasses import replace

import pytest

from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.theory import choices

CELL = TrainingSettings()


def test_tokens_are_removed_or_it_is_said_why_not():
    some = replace(CELL, selector="random", removed=0.3)
    assert choices.keeps_all(some) == choices.removes_none(some) == ""
    none = replace(some, selector="none", removed=0.0)
    assert "selector=none" in choices.keeps_all(none)
    few = replace(some, removed=0.4 / some.L)
    assert f"of L={CELL.L}" in choices.keeps_all(few)
    assert f"of L={CELL.L}" in choices.removes_none(few)
    assert choices.removes_none(replace(some, removed=0.6 / some.L)) == ""


def test_noisy_tokens():
    assert not choices.has_noisy_tokens(replace(CELL, noisy_share=0.0))
    assert choices.has_noisy_tokens(replace(CELL, noisy_share=0.1))


def test_one_number_fixes_the_confusion():
    for chosen in ("paper_slice", "constant_ratio", "number"):
        cell = replace(CELL, alpha_star=0.4, confusion=chosen)
        for asked in ("paper_slice", "constant_ratio", "number"):
            assert bool(choices.other_confusion(cell, asked)) == (asked != chosen)


@pytest.mark.parametrize(("initial", "silent"), [("printed", False), ("assumption_1", True)])
def test_the_printed_first_model_has_no_errors(initial, silent):
    assert (choices.printed(replace(CELL, initial=initial)) == "") == silent


def test_what_is_exact_anyway():
    assert "engine=exact" in choices.exact_anyway(replace(CELL, engine="exact"))
    other = replace(CELL, engine="collapsed")
    assert choices.exact_anyway(replace(other, c0=0.1)) == ""
    assert "c0=0" in choices.exact_anyway(replace(other, c0=0.0))
