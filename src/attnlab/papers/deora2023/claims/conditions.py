"""The hypotheses of theorems, as values against thresholds, from the records of a run."""

from collections.abc import Callable

from attnlab.core import Hypothesis, Record, Records
from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import Target, Theorem


def target_of(record: Record) -> Target:
    """The target of a run."""
    cell = record.cell
    numbers = {
        name: float(record[f"target_{name}"])
        for name in ("R", "H", "D", "m", "loss", "start_loss", "K", "least_count")
    }
    return Target(T=cell.T, d=cell.d, **numbers)


def theorem_hypotheses(theorem: Theorem) -> Callable[[Records], tuple[Hypothesis, ...]]:
    """The theorem's conditions by the constants that a run's step size was chosen with.

    Of each study the run that is worst off is shown, and (3) as printed at constant one.
    """

    def of(records: Records) -> tuple[Hypothesis, ...]:
        rows: list[Hypothesis] = []
        have = [r for r in records if "target_D" in r.values]
        for study in dict.fromkeys(r.study for r in have):
            tables = [_table(r, theorem) for r in have if r.study == study]
            worst = max(tables, key=_shortfall)
            short = study.removeprefix("deora2023.")
            rows += [
                Hypothesis(
                    f"{row.name} [{short}]", row.value, row.threshold, row.relation, row.constant
                )
                for row in worst
            ]
        return tuple(rows)

    return of


def _shortfall(table: tuple[Hypothesis, ...]) -> float:
    """By how much a table misses its conditions at most; unknown constants do not count."""
    return max(row.factor or 0.0 for row in table if row.constant == "given")


def _table(record: Record, theorem: Theorem) -> tuple[Hypothesis, ...]:
    target = target_of(record)
    proof = record.cell.proof
    known = conditions.hypotheses(target, float(record["eta"]), proof, theorem)
    printed = conditions.printed_heads_needed(target)
    # A step that was set to the limit may be off by a rounding of the logarithms.
    exact = tuple(
        Hypothesis(h.name, h.value, h.threshold * (1 + 1e-12), h.relation)
        if h.relation == "<="
        else h
        for h in known
    )
    return (
        *exact,
        Hypothesis("heads H (as printed)", float(target.H), float(printed), constant="unknown"),
    )


def of_cells(
    name: str,
    value: Callable[[Record], float],
    threshold: float,
    relation: str = "<=",
) -> Callable[[Records], tuple[Hypothesis, ...]]:
    """One hypothesis: the largest value over the runs against a threshold."""

    def of(records: Records) -> tuple[Hypothesis, ...]:
        worst = max(value(r) for r in records)
        return (Hypothesis(name, float(worst), threshold, relation),)  # type: ignore[arg-type]

    return of
