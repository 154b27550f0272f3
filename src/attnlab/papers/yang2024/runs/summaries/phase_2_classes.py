r"""Phase 2 on classes of words: margins of new samples, the test loss, and the limits.

A new sample of type t holds its signals and k = L - (signals of t) random words, each drawn from
the words of training: of class c with probability $N_c/\sum N$. Under uniform attention
$F = \sum_h G_{x_h}$, so its loss is a mean over how many words come from each class,

$$\mathbb{E}\,\ell = \sum_t P(t) \sum_{k_1+\dots+k_4=k} \binom{k}{k_1 \dots k_4} \prod_c
  \Big(\frac{N_c}{\sum N}\Big)^{k_c}\, \ell\Big(y_t \big(F_t + \textstyle\sum_c k_c G_c\big)\Big).$$

Legend: $G_c$ the output on a random word of class c, $F_t$ the part of the signals, $N_c$ the words
of the class. At the widths here attention differs from uniform by less than m^-1/2.
"""

import math
from itertools import combinations_with_replacement

import numpy as np
from scipy.stats import multinomial

from attnlab.data.word_sizes import TYPE_PROBABILITIES
from attnlab.papers.yang2024.runs.summaries.phase_2 import PAIRS, PREFIX
from attnlab.papers.yang2024.runs.summaries.series import Series, slope_in_late_time
from attnlab.papers.yang2024.theory.asymptote import SIGNALS_IN_TYPE, balanced_limit
from attnlab.papers.yang2024.theory.sizes import StatedSizes

LABELS = np.array([1, -1, -1, -1])


def summarise(series: Series, sizes: StatedSizes) -> dict[str, float | np.ndarray]:
    """Scalars of a flow to a small loss, and the series of the test loss."""
    times, signals = series["times"][1:], series["signal_outputs"][1:]
    random = np.nan_to_num(series["random_outputs"][1:])
    parts = signal_margins(signals)
    test = test_loss(parts, random, sizes.n, sizes.L)
    unseen = parts.min(axis=1)
    worst = worst_margins(parts, random, sizes.L).min(axis=1)
    limit = balanced_limit(sizes.n, sizes.L)
    rate = sizes.neuron_rate + sizes.s0**2 * sizes.m * sizes.m1
    slope = np.diff(1 / series["loss"][-2:])[0] / np.diff(times[-2:])[0]
    rates = np.diff(signals[-2:], axis=0)[0]
    grown = np.log1p(sizes.neuron_rate * times)
    of_signals = min(sign * series["coefficients"][-1, i, j] for i, j, sign in PAIRS)
    ratio = float(of_signals / series["largest_random_coefficient"][-1])
    return {
        "test_loss": test,
        "test_loss_end": float(test[-1]),
        "test_loss_time_exponent": slope_in_late_time(times, np.log(np.maximum(test, 1e-300))),
        "unseen_margin_end": float(unseen[-1]),
        "unseen_margin_log_slope": slope_in_late_time(times, unseen),
        "worst_margin_end": float(worst[-1]),
        "worst_margin_log_slope": slope_in_late_time(times, worst),
        f"{PREFIX}loss_slope_over_limit": float(slope * limit.loss_constant / rate),
        f"{PREFIX}R_over_limit": float(-rates[2] / max(rates[0], rates[1]) / limit.R),
        f"{PREFIX}random_output_constant": float(
            np.max(sizes.n * np.abs(random).max(axis=1) / grown)
        ),
        f"{PREFIX}coefficient_ratio": ratio,
        f"{PREFIX}coefficient_ratio_over_guarantee": ratio
        / min(sizes.n, math.sqrt(sizes.m) / sizes.L),
    }


def signal_margins(signals: np.ndarray) -> np.ndarray:
    """y F of a sample of each type if its random words add nothing (records, 4)."""
    G1, G2, G3 = signals.T
    return np.stack([G1 + G2 + G3, -(G1 + G3), -(G2 + G3), -G3], axis=1)


def worst_margins(parts: np.ndarray, random: np.ndarray, L: float) -> np.ndarray:
    """y F of a sample of each type whose random words are the worst of training (records, 4)."""
    harm = np.stack([-random.min(axis=1), *[random.max(axis=1)] * 3], axis=1)
    return parts - (L - SIGNALS_IN_TYPE) * harm


def test_loss(parts: np.ndarray, random: np.ndarray, n: float, L: float) -> np.ndarray:
    """The expected logistic loss of a new sample at each record."""
    words = n * np.asarray(TYPE_PROBABILITIES) * (L - SIGNALS_IN_TYPE)
    total = np.zeros(len(parts))
    for kind, (share, places) in enumerate(
        zip(TYPE_PROBABILITIES, L - SIGNALS_IN_TYPE, strict=True)
    ):
        counts = _compositions(int(places))
        weights = multinomial.pmf(counts, int(places), words / words.sum())
        margins = parts[:, kind, None] + LABELS[kind] * random @ counts.T
        total += share * np.logaddexp(0, -margins) @ weights
    return total


def _compositions(places: int) -> np.ndarray:
    """Every way to take so many words from four classes, as counts."""
    chosen = combinations_with_replacement(range(4), places)
    return np.array([np.bincount(np.array(c, int), minlength=4) for c in chosen]).reshape(
        math.comb(places + 3, 3), 4
    )
