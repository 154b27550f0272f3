"""The toy paper's formulas, and the second routes to what is false in it: plain Python."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np

from attnlab.claims import Effect, Finding, Hypothesis
from attnlab.core import Records
from attnlab.evidence.intervals import mean_interval
from attnlab_toy.settings import ToySettings


def factor_by_descent(cell: ToySettings) -> float:
    """1 - eta lambda."""
    return 1 - cell.eta * cell.curvature


def factor_by_flow(cell: ToySettings) -> float:
    """The flow over the time of one step."""
    return math.exp(-cell.eta * cell.curvature)


def global_bound(cell: ToySettings) -> float:
    """The sum of the local errors: eta lambda^2 T / 2."""
    return cell.eta * cell.curvature**2 * cell.horizon / 2


def stable_step(cell: ToySettings) -> tuple[Hypothesis, ...]:
    """A step no longer than one over the curvature."""
    return (Hypothesis("step over curvature: eta lambda", cell.eta * cell.curvature, 1.0, "<="),)


def large_dimension(cell: ToySettings) -> tuple[Hypothesis, ...]:
    """Enough coordinates, with a constant that nobody knows."""
    return (Hypothesis("d >= C log(1/delta)", cell.dimension, math.log(100), ">=", "unknown"),)


# --- second routes ----------------------------------------------------------------------------


def rational_factor(records: Records) -> Finding:
    """One step in exact fractions against the printed factor: no rounding, no root, no run."""
    worst = max(
        abs(1 - Fraction(c.eta) * Fraction(c.curvature)) * Fraction(1, 10**9)
        for c in {r.cell for r in records}
    )
    outcome = "contradicted" if worst > Fraction(1, 10**12) else "supported"
    return Finding(outcome, Effect.exactly("printed minus exact factor", float(worst)))


def fresh_normals(records: Records) -> Finding:
    """|x|^2 / d of numpy's own normal numbers."""
    random = np.random.default_rng(1)
    found = mean_interval((random.standard_normal((400, 1000)) ** 2).mean(axis=1))
    outcome = "contradicted" if found.high < 1.04 else "supported"
    return Finding(outcome, Effect.of("mean of |x|^2 / d of other draws", found))


def share_by_formula(records: Records) -> Finding:
    """P(eta lambda exp(spread Z) < 2), the chance that a run converges."""
    cell = records[0].cell
    share = NormalDist().cdf(math.log(2 / (cell.eta * cell.curvature)) / cell.spread)
    outcome = "contradicted" if share < 0.9 else "supported"
    return Finding(outcome, Effect.exactly("chance to converge", share))
