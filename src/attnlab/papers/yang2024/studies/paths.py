"""The study along paths on which all sizes grow with log m, as Condition 1 couples them."""

from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings.paths import MapSettings, PathSettings

LOGARITHMS = (5.0, 7.0, 10.0, 14.0, 20.0, 28.0, 40.0, 57.0, 80.0, 113.0)
"""log m: to 2^40 in six of them, then to e^113, for log m itself to go over 1.35 decades."""
POWERS = (1, 2, 4)
BRANCHES = (
    {"neurons": "log^2 m"},
    {"c0": 1.0},
    {"scale": "1 / log m"},
    {"more": 0.25},
    {"length": 0.0},
)
"""What else Condition 1 leaves open, and, last, a fixed L, which it does not."""


def _points(logarithms: tuple[float, ...]) -> tuple[PathSettings, ...]:
    main = [PathSettings(log_m=x, power=k) for k in POWERS for x in logarithms]
    middle = [PathSettings(log_m=x, power=2) for x in logarithms]
    return (*main, *(replace(cell, **branch) for branch in BRANCHES for cell in middle))


PATHS = Study(
    id="yang2024.paths",
    summary="classes of words along n = L^2 log^k m, L = log m, to a loss of 1/m^2 and beyond",
    settings=PathSettings,
    run="attnlab.papers.yang2024.runs.paths:train_path",
    designs={
        "smoke": Design(_points((5.0, 10.0, 20.0, 40.0, 80.0, 113.0)), 1),
        "quick": Design(_points(LOGARITHMS), 1),
        "paper": Design(_points((*LOGARITHMS, 6.0, 8.5, 12.0, 17.0, 24.0, 34.0, 48.0, 67.0)), 1),
    },
    coarse=Design(_points((5.0, 10.0, 20.0, 40.0, 80.0, 113.0)), 1),
    cost=lambda cell: 0.1 + 0.002 * cell.log_m,
)

WIDTHS = (16, 64, 256, 1024, 4096)
SCALES, KEYS = (0.1, 0.3, 1.0, 3.0, 10.0), (3.0, 10.0, 30.0, 100.0)


def _map(widths: tuple[int, ...]) -> tuple[MapSettings, ...]:
    """Over m and the scale of the start, and over m and the scale of keys and queries alone."""
    points = [{"m": m, "c0": c0} for m in widths for c0 in SCALES]
    points += [{"m": m, "keys": keys} for m in widths for keys in KEYS]
    return tuple(
        MapSettings(**point, attention=attention)
        for point in points
        for attention in ("trained", "frozen")
    )


ATTENTION_MAP = Study(
    id="yang2024.attention_map",
    summary="flows with attention trained and frozen over m, c0 and the scale of keys and queries",
    settings=MapSettings,
    run="attnlab.papers.yang2024.runs.attention_map:train_on_map",
    designs={
        "smoke": Design(_map(WIDTHS[::2]), 1),
        "quick": Design(_map(WIDTHS), 1),
        "paper": Design(_map((16, 32, 64, 128, 256, 512, 1024, 2048, 4096)), 1),
    },
    cost=lambda cell: 0.1,
)
