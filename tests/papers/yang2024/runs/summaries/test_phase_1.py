"""Scalars of phase 1: of a run against brute force, and by hand."""

import math

import numpy as np
import pytest

from attnlab.papers.yang2024.runs.summaries import phase_1
from attnlab.papers.yang2024.theory.phase_1 import phase_1_end
from attnlab.papers.yang2024.theory.sizes import StatedSizes


def stated_sizes(cell, values):
    s0, s1 = float(values["s0"]), float(values["s1"])
    return StatedSizes(cell.n, cell.L, cell.d, cell.m, cell.m1, s0, s1)


def records_before(values, end):
    return [k for k, t in enumerate(values["times"]) if t <= end]


def interpolated(values, name, time):
    """Linear in log t between two records."""
    return np.interp(np.log(time), np.log(values["times"][1:]), values[name][1:])


def sup(values, name, end):
    inside = [float(values[name][k]) for k in records_before(values, end)]
    return max([*inside, float(interpolated(values, name, end))])


def test_words_of_a_run(words_run):
    cell, values = words_run
    of = stated_sizes(cell, values)
    end = float(values["T1_every_sample"])
    n, L, m = cell.n, cell.L, cell.m
    before = records_before(values, end)
    unit = (of.s0**2 + of.s1**2) * m
    score = sup(values, "score_change", end)
    attention = sup(values, "attention_change", end)
    random = sup(values, "largest_random_rate", end) / cell.m1
    expected = {
        "score_movement": score * m**1.5,
        "score_over_bound": score * m**1.5 / (1 / L + m**-0.5),
        "key_movement": sup(values, "key_change", end) / (of.s0**2 * m**0.5),
        "query_movement": sup(values, "query_change", end) / (of.s0**2 * m**0.5),
        "attention_over_bound": attention / (1 / (m**0.5 * L) + L / m),
        "random_rate_over_bound": random / (unit / n + of.s0**2 * L * m**0.5),
    }
    for kind in ("value", "score", "key", "query"):
        for i, name in enumerate(phase_1.CLASSES):
            changes = values[f"{kind}_change_per_use"][:, i]
            rates = [changes[k] / values["times"][k] for k in before if k > 0]
            expected[f"{kind}_use_rate_{name}"] = max(rates)
        everything = [expected[f"{kind}_use_rate_{k}"] for k in phase_1.CLASSES]
        expected[f"{kind}_use_rate"] = max(everything)
    gaps = []
    counts = [int((values["words"] == k).any(axis=1).sum()) for k in (0, 1)]
    assert counts == [16, 16]
    for k in before:
        g = values["gradient_by_type"][k]
        gaps.append(abs(g[1] * 4 / 24 - g[2] * 4 / 24))
    expected["gradient_gap"] = max(gaps)
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, rel=1e-9), name


def test_the_time_at_which_one_signal_samples_are_right(words_run):
    _, values = words_run
    margins = values["smallest_margin_by_type"][:, 1:3].min(axis=1)
    k = next(k for k, x in enumerate(margins) if x >= phase_1.MARGIN)
    part = (phase_1.MARGIN - margins[k - 1]) / (margins[k] - margins[k - 1])
    time = values["times"][k - 1] + part * (values["times"][k] - values["times"][k - 1])
    assert values["right_by"] == pytest.approx(time, rel=1e-12)


def test_the_band_of_a_run(words_run):
    cell, values = words_run
    end = float(values["T1_every_sample"])
    times, rates = values["times"], values["signal_rates"]
    before = records_before(values, end)
    held = [max(r[0], r[1]) < -r[2] < r[0] + r[1] for r in rates]
    first = before[-1]
    while first > 0 and held[first - 1]:
        first -= 1
    assert held[before[-1]]
    assert 0 < first < before[-1]
    later = [k for k in before if times[k] >= math.sqrt(times[first] * end)] or [before[-1]]
    C = min(
        min(-rates[k][2] / max(rates[k][:2]) - 1, 1 + rates[k][2] / sum(rates[k][:2]))
        for k in later
    )
    slowest = min(min(rates[k][:2]) for k in later) / stated_sizes(cell, values).rate
    assert values["band_begin"] == pytest.approx(times[first] / end)
    assert values["band_constant"] == pytest.approx(C)
    assert values["band_rate"] == pytest.approx(slowest)


def test_the_late_end_of_a_run(words_run):
    cell, values = words_run
    of = stated_sizes(cell, values)
    tau = 2 * phase_1_end(cell.n, cell.L)
    end = tau / (of.s1**2 * cell.m * cell.m1)
    G = [
        np.interp(np.log(end), np.log(values["times"][1:]), x)
        for x in values["signal_outputs"].T[:, 1:]
    ]
    scale = of.s0 * of.s1 * math.sqrt(cell.m * cell.m1)
    expected = {
        "margin_least_late": interpolated(values, "smallest_margin", end),
        "margin_most_late": interpolated(values, "largest_output", end),
        "signal_least_late": min(G[0], G[1], -G[2]),
        "signal_most_late": max(map(abs, G)),
        "random_output_late": interpolated(values, "largest_random_output", end) / scale,
        "rho_late": interpolated(values, "rho", end) / (of.s1**2 * cell.m * cell.m1),
    }
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, rel=1e-9), name


def test_neurons_of_a_run(neurons_run):
    cell, values = neurons_run
    of = stated_sizes(cell, values)
    n, L, m, m1, s0, s1 = cell.n, cell.L, cell.m, cell.m1, of.s0, of.s1
    end = float(values["T1_every_sample"])
    before = records_before(values, end)
    R = sup(values, "neuron_output_change_signal", end)
    R_P = sup(values, "attention_change", end)
    rate = max(values["neuron_gram_change"][k] / values["times"][k] for k in before if k > 0)
    first = s1 * s0 * math.sqrt(m / L * math.log(10 * m1 * n * L))
    unit = (s0**2 + s1**2) * m
    error = max(values["neuron_rate_error"][k] for k in before)
    random = sup(values, "largest_random_neuron_rate", end)
    expected = {
        "neuron_movement": R * m1,
        "neuron_random_share": sup(values, "neuron_output_change_random", end) / R,
        "neuron_gram_rate": rate,
        "neuron_gram_over_bound": rate
        / (2 * L * (first + L * R_P * s0 * s1 * math.sqrt(m) + 4 * R / L)),
        "neuron_error_over_bound": error / (L * s0**2 * m**0.5 + s1**2 * (m * m1) ** 0.5),
        "neuron_factor_least": min(values["neuron_factors"][k][0] for k in before) / unit,
        "neuron_factor_most": max(values["neuron_factors"][k][1] for k in before) / unit,
        "neuron_random_rate_over_bound": random / (unit / n + s0**2 * L * m**0.5),
        "neuron_common_rate": sup(values, "largest_common_neuron_rate", end) / (s1**2 * m),
    }
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, rel=1e-9), name


def test_both_engines_tell_the_same_of_one_draw(words_run, neurons_run):
    words, neurons = words_run[1], neurons_run[1]
    for name in ("T1_every_sample", "right_by"):
        assert words[name] == pytest.approx(float(neurons[name]), rel=1e-3)
    assert words["gradient_gap"] == pytest.approx(float(neurons["gradient_gap"]), abs=1e-5)


def test_without_an_end_there_is_no_scalar(words_run):
    cell, values = words_run
    ends = {"T1_every_sample": np.nan, "T1_type_means": np.nan}
    never = {**values, **ends, "smallest_margin_by_type": -np.ones((40, 4))}
    scalars = phase_1.summarise(never, stated_sizes(cell, values))
    late = {name for name in scalars if name.endswith("_late")}
    assert len(late) == 6
    for name in set(scalars) - late:
        assert math.isnan(scalars[name]), name


# --- by hand -----------------------------------------------------------------------------------

TIMES = np.array([0.0, 1.0, 10.0, 100.0, 1000.0])


def phase_1_series(**more) -> dict:
    G = np.array([[0, 0, 0], [1, 2, 3], [4, 3, -2], [6, 5, -4], [9, 9, -9.0]])
    changes = {
        name: np.array([0.0, k, 2 * k, 5 * k, 3 * k])
        for k, name in enumerate(("value_change", "score_change", "key_change", "query_change"), 1)
    }
    return dict(
        times=TIMES,         signal_outputs=G, loss=np.array([0.7, 0.6, 0.5, 0.3, 0.1]),
        T1_every_sample=10**2.5, T1_type_means=10.0, **changes, **more,
    )  # fmt: skip


def test_what_has_happened_by_both_ends_of_phase_1():
    found = phase_1.by_detection(phase_1_series())
    expected = {"alignment_at_every_sample": 6.5, "loss_at_every_sample": 0.2,
                "alignment_at_type_means": 2.0, "loss_at_type_means": 0.5}  # fmt: skip
    for k, name in enumerate(("value_change", "score_change", "key_change", "query_change"), 1):
        expected[f"{name}_by_every_sample"] = 5.0 * k
        expected[f"{name}_by_type_means"] = 2.0 * k
    assert found == pytest.approx(expected)
    neurons = phase_1.by_detection(phase_1_series(neuron_gram_change=np.arange(5.0)))
    assert neurons["neuron_gram_change_by_type_means"] == 2


def test_the_alignment_is_that_of_the_least_signal():
    G = np.array([[0, 0, 0], [1, 2, 3], [4, 3, -5], [6, 5, -8], [9, 9, -9.0]])
    values = {**phase_1_series(), "signal_outputs": G}
    assert phase_1.by_detection(values)["alignment_at_type_means"] == 3


def test_the_time_at_which_a_level_is_reached():
    values = np.array([0.0, 0.05, 0.25, 0.2, 1.0])
    assert phase_1.first_reached(TIMES, values, 0.1) == pytest.approx(1 + 9 * 0.25)
    assert phase_1.first_reached(TIMES, values, 0.25) == 10
    assert phase_1.first_reached(TIMES, values, 0.0) == 0
    assert math.isnan(phase_1.first_reached(TIMES, values, 1.1))


def test_a_run_on_classes_of_words_by_hand():
    """Two classes, of which one is nan, at the records up to T1 = 10."""
    sizes = StatedSizes(24, 4, 43, 64.0, 16.0, 0.02, 0.25)
    values = {
        "times": TIMES,
        "T1_every_sample": 10.0,
        "signal_outputs": np.array([[0, 0, 0], [1, 2, -3], [2, -8, 1], [99, 9, 9], [99, 9, 9.0]]),
        "random_outputs": np.array(
            [[0, np.nan], [0.5, np.nan], [-4, np.nan], [99, np.nan], [99, np.nan]]
        ),
        "score_change": np.array([0.0, 0.3, 0.2, 9.0, 9.0]),
        "random_value_change": np.array([0.0, 0.02, 0.5, 99.0, 99.0]),
    }
    found = phase_1.summarise_classes(values, sizes)
    rate = (0.02**2 + 0.25**2) * 64 * 16
    assert found == pytest.approx(
        {
            "random_growth": 0.5 / rate,  # 0.5 at time 1, and 4 at time 10
            "random_share": 4 / 8,
            "value_use_rate_random": 0.05 * 24 / 2,
            "score_over_bound": 0.3 / (64**-1.5 * (1 / 4 + 1 / 8)),
        }
    )
