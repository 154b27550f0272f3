"""Runs that evaluate formulas: their names and numbers, and settings that cannot be."""

import pytest

from attnlab.core import BadInput, Key
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.papers.deora2023.runs.calculator import demand, search
from attnlab.papers.deora2023.settings import DemandSettings, SearchSettings
from attnlab.papers.deora2023.theory import demands, informative


def test_a_search_is_no_worse_than_a_signal_of_one():
    cell = SearchSettings(T=4, relevant=3)
    found = search(cell, Key.of(cell, 0)).values
    sizes = MixtureSizes(4, 3, 1, 1.0, 0.75, 0.0, 0.0, 0.0)
    assert found["theorem_1_steps"] <= informative.theorem_1(sizes).steps
    assert found["corollary_2_steps"] <= informative.corollary_2(sizes).steps
    assert found["iterates_steps"] == informative.iterates(sizes)
    assert found["tightened_steps"] == informative.theorem_1(sizes, "symmetric").steps
    assert found["corollary_2_reached"] == informative.corollary_bound(sizes, 1e6)
    # The order in which the statements begin to say something, and by how much.
    assert 10 < found["tightened_steps"] < 100 < 1e5 < found["theorem_1_steps"] < 3e5
    assert found["theorem_1_steps"] < found["iterates_steps"] < found["corollary_2_steps"]


def test_a_demand_reads_every_size():
    base = DemandSettings()
    found = demand(base, Key.of(base, 0)).values
    assert found["distance"] == demands.largest_distance(1e12, 10.0, 10.0, 1.0)
    assert found["heads"] == demands.heads_for_margin(1e-3, 10.0, 10.0, 1.0, 1e6)


@pytest.mark.parametrize(
    ("changes", "words"),
    [({"H": 0.5}, "H"), ({"gamma": 0.0}, "gamma"), ({"n": 1.0}, "n"), ({"R": 0.9}, "R")],
)
def test_demands_refuse_with_the_numbers(changes, words):
    with pytest.raises(BadInput, match=words):
        DemandSettings(**changes)


def test_a_search_refuses_what_cannot_exist():
    with pytest.raises(BadInput, match="d"):
        SearchSettings(M=5)
