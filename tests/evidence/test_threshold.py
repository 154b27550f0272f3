import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnlab.evidence.threshold import fit_threshold, next_size, posterior

SIZES = 10 * 2.0 ** np.arange(7)


def draw(random: np.random.Generator, n50: float, slope: float, trials: int) -> np.ndarray:
    return random.binomial(trials, 1 / (1 + (SIZES / n50) ** -slope))


@pytest.mark.parametrize("slope", [1.5, 5.0, 100.0])
def test_the_credible_interval_covers(slope):
    """Thresholds drawn inside the tested range; 90 % of 150 is 2.8 standard errors below 95 %."""
    random = np.random.default_rng(int(slope))
    held = []
    for _ in range(150):
        n50 = math.exp(random.uniform(math.log(20), math.log(320)))
        fit = fit_threshold(SIZES, draw(random, n50, slope, 10), [10] * 7)
        held.append(fit.low <= n50 <= fit.high)
    assert np.mean(held) >= 0.90


def test_many_trials_find_the_parameters():
    wins = draw(np.random.default_rng(0), 70.0, 3.0, 2000)
    fit = fit_threshold(SIZES, wins, [2000] * 7)
    assert fit.n50 == pytest.approx(70, rel=0.03)
    assert fit.slope == pytest.approx(3, rel=0.1)
    assert fit.high / fit.low < 1.1
    assert (fit.censored, fit.sizes, fit.trials) == ("no", 7, 14000)


def test_separable_data_leave_the_gap_open():
    fit = fit_threshold([10, 20, 40, 80], [0, 0, 10, 10], [10] * 4)
    assert fit.censored == "no"
    assert fit.n50 == pytest.approx(math.sqrt(20 * 40), rel=0.02)
    # Flat between the last failure and the first success, so the interval nearly fills the gap.
    assert 20 < fit.low < 22.5
    assert 36 < fit.high < 40
    assert fit.slope_low > 5


def test_the_posterior_against_a_slow_route():
    """Two sizes, counted by hand on a coarse independent grid of rejection samples."""
    random = np.random.default_rng(1)
    n50 = np.exp(random.uniform(math.log(1), math.log(1000), 400_000))
    slope = np.exp(random.uniform(math.log(0.5), math.log(300), n50.size))
    keep = np.ones(n50.size, dtype=bool)
    for size, wins in ((20.0, 1), (60.0, 2)):
        chance = 1 / (1 + np.exp(-np.clip(slope * np.log(size / n50), -500, 500)))
        keep &= random.binomial(3, chance) == wins
    fit = fit_threshold([20, 60], [1, 2], [3, 3], prior_range=(1, 1000))
    assert keep.sum() > 5000
    assert fit.n50 == pytest.approx(np.median(n50[keep]), rel=0.03)
    assert fit.slope == pytest.approx(np.median(slope[keep]), rel=0.05)


@pytest.mark.parametrize(
    ("wins", "side"), [([10] * 4, "below"), ([0] * 4, "above"), ([5] * 4, "both")]
)
def test_a_threshold_outside_the_tested_sizes_is_censored(wins, side):
    fit = fit_threshold([10, 20, 40, 80], wins, [10] * 4)
    assert fit.censored == side
    assert (fit.low == 0) == (side in ("below", "both"))
    assert (fit.high == math.inf) == (side in ("above", "both"))
    assert (fit.prior_low, fit.prior_high) == (1, 800)
    if side == "below":
        assert fit.high < 15
    if side == "above":
        assert fit.low > 60


def test_untested_sizes_do_not_extend_the_tested_range():
    fit = fit_threshold([10, 20, 1000], [0, 0, 0], [10, 10, 0])
    assert (fit.censored, fit.sizes) == ("above", 2)


@settings(max_examples=15, deadline=None)
@given(st.floats(0.01, 1000), st.lists(st.integers(0, 6), min_size=7, max_size=7))
def test_the_threshold_moves_with_the_scale_of_n(factor, wins):
    plain = fit_threshold(SIZES, wins, [6] * 7)
    scaled = fit_threshold(factor * SIZES, wins, [6] * 7)
    assert scaled.n50 == pytest.approx(factor * plain.n50, rel=1e-6)
    assert scaled.slope == pytest.approx(plain.slope, rel=1e-6)


@settings(max_examples=15, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=7, max_size=7), st.integers(0, 6))
def test_a_further_success_never_raises_the_threshold(wins, where):
    """At each slope: the mass of small N50 grows. (Over all slopes it need not: a success far
    below the threshold also flattens the curve.)"""
    more = list(wins)
    more[where] += 1
    before, after = (posterior(SIZES, w, [6] * 7, (1, 6400)).weights for w in (wins, more))
    for slope in (0, 10):
        shares = [np.cumsum(w[:, slope]) / w[:, slope].sum() for w in (before, after)]
        assert (shares[1] >= shares[0] - 1e-9).all()


def test_the_order_and_the_grouping_of_the_data_do_not_matter():
    whole = fit_threshold([10, 20, 40], [1, 3, 6], [6, 6, 6])
    parts = fit_threshold([40, 10, 20, 40, 20], [4, 1, 1, 2, 2], [4, 6, 2, 2, 4])
    for name in ("n50", "low", "high", "slope"):
        assert getattr(parts, name) == pytest.approx(getattr(whole, name))


def test_next_size_goes_where_the_outcome_is_uncertain():
    candidates = [5, 10, 15, 20, 28, 40, 60, 80, 160]
    assert next_size([10, 20, 40, 80], [0, 0, 10, 10], [10] * 4, candidates, batch=4) == 28
    # Nothing tried yet: the prior is symmetric about the middle of the candidates.
    assert next_size([], [], [], [1, 10, 100, 1000, 10_000]) == 100
    assert next_size([10, 20], [0, 0], [10, 10], candidates, batch=4) >= 40


def test_next_size_beats_a_fixed_design():
    """Twelve batches of two narrow the interval more than as many trials spread over all sizes."""
    random = np.random.default_rng(2)
    edges, narrower = (1.0, 6400.0), 0
    for _ in range(5):
        n50 = math.exp(random.uniform(math.log(20), math.log(320)))
        chance = 1 / (1 + (SIZES / n50) ** -4.0)
        wins, tried = np.zeros(7), np.zeros(7)
        for _ in range(12):
            size = next_size(SIZES, wins, tried, list(SIZES), batch=2, prior_range=edges)
            at = int(np.flatnonzero(size == SIZES)[0])
            wins[at] += random.binomial(2, chance[at])
            tried[at] += 2
        adaptive = fit_threshold(SIZES, wins, tried, prior_range=edges)
        fixed = fit_threshold(SIZES, random.binomial(4, chance), [4] * 7, prior_range=edges)
        narrower += adaptive.high * fixed.low < fixed.high * adaptive.low
    assert narrower >= 4


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="no trials"):
        fit_threshold([10], [0], [0])
    with pytest.raises(ValueError, match="0 <= successes <= trials"):
        fit_threshold([10], [3], [2])
    with pytest.raises(ValueError, match="2 sizes, 1 successes"):
        fit_threshold([10, 20], [1], [2])
    with pytest.raises(ValueError, match="prior_range"):
        fit_threshold([10], [1], [2], prior_range=(5, 5))
    with pytest.raises(ValueError, match="positive sizes"):
        next_size([10], [1], [2], [])
