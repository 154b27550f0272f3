"""Over sizes: how T1 and the closeness bounds scale with the width."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.papers.yang2024.figures.common import canvas, numbers
from attnlab.plotting import legend_below, level_band

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

QUANTITIES = (
    ("T1_every_sample", "T1, every sample correct", -1.0),
    ("T1_type_means", "T1, type means positive", -1.0),
    ("value_change_by_every_sample", "values", -1.0),
    ("neuron_gram_change_by_every_sample", "neurons", -1.0),
    ("score_change_by_every_sample", "scores", -1.5),
    ("key_change_by_every_sample", "keys", -2.0),
    ("query_change_by_every_sample", "queries", -2.0),
)


def draw_scaling(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Each quantity over m with its fitted exponent, and the same over the stated power."""
    drawing, ((plain, scaled),) = canvas(1, 2, width=5.4, height=4.0)
    data: dict[str, object] = {}
    for place, (scalar, name, stated) in enumerate(QUANTITIES):
        have = [r for r in records if scalar in r.values and np.isfinite(r[scalar])]
        if not have:
            continue
        widths = np.array([r.cell.m for r in have])
        values = np.array([float(r[scalar]) for r in have])
        fit = fit_exponent(widths, values)
        levels = np.unique(widths)
        groups = [values[widths == m] for m in levels]
        label = f"{name}: {fit.exponent:.2f} [{fit.low:.2f}, {fit.high:.2f}]"
        style = {"marker": "osD^vPX"[place], "ms": 3.5, "lw": 3.0 if place in (0, 5) else 1.0}
        told = level_band(plain, levels, groups, label, **style)
        unit = float(np.median(groups[0])) * levels[0] ** -stated
        relative = [g * m**-stated / unit for g, m in zip(groups, levels, strict=True)]
        level_band(scaled, levels, relative, label, **style)
        data[name] = {
            "m": numbers(levels),
            **told,
            "stated_exponent": stated,
            "exponent": [fit.exponent, fit.low, fit.high],
        }
    plain.set(xscale="log", yscale="log", xlabel="m", ylabel="over seeds")
    plain.set_title("T1, and changes up to it", fontsize=10)
    scaled.axhline(1, color="black", lw=1, ls=":")
    scaled.set(xscale="log", yscale="log", xlabel="m", ylabel="over its value at the smallest m")
    scaled.set_title("over the stated power of m: flat is as stated", fontsize=10)
    legend_below(drawing, *plain.get_legend_handles_labels(), columns=3)
    return drawing, data


SCALING = (
    Figure(
        id="yang2024.scaling",
        title="Phase 1 over the width",
        caption=(
            "T1 and the largest change of every kind of variable up to T1, against the width m, "
            "medians with the middle 80 % of the seeds, with fitted exponents [95 % interval] "
            "(left) and divided by the stated power of m (right: flat means as stated)."
        ),
        studies=("yang2024.phase_1",),
        draw=draw_scaling,
    ),
)
