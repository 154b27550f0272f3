"""Values that synthetic records of the first phase hold, for scalars that read whole series.

Each is a function of the cell and a random generator; all series have three recorded times.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Value = Callable[[Any, np.random.Generator], Any]


def _spread(random: np.random.Generator) -> float:
    return float(np.exp(0.02 * random.normal()))


def neuron_unit(cell: Any) -> float:
    """(s0^2 + s1^2) m of the theory's initialisation."""
    return (cell.c0**2 / (cell.L * cell.m) + 1 / cell.m1) * cell.m


def series(power: float = 0.0, *size: float) -> Value:
    """Constant in time, and a power of m with a little noise."""
    level = np.array(size) if len(size) > 1 else (size or (1.0,))[0]
    return lambda cell, random: np.stack([level * _spread(random) * float(cell.m) ** power] * 3)


def of_unit(*size: float, per_neuron: bool = True) -> Value:
    """Constant in time, in units of (s0^2 + s1^2) m, or of that times m1."""

    def value(cell: Any, random: np.random.Generator) -> np.ndarray:
        unit = neuron_unit(cell) * (1 if per_neuron else cell.m1)
        values = np.array([size] * 3) * unit * _spread(random)
        return values if len(size) > 1 else values[:, 0]

    return value


STARTED: dict[str, Value] = {
    "s0": lambda cell, random: cell.c0 / np.sqrt(cell.L * cell.m),
    "s1": lambda cell, random: 1 / np.sqrt(cell.m1),
    "times": lambda cell, random: np.array([0.0, 1.0, 1e3]) / cell.m,
    "T1_every_sample": lambda cell, random: 7.0 / cell.m,
    "T1_type_means": lambda cell, random: 6.0 / cell.m,
}
"""What every record of the first phase has."""
