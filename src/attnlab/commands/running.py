"""Commands that make runs: verdicts, figures, whole papers."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated

from rich.console import Group
from tyro.conf import Positional, arg

from attnlab.claims import Verdict
from attnlab.commands.common import (
    MOST_UNIVERSES,
    Ids,
    Json,
    Options,
    claims_of,
    compute,
    draw,
    figures_of,
    pretty,
    print_or_write,
    readable,
    require_json_name,
    say,
    write,
)
from attnlab.core import BadInput
from attnlab.lab import ledger as ledgers
from attnlab.lab import registry
from attnlab.lab.multiverse import multiverse


def strictly(found: Sequence[Verdict]) -> int:
    """The exit code under --strict: nothing contradicted, and no pass on nothing."""
    unseen = [v.id for v in found if v.failed_runs and not v.trials]
    if unseen:
        say(f"--strict: all runs of {', '.join(unseen)} failed, so they were not judged")
    undecided = all(v.outcome == "inconclusive" for v in found)
    if undecided:
        say("--strict: no claim was decided, which is not a pass")
    return int(bool(unseen) or undecided or any(v.outcome == "contradicted" for v in found))


@dataclass(frozen=True)
class Check(Options):
    """The verdict on claims, or on all claims of a paper."""

    ids: Ids
    """Claims or papers."""
    json: Json = None
    strict: bool = False
    """Exit with 1 if a claim is contradicted, had no run to judge, or if none was decided."""
    robust: bool = False
    """Repeat each verdict without each fifth of the seeds; one that changes is inconclusive."""

    def run(self) -> int:
        from attnlab.report import terminal
        from attnlab.report.verdicts import as_json, verdicts

        claims = claims_of(self.ids)
        require_json_name(self.json)
        request = self.request()
        compute("check", self.ids, claims, self)
        with ledgers.reading(self.out) as ledger, readable(ledger):
            found = verdicts(claims, request, ledger, robust=self.robust)
        print_or_write(
            terminal.closing(claims, found), self.json, lambda: [as_json(v) for v in found]
        )
        return strictly(found) if self.strict else 0


@dataclass(frozen=True)
class Run(Options):
    """A figure, or all figures of a paper: DIR/figures/ID.png, .svg, .pdf and .json."""

    ids: Ids
    """Figures or papers."""

    def run(self) -> int:
        figures = figures_of(self.ids)
        compute("run", self.ids, figures, self)
        draw(figures, self)
        return 0


@dataclass(frozen=True)
class Reproduce(Options):
    """All studies, claims and figures of the papers (default: every paper), and the page."""

    papers: Annotated[Positional[tuple[str, ...]], arg(metavar="PAPER...")] = ()
    """Papers; every installed one if none is named."""
    strict: bool = False
    """Exit with 1 if a claim is contradicted, had no run to judge, or if none was decided."""

    def run(self) -> int:
        from attnlab.report import latex, page, profile, terminal
        from attnlab.report.verdicts import as_json, verdicts

        names = self.papers or tuple(registry.papers())
        papers = [registry.paper(name) for name in names]
        claims = [claim for paper in papers for claim in paper.claims]
        figures = [figure for paper in papers for figure in paper.figures]
        request = self.request()
        stage = profile.Stages()
        with stage("runs"):
            compute("reproduce", names, [*claims, *figures], self)
        with stage("verdicts"), ledgers.reading(self.out) as ledger, readable(ledger):
            found = verdicts(claims, request, ledger)
        with stage("figures"):
            drawn = draw(figures, self, found)
        with stage("page"), ledgers.reading(self.out) as ledger, readable(ledger):
            text = page.page(papers, request, ledger, found, drawn)
        terminal.output().print(terminal.closing(claims, found))
        write(self.out / "verdicts.json", pretty([as_json(v) for v in found]))
        write(self.out / "report.html", text.encode())
        write(profile.path_of(self.out), pretty(stage.seconds))
        for path in latex.save(papers, found, request, self.out / "latex"):
            say(f"wrote {path}")
        return strictly(found) if self.strict else 0


@dataclass(frozen=True)
class Multiverse(Options):
    """Claims over the choices that their paper leaves open, and which of them decides.

    Each universe takes one value of every open setting (`attnlab show ID` lists them with the
    reasons), at the designs of the next smaller scale. Writes the strip of universes
    to DIR/figures/ID.multiverse.png, .svg and .json.
    """

    ids: Ids
    """Claims or papers."""
    universes: Annotated[int, arg(metavar="K")] = 12
    """How many universes: as designed, then neighbours in one choice, then combinations."""
    json: Json = None

    def run(self) -> int:
        from attnlab.report import multiverse as report
        from attnlab.report import terminal

        claims = claims_of(self.ids)
        require_json_name(self.json)
        if not 1 <= self.universes <= MOST_UNIVERSES:
            raise BadInput(
                f"--universes {self.universes} is out of range; give 1 to {MOST_UNIVERSES}"
            )
        request = replace(self.request(), dense=True)
        compute("multiverse", self.ids, claims, self, self.universes)
        with ledgers.reading(self.out) as ledger, readable(ledger):
            found = [multiverse(claim, request, ledger, self.universes) for claim in claims]
        for one in found:
            for path in report.save(one, self.out / "figures"):
                say(f"wrote {path}")
            if self.json != "-":
                terminal.output().print(report.table(one))
        rows = Group(*(report.rows_table(one) for one in found))
        print_or_write(rows, self.json, lambda: [report.as_json(one) for one in found])
        return 0
