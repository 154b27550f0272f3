r"""Scalars of the first phase (Theorem 3.1, Lemma 4.3, appendix E).

Definition E.2 ends phase 1 at $T_1 = C_{T_1}/(\sigma_1^2 m m_1)$ with a constant that is only said
to be large: here it is LATE times the limit's own $\tau_1$. The detected T1, after which every
sample is correct, is about two thirds of it.

Legend: as in `theory.sizes`.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.evidence.laws import stored
from attnlab.papers.yang2024.runs.summaries.phase_1 import LATE
from attnlab.papers.yang2024.runs.summaries.series import at_time, largest_until
from attnlab.papers.yang2024.scalars.common import sizes_of
from attnlab.papers.yang2024.theory.phase_1 import phase_1_end

CHANGES = {
    "neuron_gram_change": "change of neurons' products",
    "value_change": "change of values' products",
    "score_change": "change of scores",
    "key_change": "change of keys' products",
    "query_change": "change of queries' products",
}
"""What Theorem 3.1 says to stay, as a run records it."""

_tau_1 = cache(phase_1_end)


def defined_end(record: Record) -> float:
    """T1 of Definition E.2."""
    return LATE * _tau_1(record.cell.n, record.cell.L) / sizes_of(record).neuron_rate


def _detected_end(record: Record) -> float:
    return float(record["T1_every_sample"])


ENDS: dict[str, Callable[[Record], float]] = {
    "T1 detected": _detected_end,
    "T1 defined": defined_end,
    "T1 by type means": lambda record: float(record["T1_type_means"]),
}


def end(which: str) -> Scalar:
    """T1 itself."""
    return Scalar("T1", ENDS[which])


def end_in_units(which: str) -> Scalar:
    """C_T1 = T1 s1^2 m m1."""
    return Scalar("T1 s1^2 m m1", lambda r: ENDS[which](r) * sizes_of(r).neuron_rate)


END_OVER_LIMIT = Scalar(
    "T1 s1^2 m m1 over the limit's",
    lambda r: _detected_end(r) * sizes_of(r).neuron_rate / _tau_1(r.cell.n, r.cell.L),
)


def alignment(which: str) -> Scalar:
    """The least of G(mu_1), G(mu_2) and -G(mu_3) at T1."""

    def least(record: Record) -> float:
        G = at_time(record.values, "signal_outputs", ENDS[which](record))
        return float(np.min(G * (1, 1, -1)))

    return Scalar("least of G(mu_1), G(mu_2), -G(mu_3)", least)


def at_end(which: str, key: str, words: str) -> Scalar:
    """A series of the run at T1."""
    return Scalar(words, lambda r: float(at_time(r.values, key, ENDS[which](r))))


def largest_change(which: str, key: str) -> Scalar:
    """The largest change of one kind of variable up to T1."""
    return Scalar(CHANGES[key], lambda r: largest_until(r.values, key, ENDS[which](r)))


# --- Lemma 4.3 --------------------------------------------------------------------------------


def _band(record: Record, stop: float) -> tuple[float, float]:
    """C and the slower signal's rate, over the later half of the stretch in the band until T1.

    The stretch begins where the band begins to hold at every record until T1; C is 0 there, so
    both are taken over the later half, in log t.
    """
    times, rates = np.asarray(record["times"]), np.asarray(record["signal_rates"])
    upper, lower, common = rates[:, 0] + rates[:, 1], rates[:, :2].max(axis=1), -rates[:, 2]
    inside = (lower < common) & (common < upper)
    before = np.flatnonzero(times <= stop)
    if not before.size or not inside[before[-1]]:
        return math.nan, math.nan
    outside = before[~inside[before]]
    begin = float(times[outside[-1] + 1]) if outside.size else float(times[1])
    half = (times >= math.sqrt(begin * stop)) & (times <= stop)
    half[before[-1]] = True
    constant = np.minimum(common / lower - 1, 1 - common / upper)[half].min()
    return float(constant), float(rates[half, :2].min()) / sizes_of(record).rate


def band_constant(which: str) -> Scalar:
    """C of the band."""
    return Scalar("the band's C", lambda r: _band(r, ENDS[which](r))[0])


def band_rate(which: str) -> Scalar:
    """The slower signal's rate inside the band."""
    name = "the slower of G1', G2' over (s0^2 + s1^2) m m1"
    return Scalar(name, lambda r: _band(r, ENDS[which](r))[1])


# --- appendix E: quotients by stated bounds, as the runs record them --------------------------

NEURON_MOVEMENT = stored("neuron_movement", "neurons' movement on signals, times m1")
NEURON_RANDOM_SHARE = stored("neuron_random_share", "movement on random words over that on signals")
RANDOM_SHARE = stored("random_share", "movement of G on random words over that on signals")
SCORE_MOVEMENT = stored("score_movement", "scores' movement times m^1.5")
KEY_MOVEMENT = stored("key_movement", "keys' movement over s0^2 sqrt(m)")
QUERY_MOVEMENT = stored("query_movement", "queries' movement over s0^2 sqrt(m)")
ATTENTION = stored("attention_over_bound", "attention's movement over its bound")
SCORE = stored("score_over_bound", "scores' movement over its bound")
NEURON_GRAM = stored("neuron_gram_over_bound", "growth of neurons' products over its bound")
NEURON_GRAM_RATE = stored("neuron_gram_rate", "growth of neurons' products over t")
NEURON_ERROR = stored("neuron_error_over_bound", "error of a neuron's rate over its bound")
FACTOR_LEAST = stored("neuron_factor_least", "least factor over (s0^2 + s1^2) m")
FACTOR_MOST = stored("neuron_factor_most", "largest factor over (s0^2 + s1^2) m")
RANDOM_RATE = stored("random_rate_over_bound", "rate of G on a random word over its bound")
RANDOM_NEURON_RATE = stored(
    "neuron_random_rate_over_bound", "a neuron's rate on a random word over its bound"
)
RANDOM_GROWTH = stored("random_growth", "growth of G on a random word over its unit")
COMMON_RATE = stored("neuron_common_rate", "a neuron's rate on the common token over s1^2 m")
RIGHT_BY = stored("right_by", "time at which one-signal samples are right")
KEY_USE = stored("key_use_rate", "growth of keys' products per use")
QUERY_USE = stored("query_use_rate", "growth of queries' products per use")
MARGIN_LEAST = stored("margin_least_late", "least margin")
MARGIN_MOST = stored("margin_most_late", "largest output")
SIGNAL_LEAST = stored("signal_least_late", "least of G(mu_1), G(mu_2), -G(mu_3)")
SIGNAL_MOST = stored("signal_most_late", "largest |G| of a signal")
RANDOM_LATE = stored("random_output_late", "|G| of a random word over s0 s1 sqrt(m m1)")
RHO_LATE = stored("rho_late", "|W'a|^2 over s1^2 m m1")


def use_rate(kind: str, pair: str) -> Scalar:
    """The growth of a correlation per use of its words, by class of pair."""
    return stored(f"{kind}_use_rate_{pair}", f"growth of {kind}s' products per use")


def gap_over_output(power: int = 1) -> Scalar:
    """Proposition E.21: the difference of the two one-signal types over F, or a power of it."""

    def quotient(record: Record) -> float:
        F = float(np.asarray(record["largest_output"])[0])
        return float(record["gradient_gap"]) / F**power

    of = "F" if power == 1 else f"F^{power}"
    return Scalar(f"difference of the one-signal types over {of}", quotient)
