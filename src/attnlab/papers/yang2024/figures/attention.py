"""Where training the attention matters: a map over m and c0, and over the keys' own scale."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.papers.yang2024.figures.common import canvas, numbers
from attnlab.plotting import explain, tiles

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

QUANTITIES = {
    "loss_at_10000": "training loss",
    "T1": "T1",
    "test_at_10000": "loss of new samples",
}
FINEST = 1e-6
"""Changes below this share are drawn as this."""


def draw_attention(records: Records) -> tuple["Drawing", dict[str, object]]:
    """By how much each quantity changes, in a row over (m, c0) and in one over (m, keys)."""
    drawing, rows = canvas(2, 3, width=3.6, height=3.0)
    mesh = None
    data: dict[str, object] = {}
    for panels, (axis, label) in zip(
        rows,
        (("c0", "c0"), ("keys", "scale of keys and queries")),
        strict=True,
    ):
        fixed = "keys" if axis == "c0" else "c0"
        some = records.where(**{fixed: 1.0})
        widths = sorted({r.cell.m for r in some})
        levels = sorted({getattr(r.cell, axis) for r in some})
        for panel, (key, words) in zip(panels, QUANTITIES.items(), strict=True):
            changes = np.full((len(levels), len(widths)), np.nan)
            for i, level in enumerate(levels):
                for j, m in enumerate(widths):
                    changes[i, j] = _change(some.where(m=m, **{axis: level}), key)
            mesh = _draw(panel, changes, widths, levels)
            panel.set(xlabel="m", ylabel=label)
            panel.set_title(f"{words}: |trained / frozen - 1|", fontsize=9)
            data[f"{key} over m and {axis}"] = {
                "m": numbers(widths),
                axis: numbers(levels),
                "change": [numbers(row) for row in changes],
            }
    assert mesh is not None
    bar = drawing.colorbar(mesh, ax=rows, shrink=0.6, extend="min")
    bar.set_ticks(range(-6, 1), labels=[f"$10^{{{k}}}$" for k in range(-6, 1)])
    return drawing, data


def _change(pair: Records, key: str) -> float:
    """Trained over frozen, less one."""
    by = {r.cell.attention: r for r in pair if not r.diverged}
    if len(by) < 2 or not float(by["frozen"][key]) > 0:
        return float("nan")
    return float(by["trained"][key]) / float(by["frozen"][key]) - 1


def _draw(panel: "Axes", changes: np.ndarray, widths: list[int], levels: list[float]) -> "Artist":
    """Tiles over true axes, with the change in words where a tile has room for them."""
    size = np.log10(np.maximum(np.abs(changes), FINEST))
    panel.set(xscale="log", yscale="log")
    mesh = tiles(panel, widths, levels, size, vmin=np.log10(FINEST), vmax=0)
    explain(mesh, change=changes)
    for (i, j), change in np.ndenumerate(changes):
        words = "–" if np.isnan(change) else f"{100 * change:.2g} %"
        colour = "black" if size[i, j] > -2 else "white"
        panel.text(widths[j], levels[i], words, ha="center", va="center", fontsize=6, color=colour)
    panel.set_xticks(widths, [str(m) for m in widths])
    panel.set_yticks(levels, [f"{level:g}" for level in levels])
    panel.minorticks_off()
    return mesh


ATTENTION_FIGURES = (
    Figure(
        id="yang2024.attention_matters",
        title="Where training the attention matters",
        caption=(
            "By how much training keys and queries, rather than leaving them as they are, changes "
            "the training loss and the loss of new samples (with unseen random words) at rho(0) t "
            "= 10,000, and T1; classes of words, n = 96, L = 4, m1 = 64. Upper row: over the width "
            "m and the scale c0 of the start; lower row: at c0 = 1 over the scale of keys and "
            "queries alone. Condition 1 has c0 near 1 or below and equal scales: there the change "
            "falls faster than 1/m. Where a dash stands, there is no T1 or a run diverged."
        ),
        studies=("yang2024.attention_map",),
        draw=draw_attention,
    ),
)
