"""What the claims on the second phase share: parts over drawn weights at coupled sizes."""

from collections.abc import Sequence

from attnlab.claims import Control, Fitted, Part, Scalar
from attnlab.evidence.laws import Power, Range, Relation, Share
from attnlab.papers.yang2024.claims.common import PROBABILITY, TOLERANCE, TOLERANCE_WHY
from attnlab.papers.yang2024.claims.paths import AT

POSITIVE = 1e-300
"""Above zero, so that a sign is a bound."""
COUPLED_SIZES = (
    "m from 2^10 to 2^17 with L = 4, 5, n = 24, 48 and m1 = 64, 80 (scale paper: to 6, 84 and 98), "
    "each to a loss of 1/m"
)
DRAWN = (
    "Gradient flow from drawn weights at sizes coupled to m as far as they fit (" + COUPLED_SIZES
    + "). Phase 2 is the stretch in which the exact conditions of Definition F.1 hold and every "
    "margin is at least 1; a run without it counts against. "
)  # fmt: skip
UPPER = TOLERANCE_WHY + " An upper bound holds if the exponent's interval ends below it."
WHY = f"{TOLERANCE_WHY} The share 0.9 is ours, for a high probability that is not given."


def grows(
    name: str,
    scalar: Scalar,
    power: float = 0.0,
    relation: Relation = "at_most",
    reading: str = "",
) -> Part:
    """A part: a scalar of drawn runs goes with m like a power of it, by default not at all."""
    law = Power("m", power, relation, TOLERANCE)
    return Part(name, "drawn_path", scalar, law, reading, path=COUPLED_SIZES)


def mostly(
    name: str, scalar: Scalar, inside: Range, reading: str = "", *, exact: bool = False
) -> Part:
    """A part: a scalar of drawn runs lies in a range in most of them."""
    law = Share(inside, PROBABILITY, exact)
    return Part(name, "drawn_path", scalar, law, reading, path=COUPLED_SIZES)


def exponent(name: str, part: str, power: float, relation: Relation = "at_most") -> Control:
    """A control: the part's law with another exponent in m, which must fail."""
    law = Power("m", power, relation, TOLERANCE)
    return Control(name, f"{part}: the power {power:g} of m", part, law=law)


def other(name: str, part: str, inside: Range, scalar: Scalar | None = None) -> Control:
    """A control: another range, or another scalar in it, for most runs."""
    return Control(name, f"{part}: {name}", part, law=Share(inside, PROBABILITY), scalar=scalar)


def implied(parts: Sequence[Part]) -> tuple[Fitted, ...]:
    """A scalar that is a quotient by its bound is the constant that one would have to grant."""
    return tuple(
        Fitted(f"constant implied by {part.scalar.name}", part.study, part.scalar, part.cells)
        for part in parts
        if isinstance(part.law, Power) and part.law.exponent == 0
        and part.reading in ("", AT)
    )  # fmt: skip
