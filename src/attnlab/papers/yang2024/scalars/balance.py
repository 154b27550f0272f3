r"""Scalars of the steps in the proofs of Lemmas F.5 and F.6, over the window of phase 2.

With $S_k=\sum_{i\in I_k}g_i$, $S$ their sum and $s_k=\sum_{i\in I_k}g_i(1-g_i)$, the proofs take

$$G_1' = \frac\rho n\,(S_1-S_2),\quad G_2' = \frac\rho n\,(S_1-S_3),\quad
  G_3' = \frac\rho n\,(S_1-S_2-S_3-S_4)$$

up to $o(1)\,\rho S/n$, and the margins' rates from them alone: what random words and moving
attention add is o(1) too. Then $\frac{s_k}{S_k}$ lies between $1-\max_{I_k} g$ and
$1-\min_{I_k} g$.

Legend: as in `scalars.phase_2`. A path's window ends at a loss of 1/m.
"""

import math
from collections.abc import Callable

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.papers.yang2024.runs.summaries.series import sample_counts


def _window(record: Record) -> np.ndarray:
    """The records of phase 2; none if the run has no second phase."""
    times, values = np.asarray(record["times"]), record.values
    stopped = "phase_2_begin_at_1/m" in values
    begin = float(record["phase_2_begin_at_1/m" if stopped else "phase_2_begin"])
    # A comparison with nan holds nowhere.
    inside = times >= begin
    return inside & (np.asarray(record["loss"]) >= 1 / record.cell.m) if stopped else inside


def _over_window(name: str, of: Callable[[Record, np.ndarray], float]) -> Scalar:
    def value(record: Record) -> float:
        window = _window(record)
        return float(of(record, window)) if window.any() else math.nan

    return Scalar(name, value)


def _sums(record: Record, key: str, window: np.ndarray) -> np.ndarray:
    """Sums over the samples of a type, (4, records)."""
    return (np.asarray(record[key])[window] * sample_counts(record.values)).T


# --- rates ------------------------------------------------------------------------------------


def _signal_errors(record: Record, window: np.ndarray) -> np.ndarray:
    """|G_k' - the display's| over rho S/n, the largest over k (records,)."""
    S1, S2, S3, S4 = _sums(record, "gradient_by_type", window)
    unit = np.asarray(record["rho"])[window] / record.cell.n
    printed = unit * np.array([S1 - S2, S1 - S3, S1 - S2 - S3 - S4])
    error = np.abs(np.asarray(record["signal_rates"])[window].T - printed)
    return error.max(axis=0) / (unit * (S1 + S2 + S3 + S4))


def _margin_errors(record: Record, window: np.ndarray) -> float:
    """An upper bound on what the displays of (yF)' leave out, by the triangle inequality."""
    total = _sums(record, "gradient_by_type", window).sum(axis=0)
    unit = np.asarray(record["rho"])[window] / record.cell.n * total
    own = (record.cell.L - 1) * np.asarray(record["largest_random_rate"])[window] / unit
    attention = np.asarray(record["attention_part"])[window]
    return (3 * _signal_errors(record, window) + own + attention).max()


SIGNAL_RATES = _over_window(
    "error of the signals' rates over rho S/n", lambda r, w: _signal_errors(r, w).max()
)
MARGIN_RATES = _over_window("what the margins' rates leave out over rho S/n", _margin_errors)

# --- Lemma F.5 --------------------------------------------------------------------------------


def _ends_of_g(record: Record, window: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The least and the largest g of a type, (4, records) each."""
    smallest_margin = np.asarray(record["smallest_margin_by_type"])[window].T
    largest = 1 / (1 + np.exp(smallest_margin))
    return largest / np.asarray(record["gradient_spread_by_type"])[window].T, largest


def _curvature(record: Record, window: np.ndarray) -> float:
    mean = _sums(record, "curvature_by_type", window) / _sums(record, "gradient_by_type", window)
    least, largest = _ends_of_g(record, window)
    return np.maximum((1 - largest) / mean, mean / (1 - least))[1:3].max()


def _six(record: Record, window: np.ndarray) -> float:
    S = _sums(record, "gradient_by_type", window)
    return ((-2 * S[0] + 2 * S[1] + S[2] + S[3]) / S[2]).max()


CURVATURE = _over_window("s/S of types 2 and 3 over its nearer bound", _curvature)
SIX = _over_window("(-2 S1 + 2 S2 + S3 + S4)/S3", _six)
