"""What a command may change: a setting that none of its runs depends on is refused."""

import pytest

from attnlab import cells
from attnlab.core import BadInput
from attnlab.lab import plan, registry

WITHOUT_EFFECT = [
    ("deora2023.finding_drawn_data", {"n": "100"}, "n=100 has no effect on deora2023.data"),
    ("deora2023.proposition_2", {"start": "random"}, "no effect on deora2023.good_start"),
    ("deora2023.proposition_2", {"scale": "3"}, "the start is the one that phase 1 makes"),
    ("deora2023.random_initialisation", {"start": "zero"}, "random heads are what is studied"),
    ("deora2023.equation_14", {"start": "random"}, "the theorem's start is the one phase 1 makes"),
    ("deora2023.margin_order", {"labels": "shuffled"}, "no sample is drawn"),
    ("li2023.theorem_1", {"removed": "0.3"}, "no token is removed"),
    ("yang2024.lemma_d1", {"rtol": "1e-9"}, "nothing is trained"),
    ("yang2024.figure_1", {"horizon": "7"}, "it is of the flow, not of method=descent"),
]
REFUSED = [
    ("deora2023.lemma_2", {"n1": "0"}, "take n1 >= 1"),
    ("deora2023.random_initialisation", {"H": "1e9"}, "at most 1048576"),
    ("deora2023.random_initialisation", {"H": "0.5"}, "a whole number of heads"),
    ("deora2023.equation_14", {"K": "100000000"}, "every step is kept"),
    ("deora2023.other_good_starts", {"points": "atoms", "Z": "0", "Z_mu": "0", "Z_nu": "0"},
     "take points=samples"),
    ("li2023.theorem_1", {"set_size": "2"}, "a distance 0 within sets of 2"),
    ("yang2024.lemma_d1", {"engine": "gram"}, "take --engine weights"),
]  # fmt: skip


def planned(name: str, changes: dict[str, str]) -> list[plan.Task]:
    target = registry.resolve(name)
    return plan.everything_for(
        [*target.claims, *target.figures], plan.Request("smoke", changes=changes)
    )


@pytest.mark.parametrize(("name", "changes", "words"), WITHOUT_EFFECT + REFUSED)
def test_what_has_no_effect_is_refused_before_anything_runs(name, changes, words):
    with pytest.raises(BadInput, match=words):
        planned(name, changes)


def test_a_setting_is_accepted_where_one_study_of_the_command_depends_on_it():
    for changes in ({"scale": "2.0"}, {"labels": "shuffled"}, {"n": "40"}):
        assert planned("deora2023", changes)


def test_the_value_of_the_design_is_accepted_even_where_it_has_no_effect():
    assert planned("deora2023.finding_drawn_data", {"n": "48"})


def test_two_settings_that_need_each_other_are_accepted_together():
    assert planned("li2023.theorem_1", {"removed": "0.3", "selector": "random", "engine": "exact"})


@pytest.mark.parametrize("paper", registry.papers())
def test_every_variant_changes_a_run_of_its_studies(paper):
    for item in (*registry.paper(paper).claims, *registry.paper(paper).figures):
        for changes in plan.variants_of(item):
            for name in changes:
                reasons = [
                    study.without_effect(name, cells.override(cell, changes))
                    for study in map(registry.study, item.studies)
                    for cell in study.designs["smoke"].cells
                    if name in cell.__dataclass_fields__
                ]
                assert not all(reasons), (item.id, name)
