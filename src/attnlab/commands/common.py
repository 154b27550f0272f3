"""What the commands share: options, ids into claims and figures, runs, and ways to print."""

import os
import sys
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated

import msgspec
from rich.console import Console, RenderableType
from tyro.conf import Positional, UseAppendAction, arg

from attnlab import cells
from attnlab.claims import Claim, Verdict
from attnlab.core import BadInput, Figure
from attnlab.lab import ledger as ledgers
from attnlab.lab import multiverse, plan, registry
from attnlab.lab.files import replace_file
from attnlab.report import drawings

Id = Annotated[Positional[str], arg(metavar="ID")]
Ids = Annotated[Positional[tuple[str, ...]], arg(metavar="ID...")]
Folder = Annotated[Positional[Path], arg(metavar="DIR")]
Scale = Annotated[str, arg(metavar="smoke|quick|paper")]
Json = Annotated[
    str | None, arg(metavar="FILE", help="JSON to standard output (alone, or -) or to FILE.json.")
]
MOST_UNIVERSES = 1000


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
    plan.everything_for(items, request)  # refuses what cannot be run before anything is touched
    claims = [item for item in items if isinstance(item, Claim)]
    if _all_there(items, options, universes):
        return
    from attnlab.lab import executors, session
    from attnlab.lab.runner import Progress

    executors.require_workers(options.workers, options.dask)
    with ledgers.writing(options.out) as ledger:
        with readable(ledger):
            tasks = plan.everything_for(items, request, ledger)

        def following(progress: Progress) -> Iterator[session.Stage]:
            if tasks and not ledger.finished(tasks):
                reason = ledgers.last_lines(progress.first_failure, 1)
                raise NoRunSucceeded(
                    f"none of {len(tasks)} runs succeeded, so there is nothing to judge or draw; "
                    f"the first failed by {reason}; `attnlab ledger {options.out} --failures` "
                    "shows all"
                )
            for more in _readable_rounds(_next_rounds(items, request, ledger), ledger):
                yield session.Stage(more, plan.most_further(items, request, more))
            rounds = multiverse.rounds(claims, request, ledger, universes)
            words = "universes, over the choices that the paper leaves open:"
            for more in _readable_rounds(rounds, ledger):
                yield session.Stage(more, words=words)
                words = ""

        session.compute(
            tasks,
            ledger,
            workers=options.workers,
            dask=options.dask,
            console=Console(stderr=True),
            accepted=lambda: ledger.add_request(command, ids, request),
            further=plan.most_further(items, request, tasks),
            following=following,
        )


def _next_rounds(
    items: Sequence[Claim | Figure], request: plan.Request, ledger: ledgers.Ledger
) -> Iterator[list[plan.Task]]:
    """The further rounds of sequential designs, each chosen by the records of those before."""
    before: set[str] = set()
    while True:
        tasks = plan.everything_for(items, request, ledger)
        have = ledger.finished(tasks)
        missing = {t.identity for t in tasks if t.identity not in have and not ledger.has_failed(t)}
        if not missing or missing == before:
            return
        before = missing
        yield tasks


def compute_tasks(
    tasks: list[plan.Task],
    out: Path,
    workers: int | None,
    dask: str | None,
    console: Console,
) -> None:
    """Make those of these runs that have no record yet, as a sweep does."""
    from attnlab.lab import executors, session

    executors.require_workers(workers, dask)
    with ledgers.writing(out) as ledger:
        progress = session.compute(tasks, ledger, workers=workers, dask=dask, console=console)
        if not ledger.finished(tasks):
            reason = ledgers.last_lines(progress.first_failure, 1)
            raise NoRunSucceeded(
                f"none of {len(tasks)} runs succeeded; the first failed by {reason}; "
                f"`attnlab ledger {out} --failures` shows all"
            )


def _readable_rounds(
    rounds: Iterator[list[plan.Task]], ledger: ledgers.Ledger
) -> Iterator[list[plan.Task]]:
    """Rounds of universes, each chosen by what the records of the earlier ones say."""
    while True:
        with readable(ledger):
            more = next(rounds, None)
        if more is None:
            return
        yield more


def _all_there(items: Sequence[Claim | Figure], options: Options, universes: int | None) -> bool:
    """Whether the ledger holds every run of a request that was asked for last."""
    claims = [item for item in items if isinstance(item, Claim)]
    request = replace(options.request(), dense=universes is not None)
    if not os.path.isfile(ledgers.path_of(options.out)):  # Path.is_file raises on long names
        return False
    with ledgers.reading(options.out) as ledger:
        last = ledger.last_request()
        asked = (request.scale, request.seed, dict(request.changes))
        same = last and (last.scale, last.seed, last.changes) == asked
        if not same:
            return False
        with readable(ledger):
            tasks = plan.everything_for(items, request, ledger)
        if ledger.finished(tasks) != {task.identity for task in tasks}:
            return False
        rounds = multiverse.rounds(claims, request, ledger, universes)
        if next(_readable_rounds(rounds, ledger), None) is not None:
            return False
        say(f"all {len(tasks)} runs are in {ledger.path}")
        return True


def draw(
    figures: Iterable[Figure], options: Options, known: Iterable[Verdict] | None = None
) -> list[drawings.Drawn]:
    """Draw figures from the ledger into DIR/figures, each with the verdict of its own claim."""
    request, pictures = options.request(), []
    judged = None if known is None else {verdict.id: verdict for verdict in known}
    with ledgers.reading(options.out) as ledger, readable(ledger):
        for figure in figures:
            verdict = _judged(figure, request, ledger) if judged is None else judged.get(figure.id)
            outcome = drawings.outcome_of(verdict)
            try:
                drawn = drawings.draw(figure, request, ledger, outcome)
            except drawings.NotDrawn as why:
                say(f"{figure.id}: not drawn, {why}")
                continue
            for path in drawings.save(drawn, options.out / "figures"):
                say(f"wrote {path}")
            pictures.append(drawn)
    return pictures


def _judged(figure: Figure, request: plan.Request, ledger: ledgers.Ledger) -> Verdict | None:
    """The verdict of the claim under a figure's id, if every run that it needs is made."""
    from attnlab.report.verdicts import verdicts

    claims = registry.resolve(figure.id).claims
    try:
        tasks = plan.everything_for(claims, request)
    except BadInput:  # own sizes that suit the figure and not the claim
        return None
    made = ledger.finished(tasks) == {task.identity for task in tasks}
    return verdicts(claims, request, ledger)[0] if claims and made else None


@contextmanager
def readable(ledger: ledgers.Ledger) -> Iterator[None]:
    """A sentence if what a ledger holds cannot be judged or drawn.

    A record may have its right digest and still not hold what its study writes.
    """
    try:
        yield
    except (LookupError, TypeError, ValueError, ArithmeticError) as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name} line {last.lineno}"
        raise BadInput(
            f"the records in {ledger.path} cannot be judged or drawn ({type(error).__name__}: "
            f"{error}; {where}): one of them is not what its study writes, or that code is at "
            "fault; nothing was changed; make the runs again in another --out"
        ) from None


def write(path: Path, data: bytes) -> None:
    """Write a file and say so."""
    replace_file(path, data)
    say(f"wrote {path}")


def pretty(value: object) -> bytes:
    """JSON with line breaks."""
    return msgspec.json.format(msgspec.json.encode(value), indent=1)


def print_or_write(table: RenderableType, json: str | None, value: Callable[[], object]) -> None:
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
