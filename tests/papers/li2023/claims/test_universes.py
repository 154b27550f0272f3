"""Which universes the claims of li2023 have: their parts see them, their hypotheses hold there."""

import pytest

from attnlab.evidence.statement import decisive_parts
from attnlab.lab import multiverse, plan, registry
from attnlab.lab.plan import Request
from attnlab.papers.li2023.claims import CLAIMS

REQUEST = Request("quick")
BY_ID = {claim.id.removeprefix("li2023."): claim for claim in CLAIMS}
CARRYING = [name for name, claim in BY_ID.items() if claim.kind in multiverse.CARRIES]


def levels(name):
    return {f.name: set(f.others) for f in multiverse.factors_of(BY_ID[name], REQUEST)}


def looked_at(part, changes):
    """Cells of a part in a universe's design."""
    request = multiverse._coarse(REQUEST)
    designs = (plan.design_cells(registry.study(s), request, changes) for s in part.studies)
    return sum(part.cells(cell) for own in designs for cell in own)


@pytest.mark.parametrize("name", CARRYING)
def test_no_universe_takes_a_part_all_of_its_cells(name):
    parts = decisive_parts(BY_ID[name])
    designed = {p.name for p in parts if looked_at(p, {})}
    assert designed
    universes = multiverse.universes_of(BY_ID[name], REQUEST, 24)
    assert len(universes) == 24
    for universe in universes:
        seen = {p.name for p in parts if looked_at(p, universe.changes)}
        assert designed <= seen, str(universe)


def test_step_sizes_and_readings_of_sigma_are_universes_of_figure_2_and_remark_3():
    for name in ("figure_2", "remark_3"):
        assert {0.1, 0.2, 1.0} <= levels(name)["eta"]
        assert "worst" in levels(name)["sigma_as"]


def test_first_models_outside_assumption_1_are_universes_of_figures_only():
    for name in ("figure_1a", "figure_1b", "figure_2", "figure_4", "figure_5"):
        assert {"worst", "scale", "free"} == levels(name)["sigma_as"]
        assert "printed" in levels(name)["initial"]
    assert levels("remark_3")["sigma_as"] == {"worst"}
    # At sigma = .1 values of that scale have unit norm and no error: within the assumption.
    for name in ("remark_2", "extension_g1", "extension_g4", "lemma_2_claim_3"):
        assert levels(name)["sigma_as"] == {"worst", "scale"}
        assert "initial" not in levels(name)


def test_what_readings_go_over_is_no_choice_of_universes():
    assert "combination" not in levels("extension_g3")
