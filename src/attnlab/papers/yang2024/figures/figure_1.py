"""Figure 1 of the paper: the two phases at its own sizes."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Record, Records
from attnlab.papers.yang2024.figures.common import lettered, numbers
from attnlab.plotting import PALETTE, sheet

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

TYPES = ("both signals", "only mu_1", "only mu_2", "neither")
SCORES = ((0, 1), (1, 0), (2, 0), (2, 1), (0, 0), (1, 1))
"""(key, query) of the scores that figure 1 shows."""
ROWS = (
    ("linear_default", "matching: linear-layer default, a alike"),
    ("kaiming_normal", "literal: Kaiming normal, a = ±1"),
)


def draw_figure_1(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Scores and losses over the steps, a row per initialisation, with the phase boundary."""
    drawing = sheet(9.6, 6.6)
    data: dict[str, object] = {}
    axes = drawing.subplots(2, 2, sharex=True)
    for (scheme, title), (scores, losses) in zip(ROWS, axes, strict=True):
        part = records.where(weights=scheme)
        trained = part.where(attention="trained")
        first = trained[0]
        frozen = part.where(attention="frozen", labels="true")[0]
        boundary = float(first["T1_every_sample"])
        _draw_scores(scores, first, trained)
        _draw_losses(losses, first, frozen, trained)
        ends = trained.column("T1_every_sample")
        spread = np.nanquantile(ends, (0.1, 0.9))
        for panel in (scores, losses):
            panel.axvline(boundary, color="black", lw=1, ls=":")
            panel.axvspan(*spread, color="grey", alpha=0.2, lw=0)
            panel.set_xscale("symlog", linthresh=1)
            panel.set_xlim(0, float(first["times"][-1]))
        scores.set_title(f"(a) {title}\n{_end_in_words(boundary, spread)}", fontsize=9)
        losses.set_title(f"(b) {title}", fontsize=9)
        data[scheme] = _data(trained, first, frozen)
    for panel in axes[-1]:
        panel.set_xlabel("step of gradient descent")
    drawing.legend(
        *axes[0, 0].get_legend_handles_labels(), loc="outside lower left", ncols=3, fontsize=8
    )
    drawing.legend(
        *axes[0, 1].get_legend_handles_labels(), loc="outside lower right", ncols=3, fontsize=8
    )
    return drawing, data


def _end_in_words(end: float, spread: np.ndarray) -> str:
    low, high = spread
    return f"T1 = {end:.0f}, in 8 of 10 seeds {low:.0f} to {high:.0f}"


def _band(records: Records, key: str, *index: int) -> tuple[np.ndarray, np.ndarray]:
    """The 10 % and 90 % quantiles over the seeds, which have the same recorded steps."""
    series = np.stack([np.asarray(r[key])[(slice(None), *index)] for r in records])
    low, high = np.quantile(series, (0.1, 0.9), axis=0)
    return low, high


def _draw_scores(panel: "Axes", record: Record, all_seeds: Records) -> None:
    for i, j in SCORES:
        style = "-" if i != j else "--"
        label = f"$\\mu_{i + 1}^\\top W_K^\\top W_Q\\,\\mu_{j + 1}$"
        (line,) = panel.plot(record["times"], record["scores"][:, i, j], style, lw=1.4, label=label)
        band = _band(all_seeds, "scores", i, j)
        panel.fill_between(record["times"], *band, color=line.get_color(), alpha=0.15, lw=0)
    panel.set_ylabel("score")


def _draw_losses(panel: "Axes", record: Record, frozen: Record, all_seeds: Records) -> None:
    # Wide and below: the two hardly differ, and a thin line would be hidden.
    panel.plot(frozen["times"], frozen["loss"], color=PALETTE[5], lw=5, label="attention frozen")
    panel.plot(record["times"], record["loss"], color="black", lw=1.4, label="all samples")
    for index, name in enumerate(TYPES):
        (line,) = panel.plot(
            record["times"], record["loss_by_type"][:, index], lw=1.2, label=lettered(name)
        )
        band = _band(all_seeds, "loss_by_type", index)
        panel.fill_between(record["times"], *band, color=line.get_color(), alpha=0.15, lw=0)
    panel.set_yscale("log")
    panel.set_ylabel("training loss")


def _data(trained: Records, first: Record, frozen: Record) -> dict[str, object]:
    return {
        "seed": first.seed,
        "T1_every_sample": numbers(trained.column("T1_every_sample")),
        "T1_type_means": numbers(trained.column("T1_type_means")),
        "times": numbers(first["times"]),
        "scores": {f"{i + 1},{j + 1}": numbers(first["scores"][:, i, j]) for i, j in SCORES},
        "loss": numbers(first["loss"]),
        "loss_by_type": {n: numbers(first["loss_by_type"][:, k]) for k, n in enumerate(TYPES)},
        "loss_attention_frozen": numbers(frozen["loss"]),
    }


FIGURE_1 = (
    Figure(
        id="yang2024.figure_1",
        title="Two phases of training",
        caption=(
            "Scores (a) and training loss by type (b) over 30,000 steps of descent at the paper's "
            "sizes: lines are one seed, bands 8 of 10 seeds. The dotted line is T1, after which "
            "every sample is correct, grey its spread over the seeds. Upper "
            "row: the initialisation that matches the printed picture (a linear layer's default "
            "for every matrix and for a), which is our inference; lower row: the literal one "
            "(Kaiming normal, a = ±1), whose first phase lasts some ten steps. Wide and pale: the "
            "loss with attention frozen, nearly the same. These sizes break two hypotheses of the "
            "theory: 61 random words fill 160 places, and m = 128 is below m1 = 256."
        ),
        studies=("yang2024.appendix_a",),
        draw=draw_figure_1,
        changes=({}, {"attention": "frozen"}),
    ),
)
