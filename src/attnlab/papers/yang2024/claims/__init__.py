"""The statements of yang2024, by section of the paper."""

from attnlab.claims import Claim
from attnlab.papers.yang2024.claims.appendix_a import FIGURE_1
from attnlab.papers.yang2024.claims.appendix_f import APPENDIX_F
from attnlab.papers.yang2024.claims.findings import FINDINGS
from attnlab.papers.yang2024.claims.section_3_phase_2 import SECTION_3_PHASE_2
from attnlab.papers.yang2024.claims.section_4_2 import SECTION_4_2

CLAIMS: tuple[Claim, ...] = (
    *SECTION_3_PHASE_2,
    *SECTION_4_2,
    FIGURE_1,
    *APPENDIX_F,
    *FINDINGS,
)
