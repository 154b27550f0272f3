"""The statements of deora2023, by section of the paper; ours are in findings and section_7."""

from attnlab.claims import Claim
from attnlab.papers.deora2023.claims.combinations import COMBINATIONS
from attnlab.papers.deora2023.claims.findings import FINDINGS
from attnlab.papers.deora2023.claims.section_3 import SECTION_3
from attnlab.papers.deora2023.claims.section_4 import SECTION_4
from attnlab.papers.deora2023.claims.section_5 import SECTION_5
from attnlab.papers.deora2023.claims.section_6_1 import SECTION_6_1_ALL
from attnlab.papers.deora2023.claims.section_6_2 import SECTION_6_2_ALL
from attnlab.papers.deora2023.claims.section_7 import SECTION_7

CLAIMS: tuple[Claim, ...] = (
    *SECTION_3,
    *SECTION_4,
    *SECTION_5,
    *SECTION_6_1_ALL,
    *SECTION_6_2_ALL,
    *FINDINGS,
    *SECTION_7,
    *COMBINATIONS,
)
