"""The search for a threshold: where it goes, when it ends, and that its interval holds."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.claims import Scalar
from attnlab.core import Record, Records
from attnlab.evidence.sequential import ThresholdSearch
from attnlab.evidence.threshold import confidence_sequence, fit_threshold

SIZES = tuple(sorted({round(2 * 2 ** (k / 2)) for k in range(17)}))
SEARCH = ThresholdSearch(SIZES, (8, 64), width=2.0, most=60)


@dataclass(frozen=True)
class Cell:
    N: int = 2


def searched(search, n50, slope, seed):
    """Every record of a search on trials of a known logistic curve."""
    random = np.random.default_rng(seed)
    records: list[Record] = []
    while sizes := search.further(Records(records)):
        for size in sizes:
            won = random.uniform() < 1 / (1 + (n50 / size) ** slope)
            records.append(Record("s", Cell(size), len(records), {"success": won}))
    return records


def counted(records):
    sizes = sorted({r.cell.N for r in records})
    own = [[bool(r["success"]) for r in records if n == r.cell.N] for n in sizes]
    return sizes, [sum(x) for x in own], [len(x) for x in own]


def test_trials_go_where_success_changes_and_end_when_n50_is_known():
    records = searched(SEARCH, 40.0, 12.0, 0)
    near = [r for r in records[8:] if 40 / 2.9 <= r.cell.N <= 40 * 2.9]
    assert len(near) >= 0.8 * len(records[8:])
    low, high = confidence_sequence(*counted(records))
    assert 0 < low <= 40 <= high
    assert high / low <= 1.1 * SEARCH.width  # its own grid is coarser
    assert len(records) < SEARCH.most


@pytest.mark.parametrize("slope", [3.0, 12.0])
def test_the_interval_holds_at_every_round_of_a_search(slope):
    # Ville: the chance to miss at any time is at most 5 %. 100 searches: 10 misses have p < .03.
    missed = 0
    for seed in range(100):
        n50 = float(np.exp(np.random.default_rng([seed, 1]).uniform(math.log(4), math.log(250))))
        records = searched(SEARCH, n50, slope, seed)
        rounds = range(8, len(records) + 1, SEARCH.batch)
        ends = [confidence_sequence(*counted(records[:k]), points=(240, 24)) for k in rounds]
        missed += any(not 0.98 * low <= n50 <= 1.02 * high for low, high in ends)
    assert missed <= 9


def test_a_threshold_outside_the_sizes_ends_the_search_without_a_bound():
    never = searched(SEARCH, 1e6, 12.0, 0)
    always = searched(SEARCH, 0.01, 12.0, 0)
    assert len(never) < SEARCH.most
    assert len(always) < SEARCH.most
    assert fit_threshold(*counted(never)).sequence_high == math.inf
    assert fit_threshold(*counted(always)).sequence_low == 0


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6))
def test_the_next_round_does_not_depend_on_the_order_of_the_records(seed):
    random = np.random.default_rng(seed)
    records = searched(SEARCH, 30.0, 6.0, seed)[: random.integers(8, 40)]
    mixed = [records[k] for k in random.permutation(len(records))]
    assert SEARCH.further(Records(mixed)) == SEARCH.further(Records(records))


def test_a_run_that_diverged_failed_and_any_scalar_can_tell_success():
    wins = [Record("s", Cell(n), k, {"success": True}) for n in (8, 64) for k in range(4)]
    lost = [replace(r, diverged="it grew") for r in wins]
    assert SEARCH.further(Records(wins))[0] < 8
    assert SEARCH.further(Records(lost))[0] > 64
    opposite = replace(SEARCH, success=Scalar("failure", lambda r: 1.0 - r["success"]))
    assert opposite.further(Records(wins)) == SEARCH.further(Records(lost))


@pytest.mark.parametrize(
    "wrong", [{"first": (7,)}, {"sizes": (4, 2)}, {"width": 1.0}, {"most": 7}, {"batch": 0}]
)
def test_a_search_that_cannot_go_is_refused(wrong):
    with pytest.raises(ValueError, match=r"need a width|sizes rise"):
        ThresholdSearch(**{"sizes": SIZES, "first": (8, 64), **wrong})
