"""Points of a path: against the classes' own run, against drawn words, and against mpmath."""

import math
from dataclasses import replace

import mpmath
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.papers.yang2024.runs import attention_map, classes, paths, training
from attnlab.papers.yang2024.runs.summaries import paths as summaries
from attnlab.papers.yang2024.settings import ClassSettings, TrainingSettings
from attnlab.papers.yang2024.settings.paths import MapSettings, PathSettings
from attnlab.papers.yang2024.studies.resolving import resolve
from attnlab.papers.yang2024.theory.asymptote import balanced_limit

ANY = Key("{}", 0)
SMALL = PathSettings(log_m=math.log(256), length=0, power=0, samples=1.5, neurons="log m")


@pytest.fixture(scope="module")
def point():
    """n = 24, L = 4, m = 256."""
    return paths.train_path(SMALL, ANY).values


def test_a_point_has_the_sizes_it_says():
    cell = PathSettings(log_m=20.0, power=2)
    assert (cell.L, cell.n, cell.m1) == (20, 6 * round(20**4 / 6), 20.0)
    assert cell.m == pytest.approx(math.exp(20))
    assert replace(cell, more=0.25).n == pytest.approx(20**4 * math.exp(5), rel=1e-4)
    assert replace(cell, scale="1 / log m").c == pytest.approx(0.1 / 20)
    assert replace(cell, length=0.0).L == 4


@pytest.mark.parametrize(
    "changes", [{"log_m": 1.0}, {"log_m": 1e3}, {"length": 0.1}, {"power": -1}, {"samples": 0.0}]
)
def test_a_point_off_every_path_is_refused(changes):
    with pytest.raises(BadInput, match="got "):
        PathSettings(**changes)


def test_a_path_is_the_classes_own_flow(point):
    """The same outputs and scores as the run that keeps Grams and not their changes."""
    assert (SMALL.n, SMALL.L) == (24, 4)
    cell = ClassSettings(n=24, L=4, m=256, m1=6, horizon=1e6, target_loss=1e-4)
    other = classes.train_classes(cell, ANY).values
    same = paths.follow(
        paths.StatedSizes.of_theory(24, 4, 43, 256, 6, 0.1), "trained", 1e-8,
        horizon=1e6, target=1e-4,
    )  # fmt: skip
    at = np.log(other["times"][30:])
    times = np.asarray(same.times)
    known = np.isfinite(times) & (times > 0)
    for name, mine in (("signal_outputs", "signal_outputs"), ("coefficients", "scores")):
        theirs = other[name].reshape(len(other["times"]), -1)[30:]
        ours = np.asarray(same.values[mine]).reshape(len(times), -1)[known]
        for column in range(theirs.shape[1]):
            got = np.interp(at, np.log(times[known]), ours[:, column])
            size = np.abs(theirs[:, column]).max()
            np.testing.assert_allclose(got, theirs[:, column], atol=4e-3 * size)


def test_every_series_is_that_of_grams_from_the_mean_start(point):
    """Word by word, on a drawn training set, by probes that know nothing of classes."""
    target = {"horizon": 1e6, "target_loss": 1e-3, "records": 60}
    cell = resolve(
        TrainingSettings(n=24, L=4, m=256, m1=6, initial="mean", engine="gram", **target)
    )
    drawn = training.train(cell, Key.of(cell, 0)).values
    ours = paths.follow(
        paths.StatedSizes.of_theory(24, 4, 43, 256, 6, 0.1), "trained", 1e-8,
        horizon=1e6, target=1e-3,
    )  # fmt: skip
    times = np.asarray(ours.times)
    known = np.isfinite(times) & (times > 0)
    skipped = {"value_correlations", "scores", "attention_change"}  # theirs begin off zero
    names = set(ours.values) & set(drawn) - skipped
    assert len(names) > 30
    for name in sorted(names):
        theirs = np.asarray(drawn[name])
        mine = np.asarray(ours.values[name])
        theirs = theirs.reshape(len(theirs), -1)[20:]
        mine = mine.reshape(len(mine), -1)[known]
        at = np.log(drawn["times"][20:])
        # Theirs are means over all samples that hold both words, ours over those with both signals.
        columns = (1, 3) if name == "softmax_rates" else range(theirs.shape[1])
        for column in columns:
            got = np.interp(at, np.log(times[known]), mine[:, column])
            size = np.nanmax(np.abs(theirs)) or 1.0
            np.testing.assert_allclose(got, theirs[:, column], atol=5e-3 * size, err_msg=name)


def test_changes_keep_their_digits_where_grams_would_lose_them():
    """At m = e^40 keys change by m^-3: far below the rounding of kappa, and in proportion."""
    found = {}
    for log_m in (40.0, 80.0):
        values = paths.train_path(PathSettings(log_m=log_m, power=2), ANY).values
        found[log_m] = values["phase_2_key_growth_at_1/m"]
        assert values["phase_2_rho_growth_over_integral_at_1/m"] == pytest.approx(1, abs=1e-3)
        assert values["phase_2_R_over_limit_at_1/m"] == pytest.approx(1, abs=1e-3)
        n, L = PathSettings(log_m=log_m, power=2).n, int(log_m)
        assert pytest.approx(1.5, abs=0.01) == balanced_limit(n, L).R
    exponent = math.log(found[80.0] / found[40.0]) / 40
    assert exponent == pytest.approx(-3, abs=0.1)


def test_attention_off_uniform_has_no_cancellation():
    from attnlab.papers.yang2024.runs.probes.classes import _from_uniform

    keys = np.zeros((4, 4, 5))
    keys[..., :3], keys[..., 4] = 1.0, 5.0
    scores = np.zeros_like(keys)
    scores[0, 0, :3] = 3e-20, -1e-20, 2e-20
    got = np.asarray(_from_uniform(scores, keys))[0, 0]
    with mpmath.workdps(60):
        weights = [mpmath.exp(x) for x in scores[0, 0]]
        total = sum(k * w for k, w in zip(keys[0, 0], weights, strict=True))
        for h in range(3):
            exact = weights[h] / total - mpmath.mpf(1) / 8
            assert got[h] == pytest.approx(float(exact), rel=1e-12)


def test_a_stop_is_the_last_record_with_that_loss(point):
    series = {name: x for name, x in point.items() if np.ndim(x)}
    cut = summaries.until(series, 1 / 256)
    last = len(cut["times"]) - 1
    assert cut["loss"][last] >= 1 / 256 > point["loss"][last + 1]
    assert cut["end_time"] == cut["times"][-1]


def test_quotients_of_the_first_phase_by_hand():
    """Corollary E.24 up to T1 = 2.5, the last record left out; equation (8) where signals cross."""
    sizes = paths.StatedSizes(n=24, L=4, d=43, m=256, m1=6, s0=0.02, s1=0.3)
    slopes = np.array([[0.5, 0.4, 0.3, 0.2], [0.4, 0.4, 0.2, 0.2], [0.3, 0.5, 0.2, 0.1],
                       [0.2, 0.6, 0.1, 0.1]])  # fmt: skip
    series = {
        "times": np.array([0.0, 1.0, 2.0, 3.0]),
        "T1_every_sample": 2.5,
        "attention_rates": np.array([[1e-6, 2e-6], [5e-6, 1e-6], [2e-6, 4e-6], [9.0, 9.0]]),
        "attention_change": np.array([0.0, 3e-9, 2e-9, 9.0]),
        "gradient_by_type": slopes,
        "signal_rates": np.array([[3.0, 0, -1], [2.0, 0, -1], [1.0, 0, -1], [0.0, 0, -1]]),
    }
    found = summaries._first_phase(series, sizes)
    m, L, n, score = 256, 4, 24, 1 / 4 + 1 / 16
    assert found["e24_random_over_stated"] == pytest.approx(5e-6 * L * (L**2 + n) * 16)
    assert found["e24_other_over_stated"] == pytest.approx(4e-6 * L**2 * 16)
    proved = (1 / L + 1 / n) / L * score / m
    assert found["e24_random_over_proved"] == pytest.approx(5e-6 / proved)
    assert found["e24_other_over_proved"] == pytest.approx(4e-6 / (score / L / m))
    assert found["e24_change_over_bound"] == pytest.approx(3e-9 / (score / L / m**2))
    # The signals' rate comes down to that of the common word at t = 2; a central difference.
    balance = [(6 * a - 2 * b - c - d) / 6 for a, b, c, d in slopes]
    rate = -(balance[3] - balance[1]) / 2 / (0.3**2 * m * 6)
    assert found["equation_8_rate"] == pytest.approx(rate)
    never = series | {"signal_rates": np.array([[3.0, 0, -1]] * 4)}
    assert math.isnan(summaries._first_phase(never, sizes)["equation_8_rate"])


def test_quotients_of_the_second_phase_by_hand():
    sizes = paths.StatedSizes(n=24, L=4, d=43, m=256, m1=6, s0=0.02, s1=0.3)
    rho, log_m, n, L, m = 0.09 * 256 * 6, math.log(256), 24, 4, 256
    cut = {
        "times": np.array([1.0, 2.0, 3.0, 4.0]),
        "loss": np.array([8.0, 0.5, 0.4, 0.1]),
        "largest_random_score_rate": np.array([9.0, 1e-4, 3e-4, 2e-5]),
        "largest_random_softmax_rate": np.array([9.0, 2e-5, 3e-5, 5e-6]),
        "largest_random_coefficient": np.array([9.0, 9.0, 9.0, 7e-6]),
        "output_change_random": np.array([9.0, 0.1, 0.3, 0.2]),
        "signal_outputs": np.array([[9.0] * 3, [9.0] * 3, [9.0] * 3, [2.0, 1.0, -2.5]]),
        "worst_test_loss": np.array([9.0, 9.0, 9.0, 0.7]),
    }
    of_phase = {"begin": 2.0, "rho_growth": 0.5, "value_growth": 0.25, "least_softmax_rate": 0.8}
    found = summaries._over_stated(cut, {f"phase_2_{k}": x for k, x in of_phase.items()}, sizes)
    s2 = 0.02**2
    expected = {
        "begin_in_units": 2 * rho,
        "rho_growth_over_size": 0.5 * m / 6,
        "rho_growth_over_bound": 0.5 / (log_m**2 / (0.09 * m)),
        "value_growth_over_bound": 0.25 / (log_m**2 / rho),
        "random_score_over_bound": 3e-4 / 0.4 / (s2 * (16 / (n * L) + 1)),
        "random_softmax_over_bound": 3e-5 / 0.4 / (s2 * (16 / (n * L**2) + 1 / L)),
        "random_coefficient_over_bound": 7e-6 / (s2 / rho * (16 / (n * L) + 1)),
        "random_change_over_bound": 0.3 / (1 / n + 6 * (L * (s2 * 16 + 1 / m) + s2 * m) / rho),
        "softmax_over_printed": 0.8 / 16,
        "largest_signal": 2.5,
        "end_time_exponent": math.log(4 * rho) / log_m,
        "worst_test_loss": 0.7,
    }
    assert set(found) == {f"phase_2_{name}" for name in expected}
    for name, value in expected.items():
        assert found[f"phase_2_{name}"] == pytest.approx(value, rel=1e-12), name
    assert summaries._over_stated(cut, {"phase_2_begin": math.nan}, sizes) == {}


def test_the_loss_of_new_samples_is_that_of_the_formula_written_out():
    G, S, L = np.array([2.0, 1.5, -1.2]), np.arange(9.0).reshape(3, 3) / 7, 5
    total = 0.0
    for share, held, y in (
        (1 / 2, (0, 1, 2), 1), (1 / 6, (0, 2), -1), (1 / 6, (1, 2), -1), (1 / 6, (2,), -1),
    ):  # fmt: skip
        words = [*held, *[None] * (L - len(held))]
        F = 0.0
        for query in words:
            scores = [0.0 if None in (query, k) else S[k, query] for k in words]
            weights = np.exp(scores) / np.exp(scores).sum()
            F += sum(w * (0 if k is None else G[k]) for w, k in zip(weights, words, strict=True))
        total += share * math.log1p(math.exp(-y * F))
    assert attention_map.unseen_loss(G, S, L) == pytest.approx(total, rel=1e-12)


def test_frozen_attention_leaves_the_scores_and_trained_does_not():
    runs = {
        a: attention_map.train_on_map(MapSettings(m=64, attention=a), ANY).values
        for a in ("trained", "frozen")
    }
    assert runs["frozen"]["largest_score"] == 0 < runs["trained"]["largest_score"]
