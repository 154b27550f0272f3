"""The figures of yang2024."""

from attnlab.papers.yang2024.figures.attention import ATTENTION_FIGURES
from attnlab.papers.yang2024.figures.dynamics import DYNAMICS
from attnlab.papers.yang2024.figures.figure_1 import FIGURE_1
from attnlab.papers.yang2024.figures.frames import FRAMES
from attnlab.papers.yang2024.figures.samples import SAMPLES_FIGURES
from attnlab.papers.yang2024.figures.scaling import SCALING

FIGURES = (*FRAMES, *FIGURE_1, *DYNAMICS, *SCALING, *SAMPLES_FIGURES, *ATTENTION_FIGURES)
