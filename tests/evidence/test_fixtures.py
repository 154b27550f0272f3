"""Synthetic trials: how often they succeed, at which sizes."""

from dataclasses import dataclass, replace

import pytest

from attnlab.evidence.fixtures import step_trials


@dataclass(frozen=True)
class Cell:
    N: int = 1
    x: float = 1.0


def test_trials_succeed_by_a_steep_curve_around_n50():
    cells = [Cell(x=1.0), Cell(x=2.0)]
    records = step_trials("p.s", cells, lambda cell: 100 * cell.x, seeds=200)
    for x in (1.0, 2.0):
        own = [r for r in records if r.cell.x == x]
        sizes = sorted({r.cell.N for r in own})
        assert len(sizes) == 15
        assert (sizes[0], sizes[-1]) == (25 * x, 400 * x)
        for size in sizes:
            wins = [r["success"] for r in own if size == r.cell.N]
            assert len(wins) == 200
            chance = 1 / (1 + (100 * x / size) ** 12)
            assert sum(wins) / 200 == pytest.approx(chance, abs=0.12)
    assert {r.seed for r in records} == set(range(200))


def test_sizes_are_whole_positive_and_resolved():
    records = step_trials(
        "p.s", [Cell()], lambda _: 1.0, seeds=1, key="won", resolve=lambda c: replace(c, x=7.0)
    )
    assert sorted({r.cell.N for r in records}) == [1, 2, 3, 4]
    assert all(r.cell.x == 7.0 and "won" in r.values for r in records)
