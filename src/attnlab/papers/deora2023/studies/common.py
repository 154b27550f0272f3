"""What the designs of all studies share."""

from dataclasses import replace
from typing import Any

from attnlab.core import Design, Study

PACKAGE = "attnlab.papers.deora2023"
NOISE_LEVEL: dict[str, Any] = {"Z_mu": 0.05, "Z_nu": 0.05, "Z": 0.5}


def study(name: str, summary: str, settings: type, run: str, *designs: Any, **more: Any) -> Study:
    """A study from its designs at smoke, quick and paper.

    Each is (cells, trials), or (cells, trials, trials of a control).
    """
    seconds = more.pop("seconds", 0.05)
    by_scale = zip(("smoke", "quick", "paper"), designs, strict=True)
    return Study(
        id=f"deora2023.{name}",
        summary=summary,
        settings=settings,
        run=f"{PACKAGE}.runs.{run}",
        designs={scale: Design(tuple(cells), *trials) for scale, (cells, *trials) in by_scale},  # type: ignore[misc]
        cost=lambda cell: seconds,
        **more,
    )


def sooner(cells: Any, K: int) -> tuple:
    """The cells with another number of steps."""
    return tuple(replace(cell, K=K) for cell in cells)
