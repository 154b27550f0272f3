"""Attention trained, frozen and uniform: what scores are multiplied by, and how fast they learn."""

import jax
import numpy as np
import pytest

from attnlab.data.batch import Batch
from attnlab.engines.table import start
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.training.attention import GAIN_AND_RATE
from attnlab.training.descent import PlainStep, descend

KEY = jax.random.key(5)
RANDOM = np.random.default_rng(3)
BATCH = Batch.of(RANDOM.normal(size=(6, 4, 5)), [1, -1] * 3)
MODELS = (ShallowViT(neurons=8), LinearMLPTransformer(width=12, neurons=4))


def test_the_two_numbers():
    """A gain is 1 or 0, and so is a rate: attention that does not look cannot learn."""
    assert GAIN_AND_RATE == {"trained": (1, 1), "frozen": (1, 0), "uniform": (0, 0)}


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("attention", GAIN_AND_RATE)
def test_only_trained_attention_moves(model, attention):
    engine, state = start(model, BATCH, KEY, engine="autodiff", attention=attention)
    end = descend(engine, state, PlainStep(0.1), np.array([0, 3])).state
    for name, before, after in zip(state._fields, state, end, strict=True):
        moved = bool((np.asarray(before) != np.asarray(after)).any())
        assert moved == (attention == "trained" or name not in model.attention_names), name


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_uniform_attention_is_that_of_equal_scores(model):
    """Whatever keys and queries are; frozen attention looks through them."""
    weights = model.init(KEY, BATCH)
    changed = weights._replace(trained=weights.trained._replace(W_K=weights.trained.W_K * 3 + 1))
    outputs = {}
    for attention, (gain, _) in GAIN_AND_RATE.items():
        outputs[attention] = [
            np.asarray(model.apply(w, BATCH.tokens, BATCH.kept, gain)) for w in (weights, changed)
        ]
    np.testing.assert_allclose(*outputs["uniform"], rtol=1e-12)
    assert np.abs(outputs["frozen"][0] - outputs["frozen"][1]).max() > 1e-8
