"""Studies on seven classes of words, whose runs cost the same for every n, L and m."""

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings import ClassSettings

TRAIN_CLASSES = "attnlab.papers.yang2024.runs.classes:train_classes"
SAMPLE_SIZES = (96, 192, 384, 768, 1536, 3072)
LATE_SAMPLE_SIZES = (6, 12, 24, 30, 48, 60, 96, 150, 240, 360, 480, 720, 960, 1200, 1500)
"""On both sides of the asymptote's thresholds for every L, and on none of them."""


def _classes(setting: str, *levels: int, **changes: int) -> tuple[ClassSettings, ...]:
    return tuple(ClassSettings(**{**changes, setting: level}) for level in levels)


def _late_classes(*lengths: int) -> tuple[ClassSettings, ...]:
    return tuple(
        ClassSettings(n=n, L=L, horizon=1e9, target_loss=1e-6)
        for L in lengths
        for n in LATE_SAMPLE_SIZES
    )


CLASSES_SAMPLES = Study(
    id="yang2024.classes_samples",
    summary="the first phase on classes of words, from the mean start, over n",
    settings=ClassSettings,
    run=TRAIN_CLASSES,
    designs={
        "smoke": Design(_classes("n", *SAMPLE_SIZES), 1),
        "quick": Design(_classes("n", *SAMPLE_SIZES), 1),
        "paper": Design(_classes("n", 48, *SAMPLE_SIZES, 6144), 1),
    },
    cost=lambda cell: 0.1,
)

CLASSES_LENGTHS = Study(
    id="yang2024.classes_lengths",
    summary="the first phase on classes of words, from the mean start, over L",
    settings=ClassSettings,
    run=TRAIN_CLASSES,
    designs={
        "smoke": Design(_classes("L", 4, 6, 8, 12, 16, 24, n=1200), 1),
        "quick": Design(_classes("L", 4, 6, 8, 12, 16, 24, n=1200), 1),
        "paper": Design(_classes("L", 4, 6, 8, 12, 16, 24, 32, 48, n=4800), 1),
    },
    cost=lambda cell: 0.1,
)

CLASSES_LATE = Study(
    id="yang2024.classes_late",
    summary="the flow to a loss of 1e-6 on classes of words, over n and L",
    settings=ClassSettings,
    run=TRAIN_CLASSES,
    designs={
        "smoke": Design(_late_classes(4, 5, 6, 8, 12, 16), 1),
        "quick": Design(_late_classes(4, 5, 6, 8, 12, 16), 1),
        "paper": Design(_late_classes(4, 5, 6, 7, 8, 10, 12, 16, 20, 24), 1),
    },
    cost=lambda cell: 0.1,
)
