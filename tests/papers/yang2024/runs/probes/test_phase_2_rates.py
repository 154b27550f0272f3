"""Rates of the softmax as derivatives, and what samples see, by a second route."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.word_cooccurrence import (
    BalancedTrainingSet,
)
from attnlab.models.word_level import WordView, attention
from attnlab.papers.yang2024.runs.probes.phase_2 import sample_side, score_rates, score_side
from attnlab.probes.context import Context


@pytest.fixture
def context() -> tuple[WordView, Context]:
    noise = np.random.default_rng(3)
    d = 31
    batch = BalancedTrainingSet(d, 4).sample(jax.random.key(0), 12)
    root = noise.normal(size=(3, 40, d)) / 6
    K, Q, V = (jnp.asarray(x.T @ x) for x in root)
    view = WordView(
        G=jnp.asarray(noise.normal(size=d)),
        rho=jnp.asarray(50.0),
        V=V,
        S=jnp.asarray(root[0].T @ root[1]),
        K=K,
        Q=Q,
        A=jnp.asarray(64.0),
        score_scale=jnp.asarray(0.4),
    )
    return view, Context(batch, view)


def test_softmax_rates_are_derivatives(context):
    view, args = context
    found = score_side(jnp.asarray(0.0), view, args)
    rates, h = score_rates(view, args), 1e-5
    words, roles = np.asarray(args.batch.words), np.asarray(args.batch.roles)
    moved = [
        np.asarray(attention(replace(view, S=view.S + sign * h * rates), args.batch.words))
        for sign in (1, -1)
    ]
    slope = (moved[0] - moved[1]) / (2 * h)
    for key in range(3):
        for query in range(3):
            values = [
                slope[i, q, k]
                for i in range(len(words))
                for q in range(4)
                for k in range(4)
                if words[i, q] == query and words[i, k] == key
            ]
            got = float(found["softmax_rates"][key, query])
            assert got == pytest.approx(np.mean(values), rel=1e-5, abs=1e-9)
    to_random = max(
        abs(slope[i, q, k])
        for i in range(len(words))
        for q in range(4)
        for k in range(4)
        if words[i, q] in (0, 1) and roles[i, k] == 0
    )
    assert float(found["largest_random_softmax_rate"]) == pytest.approx(to_random, rel=1e-5)


def test_curvature_and_weighted_margin(context):
    view, args = context
    found = sample_side(jnp.asarray(0.0), view, args)
    margins, types = np.asarray(args.margins(view)), np.asarray(args.batch.types)
    g = 1 / (1 + np.exp(margins))
    for kind in range(1, 5):
        expected = np.mean([x * (1 - x) for x, t in zip(g, types, strict=True) if t == kind])
        assert float(found["curvature_by_type"][kind - 1]) == pytest.approx(expected)
    assert float(found["mean_weighted_margin"]) == pytest.approx(np.mean(g * margins))
