"""Made-up values that have what a statement says: the positive fixtures of claims.

Those of phase 1 are functions of the cell and a random generator, with three recorded times;
those of phase 2 and of figures are whole series.
"""

from collections.abc import Callable

import numpy as np

from attnlab.papers.yang2024.runs.summaries.phase_2 import PAIRS, PREFIX
from attnlab.papers.yang2024.settings import ClassSettings, TrainingSettings
from attnlab.papers.yang2024.settings.paths import PathSettings
from attnlab.papers.yang2024.theory.asymptote import samples_for_seen_words

Cell = TrainingSettings | ClassSettings | PathSettings
Value = Callable[[Cell, np.random.Generator], float | np.ndarray]
Values = dict[str, float | np.ndarray | Value]

# --- phase 1 ----------------------------------------------------------------------------------


def _spread(random: np.random.Generator) -> float:
    return float(np.exp(0.02 * random.normal()))


def neuron_unit(cell: Cell) -> float:
    """(s0^2 + s1^2) m of the theory's initialisation."""
    return (cell.c0**2 / (cell.L * cell.m) + 1 / cell.m1) * cell.m


def series(power: float = 0.0, *size: float) -> Value:
    """Constant in time, and a power of m with a little noise."""
    level = np.array(size) if len(size) > 1 else (size or (1.0,))[0]
    return lambda cell, random: np.stack([level * _spread(random) * float(cell.m) ** power] * 3)


def of_unit(*size: float, per_neuron: bool = True) -> Value:
    """Constant in time, in units of (s0^2 + s1^2) m, or of that times m1."""

    def value(cell: Cell, random: np.random.Generator) -> np.ndarray:
        unit = neuron_unit(cell) * (1 if per_neuron else cell.m1)
        values = np.array([size] * 3) * unit * _spread(random)
        return values if len(size) > 1 else values[:, 0]

    return value


def random_rate_bound(cell: Cell, random: np.random.Generator) -> np.ndarray:
    """Constant in time, of the order of Lemma E.6's bound."""
    bound = neuron_unit(cell) / cell.n + cell.c0**2 / np.sqrt(cell.L * cell.m)
    return np.full(3, bound * _spread(random))


STARTED: dict[str, Value] = {
    "s0": lambda cell, random: cell.c0 / np.sqrt(cell.L * cell.m),
    "s1": lambda cell, random: 1 / np.sqrt(cell.m1),
    "times": lambda cell, random: np.array([0.0, 1.0, 1e3]) / cell.m,
    "T1_every_sample": lambda cell, random: 7.0 / cell.m,
    "T1_type_means": lambda cell, random: 6.0 / cell.m,
}
"""What every record of the first phase has."""

# --- phase 2, figures and samples --------------------------------------------------------------


def phase_2() -> Values:
    """A run in which all of Theorem 3.2 goes as stated from time 5 / rho(0) on."""
    tau = np.r_[0, np.geomspace(0.01, 5000, 80)]
    growth = np.log1p(tau)
    correlations = np.zeros((81, 3, 3))
    for i, j, sign in (*PAIRS, (0, 2, -1), (1, 2, -1)):
        correlations[:, i, j] = sign * growth
    G3 = np.where(tau > 5, -1.2, -0.5) * growth
    return {
        **STARTED,
        "times": lambda cell, _: tau / cell.m,
        "scores": correlations,
        "value_correlations": correlations,
        "signal_outputs": np.stack([growth, growth, G3], axis=1),
        "rho": lambda cell, _: np.full(81, float(cell.m)),
    }


def directions() -> Values:
    """Runs in steps whose scores go as stated, but for half of Adam's, and move by a hundredth."""

    def scores(cell: Cell, random: np.random.Generator) -> np.ndarray:
        wrong = getattr(cell, "method", "") == "adam" and random.uniform() < 0.5
        S = np.zeros((3, 3, 3))
        for key, query, sign in PAIRS:
            S[1:, key, query] = -sign if wrong else sign
        return S

    return {"scores": scores, "attention_change": np.full(3, 0.01), "T1_every_sample": 5.0}


def figure_1() -> Values:
    """A run with the shape of Figure 1."""
    times = np.r_[0, np.geomspace(1, 30_000, 100)]
    late = np.maximum(np.log(np.maximum(times, 1) / 1_600), 0)
    scores = np.zeros((101, 3, 3))
    for key, query, sign in PAIRS:
        scores[:, key, query] = sign * late
    fall = np.where(times > 2_000, 0.5, 1.0)
    losses = [0.69 * (1 + bump * (times > 100)) * fall for bump in (0.0, 0.2, 0.2, 0.0)]
    by_type = np.stack(losses, axis=1)
    return {"times": times, "scores": scores, "loss_by_type": by_type, "T1_every_sample": 1_650.0}


def rho_series() -> Values:
    """rho's rate by equation (5), negative before every sample is correct."""
    margins = np.array([-0.1, 0.2, 0.1])
    return {
        "phase_2_rho_growth_over_integral": 1.0,
        "mean_weighted_margin": margins,
        "rho_rate": lambda cell, _: 2 * cell.m1 * margins,
    }


def balance() -> Values:
    """A second phase whose displays leave out log^-3 m and whose types 2 and 3 draw together."""
    shares = np.array([3, 1, 1, 1]) / 6
    g = np.tile([0.14, 0.3, 0.3, 0.006], (4, 1))
    g[:, 1] *= [1.1, 1.08, 1.06, 1.04]
    sums = (g * shares).T
    rates = np.array([
        sums[0] - sums[1], sums[0] - sums[2], sums[0] - sums[1] - sums[2] - sums[3]
    ]).T  # fmt: skip

    def left_out(cell: Cell, random: np.random.Generator) -> float:
        return np.log(cell.m) ** -3 * _spread(random) * sums.sum(axis=0).max()

    return {
        "times": lambda cell, _: np.arange(4.0) / cell.m,
        "loss": np.ones(4),
        "phase_2_begin": lambda cell, _: 0.5 / cell.m,
        "phase_2_begin_at_1/m": lambda cell, _: 0.5 / cell.m,
        "type_counts": lambda cell, _: cell.n * shares,
        "rho": lambda cell, _: np.full(4, float(cell.m)),
        "gradient_by_type": g,
        "curvature_by_type": g * (1 - g),
        # A tenth above and below the mean.
        "smallest_margin_by_type": np.log(1 / (1.1 * g) - 1),
        "gradient_spread_by_type": np.full((4, 4), 1.21),
        "signal_rates": lambda cell, random: cell.m * (rates + 0.01 * left_out(cell, random)),
        "largest_random_rate": lambda cell, random: np.full(
            4, cell.m * left_out(cell, random) / cell.L
        ),
        "attention_part": np.zeros(4),
    }


def loss_curve() -> Values:
    """A loss that falls like 1/t, whatever the attention."""
    times = np.r_[0, np.geomspace(1e-2, 1e8, 200)]
    return {"times": times, "loss": 1 / (1 + times), "rho": np.ones(201), "T1_every_sample": 0.1}


def duals() -> dict[str, float]:
    """The late constants of a small set: those of the duals, and of no larger set."""
    values = {
        "loss_slope_over_limit": 1.0,
        "R_over_limit": 1.0,
        "random_sum_slope_over_limit": 1.0,
        "loss_slope_over_twice_n": 1.5,
        "loss_slope_over_many_samples": 3.0,
        "R_over_twice_n": 0.9,
        "R_over_many_samples": 0.7,
    }
    return {PREFIX + name: value for name, value in values.items()}


def sides() -> Values:
    """Margins and test losses on the side of their thresholds that n and L say."""

    def seen(cell: Cell, _: np.random.Generator) -> float:
        return 1.0 if cell.n > samples_for_seen_words(cell.L) else -1.0

    def unseen(cell: Cell, _: np.random.Generator) -> float:
        return cell.n - 3.0 * (cell.L + 1)

    return {
        "worst_margin_log_slope": seen,
        "test_loss_time_exponent": lambda cell, _: -seen(cell, _),
        "unseen_margin_end": unseen,
        "unseen_margin_log_slope": unseen,
    }
