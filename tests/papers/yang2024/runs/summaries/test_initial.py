"""Appendix D's scalars of a draw against brute force on its matrices."""

import math

import numpy as np
import pytest

from attnlab.core import Record
from attnlab.papers.yang2024.runs.summaries import initial
from attnlab.papers.yang2024.scalars import initial as scalars


def places(start):
    """For every sample and query place: the samples' words and the attention, by definition."""
    _, _, words, _, M, _ = start
    m = M["W_K"].shape[0]
    for i in range(len(words)):
        for query in words[i]:
            scores = np.array([M["W_K"][:, h] @ M["W_Q"][:, query] for h in words[i]])
            p = np.exp(scores / math.sqrt(m))
            yield i, words[i], p / p.sum()


def bound(m, x):
    return math.sqrt(4 / m * math.log(x / initial.DELTA)) + 4 / m * math.log(x / initial.DELTA)


def test_keys_queries_values_and_neurons_at_the_start(start):
    cell, values, _, a, M, _ = start
    m, m1, d = cell.m, cell.m1, cell.d
    s0, s1 = float(values["s0"]), float(values["s1"])
    pairs = [(i, j) for i in range(d) for j in range(d)]

    def off(name):
        return max(abs(M[name][:, i] @ M[name][:, j]) for i, j in pairs if i != j) / (s0**2 * m)

    def norm(name):
        return max(abs(M[name][:, i] @ M[name][:, i] / (s0**2 * m) - 1) for i in range(d))

    score = max(abs(M["W_K"][:, i] @ M["W_Q"][:, j]) for i, j in pairs) / (s0**2 * m)
    expected = {
        "d1_score": score / bound(m, 2 * d),
        "d1_key_pair": off("W_K") / bound(m, 2 * d),
        "d1_query_pair": off("W_Q") / bound(m, 2 * d),
        "d1_key_norm": norm("W_K") / bound(m, 2 * d),
        "d1_query_norm": norm("W_Q") / bound(m, 2 * d),
        "d3_value_pair": off("W_V") / bound(m, 2 * d),
        "d3_value_norm": norm("W_V") / bound(m, 2 * d),
    }
    W = M["W"]
    neurons = [(i, j) for i in range(m1) for j in range(m1)]
    between = max(abs(W[i] @ W[j]) for i, j in neurons if i != j) / (s1**2 * m)
    expected["d3_neuron_pair"] = between / bound(m, 2 * m1**2)
    expected["d3_neuron_norm"] = max(abs(w @ w / (s1**2 * m) - 1) for w in W) / bound(m, 2 * m1)
    both = max(abs(w @ M["W_V"][:, i]) for w in W for i in range(d)) / (s0 * s1 * m)
    expected["d3_neuron_value"] = both / bound(m, 2 * m1 * d)
    share = sum(x > 0 for x in a) / m1
    expected["d6_signs"] = abs(share - 0.5) / math.sqrt(2 * math.log(40) / m1)
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, rel=1e-9), name


def test_samples_and_outputs_at_the_start(start):
    cell, values, _, a, M, _ = start
    m, m1, n, L = cell.m, cell.m1, cell.n, cell.L
    s0, s1 = float(values["s0"]), float(values["s1"])
    norms, by_neuron, uniform, F = [], [], [], np.zeros(n)
    for i, sample, p in places(start):
        seen = M["W_V"][:, sample] @ p
        norms.append(abs(seen @ seen * L / (s0**2 * m) - 1))
        by_neuron += [abs(w @ seen) for w in M["W"]]
        uniform.append(np.abs(p * L - 1).max())
        F[i] += a @ M["W"] @ seen
    G = [a @ M["W"] @ M["W_V"][:, i] for i in range(cell.d)]
    scale = s0 * s1 * math.sqrt(m * m1)
    log = math.log(2 * L * n / initial.DELTA)
    unit = s0 * s1 * math.sqrt(m / L)
    corrected = unit * math.sqrt(2 * math.log(2 * m1 * n * L / initial.DELTA))
    expected = {
        "d2_softmax": max(uniform),
        "d4_value_norm": max(norms) / bound(m, 2 * n * L),
        "d5_corrected": max(by_neuron) / corrected,
        "d5_printed": max(by_neuron) / unit / math.sqrt(math.log(m1 * n * L / initial.DELTA)),
        "d7_output": max(map(abs, G)) / (s0 * s1),
        "d7_output_over_tail": max(map(abs, G)) / scale / math.sqrt(2 * math.log(20 * cell.d)),
        "d8_bound": 2 * s0 * s1 * math.sqrt(2 * L * m1 * m * log),
        "d8_output": np.abs(F).max() / (2 * scale * math.sqrt(2 * L * log)),
    }
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, rel=1e-8), name


def test_first_rates_of_neurons_are_those_of_the_weights_own_field(start):
    cell, values, _, a, _, (engine, state) = start
    _, field = engine.loss_and_field(state)
    rates = a[:, None] * np.asarray(field.W @ state.W_V + state.W @ field.W_V)
    s0, s1 = float(values["s0"]), float(values["s1"])
    unit = (s0**2 + s1**2) * cell.m
    F = float(values["d8_output"]) * float(values["d8_bound"])
    noise = s0**2 * math.sqrt(cell.m * cell.L)
    neurons = s1**2 * math.sqrt(cell.m * cell.m1)
    common = np.abs(rates[:, 2]).max()
    expected = {
        "signal_rate_least": rates[:, :2].min() / unit,
        "signal_rate_most": rates[:, :2].max() / unit,
        "common_rate_over_bound": common / (neurons + noise + unit * F),
        "common_rate_over_printed": common / (neurons + noise + s1**2 * cell.m * F),
        "random_rate_over_bound": np.abs(rates[:, 3:]).max() / (unit / cell.n + noise),
        "random_rate_over_unit": np.abs(rates[:, 3:]).max() / unit,
    }
    for name, value in expected.items():
        assert values[name] == pytest.approx(value, rel=1e-9), name


def test_attention_at_the_start_over_the_bound_of_a_score(start):
    cell, values, *_ = start
    record = Record("yang2024.initial", cell, 3, values)
    s0 = float(values["s0"])
    limit = 2 * s0**2 * math.sqrt(cell.m) * bound(cell.m, 2 * cell.d)
    off = max(float(np.abs(p * cell.L - 1).max()) for _, _, p in places(start))
    assert scalars.D2.of(record) == pytest.approx(off / limit, rel=1e-8)
