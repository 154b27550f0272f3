"""The probes of the second phase on a random view, pair by pair and place by place."""

import math
from dataclasses import replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from attnlab.data.word_cooccurrence import BalancedTrainingSet
from attnlab.models.word_level import WordView
from attnlab.papers.yang2024.runs.probes import phase_2
from attnlab.probes.context import Context
from attnlab.training.engine import together

D, L, N = 25, 4, 12
NOISE = np.random.default_rng(3)
ROOT = NOISE.normal(size=(3, 40, D)) / 6
ARRAYS = {
    "G": NOISE.normal(size=D), "rho": np.asarray(50.0), "V": ROOT[2].T @ ROOT[2],
    "S": ROOT[0].T @ ROOT[1], "K": ROOT[0].T @ ROOT[0], "Q": ROOT[1].T @ ROOT[1],
    "A": np.asarray(64.0), "score_scale": np.asarray(0.4),
}  # fmt: skip
BEFORE = NOISE.normal(size=(D, D))


@pytest.fixture(scope="module")
def seen():
    """What the probes say, and the samples."""
    batch = BalancedTrainingSet(D, L).sample(jax.random.key(0), N)
    view = WordView(**{name: jnp.asarray(x) for name, x in ARRAYS.items()})
    context = Context(batch, replace(view, S=jnp.asarray(BEFORE)))
    probes = (
        phase_2.value_side, phase_2.score_side, phase_2.sample_side,
        phase_2.test_loss,
    )  # fmt: skip
    found = eqx.filter_jit(together(*probes))(jnp.zeros(()), view, context)
    values = {name: np.asarray(x) for name, x in found.items()}
    arrays = (np.asarray(x) for x in (batch.words, batch.labels, batch.types, batch.roles))
    return values, *arrays


def attention(words: np.ndarray, S: np.ndarray) -> np.ndarray:
    p = np.zeros((N, L, L))
    for i in range(N):
        for query in range(L):
            scores = [math.exp(0.4 * S[words[i, h], words[i, query]]) for h in range(L)]
            p[i, query] = np.array(scores) / sum(scores)
    return p


def system(words, labels):
    """Margins, slopes g, z and M by their sums over samples and places."""
    G, p = ARRAYS["G"], attention(words, ARRAYS["S"])
    F = np.array([sum(p[i, q] @ G[words[i]] for q in range(L)) for i in range(N)])
    margins = labels * F
    g = 1 / (1 + np.exp(margins))
    z, M = np.zeros(D), np.zeros((D, D))
    for i in range(N):
        for q in range(L):
            mean = p[i, q] @ G[words[i]]
            for h in range(L):
                r = g[i] * labels[i] / N * p[i, q, h]
                z[words[i, h]] += r
                M[words[i, h], words[i, q]] += r * (G[words[i, h]] - mean)
    return margins, g, z, M


def with_random(pairs: np.ndarray) -> float:
    return max(abs(pairs[a, b]) for a in range(D) for b in range(D) if max(a, b) >= 3)


def test_the_value_side(seen):
    values, words, labels, _, _ = seen
    _, g, z, _ = system(words, labels)
    G = ARRAYS["G"]
    rates = np.array([[G[a] * z[b] + z[a] * G[b] for b in range(D)] for a in range(D)])
    np.testing.assert_allclose(values["value_rates"], rates[:3, :3], rtol=1e-10)
    assert values["largest_random_value_rate"] == pytest.approx(with_random(rates))
    part = max(abs(64 * ARRAYS["V"][a] @ z) for a in range(D)) / (50 * g.mean())
    assert values["value_part"] == pytest.approx(part)


def test_the_score_side(seen):
    values, words, labels, types, _ = seen
    _, g, _, M = system(words, labels)
    rates = 0.4 * (M @ ARRAYS["Q"] + ARRAYS["K"] @ M)
    moved = ARRAYS["S"] - BEFORE
    np.testing.assert_allclose(values["score_rates"], rates[:3, :3], rtol=1e-9, atol=1e-14)
    assert values["largest_random_score_rate"] == pytest.approx(with_random(rates))
    np.testing.assert_allclose(values["coefficients"], moved[:3, :3], rtol=1e-12)
    assert values["largest_random_coefficient"] == pytest.approx(with_random(moved))
    step = 1e-6
    ahead, behind = (attention(words, ARRAYS["S"] + s * rates) for s in (step, -step))
    slope = (ahead - behind) / (2 * step)
    by_attention = [
        abs(sum(slope[i, q] @ ARRAYS["G"][words[i]] for q in range(L))) for i in range(N)
    ]  # fmt: skip
    expected = max(by_attention) / (50 * g.mean())
    assert values["attention_part"] == pytest.approx(expected, rel=1e-5)

    def kind(i: int, place: int) -> int:
        word = words[i, place]
        return int(word) if word < 3 else 2 + int(types[i])

    totals, counts, rows, pairs = np.zeros((2, 7, 7)), np.zeros((2, 7, 7)), [], []
    for i in range(N):
        for key in range(L):
            for query in range(L):
                a, b = kind(i, key), kind(i, query)
                totals[0, a, b] += moved[words[i, key], words[i, query]]
                totals[1, a, b] += slope[i, query, key]
                counts[:, a, b] += 1
                if b < 2 and a >= 3:
                    rows.append(abs(slope[i, query, key]))
                pairs.append((a, b))
    with np.errstate(invalid="ignore"):
        means = totals / counts
    np.testing.assert_allclose(values["class_coefficients"], means[0], rtol=1e-10)
    np.testing.assert_allclose(values["softmax_rates"], means[1, :3, :3], rtol=1e-4, atol=1e-9)
    assert values["largest_random_softmax_rate"] == pytest.approx(max(rows), rel=1e-5)


def test_the_sample_side(seen):
    values, words, labels, types, _ = seen
    margins, g, _, _ = system(words, labels)
    G, p = ARRAYS["G"], attention(words, ARRAYS["S"])
    spread, curved = [], []
    for k in range(1, 5):
        own = [g[i] for i in range(N) if types[i] == k]
        spread.append(max(own) / min(own))
        curved.append(sum(x * (1 - x) for x in own) / len(own))
    np.testing.assert_allclose(values["gradient_spread_by_type"], spread)
    np.testing.assert_allclose(values["curvature_by_type"], curved)
    random = [
        abs(sum(p[i, q, h] * G[words[i, h]] for q in range(L) for h in range(L)
                if words[i, h] >= 3)) for i in range(N)
    ]  # fmt: skip
    assert values["random_word_sum"] == pytest.approx(max(random))
    G1, G2, G3 = G[:3]
    expected = [G1 + G2 + G3, -G1 - G3, -G2 - G3, -G3]
    np.testing.assert_allclose(values["unseen_margins"], expected)
    assert values["largest_output"] == pytest.approx(max(abs(margins)))
    assert values["mean_weighted_margin"] == pytest.approx(sum(g * margins) / N)


def test_loss_and_error(seen):
    values, words, labels, _, _ = seen
    margins, _, _, _ = system(words, labels)
    losses = [math.log1p(math.exp(-m)) for m in margins]
    assert values["loss"] == pytest.approx(sum(losses) / N)
    assert values["error"] == sum(m <= 0 for m in margins) / N
    assert 0 < values["error"] < 1
