"""Sweeps: the runs of a grid of settings, from words, numbers or a TOML file.

    paper = "li2023"            # or a study: "li2023.figure_5"
    seeds = 8
    [set]
    steps = 500
    [grid]
    alpha_star = [0.3, 0.4, 0.5]
    N = [16, 32, 64]

A sweep's runs are those of the study: same identity, same bits, in the same kind of ledger.
"""

import difflib
import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from itertools import product
from pathlib import Path
from typing import Any

from attnlab import cells
from attnlab.cells import Cell, SettingValue
from attnlab.core import BadInput, Bench, Study
from attnlab.lab import registry
from attnlab.lab.plan import Task

MOST_RUNS = 1_000_000
LONGEST_PART = 20
"""Letters of `I/K`: more runs than these have digits for there are not."""
KEYS = {"paper": str, "seeds": int, "seed": int, "set": dict, "grid": dict}
"""What a sweep's file may hold, and of which type."""


@dataclass(frozen=True)
class Sweep:
    """A grid of settings of one study, every combination with so many seeds."""

    target: str
    """A paper or a study."""
    grid: Mapping[str, Sequence[Any]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    seeds: int = 1
    first_seed: int = 0
    text: bool = False
    """Whether values are words from the command line."""
    where: str = ""
    """The file that it is from, for sentences."""


def study_of(name: str) -> tuple[Study, Bench | None]:
    """The study that an id stands for in `train` and `sweep`, and the paper's bench."""
    target = registry.resolve(name)
    bench = target.paper.bench
    if name == target.paper.id:
        if bench is not None:
            return registry.study(bench.study), bench
        if len(target.paper.studies) == 1:
            return target.paper.studies[0], None
        ids = ", ".join(study.id for study in target.paper.studies)
        raise BadInput(f"{name} has several studies and names none for this; give one of {ids}")
    if not target.studies:
        kind = "figure" if target.figures else "claim" if target.claims else "hypothesis"
        ids = ", ".join(study.id for study in target.paper.studies)
        raise BadInput(
            f"{name} is a {kind}; give the paper {target.paper.id} or one of its studies: {ids}"
        )
    return target.studies[0], bench


def cell_of(study: Study, settings: Mapping[str, Any], *, text: bool = False) -> Cell:
    """A cell of the study's settings class: defaults, with these changed, without `auto`."""
    cells.require_known(settings, [study.settings])
    base = cells.override(study.settings(), settings, text=text)
    cell = study.resolve(base)
    for name in settings:
        default = next(f.default for f in fields(study.settings) if f.name == name)
        if getattr(base, name) != default and (why := study.without_effect(name, cell)):
            raise BadInput(
                f"{name}={getattr(base, name)} has no effect on {study.id}: {why}; leave it out"
            )
    return cell


def tasks(sweep: Sweep) -> list[Task]:
    """Every run of a sweep, each once, in the order of the grid."""
    with _placed(sweep.where and f"{sweep.where}: paper"):
        study, _ = study_of(sweep.target)
    with _placed(sweep.where):
        _require_numbers(sweep)
        cells.require_known([*sweep.fixed, *sweep.grid], [study.settings])
    unique: dict[str, Task] = {}
    for values in product(*sweep.grid.values()):
        point = dict(zip(sweep.grid, values, strict=True))
        with _placed(sweep.where, point):
            cell = cell_of(study, {**sweep.fixed, **point}, text=sweep.text)
            if not math.isfinite(study.cost(cell)):
                raise BadInput("its time has no end; give less extreme settings")
        for seed in range(sweep.first_seed, sweep.first_seed + sweep.seeds):
            name = cells.identity(study.id, cell, seed)
            unique.setdefault(name, Task(study, cell, seed, name))
    return list(unique.values())


def read(path: Path) -> Sweep:
    """A sweep from a TOML file; a sentence with file and key for what it may not hold."""
    try:
        with path.open("rb") as file:
            given = tomllib.load(file)
    except OSError as error:
        raise BadInput(f"cannot read {path}: {error.strerror}; give the name of a file") from None
    except (ValueError, RecursionError) as error:  # Python's own too: digits or brackets no end
        raise BadInput(
            f"{path} is not TOML that can be read: {error}; write e.g. paper = 'li2023' and a "
            "table [grid] of lists"
        ) from None
    for name, value in given.items():
        if name not in KEYS:
            near = difflib.get_close_matches(name, KEYS, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise BadInput(f"{path}: no key is called {name}; {hint}keys are {', '.join(KEYS)}")
        kind = KEYS[name]
        if not isinstance(value, kind) or isinstance(value, bool):
            wanted = {str: "a text", int: "a whole number", dict: "a table"}[kind]
            raise BadInput(f"{path}: {name} = {value!r}; {name} takes {wanted}")
    if "paper" not in given:
        raise BadInput(f"{path}: the key paper is missing; give e.g. paper = 'li2023'")
    for name, value in given.get("set", {}).items():
        _require_plain(path, f"set.{name}", value)
    for name, values in given.get("grid", {}).items():
        if not isinstance(values, list) or not values:
            raise BadInput(f"{path}: grid.{name} = {values!r}; give a list of values")
        for value in values:
            _require_plain(path, f"grid.{name}", value)
    return Sweep(
        given["paper"],
        given.get("grid", {}),
        given.get("set", {}),
        given.get("seeds", 1),
        given.get("seed", 0),
        where=str(path),
    )


def parse_grid(words: Sequence[str]) -> dict[str, list[str]]:
    """`("N=16,32", "alpha_star=.3,.4")` as lists of words."""
    grid: dict[str, list[str]] = {}
    for word in words:
        name, equals, values = word.partition("=")
        levels = [value.strip() for value in values.split(",")]
        if not equals or not name.strip() or not all(levels):
            raise BadInput(f"--grid {word!r} is not of the form name=a,b,c; write e.g. N=16,32,64")
        if name.strip() in grid:
            raise BadInput(f"--grid {name.strip()} was given twice; put all values into one")
        grid[name.strip()] = levels
    return grid


def _require_plain(path: Path, name: str, value: object) -> None:
    if not isinstance(value, bool | int | float | str):
        raise BadInput(f"{path}: {name} = {value!r}; a setting takes a number, a text or a switch")
    if isinstance(value, str) and cells.OWN.fullmatch(value):
        raise BadInput(
            f"{path}: {name} = {value!r} names code, which no file may have executed; give such a "
            "part on the command line or in Python"
        )


def _require_numbers(sweep: Sweep) -> None:
    for name, values in sweep.grid.items():
        if isinstance(values, str) or not isinstance(values, Sequence) or not len(values):
            raise BadInput(f"got {name}={values!r} in the grid; give a list of values")
    both = set(sweep.grid) & set(sweep.fixed)
    if both:
        raise BadInput(f"{min(both)} is both fixed and in the grid; leave one of them out")
    for name, value, least in (("seeds", sweep.seeds, 1), ("seed", sweep.first_seed, 0)):
        if isinstance(value, bool) or not isinstance(value, int) or not least <= value < 2**31:
            raise BadInput(f"got {name}={value!r}; a whole number from {least} on is required")
    count = math.prod(len(values) for values in sweep.grid.values()) * sweep.seeds
    if count > MOST_RUNS:
        raise BadInput(f"got a sweep of {count} runs; at most {MOST_RUNS}: take a coarser grid")


@contextmanager
def _placed(where: str, point: Mapping[str, SettingValue] | None = None) -> Iterator[None]:
    """A sentence about settings with the file, and the point of the grid, that it is about."""
    try:
        yield
    except BadInput as error:
        at = ", ".join(f"{name}={value}" for name, value in (point or {}).items())
        place = ": ".join(part for part in (where, f"at {at}" if at else "") if part)
        raise BadInput(f"{place}: {error}" if place else str(error)) from None


def part_of(found: list[Task], part: str) -> list[Task]:
    """The I-th of K parts of the runs, given as `I/K`; all of them if nothing is given.

    Every K-th run is of one part, so that parts have runs of all kinds.
    """
    if not part:
        return found
    number, _, parts = part.partition("/")
    whole = number.isdecimal() and parts.isdecimal() and len(part) <= LONGEST_PART
    if not (whole and 1 <= int(number) <= int(parts)):
        raise BadInput(
            f"--part {part!r} is not of the form I/K with I from 1 to K; write e.g. 3/10"
        )
    chosen = found[int(number) - 1 :: int(parts)]
    if not chosen:
        raise BadInput(f"--part {part}: there are only {len(found)} runs; take fewer parts")
    return chosen
