"""The table of hypotheses, and that drawn training sets keep it."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.data.word_cooccurrence import (
    TYPE_PROBABILITIES,
    repeated_random_words,
    type_proportions,
)
from attnlab.papers.yang2024.hypotheses import HYPOTHESES
from attnlab.papers.yang2024.runs import draws
from attnlab.papers.yang2024.settings import (
    ClassSettings,
    SoftmaxSettings,
    TrainingSettings,
)
from attnlab.papers.yang2024.studies.resolving import resolve
from attnlab.papers.yang2024.studies.training import MATCHING

SMALL = TrainingSettings(n=24, L=4, m=256, m1=16, records=40, horizon=40.0)


def drawn_set(cell, seed):
    """The training set of a run, as `train` draws it."""
    return draws.training_set(cell, Key.of(cell, seed))


def test_labels_are_those_of_the_types_unless_shuffled():
    for sampler in ("balanced", "independent"):
        cell = resolve(TrainingSettings(n=60, L=5, sampler=sampler))
        plain, mixed = drawn_set(cell, 0), drawn_set(replace(cell, labels="shuffled"), 0)
        np.testing.assert_array_equal(plain.labels, np.where(np.asarray(plain.types) == 1, 1, -1))
        assert (np.asarray(mixed.labels) != np.where(np.asarray(mixed.types) == 1, 1, -1)).any()


def test_training_sets_keep_the_assumption_unless_a_setting_breaks_it():
    def broken(**settings):
        cell = resolve(TrainingSettings(n=24, L=4, **settings))
        sets = [drawn_set(cell, seed) for seed in range(20)]
        return (
            sum((type_proportions(s.types) != TYPE_PROBABILITIES).any() for s in sets),
            sum(repeated_random_words(s.words, s.roles) > 0 for s in sets),
        )

    assert broken() == (0, 0)
    assert broken(words="repeated")[1] > 15
    assert broken(sampler="independent")[0] > 15


# --- the hypothesis table ---------------------------------------------------------------------


def rows(name, cell):
    (assumption,) = [a for a in HYPOTHESES.assumptions if a.id == f"yang2024.{name}"]
    return assumption.rows(cell)


def test_hypotheses_at_the_papers_own_settings():
    own = list(HYPOTHESES.printed.values())
    assert MATCHING in own
    unmet = [h for cell in own for h in rows("assumption_2_3", cell) if h.met is False]
    assert any((h.value, h.threshold) == (61, 160) for h in unmet)
    assert any("recurs" in h.name for h in unmet)
    width = rows("condition_1", MATCHING)[0]
    assert (width.value, width.threshold, width.met) == (128, 256, None)
    assert all(h.met for h in rows("definition_2_1", MATCHING))


def test_hypotheses_take_the_deviations_of_the_runs():
    cell = resolve(replace(SMALL, weights="linear_default"))
    values = draws.description(cell, drawn_set(cell, 0))
    scale = next(h for h in rows("condition_1", cell) if h.name == "s0 sqrt(L m)")
    assert scale.value == pytest.approx(float(values["s0"]) * math.sqrt(cell.L * cell.m))
    neurons = next(h for h in rows("condition_1", cell) if h.name == "s1 sqrt(m1)")
    assert neurons.value == pytest.approx(float(values["s1"]) * math.sqrt(cell.m1))


def test_hypotheses_speak_of_cells_with_a_training_set_only():
    for assumption in HYPOTHESES.assumptions:
        assert assumption.rows(SoftmaxSettings()) == ()
        assert assumption.rows(ClassSettings())
        assert assumption.rows(SMALL)
    shuffled = rows("definition_2_1", replace(SMALL, labels="shuffled"))
    assert [h.met for h in shuffled].count(False) == 1
