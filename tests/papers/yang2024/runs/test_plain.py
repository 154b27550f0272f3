"""Products of drawn weights by loops over words and neurons, as the propositions print them."""

import math

import numpy as np
import pytest

from attnlab.cells import Key
from attnlab.core import BadInput
from attnlab.papers.yang2024.runs import plain
from attnlab.papers.yang2024.settings.plain import (
    DerivativeSettings,
    ProductSettings,
    SumSettings,
)

CELL = ProductSettings(n=6, L=4, m=16, m1=5, c0=0.7)
DELTA = 0.1


def b(m, x):
    return math.sqrt(4 / m * math.log(x)) + 4 / m * math.log(x)


def test_every_product_by_loops():
    key = Key("{}", 4)
    got = plain.draw_products(CELL, key).values
    random = np.random.default_rng(key.words("products"))
    n, L, m, m1 = 6, 4, 16, 5
    s0, s1 = 0.7 / math.sqrt(L * m), 1 / math.sqrt(m1)
    samples = [
        [0, 1, 2, 3], [0, 1, 2, 4], [0, 1, 2, 5], [0, 2, 6, 7], [1, 2, 8, 9], [2, 10, 11, 12]
    ]  # fmt: skip
    y = [1, 1, 1, -1, -1, -1]
    d = 13
    W = s1 * random.standard_normal((m1, m))
    V, K, Q = (s0 * random.standard_normal((m, d)) for _ in range(3))
    a = random.choice([-1.0, 1.0], m1)
    G = [sum(a[j] * W[j] @ V[:, w] for j in range(m1)) for w in range(d)]
    received = [0.0] * d
    for words, label in zip(samples, y, strict=True):
        p = []
        for query in words:
            e = [math.exp(K[:, h] @ Q[:, query] / math.sqrt(m)) for h in words]
            p.append([x / sum(e) for x in e])
        F = sum(p[i][h] * G[words[h]] for i in range(L) for h in range(L))
        g = 1 / (1 + math.exp(label * F))
        for h, word in enumerate(words):
            received[word] += g * label / n * sum(p[i][h] for i in range(L))
    sums = [sum(a[k] * (W[j] @ W[k]) for k in range(m1) if k != j) for j in range(m1)]
    largest = max(map(abs, sums))
    pair = s1**2 * math.sqrt(m1) * m * b(m, 2 * m1**2 / DELTA)
    uses = [sum(w in words for words in samples) / n for w in range(d)]
    cross = [sum(V[:, v] @ V[:, w] * received[v] for v in range(d) if v != w) for w in range(d)]
    off = max(
        abs(M[:, u] @ M[:, v]) * max(abs(G[w]) for w in words)
        for M in (K, Q) for words in samples for u in words for v in words if u != v
    )  # fmt: skip
    own = max(M[:, w] @ M[:, w] for M in (K, Q) for w in range(d)) * max(map(abs, G))
    unit = s0 * s1 * math.sqrt(m * m1)
    logs = math.sqrt(math.log(m1 * d / DELTA) * math.log(n * d / DELTA))
    expected = {
        "e5_neurons": largest / (pair * math.sqrt(math.log(4 * m1 / DELTA))),
        "e5_words": max(largest * abs(r) / u for r, u in zip(received, uses, strict=True))
        / (pair * math.sqrt(math.log(m1 / DELTA))),
        "e5_values": max(map(abs, cross))
        / (s0**2 * m / math.sqrt(L) * b(m, 2 * n * L * d / DELTA)),
        "e8_output": max(map(abs, G)) / unit,
        "e22_own": own / (s0**2 * m * unit * logs),
        "e22_across": off / (s0**2 * math.sqrt(m) * unit),
    }
    assert got == pytest.approx(expected, rel=1e-9)


def test_the_diagonal_is_not_the_derivative():
    errors = [
        plain.differentiate_softmax(DerivativeSettings(jacobian=j), Key("{}", 0)).values["error"]
        for j in ("printed", "diagonal")
    ]
    assert errors[0] < 1e-6 < 0.01 < errors[1]


def test_sums_against_the_binomial_tail():
    values = plain.draw_sums(SumSettings(n=4, rare=1.0, draws=4000, delta=0.9), Key("{}", 0)).values
    bound = math.sqrt(8 * math.log(1 / 0.9)) + 2 * math.log(1 / 0.9)  # 1.13: sums of 0 and below
    assert 0 < bound < 2
    share = sum(math.comb(4, k) for k in range(5) if 2 * k - 4 <= bound) / 16
    assert values["below"] / 4000 == pytest.approx(share, abs=0.03)


@pytest.mark.parametrize("make", [
    lambda: ProductSettings(n=7), lambda: ProductSettings(L=3), lambda: DerivativeSettings(L=0),
    lambda: SumSettings(delta=1.0), lambda: SumSettings(rare=2.0),
])  # fmt: skip
def test_bad_sizes_are_refused(make):
    with pytest.raises(BadInput, match="got "):
        make()
