"""The command line. Exit codes: 0 done, 1 a claim contradicted under --strict, 2 bad input,
130 interrupted."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields, make_dataclass
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import msgspec
import tyro
from rich.console import Console
from tyro.conf import FlagCreatePairsOff, Positional, UseAppendAction, arg

from attnlab import __version__, cells
from attnlab.claims import Claim
from attnlab.core import BadInput, Figure
from attnlab.lab import ledger as ledgers
from attnlab.lab import plan, registry
from attnlab.report import drawings

Id = Annotated[Positional[str], arg(metavar="ID")]
Ids = Annotated[Positional[tuple[str, ...]], arg(metavar="ID...")]
Folder = Annotated[Positional[Path], arg(metavar="DIR")]
Scale = Annotated[str, arg(metavar="smoke|quick|paper")]
Json = Annotated[
    str | None, arg(metavar="FILE", help="JSON to standard output (alone, or -) or to FILE.json.")
]


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


@dataclass(frozen=True)
class List:
    """Papers, studies, claims, hypotheses and figures."""

    json: Json = None

    def run(self) -> int:
        from attnlab.report import terminal

        papers = registry.papers().values()
        _print(terminal.list_table(papers), self.json, lambda: terminal.list_json(papers))
        return 0


@dataclass(frozen=True)
class Show:
    """The statement in our words, what is stated and measured, cutoffs, readings, controls."""

    id: Id
    """A paper, claim, figure, hypothesis or study, e.g. yang2024.theorem_3_1."""
    scale: Scale = "quick"
    """The scale whose design is shown."""

    def run(self) -> int:
        from attnlab.report import terminal
        from attnlab.report.show import show

        request = plan.Request(self.scale)  # type: ignore[arg-type]
        target = registry.resolve(self.id)
        terminal.output().print(show(target, self.id, request))
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
        _print(table, self.json, lambda: hypotheses.table_json(paper, request))
        return 0


@dataclass(frozen=True)
class Check(Options):
    """The verdict on claims, or on all claims of a paper."""

    ids: Ids
    """Claims or papers."""
    json: Json = None
    strict: bool = False
    """Exit with 1 if a claim is contradicted."""
    robust: bool = False
    """Repeat each verdict without each fifth of the seeds; one that changes is inconclusive."""

    def run(self) -> int:
        from attnlab.report import terminal
        from attnlab.report.verdicts import as_json, verdicts

        claims = _claims(self.ids)
        _require_json_name(self.json)
        request = self.request()
        _compute("check", self.ids, claims, self)
        with ledgers.reading(self.out) as ledger:
            found = verdicts(claims, request, ledger, robust=self.robust)
        _print(terminal.verdict_table(found), self.json, lambda: [as_json(v) for v in found])
        return int(self.strict and any(v.outcome == "contradicted" for v in found))


@dataclass(frozen=True)
class Run(Options):
    """A figure, or all figures of a paper: DIR/figures/ID.png, .svg and .json."""

    ids: Ids
    """Figures or papers."""

    def run(self) -> int:
        figures = _figures(self.ids)
        _compute("run", self.ids, figures, self)
        _draw(figures, self)
        return 0


@dataclass(frozen=True)
class Reproduce(Options):
    """All studies, claims and figures of the papers (default: every paper), and the page."""

    papers: Annotated[Positional[tuple[str, ...]], arg(metavar="PAPER...")] = ()
    """Papers; every installed one if none is named."""
    strict: bool = False
    """Exit with 1 if a claim is contradicted."""

    def run(self) -> int:
        from attnlab.report import page, terminal
        from attnlab.report.verdicts import as_json, verdicts

        names = self.papers or tuple(registry.papers())
        papers = [registry.paper(name) for name in names]
        claims = [claim for paper in papers for claim in paper.claims]
        figures = [figure for paper in papers for figure in paper.figures]
        request = self.request()
        _compute("reproduce", names, [*claims, *figures], self)
        drawn = _draw(figures, self)
        with ledgers.reading(self.out) as ledger:
            found = verdicts(claims, request, ledger)
            text = page.page(papers, request, ledger, found, drawn)
        terminal.output().print(terminal.verdict_table(found))
        _write(self.out / "verdicts.json", _pretty([as_json(v) for v in found]))
        _write(self.out / "report.html", text.encode())
        return int(self.strict and any(v.outcome == "contradicted" for v in found))


@dataclass(frozen=True)
class Report:
    """The page DIR/report.html, from a finished or a running ledger."""

    dir: Folder
    """A folder of results."""

    def run(self) -> int:
        from attnlab.report import page

        with ledgers.reading(self.dir) as ledger:
            last = ledger.last_request()
            if last is None:
                raise BadInput(f"the ledger in {self.dir} holds no request yet; run a check first")
            request = plan.Request(last["scale"], last["seed"], last["changes"])
            names = dict.fromkeys(registry.resolve(i).paper.id for i in last["ids"])
            text = page.page([registry.paper(n) for n in names], request, ledger)
        _write(self.dir / "report.html", text.encode())
        return 0


@dataclass(frozen=True)
class ShowLedger:
    """The state of the runs in DIR: current, stale and diverged records, failed attempts."""

    dir: Folder
    """A folder of results."""
    json: Json = None

    def run(self) -> int:
        from attnlab.report import terminal

        with ledgers.reading(self.dir) as ledger:
            rows = ledger.summary()
        _print(terminal.ledger_table(rows), self.json, lambda: rows)
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

        name, *rest = arguments
        paper = registry.paper(name)
        if paper.bounds is None:
            raise BadInput(f"{name} has no table of bounds; `attnlab show {name}` shows its claims")
        json = None
        if "--json" in rest:
            at = rest.index("--json")
            json, rest = rest[at + 1], rest[:at] + rest[at + 2 :]
        sizes = tyro.cli(
            _with_help(paper.bounds.settings),
            prog=f"attnlab bounds {name}",
            args=rest,
        )
        rows = paper.bounds.rows(sizes)
        table = terminal.bounds_table(name, rows)
        _print(table, json, lambda: [asdict(row) for row in rows])
        return 0


COMMANDS: dict[str, Any] = {
    "list": List,
    "show": Show,
    "hypotheses": Hypotheses,
    "check": Check,
    "run": Run,
    "reproduce": Reproduce,
    "bounds": Bounds,
    "report": Report,
    "ledger": ShowLedger,
    "diff": Diff,
}


def main(arguments: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    arguments = _json_to_output(sys.argv[1:] if arguments is None else arguments)
    if arguments == ["--version"]:
        print(f"attnlab {__version__}")
        return 0
    try:
        if arguments[:1] == ["bounds"] and arguments[1:2] and not arguments[1].startswith("-"):
            return Bounds.parse_and_run(arguments[1:])
        command = tyro.extras.subcommand_cli_from_dict(
            COMMANDS,
            prog="attnlab",
            description="A laboratory for the theory of attention training. "
            "`attnlab --version` prints the version.",
            args=arguments or ["--help"],
            config=(FlagCreatePairsOff,),
        )
        return command.run()
    except BadInput as error:
        print(f"attnlab: {error}", file=sys.stderr)
        return 2


def entry() -> None:
    """The console script."""
    sys.exit(main())


def _claims(ids: Iterable[str]) -> list[Claim]:
    targets = _targets(ids, "claim")
    for name, target in targets:
        if not target.claims:
            raise BadInput(f"{name} is {_other(name, target)}")
    return list({claim.id: claim for _, target in targets for claim in target.claims}.values())


def _figures(ids: Iterable[str]) -> list[Figure]:
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


def _compute(
    command: str, ids: Iterable[str], items: Iterable[Claim | Figure], options: Options
) -> None:
    """Make the runs that have no record yet. Needs the ledger's lock only if there are any."""
    request = options.request()
    tasks = plan.everything_for(items, request)
    if ledgers.path_of(options.out).is_file():
        with ledgers.reading(options.out) as ledger:
            last = ledger.last_request()
            same = last and (last["scale"], last["seed"], last["changes"]) == (
                request.scale,
                request.seed,
                dict(request.changes),
            )
            if same and ledger.finished(tasks) == {task.identity for task in tasks}:
                _say(f"all {len(tasks)} runs are in {ledger.path}")
                return
    from attnlab.lab.session import compute

    with ledgers.writing(options.out) as ledger:
        ledger.add_request(command, ids, request)
        where = {"workers": options.workers, "dask": options.dask}
        compute(tasks, ledger, **where, console=Console(stderr=True))


def _draw(figures: Iterable[Figure], options: Options) -> list[drawings.Drawn]:
    request, pictures = options.request(), []
    with ledgers.reading(options.out) as ledger:
        for figure in figures:
            drawn = drawings.draw(figure, request, ledger)
            if drawn is None:
                _say(f"{figure.id}: not drawn, all its runs failed")
                continue
            for path in drawings.save(drawn, options.out / "figures"):
                _say(f"wrote {path}")
            pictures.append(drawn)
    return pictures


def _with_help(settings: type) -> Any:
    """A settings class as tyro wants it: each field's help beside its type."""
    hints = get_type_hints(settings)
    described = [
        (f.name, Annotated[hints[f.name], arg(help=f.metadata["help"])], f.default)
        for f in fields(settings)
    ]
    return make_dataclass(settings.__name__, described, namespace={"__doc__": settings.__doc__})


def _write(path: Path, data: bytes) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    except OSError as error:
        raise BadInput(f"cannot write {path}: {error.strerror}; give another place") from None
    _say(f"wrote {path}")


def _pretty(value: Any) -> bytes:
    return msgspec.json.format(msgspec.json.encode(value), indent=1)


def _print(table: Any, json: str | None, value: Callable[[], Any]) -> None:
    """The table; or JSON alone on standard output; or the table, and JSON into a file."""
    from attnlab.report import terminal

    _require_json_name(json)
    if json == "-":
        print(_pretty(value()).decode())
        return
    terminal.output().print(table)
    if json:
        _write(Path(json), _pretty(value()))


def _json_to_output(arguments: list[str]) -> list[str]:
    """`--json` without a name stands for `--json -`."""
    following = [*arguments, "--"][1:]
    words = []
    for word, after in zip(arguments, following, strict=True):
        alone = word == "--json" and after.startswith("--")
        words += [word, "-"] if alone else [word]
    return words


def _require_json_name(json: str | None) -> None:
    if json not in (None, "-") and not json.endswith(".json"):
        raise BadInput(
            f"--json {json} is not the name of a JSON file; give a name that ends in .json, or "
            "--json - for standard output"
        )


def _say(sentence: str) -> None:
    print(sentence, file=sys.stderr)


if __name__ == "__main__":
    entry()
