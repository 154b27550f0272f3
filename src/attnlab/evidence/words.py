"""Numbers and effects as words that a reader can trust: no `-0.00`, no bare `inf`, no false end."""

import math
from collections.abc import Sequence

from attnlab.claims import Effect, Hypothesis


def number(value: float | None, digits: int = 4) -> str:
    """A number in a few significant digits; words where there is no number to show."""
    if value is None:
        return "–"
    if math.isnan(value):
        return "not a number"
    if math.isinf(value):
        return "infinite" if value > 0 else "minus infinite"
    text = f"{value:.{digits}g}"
    return "0" if float(text) == 0 else text


def interval(effect: Effect) -> str:
    """`[low, high]`, an open end in words; nothing for an exact value."""
    if effect.exact:
        return ""
    if math.isnan(effect.low) or math.isnan(effect.high):
        return " (no interval)"
    if math.isinf(effect.low) and math.isinf(effect.high):
        return " (unbounded)"
    low = "no lower end" if math.isinf(effect.low) else number(effect.low)
    high = "no upper end" if math.isinf(effect.high) else number(effect.high)
    return f" [{low}, {high}]"


def effect_text(effect: Effect | None) -> str:
    """An effect with its interval, on one line."""
    if effect is None:
        return "–"
    return f"{effect.name}: {number(effect.value)}{interval(effect)}"


def shortfall(hypothesis: Hypothesis) -> str:
    """How a hypothesis is missed, in a sentence's part."""
    factor = hypothesis.factor
    if not math.isfinite(hypothesis.threshold):
        return f"{hypothesis.name} is {number(hypothesis.value)}, and no finite value would do"
    relation = {">=": "at least", "<=": "at most", "==": "exactly"}[hypothesis.relation]
    needs = f"needs {relation} {number(hypothesis.threshold)}"
    by = f" (short by a factor of {number(factor, 3)})" if factor is not None else ""
    return f"{hypothesis.name} is {number(hypothesis.value)}, {needs}{by}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """A few names, and how many more there are."""
    shown = "; ".join(names[:most])
    return shown if len(names) <= most else f"{shown}; and {len(names) - most} more"
