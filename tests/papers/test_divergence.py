"""Divergence is named: by every run that trains, by every verdict and by every figure."""

import dataclasses
import math
import warnings

import pytest

from attnlab.core import Records
from attnlab.evidence.court import control_outcome, judge, measure
from attnlab.evidence.fixtures import positive_records
from attnlab.lab import registry
from attnlab.report import terminal
from attnlab.report.verdicts import as_json
from divergence import (
    FIGURES,
    PAPERS,
    WHY,
    assert_named,
    changed,
    diverged,
    named,
    require_figure,
    require_named_initialisation,
    require_named_steps,
    run,
    studies,
)

CLAIMS = [claim for paper in PAPERS for claim in registry.paper(paper).claims]


@pytest.mark.parametrize("study", **studies("step", quick=True))
def test_a_huge_step_is_a_named_divergence(study):
    require_named_steps(study)


@pytest.mark.parametrize("rate", [5e-324, 1e-200])
@pytest.mark.parametrize("study", **studies("small step", quick=True))
def test_a_step_without_effect_is_named(study, rate):
    assert_named(run(study, changed(study, eta=rate)))


@pytest.mark.parametrize("scale", [0.0, 1e8, 1e30, 1e300])
@pytest.mark.parametrize("study", **studies("start", quick=True))
def test_a_huge_start_is_a_named_divergence(study, scale):
    assert_named(run(study, changed(study, scale=scale)))


@pytest.mark.parametrize("c0", [1e8, 1e300])
@pytest.mark.parametrize("study", **studies("initialisation", quick=True))
def test_a_huge_initialisation_is_a_named_divergence(study, c0):
    require_named_initialisation(study, c0)


# --- verdicts ---------------------------------------------------------------------------------


def assert_judged(verdict):
    effect = verdict.effect
    assert verdict.reason
    assert effect is None or not math.isnan(effect.value)
    terminal.verdict_table([verdict])
    as_json(verdict)


@pytest.mark.parametrize("keep", [False, True], ids=["no values", "nan values"])
@pytest.mark.parametrize("claim", **named(CLAIMS))
def test_a_verdict_on_runs_that_diverged_is_a_sentence(claim, keep):
    paper = registry.paper(claim.id.partition(".")[0])
    own = positive_records(claim, paper.studies)
    every = Records(diverged(record, keep) for record in own)
    half = Records(diverged(r, keep) if i % 2 else r for i, r in enumerate(own))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        verdict = judge(claim, every, {c.name: every for c in claim.controls}, scale="smoke")
        assert verdict.outcome == "inconclusive"
        assert WHY in verdict.reason
        assert verdict.diverged_runs == len(every)
        assert_judged(verdict)
        # A fixture has what the laws read, and not all that hypotheses and trivial bounds do.
        for reading in measure(claim, half).readings:
            for part in reading.parts:
                assert part.effect is None or not math.isnan(part.effect.value)
        for control in claim.controls:
            assert control_outcome(claim, control, half)


def test_a_hypothesis_without_a_number_is_a_sentence():
    claim = registry.resolve("deora2023.lemma_2").claims[0]
    own = positive_records(claim, registry.paper("deora2023").studies)

    def divides(records):
        return (1 / (len(records) - len(own)),)

    verdict = judge(dataclasses.replace(claim, hypotheses=divides), own, {}, scale="smoke")
    assert verdict.outcome == "inconclusive"
    assert "the hypotheses have no values at these settings" in verdict.reason


# --- figures ----------------------------------------------------------------------------------


@pytest.mark.parametrize("figure", **named(FIGURES))
def test_a_figure_over_runs_that_diverged_is_drawn_or_says_why_not(figure):
    require_figure(figure, lambda study, cell: {})
