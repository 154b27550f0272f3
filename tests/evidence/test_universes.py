from collections import Counter

import numpy as np
import pytest

from attnlab.evidence.universes import Factor, Universe, opposite_neighbours, sample, tally

ETA = Factor("eta", 0.5, (0.2, 1.0))
QUERIES = Factor("queries", "other", ("keys",))
BATCH = Factor("B", 20, (5, 100))
FACTORS = (ETA, QUERIES, BATCH)


def test_the_designed_universe_is_first_then_each_neighbour_then_combinations():
    found = sample(FACTORS, 14)
    assert found[0] == Universe({})
    assert [len(u.changes) for u in found[1:6]] == [1] * 5
    assert {(k, v) for u in found[1:6] for k, v in u.changes.items()} == {
        ("eta", 0.2), ("eta", 1.0), ("queries", "keys"), ("B", 5), ("B", 100)
    }  # fmt: skip
    assert len({str(u) for u in found}) == 14
    assert found == sample(FACTORS, 14)
    assert sample(FACTORS, 5) == found[:5]


def test_no_more_universes_than_there_are():
    assert len(sample(FACTORS, 1000)) == 3 * 2 * 3
    assert sample((), 8) == (Universe({}),)


def test_levels_of_the_combinations_are_balanced():
    factors = tuple(Factor(f"f{k}", 0, (1, 2)) for k in range(6))
    combinations = sample(factors, 200)[13:]
    for factor in factors:
        counts = Counter(u.level(factor) for u in combinations)
        assert max(counts.values()) - min(counts.values()) <= 12


def outcomes(universes, rule):
    return [rule(u) for u in universes]


def test_all_of_one_outcome_decides():
    universes = sample(FACTORS, 12)
    for word in ("supported", "contradicted"):
        assert tally(FACTORS, universes, [word] * 12).outcome == word


def test_universes_that_cannot_decide_stay_in_the_denominator():
    universes = sample(FACTORS, 12)
    found = ["supported"] * 10 + ["undecided"] * 2
    assert tally(FACTORS, universes, found).outcome == "inconclusive"
    assert tally(FACTORS, universes, ["supported"] * 11 + ["diverged"]).outcome == "supported"


def test_a_level_below_one_half_denies_support():
    factor = Factor("x", 0, (1,))
    universes = [Universe({"y": k}) for k in range(37)]
    universes += [Universe({"x": 1, "y": k}) for k in range(3)]
    found = ["supported"] * 38 + ["undecided"] * 2
    assert tally((factor,), universes, found).outcome == "inconclusive"


def test_depends_needs_a_confirmed_pair_or_levels_told_apart():
    universes = sample(FACTORS, 6)
    found = ["contradicted" if u.level(ETA) == 1.0 else "supported" for u in universes]
    pairs = opposite_neighbours(FACTORS, universes, found)
    assert {f.name for _, _, f in pairs} == {"eta"}
    assert tally(FACTORS, universes, found).outcome == "inconclusive"
    confirmed = tally(FACTORS, universes, found, [pairs[0][:2]])
    assert confirmed.outcome == "depends"
    assert "holds at eta = 0.5, fails at eta = 1.0" in confirmed.flips


def test_neighbours_differ_in_one_choice_and_are_decided_oppositely():
    universes = [
        Universe({}),
        Universe({"eta": 1.0}),
        Universe({"B": 5}),
        Universe({"eta": 1.0, "B": 5}),
        Universe({"queries": "keys"}),
    ]
    found = ["supported", "contradicted", "contradicted", "supported", "undecided"]
    pairs = opposite_neighbours(FACTORS, universes, found)
    assert [(a, b, f.name) for a, b, f in pairs] == [
        (0, 1, "eta"), (0, 2, "B"), (1, 3, "B"), (2, 3, "eta")
    ]  # fmt: skip


def test_levels_are_told_apart_by_an_exact_test():
    universes = [Universe({"eta": level, "seed": k}) for level in (0.2, 1.0) for k in range(8)]
    found = ["supported" if u.changes["eta"] == 0.2 else "contradicted" for u in universes]
    assert tally((ETA, BATCH), universes, found).outcome == "depends"


@pytest.mark.parametrize("truth", [0.05, 0.5])
def test_outcomes_by_chance_seldom_depend(truth):
    """Outcomes that no factor moves: Fisher with Holm calls at most 5 % of them dependent."""
    random = np.random.default_rng(0)
    universes = sample(FACTORS, 18)
    false = 0
    for _ in range(300):
        found = ["supported" if random.uniform() > truth else "contradicted" for _ in universes]
        false += tally(FACTORS, universes, found).outcome == "depends"
    assert false <= 0.05 * 300
