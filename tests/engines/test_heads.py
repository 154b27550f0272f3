"""The shared engine, its arithmetic and the groups of heads by one head at a time in numpy."""

import math

import equinox as eqx
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.stats import norm

from attnlab.cells import Key
from attnlab.data.batch import Batch
from attnlab.engines import collapsed_heads, explicit_heads, heads_arithmetic
from attnlab.engines.factored_heads import FactoredHeads, Factors, scaled_columns
from attnlab.engines.heads import HeadsEngine
from attnlab.models.multihead import Heads
from attnlab.numerics.random import stream_key

T, D, GROUPS = 2, 3, 2
COUNTS = np.array([5.0, 2.0])
OUTPUTS = ("full", "pooled", "last")
RANDOM = np.random.default_rng(0)
TOKENS = RANDOM.normal(size=(4, T, D))
LABELS = np.array([1.0, -1, -1, 1])
WEIGHTS = np.array([0.1, 0.4, 0.3, 0.2])


def shape(output: str) -> tuple[int, ...]:
    return (GROUPS, T, D) if output == "full" else (GROUPS, D)


def engine_of(output: str) -> tuple[HeadsEngine, Heads]:
    """Two groups of 5 and 2 heads away from their start."""
    random = np.random.default_rng(1)
    start, move = (
        Heads(*(jnp.asarray(random.normal(size=s)) for s in (shape(output), (GROUPS, D, D))))
        for _ in range(2)
    )
    arrays = map(jnp.asarray, (TOKENS, LABELS, WEIGHTS, COUNTS, 7.0))
    return HeadsEngine(*arrays, start, output), move  # type: ignore[arg-type]


@eqx.filter_jit
def everything(engine: HeadsEngine, move: Heads):
    step = engine.step(move, jnp.asarray(0.5))
    return engine.loss_and_field(move), engine.loss(move), engine.margins(move), step


@pytest.mark.parametrize("output", OUTPUTS)
def test_loss_field_and_step(plain, output):
    engine, move = engine_of(output)
    U, W = (np.asarray(a + b) for a, b in zip(engine.start, move, strict=True))

    def loss(U, W):
        return plain.loss(U, W, COUNTS, 7.0, TOKENS, LABELS, WEIGHTS, output)

    (value, field), alone, found, (before, after) = everything(engine, move)
    assert float(value) == pytest.approx(loss(U, W), rel=1e-12)
    assert float(alone) == pytest.approx(loss(U, W), rel=1e-12)
    margins = [
        y * plain.model(U, W, COUNTS, 7.0, X, output) for X, y in zip(TOKENS, LABELS, strict=True)
    ]
    np.testing.assert_allclose(found, margins, rtol=1e-12)
    # The gradient of one head of a group is that of the group over its number of heads.
    of_U = plain.gradient(lambda x: loss(x, W), U)
    of_W = plain.gradient(lambda x: loss(U, x), W)
    for g in range(GROUPS):
        np.testing.assert_allclose(field.U[g], -of_U[g] / COUNTS[g], atol=1e-9)
        np.testing.assert_allclose(field.W[g], -of_W[g] / COUNTS[g], atol=1e-9)
    assert float(before) == pytest.approx(loss(U, W), rel=1e-12)
    for new, old, slope in zip(after, move, field, strict=True):
        np.testing.assert_allclose(new, np.asarray(old) + 0.5 * np.asarray(slope), rtol=1e-12)
    view = engine.view(move)
    np.testing.assert_array_equal(view.heads.U, U)
    np.testing.assert_array_equal(view.moved.W, move.W)
    np.testing.assert_allclose(view.shares, COUNTS / math.sqrt(7))
    assert not any(np.asarray(x).any() for x in engine.zero())


def test_arithmetic_counts_every_head():
    engine, x = engine_of("full")
    y = engine.start
    expected = sum(
        COUNTS[g] * (np.sum(x.U[g] * y.U[g]) + np.sum(x.W[g] * y.W[g])) for g in range(GROUPS)
    )
    assert float(heads_arithmetic.inner(x, y, engine)) == pytest.approx(float(expected), rel=1e-12)
    squares = sum(COUNTS[g] * (np.sum(x.U[g] ** 2) + np.sum(x.W[g] ** 2)) for g in range(GROUPS))
    assert float(heads_arithmetic.length(x, engine)) == pytest.approx(
        float(squares) ** 0.5, rel=1e-12
    )
    for ours, by in (
        (heads_arithmetic.plus(x, y), lambda a, b: a + b),
        (heads_arithmetic.minus(x, y), lambda a, b: a - b),
        (heads_arithmetic.scaled(x, 3.0), lambda a, b: 3 * a),
    ):
        for got, a, b in zip(ours, x, y, strict=True):
            np.testing.assert_allclose(got, by(np.asarray(a), np.asarray(b)))


@pytest.mark.parametrize("missing", [None, 0, 1])
def test_the_largest_decoder_is_of_a_head_that_is_there(missing):
    engine, x = engine_of("full")
    counts = COUNTS.copy()
    if missing is not None:
        counts[missing] = 0
    engine = eqx.tree_at(lambda e: e.counts, engine, jnp.asarray(counts))
    sizes = [np.linalg.norm(np.asarray(x.U[g] + engine.start.U[g])) for g in range(GROUPS)]
    expected = max(size for g, size in enumerate(sizes) if g != missing)
    assert float(heads_arithmetic.largest_decoder(x, engine)) == pytest.approx(float(expected))


@pytest.mark.parametrize("output", OUTPUTS)
def test_phase_1_by_differences_at_zero(plain, output):
    """A step of size alpha sqrt(H) from zero, H = 3 with signs +, +, -; W stays where it is."""
    H, alpha = 3, (1, 1, -1)
    size = (H, T, D) if output == "full" else (H, D)
    U, W = np.zeros(size), np.zeros((H, D, D))
    ones = np.ones(H)

    def loss(U, W):
        return plain.loss(U, W, ones, H, TOKENS, LABELS, WEIGHTS, output)

    step = -plain.gradient(lambda x: loss(x, W), U) * math.sqrt(H)
    assert np.abs(plain.gradient(lambda x: loss(U, x), W)).max() <= 1e-12
    v = collapsed_heads.first_phase_direction(TOKENS, LABELS, WEIGHTS)
    explicit = explicit_heads.phase_1_heads(jnp.asarray(v), jnp.asarray([2.0, 1.0]), H, T, output)
    points = Batch.weighted(TOKENS, LABELS, WEIGHTS)
    collapsed = collapsed_heads.engine(points, jnp.asarray(v), jnp.asarray([2.0, 1.0]), output)
    assert float(collapsed.H) == 3
    for h in range(H):
        np.testing.assert_allclose(explicit.U[h], alpha[h] * step[h], atol=1e-10)
        group = 0 if alpha[h] > 0 else 1
        np.testing.assert_array_equal(collapsed.start.U[group], explicit.U[h])
    assert not np.asarray(explicit.W).any()
    assert not np.asarray(collapsed.start.W).any()


@pytest.mark.parametrize("H", [1, 2, 5, 8])
def test_signs_are_the_quantiles_of_a_binomial(H):
    """The share of uniform numbers that give k heads of sign +1 is C(H, k)/2^H."""
    uniforms = (np.arange(2**H) + 0.5) / 2**H
    drawn = [collapsed_heads.head_counts(float(u), H, False) for u in uniforms]
    assert all(sum(counts) == H for counts in drawn)
    found = [sum(counts[0] == k for counts in drawn) for k in range(H + 1)]
    assert found == [math.comb(H, k) for k in range(H + 1)]
    assert tuple(collapsed_heads.head_counts(0.1, H, True)) == (H - H // 2, H // 2)


def test_signs_of_more_heads_than_can_be_counted_are_normal():
    H = 1e14
    for u in (0.01, 0.3, 0.9):
        plus, minus = collapsed_heads.head_counts(u, H, False)
        assert plus + minus == H
        assert norm.cdf((plus - H / 2) / (math.sqrt(H) / 2)) == pytest.approx(u, rel=1e-6)
    below, above = (collapsed_heads.head_counts(0.9, H, False)[0] for H in (1e12, 1.0001e12))
    assert above / below == pytest.approx(1.0001, rel=1e-6)


@pytest.mark.parametrize("output", OUTPUTS)
def test_random_and_zero_heads(output):
    """U_h of length about the scale and W_h of entries with deviation scale/d."""
    heads, scale = 4000, 1.7
    drawn = explicit_heads.random_heads(stream_key(Key("{}", 0), "x"), heads, T, D, scale, output)
    zero = explicit_heads.zero_heads(heads, T, D, output)
    for made in (drawn, zero):
        assert made.U.shape == (heads, *shape(output)[1:])
        assert made.W.shape == (heads, D, D)
    assert not any(np.asarray(x).any() for x in zero)
    squares = (np.asarray(drawn.U) ** 2).reshape(heads, -1).sum(axis=1)
    assert squares.mean() == pytest.approx(scale**2, rel=0.05)
    assert np.asarray(drawn.W).std() == pytest.approx(scale / D, rel=0.02)
    assert abs(np.asarray(drawn.W).mean()) <= 0.02
    points = Batch.weighted(TOKENS, LABELS, WEIGHTS)
    engine = explicit_heads.engine(points, drawn, output)
    assert float(engine.H) == heads
    assert np.asarray(engine.counts).tolist() == [1.0] * heads


# --- factors ------------------------------------------------------------------------------------


@pytest.mark.parametrize("free", [0.0, 1.0])
def test_factors_move_down_the_loss(plain, free):
    engine, move = engine_of("full")
    random = np.random.default_rng(2)
    Q, K = random.normal(size=(2, GROUPS, D, D))
    factored = FactoredHeads(engine, jnp.asarray(Q), jnp.asarray(free))
    state = Factors(move.U, *map(jnp.asarray, (Q, K, 2.0, -0.5)))
    U, start_W = np.asarray(engine.start.U + move.U), np.asarray(engine.start.W)

    def loss(U, Q, K):
        W = start_W + np.array([q @ k.T for q, k in zip(Q, K, strict=True)])
        return plain.loss(U, W, COUNTS, 7.0, TOKENS, LABELS, WEIGHTS)

    by_count = COUNTS[:, None, None]
    slopes = {
        "U": -plain.gradient(lambda x: loss(x, Q, K), U) / by_count,
        "Q": -(1 - free) * plain.gradient(lambda x: loss(U, x, K), Q) / by_count,
        "K": -plain.gradient(lambda x: loss(U, Q, x), K) / by_count,
    }
    value, after = eqx.filter_jit(factored.step)(state, jnp.asarray(0.5))
    assert float(value) == pytest.approx(loss(U, Q, K), rel=1e-12)
    for name, slope in slopes.items():
        moved = np.asarray(getattr(after, name)) - np.asarray(getattr(state, name))
        np.testing.assert_allclose(moved, 0.5 * slope, atol=1e-9)
    assert float(after.before) == float(value)
    assert float(after.rise) == pytest.approx(max(-0.5, float(value) / 2.0 - 1))
    smaller = eqx.filter_jit(factored.step)(state._replace(rise=jnp.asarray(0.7)), jnp.asarray(0.5))
    assert float(smaller[1].rise) == max(0.7, float(value) / 2.0 - 1)
    np.testing.assert_array_equal(factored.view(state).moved.W, factored.moves(state).W)


def test_factors_start_at_a_free_W():
    engine, _ = engine_of("full")
    normal = np.random.default_rng(3).normal(size=(2000, D, D))
    Q = scaled_columns(normal, 2)
    assert not Q[..., 2].any()
    np.testing.assert_allclose(Q[..., :2], normal[..., :2] / math.sqrt(2))
    # The mean of Q Q' is the unit matrix, so that W moves on average as a free one does.
    np.testing.assert_allclose(np.mean(Q @ np.swapaxes(Q, 1, 2), axis=0), np.eye(D), atol=0.1)
    begin = FactoredHeads(engine, jnp.asarray(Q[:2]), jnp.asarray(0.0)).start()
    assert not any(np.asarray(x).any() for x in (begin.U, begin.K))
    np.testing.assert_array_equal(begin.Q, Q[:2])
    assert (float(begin.before), float(begin.rise)) == (math.inf, -math.inf)
