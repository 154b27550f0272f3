"""The toy paper: descent on a quadratic, where every answer is known in closed form."""

from attnlab.core import Paper
from attnlab_toy.claims import CLAIMS
from attnlab_toy.figures import FIGURES
from attnlab_toy.hypotheses import HYPOTHESES
from attnlab_toy.studies import STUDIES
from attnlab_toy.universes import OPEN, OPEN_CLAIMS

PAPER = Paper(
    id="toy",
    title="Descent on a quadratic",
    reference="made up for the laboratory's own tests",
    package="attnlab_toy",
    studies=(*STUDIES, OPEN),
    claims=(*CLAIMS, *OPEN_CLAIMS),
    figures=FIGURES,
    hypotheses=HYPOTHESES,
)
