"""What the claims of yang2024 share: readings of series, and shares of runs."""

from collections.abc import Sequence

from attnlab.core import Constant, Control, Effect, Hypothesis, Reading, Record, Records
from attnlab.evidence.intervals import decide_at_least, wilson
from attnlab.papers.yang2024.theory.conditions import Sizes, assumption_2_3, condition_1

SHUFFLED = Control(
    "shuffled labels", "the labels are permuted over the samples", changes={"labels": "shuffled"}
)
FROZEN = Control(
    "frozen attention", "keys and queries are not trained", changes={"attention": "frozen"}
)
HIDDEN = Constant("the constants and logarithms that the bounds hide", "unknown")


def share_reading(
    name: str, effect_name: str, held: Sequence[bool], probability: float, detail: str = ""
) -> Reading:
    """The outcome from the share of runs in which something held, against a probability."""
    effect = Effect.of(effect_name, wilson(sum(map(bool, held)), len(held)))
    outcome = decide_at_least(effect.low, effect.high, probability)
    return Reading(name, outcome, effect, detail)


def sizes_of(record: Record) -> Sizes:
    """The sizes and deviations of one run."""
    cell = record.cell
    s0, s1 = float(record["s0"]), float(record["s1"])
    return Sizes(cell.n, cell.L, cell.d, cell.m, cell.m1, s0, s1)


def hypotheses(records: Records) -> tuple[Hypothesis, ...]:
    """Assumption 2.3 for the worst training set drawn, and Condition 1 at the smallest width."""
    narrowest = min(records, key=lambda r: r.cell.m)
    tables = [assumption_2_3(sizes_of(r), r["words"]) for r in records]
    worst = max(tables, key=lambda rows: sum(row.met is False for row in rows))
    return (*worst, *condition_1(sizes_of(narrowest)))
