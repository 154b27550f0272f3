"""The paper's conditions as numbers, checked by hand."""

import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.theory import conditions
from attnlab.papers.li2023.theory.bounds import BoundsSettings, bounds
from attnlab.papers.li2023.theory.conditions import TheoremSizes

PAPER = TheoremSizes(0.35, 0.15, 0.1, 0.2, 0.0, 5, 1000, 200, 20)


def test_condition_8_allows_a_ratio_of_368_at_the_papers_errors():
    allowed = PAPER.alpha_sharp / conditions.least_relevant_fraction(PAPER)
    assert allowed == pytest.approx(0.368, abs=5e-4)
    # On the slice alpha_# = 0.5 - alpha_* that is alpha_* >= .365.
    assert 0.5 / (1 + allowed) == pytest.approx(0.365, abs=5e-4)


def test_lemma_3_at_the_papers_sizes():
    assert conditions.least_epsilon(PAPER) == pytest.approx(0.364, abs=5e-4)
    noisy = TheoremSizes(0.5, 0.05, 0.1, 0.2, 0.032, 5, 1000, 200, 20)
    assert conditions.lucky_bound(noisy) == pytest.approx(85, abs=1)
    for M in (10, 15, 20):
        assert (
            conditions.lucky_bound(TheoremSizes(0.5, 0.05, 0.1, 0.2, 0.045, M, 1000, 200, 20)) < 0
        )


def test_sample_bounds_and_their_ratio():
    clean = TheoremSizes(0.25, 0.1, 0.0, 0.2, 0.0, 5, 1000, 200, 20)
    assert conditions.least_samples(clean) == pytest.approx(16)
    assert conditions.least_samples_without_attention(clean) == pytest.approx(256)
    hopeless = TheoremSizes(0.1, 0.05, 0.3, 0.2, 0.0, 5, 1000, 200, 20)
    assert conditions.least_samples(hopeless) == np.inf
    assert (
        conditions.iterations(TheoremSizes(0.5, 0.1, 0.1, 0.2, 0.0, 20, 100, 200, 20), 0.5)
        == np.inf
    )


def test_definition_1_is_a_softmax_of_two_kinds_of_tokens():
    phi, nu, p = conditions.stated_attention(np.array([0.0, 1.0, 3.0]), 50, 100, 0.2)
    assert p[0] == pytest.approx(0.5)
    assert nu[0] == phi[0] == pytest.approx(0.01)
    assert (np.diff(p) > 0).all()
    assert (phi <= nu).all()
    np.testing.assert_allclose(p + 50 * nu, 1.0)


def test_hypotheses_name_what_figure_1b_breaks():
    cell = TrainingSettings(L=50, alpha_star=0.3, alpha_sharp=0.2)
    rows = {h.name: h for h in conditions.hypotheses([cell])}
    broken = [name for name, h in rows.items() if h.met is False]
    assert broken == ["(8) with eps_S = 1/2"]
    assert rows["(8) with eps_S = 1/2"].factor == pytest.approx(1.94, abs=0.02)
    assert all(h.met is not False for h in conditions.hypotheses([cell], with_8=False))


def test_the_table_of_bounds_says_which_constants_are_unknown():
    rows = {row.name: row for row in bounds(BoundsSettings())}
    assert {"(8)", "(9)", "(10)", "(11)", "(13)", "lemma_3"} <= set(rows)
    assert {n for n, row in rows.items() if row.constant == "unknown"} >= {"(9)", "(10)", "(11)"}
    assert rows["(8)"].met is False
    assert rows["(9)"].met is None


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"alpha_star": 0.1}, ("0.1", "0.15", "majority")),
        ({"sigma": 1.5}, ("sigma=1.5", "1")),
        ({"M": 2}, ("M=2", "M >= 3")),
    ],
)
def test_bounds_refuse_what_is_out_of_range(settings, words):
    with pytest.raises(BadInput) as refusal:
        BoundsSettings(**settings)
    for word in words:
        assert word in str(refusal.value)
