"""What the command line prints: verdicts, `list`, bounds, hypotheses, the state of a ledger."""

import os
from collections.abc import Iterable, Sequence

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from attnlab.claims import Assumption, Claim, Verdict
from attnlab.core import Bound, Json, Paper
from attnlab.evidence.words import met_text, miss_text, number, requirement
from attnlab.lab.ledger import last_lines
from attnlab.lab.ledger_rows import Failure, StudySummary
from attnlab.lab.registry import assumptions
from attnlab.report.hypotheses import Row, merged
from attnlab.report.news import by_paper, news
from attnlab.report.verdicts import counts, cutoff_text, measured_and_more, news_first

COLOURS = {
    "supported": "green",
    "contradicted": "red",
    "depends": "magenta",
    "vacuous": "blue",
    "inconclusive": "yellow",
    "not_applicable": "cyan",
}


def verdict_table(verdicts: Iterable[Verdict], *, counted: bool = True) -> Group:
    """A row per verdict, news first: stated, measured, cutoff; then a line of counts per paper."""
    found = list(verdicts)
    scale = found[0].scale if found else ""
    table = Table(title=f"verdicts at scale {scale}", title_justify="left", show_lines=True)
    table.add_column("verdict", no_wrap=True)
    table.add_column("claim")
    for verdict in news_first(found):
        table.add_row(Text(verdict.outcome, style=COLOURS[verdict.outcome]), _claim_cell(verdict))
    papers = dict.fromkeys(verdict.id.partition(".")[0] for verdict in found)
    lines = [counts_line(p, [v for v in found if v.id.partition(".")[0] == p]) for p in papers]
    return Group(table, *(lines if counted else ()))


MANY = 8
"""Verdicts beyond which a table fills a screen, so that the news is told again below it."""


def closing(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> Group:
    """What a command ends with: the news in a few lines, then the table, then the counts."""
    told, many = news_lines(claims, verdicts), len(verdicts) > MANY
    return Group(told, verdict_table(verdicts, counted=not many), *([told] if many else ()))


def news_lines(claims: Sequence[Claim], verdicts: Sequence[Verdict]) -> Group:
    """What a colleague should know, three lines a paper, and its counts."""
    parts: list[RenderableType] = []
    for paper, pairs in by_paper(claims, verdicts).items():
        for item in news(pairs):
            grid = Table.grid(padding=(0, 1, 0, 0))
            name = item.claim.id.partition(".")[2]
            outcome = item.verdict.outcome
            word = (outcome.replace("_", " "), COLOURS[outcome])
            sentence = Text.assemble(word, " ", (name, "bold"), f": {item.sentence}")
            grid.add_row(Text("●", style=COLOURS[outcome]), sentence)
            parts.append(grid)
        parts.append(counts_line(paper, [verdict for _, verdict in pairs]))
    return Group(*parts)


def counts_line(paper: str, verdicts: Sequence[Verdict]) -> Text:
    """How many verdicts of each outcome a paper has, on one line."""
    named = [(f"{n} {o}", COLOURS[o]) for o, n in counts(verdicts) if n]
    plural = "claim" if len(verdicts) == 1 else "claims"
    pieces: list[str | tuple[str, str]] = [f"{paper}: {len(verdicts)} {plural}"]
    for words in named:
        pieces += [", " if len(pieces) > 1 else ": ", words]
    return Text.assemble(*pieces)


def _claim_cell(verdict: Verdict) -> Group:
    rejected = sum(c.outcome == "contradicted" for c in verdict.controls)
    runs = f"{verdict.trials} runs"
    runs += f", {verdict.failed_runs} failed" if verdict.failed_runs else ""
    runs += f", {verdict.diverged_runs} diverged" if verdict.diverged_runs else ""
    measured, more = measured_and_more(verdict)
    head = Text.assemble((verdict.id, "bold"), f"  {verdict.kind}, {runs}, ")
    head.append(f"{rejected} of {len(verdict.controls)} controls rejected")
    grid = Table.grid(padding=(0, 2, 0, 0))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    lines = {
        "stated": f"{verdict.stated} ({verdict.source})" if verdict.source else verdict.stated,
        "measured": measured,
        "cutoff": cutoff_text(verdict),
        "why": more,
        "tightness": verdict.tightness,
    }
    for name, words in lines.items():
        if words:
            grid.add_row(name, Text(words))
    return Group(head, grid)


def list_table(papers: Iterable[Paper]) -> Group:
    """Every id, by paper."""
    parts = []
    for paper in papers:
        table = Table(title=f"{paper.id}: {paper.title}", title_justify="left", box=None)
        for heading in ("what", "id", "kind", "title (source)"):
            table.add_column(heading, no_wrap=heading == "id")
        for claim in paper.claims:
            _add(table, "claim", claim.id, claim.kind, _titled(claim))
        for assumption in assumptions(paper):
            _add(table, "hypothesis", assumption.id, "", _titled(assumption))
        for figure in paper.figures:
            _add(table, "figure", figure.id, "", figure.title)
        for study in paper.studies:
            _add(table, "study", study.id, "", study.summary)
        parts.append(table)
    return Group(*parts)


def list_json(papers: Iterable[Paper]) -> dict[str, Json]:
    """Every id, as `list --json` prints it."""
    papers = list(papers)
    return {
        "papers": [{"id": p.id, "title": p.title, "reference": p.reference} for p in papers],
        "studies": [{"id": s.id, "summary": s.summary} for p in papers for s in p.studies],
        "claims": [
            {
                "id": c.id,
                "kind": c.kind,
                "title": c.title,
                "source": str(c.source),
                "studies": list(c.studies),
            }
            for p in papers
            for c in p.claims
        ],
        "hypotheses": [
            {"id": a.id, "title": a.title, "source": str(a.source)}
            for p in papers
            for a in assumptions(p)
        ],
        "figures": [
            {"id": f.id, "title": f.title, "studies": list(f.studies)}
            for p in papers
            for f in p.figures
        ],
    }


def hypotheses_table(rows: Iterable[tuple[Assumption, Sequence[Row]]]) -> Group:
    """Every condition of each assumption: at the paper's settings, and at our studies' worst."""
    parts: list[RenderableType] = []
    for assumption, found in rows:
        head = Text.assemble((assumption.id, "bold"), f" {_titled(assumption)}")
        table = Table(box=None)
        for heading in ("condition", "at", "value", "needs", "met", "misses by"):
            align = "right" if heading == "value" else "left"
            table.add_column(heading, justify=align, overflow="fold")
        last = ""
        for place, row in merged(found):
            h = row.hypothesis
            name, last = "" if h.name == last else h.name, h.name
            cells = (name, place, number(h.value), requirement(h), row.met, miss_text(h))
            table.add_row(*map(Text, cells))
        body = table if found else Text("no setting of the paper or of a study concerns it")
        parts += [head, Padding(body, (0, 0, 1, 2))]
    return Group(*parts)


def _titled(item: Claim | Assumption) -> str:
    return f"{item.title} ({item.source})" if str(item.source) else item.title


def _add(table: Table, *cells: str) -> None:
    table.add_row(*map(Text, cells))


def bounds_table(name: str, rows: Iterable[Bound]) -> Table:
    """Every bound and condition, a row each."""
    table = Table(title=f"bounds and conditions of {name}", title_justify="left")
    for heading in ("name", "value", "held against", "met", "constant", "meaning"):
        table.add_column(heading, justify="right" if heading == "value" else "left")
    for row in rows:
        met = "–" if row.threshold is None else met_text(row.met)
        cells = (number(row.threshold), met, row.constant, row.meaning)
        table.add_row(escape(row.name), number(row.value), *(escape(cell) for cell in cells))
    return table


def ledger_table(rows: Iterable[StudySummary]) -> Table:
    """The state of a ledger, a row per study."""
    table = Table(title="records by study", title_justify="left")
    for heading in ("study", "current", "stale", "diverged", "runs made", "attempts", "seconds"):
        table.add_column(heading, justify="left" if heading in ("study", "attempts") else "right")
    for row in rows:
        attempts = ", ".join(f"{count} {kind}" for kind, count in row.attempts.items()) or "–"
        numbers = map(str, (row.current, row.stale, row.diverged, row.runs))
        table.add_row(escape(row.study), *numbers, escape(attempts), f"{row.seconds:.1f}")
    return table


def failures_table(rows: Iterable[Failure]) -> Table:
    """Why attempts gave no record, a row each: the error and the end of its traceback."""
    table = Table(title="attempts that gave no record", title_justify="left")
    for heading in ("study", "seed", "how", "why"):
        table.add_column(heading, overflow="fold")
    for row in rows:
        why = last_lines(row.message, 4)
        table.add_row(*map(escape, (row.study, str(row.seed), row.kind, why)))
    return table


def output() -> Console:
    """The console of results. Wide when it is no terminal, so that a pipe gets whole rows."""
    console = Console(highlight=False)
    if console.is_terminal or os.environ.get("COLUMNS", "").isdigit():
        return console  # rich honours COLUMNS
    return Console(highlight=False, width=160)
