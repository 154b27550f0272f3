"""The designs of the deora2023 studies."""

from attnlab.papers.deora2023.studies import (
    combinations,
    frames,
    landscape,
    mixture,
    questions,
    training,
)

STUDIES = (
    *landscape.STUDIES,
    *mixture.STUDIES,
    *training.STUDIES,
    *questions.STUDIES,
    *frames.FRAMES,
    *combinations.STUDIES,
)
