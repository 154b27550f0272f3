"""The statements of li2023, by section of the paper."""

from attnlab.claims import Claim
from attnlab.papers.li2023.claims.appendix_d import APPENDIX_D
from attnlab.papers.li2023.claims.appendix_f import APPENDIX_F
from attnlab.papers.li2023.claims.appendix_g import APPENDIX_G
from attnlab.papers.li2023.claims.combinations import COMBINATIONS
from attnlab.papers.li2023.claims.findings import FINDINGS
from attnlab.papers.li2023.claims.open_questions import OPEN_QUESTIONS
from attnlab.papers.li2023.claims.section_3_3 import SECTION_3_3
from attnlab.papers.li2023.claims.section_3_3_tokens import SECTION_3_3_TOKENS
from attnlab.papers.li2023.claims.section_4_1 import SECTION_4_1
from attnlab.papers.li2023.claims.section_4_1_tokens import SECTION_4_1_TOKENS
from attnlab.papers.li2023.claims.section_4_2_images import SECTION_4_2

CLAIMS: tuple[Claim, ...] = (
    *SECTION_4_1,
    *SECTION_3_3,
    *SECTION_3_3_TOKENS,
    *SECTION_4_1_TOKENS,
    *SECTION_4_2,
    *APPENDIX_D,
    *APPENDIX_F,
    *APPENDIX_G,
    *FINDINGS,
    *COMBINATIONS,
    *OPEN_QUESTIONS,
)
