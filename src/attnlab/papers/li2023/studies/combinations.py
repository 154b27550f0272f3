"""What the paper does not have: its network on the mixture of another paper."""

from attnlab.core import Design, Study
from attnlab.papers.li2023.settings.mixture import MixtureVoteSettings

CELLS = (MixtureVoteSettings(),)
MIXTURE = Study(
    id="li2023.on_the_mixture",
    summary="the network, from normal weights, on relevant and irrelevant tokens of a mixture",
    settings=MixtureVoteSettings,
    run="attnlab.papers.li2023.runs.combinations:attend",
    designs={"smoke": Design(CELLS, 8), "quick": Design(CELLS, 16), "paper": Design(CELLS, 100)},
    cost=lambda cell: 0.3,
)
