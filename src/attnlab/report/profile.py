"""Where the time of a results folder went: by stage, by study, by compiled program."""

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

import msgspec
from rich.markup import escape
from rich.table import Table

from attnlab import cells
from attnlab.core import BadInput
from attnlab.lab import registry
from attnlab.lab.ledger_rows import Timed

SLOWEST = 12
"""As many programs as are named one by one."""


class Stages:
    """The seconds of each stage of a command, in their order."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Count what is done inside as the stage `name`."""
        begin = perf_counter()
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + perf_counter() - begin


@dataclass
class Times:
    """Runs and the seconds that workers spent on them."""

    runs: int = 0
    seconds: float = 0.0
    preparing: float = 0.0
    """Of these seconds, those of imports and compilation."""

    def add(self, run: Timed) -> None:
        """Count a run."""
        self.runs += 1
        self.seconds += run.seconds
        self.preparing += run.preparing


@dataclass
class Profile:
    """A results folder's times."""

    stages: dict[str, float]
    studies: dict[str, Times] = field(default_factory=dict)
    programs: dict[str, Times] = field(default_factory=dict)
    """By study and the number of the program in it, in the order of first use."""
    programs_of: dict[str, int] = field(default_factory=dict)


def profile(timings: Iterable[Timed], stages: Mapping[str, float]) -> Profile:
    """Add the runs up, longest study and longest preparation first."""
    found = Profile(dict(stages))
    numbers: dict[str, dict[object, int]] = defaultdict(dict)
    for run in timings:
        of_study = numbers[run.study]
        number = of_study.setdefault(_program(run), len(of_study) + 1)
        found.studies.setdefault(run.study, Times()).add(run)
        found.programs.setdefault(f"{run.study} #{number}", Times()).add(run)
    found.studies = _sorted(found.studies, "seconds")
    found.programs = _sorted(found.programs, "preparing")
    found.programs_of = {study: len(numbers[study]) for study in found.studies}
    return found


def read_stages(folder: Path) -> dict[str, float]:
    """What the last `reproduce` in a folder wrote of its stages; nothing where there is none."""
    path = path_of(folder)
    if not path.is_file():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, float])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadInput(
            f"{path} does not hold the seconds of stages ({error}); delete it, or run "
            "`attnlab reproduce` again, which writes it anew"
        ) from None


def path_of(folder: Path) -> Path:
    """Where `reproduce` writes the seconds of its stages."""
    return folder / "times.json"


def tables(found: Profile) -> list[Table]:
    """The profile for a terminal."""
    total = Times()
    for times in found.studies.values():
        total.runs += times.runs
        total.seconds += times.seconds
        total.preparing += times.preparing
    stages = Table("stage of the last reproduce", "seconds")
    for name, seconds in found.stages.items():
        stages.add_row(escape(name), f"{seconds:.1f}")
    studies = _table("study", "programs")
    for name, times in found.studies.items():
        studies.add_row(escape(name), str(found.programs_of[name]), *_numbers(times))
    studies.add_row("all", str(sum(found.programs_of.values())), *_numbers(total), style="bold")
    programs = _table(f"the {SLOWEST} programs that took longest to prepare")
    for name, times in list(found.programs.items())[:SLOWEST]:
        programs.add_row(escape(name), *_numbers(times))
    return [*([stages] if found.stages else []), studies, programs]


def _table(*first: str) -> Table:
    table = Table(*first)
    for name in ("runs", "worker seconds", "imports and compilation", "share"):
        table.add_column(name, justify="right")
    return table


def _numbers(times: Times) -> tuple[str, ...]:
    share = times.preparing / times.seconds if times.seconds else 0.0
    return str(times.runs), f"{times.seconds:.1f}", f"{times.preparing:.1f}", f"{share:.0%}"


def _sorted(rows: dict[str, Times], by: str) -> dict[str, Times]:
    return dict(sorted(rows.items(), key=lambda row: -getattr(row[1], by)))


def _program(run: Timed) -> object:
    """What the run's compiled program depends on; its cell, where the study is another today."""
    try:
        study = registry.study(run.study)
        return study.program(cells.from_dict(study.settings, json.loads(run.cell)))
    except (BadInput, LookupError, TypeError, ValueError, AttributeError, RecursionError):
        # A stale row's settings may be gone, and a crafted row's text be anything.
        return run.cell
