"""The statements of li2023 as claims."""

from attnlab.papers.li2023.claims.assumptions import ASSUMPTIONS
from attnlab.papers.li2023.claims.attention import ATTENTION
from attnlab.papers.li2023.claims.conditions import CONDITIONS
from attnlab.papers.li2023.claims.extensions import EXTENSIONS
from attnlab.papers.li2023.claims.features import FEATURES
from attnlab.papers.li2023.claims.figure_1 import FIGURE_1
from attnlab.papers.li2023.claims.iterations import ITERATIONS
from attnlab.papers.li2023.claims.lucky import LUCKY
from attnlab.papers.li2023.claims.neurons import NEURONS
from attnlab.papers.li2023.claims.sparsification import SPARSIFICATION
from attnlab.papers.li2023.claims.theorem_1 import THEOREM
from attnlab.papers.li2023.claims.without_attention import WITHOUT_ATTENTION

CLAIMS = (
    *FIGURE_1,
    *THEOREM,
    *WITHOUT_ATTENTION,
    *ITERATIONS,
    *ATTENTION,
    *NEURONS,
    *FEATURES,
    *LUCKY,
    *ASSUMPTIONS,
    *CONDITIONS,
    *SPARSIFICATION,
    *EXTENSIONS,
)
