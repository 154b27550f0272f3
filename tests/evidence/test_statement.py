"""`statement(...)` refuses what its kind cannot prove; fixtures hold; words can be trusted."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from attnlab.claims import (
    Control,
    Effect,
    Fixture,
    Hypothesis,
    Part,
    Reading,
    Route,
    Source,
    Trivial,
)
from attnlab.core import Design, Study, setting
from attnlab.evidence import court, words
from attnlab.evidence.fixtures import positive_records, step_trials
from attnlab.evidence.laws import AtMost, Equal, Power, Share, stored
from attnlab.evidence.statement import decisive_parts, parts_of, statement
from attnlab.evidence.threshold_laws import Threshold, thresholds


@dataclass(frozen=True)
class Cell:
    x: float = setting(1.0, origin="ours", help="x")
    N: int = setting(1, origin="ours", help="size")


VALUE = stored("value", "the value")
PART = Part("part", "s", VALUE, AtMost(1.0))
WHOLE = {
    "title": "t",
    "statement": "s",
    "source": Source("1", "Lemma 1"),
    "stated": "at most 1",
    "measured": "m",
    "parts": (PART,),
    "controls": (Control("half", "", law=AtMost(0.1)),),
}
STUDY = Study(
    "p.s", "", Cell, "none:none",
    {"quick": Design(tuple(Cell(x) for x in (1.0, 10.0, 100.0)), 4)}, cost=lambda cell: 1.0,
)  # fmt: skip


def build(kind="identity", **options):
    return statement("p.claim", kind, **{**WHOLE, **options})


def test_studies_may_leave_out_the_paper():
    claim = build(parts=(PART, Part("other", "q.t", VALUE, AtMost(1.0), beside=("u",))))
    assert claim.studies == ("p.s", "q.t", "p.u")


OURS = Equal(0.0, 1.0)
REFUSED = {
    "share a name": {"parts": (PART, PART)},
    "no part belongs": {"readings": (Reading("aside", "excluded", allowed=False),),
                        "parts": (Part("p", "s", VALUE, AtMost(1), "aside"),)},
    "reading that is not declared": {"parts": (Part("p", "s", VALUE, AtMost(1), "unheard of"),
                                               PART)},
    "does not say what permits": {"readings": (Reading("as stated", ""),)},
    "names no part": {"controls": (Control("c", "", part="unheard of", law=AtMost(0)),)},
    "route names no part": {"routes": (Route("r", part="unheard of"),)},
    "no control": {"controls": ()},
    "section is missing": {"source": Source("")},
    "names its trivial bound": {"kind": "bound"},
    "needs a part with the law Sufficient": {"kind": "sufficient"},
    "needs a part with Share": {"kind": "probability"},
    "`why` does not say why": {"parts": (Part("p", "s", VALUE, OURS),)},
}  # fmt: skip


@pytest.mark.parametrize("sentence", REFUSED)
def test_a_statement_that_lacks_something_is_refused_with_a_sentence(sentence):
    with pytest.raises(ValueError, match=rf"p\.claim: .*{sentence}"):
        build(**REFUSED[sentence])


def test_what_is_refused_is_taken_once_it_is_whole():
    assert build("bound", trivial=Trivial("none: an identity")).trivial
    exact = Share(AtMost(1.0), 0.9, exact=True, owner="paper")
    assert build("probability", parts=(Part("p", "s", VALUE, exact),))
    assert build(parts=(Part("p", "s", VALUE, OURS),), why="ours: by feel")
    assert build("finding", source=Source(""))


def test_parts_of_readings():
    readings = (Reading("A", "a"), Reading("B", "b", allowed=False))
    parts = tuple(Part(n, "s", VALUE, AtMost(1), r) for n, r in (("1", ""), ("2", "A"), ("3", "B")))
    claim = build(parts=parts, readings=readings)
    assert [p.name for p in parts_of(claim, readings[0])] == ["1", "2"]
    assert [p.name for p in parts_of(claim, readings[1])] == ["1", "3"]
    assert [p.name for p in decisive_parts(claim)] == ["1", "2"]


# --- fixtures ---------------------------------------------------------------------------------


def test_a_stored_scalar_takes_its_laws_example():
    power = Part("p", "s", VALUE, Power("x", 0.5))
    claim = build("remark", parts=(power,), why="w", positive={"other": 3.0})
    records = positive_records(claim, [STUDY])
    assert len(records) == 120
    assert court.measure(claim, records).outcome == "supported"
    assert set(records.column("other")) == {3.0}
    exact = positive_records(build(), [STUDY])
    assert set(exact.column("value")) == {0.5}  # no noise where a law looks at every run


def test_a_fixture_may_give_values_cells_or_everything():
    fixture = Fixture(values={"value": lambda cell, random: cell.x}, cells={"s": (Cell(0.5),)})
    records = positive_records(build(positive=fixture), [STUDY])
    assert set(records.column("value")) == {0.5}
    by_hand = Fixture(records=lambda: records)
    assert positive_records(build(positive=by_hand), []) is records


def test_step_trials_have_the_threshold_that_is_asked_for():
    records = step_trials("p.s", [Cell(1.0), Cell(4.0)], lambda cell: 100 * cell.x)
    found = thresholds(records, stored("success"), lambda cell: cell.x)
    assert {x: fit.n50 for x, fit in found.items()} == pytest.approx({1.0: 100, 4.0: 400}, rel=0.1)
    law = Threshold(Power("x", 1.0))
    assert law.example(Cell(4.0, 5)) == 1.0
    assert law.example(Cell(4.0, 3)) == 0.0


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (-0.0, "0"),
        (-1e-300, "-1e-300"),
        (0.1 + 0.2, "0.3"),
        (math.inf, "infinite"),
        (-math.inf, "minus infinite"),
        (math.nan, "not a number"),
        (None, "–"),
        (123456.0, "1.235e+05"),
    ],
)
def test_numbers(value, text):
    assert words.number(value) == text


def test_intervals_say_which_end_is_open_and_exact_values_have_none():
    assert words.effect_text(Effect.exactly("x", -0.0)) == "x: 0"
    assert words.effect_text(Effect("x", 1, -math.inf, 2)) == "x: 1 [no lower end, 2]"
    assert words.effect_text(Effect("x", 1, 0.5, math.inf)) == "x: 1 [0.5, no upper end]"
    assert words.effect_text(Effect("x", 1, -math.inf, math.inf)) == "x: 1 (unbounded)"
    assert words.effect_text(Effect("x", 1, math.nan, math.nan)) == "x: 1 (no interval)"
    assert words.effect_text(None) == "–"


def test_a_hypothesis_that_no_value_meets_says_so():
    text = words.shortfall(Hypothesis("m", 10.0, math.inf))
    assert "inf " not in text
    assert "any finite value" in text
    assert "at least 40 (missed by a factor of 4)" in words.shortfall(Hypothesis("m", 10.0, 40.0))


def test_no_number_of_a_cutoff_shows_a_sign_of_zero_or_the_slack_of_rounding():
    assert Equal(0.0, np.float64(1e-12)).cutoff() == "0 to within 1e-12 in every run"
    assert AtMost(1 + 1e-9).cutoff() == "at most 1 in every run"
    assert "-0" not in AtMost(-0.0).cutoff()
