"""Terms of single neurons by loops over neurons, samples and words, on weights."""

import math
from dataclasses import replace

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.papers.yang2024.runs import draws, neuron_terms
from attnlab.papers.yang2024.settings import TrainingSettings
from attnlab.papers.yang2024.studies.neuron_terms import resolve_terms
from attnlab.papers.yang2024.theory.sizes import StatedSizes

ASKED = TrainingSettings(
    n=12, L=4, m=64, m1=5, c0=0.7, records=12, horizon=6.0, rtol=1e-10, probes="auto"
)
CELL = resolve_terms(ASKED)


@pytest.fixture(scope="module")
def run():
    """A run's record, and the samples and matrices that the same key gives."""
    key = Key.of(CELL, 2)
    values = neuron_terms.follow_terms(CELL, key).values
    batch = draws.training_set(CELL, key)
    on_weights = replace(CELL, engine="weights")
    engine, state = draws.start(on_weights, key, batch, batch)
    matrices = tuple(np.asarray(x) for x in state)
    return values, np.asarray(batch.words), np.asarray(batch.labels), np.asarray(engine.a), matrices


def attention(sample, W_K, W_Q):
    """p[l][h]."""
    scale = math.sqrt(len(W_K))
    p = np.array([[np.exp(W_K[:, h] @ W_Q[:, q] / scale) for h in sample] for q in sample])
    return p / p.sum(axis=1, keepdims=True)


def slopes(matrices, words, labels, a):
    """The negative gradients, sample by sample and place by place."""
    W, W_V, W_K, W_Q = matrices
    moves = [np.zeros_like(x) for x in matrices]
    u, scale = a @ W, math.sqrt(W.shape[1])
    for sample, y in zip(words, labels, strict=True):
        p, G = attention(sample, W_K, W_Q), [u @ W_V[:, h] for h in sample]
        r = y / (1 + math.exp(y * (p @ G).sum())) / len(words)
        for place, query in enumerate(sample):
            seen = sum(p[place, h] * W_V[:, word] for h, word in enumerate(sample))
            moves[0] += r * np.outer(a, seen)
            for h, word in enumerate(sample):
                moves[1][:, word] += r * p[place, h] * u
                pull = r * p[place, h] * (G[h] - p[place] @ G) / scale
                moves[2][:, word] += pull * W_Q[:, query]
                moves[3][:, query] += pull * W_K[:, word]
    return moves


def walked(matrices, words, labels, a, end, steps=60):
    """Runge and Kutta's rule of fourth order."""
    h, x = end / steps, list(matrices)

    def ahead(move, part):
        return [u + part * h * v for u, v in zip(x, move, strict=True)]

    for _ in range(steps):
        k1 = slopes(x, words, labels, a)
        k2 = slopes(ahead(k1, 0.5), words, labels, a)
        k3 = slopes(ahead(k2, 0.5), words, labels, a)
        k4 = slopes(ahead(k3, 1.0), words, labels, a)
        x = [
            u + h / 6 * (p + 2 * q + 2 * r + s)
            for u, p, q, r, s in zip(x, k1, k2, k3, k4, strict=True)
        ]
    return x


def test_every_term_by_loops(run):
    values, words, labels, a, first = run
    k = 9
    W, W_V, W_K, W_Q = walked(first, words, labels, a, float(values["times"][k]))
    changes, n = [], len(words)
    z = np.zeros(W_V.shape[1])
    for sample, y in zip(words, labels, strict=True):
        p, p_first = attention(sample, W_K, W_Q), attention(sample, first[2], first[3])
        now, then = W @ W_V[:, sample], first[0] @ first[1][:, sample]
        changes.append(np.abs(now @ p.T - then @ p_first.T).max())
        g = 1 / (1 + math.exp(y * (a @ now @ p.T).sum()))
        for h, word in enumerate(sample):
            z[word] += g * y / n * p[:, h].sum()
    assert values["sample_output_change"][k] == pytest.approx(max(changes), rel=1e-5)
    value = max(
        abs(sum(W_V[:, v] @ W_V[:, mu] * z[v] for v in range(len(z)) if v != mu)) for mu in (0, 1)
    )
    assert values["value_term"][k] == pytest.approx(value, rel=1e-5)
    held = [sum(mu in sample for sample in words) / n for mu in (0, 1)]
    neuron = max(
        abs(sum(a[i] * (W[i] @ W[j]) for i in range(len(a)) if i != j) * z[mu]) / held[mu]
        for j in range(len(a)) for mu in (0, 1)
    )  # fmt: skip
    assert values["neuron_term"][k] == pytest.approx(neuron, rel=1e-5)
    moved = np.abs(W @ W_V - first[0] @ first[1])[:, :3].max()
    assert values["signal_output_change"][k] == pytest.approx(moved, rel=1e-5)


def test_quotients_are_over_the_stated_bounds_until_T1():
    series = {
        "times": np.array([0.0, 1.0, 2.0, 3.0]),
        "sample_output_change": np.array([0.0, 1.0, 2.0, 9.0]),
        "value_term": np.array([1.0, 5.0, 2.0, 9.0]),
        "neuron_term": np.array([3.0, 1.0, 2.0, 9.0]),
        "signal_output_change": np.array([0.0, 3.0, 4.0, 9.0]),
        "attention_change": np.array([0.0, 0.1, 0.2, 9.0]),
    }
    sizes = StatedSizes(n=24, L=4, d=43, m=100, m1=9, s0=0.3, s1=0.5)
    found = neuron_terms.over_bounds(series, sizes, 2.5)
    assert found == pytest.approx({
        "sample_output_change_over_bound": 2 / (4 * 0.2 * 0.3 * 0.5 * 10 + 4 * 4 / 4),
        "value_term_over_bound": 5 / (4 * 0.09 * 10),
        "neuron_term_over_bound": 3 / (0.25 * 30),
    })  # fmt: skip
    assert all(math.isnan(x) for x in neuron_terms.over_bounds(series, sizes, math.nan).values())


@pytest.mark.parametrize("changes", [{"engine": "weights"}, {"probes": "words"}])
def test_a_run_without_single_neurons_is_refused(changes):
    with pytest.raises(BadInput, match="take engine=gram and probes=neurons"):
        resolve_terms(replace(ASKED, **changes))
