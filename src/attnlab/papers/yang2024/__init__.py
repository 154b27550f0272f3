"""Yang et al. (2024): training dynamics of transformers on word co-occurrence."""

from attnlab.core import Paper
from attnlab.papers.yang2024.claims import CLAIMS
from attnlab.papers.yang2024.figures import FIGURES
from attnlab.papers.yang2024.studies import STUDIES

PAPER = Paper(
    id="yang2024",
    title="Training dynamics of transformers to recognise word co-occurrence",
    reference="H. Yang, B. Kailkhura, Z. Wang, Y. Liang, NeurIPS 2024",
    package="attnlab.papers.yang2024",
    studies=STUDIES,
    claims=CLAIMS,
    figures=FIGURES,
)
