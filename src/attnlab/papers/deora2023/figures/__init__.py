"""The figures of deora2023."""

from attnlab.papers.deora2023.figures.bounds import BOUNDS
from attnlab.papers.deora2023.figures.frames import FRAMES
from attnlab.papers.deora2023.figures.heads import HEADS
from attnlab.papers.deora2023.figures.margins import MARGINS
from attnlab.papers.deora2023.figures.questions import QUESTIONS

FIGURES = (*FRAMES, *HEADS, *MARGINS, *BOUNDS, *QUESTIONS)
