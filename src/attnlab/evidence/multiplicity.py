"""Several tests in one statement: adjusted p-values, joint levels, and conjunctions."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike

from attnlab.claims import Outcome
from attnlab.evidence.intervals import require_level


def holm(p_values: ArrayLike) -> np.ndarray:
    r"""Holm's step-down adjusted p-values, in the order given.

    $$\tilde p_{(i)} = \min\bigl(1, \max_{j \le i} (m - j + 1)\, p_{(j)}\bigr)$$

    - $p_{(1)} \le \dots \le p_{(m)}$: the sorted p-values.

    Rejecting where the adjusted value is at most a keeps the chance of any false rejection at
    most a, however the tests depend on each other. Holm (1979), Scand. J. Statist. 6.
    """
    p = np.asarray(p_values, dtype=float)
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"p_values={p.tolist()}; give a list of numbers between 0 and 1")
    order = np.argsort(p, kind="stable")
    stepped = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(stepped, 1.0)
    return adjusted


def simultaneous_level(k: int, level: float = 0.95) -> float:
    r"""The level of each of k intervals such that all k cover together at `level`: $1 - (1-c)/k$.

    - $c$: the joint level. Bonferroni's: it holds however the intervals depend on each other.
    """
    require_level(level)
    if k < 1:
        raise ValueError(f"k={k}; a joint level is that of at least one interval")
    return 1 - (1 - level) / k


def combine_outcomes(outcomes: Iterable[Outcome]) -> Outcome:
    """The outcome of a statement that is the conjunction of its parts.

    One contradicted part contradicts it; else one inconclusive part leaves it open; else it is
    supported. A part that does not apply says nothing: only if no part applies, neither does the
    statement. No parts at all are inconclusive.
    """
    parts = list(outcomes)
    if "contradicted" in parts:
        return "contradicted"
    if "inconclusive" in parts or not parts:
        return "inconclusive"
    return "supported" if "supported" in parts else "not_applicable"
