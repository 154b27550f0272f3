"""Several heads: one head is the paper's network; more are networks of its kind added up."""

import math
from dataclasses import replace

import jax
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.data.word_cooccurrence import Role
from attnlab.models.linear_mlp_initialisation import Initialisation, initialise
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.papers.yang2024.runs import heads, training
from attnlab.papers.yang2024.settings import TrainingSettings
from attnlab.papers.yang2024.settings.heads import HeadSettings
from attnlab.papers.yang2024.studies.resolving import resolve

CELL = HeadSettings(n=12, L=4, m=24, m1=5, c0=0.8, steps=40, learning_rate=0.01)


def test_one_head_is_the_papers_network():
    mine = heads.train_heads(CELL, Key("{}", 3)).values
    same = resolve(TrainingSettings(
        n=12, L=4, m=24, m1=5, c0=0.8, steps=40, learning_rate=0.01, method="descent",
        engine="weights", records=heads.RECORDS,
    ))  # fmt: skip
    theirs = training.train(same, Key("{}", 3)).values
    assert list(mine["times"]) == list(theirs["times"])
    for name in ("loss", "smallest_margin", "test_loss", "attention_change"):
        np.testing.assert_allclose(mine[name], theirs[name], rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(mine["scores"][:, 0], theirs["scores"], rtol=1e-9, atol=1e-12)
    assert mine["T1_every_sample"] == pytest.approx(theirs["T1_every_sample"], nan_ok=True)


def test_the_output_by_loops_over_heads():
    sizes = LinearMLPSizes(d=9, L=4, m=12, m1=3)
    whole, a = initialise(jax.random.key(0), sizes, Initialisation(c0=3.0))
    words = np.array([[0, 3, 2, 5], [8, 1, 2, 0]])
    W, W_V, W_K, W_Q = (np.asarray(x) for x in whole)
    expected = []
    for sample in words:
        F = 0.0
        for h in range(3):
            rows = slice(4 * h, 4 * h + 4)
            for query in sample:
                scores = [W_K[rows, k] @ W_Q[rows, query] / math.sqrt(4) for k in sample]
                p = np.exp(scores) / np.exp(scores).sum()
                seen = sum(x * W_V[rows, k] for x, k in zip(p, sample, strict=True))
                F += sum(a[j] * (W[j, rows] @ seen) for j in range(3))
        expected.append(F)
    got = heads.outputs(heads.split(whole, 3), a, words)
    np.testing.assert_allclose(got, expected, rtol=1e-12)


def test_scores_are_counted_in_every_head_and_frozen_ones_stay():
    values = heads.train_heads(replace(CELL, heads=4), Key("{}", 1)).values
    moved = values["scores"][-1] - values["scores"][0]
    assert moved.shape == (4, 3, 3)
    signed = [moved[:, 1, 0], moved[:, 0, 1], -moved[:, 2, 0], -moved[:, 2, 1]]
    assert values["least_score_change"] == pytest.approx(np.min(signed))
    frozen = heads.train_heads(replace(CELL, heads=4, attention="frozen"), Key("{}", 1)).values
    assert frozen["least_score_change"] == 0
    assert frozen["loss"][-1] < frozen["loss"][0]
    uniform = heads.train_heads(replace(CELL, heads=4, attention="uniform"), Key("{}", 1)).values
    assert uniform["attention_moved"] == 0
    assert uniform["loss"][-1] != frozen["loss"][-1]
    assert frozen["attention_moved"] < 1e-15 < 1e-9 < values["attention_moved"]


def test_words_in_a_chain():
    random = np.random.default_rng(0)
    words = np.tile([0, 3, 2, 7, 5], (400, 1))
    roles = np.tile([Role.FIRST_SIGNAL, 0, Role.COMMON, 0, 0], (400, 1))
    always = heads.in_chains(words, roles, 10, 1.0, random)
    assert (always == [0, 3, 2, 4, 5]).all()
    assert (heads.in_chains(words, roles, 10, 0.0, random) == words).all()
    wrapped = heads.in_chains(np.array([[9, 4]]), np.array([[0, 0]]), 10, 1.0, random)
    assert wrapped.tolist() == [[9, 3]]
    often = heads.in_chains(words, roles, 10, 0.25, random)
    assert (often[:, 3] == 4).mean() == pytest.approx(0.25, abs=0.07)


def test_a_chain_is_in_the_training_set_only_where_it_is_asked_for():
    cell = replace(CELL, d=9, chain=1.0)
    batch = heads.training_set(cell, Key("{}", 0))
    words, roles = np.asarray(batch.words), np.asarray(batch.roles)
    for sample, role in zip(words, roles, strict=True):
        own = sample[role == Role.RANDOM]
        assert ((np.diff(own) == 1) | (np.diff(own) == -5)).all()
    plain = np.asarray(heads.training_set(CELL, Key("{}", 0)).words)
    assert len(np.unique(plain[plain > 2])) == (plain > 2).sum()


@pytest.mark.parametrize(("changes", "words"), [
    ({"heads": 5}, "divides m"), ({"heads": 0}, "divides m"), ({"chain": 1.5}, "from 0 to 1"),
    ({"d": 9}, "give d=0"), ({"learning_rate": 0.0}, "positive"), ({"n": 13}, "divisible by 6"),
])  # fmt: skip
def test_what_cannot_be_is_refused(changes, words):
    with pytest.raises(BadInput, match=words):
        replace(CELL, **changes)
