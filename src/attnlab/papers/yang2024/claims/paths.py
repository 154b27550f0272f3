"""Parts along paths on which all sizes grow with log m, and the readings that Condition 1 allows.

A statement with a tilde hides powers of log m: its exponent is in m. One without hides none: its
exponent is in log m. `along` and `early` make a part for every reading of the second and of the
first phase.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from attnlab.claims import Axis, Control, Law, Part, Reading, Scalar
from attnlab.core import OfCell
from attnlab.evidence.laws import Power, Relation, stored
from attnlab.papers.yang2024.runs.summaries.paths import STOPS, key
from attnlab.papers.yang2024.settings.paths import PathSettings

LOG = Axis("log m", lambda cell: math.log(cell.m))
IN_M, IN_LOG = 0.1, 0.5
"""Ours: tolerances of exponents in m and in log m."""
MAIN = "k = 2"
RANGE = "log m from 5 to 113: beyond, a double does not hold the loss 1/m^2 and its squares"
FROM = 20.0
"""Ours: the log m from which on exponents in m are taken."""
WHY = (
    "Tolerances are ours, fixed before the runs: 0.1 for an exponent in m, 0.5 for one in log m, "
    "half of the next power. Exponents in m, of what hides logarithms, are taken from m = e^20 on, "
    "where one power of log m is an exponent of 0.02 (ours, after the whole path had left five "
    "parts undecided: their logarithms crossed 0.1)."
)
ALONG = (
    "Gradient flow on classes of words (mean start, no randomness) along paths that keep Condition "
    "1: L = log m, m1 = log m, n = L^2 log^k m with k = 1, 2, 4, from m = e^5 over 2^40 to e^113, "
    "and at k = 2 with m1 = log^2 m, c0 = 1, c0 = 0.1/log m and n larger by m^(1/4). "
)
WINDOW = ALONG + (
    "Phase 2 is the stretch in which the exact conditions of Definition F.1 hold and every margin "
    "is at least 1, until the loss is 1/m, 1/m^2, or ten times as long as that. "
)
_BRANCHES = {
    "m1 = log^2 m": ("Condition 1: m1 at least of order 1 up to logarithms, m at least m1",
                     lambda c: c.neurons == "log^2 m"),
    "c0 = 1": ("Condition 1: s0 = 1/sqrt(L m) up to logarithms", lambda c: c.c0 == 1.0),
    "c0 = 0.1/log m": ("Condition 1: its tilde hides a logarithm of s0",
                       lambda c: c.scale == "1 / log m"),
    "n by m^(1/4) larger": ("Condition 1 bounds n from below only", lambda c: c.more > 0),
}  # fmt: skip
_POWER = "Condition 1: n at least L^2 up to logarithms, whose power is hidden"
_TIME = "Theorem 3.3: T* is polynomial in m, and so is 1/loss; which power is not said"


def _is_main(cell: PathSettings) -> bool:
    return (cell.neurons == "log m" and cell.c0 == 0.1 and cell.scale == "constant"
            and cell.more == 0 and cell.length > 0)  # fmt: skip


def is_middle(cell: PathSettings) -> bool:
    """Whether a point is of the path with k = 2."""
    return _is_main(cell) and cell.power == 2


def _stopped(power: int, stop: str) -> str:
    return f"k = {power}, ten times as long" if stop == "10 T" else f"k = {power}, loss to {stop}"


EARLY: tuple[Reading, ...] = (
    *(Reading(f"k = {k}", _POWER) for k in (1, 2, 4)),
    *(Reading(name, why) for name, (why, _) in _BRANCHES.items()),
)
"""Of the first phase."""
LATE: tuple[Reading, ...] = (
    *(Reading(_stopped(k, stop), f"{_POWER}. {_TIME}") for k in (1, 2, 4) for stop in STOPS),
    *(Reading(name, why) for name, (why, _) in _BRANCHES.items()),
)
"""Of the second phase."""
AT = _stopped(2, "1/m")
"""The reading at which controls are aimed."""
SHORT = Reading(
    "L = 4 at every m", "Condition 1 asks for L of order 1 up to logarithms, as the path has it",
    allowed=False,
)  # fmt: skip


def tilde(power: float = 0.0, relation: Relation = "at_most") -> Power:
    """A power of m, up to powers of log m."""
    return Power("m", power, relation, IN_M)


def plain(relation: Relation = "at_most", power: float = 0.0) -> Power:
    """No power of log m either, or this one."""
    return Power(LOG, power, relation, IN_LOG)


def _at(scalar: Scalar, stop: str) -> Scalar:
    """The same scalar at one stop of the second phase: a stored one, or a function of the stop."""
    if not scalar.key:
        raise ValueError(f"{scalar.name}: only a stored scalar has stops")
    return replace(stored(key(scalar.key, stop), scalar.name), exact=scalar.exact)


def named(name: str, reading: str = AT) -> str:
    """The name of a part in one reading."""
    return f"{name} [{reading}]"


def _part(name: str, scalar: Scalar, law: Law, reading: str, cells: OfCell[bool]) -> Part:
    hides = isinstance(law, Power) and law.along == "m"
    part = Part(named(name, reading), "paths", scalar, law, reading, cells, path=reading,
                whole_range=RANGE)  # fmt: skip
    return from_log_m(part, FROM) if hides else part


def along(name: str, scalar: Scalar, law: Law, *, beside: bool = False) -> tuple[Part, ...]:
    """A part of the second phase in every reading; with L = 4 beside, if it is wanted."""
    parts = [
        _part(name, _at(scalar, stop), law, _stopped(k, stop),
              lambda c, k=k: _is_main(c) and c.power == k)
        for k in (1, 2, 4) for stop in STOPS
    ]  # fmt: skip
    for reading, (_, cells) in _BRANCHES.items():
        parts.append(_part(name, _at(scalar, "1/m"), law, reading, cells))
    if beside:
        parts.append(_part(name, _at(scalar, "1/m"), law, SHORT.name, lambda c: c.length == 0))
    return tuple(parts)


def one(name: str, scalar: Scalar, law: Law, reading: str) -> Part:
    """A part of the second phase at k = 2 and a loss of 1/m, in a reading of its own."""
    return _part(name, _at(scalar, "1/m"), law, reading, is_middle)


def from_log_m(part: Part, least: float) -> Part:
    """The same part at large widths only."""
    return replace(part, cells=lambda c: part.cells(c) and c.log_m >= least)


def up_to_log_m(part: Part, most: float) -> Part:
    """The same part at widths up to this one."""
    return replace(part, cells=lambda c: part.cells(c) and c.log_m <= most)


def early(name: str, scalar: Scalar, law: Law) -> tuple[Part, ...]:
    """A part of the first phase in every reading."""
    main = tuple(
        _part(name, scalar, law, f"k = {k}", lambda c, k=k: _is_main(c) and c.power == k)
        for k in (1, 2, 4)
    )
    return (*main, *(_part(name, scalar, law, r, cells) for r, (_, cells) in _BRANCHES.items()))


def joined(*parts: Sequence[Part]) -> tuple[Part, ...]:
    """All parts of several calls."""
    return tuple(part for some in parts for part in some)


def wrong(name: str, part: str, law: Law, scalar: Scalar | None = None, at: str = AT) -> Control:
    """A control: another law, or another scalar, for one part in one reading."""
    replaced = None
    if scalar is not None:
        replaced = _at(scalar, "1/m") if at == AT else scalar
    return Control(name, f"{part}: {name}", named(part, at), law=law, scalar=replaced)
