"""Li et al. (2023): shallow vision transformers, learning, generalisation, sample complexity."""

from dataclasses import asdict

from attnlab.core import Bench, BoundsTable, Paper
from attnlab.papers.li2023.claims import CLAIMS
from attnlab.papers.li2023.figures import FIGURES
from attnlab.papers.li2023.hypotheses import HYPOTHESES
from attnlab.papers.li2023.studies import STUDIES
from attnlab.papers.li2023.theory.bounds import BoundsSettings, bounds

PAPER = Paper(
    id="li2023",
    title="Shallow vision transformers: learning, generalisation, sample complexity",
    reference="H. Li, M. Wang, S. Liu, P.-Y. Chen, ICLR 2023",
    package="attnlab.papers.li2023",
    studies=STUDIES,
    claims=CLAIMS,
    figures=FIGURES,
    hypotheses=HYPOTHESES,
    # Rebuilt, because the command line's own class does not check the numbers.
    bounds=BoundsTable(BoundsSettings, lambda sizes: bounds(BoundsSettings(**asdict(sizes)))),
    bench=Bench("li2023.figure_1a", "attnlab.papers.li2023.runs.bench:prepare"),
)
