"""What the benchmarks share: interleaved times, requirements, and a record of what was measured.

Machines are noisy, so that times are taken in turn within one process and only quotients of them
are compared. A line is remembered in the file that `ATTNLAB_BENCH` names, for the table of all.
"""

import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

FILE = "ATTNLAB_BENCH"


@dataclass(frozen=True)
class Line:
    """One measured number: its median and spread over repetitions, and what is required of it."""

    bench: str
    name: str
    median: float
    low: float
    high: float
    required: float | None = None
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether the requirement is met, if there is one."""
        if self.required is None:
            return True
        return self.median >= self.required if self.at_least else self.median <= self.required

    def __str__(self) -> str:
        spread = f" [{self.low:.3g}, {self.high:.3g}]" if self.low < self.high else ""
        text = f"{self.name}: {self.median:.3g}{spread}"
        if self.required is None:
            return text
        side = "at least" if self.at_least else "at most"
        return f"{text} (required: {side} {self.required:g}) {'met' if self.met else 'MISSED'}"


def seconds(run: Callable[[], Any], clock: Callable[[], float] = time.perf_counter) -> float:
    """The time of one run, until its arrays are there."""
    import jax

    begin = clock()
    jax.block_until_ready(run())
    return clock() - begin


def interleaved(
    repetitions: int,
    runs: Mapping[str, Callable[[], Any]],
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, list[float]]:
    """The times of each, taken in turn, after one round that compiles."""
    for run in runs.values():
        seconds(run)
    rows = [[seconds(run, clock) for run in runs.values()] for _ in range(repetitions)]
    return dict(zip(runs, map(list, zip(*rows, strict=True)), strict=True))


def quotients(over: Sequence[float], under: Sequence[float], factor: float = 1.0) -> list[float]:
    """Round by round: how many times as long as `under` is `over`, times a factor."""
    return [factor * a / b for a, b in zip(over, under, strict=True)]


def measured(
    name: str,
    values: float | Sequence[float],
    required: float | None = None,
    *,
    at_least: bool = True,
) -> bool:
    """Print and remember a number; whether what is required of it holds."""
    found = list(values) if isinstance(values, Sequence) else [values]
    bench = Path(sys.argv[0]).stem.removeprefix("bench_")
    line = Line(bench, name, statistics.median(found), min(found), max(found), required, at_least)
    print(f"  {line}", flush=True)
    if path := os.environ.get(FILE):
        with open(path, "a") as file:
            file.write(json.dumps(asdict(line)) + "\n")
    return line.met
