"""Which fractions of patterns a vote can have. Plain arithmetic: settings check it before a run.

Legend: a sample has L tokens, each of one of M patterns; the first `classes` patterns are
discriminative. alpha_star is the fraction of label-relevant tokens, alpha_sharp that of confusion
tokens, the rest are non-discriminative.
"""

import math
from collections.abc import Sequence

from attnlab.core import BadInput

NEAR_INTEGER = 1e-6


def require_fractions(alpha_star: float, alpha_sharp: float) -> None:
    """Refuse fractions that are none, do not fit into a sample or give no majority."""
    for name, value in (("alpha_star", alpha_star), ("alpha_sharp", alpha_sharp)):
        if not 0 <= value <= 1:
            raise BadInput(f"got {name}={value:g}; a fraction of the tokens lies between 0 and 1")
    if alpha_star + alpha_sharp > 1 + NEAR_INTEGER:
        raise BadInput(
            f"got alpha_star={alpha_star:g} and alpha_sharp={alpha_sharp:g}, together "
            f"{alpha_star + alpha_sharp:g}; they must leave a fraction >= 0 to the other "
            "patterns: lower one of them"
        )
    if alpha_star <= alpha_sharp:
        raise BadInput(
            f"got alpha_star={alpha_star:g} and alpha_sharp={alpha_sharp:g}; the majority vote "
            "needs alpha_star > alpha_sharp: raise alpha_star or lower alpha_sharp"
        )


def require_patterns(M: int, d: int, classes: int) -> None:
    """Refuse a number of patterns that does not fit into R^d or has nothing to vote on."""
    if d < M:
        raise BadInput(
            f"got M={M} patterns in R^{d}; orthonormal patterns need M <= d: lower M or raise d"
        )
    if classes >= M:
        raise BadInput(
            f"got M={M} patterns for {classes} classes; one more than classes is the least: raise M"
        )


def pattern_counts(
    L: int, M: int, classes: int, alpha_star: float, alpha_sharp: float
) -> tuple[tuple[int, ...], ...]:
    """How many tokens of each pattern a sample of each class has, under fixed counts.

    Confusion tokens are spread over the other classes' patterns and the rest over the
    non-discriminative ones, as evenly as whole tokens allow, the first ones taking the rest.
    """
    require_fractions(alpha_star, alpha_sharp)
    relevant = _whole("alpha_star", alpha_star, L)
    confusion = _whole("alpha_sharp", alpha_sharp, L)
    other = _spread(L - relevant - confusion, M - classes)
    rows = []
    for label in range(classes):
        wrong = iter(_spread(confusion, classes - 1))
        votes = [relevant if k == label else next(wrong) for k in range(classes)]
        if sorted(votes)[-2] >= relevant:
            raise BadInput(
                f"got {relevant} label-relevant tokens against {sorted(votes)[-2]} of another "
                f"class among L={L}; the vote needs a majority: raise alpha_star or L"
            )
        rows.append((*votes, *other))
    return tuple(rows)


def counts_in_turn(
    L: int, M: int, classes: int, alpha_star: float, alpha_sharp: float
) -> tuple[tuple[tuple[int, ...], ...], ...]:
    """The counts of samples that take the whole numbers below and above L alpha in turn.

    So the fractions are met on average where L alpha is not whole (and half way between).
    """
    rounded = (math.floor, math.ceil)
    return tuple(
        pattern_counts(
            L, M, classes, *(near(round(x * L, 6)) / L for x in (alpha_star, alpha_sharp))
        )
        for near in rounded
    )


def _whole(name: str, fraction: float, L: int) -> int:
    exact = fraction * L
    if abs(exact - round(exact)) > NEAR_INTEGER * L:
        lower, upper = math.floor(exact), math.ceil(exact)
        raise BadInput(
            f"got {name}={fraction:g} with L={L}, that is {exact:g} tokens; fixed counts need a "
            f"whole number: take {name}={lower / L:g} or {upper / L:g}, another L, or "
            "fractions=multinomial"
        )
    return round(exact)


def _spread(total: int, places: int) -> Sequence[int]:
    each, rest = divmod(total, places)
    return [each + (place < rest) for place in range(places)]


def farthest_apart(size: int) -> float:
    """What the distance of two members of a set of unit vectors stays below."""
    return 2.0 if size == 2 else math.sqrt(2)


def require_sets(M: int, d: int, size: int, distance: float) -> None:
    """Refuse sets of patterns (G.2) that do not fit into R^d, or whose members are not apart."""
    if size <= 1:
        return
    directions = 1 if size == 2 else size
    if M * (1 + directions) > d:
        raise BadInput(
            f"got {M} sets of {size} patterns in R^{d}; orthogonal sets need "
            f"d >= {M * (1 + directions)}: raise d or lower M or the size of a set"
        )
    if not 0 < distance < farthest_apart(size):
        raise BadInput(
            f"got a distance {distance:g} within sets of {size}; it must lie between 0 and "
            f"{farthest_apart(size):.4g}"
        )
