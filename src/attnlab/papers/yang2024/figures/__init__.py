"""The figures of yang2024."""

from attnlab.papers.yang2024.figures.dynamics import DYNAMICS
from attnlab.papers.yang2024.figures.figure_1 import FIGURE_1
from attnlab.papers.yang2024.figures.samples import SAMPLES_FIGURES
from attnlab.papers.yang2024.figures.scaling import SCALING

FIGURES = (*FIGURE_1, *DYNAMICS, *SCALING, *SAMPLES_FIGURES)
