"""The one style of all figures, and pictures that repeat to the letter."""

import io
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

PALETTE = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#7f6000", "#777777")
"""Okabe and Ito's colours without black (the ink) and yellow (invisible on paper)."""
STYLE: Mapping[str, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.labelsize": 9,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "grid.alpha": 0.25,
    "grid.color": "#888888",
    "grid.linewidth": 0.5,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "lines.markersize": 4,
    "pdf.fonttype": 42,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
}
"""One style for every figure, of papers that we do not know too: it is set around their `draw`."""


def colours(count: int, lightest: float = 0.88) -> list[tuple[float, float, float, float]]:
    """So many colours from dark to light."""
    import matplotlib

    return [matplotlib.colormaps["viridis"](x) for x in np.linspace(0, lightest, max(count, 1))]


def repeatable(name: str) -> AbstractContextManager[None]:
    """Within it a drawing of this name has our style, and one SVG for the same numbers."""
    import matplotlib
    from cycler import cycler

    fixed = {"svg.hashsalt": name, "svg.fonttype": "path"}
    cycle = {"axes.prop_cycle": cycler(color=PALETTE)}
    settings: dict[Any, Any] = {**STYLE, **cycle, **fixed}
    return matplotlib.rc_context(settings)


def svg_text(name: str, picture: "Drawing") -> str:
    """The picture as SVG text, the same for the same numbers."""
    text = io.StringIO()
    with repeatable(name):
        picture.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()
