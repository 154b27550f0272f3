"""Lucky neurons and what they learn, against loops over neurons, patterns and samples."""

import math
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.pattern_vote import PatternBatch
from attnlab.models.shallow_vit import Parameters
from attnlab.probes import lucky_neurons
from attnlab.probes.pattern_attention import PatternContext

NOW = jnp.asarray(0.0)
NEURONS, PATTERNS, USED, D, N, L = 40, 5, 4, 6, 7, 5
M_A, M_B = 4, 3
CONE = 0.4
CLASSES = 2


def weights(random) -> Parameters:
    """Two heads: probes read the first one, but the output of a sample is of both."""
    shapes = [(NEURONS, M_A), (2, M_A, D), (2, M_B, D), (2, M_B, D)]
    return Parameters(*(jnp.asarray(random.normal(size=shape)) for shape in shapes))


@pytest.fixture(scope="module")
def case() -> SimpleNamespace:
    """Everything of order one, so that no term is small enough to hide."""
    random = np.random.default_rng(3)
    first, now = weights(random), weights(random)
    # Neurons of the present are near those of the start: some stay lucky and some do not.
    now = now._replace(W_O=first.W_O + 0.3 * now.W_O)
    zeros = jnp.zeros((N, L), int)
    batch = PatternBatch(
        tokens=jnp.asarray(random.normal(size=(N, L, D))),
        labels=jnp.ones(N, int),
        roles=zeros,
        types=jnp.ones(N, int),
        kept=jnp.asarray(random.random((N, L)) < 0.7).at[:, 0].set(True),
        patterns=zeros,
        noisy=zeros > 0,
    )
    context = PatternContext(
        batch=batch,
        labels=jnp.asarray(random.choice([-1.0, 1.0], (N, 2))),
        keys=batch.kept | jnp.asarray(random.random((N, L)) < 0.3),
        a=jnp.asarray(random.normal(size=(2, NEURONS, L))),
        initial=first,
        p=jnp.asarray(np.linalg.qr(random.normal(size=(M_A, M_A)))[0] @ np.eye(M_A, PATTERNS))
        + jnp.asarray(2.0 * (np.arange(PATTERNS) >= USED)),
        q=jnp.asarray(random.normal(size=(M_B, PATTERNS))),
        patterns=jnp.asarray(random.normal(size=(PATTERNS, D))),
        used=jnp.arange(PATTERNS) < USED,
        cone=jnp.asarray(CONE),
        score_gain=jnp.asarray(0.7),
    )
    return SimpleNamespace(view=now, context=context)


def lucky_by_loops(W_O, features, cone) -> np.ndarray:
    """(readings, classes, neurons), from the angles one by one; the padding is left out."""
    lucky = np.zeros((3, CLASSES, len(W_O)), bool)
    for i, w in enumerate(W_O):
        theta = []
        for p in features.T[:USED]:
            length = math.sqrt(sum(x * x for x in w)) * math.sqrt(sum(x * x for x in p))
            theta.append(math.acos(sum(x * y for x, y in zip(w, p, strict=True)) / length))
        for k in range(CLASSES):
            nearest = min(theta[j] for j in range(USED) if j != k)
            lucky[0, k, i] = theta[k] <= cone
            lucky[1, k, i] = theta[k] + 2 * cone <= nearest
            lucky[2, k, i] = theta[k] < nearest
    return lucky


def value_features(parameters, context) -> np.ndarray:
    return np.asarray(parameters.W_V)[0] @ np.asarray(context.patterns).T


def test_angles_of_known_vectors_and_of_the_padding() -> None:
    W_O = jnp.asarray([[2.0, 0.0], [1.0, 1.0], [0.0, 0.0], [-3.0, 0.0]])
    features = jnp.asarray([[1.0, 0.0, 5.0], [0.0, 0.5, 5.0]])
    got = lucky_neurons.angles(W_O, features, jnp.asarray([True, True, False]))
    expected = np.pi * np.array(
        [[0, 1 / 2, 1], [1 / 4, 1 / 4, 1], [1 / 2, 1 / 2, 1], [1, 1 / 2, 1]]
    )
    np.testing.assert_allclose(got, expected, atol=1e-12)


def test_edges_count_for_the_definition_and_the_proof_but_a_tie_is_nobodys_best() -> None:
    """At cone 0 a neuron along p_1 has the angle 0; one between p_1 and p_2 is as near to both."""
    W_O = jnp.asarray([[2.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    features = jnp.eye(3)
    got = lucky_neurons.lucky_sets(W_O, features, jnp.ones(3, bool), jnp.asarray(0.0))
    np.testing.assert_array_equal(got[0], [[True, False, False], [False, False, False]])
    np.testing.assert_array_equal(got[1], [[True, True, False], [False, True, False]])
    np.testing.assert_array_equal(got[2], [[True, False, False], [False, False, False]])


def fits(context, k: int, i: int) -> bool:
    """Whether the output weights of neuron i add up to the sign of class k."""
    total = sum(float(x) for x in np.asarray(context.a)[0, i])
    return total > 0 if k == 0 else total < 0


def test_lucky_counts_and_what_is_kept(case) -> None:
    context, view = case.context, case.view
    got = lucky_neurons.lucky_neurons(NOW, view, context)
    p = np.asarray(context.p)
    for features, (before, now) in enumerate(
        [(p, p), (value_features(context.initial, context), value_features(view, context))]
    ):
        first = lucky_by_loops(np.asarray(context.initial.W_O), before, CONE)
        present = lucky_by_loops(np.asarray(view.W_O), now, CONE)
        np.testing.assert_array_equal(got["lucky"][features], present.sum(-1))
        with np.errstate(invalid="ignore"):
            kept = (first & present).sum(-1) / first.sum(-1)
        np.testing.assert_allclose(got["lucky_kept"][features], kept)
        for reading in range(3):
            for k in range(CLASSES):
                fit = [i for i in range(NEURONS) if first[reading, k, i] and fits(context, k, i)]
                share = np.mean([present[reading, k, i] for i in fit]) if fit else np.nan
                np.testing.assert_allclose(got["signed_kept"][features, reading, k], share)
    # The case tells the readings, the features and the classes apart.
    assert len(np.unique(np.asarray(got["lucky"]))) > 5
    assert ((got["lucky_kept"] > 0) & (got["lucky_kept"] < 1)).any()


def test_projections_of_neurons(case) -> None:
    context, view = case.context, case.view
    got = lucky_neurons.neuron_projections(NOW, view, context)
    p, W_O = np.asarray(context.p), np.asarray(view.W_O)
    best = lucky_by_loops(np.asarray(context.initial.W_O), p, CONE)[2]
    own, high, others, norms = [], [], [], []
    signed_own, signed_others = [], []
    for k in range(CLASSES):
        lucky = [W_O[i] for i in range(NEURONS) if best[k, i]]
        along = [float(w @ p[:, k]) for w in lucky]
        own.append(np.mean(along))
        high.append(np.mean([x for x in along if x >= np.mean(along)]))
        rest = [[max(float(w @ p[:, j]), 0) for j in range(USED) if j != k] for w in lucky]
        others.append(np.mean(rest))
        norms.append(np.mean([np.linalg.norm(w) for w in lucky]))
        signed = [W_O[i] for i in range(NEURONS) if best[k, i] and fits(context, k, i)]
        signed_own.append(np.mean([float(w @ p[:, k]) for w in signed]))
        signed_others.append(
            np.mean([[max(float(w @ p[:, j]), 0) for j in range(USED) if j != k] for w in signed])
        )
    unlucky = [W_O[i] for i in range(NEURONS) if not best[:, i].any()]
    plain = [[max(float(w @ p[:, j]), 0) for j in range(2, USED)] for w in unlucky]
    expected = {
        "lucky_along_own": np.mean(own),
        "lucky_along_own_high": np.mean(high),
        "lucky_along_others": np.mean(others),
        "lucky_norm": np.mean(norms),
        "signed_along_own": np.mean(signed_own),
        "signed_along_others": np.mean(signed_others),
        "unlucky_along": np.mean(plain),
        "unlucky_norm": np.mean([np.linalg.norm(w) for w in unlucky]),
    }
    assert set(got) == set(expected)
    for name, value in expected.items():
        np.testing.assert_allclose(got[name], value, rtol=1e-12, err_msg=name)


def test_the_upper_half_includes_a_neuron_at_the_mean(case) -> None:
    """Equal neurons are all at the mean: a half without it would be empty."""
    first = case.context.initial._replace(W_O=jnp.tile(case.context.p[:, :2].T, (3, 1)))
    few = case.context.a[:, :6]
    context = PatternContext(**{**vars(case.context), "initial": first, "a": few})
    got = lucky_neurons.neuron_projections(NOW, first, context)
    np.testing.assert_allclose(got["lucky_along_own_high"], 1.0, rtol=1e-12)


def test_growth_of_features(case) -> None:
    context, view = case.context, case.view
    got = lucky_neurons.feature_growth(NOW, view, context)
    p, q = np.asarray(context.p), np.asarray(context.q)
    basis = p[:, :USED]
    for j in range(USED):
        mu = np.asarray(context.patterns)[j]
        key, query, value = (np.asarray(W)[0] @ mu for W in (view.W_K, view.W_Q, view.W_V))
        expected = {
            "key_norm": np.linalg.norm(key),
            "query_norm": np.linalg.norm(query),
            "value_norm": np.linalg.norm(value),
            "key_along": key @ q[:, j],
            "value_along": value @ p[:, j],
            # With all of R^4 in the span there is nothing off it: see the next test.
            "value_error": np.linalg.norm(value - basis @ basis.T @ value),
        }
        for name, number in expected.items():
            np.testing.assert_allclose(got[name][j], number, atol=1e-12, err_msg=name)
    for name, series in got.items():
        assert np.isnan(series[USED:]).all(), name


def test_what_a_value_has_off_the_first_features(case) -> None:
    used = jnp.arange(PATTERNS) < 2
    context = PatternContext(**{**vars(case.context), "used": used})
    got = lucky_neurons.feature_growth(NOW, case.view, context)["value_error"]
    basis = np.asarray(case.context.p)[:, :2]
    values = value_features(case.view, context)[:, :2]
    coefficients, *_ = np.linalg.lstsq(basis, values, rcond=None)
    np.testing.assert_allclose(got[:2], np.linalg.norm(values - basis @ coefficients, axis=0))
    assert (got[:2] > 0.1).all()


def value_gradient_by_loops(context, w) -> tuple[np.ndarray, np.ndarray]:
    """V_i and the margins y F, place by place."""
    W_O, W_V, W_K, W_Q = (np.asarray(x) for x in w)
    a, mu = np.asarray(context.a), np.asarray(context.patterns)[0]
    V, margins = np.zeros(NEURONS), np.zeros(N)
    for n in range(N):
        X, y = np.asarray(context.batch.tokens)[n], np.asarray(context.labels)[n]
        kept, keys = np.asarray(context.batch.kept)[n], np.asarray(context.keys)[n]
        for place in range(L):
            if not kept[place]:
                continue
            v, along = np.zeros(M_A), 0.0
            for h in range(2):
                e = [
                    math.exp(0.7 * float((W_K[h] @ X[s]) @ (W_Q[h] @ X[place]))) * keys[s]
                    for s in range(L)
                ]
                for s in range(L):
                    v += e[s] / sum(e) * W_V[h] @ X[s]
                    along += e[s] / sum(e) * float(X[s] @ mu)
            for i in range(NEURONS):
                hidden = float(W_O[i] @ v)
                if hidden > 0:
                    weight = float(y @ a[:, i, place]) / kept.sum()
                    V[i] -= weight * along / N
                    margins[n] += weight * hidden
    return V, margins


def test_the_values_gradient(case) -> None:
    context, view = case.context, case.view
    got = jax.jit(lucky_neurons.value_gradient)(NOW, view, context)
    V, margins = value_gradient_by_loops(context, view)
    best = lucky_by_loops(np.asarray(context.initial.W_O), np.asarray(context.p), CONE)[2]
    unlucky = ~best.any(0)
    signed = best[0] & (np.asarray(context.a)[0].sum(-1) > 0)
    np.testing.assert_allclose(got["mean_margin"], margins.mean(), rtol=1e-11)
    np.testing.assert_allclose(got["lucky_V_negative"], (V[best[0]] < 0).mean())
    np.testing.assert_allclose(got["signed_V_negative"], (V[signed] < 0).mean())
    least = V[unlucky].min() * math.sqrt(NEURONS)
    np.testing.assert_allclose(got["unlucky_V_least"], least, rtol=1e-11)
    np.testing.assert_allclose(got["signed_V"], V[signed].mean() * math.sqrt(NEURONS), rtol=1e-11)
    opposite = [V[i] for i in range(NEURONS) if best[1, i] and fits(context, 1, i)]
    smallest = min(opposite) * math.sqrt(NEURONS)
    np.testing.assert_allclose(got["opposite_V_least"], smallest, rtol=1e-11)
    shares = {float(got["lucky_V_negative"]), float(got["signed_V_negative"])}
    assert len(shares) == 2
    assert all(0 < share < 1 for share in shares)
