"""What the claims on the second phase share: the window, its words, and parts over it."""

from collections.abc import Sequence
from dataclasses import replace

from attnlab.claims import Control, Fitted, Part, Scalar
from attnlab.evidence.laws import Power, Range, Relation, Share
from attnlab.papers.yang2024.claims.common import (
    FROZEN,
    PROBABILITY,
    SHUFFLED,
    TOLERANCE,
    TOLERANCE_WHY,
)

POSITIVE = 1e-300
"""Above zero, so that a sign is a bound."""
FIXED_SIZES = "m from 2^10 to 2^20 at n = 24, L = 4, m1 = 64, c0 = 0.1, each to a loss of 1e-6"
WINDOW = (
    "Flow to a loss of 1e-6 at several widths. Phase 2 is read as the stretch to the end of the "
    "run in which the exact conditions of Definition F.1 hold and every margin is at least 1; a "
    "run without it, or with one shorter than a factor of ten in time, counts against. Only m "
    "varies: n and L do not grow with it as Condition 1 couples them; runs end at one loss. "
)
UPPER = TOLERANCE_WHY + " An upper bound holds if the exponent's interval ends below it."
WHY = f"{TOLERANCE_WHY} The share 0.9 is ours, for a high probability that is not given."

# A control's changes go to all studies of a claim: with one n and L, a study over them stays small.
SHUFFLED_ONE_SET = replace(SHUFFLED, changes={**SHUFFLED.changes, "n": 24, "L": 4})
FROZEN_ONE_SET = replace(FROZEN, changes={**FROZEN.changes, "n": 24, "L": 4})


def grows(
    name: str,
    scalar: Scalar,
    power: float = 0.0,
    relation: Relation = "at_most",
    reading: str = "",
) -> Part:
    """A part: a scalar of the window goes with m like a power of it, by default not at all."""
    law = Power("m", power, relation, TOLERANCE)
    return Part(name, "phase_2", scalar, law, reading, path=FIXED_SIZES)


def mostly(
    name: str, scalar: Scalar, inside: Range, reading: str = "", *, exact: bool = False
) -> Part:
    """A part: a scalar of the window lies in a range in most runs."""
    law = Share(inside, PROBABILITY, exact)
    return Part(name, "phase_2", scalar, law, reading, path=FIXED_SIZES)


def exponent(name: str, part: str, power: float, relation: Relation = "at_most") -> Control:
    """A control: the part's law with another exponent in m, which must fail."""
    law = Power("m", power, relation, TOLERANCE)
    return Control(name, f"{part}: the power {power:g} of m", part, law=law)


def other(name: str, part: str, inside: Range, scalar: Scalar | None = None) -> Control:
    """A control: another range, or another scalar in it, for most runs."""
    return Control(name, f"{part}: {name}", part, law=Share(inside, PROBABILITY), scalar=scalar)


def shuffled(part: str) -> Control:
    """Shuffled labels, meant to break one part."""
    return replace(SHUFFLED, part=part)


def implied(parts: Sequence[Part]) -> tuple[Fitted, ...]:
    """A scalar that is a quotient by its bound is the constant that one would have to grant."""
    return tuple(
        Fitted(f"constant implied by {part.scalar.name}", part.study, part.scalar, part.cells)
        for part in parts
        if isinstance(part.law, Power) and part.law.exponent == 0
    )
