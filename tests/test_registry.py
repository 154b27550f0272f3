"""Rules that every installed paper must obey, ours and the toy one."""

import sys
from dataclasses import fields

import pytest

from attnlab.core import SCALES
from attnlab.evidence.evaluate import control_outcome
from attnlab.lab import registry
from attnlab.lab.worker import import_string

PAPERS = list(registry.papers().values())
CLAIMS = [claim for paper in PAPERS for claim in paper.claims]
STUDIES = [study for paper in PAPERS for study in paper.studies]


def ids(items):
    return [item.id for item in items]


def test_ids_are_unique_and_begin_with_their_paper():
    for paper in PAPERS:
        for kind in (paper.studies, paper.claims, paper.figures):
            assert len(set(ids(kind))) == len(kind)
            assert all(item.id.startswith(f"{paper.id}.") for item in kind)


@pytest.mark.parametrize("claim", CLAIMS, ids=ids(CLAIMS))
def test_every_claim_has_a_control_and_a_positive_fixture(claim):
    assert claim.controls, "a check that cannot fail is a defect"
    for control in claim.controls:
        assert control.changes or control.law is not None, f"{control.name} changes nothing"
    positive = claim.positive()
    assert claim.measure(positive, claim.law).outcome == "supported"
    for control in claim.controls:
        if control.law is not None and not control.changes:
            assert control_outcome(claim, control, positive) == "contradicted", control.name


@pytest.mark.parametrize("claim", CLAIMS, ids=ids(CLAIMS))
def test_every_claim_names_studies_that_exist_and_controls_that_change_them(claim):
    studies = [registry.study(name) for name in claim.studies]
    known = {f.name for study in studies for f in fields(study.settings)}
    for control in claim.controls:
        assert set(control.changes) <= known


def test_every_figure_has_a_claim_of_its_own():
    for paper in PAPERS:
        assert {f.id for f in paper.figures} <= {c.id for c in paper.claims}


@pytest.mark.parametrize("study", STUDIES, ids=ids(STUDIES))
def test_every_study_has_a_design_at_every_scale_and_settings_with_an_origin(study):
    assert set(study.designs) == set(SCALES)
    for design in study.designs.values():
        assert design.trials >= 1
        assert design.cells
        assert all(isinstance(cell, study.settings) for cell in design.cells)
        assert all(study.cost(cell) > 0 for cell in design.cells)
        assert all(getattr(study.resolve(cell), "engine", "") != "auto" for cell in design.cells)
    for field in fields(study.settings):
        assert field.metadata["origin"] in ("paper", "inferred", "ours")
        assert field.metadata["help"]


@pytest.mark.parametrize("study", STUDIES, ids=ids(STUDIES))
def test_every_run_can_be_imported(study):
    assert callable(import_string(study.run))
    assert import_string(f"{study.settings.__module__}:{study.settings.__qualname__}")


def test_the_toy_paper_came_through_the_entry_point():
    assert "toy" in registry.papers()
    assert "attnlab_toy" in sys.modules
