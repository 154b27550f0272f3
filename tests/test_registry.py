"""Rules that every installed paper must obey, ours and the toy one."""

import ast
import re
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import get_args

import pytest

from attnlab.claims import Hypothesis, Kind
from attnlab.core import SCALES
from attnlab.evidence.court import control_outcome, measure
from attnlab.evidence.fixtures import positive_records
from attnlab.evidence.laws import Monotone, Power, Range, Share
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.statement import decisive_parts
from attnlab.evidence.threshold_laws import Prefers, Threshold, ThresholdRatio
from attnlab.lab import registry
from attnlab.lab.worker import import_string
from attnlab.plotting import Film

PAPERS = list(registry.papers().values())
CLAIMS = [claim for paper in PAPERS for claim in paper.claims]
STUDIES = [study for paper in PAPERS for study in paper.studies]
FILES = [
    path
    for paper in PAPERS
    for path in sorted(Path(str(sys.modules[paper.package].__file__)).parent.rglob("*.py"))
]
CLAIM_FILES = [path for path in FILES if "claims" in (path.stem, path.parent.name)]
MOST_LINES_A_CLAIM = 35
# Two words joined by an underscore; the papers' letters have one too (W_KQ, gamma_attn).
GREEK = "alpha|beta|gamma|delta|epsilon|eta|kappa|lambda|mu|rho|sigma|tau|theta|zeta"
CODE_NAME = re.compile(rf"(?<![a-z])(?!(?:{GREEK})_)[a-z]{{3,}}_[a-z]{{3,}}")


def ids(items):
    return [item.id for item in items]


def test_ids_are_unique_and_begin_with_their_paper():
    for paper in PAPERS:
        assumptions = paper.hypotheses.assumptions if paper.hypotheses else ()
        for kind in (paper.studies, (*paper.claims, *assumptions), paper.figures):
            assert len(set(ids(kind))) == len(kind)
            assert all(item.id.startswith(f"{paper.id}.") for item in kind)


# --- claims -----------------------------------------------------------------------------------


@pytest.mark.parametrize("claim", CLAIMS, ids=ids(CLAIMS))
def test_every_claim_says_what_it_is_and_where_it_is_stated(claim):
    assert claim.kind in get_args(Kind)
    assert str(claim.source) or claim.kind == "finding"
    for text in (claim.title, claim.statement, claim.stated, claim.measured):
        assert text.strip()
    for reading in claim.readings:
        assert reading.why.strip()
    for part in claim.parts:
        assert not CODE_NAME.search(part.scalar.name), part.scalar.name


@pytest.mark.parametrize("claim", CLAIMS, ids=ids(CLAIMS))
def test_every_claim_holds_on_its_fixture_and_its_controls_do_not(claim):
    positive = positive_records(claim, STUDIES)
    found = measure(claim, positive)
    assert found.outcome == "supported", [
        (part.name, part.outcome, part.effect, part.detail)
        for reading in found.readings
        for part in reading.parts
        if part.outcome != "supported"
    ]
    for control in claim.controls:
        assert control.changes or control.law is not None or control.scalar is not None
        if not control.changes:
            assert control_outcome(claim, control, positive) == "contradicted", control.name


@pytest.mark.parametrize("claim", CLAIMS, ids=ids(CLAIMS))
def test_every_claim_names_studies_that_exist_and_controls_that_change_them(claim):
    studies = [registry.study(name) for name in claim.studies]
    known = {f.name for study in studies for f in fields(study.settings)}
    for varied in (*claim.controls, *claim.routes):
        assert set(varied.changes) <= known
    for part in claim.parts:
        for name in part.studies:
            study = registry.study(name)
            cells = map(study.resolve, study.designs["paper"].cells)  # smoke may leave some out
            assert any(map(part.cells, cells)), f"{part.name} looks at no cell"


def turned_round(law, other) -> bool:
    """Whether one law is the other with its relation turned round."""
    if type(law) is not type(other):
        return False
    match law:
        case Range():
            return (law.low == -float("inf")) != (other.low == -float("inf")) and (
                (law.high == float("inf")) != (other.high == float("inf"))
            )
        case Power():
            opposite = {"at_most": "at_least", "at_least": "at_most"}.get(law.relation)
            return other.relation == opposite
        case Monotone():
            return law.direction != other.direction
        case Share():
            return law.at_most != other.at_most or turned_round(law.inside, other.inside)
        case Paired():
            return turned_round(law.inside, other.inside) or (
                (law.value, law.other) == (other.other, other.value)
            )
        case Threshold() | ThresholdRatio():
            return turned_round(law.law, other.law)
        case Prefers():
            return other.stated in law.rivals and law.stated in other.rivals
    return False


def test_what_counts_as_turned_round():
    assert turned_round(Monotone("x"), Monotone("x", "decreasing"))
    assert not turned_round(Power("x", 1.0), Power("x", 2.0))
    most, least = Range(-float("inf"), 1.0), Range(1.0, float("inf"))
    assert turned_round(most, least)
    assert not turned_round(most, replace(most, high=0.5))
    assert turned_round(Share(most), Share(least))


@pytest.mark.parametrize("claim", CLAIMS, ids=ids(CLAIMS))
def test_some_control_does_more_than_turn_the_relation_round(claim):
    aimed = {
        control.name: [p.law for p in decisive_parts(claim) if control.part in ("", p.name)]
        for control in claim.controls
    }
    biting = [
        control
        for control in claim.controls
        if control.changes
        or control.scalar is not None
        or not any(turned_round(law, control.law) for law in aimed[control.name])
    ]
    assert biting, "every control is the law with its relation turned round"


def test_every_figure_has_a_claim_of_its_own():
    for paper in PAPERS:
        shows = {f.id for f in paper.figures if not isinstance(f, Film)}
        assert shows <= {c.id for c in paper.claims}


# --- one language -----------------------------------------------------------------------------


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_law_lives_inside_a_paper(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ClassDef):
            methods = {f.name for f in node.body if isinstance(f, ast.FunctionDef)}
            assert not {"judge", "measure", "cutoff"} & methods, f"{node.name} is a law"


@pytest.mark.parametrize("path", CLAIM_FILES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_files_of_claims_hold_statements_and_no_dialect(path):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not [n.name for n in ast.walk(tree) if isinstance(n, ast.ClassDef)]
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        called = {
            n.func.id
            for n in ast.walk(function)
            if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)
        }
        # Two statements that differ in a size may share a private function of their own file.
        builds = called & {"statement", "Claim"}
        assert not builds or function.name.startswith("_"), f"{function.name} builds claims"
        assert not called & {"fit_exponent", "mean_interval", "wilson", "bootstrap_interval"}, (
            f"{function.name} measures"
        )


def test_lines_of_claims_stay_within_their_budget():
    ours = [p for p in CLAIM_FILES if "attnlab_toy" not in p.parts]
    lines = sum(len(path.read_text(encoding="utf-8").splitlines()) for path in ours)
    claims = sum(len(paper.claims) for paper in PAPERS if paper.id != "toy")
    assert lines <= MOST_LINES_A_CLAIM * claims


# --- hypothesis tables ------------------------------------------------------------------------

ASSUMED = [paper for paper in PAPERS if paper.hypotheses]


def test_every_paper_has_a_hypothesis_table():
    assert ids(ASSUMED) == ids(PAPERS)


@pytest.mark.parametrize("paper", ASSUMED, ids=ids(ASSUMED))
def test_every_row_of_a_hypothesis_table_is_computed_from_settings(paper):
    cells = [*paper.hypotheses.printed.values()]  # none for a paper without experiments
    cells += [c for s in paper.studies for c in map(s.resolve, s.designs["smoke"].cells)]
    for assumption in paper.hypotheses.assumptions:
        assert assumption.title
        assert assumption.statement
        assert assumption.source.section
        rows = [row for cell in cells for row in assumption.rows(cell)]
        assert rows, f"{assumption.id} concerns no cell"
        assert all(isinstance(row, Hypothesis) and row.name for row in rows)


def test_nothing_that_is_listed_imports_jax():
    code = (
        "import sys; sys.path.insert(0, 'tests/plugins');"
        "from attnlab.lab import registry; papers = registry.papers().values();"
        "[a.rows(c) for p in papers if p.hypotheses for a in p.hypotheses.assumptions"
        " for c in p.hypotheses.printed.values()];"
        "assert len(papers) > 3; assert 'jax' not in sys.modules"
    )
    root = Path(__file__).parent.parent
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


# --- studies ----------------------------------------------------------------------------------


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
