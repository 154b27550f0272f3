"""The command for those who write: references, a table of verdicts, what was left open."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import arg

from attnlab.commands.common import Id, readable
from attnlab.core import BadInput
from attnlab.lab import ledger as ledgers
from attnlab.lab import plan, registry


@dataclass(frozen=True)
class Cite:
    """How to cite a paper and attnlab: BibTeX; with --latex also what was found, for a paper.

    `attnlab cite li2023 --latex` prints the LaTeX table of the verdicts in DIR and a statement of
    every setting that the paper leaves open; of one claim, the table has its row alone.
    """

    id: Id
    """A paper, or a claim, figure, hypothesis or study of it."""
    latex: bool = False
    """Also the table of verdicts and the reproducibility statement, from DIR."""
    out: Annotated[Path, arg(metavar="DIR")] = Path("results")
    """The folder of results that --latex reads."""

    def run(self) -> int:
        from attnlab.report.bibliography import OURS, entry

        target = registry.resolve(self.id)
        print(f"{entry(target.paper).bibtex}\n{OURS}", end="")
        if self.latex:
            self._print_latex(target)
        return 0

    def _print_latex(self, target: registry.Target) -> None:
        from attnlab.report import latex
        from attnlab.report.verdicts import verdicts

        if not target.claims:
            raise BadInput(f"{self.id} has no verdict; name a paper or a claim of it")
        with ledgers.reading(self.out) as ledger, readable(ledger):
            last = ledger.last_request()
            if last is None:
                raise BadInput(f"the ledger in {self.out} holds no request yet; run a check first")
            request = plan.Request(last.scale, last.seed, last.changes)
            found = verdicts(target.claims, request, ledger)
        print(f"\n{latex.verdict_table(target.claims, found)}")
        print(latex.reproducibility(target.paper, request), end="")
