"""Single neurons beside the Grams: against the weights, and in law where no weight is drawn."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.core import BadInput
from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.engines import gram_initialisation, gram_neurons, word_weights
from attnlab.engines.gram_neurons import GramWithNeurons
from attnlab.models.linear_mlp_initialisation import Initialisation
from attnlab.models.linear_mlp_transformer import LinearMLPSizes
from attnlab.papers.yang2024.runs.probes.phase_1 import neuron_rates
from attnlab.probes.context import Context
from attnlab.probes.neurons import neuron_gram_change, neuron_movement
from attnlab.training.engine import together
from attnlab.training.flow import flow

SIZES = LinearMLPSizes(d=23, L=4, m=48, m1=20)
SCHEME = Initialisation(s0=0.3, s1=0.4)
probe = together(neuron_movement, neuron_rates)


@pytest.fixture(scope="module")
def engines():
    key = jax.random.key(0)
    batch = BalancedTrainingSet(SIZES.d, SIZES.L).sample(key, 12)
    on_weights = word_weights.start(key, batch, SIZES, SCHEME)
    on_grams = gram_neurons.start(key, batch, SIZES, SCHEME)
    return batch, on_weights, on_grams


@eqx.filter_jit
def seen(engine, state, start, batch):
    return probe(jnp.zeros(()), engine.view(state), Context(batch, engine.view(start)))


@eqx.filter_jit
def descended(engine, state):
    return jax.lax.fori_loop(0, 300, lambda _, x: engine.step(x, 0.02)[1], state)


def test_neurons_after_descent_are_those_of_the_weights(engines):
    batch, (on_weights, parameters), (on_grams, state) = engines
    expected = seen(on_weights, descended(on_weights, parameters), parameters, batch)
    got = seen(on_grams, descended(on_grams, state), state, on_grams.rows_of(batch))
    assert float(expected["neuron_gram_change"]) > 0.1
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-9, err_msg=name)


def test_neurons_along_the_flow_are_those_of_the_weights(engines):
    batch, (on_weights, parameters), (on_grams, state) = engines
    times = jnp.linspace(0, 4.0, 5)
    of_weights = flow(
        on_weights,
        parameters,
        times,
        probe,
        Context(batch, on_weights.view(parameters)),
        rtol=1e-10,
        atol=1e-12,
    )
    of_grams = flow(
        on_grams,
        state,
        times,
        probe,
        Context(on_grams.rows_of(batch), on_grams.view(state)),
        **on_grams.flow_settings(state, 1e-10, 1e-12),
    )
    for name, value in of_weights.values.items():
        np.testing.assert_allclose(of_grams.values[name], value, rtol=1e-6, err_msg=name)


@pytest.mark.parametrize("left_out", ["outputs", "along_u"])
def test_a_term_left_out_is_seen(engines, left_out):
    """A mutation: the products of the start are what moves the neurons."""
    batch, (on_weights, parameters), (on_grams, state) = engines
    expected = seen(on_weights, descended(on_weights, parameters), parameters, batch)
    where = lambda engine: getattr(engine.neurons, left_out)  # noqa: E731
    mutant = eqx.tree_at(where, on_grams, jnp.zeros_like(where(on_grams)))
    got = seen(mutant, descended(mutant, state), state, on_grams.rows_of(batch))
    gaps = [np.abs(np.asarray(got[k]) / np.asarray(v) - 1).max() for k, v in expected.items()]
    assert max(gaps) > 1e-3


def test_neurons_drawn_given_the_grams_have_the_law_of_drawn_weights():
    """Means and deviations of every product over 4,000 draws of each kind, within 5 errors."""
    sizes, draws = LinearMLPSizes(d=5, L=3, m=14, m1=4), 4000
    carried = jnp.arange(sizes.d)

    def from_weights(key):
        parameters, a = word_weights.initialise(key, sizes, SCHEME)
        return gram_neurons.of_weights(parameters, a, carried)

    def without_weights(key):
        grams, A = gram_initialisation.bartlett(key, sizes, SCHEME, sizes.d)
        return gram_neurons.given_grams(jax.random.fold_in(key, 1), grams, A, sizes, SCHEME)

    def numbers(start):
        """What does not depend on the signs of a, and products of them."""
        one = start.a * start.along_u
        signed = start.a[:, None] * start.outputs
        mixed = start.outputs[0] * start.outputs[1] * start.a[0] * start.a[1]
        return jnp.concatenate(
            [
                one,
                one**2,
                one[:1] * one[1:2],
                signed.ravel(),
                (signed**2).ravel(),
                mixed,
                start.squares,
                start.squares**2,
                start.squares[:1] * start.squares[1:2],
                start.squares[:1] * one[:1],
                start.rho[None] * one[:1],
            ]
        )

    found = []
    for seed, draw in enumerate((from_weights, without_weights)):
        keys = jax.random.split(jax.random.key(seed), draws)
        found.append(np.asarray(jax.jit(jax.vmap(lambda key, draw=draw: numbers(draw(key))))(keys)))
    first, second = found
    error = np.sqrt((first.var(0) + second.var(0)) / draws)
    assert (np.abs(first.mean(0) - second.mean(0)) < 5 * error).all()


def test_the_neurons_belong_to_the_grams():
    """What the Grams tell of W exactly: sums over neurons weighted by a."""
    sizes = LinearMLPSizes(d=9, L=3, m=4000, m1=50)
    key = jax.random.key(3)
    grams, A = gram_initialisation.bartlett(key, sizes, SCHEME, sizes.d)
    start = gram_neurons.given_grams(key, grams, A, sizes, SCHEME)
    np.testing.assert_allclose(start.a @ start.a, A, rtol=1e-12)
    np.testing.assert_allclose(start.a @ start.outputs, grams.G, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(start.a @ start.along_u, grams.rho, rtol=1e-12)


def test_a_start_without_weights_draws_neurons_apart_from_their_grams():
    """Grams from the key itself, neurons from another that follows from it."""
    sizes = LinearMLPSizes(d=23, L=4, m=120, m1=30)
    batch, key = BalancedTrainingSet(23, 4).sample(jax.random.key(0), 12), jax.random.key(5)
    engine, state = gram_neurons.start(key, batch, sizes, SCHEME, initial="bartlett")
    grams, A = gram_initialisation.bartlett(key, sizes, SCHEME, sizes.d)
    drawn = gram_neurons.given_grams(jax.random.fold_in(key, 1), grams, A, sizes, SCHEME)
    for got, expected in zip(state.grams, grams, strict=True):
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(engine.neurons.along_u, drawn.along_u)
    assert not np.array_equal(
        drawn.along_u, gram_neurons.given_grams(key, grams, A, sizes, SCHEME).along_u
    )


def test_too_narrow_for_neurons_without_weights_gets_a_sentence():
    sizes = LinearMLPSizes(d=5, L=3, m=12, m1=50)
    grams, A = gram_initialisation.bartlett(jax.random.key(0), sizes, SCHEME, sizes.d)
    with pytest.raises(BadInput, match=r"m=12 .* m1=50 .* m > 55"):
        gram_neurons.given_grams(jax.random.key(0), grams, A, sizes, SCHEME)


def test_an_engine_without_neurons_says_so(engines):
    batch, _, (on_grams, state) = engines
    assert isinstance(on_grams, GramWithNeurons)
    view = on_grams.grams.view(state.grams)
    with pytest.raises(ValueError, match="no neurons"):
        neuron_movement(jnp.zeros(()), view, Context(batch, view))
    neurons = on_grams.view(state).neurons
    assert neurons is not None
    assert not neuron_gram_change(neurons.moved_since(None)).any()
