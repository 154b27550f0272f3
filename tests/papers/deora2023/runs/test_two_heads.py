"""Section 7's questions on two heads: low rank, other losses."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.engines import collapsed_heads
from attnlab.engines.factored_heads import FactoredHeads, Factors, scaled_columns
from attnlab.papers.deora2023.runs import two_heads
from attnlab.papers.deora2023.runs.samples import draw
from attnlab.papers.deora2023.settings import LossSettings, RankSettings
from attnlab.training.descent import PlainStep, descend
from attnlab.training.losses import ChosenLoss, exponential, heavy_tailed, logistic, squared

SMALL = RankSettings(T=2, d=4, M=1, n=6, n1=64, d_h=2, K=40)


def key(cell) -> Key:
    return Key.of(cell, 0)


def heads_engine(cell):
    drawn = draw(cell, key(cell))
    return collapsed_heads.engine(drawn.train, jnp.asarray(drawn.v), jnp.ones(2))


def factored(cell, d_h: int) -> FactoredHeads:
    normal = np.random.default_rng(0).normal(size=(2, cell.d, cell.d))
    return FactoredHeads(
        heads_engine(cell), jnp.asarray(scaled_columns(normal, d_h)), jnp.asarray(0.0)
    )


def test_the_field_of_the_factors_is_minus_the_gradient_of_the_loss():
    engine = factored(SMALL, SMALL.d)
    start = engine.start()
    random = np.random.default_rng(1)
    state = Factors(*(x + 0.3 * random.normal(size=x.shape) for x in start[:3]), *start[3:])

    def loss(U, Q, K):
        return engine.heads.loss(engine.moves(Factors(U, Q, K, *start[3:])))

    exact = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(*state[:3])
    _, field = eqx.filter_jit(engine.loss_and_field)(state)
    for ours, automatic in zip(field[:3], exact, strict=True):
        assert np.abs(automatic).max() > 1e-4
        assert np.abs(ours + automatic).max() <= 1e-14


def test_training_keeps_the_rank():
    for d_h in (1, 2):
        engine = factored(SMALL, d_h)
        end = descend(engine, engine.start(), PlainStep(1.0), np.array([0, 100])).state
        sizes = np.linalg.svd(np.asarray(engine.moves(end).W), compute_uv=False)
        assert (sizes[:, d_h - 1] > 1e-3).all()
        assert (sizes[:, d_h:] <= 1e-14).all()


def test_with_the_unit_matrix_held_fast_the_factors_are_a_free_W():
    drawn = draw(SMALL, key(SMALL))
    engine = heads_engine(SMALL)
    plain = descend(engine, engine.zero(), PlainStep(1.0), np.array([0, 40])).state
    run = two_heads.train(drawn, 1.0, 40)
    assert np.abs(np.asarray(run.state.U) - np.asarray(plain.U)).max() <= 1e-13
    moved = np.swapaxes(np.asarray(run.state.K), 1, 2)
    assert np.abs(moved - np.asarray(plain.W)).max() <= 1e-13
    assert np.asarray(plain.W).any()


def test_frozen_attention_gains_nothing():
    cell = replace(SMALL, attention="frozen")
    assert two_heads.two_heads(cell, key(cell)).values["gain_over_free"] == 0
    assert two_heads.two_heads(SMALL, key(SMALL)).values["gain_over_free"] != 0


@pytest.mark.parametrize(
    ("loss", "bounded"),
    [(logistic, True), (exponential, True), (heavy_tailed, True), (squared, False)],
)
def test_which_losses_are_self_bounded(loss, bounded):
    x = jnp.linspace(-6, 6, 241)
    value, slope = loss.value(x), loss.slope(x)
    curvature = -jax.vmap(jax.grad(loss.slope))(x)
    holds = (jnp.abs(slope) <= value * (1 + 1e-12)) & (curvature <= value * (1 + 1e-12))
    assert bool(holds.all()) == bounded


def test_the_chosen_loss_is_the_one_at_its_place():
    losses = tuple(two_heads.LOSSES.values())
    x = jnp.linspace(-2, 2, 9)
    for place, loss in enumerate(losses):
        chosen = ChosenLoss(losses, jnp.asarray(place))
        assert (chosen.value(x) == loss.value(x)).all()
        assert (chosen.slope(x) == loss.slope(x)).all()


def test_a_loss_that_grows_without_bound_is_a_named_divergence():
    cell = LossSettings(T=2, d=4, M=1, n=6, n1=64, loss="squared", eta=100.0, K=1000)
    assert "infinite" in two_heads.two_heads(cell, key(cell)).diverged
