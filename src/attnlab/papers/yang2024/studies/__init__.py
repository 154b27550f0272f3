"""The designs of the yang2024 studies."""

from attnlab.core import Study
from attnlab.papers.yang2024.studies import (
    classes,
    combinations,
    heads,
    neuron_terms,
    paths,
    plain,
    training,
    untrained,
)

STUDIES: tuple[Study, ...] = (
    untrained.GRADIENTS,
    untrained.SYSTEM,
    training.APPENDIX_A,
    training.PHASE_1,
    paths.PATHS,
    paths.ATTENTION_MAP,
    classes.CLASSES_SAMPLES,
    classes.CLASSES_LENGTHS,
    classes.CLASSES_LATE,
    training.INITIAL_SCALE,
    untrained.INITIAL,
    untrained.INITIAL_SAMPLES,
    untrained.SOFTMAX,
    untrained.TAILS,
    training.PHASE_2,
    training.DRAWN_PATH,
    training.FROZEN,
    combinations.VOTE,
    training.DIRECTIONS,
    plain.PRODUCTS,
    plain.DERIVATIVE,
    plain.SUMS,
    neuron_terms.NEURON_TERMS,
    heads.HEADS,
)
