"""Laws of N50 with a floor: so many samples it takes anyway, and more in proportion to an axis."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from attnlab.claims import Axis, Effect, Finding, Outcome, Owner, Scalar
from attnlab.core import Cell, Record
from attnlab.evidence.fits import LEAST_LEVELS, ROUNDING
from attnlab.evidence.threshold_laws import AIC_PREFERENCE, bounded, thresholds
from attnlab.evidence.words import number

SHARES = np.concatenate([[0.0], np.geomspace(1e-4, 1e4, 401)])
"""Floor over the proportional part at the axis' geometric mean: no floor to nothing but a floor."""


@dataclass(frozen=True)
class FloorFit:
    """$N_{50} = f + c x$, least squares of the logarithm."""

    floor: float
    slope: float
    square: float
    """The mean square error of the logarithm."""

    def at(self, x: np.ndarray) -> np.ndarray:
        """The law."""
        return self.floor + self.slope * x

    def aic(self, points: int) -> float:
        """Akaike's criterion: floor and slope are two parameters."""
        return points * math.log(max(self.square, ROUNDING**2)) + 4


def fit_floor(x: np.ndarray, y: np.ndarray) -> FloorFit:
    """Fit f >= 0 and c > 0: for each ratio f/c the best c is a mean of logarithms."""
    unit = math.exp(float(np.log(x).mean()))
    shapes = SHARES[:, None] * unit + x[None, :]
    errors = np.log(y)[None, :] - np.log(shapes)
    best = int((errors.var(axis=1)).argmin())
    slope = math.exp(float(errors[best].mean()))
    return FloorFit(SHARES[best] * unit * slope, slope, float(errors[best].var()))


@dataclass(frozen=True)
class PrefersFloor:
    """N50 = floor + c x: one axis x fits better than its rivals, by AIC and on held-out levels.

    The effect is the AIC of the stated law less that of the best rival, with its range without any
    one level. Supported if every one of them is below -2 and the error on held-out levels is
    smaller, contradicted if every one is above 2 and it is larger.
    """

    stated: Axis
    rivals: tuple[Axis, ...]
    size: str = "N"
    owner: Owner = "ours"

    @property
    def estimated(self) -> bool:
        """A preference can be chance."""
        return True

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """By the levels at which N50 is bounded."""
        laws = (self.stated, *self.rivals)
        found = bounded(
            thresholds(runs, scalar, lambda cell: tuple(a.of(cell) for a in laws), self.size)
        )
        if len(found) <= LEAST_LEVELS + 1:
            return Finding("inconclusive", None, f"N50 is bounded at {len(found)} cells only")
        x, y = np.array(list(found)), np.array([fit.n50 for fit in found.values()])
        every = np.arange(len(y))
        whole = self._difference(x, y)
        without = [self._difference(x[every != k], y[every != k]) for k in every]
        low, high = min(whole, *without), max(whole, *without)
        held = [_held_out(x[:, k], y) for k in range(len(laws))]
        outcome: Outcome = "inconclusive"
        if high < -AIC_PREFERENCE and held[0] < min(held[1:]):
            outcome = "supported"
        elif low > AIC_PREFERENCE and held[0] > min(held[1:]):
            outcome = "contradicted"
        fits = [fit_floor(x[:, k], y) for k in range(len(laws))]
        detail = "; ".join(
            f"{law.name}: {number(fit.floor, 3)} + {number(fit.slope, 3)} x, held-out error "
            f"{number(error, 3)}"
            for law, fit, error in zip(laws, fits, held, strict=True)
        )
        name = f"AIC of a floor and {self.stated.name} less that of the best rival"
        return Finding(outcome, Effect(name, whole, low, high), detail)

    def _difference(self, x: np.ndarray, y: np.ndarray) -> float:
        own, *others = (fit_floor(column, y).aic(len(y)) for column in x.T)
        return own - min(others)

    def cutoff(self) -> str:
        """The decision line in words."""
        return f"AIC lower by {AIC_PREFERENCE:g} without any one level, smaller held-out error"

    def moved(self, factor: float) -> "PrefersFloor":
        """Two criteria must agree at every level left out; none is moved."""
        return self

    def example(self, cell: Cell) -> float:
        """Success from the stated law on."""
        return float(getattr(cell, self.size) >= self.stated.of(cell))


def _held_out(x: np.ndarray, y: np.ndarray) -> float:
    """Root mean square error of log N50 at each level, fitted without it."""
    every, squares = np.arange(len(y)), []
    for k in every:
        fit = fit_floor(x[every != k], y[every != k])
        squares.append(math.log(y[k] / fit.at(x[k : k + 1])[0]) ** 2)
    return math.sqrt(float(np.mean(squares)))
