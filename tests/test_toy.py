"""The toy paper: a statement of every kind and outcome, each with the verdict that is right."""

from dataclasses import replace
from typing import get_args

import pytest

from attnlab.claims import Finding, Kind, Outcome
from attnlab.evidence.court import control_outcome, measure
from attnlab.evidence.fixtures import positive_records
from attnlab.lab import registry

PAPER = registry.paper("toy")
TRUTH = {
    "toy.lemma_1": ("identity", "supported", "worst error of the factor"),
    "toy.lemma_2": ("identity", "contradicted", "second route, exact fractions"),
    "toy.lemma_3": ("bound", "supported", "largest gap over its bound"),
    "toy.lemma_4": ("bound", "vacuous", "searched: eta lambda down to 0"),
    "toy.lemma_5": ("bound", "inconclusive", "no second route confirms it"),
    "toy.theorem_1": ("scaling", "supported", "exponent of gap to the flow in eta: 1.01"),
    "toy.theorem_2": ("scaling", "contradicted", "second route, other normal numbers"),
    "toy.theorem_3": ("identity", "not_applicable", "eta lambda is 1.5, needs at most 1"),
    "toy.theorem_4": ("scaling", "supported", "exponent of |x(0)|^2 in dimension"),
    "toy.theorem_5": ("probability", "contradicted", "chance to converge: 0.755"),
    "toy.theorem_6": ("probability", "supported", "at least 0.95 of the runs (the paper's)"),
    "toy.theorem_7": ("scaling", "depends", "fails as at ten times the horizon"),
    "toy.theorem_8": ("remark", "depends", "holds as in units of d, fails as in units of 1"),
    "toy.theorem_9": ("scaling", "supported", "exponent of N50 in 1 / lambda"),
    "toy.proposition_1": ("sufficient", "supported", "share of held-out successes"),
    "toy.figure_1": ("figure", "supported", "Page's test"),
    "toy.remark_1": ("remark", "supported", "gap to the flow with eta"),
    "toy.finding_1": ("finding", "supported", "mean of gap over the step size"),
}


@pytest.fixture(scope="module")
def verdicts(attnlab, toy_results):
    done = attnlab("check", "toy", "--scale", "smoke", "--out", toy_results, "--json", "-")
    return {verdict["id"]: verdict for verdict in done.json}


def test_every_kind_and_every_outcome_is_there():
    assert set(TRUTH) <= {claim.id for claim in PAPER.claims}  # others are on universes
    assert {kind for kind, _, _ in TRUTH.values()} == set(get_args(Kind))
    assert {outcome for _, outcome, _ in TRUTH.values()} == set(get_args(Outcome))


@pytest.mark.parametrize("name", TRUTH)
def test_the_verdict_is_right_and_says_why(verdicts, name):
    found, (kind, outcome, words) = verdicts[name], TRUTH[name]
    assert (found["kind"], found["verdict"]) == (kind, outcome)
    assert words in found["reason"]
    assert [c["name"] for c in found["controls"] if c["verdict"] != "contradicted"] == []


def test_numbers_of_the_second_route_of_vacuity_and_of_tightness(verdicts):
    route = verdicts["toy.theorem_2"]["second_route"]
    assert route["agrees"] is True
    assert route["low"] < 1.0 < route["high"] < 1.04
    assert verdicts["toy.lemma_1"]["second_route"] is None
    assert verdicts["toy.lemma_4"]["informative"]["share"] == 0
    assert verdicts["toy.lemma_3"]["informative"]["share"] == 1
    assert "to the power" in verdicts["toy.proposition_1"]["tightness"]
    unknown = verdicts["toy.theorem_4"]["hypotheses"][0]
    assert (unknown["met"], unknown["constant"]) == (None, "unknown")


def test_many_failed_runs_decide_nothing(attnlab, tmp_path):
    options = ("--scale", "smoke", "--set", "fault=exception", "--out", tmp_path, "--json", "-")
    (found,) = attnlab("check", "toy.lemma_1", *options).json
    assert found["verdict"] == "inconclusive"
    assert "5 of 20 runs failed, more than 10%" in found["reason"]


def test_the_hypothesis_table_is_computed_from_settings(attnlab):
    rows = PAPER.hypotheses.assumptions[0].rows(PAPER.hypotheses.printed["figure 1"])
    assert (rows[0].value, rows[0].met) == (0.125, True)
    refused = attnlab("check", "toy.assumption_1", expect=2)
    assert "attnlab hypotheses toy" in refused.err


# --- mutations: a broken law must turn a test of the registry red -----------------------------


class Always:
    """A law that says one thing."""

    owner, estimated = "paper", False

    def __init__(self, outcome, law):
        self.outcome, self.law = outcome, law

    def judge(self, runs, scalar, level):
        return Finding(self.outcome)

    def cutoff(self):
        return "always"

    def moved(self, factor):
        return self

    def example(self, cell):
        return self.law.example(cell)


def sound(claim) -> bool:
    """What tests/test_registry.py asserts of every claim."""
    positive = positive_records(claim, PAPER.studies)
    replaced = [c for c in claim.controls if not c.changes]
    return measure(claim, positive).outcome == "supported" and all(
        control_outcome(claim, control, positive) == "contradicted" for control in replaced
    )


def broken(claim, outcome):
    return replace(
        claim,
        parts=tuple(replace(p, law=Always(outcome, p.law)) for p in claim.parts),
        controls=tuple(
            replace(c, law=c.law and Always(outcome, c.law)) for c in claim.controls
        ),
    )  # fmt: skip


@pytest.mark.parametrize("claim", PAPER.claims, ids=[c.id for c in PAPER.claims])
def test_a_law_that_always_says_one_thing_is_caught(claim):
    assert sound(claim)
    for outcome in ("contradicted", "inconclusive"):
        assert not sound(broken(claim, outcome))
    if any(not control.changes for control in claim.controls):
        assert not sound(broken(claim, "supported"))


@pytest.mark.parametrize("claim", PAPER.claims, ids=[c.id for c in PAPER.claims])
def test_a_control_that_changes_nothing_is_caught(claim):
    blunt = tuple(
        replace(c, law=None, scalar=None) for c in claim.controls if not c.changes
    )  # fmt: skip
    if blunt:
        assert not sound(replace(claim, controls=blunt))
