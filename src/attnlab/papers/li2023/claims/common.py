"""What the claims of li2023 share: controls, hypotheses of the runs, cells that a part looks along.

Studies are named without the paper; `statement` completes them.
"""

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from attnlab.claims import Control, Hypothesis
from attnlab.core import Record, Records
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.studies.engine_choice import resolve
from attnlab.papers.li2023.theory import conditions

SHUFFLED = Control(
    "shuffled labels",
    "the labels are permuted over the samples, and 600 steps are enough to see it",
    changes={"labels": "shuffled", "steps": 600},
)
FROZEN = Control(
    "frozen attention", "keys and queries are not trained", changes={"attention": "frozen"}
)
SHARED_AT_4 = Control(
    "shared output weights",
    "one vector of output weights for all positions, N = 4: every trial succeeds",
    changes={"output_weights": "shared", "N": 4},
)
FIXED_ORDER_AT_4 = Control(
    "fixed order",
    "tokens in the same order in every sample, N = 4: every trial succeeds",
    changes={"order": "fixed", "N": 4},
)


def where(**settings: object) -> Callable[[TrainingSettings], bool]:
    """Cells with these settings, as a part's `cells`."""
    return lambda cell: all(getattr(cell, name) == value for name, value in settings.items())


def theorem_hypotheses(records: Records) -> tuple[Hypothesis, ...]:
    """Theorem 1's hypotheses, each at its worst cell, and what runs tell."""
    rows = conditions.hypotheses(r.cell for r in records)
    return (*rows, *_of_the_runs(records))


def data_hypotheses(records: Records) -> tuple[Hypothesis, ...]:
    """The same without (8), for the paper's figures, whose own settings break it in part."""
    return conditions.hypotheses((r.cell for r in records), with_8=False)


def _of_the_runs(records: Records) -> tuple[Hypothesis, ...]:
    """The balance of the classes, and how long training took in units of 1/eta."""
    largest = max((r.cell for r in records), key=lambda cell: cell.N)
    apart = largest.N % largest.classes if largest.balance == "exact" else math.sqrt(largest.N)
    rows = [Hypothesis("|D+| - |D-| = O(sqrt N)", apart, math.sqrt(largest.N), "<=", "unknown")]
    times = [r.cell.eta * float(r["iterations"]) for r in records if "iterations" in r.values]
    if times:
        rows.append(Hypothesis("eta T = O(1)", float(np.mean(times)), 1.0, "<=", "unknown"))
    return tuple(rows)


def succeeds(
    n50: Callable[[TrainingSettings], float],
) -> Callable[[TrainingSettings, np.random.Generator], bool]:
    """For fixtures: success with the probability of a steep logistic curve around an N50."""
    return lambda cell, random: random.uniform() < 1 / (1 + (n50(cell) / cell.N) ** 12)


def trial(study: str, seed: int, values: Mapping[str, ArrayLike], **settings: Any) -> Record:
    """One synthetic record of a study, for fixtures that need series."""
    chosen: dict[str, Any] = {"engine": "collapsed", "approximate": True, **settings}
    return Record(f"li2023.{study}", resolve(TrainingSettings(**chosen)), seed, dict(values))
