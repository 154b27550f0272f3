"""Over the number of heads: losses, weak convexity, attention by sign."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.plotting import canvas, colours, legend_below, medians, numbers, power_of_ten

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def draw_losses(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Training and test loss over the steps, a line per number of heads (one seed)."""
    drawing, ((left, right),) = canvas(1, 2)
    groups = records.by("H")
    data: dict[str, object] = {}
    for (H, part), colour in zip(groups.items(), colours(len(groups)), strict=True):
        first = part[0]
        steps = first["times"] + 1
        left.plot(steps, first["loss"], color=colour, lw=1.4, label=f"H = {power_of_ten(H)}")
        right.plot(steps, first["test_loss"], color=colour, lw=1.4)
        data[f"H={H:g}"] = {
            "steps": numbers(first["times"]),
            "loss": numbers(first["loss"]),
            "test_loss": numbers(first["test_loss"]),
            "last_loss_all_seeds": numbers(part.column("last_loss")),
        }
    for panel, name in ((left, "training loss"), (right, "test loss")):
        panel.set(xscale="log", yscale="log", xlabel="step of phase 2, plus one", ylabel=name)
    right.sharey(left)
    legend_below(drawing, *left.get_legend_handles_labels(), columns=7)
    return drawing, data


def draw_convexity(records: Records) -> tuple["Drawing", dict[str, object]]:
    """-lambda_min/L against H with the fitted exponent, and along training."""
    drawing, ((left, right),) = canvas(1, 2)
    data: dict[str, object] = {}
    for scalar, name in (
        ("largest_concavity", "largest along training"),
        ("start_concavity", "after phase 1"),
    ):
        several = [r for r in records if r.cell.H >= 10]
        fit = fit_exponent([r.cell.H for r in several], [float(r[scalar]) for r in several])
        levels, middle = medians(records, "H", scalar)
        label = f"{name}: {fit.exponent:.3f} [{fit.low:.3f}, {fit.high:.3f}]"
        (line,) = left.plot(levels, middle, "o", ms=4, label=label)
        law = fit.constant * levels**fit.exponent
        left.plot(levels, law, lw=1, ls="--", color=line.get_color())
        data[name] = {
            "H": numbers(levels),
            "median": numbers(middle),
            "exponent": [fit.exponent, fit.low, fit.high],
        }
    left.set(xscale="log", yscale="log", xlabel="heads H")
    left.set_ylabel(r"$-\lambda_{\min}(\nabla^2 L)/L$")
    left.legend(fontsize=7, title="fitted exponent from 10 heads on", title_fontsize=7)
    groups = records.by("H")
    for (H, part), colour in zip(groups.items(), colours(len(groups)), strict=True):
        first = part[0]
        scaled = -first["lambda_min"] / first["loss"] * np.sqrt(H)
        right.plot(first["times"] + 1, scaled, color=colour, lw=1.3, label=f"H = {power_of_ten(H)}")
    right.set(xscale="log", xlabel="step of phase 2, plus one")
    right.set_ylabel(r"$-\sqrt{H}\,\lambda_{\min}/L$")
    right.legend(fontsize=7, ncols=2)
    return drawing, data


def draw_attention(records: Records) -> tuple["Drawing", dict[str, dict[str, object]]]:
    """Mean attention on relevant places over the steps, by the head's sign."""
    drawing, ((left, right),) = canvas(1, 2)
    groups = records.by("H")
    data: dict[str, dict[str, object]] = {}
    for (H, part), colour in zip(groups.items(), colours(len(groups)), strict=True):
        first = part[0]
        for column, (panel, name) in enumerate(((left, "plus"), (right, "minus"))):
            if first["counts"][column] == 0:
                continue
            mass = first["relevant_mass"][:, column]
            panel.plot(
                first["times"] + 1, mass, color=colour, lw=1.4, label=f"H = {power_of_ten(H)}"
            )
            data.setdefault(f"H={H:g}", {})[name] = numbers(mass)
    zeta = records[0].cell.zeta
    for panel, sign in ((left, "+1"), (right, "−1")):
        panel.axhline(zeta, color="grey", lw=1, ls=":")
        panel.set(xscale="log", xlabel="step of phase 2, plus one")
        panel.set_title(f"heads of sign {sign}", fontsize=10)
    left.set_ylabel("attention on relevant places")
    ends = [panel.get_ylim() for panel in (left, right)]
    for panel in (left, right):
        panel.set_ylim(min(low for low, _ in ends), max(high for _, high in ends))
    # A single head has one sign only: it is in one of the panels.
    handles = {
        label: handle
        for panel in (left, right)
        for handle, label in zip(*panel.get_legend_handles_labels(), strict=True)
    }
    labels = [f"H = {power_of_ten(H)}" for H in groups]
    lines = [handles[label] for label in labels]
    legend_below(drawing, lines, labels, columns=7)
    return drawing, data


HEADS = (
    Figure(
        id="deora2023.loss_over_heads",
        title="Losses over the number of heads",
        caption=(
            "Training and test loss of phase 2 at one step size, one seed, for 1 to 10^6 heads "
            "(collapsed exactly to two groups) on 48 noisy samples. More heads do not train "
            "faster: the curves meet in the limit of lazy training."
        ),
        studies=("deora2023.heads",),
        draw=draw_losses,
    ),
    Figure(
        id="deora2023.convexity",
        title="Weak convexity over the number of heads",
        caption=(
            "Left: minus the smallest eigenvalue of the loss's Hessian over the loss, against the "
            "number of heads, medians over seeds with fitted exponents (Corollary 1: at most of "
            "order -1/2). Right: the same along training, times sqrt(H)."
        ),
        studies=("deora2023.heads",),
        draw=draw_convexity,
    ),
    Figure(
        id="deora2023.attention_mass",
        title="Attention on relevant places by the sign of a head",
        caption=(
            "Mean attention that heads of either sign pay to relevant places, one seed; dotted: "
            "zeta, uniform attention. Each of many heads moves by the order of 1/sqrt(H) only."
        ),
        studies=("deora2023.heads",),
        draw=draw_attention,
    ),
)
