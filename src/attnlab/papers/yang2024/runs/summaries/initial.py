r"""Appendix D in scalars: sizes at the start over their bounds, at failure probability DELTA.

A ratio above one is a failure. With $b(x) = \sqrt{(4/m)\log x} + (4/m)\log x$ the bounds are the
printed ones; of Corollary D.5 both the printed and the corrected one.

Legend: as in `theory.sizes`; G, V, S, K, Q the Grams of `attnlab.models.word_level`,
W (m1, m) the neurons, a (m1,) their signs, WV = $W W_V$ (m1, d), p (n, L, L) the attention and
F (n,) the outputs, all at the start.
"""

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from attnlab.papers.yang2024.theory.sizes import StatedSizes, bernstein

DELTA = 0.1
"""Ours: a failure rate of ten per cent can be decided with some sixty seeds."""


class DrawnStart(NamedTuple):
    """The arrays of the legend, the words, and how fast single neurons begin to move."""

    G: Float[np.ndarray, " d"]
    V: Float[np.ndarray, "d d"]
    S: Float[np.ndarray, "d d"]
    K: Float[np.ndarray, "d d"]
    Q: Float[np.ndarray, "d d"]
    W: Float[np.ndarray, "m1 m"]
    a: Float[np.ndarray, " m1"]
    WV: Float[np.ndarray, "m1 d"]
    p: Float[np.ndarray, "n L L"]
    F: Float[np.ndarray, " n"]
    words: Int[np.ndarray, "n L"]
    signal_neuron_rates: Float[np.ndarray, " 2"]
    """The least and the largest."""
    largest_common_neuron_rate: Float[np.ndarray, ""]
    largest_random_neuron_rate: Float[np.ndarray, ""]


def summarise(start: DrawnStart, sizes: StatedSizes) -> dict[str, float]:
    """All scalars of the start, by lemma."""
    return {
        **keys_and_queries(start, sizes),
        **values_and_neurons(start, sizes),
        **samples(start, sizes),
        **outputs(start, sizes),
        **rates(start, sizes),
    }


def keys_and_queries(start: DrawnStart, sizes: StatedSizes) -> dict[str, float]:
    """Lemma D.1 and Corollary D.2."""
    unit = sizes.s0**2 * sizes.m
    bound = bernstein(sizes.m, 2 * sizes.d / DELTA)
    p = start.p
    return {
        "d1_score": _largest(start.S) / unit / bound,
        "d1_key_pair": _largest(_off_diagonal(start.K)) / unit / bound,
        "d1_query_pair": _largest(_off_diagonal(start.Q)) / unit / bound,
        "d1_key_norm": _largest(np.diagonal(start.K) / unit - 1) / bound,
        "d1_query_norm": _largest(np.diagonal(start.Q) / unit - 1) / bound,
        "d2_softmax": _largest(p * p.shape[-1] - 1),
    }


def values_and_neurons(start: DrawnStart, sizes: StatedSizes) -> dict[str, float]:
    """Lemma D.3 and Lemma D.6."""
    m, m1, d, s0, s1 = sizes.m, sizes.m1, sizes.d, sizes.s0, sizes.s1
    V, neurons = start.V, start.W @ start.W.T
    positive = float((start.a > 0).mean())
    of_words = bernstein(m, 2 * d / DELTA)
    of_neurons, of_pairs = bernstein(m, 2 * m1 / DELTA), bernstein(m, 2 * m1**2 / DELTA)
    of_both = bernstein(m, 2 * m1 * d / DELTA)
    return {
        "d3_value_pair": _largest(_off_diagonal(V)) / (s0**2 * m) / of_words,
        "d3_value_norm": _largest(np.diagonal(V) / (s0**2 * m) - 1) / of_words,
        "d3_neuron_pair": _largest(_off_diagonal(neurons)) / (s1**2 * m) / of_pairs,
        "d3_neuron_norm": _largest(np.diagonal(neurons) / (s1**2 * m) - 1) / of_neurons,
        "d3_neuron_value": _largest(start.WV) / (s0 * s1 * m) / of_both,
        "d6_signs": abs(positive - 1 / 2) / math.sqrt(2 * math.log(4 / DELTA) / m1),
    }


def samples(start: DrawnStart, sizes: StatedSizes) -> dict[str, float]:
    """Lemma D.4 and Corollary D.5: what a query place sees."""
    m, m1, s0, s1 = sizes.m, sizes.m1, sizes.s0, sizes.s1
    p, words = start.p, start.words
    n, L, _ = p.shape
    V = start.V[words[:, :, None], words[:, None, :]]
    norms = np.einsum("ilh,ihk,ilk->il", p, V, p) * L / (s0**2 * m)
    by_neuron = _largest(np.einsum("jih,ilh->jil", start.WV[:, words], p))
    unit = s0 * s1 * math.sqrt(m / L)
    return {
        "d4_value_norm": _largest(norms - 1) / bernstein(m, 2 * n * L / DELTA),
        "d5_corrected": by_neuron / unit / math.sqrt(2 * math.log(2 * m1 * n * L / DELTA)),
        "d5_printed": by_neuron / unit / math.sqrt(math.log(m1 * n * L / DELTA)),
    }


def outputs(start: DrawnStart, sizes: StatedSizes) -> dict[str, float]:
    """Lemma D.7 and Lemma D.8."""
    n, L = start.words.shape
    scale = sizes.s0 * sizes.s1 * math.sqrt(sizes.m * sizes.m1)
    tail = math.sqrt(2 * math.log(2 * sizes.d / DELTA))
    bound = 2 * scale * math.sqrt(2 * L * math.log(2 * L * n / DELTA))
    return {
        "d7_output": _largest(start.G) / (sizes.s0 * sizes.s1),
        "d7_output_over_tail": _largest(start.G) / (scale * tail),
        "d8_output": _largest(start.F) / bound,
        "d8_bound": bound,
        "d8_bound_over_0_01": bound / 0.01,
    }


def rates(start: DrawnStart, sizes: StatedSizes) -> dict[str, float]:
    """Lemmas 4.1 (E.4), 4.2 (E.16) and E.6: how fast single neurons begin to move."""
    m, m1, n, s0, s1 = sizes.m, sizes.m1, sizes.n, sizes.s0, sizes.s1
    unit = (s0**2 + s1**2) * m
    F = _largest(start.F)
    noise = s0**2 * math.sqrt(m * sizes.L)
    low, high = start.signal_neuron_rates
    common = float(start.largest_common_neuron_rate)
    random = float(start.largest_random_neuron_rate)
    neurons = s1**2 * math.sqrt(m * m1)
    return {
        "signal_rate_least": float(low) / unit,
        "signal_rate_most": float(high) / unit,
        "common_rate_over_bound": common / (neurons + noise + unit * F),
        "common_rate_over_printed": common / (neurons + noise + s1**2 * m * F),
        "common_rate_over_signal": common / float(low),
        "random_rate_over_bound": random / (unit / n + noise),
        "random_rate_over_unit": random / unit,
    }


def _off_diagonal(x: np.ndarray) -> np.ndarray:
    return x - np.diag(np.diagonal(x))


def _largest(x: np.ndarray) -> float:
    return float(np.abs(x).max())
