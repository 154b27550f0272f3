"""What the paper does not have: its network on the pattern vote of another paper."""

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings.vote import PatternVoteSettings

CELLS = (PatternVoteSettings(),)
VOTE = Study(
    id="yang2024.on_the_vote",
    summary="the linear network and a shallow vision transformer on four samples of a vote",
    settings=PatternVoteSettings,
    run="attnlab.papers.yang2024.runs.combinations:vote",
    designs={
        "smoke": Design(CELLS, 16, 8),
        "quick": Design(CELLS, 40, 12),
        "paper": Design(CELLS, 200, 40),
    },
    cost=lambda cell: 0.15,
)
