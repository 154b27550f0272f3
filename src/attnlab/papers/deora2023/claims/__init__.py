"""The statements of deora2023 as claims."""

from attnlab.papers.deora2023.claims.generalisation import GENERALISATION
from attnlab.papers.deora2023.claims.good_start import GOOD_START
from attnlab.papers.deora2023.claims.margin_questions import MARGIN_QUESTIONS
from attnlab.papers.deora2023.claims.mixture import MIXTURE
from attnlab.papers.deora2023.claims.questions import QUESTIONS
from attnlab.papers.deora2023.claims.smoothness import SMOOTHNESS
from attnlab.papers.deora2023.claims.training import TRAINING
from attnlab.papers.deora2023.claims.trends import TRENDS

CLAIMS = (
    *SMOOTHNESS,
    *TRAINING,
    *GENERALISATION,
    *GOOD_START,
    *MIXTURE,
    *TRENDS,
    *MARGIN_QUESTIONS,
    *QUESTIONS,
)
