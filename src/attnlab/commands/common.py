"""What the commands share: options, ids into claims and figures, runs, and ways to print."""

import os
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

import msgspec
from rich.console import Console
from tyro.conf import Positional, UseAppendAction, arg

from attnlab import cells
from attnlab.claims import Claim
from attnlab.core import BadInput, Figure
from attnlab.lab import ledger as ledgers
from attnlab.lab import multiverse, plan, registry
from attnlab.report import drawings

Id = Annotated[Positional[str], arg(metavar="ID")]
Ids = Annotated[Positional[tuple[str, ...]], arg(metavar="ID...")]
Folder = Annotated[Positional[Path], arg(metavar="DIR")]
Scale = Annotated[str, arg(metavar="smoke|quick|paper")]
Json = Annotated[
    str | None, arg(metavar="FILE", help="JSON to standard output (alone, or -) or to FILE.json.")
]


class NoRunSucceeded(Exception):
    """Every run of a command failed. The message says how many, and why the first one did."""


@dataclass(frozen=True, kw_only=True)
class Options:
    """What every command that runs something takes."""

    scale: Scale = "quick"
    """How large: smoke (a minute or more), quick (minutes), paper (the paper's own sizes)."""
    out: Annotated[Path, arg(metavar="DIR")] = Path("results")
    """The folder of results; its ledger is DIR/ledger.sqlite."""
    set: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="NAME=VALUE")] = ()
    """An own size, e.g. --set m=4096; may be given several times."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """The first seed; trials take N, N+1, ..."""
    engine: Annotated[str | None, arg(metavar="NAME")] = None
    """The engine, where the settings allow several (default: the cheapest exact one)."""
    workers: Annotated[int | None, arg(metavar="N")] = None
    """Worker processes (default: one per core)."""
    dask: Annotated[str | None, arg(metavar="ADDRESS")] = None
    """The scheduler of a Dask cluster that makes the runs, e.g. tcp://127.0.0.1:8786."""

    def request(self) -> plan.Request:
        """The request that these options make."""
        changes = plan.with_engine(cells.parse_assignments(self.set), self.engine)
        return plan.Request(self.scale, self.seed, changes)  # type: ignore[arg-type]


def claims_of(ids: Iterable[str]) -> list[Claim]:
    """The claims that ids name, each once; a sentence for an id that has none."""
    targets = _targets(ids, "claim")
    for name, target in targets:
        if not target.claims:
            raise BadInput(f"{name} is {_other(name, target)}")
    return list({claim.id: claim for _, target in targets for claim in target.claims}.values())


def figures_of(ids: Iterable[str]) -> list[Figure]:
    """The figures that ids name, each once; a sentence for an id that has none."""
    targets = _targets(ids, "figure")
    for name, target in targets:
        if not target.figures and target.claims:
            raise BadInput(f"{name} is a claim without a figure; use `attnlab check {name}`")
        if not target.figures:
            raise BadInput(f"{name} is {_other(name, target)}")
    return list({figure.id: figure for _, t in targets for figure in t.figures}.values())


def _targets(ids: Iterable[str], kind: str) -> list[tuple[str, registry.Target]]:
    targets = [(name, registry.resolve(name)) for name in ids]
    if not targets:
        raise BadInput(f"no id was given; name a paper or a {kind} (`attnlab list` shows them)")
    return targets


def _other(name: str, target: registry.Target) -> str:
    """What an id is that a command cannot take, and which command takes it."""
    if target.paper.id == name:
        return f"a paper without any; `attnlab show {name}` shows what it has"
    if target.figures:
        return f"a figure without a claim; use `attnlab run {name}`"
    if target.assumptions:
        table = f"`attnlab hypotheses {target.paper.id}`"
        return f"a hypothesis, which is looked up and not judged; {table} shows where it is met"
    return f"a study, not a claim or a figure; `attnlab show {name}` shows what reads it"


def compute(
    command: str,
    ids: Iterable[str],
    items: Sequence[Claim | Figure],
    options: Options,
    universes: int | None = None,
) -> None:
    """Make the runs that have no record yet, then those of universes, round by round.

    `universes`: so many for every claim, at denser designs; else what each claim's kind carries.
    The ledger's lock is needed only if there is something to run.
    """
    request = replace(options.request(), dense=universes is not None)
    tasks = plan.everything_for(items, request)
    claims = [item for item in items if isinstance(item, Claim)]
    if _all_there(tasks, claims, options, universes):
        return
    from attnlab.lab import executors, session

    executors.require_workers(options.workers, options.dask)
    with ledgers.writing(options.out) as ledger:
        where = {"workers": options.workers, "dask": options.dask}
        console = Console(stderr=True)
        progress = session.compute(
            tasks,
            ledger,
            **where,
            console=console,
            accepted=lambda: ledger.add_request(command, ids, request),
        )
        if tasks and not ledger.finished(tasks):
            reason = ledgers.last_lines(progress.first_failure, 1)
            raise NoRunSucceeded(
                f"none of {len(tasks)} runs succeeded, so there is nothing to judge or draw; the "
                f"first failed by {reason}; `attnlab ledger {options.out} --failures` shows all"
            )
        for number, more in enumerate(multiverse.rounds(claims, request, ledger, universes)):
            again = "again on fresh seeds, " if number else ""
            say(f"universes, {again}over the choices that the paper leaves open:")
            session.compute(more, ledger, **where, console=console)


def _all_there(
    tasks: list[plan.Task], claims: list[Claim], options: Options, universes: int | None
) -> bool:
    """Whether the ledger holds every run of a request that was asked for last."""
    request = replace(options.request(), dense=universes is not None)
    if not os.path.isfile(ledgers.path_of(options.out)):  # Path.is_file raises on long names
        return False
    with ledgers.reading(options.out) as ledger:
        last = ledger.last_request()
        asked = (request.scale, request.seed, dict(request.changes))
        same = last and (last["scale"], last["seed"], last["changes"]) == asked
        if not same or ledger.finished(tasks) != {task.identity for task in tasks}:
            return False
        if next(multiverse.rounds(claims, request, ledger, universes), None) is not None:
            return False
        say(f"all {len(tasks)} runs are in {ledger.path}")
        return True


def draw(figures: Iterable[Figure], options: Options) -> list[drawings.Drawn]:
    """Draw figures from the ledger into DIR/figures."""
    request, pictures = options.request(), []
    with ledgers.reading(options.out) as ledger:
        for figure in figures:
            drawn = drawings.draw(figure, request, ledger)
            if drawn is None:
                say(f"{figure.id}: not drawn, all its runs failed")
                continue
            for path in drawings.save(drawn, options.out / "figures"):
                say(f"wrote {path}")
            pictures.append(drawn)
    return pictures


def write(path: Path, data: bytes) -> None:
    """Write a file and say so."""
    drawings.replace_file(path, data)
    say(f"wrote {path}")


def pretty(value: Any) -> bytes:
    """JSON with line breaks."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1)


def print_or_write(table: Any, json: str | None, value: Callable[[], Any]) -> None:
    """The table; or JSON alone on standard output; or the table, and JSON into a file."""
    from attnlab.report import terminal

    require_json_name(json)
    if json == "-":
        print(pretty(value()).decode())
        return
    terminal.output().print(table)
    if json:
        write(Path(json), pretty(value()))


def require_json_name(json: str | None) -> None:
    """Refuse a name that does not end in .json, before anything is run."""
    if json not in (None, "-") and not json.endswith(".json"):
        raise BadInput(
            f"--json {json} is not the name of a JSON file; give a name that ends in .json, or "
            "--json - for standard output"
        )


def say(sentence: str) -> None:
    """A sentence to the person, apart from the results."""
    print(sentence, file=sys.stderr)
