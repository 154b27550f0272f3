"""Over the number of samples: the test loss, and when new samples come out right."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.papers.yang2024.figures.common import canvas, colours, numbers
from attnlab.papers.yang2024.theory.asymptote import (
    samples_for_seen_words,
    samples_for_unseen_words,
)
from attnlab.plotting import legend_below

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

CLASSES, DRAWN = "yang2024.classes_late", "yang2024.phase_2"


def draw_test_loss(records: Records) -> tuple["Drawing", dict[str, object]]:
    """The test loss at the end against n, by L; and the slopes of two margins against n/L."""
    drawing, ((losses, margins),) = canvas(1, 2, width=5.4, height=4.0)
    on_classes = records.of(CLASSES)
    lengths = sorted({r.cell.L for r in on_classes})
    data: dict[str, object] = {}
    for L, colour in zip(lengths, colours(len(lengths)), strict=True):
        own = sorted(on_classes.where(L=L), key=lambda r: r.cell.n)
        n = np.array([r.cell.n for r in own])
        column = {
            name: np.array([float(r[name]) for r in own])
            for name in ("test_loss_end", "unseen_margin_log_slope", "worst_margin_log_slope")
        }
        losses.plot(n, column["test_loss_end"], "o-", ms=3, lw=1, color=colour, label=f"L = {L}")
        losses.axvline(samples_for_seen_words(L), color=colour, lw=0.8, ls=":")
        style = {"ms": 3, "lw": 1, "color": colour}
        margins.plot(n / (L + 1), column["unseen_margin_log_slope"], "o-", **style)
        margins.plot(n / (L + 1), column["worst_margin_log_slope"], "s--", **style)
        data[f"L={L}"] = {
            "n": numbers(n),
            **{name: numbers(values) for name, values in column.items()},
            "threshold_unseen": samples_for_unseen_words(L),
            "threshold_seen": samples_for_seen_words(L),
        }
    drawn = records.of(DRAWN)
    losses.plot(
        [r.cell.n for r in drawn],
        [float(r["test_loss_end"]) for r in drawn],
        "k.",
        ms=2,
        label="drawn weights, L = 4, by seed and m",
    )
    losses.set(xscale="log", yscale="log", xlabel="n", ylabel="test loss at training loss 1e-6")
    losses.set_title("test loss when training has ended", fontsize=10)
    legend_below(drawing, *losses.get_legend_handles_labels(), columns=7)
    margins.axhline(0, color="grey", lw=1)
    margins.axvline(3, color="grey", lw=1, ls=":")
    margins.plot([], [], "ko-", ms=3, lw=1, label="random words never seen")
    margins.plot([], [], "ks--", ms=3, lw=1, label="the worst words of training")
    margins.set(xscale="log", xlabel="n / (L + 1)", ylabel="slope of the least margin in log t")
    margins.set_title("whether margins of new samples grow", fontsize=10)
    margins.legend(fontsize=7)
    return drawing, data


SAMPLES_FIGURES = (
    Figure(
        id="yang2024.test_loss",
        title="How many samples new ones need",
        caption=(
            "Left: the test loss when the training loss is 1e-6, against the number of samples n, "
            "on classes of words (lines) and from drawn weights (dots); dotted: the n above which "
            "the worst words of training do no harm in the limit. Right: how the smallest margin "
            "of a new sample grows with log t, with words never seen (positive from n = 3 (L + 1) "
            "on, dotted) and with the worst words of training."
        ),
        studies=(CLASSES, DRAWN),
        draw=draw_test_loss,
    ),
)
