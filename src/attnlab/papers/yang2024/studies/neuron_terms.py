"""The study of single terms of a neuron's rate, at sizes coupled to m."""

from dataclasses import replace

from attnlab.core import BadInput, Design, Study
from attnlab.papers.yang2024.settings import TrainingSettings
from attnlab.papers.yang2024.studies.resolving import resolve
from attnlab.papers.yang2024.studies.training import SMALL

COUPLED = (
    (24, 4, 2**10, 64), (24, 4, 2**11, 64), (24, 4, 2**12, 64), (48, 5, 2**14, 80),
    (48, 5, 2**16, 80), (48, 5, 2**18, 80),
)  # fmt: skip
"""n, L, m, m1: of the drawn path the two smaller sets, to larger widths."""

UNUSED: dict[str, str] = dict.fromkeys(
    ("method", "target_loss", "learning_rate", "steps"),
    "the first phase is followed by flow to its horizon",
)


def resolve_terms(cell: TrainingSettings) -> TrainingSettings:
    """As elsewhere; single neurons are followed beside Grams."""
    if cell.engine not in ("auto", "gram") or cell.probes == "words":
        raise BadInput(
            f"got engine={cell.engine} and probes={cell.probes} where single neurons are followed "
            "beside Grams; take engine=gram and probes=neurons"
        )
    return resolve(replace(cell, engine="gram", probes="neurons"))


CELLS = tuple(replace(SMALL, n=n, L=L, m=m, m1=m1, records=60) for n, L, m, m1 in COUPLED)


NEURON_TERMS = Study(
    id="yang2024.neuron_terms",
    summary="terms of single neurons' rates up to T1, at sizes coupled to m",
    settings=TrainingSettings,
    run="attnlab.papers.yang2024.runs.neuron_terms:follow_terms",
    designs={
        "smoke": Design(CELLS, 6),
        "quick": Design(CELLS, 12),
        "paper": Design(CELLS, 40),
    },
    cost=lambda cell: 0.1 + 3e-8 * cell.vocabulary**3,
    resolve=resolve_terms,
    irrelevant=UNUSED,
)
