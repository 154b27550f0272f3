"""The figures of li2023."""

from attnlab.papers.li2023.figures.sample_complexity import SAMPLE_COMPLEXITY
from attnlab.papers.li2023.figures.training import TRAINING

FIGURES = (*SAMPLE_COMPLEXITY, *TRAINING)
