"""The paper as its users meet it: settings, engines, commands."""

from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key, program
from attnlab.core import BadInput
from attnlab.papers.li2023.runs import trial as runs
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.studies import STUDIES
from attnlab.papers.li2023.studies.engine_choice import resolve

SMALL = TrainingSettings(
    N=16, L=20, m=40, d=6, m_a=6, m_b=6, M=4, alpha_star=0.4, alpha_sharp=0.1, eta=1.0,
    steps=40, stop="fixed", test_samples=20, engine="exact", noisy_share=0.3, noisy_c0=1.0,
    normalise=True,
)  # fmt: skip
PRUNED = (("none", 0.0), ("random", 0.3), ("attention", 0.4), ("model", 0.1))


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (("alpha_star=0.1", "confusion=number"), ("alpha_star=0.1", "majority")),
        (("alpha_star=0.9", "confusion=number", "alpha_sharp=0.2"), ("together 1.1",)),
        (("L=30", "alpha_star=0.35", "confusion=number"), ("L=30", "10.5 tokens", "whole number")),
        (("M=12",), ("M=12", "R^10", "M <= d")),
        (("sigma=1.2",), ("sigma=1.2", "up to")),
        (("delta=-0.1",), ("delta=-0.1",)),
        (("c0=0.1",), ("c0=0.1", "--engine exact")),
        (("approximate=false",), ("c0=0.01", "approximate")),
        (("N=0",), ("N=0", "at least 1")),
        (("skip=true", "m_a=12"), ("m_a=12", "d=10")),
    ],
)
def test_impossible_settings_get_a_sentence_with_the_numbers(attnlab, tmp_path, settings, words):
    assignments = [x for s in settings for x in ("--set", s)]
    common = ("--scale", "smoke", "--out", tmp_path)
    done = attnlab("check", "li2023.theorem_1", *assignments, *common, expect=2)
    for word in words:
        assert word in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_collapsed_engine_refuses_what_it_is_not_exact_for():
    plain = TrainingSettings(engine="collapsed", approximate=True)
    assert resolve(plain).engine == "collapsed"
    assert resolve(TrainingSettings(c0=0.0)).engine == "collapsed"
    assert resolve(TrainingSettings()).engine == "exact"
    for changes, word in (
        ({"c0": 0.05}, "0.05"),
        ({"approximate": False}, "approximate"),
        ({"noisy_share": 0.1}, "noisy"),
        ({"fractions": "multinomial"}, "multinomial"),
        ({"set_size": 2, "set_distance": 0.3}, "set"),
        ({"selector": "random", "removed": 0.2}, "selector"),
    ):
        with pytest.raises(BadInput, match=word):
            resolve(replace(plain, **changes))
        assert resolve(replace(plain, engine="auto", **changes)).engine == "exact"


def test_a_number_that_is_0_in_training_is_refused():
    for changes in ({"eta": 5e-324}, {"margin": 1e-40}, {"eta": 5e-324, "dtype": "float64"}):
        with pytest.raises(BadInput, match="no more than 0; it must be at least"):
            TrainingSettings(**changes)
    TrainingSettings(margin=1e-40, dtype="float64")


def test_every_cell_of_a_design_has_its_own_draw_unless_it_is_a_comparison():
    maps = next(s for s in STUDIES if s.id == "li2023.figure_1a").designs["quick"].cells
    keys = {Key.of(cell, 0).fields for cell in maps}
    assert len(keys) == len(maps)
    frozen = replace(maps[0], attention="frozen", eta=0.1, engine="exact")
    assert Key.of(frozen, 0) == Key.of(maps[0], 0)


@pytest.mark.parametrize(
    ("changes", "room"),
    [
        ({}, 20),
        ({"removed": 0.4}, 20),
        ({"removed": 0.5}, 10),
        ({"removed": 0.6}, 10),
        ({"removed": 0.75}, 5),
        ({"removed": 0.9}, 2),
        ({"removed": 0.95}, 1),
        ({"removed": 0.95, "selector": "none"}, 20),
        ({"removed": 0.75, "removal": "zeroed"}, 20),
        ({"removed": 0.75, "prune_at": "test"}, 20),
    ],
)
def test_arrays_are_halved_while_the_kept_tokens_fit(changes, room):
    cell = replace(SMALL, **{"selector": "random", **changes})
    assert cell.token_room == room
    assert cell.kept <= room


def test_which_tokens_go_first_costs_no_program():
    programs = {program(replace(SMALL, selector=s, removed=r)) for s, r in PRUNED}
    assert len(programs) == 1


def test_scale_smoke_needs_few_programs():
    needed = {
        study.program(study.resolve(cell))
        for study in STUDIES
        for cell in study.designs["smoke"].cells
    }
    assert len(needed) <= 17


def outcome(**changes):
    cell = resolve(replace(SMALL, **changes))
    return cell, runs.train(cell, Key.of(cell, 0))


def test_selectors_in_training_and_at_test_time_remove_what_they_say():
    _, none = outcome()
    for selector in ("random", "irrelevant", "noisy", "attention", "value_norm", "distance"):
        _, pruned = outcome(selector=selector, removed=0.4)
        assert pruned.diverged == ""
        assert float(pruned.values["tokens_saved"]) == pytest.approx(0.4)
        assert 0.4 < float(pruned.values["flops_saved"]) < 0.7
        assert pruned.values["test_loss"] != none.values["test_loss"]
    _, at_test = outcome(selector="irrelevant", removed=0.4, prune_at="test")
    assert float(at_test.values["train_loss"]) == float(none.values["train_loss"])
    assert float(at_test.values["test_loss"]) != float(none.values["test_loss"])


def test_kept_tokens_can_be_numbered_anew():
    changes = {"selector": "irrelevant", "removed": 0.4}
    (_, there), (_, moved) = (outcome(**changes, positions=p) for p in ("original", "renumbered"))
    assert float(moved.values["test_loss"]) != float(there.values["test_loss"])
    cell = resolve(replace(SMALL, **changes, positions="renumbered"))
    engine, _, _ = runs.start(cell, Key.of(cell, 0))
    np.testing.assert_array_equal(engine.kept, np.broadcast_to(np.arange(20) < 12, (512, 20)))
    assert engine.places is None
    before, _, _ = runs.start(replace(cell, positions="original"), Key.of(cell, 0))
    for n in (0, 5):
        own = np.asarray(before.tokens[n])[np.asarray(before.kept[n])]
        np.testing.assert_array_equal(np.asarray(engine.tokens[n, :12]), own)


def test_a_model_trained_before_can_choose_the_tokens():
    _, first = outcome(selector="attention", removed=0.4)
    _, filtered = outcome(selector="model", removed=0.4)
    assert filtered.diverged == ""
    assert float(filtered.values["test_loss"]) != float(first.values["test_loss"])


def test_a_run_that_diverges_says_so():
    _, result = outcome(eta=1e30)
    assert "infinite or nan" in result.diverged


def test_bounds_from_the_command_line(attnlab):
    done = attnlab("bounds", "li2023", "--json", "--alpha-star", "0.3", "--alpha-sharp", "0.2")
    rows = {row["name"]: row for row in done.json}
    assert rows["(8)"]["met"] is False
    assert rows["(10)"]["constant"] == "unknown"
    assert "majority" in attnlab("bounds", "li2023", "--alpha-star", "0.1", expect=2).err
    assert np.isfinite(rows["lemma_3"]["value"])
