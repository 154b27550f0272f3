"""Figure 1 of the paper: the two phases at its own sizes."""

from typing import Any

from attnlab.core import Figure, Record, Records
from attnlab.papers.yang2024.figures.common import numbers

TYPES = ("both signals", "only mu_1", "only mu_2", "neither")
SCORES = ((0, 1), (1, 0), (2, 0), (2, 1), (0, 0), (1, 1))
"""(key, query) of the scores that figure 1 shows."""
ROWS = (
    ("linear_default", "matching: linear-layer default, a alike"),
    ("kaiming_normal", "literal: Kaiming normal, a = ±1"),
)


def draw_figure_1(records: Records) -> tuple[Any, dict[str, Any]]:
    """Scores and losses over the steps, a row per initialisation, with the phase boundary."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(9.6, 6.6), layout="constrained")
    data: dict[str, Any] = {}
    axes = drawing.subplots(2, 2, sharex=True)
    for (scheme, title), (scores, losses) in zip(ROWS, axes, strict=True):
        part = records.where(weights=scheme)
        trained = part.where(attention="trained")
        first = trained[0]
        frozen = part.where(attention="frozen", labels="true")[0]
        boundary = float(first["T1_every_sample"])
        _draw_scores(scores, first)
        _draw_losses(losses, first, frozen)
        for panel in (scores, losses):
            panel.axvline(boundary, color="black", lw=1, ls=":")
            panel.set_xscale("symlog", linthresh=1)
            panel.set_xlim(0, float(first["times"][-1]))
        scores.set_title(f"(a) {title}", fontsize=10)
        losses.set_title(f"(b) {title}", fontsize=10)
        top = scores.get_ylim()[1]
        scores.text(boundary, top, f" T1 = {boundary:.0f}", va="top", fontsize=8)
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


def _draw_scores(panel: Any, record: Record) -> None:
    for i, j in SCORES:
        style = "-" if i != j else "--"
        label = f"$\\mu_{i + 1}^\\top W_K^\\top W_Q\\,\\mu_{j + 1}$"
        panel.plot(record["times"], record["scores"][:, i, j], style, lw=1.4, label=label)
    panel.set_ylabel("score")


def _draw_losses(panel: Any, record: Record, frozen: Record) -> None:
    panel.plot(record["times"], record["loss"], color="black", lw=1.8, label="all samples")
    for index, name in enumerate(TYPES):
        panel.plot(record["times"], record["loss_by_type"][:, index], lw=1.2, label=name)
    panel.plot(
        frozen["times"],
        frozen["loss"],
        color="gold",
        lw=1.2,
        ls=(0, (2, 2)),
        label="attention frozen",
    )
    panel.set_yscale("log")
    panel.set_ylabel("training loss")


def _data(trained: Records, first: Record, frozen: Record) -> dict[str, Any]:
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
            "sizes, one seed. The dotted line is T1, after which every sample is correct. Upper "
            "row: the initialisation that matches the printed picture (a linear layer's default "
            "for every matrix and for a), which is our inference; lower row: the literal one "
            "(Kaiming normal, a = ±1), whose first phase lasts some ten steps. Dashed: the loss "
            "with attention frozen, nearly the same. These sizes break two hypotheses of the "
            "theory: 61 random words fill 160 places, and m = 128 is below m1 = 256."
        ),
        studies=("yang2024.appendix_a",),
        draw=draw_figure_1,
        changes=({}, {"attention": "frozen"}),
    ),
)
