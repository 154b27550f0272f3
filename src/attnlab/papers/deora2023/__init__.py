"""Deora et al. (2023): optimisation and generalisation of multi-head attention."""

from attnlab.core import Bench, BoundsTable, Paper
from attnlab.papers.deora2023.claims import CLAIMS
from attnlab.papers.deora2023.figures import FIGURES
from attnlab.papers.deora2023.hypotheses import HYPOTHESES
from attnlab.papers.deora2023.settings.bounds import BoundsSettings
from attnlab.papers.deora2023.studies import STUDIES
from attnlab.papers.deora2023.theory.table import rows

PAPER = Paper(
    id="deora2023",
    title="On the optimization and generalization of multi-head attention",
    reference="P. Deora, R. Ghaderi, H. Taheri, C. Thrampoulidis, TMLR 2024",
    package="attnlab.papers.deora2023",
    studies=STUDIES,
    claims=CLAIMS,
    figures=FIGURES,
    bounds=BoundsTable(BoundsSettings, rows),
    hypotheses=HYPOTHESES,
    bench=Bench("deora2023.heads", "attnlab.papers.deora2023.runs.bench:prepare"),
)
