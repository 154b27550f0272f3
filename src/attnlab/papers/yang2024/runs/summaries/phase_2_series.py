"""What the scalars of phase 2 are read off: series of a finished run, by the names of its record.

Legend: k records; (3, 3) is by key and query among the three signals, (4,) by
type of sample.
"""

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np
from jaxtyping import Float

from attnlab.papers.yang2024.runs.summaries.series import Series, sample_counts


@dataclass(frozen=True)
class Phase2Series:
    """Series with the records first, and what the run has once."""

    type_counts: Float[np.ndarray, " 4"]
    rate: float
    end_time: float
    T1_every_sample: float
    times: Float[np.ndarray, " k"]
    loss: Float[np.ndarray, " k"]
    test_loss: Float[np.ndarray, " k"]
    rho: Float[np.ndarray, " k"]
    rho_change: Float[np.ndarray, " k"]
    """rho, or its change where a run keeps that apart: only differences are taken."""
    rho_rate: Float[np.ndarray, " k"]
    mean_weighted_margin: Float[np.ndarray, " k"]
    smallest_margin: Float[np.ndarray, " k"]
    unseen_margins: Float[np.ndarray, "k 4"]
    gradient_by_type: Float[np.ndarray, "k 4"]
    gradient_spread_by_type: Float[np.ndarray, "k 4"]
    curvature_by_type: Float[np.ndarray, "k 4"]
    signal_outputs: Float[np.ndarray, "k 3"]
    signal_rates: Float[np.ndarray, "k 3"]
    random_word_sum: Float[np.ndarray, " k"]
    largest_random_rate: Float[np.ndarray, " k"]
    output_change_random: Float[np.ndarray, " k"]
    value_part: Float[np.ndarray, " k"]
    value_change: Float[np.ndarray, " k"]
    value_rates: Float[np.ndarray, "k 3 3"]
    value_correlations: Float[np.ndarray, "k 3 3"]
    key_change: Float[np.ndarray, " k"]
    query_change: Float[np.ndarray, " k"]
    attention_part: Float[np.ndarray, " k"]
    attention_change: Float[np.ndarray, " k"]
    score_rates: Float[np.ndarray, "k 3 3"]
    softmax_rates: Float[np.ndarray, "k 3 3"]
    coefficients: Float[np.ndarray, "k 3 3"]
    largest_random_coefficient: Float[np.ndarray, " k"]
    largest_random_score_rate: Float[np.ndarray, " k"]
    largest_random_softmax_rate: Float[np.ndarray, " k"]

    of_the_run: ClassVar[tuple[str, ...]] = ("type_counts", "rate", "end_time", "T1_every_sample")
    """What has no records."""

    @classmethod
    def of(cls, series: Series) -> "Phase2Series":
        """These out of all that a run has recorded."""
        known = {"rho_change": series["rho"], **series, "type_counts": sample_counts(series)}
        return cls(**{field.name: known[field.name] for field in fields(cls)})

    def within(self, window: slice) -> "Phase2Series":
        """The same with the records of the window only."""
        names = [field.name for field in fields(self) if field.name not in self.of_the_run]
        return replace(self, **{name: getattr(self, name)[window] for name in names})
