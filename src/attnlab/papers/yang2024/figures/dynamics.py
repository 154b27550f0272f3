"""Along one run: the phase portrait, the balance of gradients, the loss and the coefficients."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.papers.yang2024.figures.common import canvas, clock, colours, first_seeds, numbers
from attnlab.papers.yang2024.theory.asymptote import balanced_limit

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

CLASSES = ("$\\mu_1$", "$\\mu_2$", "$\\mu_3$", "$r_1$", "$r_2$", "$r_3$", "$r_4$")
TYPES = ("both signals", "only mu_1", "only mu_2", "neither")
TIME = "time x rate"


def draw_phase_portrait(records: Records) -> tuple["Drawing", dict[str, object]]:
    """G(mu_1) against -G(mu_3), and where the rates are within the band."""
    drawing, ((portrait, band),) = canvas(1, 2)
    data: dict[str, object] = {}
    runs = first_seeds(records, "m")
    for (m, record), colour in zip(runs.items(), colours(len(runs)), strict=True):
        G, rates, tau = record["signal_outputs"], record["signal_rates"], clock(record)
        portrait.plot(G[:, 0], -G[:, 2], color=colour, lw=1.3, label=f"m = {m}")
        faster = rates[:, :2].max(axis=1)
        low, high = -rates[:, 2] / faster, -rates[:, 2] / rates[:, :2].sum(axis=1)
        band.plot(tau[1:], low[1:], color=colour, lw=1.3)
        band.plot(tau[1:], high[1:], color=colour, lw=1.3, ls="--")
        data[f"m={m}"] = {
            "G_mu_1": numbers(G[:, 0]),
            "minus_G_mu_3": numbers(-G[:, 2]),
            "time": numbers(tau),
            "over_larger_rate": numbers(low),
            "over_sum_of_rates": numbers(high),
        }
    reach = max(float(r["signal_outputs"][:, 0].max()) for r in runs.values())
    for slope, style in ((1, ":"), (2, "-.")):
        line = np.array([0, reach])
        portrait.plot(line, slope * line, color="grey", lw=1, ls=style, label=f"slope {slope}")
    portrait.set(xlabel="$G(\\mu_1)$", ylabel="$-G(\\mu_3)$", ylim=(-0.3, 1.6 * reach))
    portrait.legend(fontsize=7)
    band.axhline(1, color="grey", lw=1, ls=":")
    band.set(xscale="log", xlabel=TIME, ylim=(-0.5, 2.2), ylabel="$-G'(\\mu_3)$ over ...")
    band.plot([], [], color="black", lw=1.3, label="larger of $G'(\\mu_1), G'(\\mu_2)$: above 1")
    band.plot([], [], color="black", lw=1.3, ls="--", label="their sum: below 1")
    band.legend(fontsize=7)
    return drawing, data


def draw_gradient_balance(records: Records) -> tuple["Drawing", dict[str, object]]:
    """The share of each type in the sum of gradients, and the ratio R, with their limits."""
    drawing, ((shares, ratio),) = canvas(1, 2)
    runs = first_seeds(records, "m")
    widest = runs[max(runs)]
    limit = balanced_limit(widest.cell.n, widest.cell.L)
    tau = clock(widest)
    g = widest["gradient_by_type"] * np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    part = g / g.sum(axis=1, keepdims=True)
    for index, name in enumerate(TYPES):
        (line,) = shares.plot(tau[1:], part[1:, index], lw=1.4, label=name)
        share = limit.totals[index] / limit.totals.sum()
        shares.axhline(share, color=line.get_color(), lw=0.8, ls=":")
    shares.set(xscale="log", xlabel=TIME, ylabel="share in the sum of g")
    shares.legend(fontsize=7, title=f"m = {widest.cell.m}; dotted: limit", title_fontsize=7)
    data: dict[str, object] = {"time": numbers(tau), "limit_R": limit.R}
    for index, name in enumerate(TYPES):
        data[f"share of {name}"] = numbers(part[:, index])
    for (m, record), colour in zip(runs.items(), colours(len(runs)), strict=True):
        rates = record["signal_rates"]
        R = -rates[:, 2] / rates[:, :2].max(axis=1)
        ratio.plot(clock(record)[1:], R[1:], color=colour, lw=1.3, label=f"m = {m}")
        data[f"R, m={m}"] = numbers(R)
    ratio.axhline(limit.R, color="black", lw=1, ls=":", label="limit by max-margin duals")
    ratio.set(
        xscale="log",
        xlabel=TIME,
        ylabel="$R = -G'(\\mu_3)/\\max(G'(\\mu_1), G'(\\mu_2))$",
        ylim=(-0.5, 2.2),
    )
    ratio.legend(fontsize=7)
    return drawing, data


def draw_loss_rate(records: Records) -> tuple["Drawing", dict[str, object]]:
    """1/loss over time with the limit's straight line, and the loss times time."""
    drawing, ((inverse, product),) = canvas(1, 2)
    runs = first_seeds(records, "m")
    some = next(iter(runs.values()))
    constant = balanced_limit(some.cell.n, some.cell.L).loss_constant
    data: dict[str, object] = {"limit": constant}
    for (m, record), colour in zip(runs.items(), colours(len(runs)), strict=True):
        tau = clock(record)
        inverse.plot(tau[1:], 1 / record["loss"][1:], color=colour, lw=1.3, label=f"m = {m}")
        product.plot(tau[1:], (record["loss"] * tau)[1:], color=colour, lw=1.3)
        data[f"m={m}"] = {"time": numbers(tau), "loss": numbers(record["loss"])}
    ends = np.array([10.0, max(float(clock(r)[-1]) for r in runs.values())])
    inverse.plot(ends, ends / constant, color="black", lw=1, ls=":", label="limit")
    inverse.set(xscale="log", yscale="log", xlabel=TIME, ylabel="1 / training loss")
    inverse.legend(fontsize=7)
    product.axhline(constant, color="black", lw=1, ls=":")
    product.set(xscale="log", xlabel=TIME, ylabel="loss x rate x time")
    return drawing, data


def draw_coefficients(records: Records) -> tuple["Drawing", dict[str, object]]:
    """C = S(t) - S(0) at the end, mean over pairs of words in a sample, by class."""
    drawing, panels = canvas(1, 2, width=4.6, height=4.0)
    data: dict[str, object] = {}
    image = None
    groups = records.by("m")
    for panel, m in zip(panels[0], (min(groups), max(groups)), strict=True):
        part = groups[m]
        mean = np.mean([r["class_coefficients"][-1] for r in part], axis=0)
        scaled = mean / np.nanmax(np.abs(mean))
        image = panel.imshow(scaled, cmap="RdBu_r", vmin=-1, vmax=1)
        panel.set_xticks(range(7), CLASSES)
        panel.set_yticks(range(7), CLASSES)
        panel.set(xlabel="query", ylabel="key")
        panel.set_title(f"m = {m}, largest |C| = {np.nanmax(np.abs(mean)):.2g}", fontsize=9)
        for i in range(7):
            for j in range(7):
                if np.isfinite(scaled[i, j]):
                    colour = "white" if abs(scaled[i, j]) > 0.6 else "black"
                    panel.text(
                        j,
                        i,
                        f"{scaled[i, j]:.2f}",
                        ha="center",
                        va="center",
                        fontsize=6,
                        color=colour,
                    )
        data[f"m={m}"] = [numbers(row) for row in mean]
    drawing.colorbar(image, ax=panels, shrink=0.7, label="C over the largest |C|")
    return drawing, data


DYNAMICS = (
    Figure(
        id="yang2024.phase_portrait",
        title="Phase portrait of the outputs",
        caption=(
            "Left: the path of G(mu_1) and -G(mu_3), one seed a width. Right: the band of Lemmas "
            "4.3 and 4.5: the common token's rate must lie above the larger of the signals' "
            "rates and below their sum."
        ),
        studies=("yang2024.phase_2",),
        draw=draw_phase_portrait,
    ),
    Figure(
        id="yang2024.gradient_balance",
        title="Automatic balancing of gradients",
        caption=(
            "Left: what each type contributes to the sum of the loss derivatives g at the largest "
            "width. Right: the ratio R. Dotted: the limit of infinite width, whose constants are "
            "the dual variables of a hard-margin classifier on bags of words."
        ),
        studies=("yang2024.phase_2",),
        draw=draw_gradient_balance,
    ),
    Figure(
        id="yang2024.loss_rate",
        title="The loss falls like one over time",
        caption=(
            "1/loss over time (left) and loss x rate x time (right), one seed a width, with the "
            "limit of infinite width (dotted); rate = (s1^2 + s0^2) m m1."
        ),
        studies=("yang2024.phase_2",),
        draw=draw_loss_rate,
    ),
    Figure(
        id="yang2024.coefficients",
        title="What the attention has learned",
        caption=(
            "The attention coefficients C = W_K^T W_Q (end) - W_K^T W_Q (start), mean over the "
            "pairs of words that share a sample and over seeds, by class: the signals mu_1, mu_2, "
            "the common token mu_3 and the random words r_1..r_4 of the four types. Each panel is "
            "scaled by its largest entry; empty cells are pairs that never share a sample."
        ),
        studies=("yang2024.phase_2",),
        draw=draw_coefficients,
    ),
)
