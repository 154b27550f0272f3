"""Flows on classes of words: against brute force, and against drawn weights."""

from itertools import product

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.papers.yang2024.runs import classes, training
from attnlab.papers.yang2024.runs.summaries import phase_2_classes
from attnlab.papers.yang2024.settings import (
    ClassSettings,
    TrainingSettings,
)
from attnlab.papers.yang2024.studies.resolving import resolve
from attnlab.papers.yang2024.theory.phase_1 import phase_1_end
from attnlab.papers.yang2024.theory.sizes import StatedSizes


def records_before(values, end):
    return [k for k, t in enumerate(values["times"]) if t <= end]


def interpolated(values, name, time):
    """Linear in log t between two records."""
    return np.interp(np.log(time), np.log(values["times"][1:]), values[name][1:])


def sup(values, name, end):
    inside = [float(values[name][k]) for k in records_before(values, end)]
    return max([*inside, float(interpolated(values, name, end))])


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
    parts = phase_2_classes.signal_margins(SIGNALS)
    got = phase_2_classes.test_loss(parts, RANDOM, n, L)
    np.testing.assert_allclose(got, losses_by_brute_force(n, L), rtol=1e-12)


def test_the_worst_margin_is_the_least_over_all_new_samples():
    L, parts = 4, phase_2_classes.signal_margins(SIGNALS)
    worst = phase_2_classes.worst_margins(parts, RANDOM, L)
    for kind, (places, label) in enumerate([(1, 1), (2, -1), (2, -1), (3, -1)]):
        found = [
            parts[:, kind] + label * RANDOM[:, list(words)].sum(1)
            for words in product(range(4), repeat=places)
        ]
        np.testing.assert_allclose(worst[:, kind], np.min(found, axis=0))


def test_classes_tell_what_drawn_weights_of_great_width_do():
    target = {"horizon": 1e5, "target_loss": 1e-3, "records": 40}
    settings = ClassSettings(n=24, L=4, m=2**20, **target)
    on_classes = classes.train_classes(settings, Key("{}", 0)).values
    cell = resolve(TrainingSettings(n=24, L=4, m=2**20, **target))
    drawn = training.train(cell, Key.of(cell, 0)).values
    # Times are in units of 1/rho(0), so the same record is the same time up to that draw.
    last = min(len(on_classes["times"]), len(drawn["times"])) - 1
    got, expected = on_classes["signal_outputs"][last], drawn["signal_outputs"][last]
    np.testing.assert_allclose(got, expected, rtol=0.01)
    # The test set is a draw of 600 samples.
    assert on_classes["test_loss_end"] == pytest.approx(float(drawn["test_loss_end"]), rel=0.25)


def test_a_run_on_classes_of_words():
    cell = ClassSettings(n=48, L=5, m=2**12, records=60)
    values = classes.train_classes(cell, Key.of(cell, 0)).values
    of = StatedSizes.of_theory(48, 5, 131, 2**12, 64, 0.1)
    end = float(values["T1_every_sample"])
    # Attention hardly moves: the limit of infinite width ends its first phase at the same time.
    assert end * of.rate == pytest.approx(phase_1_end(48, 5), rel=0.01)
    before = [k for k in records_before(values, end) if k > 0]
    times = values["times"]
    random = np.abs(values["random_outputs"]).max(axis=1)
    values_moved = max(values["random_value_change"][k] / times[k] for k in before)
    signals = np.abs(values["signal_outputs"]).max(axis=1)
    helped = {**values, "random": random, "signals": signals}
    expected = {
        "random_growth": max(random[k] / times[k] for k in before) / of.rate,
        "random_share": sup(helped, "random", end) / sup(helped, "signals", end),
        "value_use_rate_random": values_moved * 48 / 2,
        "score_over_bound": sup(values, "score_change", end) * 2**18 / (1 / 5 + 2**-6),
    }
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, rel=1e-9), name
    # At first G'(random word) = g/n in units of the rate, with g = 1/2.
    assert values["random_growth"] == pytest.approx(0.5 / 48, rel=0.1)
