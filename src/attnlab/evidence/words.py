"""Numbers and effects as words that a reader can trust: no `-0.00`, no bare `inf`, no false end."""

import math
from collections.abc import Sequence

from attnlab.claims import Constant, Effect, Hypothesis, Owner


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


def number_or_word(value: float) -> float | str:
    """A number for JSON, which has no infinite one: a word stands for it, as in the tables."""
    return float(value) if math.isfinite(value) else number(value)


def interval(effect: Effect) -> str:
    """`[low, high]`, an open end in words; nothing for an exact value."""
    if effect.exact or _only_rounding(effect):
        return ""
    if math.isnan(effect.low) or math.isnan(effect.high):
        return " (no interval)"
    if math.isinf(effect.low) and math.isinf(effect.high):
        return " (unbounded)"
    low = "no lower end" if math.isinf(effect.low) else number(effect.low)
    high = "no upper end" if math.isinf(effect.high) else number(effect.high)
    return f" [{low}, {high}]"


def _only_rounding(effect: Effect) -> bool:
    """Whether the ends differ from the value by rounding alone, as where all runs are equal."""
    return all(
        math.isclose(end, effect.value, rel_tol=1e-12) and math.isfinite(end)
        for end in (effect.low, effect.high)
    )


def effect_text(effect: Effect | None) -> str:
    """An effect with its interval, on one line."""
    if effect is None:
        return "–"
    return f"{effect.name}: {number(effect.value)}{interval(effect)}"


def constant_text(constant: Constant) -> str:
    """A constant with its value, if it has one, and how it is known."""
    known = "" if constant.value is None else f" = {number(constant.value)}"
    if constant.low is not None and constant.high is not None:
        known += f" [{number(constant.low)}, {number(constant.high)}]"
    return f"{constant.name}{known} ({constant.kind})"


def owned(cutoff: str, owner: Owner) -> str:
    """A cutoff, and whose it is."""
    whose = "the paper's" if owner == "paper" else "ours"
    return f"{cutoff} ({whose})"


def requirement(hypothesis: Hypothesis) -> str:
    """What a hypothesis asks for; words where no number can be asked for."""
    threshold, relation = hypothesis.threshold, hypothesis.relation
    if math.isnan(threshold):
        return "–"
    if math.isinf(threshold):
        free = relation == ("<=" if threshold > 0 else ">=")
        return "nothing (any value will do)" if free else "more than any finite value"
    word = {">=": "at least", "<=": "at most", "==": "exactly"}[relation]
    return f"{word} {number(threshold)}"


def met_text(met: bool | None) -> str:
    """Whether a condition holds."""
    return "unknown" if met is None else "yes" if met else "no"


def miss_text(hypothesis: Hypothesis) -> str:
    """The factor by which a condition is missed; for an unknown constant, at constant one."""
    factor = hypothesis.factor
    if hypothesis.met or factor is None or factor <= 1:
        return "–"
    return f"×{number(factor)}" + (" at constant 1" if hypothesis.met is None else "")


def shortfall(hypothesis: Hypothesis) -> str:
    """How a hypothesis is missed, in a sentence's part."""
    factor = hypothesis.factor
    by = f" (missed by a factor of {number(factor, 3)})" if factor is not None else ""
    return f"{hypothesis.name} is {number(hypothesis.value)}, needs {requirement(hypothesis)}{by}"


def listed(names: Sequence[str], most: int = 4) -> str:
    """A few names, and how many more there are."""
    shown = "; ".join(names[:most])
    return shown if len(names) <= most else f"{shown}; and {len(names) - most} more"


def values_text(values: Sequence[object], most: int = 8) -> str:
    """The values of a setting, the middle ones left out if there are many."""
    shown = [f"{v:.6g}" if isinstance(v, float) else str(v) for v in values]
    return ", ".join(shown if len(shown) <= most else [*shown[:4], "…", *shown[-3:]])
