"""Trials that the sequential design of N50 takes, against a grid with the same interval.

The grid has the paper's 20 trials at each of 17 sizes from 2 to 512. The search goes on until its
95 % confidence sequence is as narrow as the grid's, computed in the same way. First on trials of
known curves, N50 from 4 to 250 and as steep as figure 1(a)'s; then on trials of figure 1(a), which
are really trained (engine `collapsed`), both designs from the same pool of seeds. Required: at
least 3 times fewer trials, at the median. Exits 1 if that is missed.

    NPROC=1 JAX_ENABLE_X64=1 python -m benchmarks sequential
"""

import functools
import math
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace

os.environ.setdefault("NPROC", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import numpy as np

from attnlab.cells import Key
from attnlab.core import Record, Records
from attnlab.evidence.sequential import POINTS, ThresholdSearch
from attnlab.evidence.threshold import confidence_sequence
from attnlab.papers.li2023.studies import designs
from benchmarks.measuring import measured

SIZES = designs.sizes(512)
TRIALS = 20
SLOPES = (4.0, 8.0, 16.0)
CURVES = 60
REAL = (0.3, 0.35, 0.44)
"""Fractions alpha_* of figure 1(a)'s slice."""

Trial = Callable[[int, int], bool]
"""Whether the trial of a size and a seed succeeds."""


@dataclass(frozen=True)
class Cell:
    """The one setting that a search chooses."""

    N: int


def width(records: list[Record]) -> float:
    """Upper over lower end of the confidence sequence."""
    won: dict[int, list[bool]] = {}
    for record in records:
        won.setdefault(record.cell.N, []).append(bool(record["success"]))
    rows = [(size, sum(x), len(x)) for size, x in sorted(won.items())]
    low, high = confidence_sequence(*zip(*rows, strict=True), points=POINTS)
    return high / low if low > 0 else math.inf


def record(trial: Trial, size: int, seed: int) -> Record:
    """One trial as a search reads it."""
    return Record("bench", Cell(size), seed, {"success": trial(size, seed)})


def times_fewer(trial: Trial) -> float:
    """Trials of the grid over those of a search that is as sure of N50; nan if it never is."""
    wanted = width([record(trial, size, seed) for size in SIZES for seed in range(TRIALS)])
    if not math.isfinite(wanted):
        return math.nan
    most = TRIALS * len(SIZES)
    search = ThresholdSearch(SIZES, (8, 64), width=wanted, most=most)
    made: list[Record] = []
    while sizes := search.further(Records(made)):
        for size in sizes:
            made.append(record(trial, int(size), sum(size == r.cell.N for r in made)))
    return most / len(made) if width(made) <= wanted else math.nan


def curve(number: int) -> Trial:
    """Trials of a logistic curve with a known N50 and slope."""
    slope = SLOPES[number % len(SLOPES)]
    n50 = 4 * (250 / 4) ** (number / (CURVES - 1))

    def trial(size: int, seed: int) -> bool:
        chance = 1 / (1 + (n50 / size) ** slope)
        return bool(np.random.default_rng([number, size, seed]).uniform() < chance)

    return trial


def trained(alpha_star: float) -> Trial:
    """Trials of figure 1(a): whether the trained network's test loss is below 1e-3."""
    from attnlab.papers.li2023.runs import trial as runs
    from attnlab.papers.li2023.studies.engine_choice import resolve

    base = replace(designs.CHECKED, alpha_star=alpha_star)

    @functools.cache
    def trial(size: int, seed: int) -> bool:
        cell = resolve(replace(base, N=size))
        return bool(runs.train(cell, Key.of(cell, seed)).values["success"])

    return trial


def shown(name: str, ratios: list[float]) -> bool:
    """The ratios of one kind; a design that never gets there misses the requirement."""
    known = [ratio for ratio in ratios if math.isfinite(ratio)]
    print(f"  {name}: {len(known)} of {len(ratios)} searches are as sure as their grid")
    return measured(f"trials of a grid over those of a search, {name}", known, 3) and (
        len(known) >= 0.9 * len(ratios)
    )


def main() -> int:
    """Run the benchmark."""
    met = shown("known curves", [times_fewer(curve(k)) for k in range(CURVES)])
    return 0 if shown("figure 1(a)", [times_fewer(trained(a)) for a in REAL]) and met else 1


if __name__ == "__main__":
    sys.exit(main())
