import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.evidence.fits import compare_powers, fit_exponent


def runs(
    random: np.random.Generator,
    *,
    exponent: float = -1.5,
    constant: float = 2.0,
    levels: int = 5,
    seeds: int = 5,
    noise: float | np.ndarray = 0.3,
    lack_of_fit: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Runs of a power law: seed noise, and a deviation that all seeds of a level share."""
    x = np.repeat(2.0 ** np.arange(levels), seeds)
    shared = np.repeat(lack_of_fit * random.normal(size=levels), seeds)
    spread = np.repeat(np.broadcast_to(noise, levels), seeds)
    return x, constant * x**exponent * np.exp(shared + spread * random.normal(size=x.size))


def test_an_exact_law_is_recovered():
    x = np.array([1.0, 2.0, 4.0, 8.0])
    fit = fit_exponent(x, 3 * x**-2)
    assert (fit.exponent, fit.low, fit.high) == pytest.approx((-2, -2, -2))
    assert fit.constant == pytest.approx(3)


def test_unequal_repeats_are_ordinary_least_squares_over_runs():
    random = np.random.default_rng(0)
    x = np.repeat([1.0, 3.0, 5.0, 20.0], [1, 4, 2, 7])
    y = x**0.7 * np.exp(random.normal(size=x.size))
    fit = fit_exponent(x, y)
    slope, intercept = np.polyfit(np.log(x), np.log(y), 1)
    assert (fit.exponent, math.log(fit.constant)) == pytest.approx((slope, intercept))


def test_one_run_a_level_gives_the_textbook_interval():
    x, y = runs(np.random.default_rng(1), levels=6, seeds=1)
    from scipy.stats import linregress, t

    line = linregress(np.log(x), np.log(y))
    half = t.ppf(0.975, 4) * line.stderr
    fit = fit_exponent(x, y)
    assert (fit.low, fit.high) == pytest.approx((line.slope - half, line.slope + half))


def test_means_on_the_line_leave_the_noise_of_the_seeds():
    """Student's part is then zero, and the bootstrap's has the width of the unbiased spread."""
    levels = np.repeat(2.0 ** np.arange(6), 3)
    deviations = np.tile([-0.1, 0.0, 0.1], 6)
    fit = fit_exponent(levels, levels * np.exp(deviations), resamples=20_000)
    squares = ((np.log(levels) - np.log(levels).mean()) ** 2).sum()
    half = 1.96 * 0.1 / math.sqrt(squares)
    assert (fit.low, fit.high) == pytest.approx((1 - half, 1 + half), abs=0.05 * half)


SITUATIONS = {
    "seed noise": {},
    "three levels, three seeds": {"levels": 3, "seeds": 3},
    "noise differs between levels": {"noise": np.linspace(0.05, 0.6, 5)},
    "lack of fit": {"noise": 0.1, "lack_of_fit": 0.3},
    "lack of fit, many seeds": {"levels": 6, "seeds": 20, "noise": 0.05, "lack_of_fit": 0.3},
    "one seed": {"levels": 6, "seeds": 1},
}


@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_interval_covers(situation):
    """Nominal 95 %; 400 data sets have a standard error of 1.1 %, so 90 % is far outside it."""
    random = np.random.default_rng(7)
    fits = [
        fit_exponent(*runs(random, **SITUATIONS[situation]), resamples=300, seed=i)
        for i in range(400)
    ]
    assert np.mean([fit.low <= -1.5 <= fit.high for fit in fits]) >= 0.90


def test_the_interval_is_narrow_enough_to_contradict():
    """A wrong exponent, off by 0.5, is excluded in nearly all data sets: the check can fail."""
    random = np.random.default_rng(8)
    fits = [fit_exponent(*runs(random), resamples=300) for _ in range(100)]
    assert np.mean([fit.high < -1.0 for fit in fits]) >= 0.9


def test_below_three_levels_everything_is_possible():
    two = fit_exponent([1, 1, 2, 2], [1, 1.1, 2, 2.1])
    assert (two.low, two.high) == (-math.inf, math.inf)
    assert two.exponent == pytest.approx(1, abs=0.1)
    one = fit_exponent([3, 3], [1, 2])
    assert math.isnan(one.exponent)
    assert (one.low, one.high) == (-math.inf, math.inf)


@pytest.mark.parametrize("bad", [0.0, -1.0, math.nan, math.inf])
def test_values_without_a_logarithm_are_refused(bad):
    for fit in (fit_exponent, lambda x, y: compare_powers({"a": x}, y)):
        with pytest.raises(ValueError, match="1 of 3 values of y"):
            fit([1, 2, 3], [1, bad, 3])
        with pytest.raises(ValueError, match="1 of 3 values of x"):
            fit([1, 2, bad], [1, 2, 3])
    with pytest.raises(ValueError, match="one x and one y per run"):
        fit_exponent([1, 2], [1, 2, 3])


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-6, 1e6), st.integers(0, 100))
def test_rescaling_y_moves_the_constant_only(factor, seed):
    x, y = runs(np.random.default_rng(seed))
    plain, scaled = fit_exponent(x, y, resamples=100), fit_exponent(x, factor * y, resamples=100)
    of_exponent = (scaled.exponent, scaled.low, scaled.high)
    assert of_exponent == pytest.approx((plain.exponent, plain.low, plain.high), abs=1e-9)
    assert scaled.constant == pytest.approx(factor * plain.constant, rel=1e-9)


@settings(max_examples=40, deadline=None)
@given(st.floats(-3, 3), st.integers(0, 100))
def test_a_power_of_x_shifts_the_exponent(shift, seed):
    x, y = runs(np.random.default_rng(seed))
    plain, shifted = fit_exponent(x, y, resamples=100), fit_exponent(x, y * x**shift, resamples=100)
    assert shifted.exponent == pytest.approx(plain.exponent + shift, abs=1e-9)
    assert shifted.high - shifted.low == pytest.approx(plain.high - plain.low, abs=1e-9)


def test_the_same_seed_gives_the_same_interval():
    x, y = runs(np.random.default_rng(2), noise=np.linspace(0.01, 2, 5))
    assert fit_exponent(x, y, seed=4) == fit_exponent(x, y, seed=4)


def test_the_right_regressor_wins_on_both_criteria():
    random = np.random.default_rng(5)
    alpha, gap = (np.repeat(g.ravel(), 3) for g in np.meshgrid([0.2, 0.4, 0.8], [0.1, 0.3, 0.9]))
    y = 4 * gap**-2 * np.exp(0.2 * random.normal(size=gap.size))
    best, other = compare_powers({"alpha^-2": alpha**-2, "gap^-2": gap**-2}, y)
    assert best.name == "gap^-2"
    assert other.aic > best.aic + 10
    assert best.held_out_error < other.held_out_error / 2
    assert compare_powers({}, y) == ()


def test_aic_and_held_out_error_by_hand():
    x = np.array([1.0, 2.0, 4.0])
    (law,) = compare_powers({"x": x}, x * np.exp([0.0, 1.0, 0.0]))
    # Mean 1/3, squared errors 1/9, 4/9, 1/9; left out: 1/2, 1, 1/2 off.
    assert law.aic == pytest.approx(3 * math.log(6 / 9 / 3) + 2)
    assert law.held_out_error == pytest.approx(math.sqrt((0.25 + 1 + 0.25) / 3))


def test_levels_are_left_out_whole():
    """Runs of one level share its deviation: left out one by one they would tell each other."""
    x = np.repeat([1.0, 2.0, 4.0], 2)
    (whole,) = compare_powers({"x": x}, x * np.exp(np.repeat([0.0, 1.0, 0.0], 2)))
    assert whole.held_out_error == pytest.approx(math.sqrt((0.25 + 1 + 0.25) / 3))
    # A level is what all candidates call one.
    apart = compare_powers({"x": x, "z": np.arange(1.0, 7.0)}, x * np.exp(np.repeat([0, 1, 0], 2)))
    (of_x,) = (law.held_out_error for law in apart if law.name == "x")
    assert of_x < 0.9 * whole.held_out_error
    (few,) = compare_powers({"x": x[:4]}, x[:4])
    assert math.isnan(few.held_out_error)
