"""Over sizes: how T1 and the closeness bounds scale with the width."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.papers.yang2024.figures.common import canvas, numbers

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
    for scalar, name, stated in QUANTITIES:
        have = [r for r in records if scalar in r.values and np.isfinite(r[scalar])]
        if not have:
            continue
        widths = np.array([r.cell.m for r in have])
        values = np.array([float(r[scalar]) for r in have])
        fit = fit_exponent(widths, values)
        levels = np.unique(widths)
        middle = np.array([np.median(values[widths == m]) for m in levels])
        label = f"{name}: {fit.exponent:.2f} [{fit.low:.2f}, {fit.high:.2f}]"
        (line,) = plain.plot(levels, middle, "o-", ms=3, lw=1, label=label)
        relative = middle * levels**-stated
        scaled.plot(levels, relative / relative[0], "o-", ms=3, lw=1, color=line.get_color())
        data[name] = {
            "m": numbers(levels),
            "median": numbers(middle),
            "stated_exponent": stated,
            "exponent": [fit.exponent, fit.low, fit.high],
        }
    plain.set(xscale="log", yscale="log", xlabel="m", ylabel="median over seeds")
    handles = plain.get_legend_handles_labels()
    title = "fitted exponent [95 % interval]"
    scaled.legend(*handles, fontsize=7, title=title, title_fontsize=7, loc="upper left")
    scaled.axhline(1, color="grey", lw=1, ls=":")
    scaled.set(xscale="log", yscale="log", xlabel="m", ylabel="over the stated power of m")
    scaled.set_ylim(0.3, 10)
    return drawing, data


SCALING = (
    Figure(
        id="yang2024.scaling",
        title="Phase 1 over the width",
        caption=(
            "T1 and the largest change of every kind of variable up to T1, against the width m, "
            "medians over seeds, with fitted exponents (left) and divided by the stated power of "
            "m (right: flat means as stated)."
        ),
        studies=("yang2024.phase_1",),
        draw=draw_scaling,
    ),
)
