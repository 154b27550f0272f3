"""Three sentences a paper, with the verdicts' own numbers, whatever the verdicts are."""

import math
import re
from dataclasses import replace

import pytest

from attnlab.claims import (
    NEWS_FIRST,
    ControlResult,
    Effect,
    Informative,
    PartResult,
    ReadingResult,
    RouteResult,
    Tally,
    Verdict,
)
from attnlab.lab import registry
from attnlab.report.news import LENGTH, headline, news

CLAIM = next(c for c in registry.paper("toy").claims if c.id == "toy.theorem_1")
SLOPE = Effect("exponent of the gap in eta", 2.2712, 1.1, 3.45)


def verdict(outcome="supported", effect=SLOPE, **more) -> Verdict:
    part = PartResult("order", outcome, effect, "within 2 ± 0.5", "ours")
    reading = ReadingResult("as stated", outcome, effect, True, "the only one", "", (part,))
    known = {
        "id": CLAIM.id, "kind": "scaling", "scale": "quick", "outcome": outcome, "reason": "why",
        "source": "section 3", "stated": "exponent 2", "cutoff": "within 2 ± 0.5",
        "cutoff_owner": "ours", "cutoff_why": "", "readings": (reading,), "effect": effect,
        "trials": 60, "failed_runs": 0, "diverged_runs": 0, "hypotheses": (),
        "controls": (ControlResult("steeper", "contradicted"),), "second_route": None,
        "informative": None, "tightness": "", "flips": "", "constants": (), "seconds": 0.1,
    }  # fmt: skip
    return Verdict(**(known | more))


@pytest.mark.parametrize("outcome", NEWS_FIRST)
def test_every_outcome_has_a_sentence_with_its_number(outcome):
    sentence = headline(replace(CLAIM, headline=""), verdict(outcome))
    assert sentence.startswith(CLAIM.title)
    assert sentence.endswith(".")
    assert len(sentence) <= LENGTH + 1
    assert ("2.27 [1.1, 3.45]" in sentence) == (outcome != "not_applicable")


def test_a_headline_takes_its_numbers_from_the_verdict():
    route = RouteResult("loop", True, Effect.exactly("mean", 2.5))
    claim = replace(
        CLAIM,
        headline="It is {value} {interval}, {route} again; {parts[order]}, {parts[order].low}",
    )
    assert (
        headline(claim, verdict(second_route=route))
        == "It is 2.27 [1.1, 3.45], 2.5 again; 2.27, 1.1"
    )
    moved = verdict(effect=replace(SLOPE, value=3.0), second_route=route)
    assert headline(claim, moved).startswith("It is 3 ")


def test_a_headline_that_the_verdict_cannot_fill_gives_way():
    claim = replace(CLAIM, headline="It is {value}, {route} again, {flips}")
    assert headline(claim, verdict(effect=None, trials=0)).startswith(CLAIM.title)
    assert "{" not in headline(claim, verdict())


def test_what_flips_a_verdict_is_said():
    flips = "holds at eta <= 0.2, fails at eta >= 1"
    tally = Tally("depends", "both", {}, (), flips)
    assert flips in headline(CLAIM, verdict("depends", universes=tally))
    readings = tuple(
        ReadingResult(name, outcome, SLOPE, True, "why")
        for name, outcome in (("a", "supported"), ("b", "contradicted"))
    )
    assert "holds as a, fails as b" in headline(CLAIM, verdict("depends", readings=readings))


def test_a_vacuous_bound_says_by_how_much():
    nothing = Informative("log 2", 0.0, 20, 12.34)
    sentence = headline(CLAIM, verdict("vacuous", informative=nothing))
    assert "12.3 times the trivial" in sentence


def test_news_is_what_contradicts_then_depends_and_the_main_law():
    claims = registry.paper("toy").claims
    outcomes = ["supported", "inconclusive", "contradicted", "depends", "contradicted", "supported"]
    pairs = [(c, verdict(o, id=c.id)) for c, o in zip(claims, outcomes, strict=False)]
    found = [item.verdict.outcome for item in news(pairs)]
    assert found == ["contradicted", "contradicted", "supported"]
    assert [i.verdict.outcome for i in news(pairs[:2])] == ["supported", "inconclusive"]
    assert news([]) == []
    last = [(replace(c, headline="H {value}") if o == "depends" else c, v) for (c, v), o in
            zip(pairs, outcomes, strict=True)]  # fmt: skip
    assert len(news(last)) == 3


def test_no_number_that_is_none_and_no_minus_zero():
    for effect in (Effect("x", math.nan, math.nan, math.nan), Effect("x", -0.0, -1e-9, math.inf)):
        for outcome in NEWS_FIRST:
            assert not re.search(
                r"\bnan\b|\binf\b|-0\b(?!\.)", headline(CLAIM, verdict(outcome, effect))
            )


def test_typed_in_numbers_are_refused():
    from attnlab.evidence.statement import _refuse

    with pytest.raises(ValueError, match="typed in"):
        _refuse(replace(CLAIM, headline="It is 3 times as large."))
    _refuse(replace(CLAIM, headline="Theorem 1 holds: {value}."))
