"""Searches of deora2023 for tight bounds: a search raises the quotient that it is told to raise."""

import pytest

from attnlab.cells import Key
from attnlab.papers.deora2023.runs import tight_bounds
from attnlab.papers.deora2023.settings import AscentSettings

pytestmark = pytest.mark.soak


@pytest.mark.parametrize("objective", tight_bounds.RATIOS)
def test_a_search_raises_what_it_is_told_to(objective):
    """More steps, a larger quotient, and never one above 1; told nothing, it stays where it is."""
    key = Key("{}", 5)
    found = []
    for steps in (1, 60, 120):
        cell = AscentSettings(T=3, d=2, objective=objective, steps=steps)
        found.append(tight_bounds.ascend(cell, key).values[f"{objective}_sharp"])
    assert found[0] < found[1] < found[2] <= 1
    idle = [tight_bounds.ascend(AscentSettings(T=3, d=2, steps=s), key).values for s in (1, 60)]
    assert idle[0] == idle[1]
    assert idle[0][f"{objective}_sharp"] == pytest.approx(found[0])
