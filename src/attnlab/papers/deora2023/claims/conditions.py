"""The hypotheses of theorems, as values against thresholds, from the records of a run."""

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

from attnlab.claims import Hypothesis
from attnlab.core import Record, Records
from attnlab.papers.deora2023.scalars import target_of
from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import Proof, Theorem

Hypotheses = Callable[[Records], tuple[Hypothesis, ...]]
NAMES = {"corrected": "section 6.1's constants", "sharp": "our sharp constants",
         "symmetric": "our constants for equal heads"}  # fmt: skip


def theorem_hypotheses(theorem: Theorem, proof: Proof | None = None) -> Hypotheses:
    """The theorem's conditions by `proof`, or by the constants that chose a run's step size.

    Of each study the run that is worst off is shown, and (3) as printed at constant one.
    """

    def of(records: Records) -> tuple[Hypothesis, ...]:
        rows: list[Hypothesis] = []
        have = [r for r in records if "target_D" in r.values]
        for study in dict.fromkeys(r.study for r in have):
            tables = [_table(r, theorem, proof) for r in have if r.study == study]
            worst = max(tables, key=_shortfall)
            short = study.removeprefix("deora2023.")
            rows += [replace(row, name=f"{row.name} [{short}]") for row in worst]
        return tuple(rows)

    return of


def _shortfall(table: tuple[Hypothesis, ...]) -> float:
    """By how much a table misses its conditions at most; unknown constants do not count."""
    return max(row.factor or 0.0 for row in table if row.constant == "given")


def _table(record: Record, theorem: Theorem, proof: Proof | None) -> tuple[Hypothesis, ...]:
    target = target_of(record)
    chosen = proof or record.cell.proof
    printed = conditions.printed_heads_needed(target)
    # A step that was set to the limit may be off by a rounding of the logarithms.
    known = tuple(
        replace(
            h,
            name=h.name.replace(f"{chosen} constants", NAMES[chosen]),
            threshold=h.threshold * (1 + 1e-12) if h.relation == "<=" else h.threshold,
        )
        for h in conditions.hypotheses(target, float(record["eta"]), chosen, theorem)
    )
    return (
        *known,
        Hypothesis("heads H (as printed)", float(target.H), float(printed), constant="unknown"),
    )


def worst_of(
    name: str,
    value: Callable[[Record], float],
    threshold: float,
    relation: Literal[">=", "<="] = "<=",
    study: str = "",
) -> Hypotheses:
    """One hypothesis: the worst value over the runs (of a study) against a threshold."""

    def of(records: Records) -> tuple[Hypothesis, ...]:
        own = [r for r in records if not study or r.study == f"deora2023.{study}"]
        if not own:
            return ()
        values = [float(value(r)) for r in own]
        worst = max(values) if relation == "<=" else min(values)
        return (Hypothesis(name, worst, threshold, relation),)

    return of


def both(*several: Hypotheses) -> Hypotheses:
    """All of several hypotheses."""
    return lambda records: tuple(row for some in several for row in some(records))
