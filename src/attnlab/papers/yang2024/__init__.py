"""Yang et al. (2024): training dynamics of transformers on word co-occurrence."""

from dataclasses import asdict

from attnlab.core import Bench, BoundsTable, Paper
from attnlab.papers.yang2024.claims import CLAIMS
from attnlab.papers.yang2024.figures import FIGURES
from attnlab.papers.yang2024.hypotheses import HYPOTHESES
from attnlab.papers.yang2024.settings import BoundsSettings
from attnlab.papers.yang2024.studies import STUDIES
from attnlab.papers.yang2024.theory.bounds import bounds

PAPER = Paper(
    id="yang2024",
    title="Training dynamics of transformers to recognise word co-occurrence",
    reference="H. Yang, B. Kailkhura, Z. Wang, Y. Liang, NeurIPS 2024",
    package="attnlab.papers.yang2024",
    studies=STUDIES,
    claims=CLAIMS,
    figures=FIGURES,
    bounds=BoundsTable(BoundsSettings, lambda sizes: bounds(**asdict(sizes))),
    hypotheses=HYPOTHESES,
    bench=Bench("yang2024.appendix_a", "attnlab.papers.yang2024.runs.bench:prepare"),
)
