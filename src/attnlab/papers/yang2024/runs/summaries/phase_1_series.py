"""What the scalars of phase 1 are read off: series of a finished run, by the names of its record.

Legend: k records; (4,) is by type of sample, (3,) by signal or, per use of a
word, by class: signals, mixed, random.
"""

from typing import NamedTuple, TypeVar

import numpy as np
from jaxtyping import Float

from attnlab.papers.yang2024.runs.summaries.series import Series, sample_counts


class SampleSeries(NamedTuple):
    """Of the samples: what every run of weights or Grams has."""

    type_counts: Float[np.ndarray, " 4"]
    times: Float[np.ndarray, " k"]
    gradient_by_type: Float[np.ndarray, "k 4"]
    smallest_margin_by_type: Float[np.ndarray, "k 4"]


class WordSeries(NamedTuple):
    """Of the words."""

    times: Float[np.ndarray, " k"]
    rho: Float[np.ndarray, " k"]
    signal_outputs: Float[np.ndarray, "k 3"]
    signal_rates: Float[np.ndarray, "k 3"]
    smallest_margin: Float[np.ndarray, " k"]
    largest_output: Float[np.ndarray, " k"]
    largest_random_output: Float[np.ndarray, " k"]
    largest_random_rate: Float[np.ndarray, " k"]
    score_change: Float[np.ndarray, " k"]
    key_change: Float[np.ndarray, " k"]
    query_change: Float[np.ndarray, " k"]
    attention_change: Float[np.ndarray, " k"]
    value_change_per_use: Float[np.ndarray, "k 3"]
    score_change_per_use: Float[np.ndarray, "k 3"]
    key_change_per_use: Float[np.ndarray, "k 3"]
    query_change_per_use: Float[np.ndarray, "k 3"]


class NeuronSeries(NamedTuple):
    """Of single neurons."""

    times: Float[np.ndarray, " k"]
    attention_change: Float[np.ndarray, " k"]
    neuron_output_change_signal: Float[np.ndarray, " k"]
    neuron_output_change_random: Float[np.ndarray, " k"]
    neuron_gram_change: Float[np.ndarray, " k"]
    neuron_rate_error: Float[np.ndarray, " k"]
    neuron_factors: Float[np.ndarray, "k 2"]
    """The least and the largest."""
    largest_random_neuron_rate: Float[np.ndarray, " k"]
    largest_common_neuron_rate: Float[np.ndarray, " k"]


class ClassSeries(NamedTuple):
    """Of a run on classes of words."""

    times: Float[np.ndarray, " k"]
    signal_outputs: Float[np.ndarray, "k 3"]
    random_outputs: Float[np.ndarray, "k 4"]
    score_change: Float[np.ndarray, " k"]
    random_value_change: Float[np.ndarray, " k"]


Kind = TypeVar("Kind", SampleSeries, WordSeries, NeuronSeries, ClassSeries)


def taken(kind: type[Kind], series: Series) -> Kind:
    """The series of this kind out of all that a run has recorded."""
    counts = {"type_counts": sample_counts(series)} if "type_counts" in kind._fields else {}
    return kind(*(np.asarray(({**series, **counts})[name]) for name in kind._fields))
