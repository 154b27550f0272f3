"""Training on the weights: conserved quantities, orders, the flow against descent."""

import dataclasses

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from attnlab.data.word_cooccurrence import BalancedTrainingSet, IndependentSamples
from attnlab.engines import word_weights
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, output_by_definition
from attnlab.models.word_level import attention, read_out
from attnlab.probes.context import Context
from attnlab.probes.losses_by_type import margins
from attnlab.probes.neurons import neuron_gram_change
from attnlab.probes.word_scores import word_scores
from attnlab.training.descent import OptaxStep, PlainStep, descend
from attnlab.training.engine import together
from attnlab.training.flow import flow

SIZES = LinearMLPSizes(d=23, L=4, m=16, m1=12)
HORIZON = 1.5


def conserved(t, view, args):
    """What the flow conserves, read off the matrices behind the view."""
    del t, args
    W, W_V, a = view.neurons.W, view.neurons.W_V, view.neurons.a
    u = a @ W
    return {
        "neurons": W.T @ W - W_V @ W_V.T,
        "output": jnp.outer(u, u) - (a @ a) * (W_V @ W_V.T),
    }


probe = together(conserved, word_scores, margins)


@pytest.fixture(scope="module")
def drawn():
    """A general a, not of ones: what is conserved must not depend on |a_j| = 1."""

    @jax.jit
    def draw(key):
        data, init = jax.random.split(key)
        batch = BalancedTrainingSet(SIZES.d, SIZES.L).sample(data, 12)
        scheme = Initialisation(s0=0.3, s1=0.4, output_layer="same_as_weights")
        engine, state = word_weights.start(init, batch, SIZES, scheme)
        return batch, dataclasses.replace(engine, a=3 * engine.a), state

    return draw(jax.random.key(5))


@pytest.fixture(scope="module")
def flown(drawn):
    batch, engine, state = drawn
    times = np.linspace(0, HORIZON, 7)
    return {
        rtol: flow(engine, state, times, probe, Context(batch), rtol=rtol, atol=1e-2 * rtol)
        for rtol in (1e-5, 1e-8, 1e-11)
    }


def test_the_flow_learns_something(flown) -> None:
    loss = np.asarray(flown[1e-11].values["loss"])
    assert (np.diff(loss) < 0).all()
    assert loss[-1] < 0.8 * loss[0]


def test_conserved_quantities(drawn, flown) -> None:
    _, _, state = drawn
    drift = {}
    for rtol, run in flown.items():
        value = {name: np.asarray(run.values[name]) for name in ("neurons", "output")}
        drift[rtol] = [np.abs(x - x[0]).max() / np.abs(x[0]).max() for x in value.values()]
        before, after = (s.W_K @ s.W_K.T - s.W_Q @ s.W_Q.T for s in (state, run.state))
        drift[rtol].append(float(jnp.abs(after - before).max() / jnp.abs(before).max()))
    assert max(drift[1e-11]) < 1e-10, drift
    assert max(drift[1e-8]) < 1e-7, drift
    # Not conserved by accident of standing still.
    assert jnp.abs(flown[1e-11].state.W_V - state.W_V).max() > 0.1
    assert jnp.abs(flown[1e-11].state.W_K - state.W_K).max() > 1e-3


def test_the_flow_obeys_its_tolerance(flown) -> None:
    exact = np.asarray(flown[1e-11].values["margins"])
    errors = [np.abs(np.asarray(flown[r].values["margins"]) - exact).max() for r in (1e-5, 1e-8)]
    assert errors[0] < 1e-3
    assert errors[1] < 1e-6
    assert errors[1] < errors[0] / 30


def test_descent_approaches_the_flow_at_first_order(drawn, flown) -> None:
    batch, engine, state = drawn
    exact = np.asarray(flown[1e-11].values["margins"])[-1]
    gaps = []
    for steps in (600, 1200, 2400):
        run = descend(
            engine,
            state,
            PlainStep(HORIZON / steps),
            np.array([0, steps]),
            margins,
            Context(batch),
        )
        gaps.append(np.abs(np.asarray(run.values["margins"])[-1] - exact).max())
    orders = np.log2(np.divide(gaps[:-1], gaps[1:]))
    assert np.abs(orders - 1).max() < 0.1, (gaps, orders)


def test_descent_is_descent_by_autodiff(drawn) -> None:
    """Plain and Adam against the definition's own gradient."""
    batch, engine, state = drawn

    def loss(p):
        return jax.nn.softplus(
            -batch.labels * output_by_definition(p, engine.a, batch.words)
        ).mean()

    for update, rule in [
        (PlainStep(0.05), optax.sgd(0.05)),
        (OptaxStep(optax.adam, {"learning_rate": 0.01}), optax.adam(0.01)),
    ]:
        fast = descend(engine, state, update, np.array([0, 30]))

        @jax.jit
        def slow(p, rule=rule):
            def step(_, carry):
                p, memory = carry
                move, memory = rule.update(jax.grad(loss)(p), memory, p)
                return optax.apply_updates(p, move), memory

            return jax.lax.fori_loop(0, 30, step, (p, rule.init(p)))[0]

        for x, y in zip(fast.state, slow(state), strict=True):
            np.testing.assert_allclose(x, y, atol=1e-11 * float(jnp.abs(y).max()))


def test_frozen_attention_stays_and_runs_in_the_same_program(drawn) -> None:
    _, engine, state = drawn
    traces = []

    def count(t, view, args):
        traces.append(1)
        return word_scores(t, view, args)

    frozen = dataclasses.replace(engine, score_rate=jnp.zeros_like(engine.score_rate))
    runs = [descend(e, state, PlainStep(0.05), np.array([0, 100]), count) for e in (engine, frozen)]
    assert len(traces) == 1
    np.testing.assert_array_equal(runs[1].state.W_K, state.W_K)
    np.testing.assert_array_equal(runs[1].state.W_Q, state.W_Q)
    assert jnp.abs(runs[0].state.W_K - state.W_K).max() > 1e-3
    assert float(runs[0].values["loss"][-1]) != float(runs[1].values["loss"][-1])


def test_the_view_speaks_for_new_samples(drawn) -> None:
    _, engine, state = drawn

    @jax.jit
    def both_ways(engine, state):
        words = IndependentSamples(SIZES.d, SIZES.L).sample(jax.random.key(9), 20).words
        view = engine.view(state)
        by_view = read_out(attention(view, words), view.G, words)
        return by_view, output_by_definition(state, engine.a, words)

    by_view, by_definition = both_ways(engine, state)
    np.testing.assert_allclose(by_view, by_definition, rtol=1e-12, atol=1e-13)


def test_neurons_move_by_a_rank_one_matrix(drawn, flown) -> None:
    _, engine, state = drawn
    after = flown[1e-11].state
    singular = np.linalg.svd(np.asarray(after.W - state.W), compute_uv=False)
    assert singular[1] < 1e-13 * singular[0]
    before, now = engine.view(state).neurons, engine.view(after).neurons
    np.testing.assert_allclose(
        neuron_gram_change(now.moved_since(before)),
        after.W @ after.W.T - state.W @ state.W.T,
        atol=1e-12,
    )


def test_a_run_repeats_bit_for_bit(drawn) -> None:
    _, engine, state = drawn
    update, record_at = PlainStep(0.05), np.array([0, 50])
    first, second = (descend(engine, state, update, record_at) for _ in range(2))
    assert eqx.tree_equal(first, second)


def test_float32_runs_in_float32(drawn) -> None:
    batch, _, _ = drawn

    @jax.jit
    def whole_run(key):
        engine, state = word_weights.start(key, batch, SIZES, Initialisation(), dtype=jnp.float32)
        return descend(engine, state, PlainStep(0.05), np.array([0, 5]), margins, Context(batch))

    run = whole_run(jax.random.key(1))
    assert {x.dtype for x in run.state} == {jnp.dtype("float32")}
    assert run.values["loss"].dtype == jnp.float32
    assert run.values["margins"].dtype == jnp.float32
