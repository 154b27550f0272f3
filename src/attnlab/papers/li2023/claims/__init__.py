"""The statements of li2023, by section of the paper."""

from attnlab.claims import Claim
from attnlab.papers.li2023.claims.findings import FINDINGS
from attnlab.papers.li2023.claims.section_3_3 import SECTION_3_3
from attnlab.papers.li2023.claims.section_4_1 import SECTION_4_1

CLAIMS: tuple[Claim, ...] = (
    *SECTION_4_1,
    *SECTION_3_3,
    *FINDINGS,
)
