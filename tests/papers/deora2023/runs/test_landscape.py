"""Segments and the global margin: the same points in loops, and another optimiser."""

import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.optimize import minimize

from attnlab.cells import Key
from attnlab.engines import collapsed_heads
from attnlab.numerics.random import normal, stream_key
from attnlab.papers.deora2023.runs import landscape
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings import GlobalMarginSettings, SegmentSettings

T, D, S = 2, 3, 1.3
CELL = SegmentSettings(T=T, d=D, M=1, S=S, n=4, n1=16, H=3.0)
COUNTS = np.array([2.0, 1.0])


def key(cell) -> Key:
    return Key.of(cell, 1)


def beta_3(m: float) -> float:
    return math.sqrt(T) * S**3 * (2 * S**2 * m + 1)


def length(x) -> float:
    squares = [(x[0][g] ** 2).sum() + (x[1][g] ** 2).sum() for g in range(2)]
    return math.sqrt(COUNTS @ squares)


def longest(x) -> float:
    return max(np.linalg.norm(x[0][g]) for g in range(2))


def on_the_way(plain, drawn, begin, end) -> tuple[float, float, float]:
    """Growth over 401 points of a segment, (18) at its ends, and the first loss."""
    losses = []
    for k in range(401):
        U, W = (a + k / 400 * (b - a) for a, b in zip(begin, end, strict=True))
        losses.append(plain.loss(U, W, COUNTS, 3.0, drawn.tokens, drawn.labels, drawn.weights))
    gap = [b - a for a, b in zip(begin, end, strict=True)]
    m = max(longest(begin), longest(end))
    close = 2 * beta_3(m) * length(gap) ** 2 / math.sqrt(3)
    return max(losses) / max(losses[0], losses[-1]), close, losses[0]


def test_segments_as_long_as_18_allows(plain):
    values = landscape.segments(CELL, key(CELL)).values
    drawn = draw(CELL, key(CELL))
    engine = collapsed_heads.engine(drawn.train, jnp.asarray(drawn.v), jnp.asarray(COUNTS))
    state, step = engine.zero(), eqx.filter_jit(engine.step)
    for _ in range(400):
        _, state = step(state, jnp.asarray(1.0))
    _, uphill = engine.loss_and_field(state)
    start = [np.asarray(x) for x in engine.start]
    trained = [np.asarray(x) for x in engine.parameters(state)]
    of_U, of_W = jax.random.split(stream_key(key(CELL), "directions"))
    random = (
        np.asarray(normal(of_U, (32, 2, T, D), 1.0)),
        np.asarray(normal(of_W, (32, 2, D, D), 1.0)),
    )
    found = []
    for k in range(32):
        begin = trained if k % 2 == 0 else start
        way = [random[0][k], random[1][k]] if k else [-np.asarray(x) for x in uphill]
        way = [x / length(way) for x in way]

        def ends(r, begin=begin, way=way):
            return [a + r * b for a, b in zip(begin, way, strict=True)]

        low, high = 0.0, 10.0
        for _ in range(100):
            r = (low + high) / 2
            m = max(longest(begin), longest(ends(r)))
            low, high = (r, high) if 2 * beta_3(m) * r**2 < math.sqrt(3) else (low, r)
        found.append(on_the_way(plain, drawn, begin, ends(low)))
    growth, close, first = np.array(found).T
    expected = {
        "growth": growth.max(),
        "growth_over_bound": growth.max() * 3 / 4,
        "closeness_18": 1.0,
        "least_closeness_18": 1.0,
        "trained_loss": first.min(),
    }
    np.testing.assert_allclose(close, 1, rtol=1e-9)
    assert values == pytest.approx(expected, rel=1e-7)


def test_exchanged_heads(plain):
    cell = replace(CELL, pair="exchanged")
    values = landscape.segments(cell, key(cell)).values
    drawn = draw(cell, key(cell))
    U = np.zeros((T, D))
    U[:, 0], U[:, 1] = 5 / S, -5 / S
    W = np.zeros((D, D))
    W[0, 0] = W[1, 1] = W[2, 0] = W[2, 1] = 0.5
    W *= 8 * math.sqrt(4) / (3 * S**2) * math.log((1 / 0.5 - 1) / 0.1)
    pair = [np.array([U, -U]), np.array([W, -W])]
    other = [-x for x in pair]
    growth, close, first = on_the_way(plain, drawn, pair, other)
    assert growth <= values["growth"] <= growth * (1 + 1e-5)  # golden sections beat 401 points
    assert values["closeness_18"] == pytest.approx(close, rel=1e-10)
    assert values["trained_loss"] == pytest.approx(first, rel=1e-10)
    assert growth > 4 / 3


def test_the_global_margin_by_another_optimiser(plain):
    """The largest smallest margin of two heads of length sqrt 2, by SLSQP from two places."""
    cell = GlobalMarginSettings(T=T, d=D, M=1, S=S, points="atoms", n=4, n1=0, H=2, steps=600)
    values = landscape.global_margin(cell, key(cell)).values
    drawn = draw(cell, key(cell))

    def outputs(x):
        U, W = x[: 2 * T * D].reshape(2, T, D), x[2 * T * D :].reshape(2, D, D)
        pairs = zip(drawn.tokens, drawn.labels, strict=True)
        return np.array([y * plain.model(U, W, np.ones(2), 2, X) for X, y in pairs])

    best = 0.0
    random = np.random.default_rng(0)
    for _ in range(2):
        x = random.normal(size=2 * (T * D + D * D))
        x *= math.sqrt(2) / np.linalg.norm(x)
        done = minimize(
            lambda z: -z[-1], np.r_[x, outputs(x).min()], method="SLSQP",
            constraints=[
                {"type": "ineq", "fun": lambda z: outputs(z[:-1]) - z[-1]},
                {"type": "eq", "fun": lambda z: z[:-1] @ z[:-1] - 2},
            ],
            options={"maxiter": 200, "ftol": 1e-10},
        )  # fmt: skip
        x = done.x[:-1] * math.sqrt(2) / np.linalg.norm(done.x[:-1])
        best = max(best, outputs(x).min())
    assert values["global_margin"] == pytest.approx(best, rel=0.01)
    assert 0 <= values["restart_spread"] < best
    attention = S * math.sqrt(T / 2)
    assert values["global_over_attention"] == pytest.approx(values["global_margin"] / attention)
    assert values["global_over_tangent"] == pytest.approx(
        values["global_margin"] / values["tangent_margin"]
    )
    # Without attention moved, y <U, mean> with |U| = sqrt 2 has the margin S sqrt(T) zeta.
    assert values["tangent_margin"] >= S * math.sqrt(T) * 0.5 * (1 - 1e-9)
    longer = landscape.global_margin(replace(cell, length=4.0), key(cell)).values
    assert longer["global_margin"] > 2.5 * values["global_margin"]
