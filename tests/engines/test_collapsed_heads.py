"""The two engines against each other and against the definition by autodiff and differences."""

from functools import cache

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.data.batch import Batch
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.token_mixture import TokenMixture
from attnlab.engines import collapsed_heads, explicit_heads
from attnlab.models.multihead import Heads, head_gradient, head_output, outputs
from attnlab.numerics.derivatives import directional_difference
from attnlab.numerics.random import normal, stream_key
from attnlab.training.descent import PlainStep, descend
from attnlab.training.losses import logistic

SIZES = MixtureSizes(T=4, d=6, M=2, S=1.3, zeta=0.5, Z_mu=0.1, Z_nu=0.1, Z=0.4)
OUTPUTS = ("full", "pooled", "last")


def key(name: str):
    return stream_key(Key("{}", 3), name)


@cache
def batch(n: int = 10):
    return TokenMixture.of(SIZES, "uniform").sample(key("data"), n)


def points():
    data = batch()
    return Batch.weighted(data.tokens, data.labels.astype(float), jnp.full(10, 0.1))


@cache
def random_heads(output: str, heads: int = 3) -> Heads:
    return explicit_heads.random_heads(key("heads"), heads, SIZES.T, SIZES.d, 3.0, output)


@pytest.mark.parametrize("output", OUTPUTS)
def test_lemma_1_three_ways(output):
    heads, X = random_heads(output), batch().tokens[0]
    u, W = heads.U[0], heads.W[0]
    direction = Heads(normal(key("u"), u.shape, 1.0), normal(key("w"), W.shape, 1.0))

    @jax.jit
    def three_ways(u, W, X):
        difference = directional_difference(
            lambda p: head_output(p.U, p.W, X, output), Heads(u, W), direction
        )
        automatic = jax.grad(head_output, argnums=(0, 1))(u, W, X, output)
        return head_gradient(u, W, X, output), automatic, difference

    stated, automatic, difference = three_ways(u, W, X)
    for ours, exact in zip(stated, automatic, strict=True):
        assert np.abs(ours - exact).max() <= 1e-12 * max(1, np.abs(exact).max())
    slope = sum(jnp.vdot(g, v) for g, v in zip(stated, direction, strict=True))
    assert abs(slope - difference.value) <= difference.error


@pytest.mark.parametrize("output", OUTPUTS)
def test_the_field_is_minus_the_gradient_of_the_loss(output):
    data = batch()
    engine = explicit_heads.engine(points(), random_heads(output), output)

    def loss(heads: Heads):
        shares = jnp.full(3, 3**-0.5)
        return logistic.value(data.labels * outputs(heads, shares, data.tokens, output)).mean()

    value, field = eqx.filter_jit(engine.loss_and_field)(engine.zero())
    exact_value, exact = jax.jit(jax.value_and_grad(loss))(engine.start)
    assert float(value) == pytest.approx(float(exact_value), rel=1e-13)
    for ours, automatic in zip(field, exact, strict=True):
        assert np.abs(ours + automatic).max() <= 1e-13


@pytest.mark.parametrize("output", OUTPUTS)
def test_phase_1_is_one_step_from_zero(output):
    data, heads = batch(), 4
    at_zero = explicit_heads.engine(
        points(), explicit_heads.zero_heads(heads, SIZES.T, SIZES.d, output), output
    )
    _, field = eqx.filter_jit(at_zero.loss_and_field)(at_zero.zero())
    alpha = np.array([1, 1, 1, -1])
    v = collapsed_heads.first_phase_direction(
        data.tokens, data.labels.astype(float), jnp.full(10, 0.1)
    )
    start = explicit_heads.phase_1_heads(v, jnp.array([3.0, 1.0]), heads, SIZES.T, output)
    stepped = alpha.reshape(-1, *(1,) * (field.U.ndim - 1)) * np.sqrt(heads) * field.U
    assert np.abs(stepped - start.U).max() <= 1e-15
    assert not np.asarray(field.W).any()


@pytest.mark.parametrize("output", ["full", "pooled"])
def test_collapsed_heads_are_the_explicit_ones_after_1000_steps(output):
    data, w = batch(), jnp.full(10, 0.1)
    v = collapsed_heads.first_phase_direction(data.tokens, data.labels.astype(float), w)
    counts = jnp.array([5.0, 2.0])
    small = collapsed_heads.engine(points(), v, counts, output)
    large = explicit_heads.engine(
        points(), explicit_heads.phase_1_heads(v, counts, 7, SIZES.T, output), output
    )
    ends = [
        descend(engine, engine.zero(), PlainStep(0.3), np.array([0, 1000]))
        for engine in (small, large)
    ]
    for collapsed, explicit in zip(ends[0].state, ends[1].state, strict=True):
        expanded = np.concatenate(
            [np.repeat(collapsed[:1], 5, axis=0), np.repeat(collapsed[1:], 2, axis=0)]
        )
        assert np.abs(expanded).max() > 0.1
        assert np.abs(expanded - explicit).max() <= 1e-12
    losses = [float(end.values["loss"][-1]) for end in ends]
    assert losses[0] == pytest.approx(losses[1], rel=1e-12)


def test_head_counts_are_fair_coins_or_balanced():
    uniforms = (np.arange(40) + 0.5) / 40
    drawn = np.array([collapsed_heads.head_counts(u, 1e8, False) for u in uniforms])
    assert (drawn.sum(axis=1) == 1e8).all()
    z = (drawn[:, 0] - 5e7) / 5e3
    assert 0.9 < z.std() < 1.1
    assert abs(z.mean()) < 1e-3
    assert tuple(collapsed_heads.head_counts(0.3, 7, True)) == (4.0, 3.0)
    assert {tuple(collapsed_heads.head_counts(u, 1, False)) for u in uniforms} == {(1, 0), (0, 1)}
