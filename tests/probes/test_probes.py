import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.models.linear_mlp_initialisation import Initialisation, initialise
from attnlab.models.linear_mlp_transformer import LinearMLPSizes, output_by_definition, word_view
from attnlab.probes import neurons, rates
from attnlab.probes.attention import attention_by_role, attention_change, attention_weights
from attnlab.probes.context import Context
from attnlab.probes.losses_by_type import losses_by_type, margins
from attnlab.probes.word_scores import closeness, word_scores

SIZES = LinearMLPSizes(d=23, L=4, m=7, m1=6)
NOW = jnp.asarray(0.0)


@pytest.fixture(scope="module")
def case():
    """Two unrelated states of order one, as `before` and `now`; W differs by a h^T only."""

    @jax.jit
    def draw():
        batch = BalancedTrainingSet(SIZES.d, SIZES.L).sample(jax.random.key(0), 12)
        big = Initialisation(s0=0.8, s1=0.9, output_layer="same_as_weights")
        before, a = initialise(jax.random.key(1), SIZES, big)
        now, _ = initialise(jax.random.key(2), SIZES, big)
        h = jax.random.normal(jax.random.key(3), (SIZES.m,))
        return batch, before, now._replace(W=before.W + jnp.outer(a, h)), a

    batch, before, now, a = draw()
    context = Context(batch, word_view(before, a))
    return batch, before, now, a, word_view(now, a), context


def test_attention_and_its_mass_by_role(case) -> None:
    batch, before, now, _, view, context = case
    words, roles = np.asarray(batch.words), np.asarray(batch.roles)

    def softmax(parameters, i, place):
        s = np.asarray(parameters.W_K.T @ parameters.W_Q)[words[i], words[i, place]]
        e = np.exp(s / np.sqrt(SIZES.m))
        return e / e.sum()

    p = np.array([[softmax(now, i, q) for q in range(SIZES.L)] for i in range(len(words))])
    p0 = np.array([[softmax(before, i, q) for q in range(SIZES.L)] for i in range(len(words))])
    np.testing.assert_allclose(attention_weights(NOW, view, context)["attention"], p, rtol=1e-12)
    mass, places = np.zeros((4, 4)), np.zeros((4, 1))
    for i in range(len(words)):
        for q in range(SIZES.L):
            places[roles[i, q]] += 1
            for k in range(SIZES.L):
                mass[roles[i, q], roles[i, k]] += p[i, q, k]
    got = attention_by_role(NOW, view, context)["attention_by_role"]
    np.testing.assert_allclose(got, mass / places, rtol=1e-12)
    np.testing.assert_allclose(got.sum(axis=1), 1)
    change = attention_change(NOW, view, context)["attention_change"]
    np.testing.assert_allclose(change, np.abs(p - p0).max(), rtol=1e-12)


def test_word_scores_and_closeness(case) -> None:
    _, before, now, a, view, context = case
    got = word_scores(NOW, view, None)
    mu = np.eye(SIZES.d)
    G = np.asarray(a @ now.W @ now.W_V)
    for i in range(3):
        for j in range(3):
            score = mu[i] @ np.asarray(now.W_K.T @ now.W_Q) @ mu[j]
            value = mu[i] @ np.asarray(now.W_V.T @ now.W_V) @ mu[j]
            np.testing.assert_allclose(got["scores"][i, j], score, rtol=1e-12)
            np.testing.assert_allclose(got["value_correlations"][i, j], value, rtol=1e-12)
    np.testing.assert_allclose(got["signal_outputs"], G[:3], rtol=1e-12)
    np.testing.assert_allclose(got["largest_random_output"], np.abs(G[3:]).max(), rtol=1e-12)
    np.testing.assert_allclose(got["rho"], jnp.sum((now.W.T @ a) ** 2), rtol=1e-12)
    moved = closeness(NOW, view, context)
    G0 = np.asarray(a @ before.W @ before.W_V)
    for name, left, right in [
        ("score_change", "W_K", "W_Q"),
        ("value_change", "W_V", "W_V"),
        ("key_change", "W_K", "W_K"),
        ("query_change", "W_Q", "W_Q"),
    ]:
        product = [np.asarray(getattr(s, left).T @ getattr(s, right)) for s in (before, now)]
        np.testing.assert_allclose(
            moved[name], np.abs(product[1] - product[0]).max(), rtol=1e-12, err_msg=name
        )
    np.testing.assert_allclose(moved["output_change_signal"], np.abs(G - G0)[:3].max())
    np.testing.assert_allclose(moved["output_change_random"], np.abs(G - G0)[3:].max())


def test_neurons_from_the_rank_one_update(case) -> None:
    _, before, now, a, view, context = case
    got = neurons.neuron_movement(NOW, view, context)
    gram = np.asarray(now.W @ now.W.T - before.W @ before.W.T)
    np.testing.assert_allclose(
        neurons.neuron_gram_change(view.neurons.moved_since(context.initial.neurons)),
        gram,
        rtol=1e-10,
        atol=1e-12,
    )
    np.testing.assert_allclose(got["neuron_gram_change"], np.abs(gram).max(), rtol=1e-12)
    outputs = np.abs(np.asarray(now.W @ now.W_V - before.W @ before.W_V))
    np.testing.assert_allclose(got["neuron_output_change_signal"], outputs[:, :3].max())
    np.testing.assert_allclose(got["neuron_output_change_random"], outputs[:, 3:].max())
    del a


def test_losses_by_type(case) -> None:
    batch, _, now, a, view, context = case
    x = np.asarray(batch.labels * output_by_definition(now, a, batch.words))
    got = losses_by_type(NOW, view, context)
    np.testing.assert_allclose(margins(NOW, view, context)["margins"], x, rtol=1e-12)
    for index, kind in enumerate([1, 2, 3, 4]):
        of_type = x[np.asarray(batch.types) == kind]
        loss, slope = np.log1p(np.exp(-of_type)), 1 / (1 + np.exp(of_type))
        np.testing.assert_allclose(got["loss_by_type"][index], loss.mean(), rtol=1e-12)
        np.testing.assert_allclose(got["gradient_by_type"][index], slope.mean(), rtol=1e-12)
        np.testing.assert_allclose(got["margin_by_type"][index], of_type.mean(), rtol=1e-11)
        np.testing.assert_allclose(got["smallest_margin_by_type"][index], of_type.min())
        assert got["misclassified_by_type"][index] == (of_type <= 0).sum()
    assert got["misclassified"] == (x <= 0).sum()
    assert 0 < got["misclassified"] < len(x)
    np.testing.assert_allclose(got["smallest_margin"], x.min())
    np.testing.assert_allclose(got["mean_loss"], np.log1p(np.exp(-x)).mean(), rtol=1e-12)


def test_a_type_without_samples_is_nan(case) -> None:
    batch, *_, view, _ = case
    without = dataclasses.replace(batch, types=jnp.where(batch.types == 3, 2, batch.types))
    got = losses_by_type(NOW, view, Context(without))
    for name in ("loss_by_type", "margin_by_type", "smallest_margin_by_type"):
        np.testing.assert_array_equal(np.isnan(got[name]), [False, False, True, False])


def test_rates_are_the_derivative_along_the_gradient(case) -> None:
    batch, _, now, a, view, context = case

    def loss(parameters):
        return jax.nn.softplus(
            -batch.labels * output_by_definition(parameters, a, batch.words)
        ).mean()

    def word_outputs(parameters):
        return a @ parameters.W @ parameters.W_V, jnp.sum((a @ parameters.W) ** 2)

    @jax.jit
    def along_the_flow(parameters):
        field = jax.tree.map(jnp.negative, jax.grad(loss)(parameters))
        return jax.jvp(word_outputs, (parameters,), (field,))[1]

    slope, rho_slope = along_the_flow(now)
    got = rates.word_rates(NOW, view, context)
    np.testing.assert_allclose(got["signal_rates"], slope[:3], rtol=1e-11)
    np.testing.assert_allclose(got["largest_random_rate"], jnp.abs(slope[3:]).max(), rtol=1e-11)
    np.testing.assert_allclose(got["rho_rate"], rho_slope, rtol=1e-11)
    # z, place by place: what each signal's places receive, weighted by the samples' slopes.
    words = np.asarray(batch.words)
    p = np.asarray(attention_weights(NOW, view, context)["attention"])
    x = np.asarray(margins(NOW, view, context)["margins"])
    z = np.zeros(SIZES.d)
    for i in range(len(words)):
        for query in range(SIZES.L):
            for place in range(SIZES.L):
                r = float(batch.labels[i]) / (1 + np.exp(x[i])) / len(words)
                z[words[i, place]] += r * p[i, query, place]
    np.testing.assert_allclose(got["signal_drive"], z[:3], rtol=1e-11)


def test_probes_that_lack_something_say_so(case) -> None:
    batch, *_, view, context = case
    with pytest.raises(ValueError, match="initial view"):
        closeness(NOW, view, Context(batch))
    reduced = type(view)(
        **{
            name: getattr(view, name)
            for name in ["G", "rho", "V", "S", "K", "Q", "A", "score_scale"]
        }
    )
    with pytest.raises(ValueError, match="no neurons"):
        neurons.neuron_movement(NOW, reduced, context)
