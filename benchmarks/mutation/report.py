"""The table of a mutation run, and its page in docs/."""

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.mutation.mutants import Mutant
from benchmarks.mutation.targets import ROOT
from benchmarks.mutation.trial import Outcome

PAGE = ROOT / "docs" / "mutation.md"
REASONS = Path(__file__).with_name("survivors.toml")
REQUIRED = 0.9


@dataclass(frozen=True)
class Row:
    """What became of one mutant."""

    mutant: Mutant
    outcome: Outcome


def reasons() -> dict[str, str]:
    """Why a mutant may survive, by its key."""
    return {row["mutant"]: row["why"] for row in tomllib.loads(REASONS.read_text())["survivor"]}


def survivors(rows: Sequence[Row]) -> list[Mutant]:
    """The mutants that no test noticed."""
    return [row.mutant for row in rows if row.outcome == "survived"]


def score(rows: Sequence[Row]) -> float:
    """The share of mutants that a test noticed; a test that hangs has noticed."""
    return 1 - len(survivors(rows)) / len(rows)


def table(rows: Sequence[Row]) -> str:
    """Mutants and survivors by module, as Markdown, with the survivors below."""
    why = reasons()
    lines = ["| module | mutants | killed | by timeout | survived |", "|---|---|---|---|---|"]
    for module in sorted({row.mutant.module for row in rows}):
        of = [row.outcome for row in rows if row.mutant.module == module]
        killed = len(of) - of.count("survived")
        lines.append(
            f"| {module} | {len(of)} | {killed} | {of.count('timeout')} | {of.count('survived')} |"
        )
    left = sorted(survivors(rows), key=lambda mutant: (mutant.module, mutant.line))
    killed = len(rows) - len(left)
    explained = sum(mutant.key in why for mutant in left)
    lines += ["", f"{killed} of {len(rows)} mutants killed ({score(rows):.1%})."]
    if left:
        lines += ["", f"{len(left)} survivors, {explained} with a reason:", ""]
    for mutant in left:
        lines.append(
            f"- {mutant.module}:{mutant.line} in `{mutant.place}`: `{mutant.before}` became "
            f"`{mutant.after}`: {why.get(mutant.key, 'no reason is known; a test is missing')}"
        )
    return "\n".join(lines)


def page(rows: Sequence[Row]) -> str:
    """The text of docs/mutation.md."""
    return f"""# Tests that bite

`make mutation` puts small faults into the formulas, one at a time, and asks whether the tests of
that module notice: another operator, comparison, constant, index, axis or order of arguments, a
condition turned round, min for max, a minus less, a function that returns nothing. The sample is
the same every time as long as the code is (`benchmarks/mutation/`); it is spread evenly over the
modules named in `benchmarks/mutation/targets.toml`, which also says which tests answer for which
module. At most half an hour on two cores; not part of CI. `make mutation ARGS="--only data/"`
looks at some modules only, `--per-module 20` looks harder.

This page is written by `make mutation ARGS=--write`; reasons for survivors are kept in
`benchmarks/mutation/survivors.toml`.

{table(rows)}
"""
