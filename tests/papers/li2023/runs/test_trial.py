"""The engines: gradients three ways, the reduction against the full model, and whole runs."""

from dataclasses import replace
from typing import get_args

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from attnlab.cells import Key, shape
from attnlab.models.shallow_vit import Parameters, output_by_definition
from attnlab.numerics.derivatives import directional_difference
from attnlab.numerics.random import stream_key
from attnlab.papers.li2023.runs import trial as runs
from attnlab.papers.li2023.settings import Optimiser, TrainingSettings
from attnlab.papers.li2023.studies.engine_choice import resolve
from attnlab.training.descent import OptaxStep, PlainStep, descend
from attnlab.training.minibatch import MiniBatches, batch_indices
from attnlab.training.optimisers import optimiser

SMALL = TrainingSettings(
    N=12, L=20, m=24, d=6, m_a=6, m_b=6, M=4, B=5, c0=0.1, xi=0.5, alpha_sharp=0.15,
    dtype="float64", engine="exact", test_samples=20, steps=30,
)  # fmt: skip
# Options are combined, for each case is a compilation.
CASES = {
    "plain": {},
    "heads added up, skip, pruned to half the room": {
        "heads": 2, "skip": True, "selector": "random", "removed": 0.6,
    },
    "four classes, heads side by side, set to zero": {
        "classes": 4, "M": 5, "alpha_star": 0.4, "heads": 2, "combination": "concat",
        "selector": "random", "removed": 0.3, "removal": "zeroed",
    },
    "uniform": {"attention": "uniform"},
}  # fmt: skip
COLLAPSIBLE = {
    "plain": {},
    "heads added up, skip, frozen": {"heads": 2, "skip": True, "attention": "frozen"},
    "four classes, heads side by side": {
        "classes": 4, "M": 5, "alpha_star": 0.4, "heads": 2, "combination": "concat",
    },
}  # fmt: skip


def started(cell: TrainingSettings, seed: int = 0):
    cell = resolve(cell)
    return runs.start(cell, Key.of(cell, seed))


def loss_by_definition(engine, parameters: Parameters):
    def margin(X, y, kept, keys, places):
        F = output_by_definition(
            parameters, engine.by_place[:, places], X, kept, engine.score_gain,
            combination=engine.combination, skip=bool(engine.skip), keys=keys,
        )  # fmt: skip
        return y @ F

    places = engine.places
    if places is None:
        places = jnp.broadcast_to(jnp.arange(engine.by_place.shape[1]), engine.kept.shape)
    rows = (engine.tokens, engine.labels, engine.kept, engine.keys, places)
    losses = jnp.maximum(engine.margin - jax.vmap(margin)(*rows), 0)
    return jnp.where(jnp.arange(losses.size) < engine.size, losses, 0).sum() / engine.size


@pytest.mark.parametrize("changes", CASES.values(), ids=CASES)
def test_the_gradient_made_by_hand_against_autodiff_and_differences(changes):
    engine, state, _ = started(replace(SMALL, **changes))

    @jax.jit
    def compare(state):
        loss, field = engine.loss_and_field(state)
        value, gradient = jax.value_and_grad(lambda p: loss_by_definition(engine, p))(state)
        keys = jax.random.split(jax.random.key(1), 4)
        along = Parameters(
            *(
                jax.random.normal(k, (x.size,)).reshape(x.shape)
                for k, x in zip(keys, state, strict=True)
            )
        )
        # Small steps: a step across the kink of a ReLU is no fault of the gradient.
        numerical = directional_difference(
            lambda p: loss_by_definition(engine, p), state, along, step=1e-6
        )
        slope = sum(jnp.vdot(g, v) for g, v in zip(gradient, along, strict=True))
        return loss, value, field, gradient, slope, numerical.value

    loss, value, field, gradient, slope, numerical = compare(state)
    assert float(loss) == pytest.approx(float(value), rel=1e-12)
    for by_hand, automatic in zip(field, gradient, strict=True):
        np.testing.assert_allclose(-by_hand, automatic, rtol=1e-9, atol=1e-13)
    assert float(slope) == pytest.approx(float(numerical), rel=1e-6)
    assert float(jnp.abs(gradient.W_O).max()) > 0


def test_frozen_attention_has_no_gradient_of_keys_and_queries_and_the_rest_is_the_same():
    engine, state, _ = started(SMALL)
    frozen = eqx.tree_at(lambda e: e.score_rate, engine, jnp.zeros(()))
    of = eqx.filter_jit(lambda e, s: e.loss_and_field(s)[1])
    moving, held = of(engine, state), of(frozen, state)
    assert not held.W_K.any()
    assert not held.W_Q.any()
    np.testing.assert_array_equal(moving.W_O, held.W_O)
    np.testing.assert_array_equal(moving.W_V, held.W_V)
    assert moving.W_K.any()


@pytest.mark.parametrize("changes", COLLAPSIBLE.values(), ids=COLLAPSIBLE)
def test_collapsed_is_the_exact_engine_without_noise(changes):
    silent = replace(SMALL, c0=0.0, **changes)
    (full, state, _), (reduced, same, _) = (
        started(replace(silent, engine=name)) for name in ("exact", "collapsed")
    )
    for x, y in zip(state, same, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-14)
    of = eqx.filter_jit(lambda e, s: (*e.loss_and_field(s), e.margins(s), e.is_fitted(s)))
    loss, field, margins, fitted = of(full, state)
    other_loss, other_field, other_margins, other_fitted = of(reduced, state)
    assert float(loss) == pytest.approx(float(other_loss), rel=1e-11)
    np.testing.assert_allclose(margins[:12], other_margins[:12], atol=1e-12)
    for x, y in zip(field, other_field, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-12)
    assert bool(fitted) == bool(other_fitted)


def outcome(cell: TrainingSettings, seed: int = 0) -> dict:
    cell = resolve(cell)
    return dict(runs.train(cell, Key.of(cell, seed)).values)


WHOLE = TrainingSettings(
    N=16, L=20, m=60, d=6, m_a=6, m_b=6, M=4, c0=0.0, alpha_star=0.5, alpha_sharp=0.1,
    eta=1.0, steps=600, test_samples=50, dtype="float64",
)  # fmt: skip


def test_a_whole_run_is_the_same_on_both_engines_and_in_float32():
    full, reduced = (outcome(replace(WHOLE, engine=name)) for name in ("exact", "collapsed"))
    assert bool(full["fitted"])
    assert full["iterations"] == reduced["iterations"]
    for name in ("least_margin", "steady_gates", "norm_W_V", "train_loss"):
        assert float(full[name]) == pytest.approx(float(reduced[name]), rel=1e-6, abs=1e-9)
    assert full["test_loss"] == pytest.approx(reduced["test_loss"], abs=1e-6)
    single = outcome(replace(WHOLE, engine="collapsed", dtype="float32"))
    assert abs(single["iterations"] - reduced["iterations"]) <= 2
    assert single["test_loss"] == pytest.approx(reduced["test_loss"], abs=1e-2)


@pytest.mark.parametrize("positions", ["original", "renumbered"])
def test_a_run_on_gathered_tokens_is_the_run_on_masked_ones(positions, monkeypatch):
    """Only sums of other lengths differ: to rounding, over a short run in single precision."""
    changes = {"selector": "random", "removed": 0.6, "positions": positions, "engine": "exact"}
    cell = replace(WHOLE, **changes, dtype="float32", steps=40, stop="fixed", N=8)
    gathered = outcome(cell)
    assert started(cell)[0].tokens.shape[1] == 10
    assert cell.kept == 8
    monkeypatch.setattr(TrainingSettings, "token_room", property(shape(lambda cell: cell.L)))
    masked = outcome(cell)
    assert started(cell)[0].tokens.shape[1] == 20
    for name in ("train_loss", "test_loss"):
        assert masked[name] > 0.01
        assert gathered[name] == pytest.approx(float(masked[name]), rel=2e-5)
    for name in ("tokens_saved", "flops_saved", "largest_noise", "error_W_V"):
        np.testing.assert_array_equal(gathered[name], masked[name])


def test_a_trial_is_the_same_bits_again_whatever_ran_before_it():
    first = outcome(WHOLE, 3)
    outcome(WHOLE, 4)
    outcome(replace(WHOLE, N=10), 3)
    again = outcome(WHOLE, 3)
    for name, value in first.items():
        np.testing.assert_array_equal(value, again[name])


def test_padding_does_not_change_a_trial():
    engine, state, _ = started(SMALL)
    rows = jnp.arange(12)
    tight = engine.subset(rows, jnp.asarray(12))
    of = eqx.filter_jit(lambda e, s: e.loss_and_field(s))
    (loss, field), (same_loss, same) = of(engine, state), of(tight, state)
    assert float(loss) == float(same_loss)
    for x, y in zip(field, same, strict=True):
        np.testing.assert_array_equal(x, y)


def test_controls_are_paired():
    plain = started(SMALL)
    for changes in ({"attention": "frozen"}, {"labels": "shuffled"}, {"eta": 0.1}, {"B": 3}):
        engine, state, _ = started(replace(SMALL, **changes))
        np.testing.assert_array_equal(plain[0].tokens, engine.tokens)
        for x, y in zip(plain[1], state, strict=True):
            np.testing.assert_array_equal(x, y)
    shuffled = started(replace(SMALL, labels="shuffled"))[0]
    true = plain[0].labels[:12, 0]
    assert (shuffled.labels[:12, 0] != true).any()
    assert sorted(shuffled.labels[:12, 0].tolist()) == sorted(true.tolist())


def test_a_run_stops_when_the_training_loss_is_zero_and_any_optimiser_gets_there():
    engine, state, _ = started(replace(WHOLE, engine="collapsed"))
    record_at = jnp.asarray([0, 5, 400])
    for update in (
        PlainStep(jnp.asarray(1.0)),
        OptaxStep(optax.adam, {"learning_rate": jnp.asarray(0.01)}),
    ):
        batches = MiniBatches(jax.random.key(0), 8, 8)
        run = descend(engine, state, update, record_at, batches=batches, stop_when_fitted=True)
        assert run.complete
        assert float(run.end_time) < 400
        assert float(run.values["loss"][-1]) == 0.0
        assert bool(eqx.filter_jit(lambda e, s: e.is_fitted(s))(engine, run.state))


@pytest.mark.parametrize("name", get_args(Optimiser))
def test_every_optimiser_that_is_named_lowers_the_loss(name):
    cell = resolve(replace(WHOLE, engine="collapsed"))
    engine, state, _ = started(cell)
    update = optimiser(name, jnp.asarray(1e-3, state.W_O.dtype))

    @eqx.filter_jit
    def after_some_steps(engine, state):
        def step(carry, _):
            state, memory = carry
            loss, state, memory = update.apply(engine, state, memory)
            return (state, memory), loss

        return jax.lax.scan(step, (state, update.init(state)), length=20)[1]

    losses = after_some_steps(engine, state)
    assert float(losses[-1]) < float(losses[0])


def test_batches_are_uniform_with_replacement_over_the_samples_in_use():
    draw = jax.jit(lambda t: batch_indices(stream_key(Key("{}", 0), "b"), t, jnp.asarray(7), 50))
    drawn = np.concatenate([np.asarray(draw(jnp.asarray(t))) for t in range(60)])
    counts = np.bincount(drawn, minlength=7)
    assert counts.size == 7
    assert (np.abs(counts - 3000 / 7) < 5 * np.sqrt(3000 / 7)).all()
