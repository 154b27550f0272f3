"""The figures of li2023."""

from attnlab.papers.li2023.figures.figure_6_images import FIGURE_6
from attnlab.papers.li2023.figures.frames import FRAMES
from attnlab.papers.li2023.figures.open_questions import OPEN_QUESTIONS
from attnlab.papers.li2023.figures.sample_complexity import SAMPLE_COMPLEXITY
from attnlab.papers.li2023.figures.training import TRAINING

FIGURES = (*FRAMES, *SAMPLE_COMPLEXITY, *TRAINING, *OPEN_QUESTIONS, *FIGURE_6)
