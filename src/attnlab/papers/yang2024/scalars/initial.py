r"""Scalars of the start and of single formulas: appendices B, C, D, G, H and the first rates.

Legend: as in `theory.sizes`; a quotient is a size over its bound, at most one where the
bound holds. The records of the first phase begin at time 0, so they tell first rates as well.
"""

import math

import numpy as np

from attnlab.claims import Finding, Scalar
from attnlab.core import Record, Records
from attnlab.evidence.laws import AtMost, Share, stored
from attnlab.papers.yang2024.runs.summaries.initial import DELTA
from attnlab.papers.yang2024.scalars.common import largest_of, sizes_of, unit
from attnlab.papers.yang2024.theory.sizes import bernstein

# --- appendices B and C -----------------------------------------------------------------------

MATRICES = ("W", "W_V", "W_K", "W_Q")
VARIABLES = ("outputs", "neurons", "values", "scores", "queries", "keys")


def _errors(name: str, prefix: str, of: tuple[str, ...]) -> Scalar:
    return largest_of(name, *(f"{prefix}_{x}" for x in of))


GRADIENT_ERROR = _errors("relative error against autodiff", "printed_error", MATRICES)
GRADIENT_DIFFERENCE = _errors(
    "error over that of the central difference", "difference_error", MATRICES
)
ENGINE_ERROR = _errors("relative error of our fast route", "engine_error", MATRICES)
SYSTEM_ERROR = _errors("relative error against the flow", "system_error", VARIABLES)
SYSTEM_DIFFERENCE = _errors(
    "error over that of the central difference", "system_difference", VARIABLES
)

# --- appendix D -------------------------------------------------------------------------------

D1_KEYS = ("d1_score", "d1_key_pair", "d1_query_pair", "d1_key_norm", "d1_query_norm")
D3_KEYS = ("d3_value_pair", "d3_neuron_pair", "d3_neuron_value", "d3_neuron_norm", "d3_value_norm")

D1 = largest_of("a key's or query's product or norm over its bound", *D1_KEYS)
D3 = largest_of("a value's or neuron's product or norm over its bound", *D3_KEYS)
D4 = stored("d4_value_norm", "an attended value's squared norm over its bound")
D5_PRINTED = stored("d5_printed", "a neuron's output on a sample over the printed bound")
D5_CORRECTED = stored("d5_corrected", "a neuron's output on a sample over the corrected bound")
D6 = stored("d6_signs", "the excess of one sign over its bound")
D7_TAIL = stored("d7_output_over_tail", "|G| over its bound with the proof's logarithm")
D8 = stored("d8_output", "|F| over its bound")
D8_BOUND = stored("d8_bound", "the bound on |F|")


def _uniformity(record: Record) -> float:
    sizes = sizes_of(record)
    score = sizes.s0**2 * math.sqrt(sizes.m) * bernstein(sizes.m, 2 * sizes.d / DELTA)
    return float(record["d2_softmax"]) / (2 * score)


D2 = Scalar("|L p - 1| over twice Lemma D.1's bound on a score", _uniformity)
D2_SIZE = stored("d2_softmax", "largest |L p - 1|")


def _largest_word_output(record: Record) -> float:
    sizes = sizes_of(record)
    signals = float(np.abs(record["signal_outputs"][0]).max())
    return max(signals, float(record["largest_random_output"][0])) / (sizes.s0 * sizes.s1)


D7_SIZE = Scalar("largest |G|/(s0 s1) at the start", _largest_word_output)


def one_sided_d5(records: Records) -> Finding:
    """Corollary D.5 again: plain draws, attention exactly uniform, the upper side alone.

    Every record's own samples, with fresh weights; the narrowest width, at which draws are cheap
    (the bound's quotient does not depend on it).
    """
    random = np.random.default_rng(20240)
    width = min(r.cell.m for r in records)
    drawn = []
    for record in (r for r in records if r.cell.m == width):
        words, m1 = np.asarray(record["words"]), record.cell.m1
        (n, L), d = words.shape, record.cell.d
        limit = math.sqrt(width / L * math.log(m1 * n * L / DELTA))
        for _ in range(10):
            values = random.standard_normal((width, d))
            outputs = random.standard_normal((m1, width)) @ values
            drawn.append(Record("", record.cell, len(drawn), {
                "quotient": outputs[:, words].mean(axis=2).max() / limit
            }))  # fmt: skip
    law = Share(AtMost(1.0), 1 - DELTA, exact=True, owner="paper")
    return law.judge(drawn, stored("quotient", "the upper side over the printed bound"), 0.95)


# --- first rates ------------------------------------------------------------------------------

SLOWEST_NEURON = Scalar(
    "slowest neuron's first rate on a signal over (s0^2 + s1^2) m",
    lambda record: float(record["signal_neuron_rates"][0][0]) / unit(record),
)
FASTEST_NEURON = Scalar(
    "fastest neuron's first rate on a signal over (s0^2 + s1^2) m",
    lambda record: float(record["signal_neuron_rates"][0][1]) / unit(record),
)
COMMON_RATE = stored("common_rate_over_bound", "first rate on the common token over E.16's bound")
COMMON_RATE_PRINTED = stored(
    "common_rate_over_printed", "first rate on the common token over Lemma 4.2's bound"
)


def _first_random_rate(record: Record) -> float:
    sizes = sizes_of(record)
    bound = unit(record) / sizes.n + sizes.s0**2 * math.sqrt(sizes.m * sizes.L)
    return float(record["largest_random_neuron_rate"][0]) / bound


def _first_random_growth(record: Record) -> float:
    grown = float(np.nanmax(np.abs(record["random_outputs"][1])))
    return grown / float(record["times"][1]) / sizes_of(record).rate


RANDOM_RATE = Scalar("a neuron's first rate on a random word over its bound", _first_random_rate)
RANDOM_GROWTH = Scalar(
    "first growth of G on a random word over (s0^2 + s1^2) m m1", _first_random_growth
)

# --- appendices G and H -----------------------------------------------------------------------

REMAINDER = stored("remainder", "remainder of the softmax")
REMAINDER_CONSTANT = stored("ratio", "remainder over |epsilon|^2")


def below_tail(event: str, factor: float = 1.0) -> Scalar:
    """How many of a run's pairs are below the bound of Lemma H.2, times a factor."""
    words = {"norms": "| |w|^2 - 1 |", "products": "|<w1, w2>|"}[event]
    of = "the bound" if factor == 1 else f"{factor:.2g} times the bound"
    return Scalar(f"{words} below {of}", lambda record: int((record[event] < factor).sum()))
