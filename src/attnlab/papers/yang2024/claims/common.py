"""What the claims of yang2024 share: controls, cutoffs of ours, and the gate of hypotheses."""

from attnlab.claims import Constant, Control, Hypothesis
from attnlab.core import Records
from attnlab.evidence.laws import Power
from attnlab.papers.yang2024.scalars.common import sizes_of
from attnlab.papers.yang2024.theory.conditions import assumption_2_3, condition_1

SMALL_SET = {"n": 24, "L": 4, "m1": 64}
"""Where only whether a control bites is asked, its runs stay small; m goes over its widths."""
SHUFFLED = Control(
    "shuffled labels", "the labels are permuted over the samples (n = 24, L = 4, m1 = 64)",
    changes={"labels": "shuffled", **SMALL_SET},
)  # fmt: skip
FROZEN = Control(
    "frozen attention", "keys and queries are not trained", changes={"attention": "frozen"}
)
HIDDEN = Constant("the constants and logarithms that the bounds hide", "unknown")

TOLERANCE = 0.1
"""Ours, for exponents in m."""
TOLERANCE_WHY = (
    "The tolerance of 0.1 is ours: the stated orders hide powers of log m, and over the widths "
    "here one power of log m is an exponent of about 0.1."
)
PROBABILITY = 0.9
"""Ours: the share of runs that stands for `with high probability`."""


BOUNDED = Power("m", 0.0, "at_most", TOLERANCE)
"""A quotient by its bound does not grow with m."""
KEPT = Power("m", 0.0, "at_least", TOLERANCE)
"""A quotient by its order does not fall with m."""
CONSTANT = Power("m", 0.0, "equal", TOLERANCE)
"""A quantity of order one."""
OVER_WIDTHS = (
    "m from 2^9 to 2^20 with n = 24, L = 4, m1 = 64 and c0 = 0.1 fixed: n, L and m1 do not grow "
    "with log m, as Condition 1's hidden logarithms would have it"
)


def drawn_hypotheses(records: Records) -> tuple[Hypothesis, ...]:
    """Assumption 2.3 for the worst training set drawn, and Condition 1 at the smallest width.

    Runs on classes of words draw no training set: for them Condition 1 is all there is.
    """
    drawn = [r for r in records if "words" in r.values]
    if not drawn:
        points = [r for r in records if "s0" in r.values]
        return condition_1(sizes_of(min(points, key=lambda r: r.cell.m))) if points else ()
    narrowest = min(drawn, key=lambda r: r.cell.m)
    tables = [assumption_2_3(sizes_of(r), r["words"]) for r in drawn]
    worst = max(tables, key=lambda rows: sum(row.met is False for row in rows))
    return (*worst, *condition_1(sizes_of(narrowest)))
