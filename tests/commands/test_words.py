"""What a verdict looks like in words, in a table and as JSON, whatever its numbers are."""

import io
import json
import math

import msgspec
import pytest
from rich.console import Console

from attnlab.claims import (
    NEWS_FIRST,
    Constant,
    ControlResult,
    Effect,
    Hypothesis,
    Informative,
    PartResult,
    ReadingResult,
    RouteResult,
    Verdict,
)
from attnlab.evidence.words import (
    constant_text,
    effect_text,
    miss_text,
    number,
    requirement,
    shortfall,
)
from attnlab.report.terminal import verdict_table
from attnlab.report.verdicts import as_json, measured_and_more

SLOPE = Effect("exponent of the gap in eta", 2.27, 1.1, 3.45)


def verdict(outcome="supported", effect=SLOPE, reason=None, **fields) -> Verdict:
    part = PartResult("slope", outcome, effect, "within 2 ± 0.5", "ours")
    reading = ReadingResult("as stated", outcome, effect, True, "the only one", "", (part,))
    ending = "; stated exponent 2; within 2 ± 0.5 (ours)"
    known = {
        "id": f"paper.{outcome}",
        "kind": "scaling",
        "scale": "quick",
        "outcome": outcome,
        "reason": effect_text(effect) + ending if reason is None else reason,
        "source": "section 3, Theorem 1",
        "stated": "exponent 2",
        "cutoff": "within 2 ± 0.5",
        "cutoff_owner": "ours",
        "cutoff_why": "ours: a quarter",
        "readings": (reading,),
        "effect": effect,
        "trials": 60,
        "failed_runs": 0,
        "diverged_runs": 0,
        "hypotheses": (),
        "controls": (ControlResult("steeper", "contradicted"),),
        "second_route": None,
        "informative": None,
        "tightness": "",
        "flips": "",
        "constants": (),
        "seconds": 1.0,
    }
    return Verdict(**(known | fields))


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-0.0, "0"),
        (math.inf, "infinite"),
        (-math.inf, "minus infinite"),
        (math.nan, "not a number"),
        (None, "–"),
        (1234.5678, "1235"),
    ],
)
def test_numbers(value, words):
    assert number(value) == words


@pytest.mark.parametrize(
    ("ends", "words"),
    [
        ((2.0, 1.0, 3.0), "x: 2 [1, 3]"),
        ((2.0, 2.0, 2.0), "x: 2"),
        ((0.3, 0.3 - 1e-17, 0.1 + 0.2), "x: 0.3"),
        ((2.0, 1.0, math.inf), "x: 2 [1, no upper end]"),
        ((2.0, -math.inf, math.inf), "x: 2 (unbounded)"),
        ((2.0, math.nan, 3.0), "x: 2 (no interval)"),
    ],
)
def test_effects(ends, words):
    assert effect_text(Effect("x", *ends)) == words


def test_what_a_hypothesis_needs():
    assert requirement(Hypothesis("m", 1.0, 3.0)) == "at least 3"
    assert requirement(Hypothesis("m", 1.0, math.inf)) == "more than any finite value"
    assert requirement(Hypothesis("m", 1.0, math.inf, "<=")) == "nothing (any value will do)"
    assert "inf" not in shortfall(Hypothesis("m", 1.0, math.inf)).replace("finite", "")
    assert (
        shortfall(Hypothesis("m", 1.0, 3.0)) == "m is 1, needs at least 3 (missed by a factor of 3)"
    )
    assert miss_text(Hypothesis("m", 1.0, 3.0, constant="unknown")) == "×3 at constant 1"
    assert miss_text(Hypothesis("m", 4.0, 3.0)) == "–"


def test_constants():
    assert constant_text(Constant("C", "unknown")) == "C (unknown)"
    assert constant_text(Constant("C", "fitted", 2.0, 1.0, 3.0)) == "C = 2 [1, 3] (fitted)"


def test_a_table_does_not_say_the_measured_twice():
    whole = verdict()
    assert measured_and_more(whole) == (effect_text(SLOPE), "")
    flipping = verdict(reason=f"our cutoff decides: a flip; slope: {whole.reason}; 2 runs failed")
    measured, more = measured_and_more(flipping)
    assert measured == f"slope: {effect_text(SLOPE)}"
    assert more == "our cutoff decides: a flip; 2 runs failed"
    nothing = verdict(effect=None, reason="2 levels of m; stated exponent 2; within 2 ± 0.5 (ours)")
    assert measured_and_more(nothing) == ("–", "2 levels of m")
    other = verdict(reason="unfinished: 3 of 4 runs are not made yet")
    assert measured_and_more(other) == (effect_text(SLOPE), other.reason)


def test_every_outcome_is_shown_news_first_at_80_columns():
    console = Console(width=80, record=True, file=io.StringIO())
    console.print(verdict_table([verdict(outcome) for outcome in reversed(NEWS_FIRST)]))
    out = console.export_text()
    assert max(map(len, out.splitlines())) <= 80
    places = [out.index(f"paper.{outcome}") for outcome in NEWS_FIRST]
    assert places == sorted(places)
    for words in (
        "scaling, 60 runs, 1 of 1 controls rejected",
        "exponent 2 (section 3, Theorem 1)",
    ):
        assert words in out
    assert "…" not in out
    last = " ".join(out.strip().split("┘")[-1].split())
    assert last == "paper: 6 claims: " + ", ".join(f"1 {outcome}" for outcome in NEWS_FIRST)


def test_json_holds_no_number_that_is_none():
    wild = Effect("x", math.inf, -math.inf, math.nan)
    found = verdict(
        "contradicted",
        wild,
        hypotheses=(Hypothesis("m", math.nan, math.inf),),
        second_route=RouteResult("by hand", True, wild, "in plain numpy"),
        informative=Informative("log 2", 0.0, 4, math.inf),
        constants=(Constant("C", "fitted", math.inf, 1.0, math.inf),),
    )
    plain = as_json(found)

    def numbers(value):
        if isinstance(value, dict):
            value = list(value.values())
        if isinstance(value, list):
            return [x for item in value for x in numbers(item)]
        return [value] if isinstance(value, float) else []

    assert all(math.isfinite(x) for x in numbers(plain))
    assert json.loads(msgspec.json.encode(plain)) == plain
    assert plain["effect"] == {"name": "x", "value": None, "low": None, "high": None}
    assert (plain["second_route"]["agrees"], plain["second_route"]["value"]) == (True, None)
    assert plain["readings"][0]["allowed"] is True
    assert plain["cutoff"] == {
        "text": "within 2 ± 0.5",
        "owner": "ours",
        "why": "ours: a quarter",
    }
