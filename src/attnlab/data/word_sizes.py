"""Which sizes a co-occurrence data set can have. Plain arithmetic: settings check it before a run.

Legend: n samples of L words out of d; the first three words are the signals mu_1, mu_2 and the
common token mu_3, the others random words; types 1..4 hold both signals, only mu_1, only mu_2,
neither.
"""

from collections.abc import Sequence

from attnlab.core import BadInput

SIGNALS = 3
"""How many words have a part of their own; the random words come after them."""
TYPE_PROBABILITIES = (1 / 2, 1 / 6, 1 / 6, 1 / 6)
SIGNALS_IN_TYPE = (3, 2, 2, 1)
"""How many of a sample's places the signals and the common token take, by type."""


def require_sizes(d: int, L: int) -> None:
    """Refuse a vocabulary or a length in which the distribution cannot exist."""
    if d < SIGNALS + 1:
        raise BadInput(f"got d={d} words; three signals and a random word need d>=4; raise d")
    if L < SIGNALS:
        raise BadInput(
            f"got L={L} places; a sample with both signals and the common token needs L>=3; raise L"
        )


def type_counts(n: int) -> tuple[int, int, int, int]:
    """The counts of the four types in a balanced set of n samples."""
    if n < 1:
        raise BadInput(f"got n={n} samples; at least 1 is required")
    if n % 6:
        raise BadInput(
            f"got n={n}; the proportions 1/2, 1/6, 1/6, 1/6 need n divisible by 6; "
            f"take n={n + 6 - n % 6}, or draw independent samples"
        )
    return n // 2, n // 6, n // 6, n // 6


def random_words_required(counts: Sequence[int], L: int) -> int:
    """How many random words a set with distinct ones holds: n (L - 7/3) if it is balanced."""
    return sum(count * (L - taken) for count, taken in zip(counts, SIGNALS_IN_TYPE, strict=True))
