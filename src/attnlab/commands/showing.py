"""Commands that look something up and run nothing."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, make_dataclass
from pathlib import Path
from typing import Annotated, get_type_hints

import numpy as np
import tyro
from rich.console import Group
from tyro.conf import Positional, arg

from attnlab import core
from attnlab.commands.common import (
    Folder,
    Id,
    Json,
    Scale,
    print_or_write,
    readable,
    require_json_name,
    write,
)
from attnlab.core import BadInput, Bound, BoundsTable, Cell
from attnlab.evidence.words import number_or_word
from attnlab.lab import ledger as ledgers
from attnlab.lab import plan, registry

# Beyond these the powers and exponentials of bounds leave what a computer's numbers hold.
SMALLEST, LARGEST = 1e-30, 1e30
NOT_FINITE = re.compile(r"(?<!\w)(inf|nan)\b(?!:)")
"""A number that is none, within a sentence of a paper (`inf: no such T` explains a word)."""


@dataclass(frozen=True)
class List:
    """Papers, studies, claims, hypotheses and figures."""

    json: Json = None

    def run(self) -> int:
        from attnlab.report import terminal

        papers = registry.papers().values()
        print_or_write(terminal.list_table(papers), self.json, lambda: terminal.list_json(papers))
        return 0


@dataclass(frozen=True)
class Show:
    """The statement in our words, what is stated and measured, cutoffs, readings, controls."""

    id: Id
    """A paper, claim, figure, hypothesis or study, e.g. yang2024.theorem_3_1."""
    scale: Scale = "quick"
    """The scale whose design is shown."""
    json: Json = None

    def run(self) -> int:
        from attnlab.report.show import show, show_json

        request = plan.Request(self.scale)  # type: ignore[arg-type]
        target = registry.resolve(self.id)
        table = show(target, self.id, request)
        print_or_write(table, self.json, lambda: show_json(target, request))
        return 0


@dataclass(frozen=True)
class Hypotheses:
    """The assumptions, conditions and definitions of a paper, from settings alone.

    Each with its value, what it needs and by which factor it is missed: at the settings that the
    paper prints, and at each study's cell that misses most.
    """

    paper: Annotated[Positional[str], arg(metavar="PAPER")]
    """A paper."""
    json: Json = None
    scale: Scale = "quick"
    """The scale whose designs are looked at."""

    def run(self) -> int:
        from attnlab.report import hypotheses, terminal

        request = plan.Request(self.scale)  # type: ignore[arg-type]
        paper = registry.paper(self.paper)
        if not registry.assumptions(paper):
            raise BadInput(f"{paper.id} lists no hypotheses; `attnlab show {paper.id}` shows it")
        table = terminal.hypotheses_table(hypotheses.table(paper, request))
        print_or_write(table, self.json, lambda: hypotheses.table_json(paper, request))
        return 0


@dataclass(frozen=True)
class Report:
    """The page DIR/report.html, from a finished or a running ledger."""

    dir: Folder
    """A folder of results."""

    def run(self) -> int:
        from attnlab.report import page

        with ledgers.reading(self.dir) as ledger, readable(ledger):
            last = ledger.last_request()
            if last is None:
                raise BadInput(f"the ledger in {self.dir} holds no request yet; run a check first")
            request = plan.Request(last.scale, last.seed, last.changes)
            names = dict.fromkeys(registry.resolve(i).paper.id for i in last.ids)
            text = page.page([registry.paper(n) for n in names], request, ledger)
        write(self.dir / "report.html", text.encode())
        return 0


@dataclass(frozen=True)
class ShowLedger:
    """The state of the runs in DIR: current, stale and diverged records, failed attempts."""

    dir: Folder
    """A folder of results."""
    failures: bool = False
    """Why runs failed: the error and the end of its traceback, for each attempt."""
    json: Json = None

    def run(self) -> int:
        from attnlab.report import terminal

        with ledgers.reading(self.dir) as ledger:
            failures = ledger.failures() if self.failures else []
            summary = [] if self.failures else ledger.summary()
        if self.failures:
            print_or_write(terminal.failures_table(failures), self.json, lambda: failures)
        else:
            print_or_write(terminal.ledger_table(summary), self.json, lambda: summary)
        return 0


@dataclass(frozen=True)
class Profile:
    """Where the time of DIR went: stages of `reproduce`, runs by study, compilation by program."""

    dir: Folder
    """A folder of results."""
    json: Json = None

    def run(self) -> int:
        from attnlab.report import profile

        with ledgers.reading(self.dir) as ledger:
            found = profile.profile(ledger.timings(), profile.read_stages(self.dir))
        print_or_write(Group(*profile.tables(found)), self.json, lambda: found)
        return 0


@dataclass(frozen=True)
class Diff:
    """Compare the records of two result folders bit by bit: exit 0 if equal, 1 if not."""

    a: Annotated[Positional[Path], arg(metavar="A")]
    """A folder of results."""
    b: Annotated[Positional[Path], arg(metavar="B")]
    """Another one."""

    def run(self) -> int:
        from attnlab.report.comparison import compare

        with ledgers.reading(self.a) as first, ledgers.reading(self.b) as second:
            comparison = compare(first, second)
        print(f"{comparison.equal} equal, {len(comparison.differences)} different")
        for sentence in comparison.differences:
            print(sentence)
        return int(bool(comparison.differences))


@dataclass(frozen=True)
class Bounds:
    """Every bound and condition of a paper for given sizes, e.g. `bounds yang2024 --n 120`.

    `attnlab bounds PAPER --help` lists the sizes that the paper's bounds depend on.
    """

    paper: Annotated[Positional[str], arg(metavar="PAPER")]
    """A paper."""
    json: Json = None

    @staticmethod
    def parse_and_run(arguments: list[str]) -> int:
        """Run the command; which sizes it takes depends on the paper."""
        from attnlab.report import terminal

        json, rest = None, list(arguments)
        if "--json" in rest:
            at = rest.index("--json")
            json, rest = rest[at + 1], rest[:at] + rest[at + 2 :]
        require_json_name(json)
        if not rest or rest[0].startswith("-"):
            got = f"{rest[0]!r} is not a paper" if rest else "no paper was given"
            raise BadInput(f"{got}; write `attnlab bounds PAPER`, with sizes and --json after it")
        name, *rest = rest
        paper = registry.paper(name)
        if paper.bounds is None:
            raise BadInput(f"{name} has no table of bounds; `attnlab show {name}` shows its claims")
        sizes = tyro.cli(
            _with_help(paper.bounds.settings),
            prog=f"attnlab bounds {name}",
            args=rest,
        )
        rows = bounds_rows(name, paper.bounds, sizes)
        table = terminal.bounds_table(name, rows)
        print_or_write(table, json, lambda: [_named(asdict(row)) for row in rows])
        return 0


def bounds_rows(name: str, bounds: BoundsTable, sizes: Cell) -> tuple[Bound, ...]:
    """The bounds at given sizes; a sentence where they leave the numbers a computer has."""
    for size in fields(sizes):
        value = getattr(sizes, size.name)
        if isinstance(value, int | float) and not _ordinary(value):
            raise BadInput(
                f"{size.name}={_brief(value)} is too extreme for the bounds of {name}; give 0 or "
                f"a size from {SMALLEST:g} to {LARGEST:g}, e.g. the default {size.default}"
            )
    too_far = f"the bounds of {name} cannot be computed at these sizes"
    try:
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            rows = bounds.rows(sizes)
        lost = [row.name for row in rows if _lost(row)]
    except (ArithmeticError, ValueError, TypeError) as error:
        raise BadInput(f"{too_far} ({_brief(error)}); give less extreme ones") from None
    if lost:
        raise BadInput(f"{too_far} ({lost[0]} is not a number); give less extreme ones")
    return rows


def _lost(row: Bound) -> bool:
    numbers = [x for x in (row.value, row.threshold) if isinstance(x, float)]
    return any(map(math.isnan, numbers)) or bool(NOT_FINITE.search(row.meaning))


def _ordinary(size: int | float) -> bool:
    return size == 0 or SMALLEST <= abs(size) <= LARGEST


def _brief(value: object) -> str:
    """A value in a sentence; a number of thousands of digits has no end worth reading."""
    try:
        text = str(value)
    except ValueError:  # Python refuses to write out a whole number of that many digits
        return "a number of thousands of digits"
    return text if len(text) <= 100 else f"{text[:100]}..."


def _named(row: Mapping[str, core.Json]) -> Mapping[str, core.Json]:
    """A row for JSON, with words for what is no number there."""
    return {k: number_or_word(v) if isinstance(v, float) else v for k, v in row.items()}


def _with_help(settings: type) -> type[Cell]:
    """A settings class as tyro wants it: each field's help beside its type."""
    hints = get_type_hints(settings)
    described = [
        (f.name, Annotated[hints[f.name], arg(help=f.metadata["help"])], f.default)
        for f in fields(settings)
    ]
    return make_dataclass(settings.__name__, described, namespace={"__doc__": settings.__doc__})
