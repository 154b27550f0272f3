"""Margins of a start against each other, and rules about them that are wrong."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.papers.deora2023.scalars.words import difference
from attnlab.papers.deora2023.theory import margins

HALF_STAR_SPARED = difference(
    "along_theta_star", "gamma_star", "margin along theta_* minus gamma_*/2", 0.5
)
ATTENTION_MINUS_STAR = difference("gamma_attention", "gamma_star", "gamma_attn minus gamma_*")
ATTENTION_MINUS_TWO_STAR = difference(
    "gamma_attention", "gamma_star", "gamma_attn minus twice gamma_*", 2.0
)
STAR_MINUS_LINEAR = difference("gamma_star", "gamma_linear", "gamma_* minus gamma_lin")
STAR_MINUS_TWO_LINEAR = difference(
    "gamma_star", "gamma_linear", "gamma_* minus twice gamma_lin", 2.0
)


def _wrong_order_rule(record: Record) -> float:
    """The same rule with zeta in place of zeta^2."""
    cell = record.cell
    holds = 4 * (cell.M + 1) ** 0.5 / (cell.zeta * cell.T**0.5) >= cell.S**3
    below = 4 * (cell.M + 1) ** 0.5 / (cell.zeta**2 * cell.T**0.5)
    return float(holds != (below >= cell.S**3))


WRONG_ORDER_RULE = Scalar("failures of the rule with zeta for zeta^2", _wrong_order_rule)
WRONG_LINEAR_RULE = Scalar(
    "failures of the rule that gamma_* is never below gamma_lin",
    lambda r: float(r["gamma_star"] < r["gamma_linear"]),
)
MASS_OVER_UNIFORM = Scalar(
    "epsilon over uniform attention's irrelevant mass", lambda r: r.cell.epsilon / (1 - r.cell.zeta)
)


# --- how a gap changes with one more relevant place ---------------------------------------------

Gap = Callable[[MixtureSizes], float]


def _to_linear(sizes: MixtureSizes) -> float:
    return margins.gamma_attention(sizes) - margins.gamma_linear(sizes)


def _to_star(sizes: MixtureSizes) -> float:
    return margins.gamma_attention(sizes) - margins.gamma_star(sizes)


def _star_to_linear(sizes: MixtureSizes) -> float:
    return margins.gamma_star(sizes) - margins.gamma_linear(sizes)


def _with_one_more(sizes: MixtureSizes) -> tuple[MixtureSizes, MixtureSizes]:
    """The mixture and the one with one more relevant place; if there is none, from one fewer."""
    fewer = sizes.relevant if sizes.relevant + 1 < sizes.T else sizes.relevant - 1
    low, high = (replace(sizes, zeta=k / sizes.T) for k in (fewer, fewer + 1))
    return low, high


def _shrinks(record: Record, gap: Gap) -> float:
    """By how much a gap of margins shrinks if one more place becomes relevant."""
    low, high = _with_one_more(record.cell.mixture())
    return gap(low) - gap(high)


def in_order(cell: Any) -> bool:
    """Whether gamma_* is below gamma_attn before and after."""
    return min(map(_to_star, _with_one_more(cell.mixture()))) >= 0


LINEAR_GAP_SHRINKS = Scalar("shrinking of the gap to gamma_lin", lambda r: _shrinks(r, _to_linear))
LINEAR_GAP_GROWS = Scalar("growth of the gap to gamma_lin", lambda r: -_shrinks(r, _to_linear))
STAR_GAP_SHRINKS = Scalar("shrinking of the gap to gamma_*", lambda r: _shrinks(r, _to_star))
STAR_OVER_LINEAR_SHRINKS = Scalar(
    "shrinking of the gap from gamma_* to gamma_lin", lambda r: _shrinks(r, _star_to_linear)
)


# --- how fast trained margins come to gamma_attn ------------------------------------------------


def shortfalls(record: Record, *steps: float) -> np.ndarray:
    """1 - margin/gamma_attn at these steps of a run, straight in the logarithms between records."""
    t, margin = np.asarray(record["times"], float), np.asarray(record["decoder_margin"], float)
    best = float(record["last_decoder_margin"]) / float(record["margin_over_attention"])
    later = t > 0
    return np.exp(np.interp(np.log(steps), np.log(t[later]), np.log(1 - margin[later] / best)))


def _flattening(record: Record) -> float:
    K = float(record.cell.K)
    before, between, after = np.log10(shortfalls(record, K / 100, K / 10, K))
    return float((after - between) - (between - before))


FLATTENING = Scalar("exponent of the last decade minus that of the decade before", _flattening)
