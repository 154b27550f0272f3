"""The command that makes one ledger of several."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from tyro.conf import Positional, arg

from attnlab.commands.common import say


@dataclass(frozen=True)
class Merge:
    """One ledger of several, e.g. of the jobs of an array: `merge A B --out C`.

    Every record is hashed again. Equal records are kept once, records of other code and failed
    attempts stay, and A, B, ... are left as they are.
    """

    dirs: Annotated[Positional[tuple[Path, ...]], arg(metavar="DIR...")]
    """Two or more folders of results."""
    out: Annotated[Path, arg(metavar="DIR")]
    """The folder of the new ledger, DIR/ledger.sqlite; there must be none yet."""
    prefer_first: bool = False
    """Where ledgers differ in a run of the same code and stack, take the first, not refuse."""

    def run(self) -> int:
        from attnlab.lab.merging import merge

        merged = merge(self.dirs, self.out, prefer_first=self.prefer_first)
        if merged.differing:
            say(f"{merged.differing} records differed; those of the ledger named first were taken")
        print(
            f"{merged.records} records of {len(self.dirs)} ledgers in {merged.path}; "
            f"{merged.repeated} were repeated"
        )
        return 0
