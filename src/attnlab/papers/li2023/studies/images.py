"""The image studies (figure 6): digits on photographs at smoke and quick, CIFAR-10 at paper."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from attnlab.core import Design, Study
from attnlab.papers.li2023.settings.images import FEW_DIGITS, PRETRAINING, ImageSettings

RUN = "attnlab.papers.li2023.runs.images:train"
DIGITS = ImageSettings()
COLOUR = ImageSettings(
    source="cifar10", initial="scratch", width=64, hidden=128, B=64, steps=6000, eta=1e-3,
    test_samples=10_000,
)  # fmt: skip
"""CIFAR-10 from drawn weights: CIFAR-100, the paper's first training set, is not to be had here."""
SPURIOUS = replace(DIGITS, task="two", background="correlated")
BIRDS = replace(
    COLOUR, task="two", background="correlated", initial="better", test_samples=2000, N=10_000
)
"""Birds against aeroplanes, from models that saw the eight other classes."""
HALF, WHOLE = FEW_DIGITS, 2 * FEW_DIGITS
"""Sizes around which the accuracy on digits crosses the paper's 77.5 %."""
LEVELS = (0.0, 0.5, 1.0)
CHOSEN = ("oracle", "random", "attention", "value_norm", "gradient", "model")
"""Selectors that are compared: by role, by chance, by the initial model, by one trained before."""


def _cost(cell: ImageSettings) -> float:
    """Rough seconds of a run on one core while the other is busy, compilation left out."""
    token = cell.blocks * cell.width * (4 * cell.width + 2 * cell.hidden + 2 * cell.room) * 2
    rows = cell.steps * cell.B * (2 if cell.scoring in ("model", "gradient") else 1)
    rows += (cell.N + cell.test_samples) / 3
    if cell.pretrains:  # an initial model serves the runs of a process, about ten
        rows += PRETRAINING[cell.initial].steps * PRETRAINING[cell.initial].B / 10
    return 0.1 + 3 * rows * cell.room * token / 4.3e10


def _grid(
    base: ImageSettings, removed: Sequence[float], sizes: Sequence[int]
) -> tuple[ImageSettings, ...]:
    return tuple(replace(base, removed=r, N=N) for N in sizes for r in removed)


def _with_initial(
    base: ImageSettings, removed: Sequence[float], initials: Sequence[Any]
) -> tuple[ImageSettings, ...]:
    return tuple(replace(base, initial=i, removed=r) for i in initials for r in removed)


def _strengths(
    base: ImageSettings, strengths: Sequence[float], removed: Sequence[float] = (0.0, 1.0)
) -> tuple[ImageSettings, ...]:
    return tuple(replace(base, correlation=c, removed=r) for c in strengths for r in removed)


def _selectors(base: ImageSettings, names: Sequence[Any]) -> tuple[ImageSettings, ...]:
    """Nothing removed, half of the background by each selector, all of it, and all of it blank."""
    return (
        base,
        *(replace(base, selector=name, removed=0.5) for name in names),
        replace(base, removed=1.0),
        replace(base, removed=1.0, removal="blanked"),
    )


def _study(name: str, summary: str, coarse: Design | None = None, **designs: Design) -> Study:
    return Study(
        id=f"li2023.{name}",
        summary=summary,
        settings=ImageSettings,
        run=RUN,
        designs=designs,  # pyright: ignore[reportArgumentType]
        cost=_cost,
        coarse=coarse,
        timeout=24 * 3600.0,
    )


ENDS = Design(_grid(DIGITS, (0.0, 1.0), (HALF, WHOLE)), 3, 3)
GROUPS = Design(
    (*_grid(SPURIOUS, (0.0, 1.0), (1000,)), replace(SPURIOUS, initial="weak", removed=1.0)),
    3,
    3,
)  # fmt: skip
IMAGES = (
    _study(
        "images",
        "test accuracy over training images and removed background: digits on photographs",
        coarse=Design((*ENDS.cells, replace(DIGITS, removed=1.0, N=600)), 4),
        smoke=ENDS,
        quick=Design(_grid(DIGITS, LEVELS, (60, HALF, WHOLE, 600)), 4, 3),
        paper=Design(
            _grid(COLOUR, (0.0, 0.25, 0.5, 0.75, 1.0), (5000, 10_000, 20_000, 50_000)), 10
        ),
    ),
    _study(
        "images_spurious",
        "the same with backgrounds that go with the label, two initial models (figure 6c)",
        coarse=replace(GROUPS, trials=5),
        smoke=replace(GROUPS, cells=(*GROUPS.cells, *_strengths(SPURIOUS, (0.5, 0.98)))),
        quick=Design(
            (
                *_with_initial(SPURIOUS, LEVELS, ("better", "weak")),
                *_strengths(SPURIOUS, (0.5, 0.98)),
            ),
            4,
            3,
        ),
        paper=Design(
            (
                *_with_initial(BIRDS, (0.0, 0.25, 0.5, 0.75, 1.0), ("better", "weak")),
                *_strengths(BIRDS, (0.5, 0.98)),
            ),
            10,
        ),
    ),
    _study(
        "images_selectors",
        "which tokens are removed: by role, at random, by a model; removed, or made blank; digits, "
        "and two groups of them with backgrounds that go with the label",
        smoke=Design(_selectors(replace(DIGITS, N=480), ("random",)), 5),
        quick=Design(
            _selectors(replace(DIGITS, N=480), ("oracle", "random", "attention", "model")), 4
        ),
        paper=Design(
            (
                *_selectors(replace(DIGITS, N=1000), (*CHOSEN, "object")),
                *_selectors(SPURIOUS, (*CHOSEN, "object")),
            ),
            20,
        ),
    ),
    _study(
        "images_attention",
        "attention over whole images before and after training, block by block",
        smoke=Design((replace(DIGITS, N=480, probes="pictures"),), 3),
        quick=Design((replace(DIGITS, N=480, probes="pictures"),), 12, 3),
        paper=Design((replace(DIGITS, N=1000, probes="pictures"),), 30),
    ),
)
