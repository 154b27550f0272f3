"""The statements of yang2024, by section of the paper."""

from attnlab.claims import Claim
from attnlab.papers.yang2024.claims.appendix_a import FIGURE_1
from attnlab.papers.yang2024.claims.appendix_b_c import APPENDIX_B, APPENDIX_C
from attnlab.papers.yang2024.claims.appendix_d import APPENDIX_D
from attnlab.papers.yang2024.claims.appendix_e import APPENDIX_E
from attnlab.papers.yang2024.claims.appendix_e_more import MORE
from attnlab.papers.yang2024.claims.appendix_e_terms import TERMS
from attnlab.papers.yang2024.claims.appendix_f import APPENDIX_F
from attnlab.papers.yang2024.claims.appendix_g_h import LEMMA_G2, LEMMA_H2
from attnlab.papers.yang2024.claims.combinations import COMBINATIONS
from attnlab.papers.yang2024.claims.directions import DIRECTIONS
from attnlab.papers.yang2024.claims.findings import FINDINGS
from attnlab.papers.yang2024.claims.heads import HEAD_FINDINGS
from attnlab.papers.yang2024.claims.proof_steps import PROOF_STEPS
from attnlab.papers.yang2024.claims.section_3_phase_1 import THEOREM_3_1
from attnlab.papers.yang2024.claims.section_3_phase_2 import SECTION_3_PHASE_2
from attnlab.papers.yang2024.claims.section_4_1 import SECTION_4_1
from attnlab.papers.yang2024.claims.section_4_2 import SECTION_4_2

CLAIMS: tuple[Claim, ...] = (
    THEOREM_3_1,
    *SECTION_3_PHASE_2,
    *SECTION_4_1,
    *SECTION_4_2,
    FIGURE_1,
    APPENDIX_B,
    APPENDIX_C,
    *APPENDIX_D,
    *APPENDIX_E,
    *APPENDIX_F,
    *MORE,
    *TERMS,
    *PROOF_STEPS,
    LEMMA_G2,
    LEMMA_H2,
    *FINDINGS,
    *COMBINATIONS,
    *DIRECTIONS,
    *HEAD_FINDINGS,
)
