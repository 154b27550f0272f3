"""The scalars of Theorem 3.2, of Figure 1 and of n against its thresholds."""

import math

import numpy as np
import pytest

from attnlab.core import Record
from attnlab.papers.yang2024.scalars import examples, samples
from attnlab.papers.yang2024.scalars import phase_2 as scalars
from attnlab.papers.yang2024.settings import (
    TrainingSettings,
)
from attnlab.papers.yang2024.studies.resolving import resolve


def made(values: dict, **cell) -> Record:
    settings = resolve(TrainingSettings(**{"n": 24, "L": 4, "m": 512, **cell}))
    random = np.random.default_rng(0)
    made_up = {k: x(settings, random) if callable(x) else x for k, x in values.items()}
    return Record("yang2024.made_up", settings, 0, made_up)


def test_theorem_3_2_begins_where_its_last_part_does():
    run = made(examples.phase_2())
    first = np.flatnonzero(run["times"] * 512 > 5)[0]
    assert scalars.start(run) == run["times"][first]
    assert scalars.duration().of(run) == run["times"][-1] / run["times"][first]
    # T1 = 7/512 lies between two records, and the range begins no later than the second.
    assert scalars.start_over("every_sample").of(run) <= 1
    early = made({**run.values, "T1_every_sample": 1 / 512})
    assert scalars.start_over("every_sample").of(early) > 1
    assert math.isnan(scalars.duration(common_output=1).of(run))
    # T1 as defined is 2 tau_1/m, far after 5/m: twice 7.9 at n = 24, L = 4.
    assert scalars.START_OVER_DEFINED.of(run) < 1
    late = made({**run.values, "times": run["times"] * 10, "rho": run["rho"]})
    assert scalars.START_OVER_DEFINED.of(late) > 1


@pytest.mark.parametrize("name", ["scores", "value_correlations"])
def test_one_step_back_ends_the_range_of_theorem_3_2(name):
    values = examples.phase_2()
    series = values[name].copy()
    series[70, 0, 1] = series[69, 0, 1] - 1e-6
    run = made({**values, name: series})
    assert scalars.start(run) == run["times"][70]


def test_figure_1_by_hand():
    run = made(examples.figure_1())
    late = math.log(30_000 / 1_600)
    assert samples.LEAST_SCORE_CHANGE.of(run) == pytest.approx(late)
    assert samples.EARLY_PART.of(run) == pytest.approx(math.log(1_650 / 1_600) / late, rel=0.3)
    assert samples.ONE_SIGNAL_PEAK.of(run) == pytest.approx(1.2)
    assert samples.BOTH_SIGNALS_PEAK.of(run) == 1.0
    assert samples.LATE_FALL.of(run) == pytest.approx(0.5)
    still = made({**run.values, "scores": np.zeros_like(run["scores"])})
    assert math.isnan(samples.EARLY_PART.of(still))
    assert not samples.LEAST_SCORE_CHANGE.of(still) > 0


@pytest.mark.parametrize(("n", "margin", "right"), [(12, -1, True), (12, 1, False), (18, 1, True)])
def test_a_margin_is_on_the_side_that_n_says(n, margin, right):
    run = made({"unseen_margin_end": margin}, n=n)
    assert (samples.unseen_margin().of(run) > 0) == right
    assert samples.unseen_margin(lambda L: L**2).of(made({"unseen_margin_end": 1.0}, n=12)) < 0


def test_the_test_loss_falls_on_the_right_side():
    for n, exponent, right in ((24, 0.1, True), (24, -0.1, False), (60, -0.1, True)):
        run = made({"test_loss_time_exponent": exponent}, n=n)
        assert (samples.TEST_LOSS_FALL.of(run) > 0) == right
