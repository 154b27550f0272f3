"""Margins over sparsity and signal."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.plotting import PALETTE, canvas, legend_below, level_band, medians, numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

FORMULAS = (
    ("gamma_attention", r"$\gamma_{attn}$ (formula)", PALETTE[1]),
    ("gamma_star", r"$\gamma_*$ (formula)", PALETTE[0]),
    ("gamma_linear", r"$\gamma_{lin}$ (formula)", PALETTE[2]),
)
MEASURED = (
    ("last_decoder_margin", "trained, over |U|", "o", PALETTE[1]),
    ("tangent_margin", "NTK-SVM (certified)", "s", PALETTE[0]),
    ("linear_margin", "linear SVM", "^", PALETTE[2]),
)
"""Each in the colour of its formula, whose curve is wide and pale below it."""


def draw_margins(records: Records) -> tuple["Drawing", dict[str, dict[str, object]]]:
    """Every margin against zeta, a panel per S."""
    groups = records.by("S")
    drawing, panels = canvas(1, len(groups), width=4.6)
    data: dict[str, dict[str, object]] = {}
    for (S, part), panel in zip(groups.items(), panels[0], strict=True):
        levels = np.array(list(part.by("zeta")), float)
        own = data.setdefault(f"S={S:g}", {})
        for scalar, label, tint in FORMULAS:
            _, middle = medians(part, "zeta", scalar)
            panel.plot(levels, middle, color=tint, lw=5, alpha=0.35, label=label)
            own[scalar] = numbers(middle)
        for scalar, label, mark, tint in MEASURED:
            values = [runs.column(scalar) for runs in part.by("zeta").values()]
            style = {"marker": mark, "ms": 4, "lw": 1, "ls": "--", "color": tint}
            own[scalar] = level_band(panel, levels, values, label, **style)
        data[f"S={S:g}"]["zeta"] = numbers(levels)
        data[f"S={S:g}"]["largest_certified_gap"] = float(part.column("tangent_gap").max())
        panel.set(xlabel=r"share of relevant places $\zeta$", title=f"S = {S:g}")
        panel.set_xticks(np.asarray(levels))
        panel.set_yscale("log")
    panels[0][0].set_ylabel("margin")
    legend_below(drawing, *panels[0][0].get_legend_handles_labels(), columns=3)
    return drawing, data


MARGINS = (
    Figure(
        id="deora2023.margins",
        title="Margins over sparsity and signal",
        caption=(
            "Margins of noise-free samples over the share of relevant places, medians with the "
            "middle 80 % of the seeds. Wide and pale: formulas; marks: measured. "
            "The tangent margins (NTK-SVM, gamma_*) are for a direction of length sqrt 2 and grow "
            "like S^4; the others are outputs for a decoder of length 1: the paper compares the "
            "two, but they are normalised differently. Trained: two heads after the longest "
            "training of this scale."
        ),
        studies=("deora2023.margins",),
        draw=draw_margins,
    ),
)
