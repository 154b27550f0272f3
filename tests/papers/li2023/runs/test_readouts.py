"""What a run is looked at with, against loops over neurons, patterns and tokens."""

from types import SimpleNamespace

import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.pattern_vote import PatternBatch
from attnlab.models.shallow_vit import Parameters
from attnlab.models.shallow_vit_initialisation import Features, Start
from attnlab.papers.li2023.runs import readouts
from attnlab.training.inputs import Choice

H, M, USED, D, NEURONS, M_A, M_B, N, L = 2, 5, 4, 6, 60, 6, 3, 30, 4
PROBED = 24


def run(case, **changes):
    """What readouts know of a run, with some settings changed."""
    inputs = {
        "probes": "dynamics", "classes": 2, "d": D, "L": L, "heads": H, "combination": "sum",
        "sigma": jnp.asarray(0.3), "skip": jnp.asarray(True), "removal": "excluded",
    }  # fmt: skip
    inputs |= changes
    inputs["removal"] = Choice(
        jnp.asarray(("excluded", "zeroed").index(inputs["removal"])), ("excluded", "zeroed")
    )
    return SimpleNamespace(
        inputs=SimpleNamespace(**inputs),
        dtype=np.dtype("float64"),
        directions=jnp.asarray(case.mu),
        used=jnp.arange(M) < USED,
        tau=jnp.asarray(0.04),
    )


@pytest.fixture(scope="module")
def case():
    random = np.random.default_rng(17)

    def weights():
        shapes = [(NEURONS, M_A), (H, M_A, D), (H, M_B, D), (H, M_B, D)]
        return Parameters(*(jnp.asarray(random.normal(size=shape)) for shape in shapes))

    features = Features(*(jnp.asarray(random.normal(size=(H, k, M))) for k in (M_A, M_B, M_B)))
    drawn = Start(weights(), jnp.asarray(random.normal(size=(2, L, NEURONS))), features)
    kept = random.random((N, L)) < 0.6
    batch = PatternBatch(
        tokens=jnp.asarray(random.normal(size=(N, L, D))),
        labels=jnp.asarray(random.choice([-1, 1], N)),
        roles=jnp.zeros((N, L), int),
        types=jnp.asarray(random.choice([1, 2], N)),
        kept=jnp.asarray(kept),
        patterns=jnp.asarray(random.integers(0, USED, (N, L))),
        noisy=jnp.zeros((N, L), bool),
    )
    mu = np.stack([x / np.linalg.norm(x) for x in random.normal(size=(M, D))])
    first = SimpleNamespace(
        drawn=drawn, engine=SimpleNamespace(score_gain=jnp.asarray(0.7)), batch=batch
    )
    return SimpleNamespace(drawn=drawn, state=weights(), first=first, batch=batch, mu=mu)


def test_the_context_of_the_probes(case) -> None:
    got = readouts.context(run(case), case.first)
    np.testing.assert_allclose(got.patterns, case.mu)
    signs = {1: 1, 2: -1}
    labels = [[signs[int(kind)]] for kind in case.batch.types[:PROBED]]
    np.testing.assert_array_equal(got.labels, labels)
    np.testing.assert_array_equal(got.batch.tokens, case.batch.tokens[:PROBED])
    np.testing.assert_array_equal(got.keys, case.batch.kept[:PROBED])
    np.testing.assert_array_equal(got.a, np.swapaxes(case.drawn.a, 1, 2))
    np.testing.assert_array_equal(got.p, case.drawn.features.p[0])
    np.testing.assert_array_equal(got.q, case.drawn.features.q[0])
    np.testing.assert_array_equal(got.used, [True] * USED + [False])
    assert float(got.cone) == pytest.approx(0.34)
    assert float(got.score_gain) == 0.7
    assert np.asarray(readouts.context(run(case, removal="zeroed"), case.first).keys).all()
    assert readouts.context(run(case, probes="outcome"), case.first) is None


@pytest.mark.parametrize("skip", [0.0, 1.0])
def test_gates_by_neuron_and_pattern(case, skip) -> None:
    """A sample of one token of each discriminative pattern, before and after."""

    def gates(w) -> np.ndarray:
        W_O, W_V, W_K, W_Q = (np.asarray(x) for x in w)
        found = np.zeros((2, NEURONS), bool)
        for query in range(2):
            v = skip * case.mu[query]
            for h in range(H):
                q = W_Q[h] @ case.mu[query]
                e = [np.exp((W_K[h] @ case.mu[s]) @ q) for s in range(2)]
                v = v + sum(e[s] / sum(e) * W_V[h] @ case.mu[s] for s in range(2))
            found[query] = [W_O[i] @ v > 0 for i in range(NEURONS)]
        return found

    given = run(case, skip=jnp.asarray(bool(skip)))
    got = readouts.steady_gates(given, case.drawn, case.state)
    expected = (gates(case.drawn.parameters) == gates(case.state)).mean()
    assert 0 < expected < 1
    assert float(got) == pytest.approx(expected)


@pytest.mark.parametrize("combination", ["sum", "concat"])
def test_errors_and_norms_of_the_first_maps(case, combination) -> None:
    got = readouts.norms(run(case, combination=combination), case.drawn)
    for name, feature in zip(("W_V", "W_K", "W_Q"), case.drawn.features, strict=True):
        W = np.asarray(getattr(case.drawn.parameters, name))[0]
        parts = H if (name, combination) == ("W_V", "sum") else 1
        errors = [
            np.linalg.norm(parts * W @ case.mu[j] - np.asarray(feature)[0, :, j])
            for j in range(USED)
        ]
        assert float(got[f"error_{name}"]) == pytest.approx(max(errors))
        largest = np.sqrt(np.linalg.eigvalsh(W @ W.T)[-1])
        assert float(got[f"norm_{name}"]) == pytest.approx(largest)


def test_what_tokens_have_to_do_with_patterns(case) -> None:
    got = readouts.token_statistics(run(case), case.first)
    X, kinds = np.asarray(case.batch.tokens), np.asarray(case.batch.patterns)
    places = [(n, place) for n in range(PROBED) for place in range(L)]
    for name, feature in zip(("W_V", "W_K", "W_Q"), case.drawn.features, strict=True):
        W = np.asarray(getattr(case.drawn.parameters, name))[0] * (H if name == "W_V" else 1)
        errors = [np.linalg.norm(W @ X[i] - np.asarray(feature)[0, :, kinds[i]]) for i in places]
        assert float(got[f"token_error_{name}"]) == pytest.approx(max(errors))
    noise = max(np.linalg.norm(X[i] - case.mu[kinds[i]]) for i in places)
    assert float(got["largest_noise"]) == pytest.approx(noise)
    # Products within the first sample, a token with itself included.
    pairs = [(s, t) for s in range(L) for t in range(L)]
    same = [X[0, s] @ X[0, t] for s, t in pairs if kinds[0, s] == kinds[0, t]]
    other = [X[0, s] @ X[0, t] for s, t in pairs if kinds[0, s] != kinds[0, t]]
    assert float(got["least_same_product"]) == pytest.approx(min(same))
    assert float(got["largest_other_product"]) == pytest.approx(max(other))


def test_projections_of_a_class_of_neurons(case) -> None:
    assert readouts.class_projections(run(case), case.drawn, case.state) == {}
    four = readouts.class_projections(run(case, classes=4), case.drawn, case.state)
    got = np.asarray(four["class_projections"])
    before, after = (np.asarray(w.W_O) for w in (case.drawn.parameters, case.state))
    a, p = np.asarray(case.drawn.a), np.asarray(case.drawn.features.p)[0]
    for j in range(4):
        moves = [
            (after[i] - before[i]) @ p[:, j]
            for i in range(NEURONS)
            if a[0, :, i].mean() > 0 > a[1, :, i].mean() and before[i] @ p[:, j] > 0
        ]
        expected = np.mean(moves) if moves else np.nan
        np.testing.assert_allclose(got[j], expected)
    assert np.isfinite(got).all()
    assert got.shape == (4,)
