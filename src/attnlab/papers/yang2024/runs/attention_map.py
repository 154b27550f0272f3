r"""How much training the attention changes: one flow on classes of words, trained or frozen.

New samples here hold random words that no training sample has: their G and scores are 0, so that
attention among the three signals and the $L - s$ others is

$$p_{l,h} \propto e^{S_{h,l}/\sqrt m}, \qquad F = \sum_l \sum_{h \le s} p_{l,h}\, G_h .$$

Legend: s signals in the sample; a random query pays all keys alike.
"""

import math

import numpy as np

from attnlab.core import Key, Result
from attnlab.data.word_sizes import TYPE_PROBABILITIES
from attnlab.papers.yang2024.runs.paths import follow
from attnlab.papers.yang2024.runs.summaries import phase_1
from attnlab.papers.yang2024.runs.summaries.series import at_time
from attnlab.papers.yang2024.settings.paths import MapSettings
from attnlab.papers.yang2024.theory.sizes import StatedSizes
from attnlab.training.flow import NO_TARGET

HELD = ((0, 1, 2), (0, 2), (1, 2), (2,))
LABELS = (1, -1, -1, -1)
TAUS = (10.0, 100.0, 1e3, 1e4)
"""Times, in 1/rho(0), at which losses are taken."""


def train_on_map(cell: MapSettings, key: Key) -> Result:
    """Losses at some times, T1, and the loss of new samples."""
    del key
    sizes = StatedSizes.of_theory(cell.n, cell.L, cell.vocabulary, cell.m, cell.m1, cell.c0)
    trajectory = follow(
        sizes, cell.attention, 1e-6, horizon=cell.horizon, target=NO_TARGET, keys=cell.keys
    )
    times = np.asarray(trajectory.times)
    reached = np.isfinite(times)
    series = {name: np.asarray(x)[reached] for name, x in trajectory.values.items()}
    series["times"] = times[reached]
    if not trajectory.complete:
        return Result({"times": series["times"], "loss": series["loss"]}, diverged=trajectory.why)
    test = {
        **series,
        "test": np.array([
            unseen_loss(G, S / math.sqrt(cell.m), cell.L)
            for G, S in zip(series["signal_outputs"], series["scores"], strict=True)
        ]),
    }  # fmt: skip
    at = {tau: tau / sizes.neuron_rate for tau in TAUS}
    return Result({
        "T1": phase_1.positive_for_good(series["times"], series["smallest_margin"]),
        "largest_score": float(np.abs(series["scores"][-1]).max() / math.sqrt(cell.m)),
        "attention_change": float(series["attention_change"].max()),
        **{f"loss_at_{tau:g}": float(at_time(series, "loss", t)) for tau, t in at.items()},
        **{f"test_at_{tau:g}": float(at_time(test, "test", t)) for tau, t in at.items()},
    })  # fmt: skip


def unseen_loss(G: np.ndarray, scores: np.ndarray, L: int) -> float:
    """The expected loss of a new sample: G (3,) and scaled scores (3, 3) by key and query."""
    total = 0.0
    for share, signals, label in zip(TYPE_PROBABILITIES, HELD, LABELS, strict=True):
        others = L - len(signals)
        weights = np.exp(scores[np.ix_(signals, signals)])
        paid = weights / (weights.sum(axis=0) + others)
        F = float(G[list(signals)] @ (paid.sum(axis=1) + others / L))
        total += share * float(np.logaddexp(0, -label * F))
    return total
