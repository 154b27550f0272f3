"""Section 5's directions that the engines do not have: several heads, words in a chain."""

from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings.heads import HeadSettings

ONE = HeadSettings()
CHAINED = replace(ONE, d=15, chain=0.8)
"""Twelve random words for forty places, as with repeated words."""


def _heads(*numbers: int) -> tuple[HeadSettings, ...]:
    return (*(replace(ONE, heads=h) for h in numbers), CHAINED)


HEADS = Study(
    id="yang2024.heads",
    summary="one and several heads, and random words in a chain, in steps at m = 512",
    settings=HeadSettings,
    run="attnlab.papers.yang2024.runs.heads:train_heads",
    designs={
        "smoke": Design(_heads(1, 2, 8), 8, 4),
        "quick": Design(_heads(1, 2, 4, 8), 16, 4),
        "paper": Design(_heads(1, 2, 4, 8, 16), 100),
    },
    cost=lambda cell: 0.5,
)
