"""The statements of yang2024 as claims."""

from attnlab.papers.yang2024.claims.appendix import APPENDIX
from attnlab.papers.yang2024.claims.attention_claims import ATTENTION
from attnlab.papers.yang2024.claims.auxiliary import AUXILIARY
from attnlab.papers.yang2024.claims.data_conditions import DATA_CONDITIONS
from attnlab.papers.yang2024.claims.figure import FIGURE
from attnlab.papers.yang2024.claims.findings import FINDINGS
from attnlab.papers.yang2024.claims.first_phase import FIRST_PHASE
from attnlab.papers.yang2024.claims.initialisation import INITIALISATION
from attnlab.papers.yang2024.claims.phase_1 import PHASE_1
from attnlab.papers.yang2024.claims.phase_2 import PHASE_2
from attnlab.papers.yang2024.claims.samples import SAMPLES_CLAIMS
from attnlab.papers.yang2024.claims.second_phase import SECOND_PHASE
from attnlab.papers.yang2024.claims.trends import TRENDS

CLAIMS = (
    *PHASE_1,
    *PHASE_2,
    *APPENDIX,
    *FIGURE,
    *TRENDS,
    *DATA_CONDITIONS,
    *INITIALISATION,
    *FIRST_PHASE,
    *AUXILIARY,
    *SECOND_PHASE,
    *ATTENTION,
    *FINDINGS,
    *SAMPLES_CLAIMS,
)
