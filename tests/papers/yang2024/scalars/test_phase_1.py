"""Scalars of the first phase, of the start and what they share, on records made up by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from attnlab.core import Record, Records
from attnlab.papers.yang2024.scalars import common, examples, initial, phase_1
from attnlab.papers.yang2024.theory.phase_1 import phase_1_end

CELL = SimpleNamespace(n=24, L=4, d=60, m=256, m1=16, c0=0.5)
S0, S1 = 0.02, 0.3
UNIT = (S0**2 + S1**2) * 256
TIMES = np.array([0.0, 1.0, 10.0, 100.0, 1000.0])
G = np.array([[0, 0, 0], [1, 2, 3], [4, 3, -2], [6, 5, -4], [9, 9, -9.0]])
RATES = np.array([[1, 1, -3], [2, 3, -4], [2, 3, -4.4], [2, 3, -4.1], [2, 3, -9.0]])


def record(cell=CELL, **values) -> Record:
    base = {
        "s0": S0, "s1": S1, "times": TIMES, "signal_outputs": G, "signal_rates": RATES,
        "loss": np.array([0.7, 0.6, 0.5, 0.3, 0.1]), "T1_every_sample": 100.0,
        "T1_type_means": 10.0, "value_change": np.array([0.0, 3.0, 1.0, 2.0, 9.0]),
    }  # fmt: skip
    return Record("", cell, 0, {**base, **values})


def test_sizes_and_units():
    sizes = common.sizes_of(record())
    assert (sizes.n, sizes.L, sizes.d, sizes.m, sizes.m1) == (24, 4, 60, 256, 16)
    assert (sizes.s0, sizes.s1) == (S0, S1)
    assert common.unit(record()) == pytest.approx(UNIT)
    bare = SimpleNamespace(n=24, L=4, m=256, m1=16)
    assert common.sizes_of(record(bare)).d == 0
    found = common.largest_of("x", "loss", "T1_type_means").of(record())
    assert found == 10


def test_the_ends_of_phase_1():
    r = record()
    rate = S1**2 * 256 * 16
    defined = 2 * phase_1_end(24, 4) / rate
    assert phase_1.defined_end(r) == pytest.approx(defined, rel=1e-12)
    ends = {"T1 detected": 100.0, "T1 defined": defined, "T1 by type means": 10.0}
    for which, expected in ends.items():
        assert phase_1.end(which).of(r) == pytest.approx(expected)
        assert phase_1.end_in_units(which).of(r) == pytest.approx(expected * rate)


def test_readings_at_an_end():
    r = record()
    assert phase_1.alignment("T1 detected").of(r) == 4
    assert phase_1.alignment("T1 by type means").of(r) == 2
    flipped = record(signal_outputs=G * (1, 0.1, 1))
    assert phase_1.alignment("T1 detected").of(flipped) == pytest.approx(0.5)
    assert phase_1.at_end("T1 detected", "loss", "loss").of(r) == pytest.approx(0.3)
    assert phase_1.largest_change("T1 by type means", "value_change").of(r) == 3


def test_the_band_until_an_end():
    """Records 1, 2 and 3 are inside, record 0 is not: the later half of [1, 100] is [10, 100]."""
    r = record()
    inside = [(4.4, 3.0, 5.0), (4.1, 3.0, 5.0)]
    constant = min(min(c / low - 1, 1 - c / high) for c, low, high in inside)
    assert phase_1.band_constant("T1 detected").of(r) == pytest.approx(constant)
    slowest = 2 / ((S0**2 + S1**2) * 256 * 16)
    assert phase_1.band_rate("T1 detected").of(r) == pytest.approx(slowest)
    # Outside at the end: there is no band. 9 is above 2 + 3.
    late = record(T1_every_sample=1000.0)
    assert math.isnan(phase_1.band_constant("T1 detected").of(late))
    assert math.isnan(phase_1.band_rate("T1 detected").of(late))
    assert math.isnan(phase_1.band_constant("T1 detected").of(record(T1_every_sample=-1.0)))
    # Edges do not count as inside.
    for common_rate in (-5.0, -3.0):
        edge = RATES.copy()
        edge[3, 2] = common_rate
        assert math.isnan(phase_1.band_constant("T1 detected").of(record(signal_rates=edge)))
    # Inside from the first record on: the stretch begins at the first time after 0.
    always = RATES.copy()
    always[0] = 2, 3, -4
    found = phase_1.band_constant("T1 detected").of(record(signal_rates=always))
    assert found == pytest.approx(constant)
    # Outside until record 2: only record 3 is left, and at a time between records the one before.
    early = RATES.copy()
    early[2] = 2, 3, -6
    for stop in (100.0, 150.0):
        found = phase_1.band_constant("T1 detected").of(
            record(signal_rates=early, T1_every_sample=stop)
        )
        assert found == pytest.approx(1 - 4.1 / 5)


@pytest.mark.parametrize("power", [1, 2])
def test_the_gap_over_a_power_of_the_output(power):
    r = record(largest_output=np.array([0.2, 9.0]), gradient_gap=0.05)
    scalar = phase_1.gap_over_output(power)
    assert scalar.of(r) == pytest.approx(0.05 / 0.2**power)
    assert scalar.name.endswith("over F" if power == 1 else "over F^2")
    assert phase_1.use_rate("key", "mixed").of(record(key_use_rate_mixed=0.7)) == 0.7


# --- the start ----------------------------------------------------------------------------------


def test_uniformity_and_word_outputs_at_the_start():
    b = math.sqrt(4 / 256 * math.log(120 / 0.1)) + 4 / 256 * math.log(120 / 0.1)
    found = initial.D2.of(record(d2_softmax=0.03))
    assert found == pytest.approx(0.03 / (2 * S0**2 * 16 * b))
    for random, expected in ((0.1, 5.0), (9.0, 9.0)):
        r = record(
            signal_outputs=np.array([[-5.0, 1, 2], [0, 0, 0]]),
            largest_random_output=np.array([random, 99.0]),
        )
        assert initial.D7_SIZE.of(r) == pytest.approx(expected / (S0 * S1))


def test_first_rates():
    r = record(
        signal_neuron_rates=np.array([[3.0, 8.0], [0, 0]]),
        largest_random_neuron_rate=np.array([0.4, 9.0]),
        random_outputs=np.array([[9, 9], [-0.3, np.nan], [9, 9]]),
        times=np.array([0.0, 0.01, 1.0]),
    )
    assert initial.SLOWEST_NEURON.of(r) == pytest.approx(3 / UNIT)
    assert initial.FASTEST_NEURON.of(r) == pytest.approx(8 / UNIT)
    bound = UNIT / 24 + S0**2 * math.sqrt(256 * 4)
    assert initial.RANDOM_RATE.of(r) == pytest.approx(0.4 / bound)
    assert initial.RANDOM_GROWTH.of(r) == pytest.approx(0.3 / 0.01 / (UNIT * 16))


def test_tails_are_counted():
    r = record(norms=np.array([0.5, 0.99, 1.0, 2.0]), products=np.array([0.1, 0.6, 0.7, 0.8]))
    assert initial.below_tail("norms").of(r) == 2
    assert initial.below_tail("products", 0.7).of(r) == 2
    assert "0.7 times" in initial.below_tail("products", 0.7).name


@pytest.mark.parametrize(("m1", "n"), [(4, 6), (64, 24)])
def test_the_second_route_of_corollary_d5_draws_its_own_law(m1, n):
    """Means of L outputs of m1 neurons: the largest of so many normals decides the share."""
    words = np.arange(n * 4).reshape(n, 4)
    cell = SimpleNamespace(n=n, L=4, d=n * 4, m=32, m1=m1)
    wide = SimpleNamespace(n=n, L=4, d=n * 4, m=64, m1=m1)
    records = Records([Record("", c, k, {"words": words}) for c in (cell, wide) for k in range(8)])
    found = initial.one_sided_d5(records)
    limit = math.sqrt(math.log(m1 * n * 4 / 0.1))
    random = np.random.default_rng(1)
    below = np.mean(
        [
            (random.normal(size=(m1, 32)) @ random.normal(size=(32, n * 4)))
            .reshape(m1, n, 4).mean(axis=2).max() / math.sqrt(32 / 4) <= limit
            for _ in range(400)
        ]
    )  # fmt: skip
    assert found.effect is not None
    # 80 draws at the narrower width, none at the wider.
    assert abs(found.effect.value - below) <= 4 * math.sqrt(below * (1 - below) / 80 + 1e-4)


# --- values that fixtures hold ------------------------------------------------------------------


def test_fixtures_have_the_sizes_they_say():
    random = np.random.default_rng(0)
    unit = (0.25 / (4 * 256) + 1 / 16) * 256
    assert examples.neuron_unit(CELL) == pytest.approx(unit)
    value = examples.series(-1.0, 2.0, 3.0)(CELL, random)
    assert value.shape == (3, 2)
    np.testing.assert_allclose(value, np.tile([2 / 256, 3 / 256], (3, 1)), rtol=0.1)
    assert examples.series()(CELL, random) == pytest.approx([1.0] * 3, rel=0.1)
    assert examples.of_unit(2.0)(CELL, random) == pytest.approx([2 * unit] * 3, rel=0.1)
    many = examples.of_unit(1.0, 2.0, per_neuron=False)(CELL, random)
    np.testing.assert_allclose(many, np.tile([16 * unit, 32 * unit], (3, 1)), rtol=0.1)
    started = {name: value(CELL, random) for name, value in examples.STARTED.items()}
    assert started["s0"] == pytest.approx(0.5 / 32)
    assert started["s1"] == pytest.approx(0.25)
    np.testing.assert_allclose(started["times"], [0, 1 / 256, 1e3 / 256])
    assert 0 < started["T1_type_means"] < started["T1_every_sample"] < started["times"][2]
