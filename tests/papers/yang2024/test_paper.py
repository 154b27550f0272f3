"""The paper as its users meet it: settings, runs and commands."""

from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.papers.yang2024.runs import training
from attnlab.papers.yang2024.settings import SMALLEST_TARGET, TrainingSettings
from attnlab.papers.yang2024.studies.resolving import resolve
from attnlab.training.flow import NO_TARGET

SMALL = TrainingSettings(n=12, L=4, m=64, m1=16, records=20, horizon=20.0)


def train(cell: TrainingSettings, seed: int = 0):
    cell = resolve(cell)
    return training.train(cell, Key.of(cell, seed))


def test_appendix_b_as_the_command_gives_it(attnlab, tmp_path):
    common = ("--scale", "smoke", "--out", tmp_path, "--json", "-")
    (verdict,) = attnlab("check", "yang2024.appendix_b", *common).json
    assert verdict["verdict"] == "supported"
    assert verdict["effect"]["value"] <= 1e-12
    assert (verdict["kind"], verdict["second_route"]) == ("identity", None)
    readings = {r["name"]: r for r in verdict["readings"]}
    assert {r["name"] for r in verdict["readings"] if r["allowed"]} == {"as printed"}
    parts = {part["name"]: part for part in readings["as printed"]["parts"]}
    assert parts["against differences"]["verdict"] == "supported"
    assert parts["against differences"]["effect"]["value"] <= 1
    assert [c["verdict"] for c in verdict["controls"]] == ["contradicted"]


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (("d=20",), ("17 random words", "n=24", "L=4", "need 40", "d=43")),
        (("L=2",), ("L=2", "L>=3")),
        (("n=25",), ("n=25", "divisible by 6", "n=30")),
        (("n=0",), ("n=0", "at least 1")),
        (("m=0",), ("m=0", "at least 1")),
        (("initial=bartlett", "m=64"), ("m=64", "43 words", "m >= 86", "weights")),
        (("method=adam", "engine=gram"), ("adam", "--engine weights")),
        (("rtol=0",), ("rtol=0", "from 1e-14")),
        (("weights=kaiming_uniform", "initial=bartlett"), ("kaiming_uniform", "normal")),
    ],
)
def test_impossible_settings_get_a_sentence_with_the_numbers(attnlab, tmp_path, settings, words):
    assignments = [x for s in settings for x in ("--set", s)]
    common = ("--scale", "smoke", "--out", tmp_path)
    done = attnlab("check", "yang2024.theorem_3_2", *assignments, *common, expect=2)
    for word in words:
        assert word in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"rtol": 1e300}, r"rtol=1e\+300; it lies from 1e-14"),
        ({"rtol": 5e-324}, "rtol=5e-324; it lies from 1e-14"),
        ({"horizon": 0.01}, "horizon=0.01; a flow is recorded from 0.01 on"),
        ({"target_loss": 5e-324}, "target_loss=5e-324; give 0 for none, or at least 1e-300"),
        ({"target_loss": -1.0}, "target_loss=-1.0; give 0 for none"),
    ],
)
def test_a_flow_that_no_solver_can_follow_is_refused(settings, words):
    with pytest.raises(BadInput, match=words):
        replace(SMALL, **settings)
    assert SMALLEST_TARGET == NO_TARGET


def test_auto_takes_the_cheapest_exact_engine_and_says_which():
    assert resolve(SMALL).engine == "gram"
    assert resolve(replace(SMALL, method="adam")).engine == "weights"
    assert resolve(replace(SMALL, probes="neurons")).engine == "gram"
    many = replace(SMALL, method="momentum", m=512)
    assert resolve(many).engine == "gram"
    assert resolve(replace(many, probes="neurons")).engine == "weights"
    assert resolve(replace(SMALL, method="descent", m=16)).engine == "weights"
    assert resolve(replace(SMALL, method="descent", m=512)).engine == "gram"
    assert resolve(replace(SMALL, m=2**20)).initial == "bartlett"
    assert resolve(SMALL).d == 3 + 20
    # Weights would be cheaper, but are never the mean.
    mean = resolve(replace(SMALL, method="descent", m=16, initial="mean"))
    assert (mean.engine, mean.initial) == ("gram", "mean")
    with pytest.raises(BadInput, match="initial=mean with engine=weights, method=adam"):
        resolve(replace(SMALL, method="adam", initial="mean"))
    with pytest.raises(BadInput, match="close under adam"):
        resolve(replace(SMALL, method="adam", engine="gram"))


def test_engines_make_the_same_run():
    accurate = replace(SMALL, rtol=1e-10)
    grams = train(accurate).values
    on_weights = train(replace(accurate, engine="weights")).values
    for name in ("loss", "scores", "signal_outputs", "coefficients", "test_loss", "unseen_margins"):
        np.testing.assert_allclose(grams[name], on_weights[name], rtol=1e-7, atol=1e-9)
    assert grams["T1_every_sample"] == pytest.approx(on_weights["T1_every_sample"], rel=1e-7)
    np.testing.assert_array_equal(grams["words"], on_weights["words"])


def test_engines_make_the_same_run_with_momentum():
    cell = replace(SMALL, method="momentum", steps=300, records=20, learning_rate=0.05)
    grams, on_weights = (train(replace(cell, engine=e)).values for e in ("gram", "weights"))
    assert grams["loss"][-1] < 0.9 * grams["loss"][0]
    for name in ("loss", "scores", "test_loss"):
        np.testing.assert_allclose(grams[name], on_weights[name], rtol=1e-9, atol=1e-12)


def test_controls_are_paired_and_do_what_they_say():
    plain = train(SMALL).values
    frozen = train(replace(SMALL, attention="frozen")).values
    shuffled = train(replace(SMALL, labels="shuffled")).values
    np.testing.assert_array_equal(plain["words"], frozen["words"])
    np.testing.assert_array_equal(plain["words"], shuffled["words"])
    assert (plain["labels"] != shuffled["labels"]).any()
    assert sorted(plain["labels"]) == sorted(shuffled["labels"])
    assert np.ptp(frozen["scores"], axis=0).max() == 0
    assert np.ptp(plain["scores"], axis=0).max() > 0
    np.testing.assert_array_equal(plain["scores"][0], frozen["scores"][0])


def test_a_run_is_the_same_bits_again_and_another_seed_is_another_run():
    first, again, other = train(SMALL).values, train(SMALL).values, train(SMALL, 1).values
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])
    assert (first["loss"] != other["loss"]).any()


def test_the_flow_stops_at_the_target_loss():
    result = train(replace(SMALL, target_loss=0.2, horizon=1e5))
    assert result.diverged == ""
    assert result.values["loss"].min() > 0.2
    assert result.values["times"][-1] < result.values["end_time"] < 1e5


def test_a_run_that_diverges_says_so():
    cell = replace(SMALL, method="descent", learning_rate=1e6, steps=50)
    result = train(cell)
    assert "infinite or nan" in result.diverged or result.values["loss"][-1] > 10
