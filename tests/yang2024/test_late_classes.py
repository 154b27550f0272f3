"""The late part of flows on classes of words: against brute force, and against drawn weights."""

from itertools import product

import numpy as np
import pytest

from attnlab.core import Key
from attnlab.papers.yang2024 import runs
from attnlab.papers.yang2024.auxiliary_settings import ClassSettings
from attnlab.papers.yang2024.class_runs import train_classes
from attnlab.papers.yang2024.settings import TrainingSettings, resolve
from attnlab.papers.yang2024.summaries import late_classes

SIGNALS = np.array([[2.0, 1.5, -1.2], [0.1, -0.2, 0.3]])
RANDOM = np.array([[0.9, -0.4, -0.3, -0.7], [0.0, 0.2, -0.1, 0.05]])


def losses_by_brute_force(n: int, L: int) -> np.ndarray:
    """Every sequence of random words, by class, with its probability."""
    sizes = np.array([n / 2 * (L - 3), n / 6 * (L - 2), n / 6 * (L - 2), n / 6 * (L - 1)])
    shares = sizes / sizes.sum()
    total = np.zeros(2)
    for kind, (signals, label, share) in enumerate(
        [((0, 1, 2), 1, 1 / 2), ((0, 2), -1, 1 / 6), ((1, 2), -1, 1 / 6), ((2,), -1, 1 / 6)]
    ):
        del kind
        for words in product(range(4), repeat=L - len(signals)):
            F = SIGNALS[:, list(signals)].sum(1) + RANDOM[:, list(words)].sum(1)
            total += share * np.prod(shares[list(words)]) * np.log1p(np.exp(-label * F))
    return total


@pytest.mark.parametrize(("n", "L"), [(12, 4), (60, 5)])
def test_the_test_loss_is_the_mean_over_all_new_samples(n, L):
    parts = late_classes.signal_margins(SIGNALS)
    got = late_classes.test_loss(parts, RANDOM, n, L)
    np.testing.assert_allclose(got, losses_by_brute_force(n, L), rtol=1e-12)


def test_the_worst_margin_is_the_least_over_all_new_samples():
    L, parts = 4, late_classes.signal_margins(SIGNALS)
    worst = late_classes.worst_margins(parts, RANDOM, L)
    for kind, (places, label) in enumerate([(1, 1), (2, -1), (2, -1), (3, -1)]):
        found = [
            parts[:, kind] + label * RANDOM[:, list(words)].sum(1)
            for words in product(range(4), repeat=places)
        ]
        np.testing.assert_allclose(worst[:, kind], np.min(found, axis=0))


def test_classes_tell_what_drawn_weights_of_great_width_do():
    target = {"horizon": 1e5, "target_loss": 1e-3, "records": 40}
    classes = train_classes(ClassSettings(n=24, L=4, m=2**20, **target), Key("{}", 0)).values
    cell = resolve(TrainingSettings(n=24, L=4, m=2**20, **target))
    drawn = runs.train(cell, Key.of(cell, 0)).values
    # Times are in units of 1/rho(0), so the same record is the same time up to that draw.
    last = min(len(classes["times"]), len(drawn["times"])) - 1
    got, expected = classes["signal_outputs"][last], drawn["signal_outputs"][last]
    np.testing.assert_allclose(got, expected, rtol=0.01)
    # The test set is a draw of 600 samples.
    assert classes["test_loss_end"] == pytest.approx(float(drawn["test_loss_end"]), rel=0.25)
