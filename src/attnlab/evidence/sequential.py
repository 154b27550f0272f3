"""A sequential design for a threshold: trials are spent where success changes.

A search begins at a few sizes far apart. Then each round puts a batch of trials at the size that
narrows the posterior of log N50 the most, until the confidence sequence of N50 (valid under
stopping, see `attnlab.evidence.threshold`) is narrow enough, lies outside the sizes that may be
tried, or the trials are spent.
"""

import functools
from collections import Counter
from dataclasses import dataclass

from attnlab.claims import Scalar
from attnlab.core import Records
from attnlab.evidence.laws import stored, values_of
from attnlab.evidence.threshold import confidence_sequence, default_range, next_size

POINTS = (240, 24)
"""The grid of the posterior that chooses: coarser than a verdict's, and ten times as fast."""

Rows = tuple[tuple[float, int, int], ...]
"""Size, successes, trials."""
SUCCESS = stored("success", "success of a trial")


@dataclass(frozen=True)
class ThresholdSearch:
    """Finds the size at which half of an arm's runs succeed (see `core.Search`).

    - `sizes`: those that may be tried; `first`: those of the first round, one batch each.
    - `width`: ends once the upper end of the confidence sequence is at most this many times the
      lower one.
    - `most`: ends after so many runs.
    - `success`: 1 in a run that succeeded and 0 in one that did not; one that diverged failed.
    """

    sizes: tuple[float, ...]
    first: tuple[float, ...]
    width: float = 2.0
    most: int = 60
    batch: int = 4
    size: str = "N"
    success: Scalar = SUCCESS

    def __post_init__(self):
        if not set(self.first) <= set(self.sizes) or list(self.sizes) != sorted(set(self.sizes)):
            raise ValueError(
                f"sizes={self.sizes}, first={self.first}; sizes rise, and the first ones are "
                "among them"
            )
        if self.width <= 1 or self.batch < 1 or self.most < self.batch * len(self.first):
            raise ValueError(
                f"width={self.width}, batch={self.batch}, most={self.most}; need a width above 1 "
                "and room for the first round"
            )

    def further(self, records: Records) -> tuple[float, ...]:
        """The sizes of the next round."""
        tried, won = Counter[float](), Counter[float]()
        for record, value in zip(records, values_of(records, self.success), strict=True):
            size = getattr(record.cell, self.size)
            tried[size] += 1
            won[size] += bool(value > 0.5)
        rows = tuple((size, won[size], tried[size]) for size in sorted(tried))
        return _next_round(self, rows)


@functools.lru_cache(maxsize=65536)
def _next_round(search: ThresholdSearch, rows: Rows) -> tuple[float, ...]:
    """By the counts alone; kept, for every verdict walks through the same rounds again."""
    if not rows:
        return tuple(size for size in search.first for _ in range(search.batch))
    columns = tuple(zip(*rows, strict=True))
    left = search.most - sum(columns[2])
    if left < search.batch or _ended(search, columns):
        return ()
    sizes, successes, trials = columns
    chosen = next_size(
        sizes,
        successes,
        trials,
        search.sizes,
        batch=search.batch,
        prior_range=default_range(search.sizes),
        points=POINTS,
    )
    return (next(size for size in search.sizes if size == chosen),) * search.batch


def _ended(search: ThresholdSearch, columns: tuple[tuple[float, ...], ...]) -> bool:
    """Whether N50 is known well enough, or known to lie outside the sizes."""
    low, high = confidence_sequence(*columns, points=POINTS)
    if low >= search.sizes[-1] or high <= search.sizes[0]:
        return True
    return low > 0 and high / low <= search.width
