"""What the engines on words are exact for: each condition from both sides."""

import jax
import pytest

from attnlab.data import word_exactness
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.engines import gram, gram_neurons, symmetric, symmetric_words, word_weights
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes

GRAM = {"method": "flow", "probes": "words", "weights": "theory", "initial": "weights"}
SIZES = {"d": 20, "m": 40, "m1": 8}


def test_any_rule_on_weights_and_linear_ones_on_grams():
    for method in ("flow", "descent", "momentum", "adam"):
        asked = {**GRAM, "method": method}
        assert word_exactness.weights_why_not(**asked) == ""
        for probes in ("words", "neurons"):
            reason = word_exactness.gram_why_not(**{**asked, "probes": probes}, **SIZES)
            closes = method in ("flow", "descent") or (method, probes) == ("momentum", "words")
            assert (reason == "") == closes
            assert word_exactness.grams_close(method, neurons=probes == "neurons") == closes
            assert reason == "" or reason.endswith("take --engine weights")


def test_the_mean_has_neither_weights_nor_neurons():
    mean = {**GRAM, "initial": "mean"}
    assert word_exactness.gram_why_not(**mean, **SIZES) == ""
    assert "initial=mean" in word_exactness.weights_why_not(**mean)
    assert "initial=mean" in word_exactness.gram_why_not(**{**mean, "probes": "neurons"}, **SIZES)


@pytest.mark.parametrize("weights", ["theory", "kaiming_normal", "kaiming_uniform"])
def test_bartlett_needs_normal_weights_and_room(weights):
    asked = {**GRAM, "initial": "bartlett", "weights": weights}
    normal = weights != "kaiming_uniform"
    assert (word_exactness.gram_why_not(**asked, **SIZES) == "") == normal
    assert word_exactness.weights_why_not(**asked) != ""
    if normal:
        narrow = word_exactness.gram_why_not(**asked, d=20, m=39, m1=8)
        assert "m=39" in narrow
        assert "m >= 40" in narrow
        neurons = {**asked, "probes": "neurons"}
        assert word_exactness.gram_why_not(**neurons, d=20, m=41, m1=20) == ""
        assert "m > 40" in word_exactness.gram_why_not(**neurons, d=20, m=40, m1=20)


def test_classes_of_words_need_every_word_in_a_sample():
    assert word_exactness.unused_words_why_not(23, 20) == ""
    reason = word_exactness.unused_words_why_not(24, 20)
    assert "d=24, that is 21 random words" in reason
    assert "d=23 or d=0" in reason


def test_engines_ask_the_same_of_arrays():
    batch = BalancedTrainingSet(23, 4).sample(jax.random.key(0), 12)
    sizes, scheme = LinearMLPSizes(d=23, L=4, m=46, m1=30), Initialisation()
    for engine in (word_weights, gram, gram_neurons):
        assert engine.why_not(sizes, batch, scheme) == ""
    assert "engine=weights" in word_weights.why_not(sizes, batch, scheme, initial="bartlett")
    assert gram.why_not(sizes, batch, scheme, initial="bartlett") == ""
    assert "m > 53" in gram_neurons.why_not(sizes, batch, scheme, initial="bartlett")
    assert "adam" in gram.why_not(sizes, batch, scheme, method="adam")
    assert gram.why_not(sizes, batch, scheme, method="momentum") == ""
    assert "momentum" in gram_neurons.why_not(sizes, batch, scheme, method="momentum")


def test_engines_say_whether_their_state_is_the_weights():
    assert word_weights.Weights.state_is_weights
    reduced = (gram.Gram, gram_neurons.GramWithNeurons, symmetric.Symmetric)
    for engine in (*reduced, symmetric_words.SymmetricOnWords):
        assert not engine.state_is_weights
