"""The statements of li2023 as claims."""

from attnlab.papers.li2023.claims.attention import ATTENTION
from attnlab.papers.li2023.claims.extensions import EXTENSIONS
from attnlab.papers.li2023.claims.hypotheses import HYPOTHESES
from attnlab.papers.li2023.claims.iterations import ITERATIONS
from attnlab.papers.li2023.claims.neurons import NEURONS
from attnlab.papers.li2023.claims.sample_complexity import SAMPLE_COMPLEXITY
from attnlab.papers.li2023.claims.sparsification import SPARSIFICATION

CLAIMS = (
    *SAMPLE_COMPLEXITY,
    *ITERATIONS,
    *ATTENTION,
    *NEURONS,
    *HYPOTHESES,
    *SPARSIFICATION,
    *EXTENSIONS,
)
