"""Section 7's questions: the engine of low rank, the losses, the starts and the parity."""

from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.dynamics.descent import PlainStep, descend
from attnlab.dynamics.losses import ChosenLoss, exponential, heavy_tailed, logistic, squared
from attnlab.models.multihead import Heads, outputs
from attnlab.papers.deora2023 import other_start_runs, question_runs, several_heads_runs
from attnlab.papers.deora2023.drawing import draw, host_random
from attnlab.papers.deora2023.engines import collapsed_heads, weights
from attnlab.papers.deora2023.engines.factored_heads import FactoredHeads, Factors, scaled_columns
from attnlab.papers.deora2023.question_settings import (
    LossSettings,
    OtherStartSettings,
    ParitySettings,
    RankSettings,
)
from attnlab.probes.tangent_kernel import tangent_gram

SMALL = RankSettings(T=2, d=4, M=1, n=6, n1=64, d_h=2, K=40)
PARITY = ParitySettings()


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


# --- heads of low rank --------------------------------------------------------------------------


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
    run = question_runs.train(drawn, 1.0, 40)
    assert np.abs(np.asarray(run.state.U) - np.asarray(plain.U)).max() <= 1e-13
    moved = np.swapaxes(np.asarray(run.state.K), 1, 2)
    assert np.abs(moved - np.asarray(plain.W)).max() <= 1e-13
    assert np.asarray(plain.W).any()


def test_frozen_attention_gains_nothing():
    cell = replace(SMALL, attention="frozen")
    assert question_runs.two_heads(cell, key(cell)).values["gain_over_free"] == 0
    assert question_runs.two_heads(SMALL, key(SMALL)).values["gain_over_free"] != 0


# --- other losses -------------------------------------------------------------------------------


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
    losses = tuple(question_runs.LOSSES.values())
    x = jnp.linspace(-2, 2, 9)
    for place, loss in enumerate(losses):
        chosen = ChosenLoss(losses, jnp.asarray(place))
        assert (chosen.value(x) == loss.value(x)).all()
        assert (chosen.slope(x) == loss.slope(x)).all()


def test_a_loss_that_grows_without_bound_is_a_named_divergence():
    cell = LossSettings(T=2, d=4, M=1, n=6, n1=64, loss="squared", eta=100.0, K=1000)
    assert "infinite" in question_runs.two_heads(cell, key(cell)).diverged


# --- other starts -------------------------------------------------------------------------------


def test_the_kernel_of_normal_multipliers_is_that_of_all_heads():
    cell = OtherStartSettings(T=2, d=4, M=1, n=6, n1=64, H=5, variant="gaussian")
    drawn = draw(cell, key(cell))
    start = other_start_runs._start(cell, key(cell), drawn)
    random = host_random(key(cell), "signs")
    random.choice([-1.0, 1.0], cell.H)
    alpha = random.normal(size=cell.H)
    U = alpha[:, None, None] * np.broadcast_to(drawn.v, (cell.T, cell.d))
    heads = Heads(jnp.asarray(U), jnp.zeros((cell.H, cell.d, cell.d)))
    tokens = jnp.asarray(drawn.tokens)
    grams, output = other_start_runs._at_start(start.heads, jnp.asarray(start.shares), tokens)
    gram = np.tensordot(start.parts, np.asarray(grams), 1)
    assert np.abs(gram - eqx.filter_jit(tangent_gram)(heads, tokens)).max() <= 1e-14
    exact = eqx.filter_jit(outputs)(heads, jnp.full(cell.H, cell.H**-0.5), tokens)
    assert np.abs(output - exact).max() <= 1e-14
    longest = np.linalg.norm(U.reshape(cell.H, -1), axis=1).max()
    assert start.longest == pytest.approx(longest)


@pytest.mark.parametrize("variant", ["phase_1", "steps"])
def test_phase_1_beside_itself_and_after_steps(variant):
    cell = OtherStartSettings(T=2, d=4, M=1, n=6, n1=64, variant=variant, steps=1, eta=1e-9)
    values = other_start_runs.other_start(cell, key(cell)).values
    assert values["margin_over_phase_1"] == pytest.approx(1, abs=1e-6)


# --- several heads ------------------------------------------------------------------------------


def saturated_heads() -> Heads:
    """Two heads that compute the parity: each is silenced by one value of the second token."""
    d, S = PARITY.d, PARITY.S
    U, W = np.zeros((2, d)), np.zeros((2, d, d))
    for h, sign in enumerate((1, -1)):
        U[h, :2] = sign, -sign
        attend = np.full(d, -40.0)
        attend[:2] = 0.0
        attend[2 + (1 - h)] = 40.0
        W[h, several_heads_runs.QUERY] = attend / S**2
    return Heads(jnp.asarray(U), jnp.asarray(W))


def test_two_heads_can_compute_the_parity():
    train, test = several_heads_runs.draw_parity(PARITY, np.random.default_rng(0))
    for points in (train, test):
        margins = points.labels * outputs(saturated_heads(), jnp.ones(2), points.tokens, "last")
        assert float(margins.min()) > 1


def test_no_single_head_errs_on_less_than_a_quarter():
    _, test = several_heads_runs.draw_parity(PARITY, np.random.default_rng(0))
    random = np.random.default_rng(1)
    sizes = 10 ** random.uniform(-1, 1, 400)
    heads = Heads(
        jnp.asarray(random.normal(size=(400, PARITY.d))),
        jnp.asarray(sizes[:, None, None] * random.normal(size=(400, PARITY.d, PARITY.d))),
    )
    one = jax.jit(lambda u, W: outputs(Heads(u[None], W[None]), jnp.ones(1), test.tokens, "last"))
    errors = [float((test.labels * one(u, W) <= 0).mean()) for u, W in zip(*heads, strict=True)]
    assert min(errors) >= 0.25
    assert min(errors) < 0.3


def test_absent_heads_do_not_count():
    train, test = several_heads_runs.draw_parity(PARITY, np.random.default_rng(0))
    start = weights.random_heads(jax.random.key(0), 4, PARITY.T, PARITY.d, 1.0, "last")
    args = jnp.asarray(2.0), jnp.asarray(50)
    padded = several_heads_runs._train_all(
        train, test, Heads(*(x[None] for x in start)), jnp.array([1.0, 1, 0, 0]), *args
    )
    two = several_heads_runs._train_all(
        train, test, Heads(*(x[None, :2] for x in start)), jnp.ones(2), *args
    )
    assert float(padded["loss"][0]) == pytest.approx(float(two["loss"][0]), rel=1e-12)
    assert float(padded["margin"][0]) == pytest.approx(float(two["margin"][0]), rel=1e-12)


def test_one_head_is_enough_for_one_token():
    cell = replace(PARITY, rule="one_token", H=2)
    values = several_heads_runs.several_heads(cell, key(cell)).values
    assert values["least_one_error"] == 0
    parity = several_heads_runs.several_heads(PARITY, key(PARITY)).values
    assert parity["least_one_error"] >= 0.25
    assert parity["many_test_error"] == 0


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: replace(SMALL, d_h=5), "d_h=5"),
        (lambda: replace(SMALL, eta=0.0), "positive size"),
        (lambda: LossSettings(K=0), "0 steps"),
        (lambda: OtherStartSettings(few=0), "few=0"),
        (lambda: OtherStartSettings(n1=16), "n1=16"),
        (lambda: OtherStartSettings(delta=1.0), "delta=1.0"),
        (lambda: replace(PARITY, H=9), "H=9"),
        (lambda: replace(PARITY, S=0.0), "S=0.0"),
    ],
)
def test_settings_refuse_with_the_numbers(make, words):
    with pytest.raises(BadInput, match=words):
        make()
