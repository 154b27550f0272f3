"""Scalars of phase 1 and of the start, read off runs, against what the runs say."""

import pytest

from attnlab.cells import Key
from attnlab.core import Record
from attnlab.papers.yang2024.runs import classes, untrained
from attnlab.papers.yang2024.scalars import initial, phase_1
from attnlab.papers.yang2024.settings import (
    ClassSettings,
)
from attnlab.papers.yang2024.theory.phase_1 import phase_1_end
from attnlab.papers.yang2024.theory.sizes import StatedSizes


def stated_sizes(cell, values):
    s0, s1 = float(values["s0"]), float(values["s1"])
    return StatedSizes(cell.n, cell.L, cell.d, cell.m, cell.m1, s0, s1)


def as_record(run):
    cell, values = run
    return Record("yang2024.phase_1", cell, 1, values)


def test_the_detected_end_gives_the_recorded_scalars(words_run):
    record = as_record(words_run)
    for which, name in (("T1 detected", "every_sample"), ("T1 by type means", "type_means")):
        assert phase_1.end(which).of(record) == float(record[f"T1_{name}"])
        assert phase_1.alignment(which).of(record) == record[f"alignment_at_{name}"]
        loss = phase_1.at_end(which, "loss", "loss").of(record)
        assert loss == record[f"loss_at_{name}"]
        for key in ("value_change", "score_change", "key_change", "query_change"):
            found = phase_1.largest_change(which, key).of(record)
            assert found == record[f"{key}_by_{name}"]
    assert phase_1.band_constant("T1 detected").of(record) == record["band_constant"]
    assert phase_1.band_rate("T1 detected").of(record) == record["band_rate"]


def test_the_defined_end_is_later_and_has_the_late_scalars(words_run):
    record = as_record(words_run)
    of = stated_sizes(*words_run)
    tau = phase_1.end_in_units("T1 defined").of(record)
    assert tau == pytest.approx(2 * phase_1_end(24, 4))
    assert phase_1.end("T1 defined").of(record) * of.neuron_rate == pytest.approx(tau)
    assert phase_1.alignment("T1 defined").of(record) == record["signal_least_late"]
    margin = phase_1.at_end("T1 defined", "smallest_margin", "").of(record)
    assert margin == record["margin_least_late"]


def test_first_rates_of_a_run_that_begins_are_those_of_the_start(neurons_run):
    cell, values = neurons_run
    record = Record("yang2024.phase_1", cell, 1, values)
    start = untrained.draw_start(cell, Key.of(cell, 1)).values
    pairs = {
        initial.SLOWEST_NEURON: "signal_rate_least",
        initial.FASTEST_NEURON: "signal_rate_most",
        initial.RANDOM_RATE: "random_rate_over_bound",
        initial.D7_SIZE: "d7_output",
    }
    for scalar, name in pairs.items():
        assert scalar.of(record) == pytest.approx(float(start[name]), rel=1e-9), name
    gap = phase_1.gap_over_output().of(record)
    F = float(start["d8_output"]) * float(start["d8_bound"])
    assert gap == pytest.approx(float(values["gradient_gap"]) / F, rel=1e-9)


def test_the_first_growth_on_classes_of_words():
    cell = ClassSettings(n=48, L=5, m=2**12, records=60)
    values = classes.train_classes(cell, Key.of(cell, 0)).values
    record = Record("yang2024.classes_samples", cell, 0, values)
    # G'(random word) = g/n in units of the rate, with g = 1/2.
    assert initial.RANDOM_GROWTH.of(record) == pytest.approx(0.5 / 48, rel=0.01)
