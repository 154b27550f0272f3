"""What the command line prints: verdict tables, `list`, `show`, the state of a ledger."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console, Group
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from attnlab.core import Bound, Claim, Effect, Figure, Paper, Scale, Study, Verdict
from attnlab.lab.plan import origins
from attnlab.lab.registry import Target

COLOURS = {
    "supported": "green",
    "contradicted": "red",
    "inconclusive": "yellow",
    "not_applicable": "cyan",
}


def number(value: float | None) -> str:
    """A number in at most four significant digits."""
    return "–" if value is None else f"{value:.4g}"


def effect_text(effect: Effect | None) -> str:
    """An effect with its interval, on one line."""
    if effect is None:
        return "–"
    return f"{effect.name}: {number(effect.value)} [{number(effect.low)}, {number(effect.high)}]"


def verdict_table(verdicts: Iterable[Verdict]) -> Table:
    """One row per verdict."""
    verdicts = list(verdicts)
    scale = verdicts[0].scale if verdicts else ""
    table = Table(title=f"verdicts at scale {scale}", title_justify="left", expand=False)
    for heading in ("claim", "verdict", "effect [95 % interval]", "runs", "controls", "why"):
        table.add_column(heading, overflow="fold", no_wrap=heading in ("claim", "verdict"))
    for v in verdicts:
        runs = str(v.trials)
        runs += f" +{v.failed_runs} failed" if v.failed_runs else ""
        runs += f" ({v.diverged_runs} diverged)" if v.diverged_runs else ""
        rejected = sum(c.outcome == "contradicted" for c in v.controls)
        table.add_row(
            escape(v.id),
            Text(v.outcome, style=COLOURS[v.outcome]),
            escape(effect_text(v.effect)),
            runs,
            f"{rejected}/{len(v.controls)} rejected",
            escape(v.reason),
        )
    return table


def list_table(papers: Iterable[Paper]) -> Group:
    """Every id, by paper."""
    parts = []
    for paper in papers:
        table = Table(title=f"{paper.id}: {paper.title}", title_justify="left", box=None)
        table.add_column("kind")
        table.add_column("id", no_wrap=True)
        table.add_column("what")
        for kind, items in (("claim", paper.claims), ("figure", paper.figures)):
            for item in items:
                table.add_row(kind, escape(item.id), escape(item.title))
        for study in paper.studies:
            table.add_row("study", escape(study.id), escape(study.summary))
        parts.append(table)
    return Group(*parts)


def list_json(papers: Iterable[Paper]) -> dict[str, list[dict[str, Any]]]:
    """Every id, as `list --json` prints it."""
    papers = list(papers)
    return {
        "papers": [{"id": p.id, "title": p.title, "reference": p.reference} for p in papers],
        "studies": [{"id": s.id, "summary": s.summary} for p in papers for s in p.studies],
        "claims": [
            {"id": c.id, "title": c.title, "studies": list(c.studies)}
            for p in papers
            for c in p.claims
        ],
        "figures": [
            {"id": f.id, "title": f.title, "studies": list(f.studies)}
            for p in papers
            for f in p.figures
        ],
    }


def show(target: Target, name: str, scale: Scale) -> Group:
    """Everything about one id: statement, measure, controls; or a whole paper in short."""
    if name == target.paper.id:
        head = Text(f"{target.paper.title}\n{target.paper.reference}\n", style="bold")
        return Group(head, list_table([target.paper]))
    parts: list[Any] = []
    for claim in target.claims:
        parts += _show_claim(claim)
    for figure in target.figures:
        parts += _show_figure(figure)
    names = dict.fromkeys(s for item in (*target.claims, *target.figures) for s in item.studies)
    for study in target.paper.studies:
        if study.id in names:
            parts += _show_study(study, scale)
    return Group(*parts)


def _section(title: str, body: str) -> list[Any]:
    return [Text(title, style="bold"), Padding(Text(body), (0, 0, 1, 2))] if body else []


def _show_claim(claim: Claim) -> list[Any]:
    readings = "\n".join(f"{name}: {text}" for name, text in claim.readings)
    constants = "\n".join(
        f"{c.name}: {c.kind}" + (f" ({number(c.value)})" if c.value is not None else "")
        for c in claim.constants
    )
    controls = "\n".join(f"{c.name}: {c.description}" for c in claim.controls)
    return [
        Text(f"claim {claim.id}: {claim.title}\n", style="bold underline"),
        *_section("statement", claim.statement),
        *_section("what is measured", claim.measured),
        *_section("readings (the verdict takes the first)", readings),
        *_section("constants", constants),
        *_section("controls (each must come out contradicted)", controls),
        *_section("notes", claim.notes),
    ]


def _show_figure(figure: Figure) -> list[Any]:
    title = Text(f"figure {figure.id}: {figure.title}\n", style="bold underline")
    return [title, *_section("caption", figure.caption)]


def _show_study(study: Study, scale: Scale) -> list[Any]:
    design = study.designs[scale]
    table = Table(box=None)
    for heading in ("setting", "symbol", "default", "origin", "meaning"):
        table.add_column(heading)
    for row in origins(study.settings):
        cells = (row["name"], row["symbol"], row["default"], row["origin"], row["help"])
        table.add_row(*(escape(str(x)) for x in cells))
    runs = f"{len(design.cells)} cells x {design.trials} seeds at scale {scale}"
    head = Text(f"study {study.id}: {study.summary} ({runs})", style="bold")
    return [head, Padding(table, (0, 0, 1, 2))]


def bounds_table(name: str, rows: Iterable[Bound]) -> Table:
    """Every bound and condition, a row each."""
    table = Table(title=f"bounds and conditions of {name}", title_justify="left")
    for heading in ("name", "value", "held against", "met", "constant", "meaning"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for row in rows:
        met = "–" if row.threshold is None else {None: "unknown", True: "yes", False: "no"}[row.met]
        cells = (number(row.threshold), met, row.constant, row.meaning)
        table.add_row(escape(row.name), number(row.value), *(escape(cell) for cell in cells))
    return table


def ledger_table(rows: Iterable[dict[str, Any]]) -> Table:
    """The state of a ledger, a row per study."""
    table = Table(title="records by study", title_justify="left")
    for heading in ("study", "current", "stale", "diverged", "runs made", "attempts", "seconds"):
        table.add_column(heading, justify="left" if heading in ("study", "attempts") else "right")
    for row in rows:
        attempts = ", ".join(f"{count} {kind}" for kind, count in row["attempts"].items()) or "–"
        numbers = [str(row[k]) for k in ("current", "stale", "diverged", "runs")]
        table.add_row(escape(row["study"]), *numbers, attempts, f"{row['seconds']:.1f}")
    return table


def output() -> Console:
    """The console of results. Wide when it is no terminal, so that a pipe gets whole rows."""
    console = Console(highlight=False)
    return console if console.is_terminal else Console(highlight=False, width=160)
