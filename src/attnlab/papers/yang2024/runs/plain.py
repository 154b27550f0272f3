r"""Runs in plain numpy: Propositions E.5, E.8 and E.22, Lemma G.1 and Lemma H.1.

Each scalar is a quotient by its bound, at failure probability DELTA; where the paper hides a
constant or logarithms, by its order with constant one.

Legend: as in `theory.sizes`; $b(m, x) = \sqrt{(4/m)\log x} + (4/m)\log x$.
"""

import math

import numpy as np

from attnlab.core import Key, Result
from attnlab.papers.yang2024.runs.summaries.initial import DELTA
from attnlab.papers.yang2024.settings.plain import (
    DerivativeSettings,
    ProductSettings,
    SumSettings,
)
from attnlab.papers.yang2024.theory.sizes import bernstein

STEP = 1e-6
SIGNALS = ((0, 1, 2), (0, 2), (1, 2), (2,))


def _words(n: int, L: int) -> tuple[np.ndarray, np.ndarray]:
    """A balanced training set with distinct random words, and its labels."""
    kinds = np.repeat(range(4), [n // 2, n // 6, n // 6, n // 6])
    fresh = iter(range(3, 3 + n * L))
    rows = [[*SIGNALS[k], *(next(fresh) for _ in range(L - len(SIGNALS[k])))] for k in kinds]
    return np.array(rows), np.where(kinds == 0, 1, -1)


def draw_products(cell: ProductSettings, key: Key) -> Result:
    """E.5, E.8 and E.22 at one draw, attention and g as they are at the start."""
    random = np.random.default_rng(key.words("products"))
    n, L, m, m1 = cell.n, cell.L, cell.m, cell.m1
    words, y = _words(n, L)
    d = int(words.max()) + 1
    s0, s1 = cell.c0 / math.sqrt(L * m), 1 / math.sqrt(m1)
    W = s1 * random.standard_normal((m1, m))
    V, K, Q = (s0 * random.standard_normal((m, d)) for _ in range(3))
    a = random.choice([-1.0, 1.0], m1)
    scores = np.einsum("ilk,ihk->ilh", Q.T[words], K.T[words]) / math.sqrt(m)
    p = np.exp(scores)
    p /= p.sum(axis=2, keepdims=True)
    G = (a @ W) @ V
    F = np.einsum("ilh,ih->i", p, G[words])
    r = y / (1 + np.exp(y * F)) / n
    neurons = W @ W.T
    others = (neurons - np.diag(np.diagonal(neurons))) @ a
    received = np.zeros(d)
    np.add.at(received, words, r[:, None] * p.sum(axis=1))
    uses = np.bincount(words.ravel(), minlength=d) / n
    pair = bernstein(m, 2 * m1**2 / DELTA)
    of_neurons = s1**2 * math.sqrt(m1) * m * pair
    grams = V.T @ V
    cross = grams @ received - np.diagonal(grams) * received
    of_values = s0**2 * m / math.sqrt(L) * bernstein(m, 2 * n * L * d / DELTA)
    value = s1 * s0 * math.sqrt(m * m1) * math.sqrt(math.log(m1 * d / DELTA))
    norm = s0**2 * m * value * math.sqrt(math.log(n * d / DELTA))
    off = s0**2 * math.sqrt(m) * s0 * s1 * math.sqrt(m * m1)
    keys, queries = K.T @ K, Q.T @ Q
    largest = float(np.abs(G).max())

    def across(gram: np.ndarray) -> float:
        inside = np.abs(gram[words[:, :, None], words[:, None, :]])
        inside[:, range(L), range(L)] = 0
        return float((inside.max(axis=(1, 2)) * np.abs(G[words]).max(axis=1)).max())

    own = max(np.diagonal(keys).max(), np.diagonal(queries).max())
    return Result({
        "e5_neurons": np.abs(others).max() / (of_neurons * math.sqrt(math.log(4 * m1 / DELTA))),
        "e5_words": (np.abs(others).max() * np.abs(received) / uses.clip(1 / n)).max()
        / (of_neurons * math.sqrt(math.log(m1 / DELTA))),
        "e5_values": np.abs(cross).max() / of_values,
        "e8_output": largest / (s0 * s1 * math.sqrt(m * m1)),
        "e22_own": own * largest / norm,
        "e22_across": max(across(keys), across(queries)) / off,
    })  # fmt: skip


def differentiate_softmax(cell: DerivativeSettings, key: Key) -> Result:
    """G.1: the derivative of softmax(s(t)) by the formula, and by a central difference."""
    random = np.random.default_rng(key.words("scores"))
    s, rate = cell.spread * random.standard_normal((2, cell.L))

    def softmax(x: np.ndarray) -> np.ndarray:
        weights = np.exp(x - x.max())
        return weights / weights.sum()

    p = softmax(s)
    jacobian = np.diag(p) - (np.outer(p, p) if cell.jacobian == "printed" else 0)
    difference = (softmax(s + STEP * rate) - softmax(s - STEP * rate)) / (2 * STEP)
    size = np.abs(difference).max()
    return Result({"error": float(np.abs(jacobian @ rate - difference).max() / size)})


def draw_sums(cell: SumSettings, key: Key) -> Result:
    """H.1: how many of many sums stay below the bound, and below a third of it."""
    random = np.random.default_rng(key.words("sums"))
    size = (cell.draws, cell.n)
    Z = random.choice([-1.0, 1.0], size) * (random.uniform(size=size) < cell.rare)
    sums = Z.sum(axis=1)
    log = math.log(1 / cell.delta)
    bound = math.sqrt(2 * cell.n * cell.rare * log) + 2 * log
    return Result(
        {"below": int((sums <= bound).sum()), "below_third": int((sums <= bound / 3).sum())}
    )
