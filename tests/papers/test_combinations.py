"""The runs on combinations, each against a plain second computation."""

from dataclasses import replace

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import Key
from attnlab.engines import explicit_heads
from attnlab.engines.autodiff import on_batch
from attnlab.engines.table import start
from attnlab.models.linear_mlp_model import LinearMLPTransformer
from attnlab.models.multihead_initialisation import phase_1_heads
from attnlab.models.shallow_vit_model import ShallowViT
from attnlab.numerics.random import stream_key
from attnlab.papers.deora2023.runs.combinations import move
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings.combinations import OptimiserSettings
from attnlab.papers.li2023.runs import combinations as of_li
from attnlab.papers.li2023.settings.mixture import MixtureVoteSettings
from attnlab.papers.yang2024.runs import combinations as of_yang
from attnlab.papers.yang2024.settings.vote import PatternVoteSettings
from attnlab.training.losses import LOSSES


def test_adam_moves_heads_as_its_printed_rule_says():
    cell = OptimiserSettings(heads=4, K=6, n=12, n1=64)
    key = Key.of(cell, 5)
    drawn = draw(cell, key)
    first = phase_1_heads(jnp.asarray(drawn.v), jnp.asarray([2, 2]), 4, cell.T, "full")
    engine = explicit_heads.engine(drawn.train, first)
    state = [np.zeros_like(x) for x in engine.zero()]
    mean, square = ([np.zeros_like(x) for x in state] for _ in range(2))
    for t in range(1, cell.K + 1):
        _, field = engine.loss_and_field(type(first)(*map(jnp.asarray, state)))
        for k, g in enumerate(-np.asarray(x) for x in field):
            mean[k] = 0.9 * mean[k] + 0.1 * g
            square[k] = 0.999 * square[k] + 0.001 * g**2
            unbiased = mean[k] / (1 - 0.9**t), square[k] / (1 - 0.999**t)
            state[k] = state[k] - cell.rate * unbiased[0] / (np.sqrt(unbiased[1]) + 1e-8)
    moved = np.sqrt(sum((x**2).sum() for x in state))
    assert move(cell, key).values["moved"] == pytest.approx(moved, rel=1e-6)


def test_attention_gained_is_that_of_a_plain_loop():
    cell = MixtureVoteSettings(N=8, m=6, steps=12)
    key = Key.of(cell, 5)
    batch = of_li._samples(cell, key)
    engine, state = start(
        ShallowViT(neurons=6), batch, stream_key(key, "init"), scheme="gaussian", loss="hinge",
        engine="autodiff",
    )  # fmt: skip
    paid = [_paid(state, batch)]
    for _ in range(cell.steps):
        _, state = engine.step(state, jnp.asarray(cell.eta))
    paid.append(_paid(state, batch))
    found = of_li.attend(cell, key).values
    assert found["before"] == pytest.approx(paid[0], rel=1e-9)
    assert found["gain"] == pytest.approx(paid[1] - paid[0], rel=1e-6)


def _paid(weights, batch) -> float:
    W_K, W_Q = np.asarray(weights.W_K)[0], np.asarray(weights.W_Q)[0]
    rows = []
    for X, roles in zip(np.asarray(batch.tokens), np.asarray(batch.roles), strict=True):
        for x in X:
            p = np.exp(X @ W_K.T @ (W_Q @ x))
            rows.append((p / p.sum())[roles == 1].sum())
    return float(np.mean(rows))


def test_shuffled_labels_are_the_same_labels():
    cell = MixtureVoteSettings(N=16)
    true, shuffled = (
        of_li._samples(replace(cell, labels=labels), Key.of(cell, 5))
        for labels in ("true", "shuffled")
    )
    np.testing.assert_array_equal(true.tokens, shuffled.tokens)
    assert sorted(np.asarray(true.labels)) == sorted(np.asarray(shuffled.labels))
    assert (np.asarray(true.labels) != np.asarray(shuffled.labels)).any()


def test_the_linear_networks_error_is_that_of_a_plain_loop():
    cell = PatternVoteSettings(n=4, m=12, m1=4, neurons=6, steps=8)
    key = Key.of(cell, 5)
    source = of_yang._source(cell)
    train = source.sample(stream_key(key, "data"), cell.n, cell.L)
    test = source.sample(stream_key(key, "test"), of_yang.TEST_SAMPLES, cell.L)
    first = LinearMLPTransformer(12, 4).init(stream_key(key, "init"), train)
    engine, state = on_batch(LinearMLPTransformer(12, 4), train, first, loss=LOSSES["logistic"])
    for _ in range(cell.steps):
        _, state = engine.step(state, jnp.asarray(cell.learning_rate))
    W, W_V, W_K, W_Q = map(np.asarray, (state.W, state.W_V, state.W_K, state.W_Q))
    wrong = 0
    for X, y in zip(np.asarray(test.tokens), np.asarray(test.labels), strict=True):
        scores = (X @ W_Q.T) @ (X @ W_K.T).T / np.sqrt(12)
        p = np.exp(scores - scores.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        wrong += y * np.sum(p @ X @ W_V.T @ W.T @ np.asarray(first.fixed)) <= 0
    assert of_yang.vote(cell, key).values["linear_error"] == wrong / of_yang.TEST_SAMPLES
