"""Along one run: the phase portrait, the balance of gradients, the loss and the coefficients."""

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from attnlab.claims import Claim
from attnlab.core import Figure, Record, Records
from attnlab.evidence.laws import Range, Share
from attnlab.papers.yang2024.claims.findings import GRADIENT_BALANCE, LOSS_RATE
from attnlab.papers.yang2024.figures.common import (
    canvas,
    clock,
    colours,
    lettered,
    numbers,
    on_one_clock,
)
from attnlab.papers.yang2024.scalars.phase_2 import LATE_C_RATIO
from attnlab.papers.yang2024.theory.asymptote import balanced_limit
from attnlab.plotting import band, explain, legend_below, level_band, log_axes, nested

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

CLASSES = ("$\\mu_1$", "$\\mu_2$", "$\\mu_3$", "$r_1$", "$r_2$", "$r_3$", "$r_4$")
TYPES = ("both signals", "only mu_1", "only mu_2", "neither")
TIME = "time x rate"


def _decides(claim: Claim, name: str) -> Range:
    """Where a part of a claim has to lie in most runs: the lines that a figure draws."""
    (law,) = (part.law for part in claim.parts if part.name == name)
    assert isinstance(law, Share)
    return law.inside


RATIO = (-0.5, 2.2)
"""What is shown of ratios of rates: at first a rate that is nearly zero makes them anything."""


def over_larger(record: Record) -> np.ndarray:
    """R: minus the common token's rate over the larger of the signals'."""
    rates = record["signal_rates"]
    return -rates[:, 2] / rates[:, :2].max(axis=1)


def over_sum(record: Record) -> np.ndarray:
    """Minus the common token's rate over the sum of the signals'."""
    rates = record["signal_rates"]
    return -rates[:, 2] / rates[:, :2].sum(axis=1)


def draw_phase_portrait(records: Records) -> tuple["Drawing", dict[str, object]]:
    """G(mu_1) against -G(mu_3), and where the rates are within the band."""
    drawing, ((portrait, larger, both),) = canvas(1, 3, width=4.2)
    data: dict[str, object] = {}
    groups = records.by("m")
    tints, widths = colours(len(groups)), nested(len(groups))
    for (m, part), tint, width in zip(groups.items(), tints, widths, strict=True):
        label, style = f"m = {m}", {"color": tint, "lw": width}
        common, G = on_one_clock(part, lambda r: r["signal_outputs"][:, 0])
        _, other = on_one_clock(part, lambda r: -r["signal_outputs"][:, 2])
        portrait.plot(np.median(G, axis=0), np.median(other, axis=0), label=label, **style)
        data[f"m={m}"] = {
            "time": numbers(common),
            "G_mu_1": numbers(np.median(G, axis=0)),
            "minus_G_mu_3": numbers(np.median(other, axis=0)),
            "over_larger_rate": band(larger, *on_one_clock(part, over_larger), label, **style),
            "over_sum_of_rates": band(both, *on_one_clock(part, over_sum), label, **style),
        }
    reach = float(portrait.get_xlim()[1])
    for slope, style in ((1, ":"), (2, "-.")):
        ends = np.array([0, reach])
        portrait.plot(ends, slope * ends, color="black", lw=0.8, ls=style, label=f"slope {slope}")
    portrait.set(xlabel="$G(\\mu_1)$", ylabel="$-G(\\mu_3)$", ylim=(-0.3, 1.6 * reach))
    portrait.set_title("path of the outputs", fontsize=10)
    for panel, words in ((larger, "the larger signal's: above 1"), (both, "their sum: below 1")):
        panel.axhline(1, color="black", lw=1, ls=":")
        panel.set(xscale="log", xlabel=TIME, ylim=RATIO, ylabel="ratio of rates")
        panel.set_title(f"$-G'(\\mu_3)$ over {words}", fontsize=10)
    legend_below(drawing, *portrait.get_legend_handles_labels(), columns=8)
    return drawing, data


def draw_gradient_balance(records: Records) -> tuple["Drawing", dict[str, object]]:
    """The share of each type in the sum of gradients, and how far R is from its limit."""
    drawing, ((shares, ratio),) = canvas(1, 2)
    groups = records.by("m")
    widest = groups[max(groups)]
    cell = widest[0].cell
    limit = balanced_limit(cell.n, cell.L)
    data: dict[str, object] = {"limit_R": limit.R}
    for index, name in enumerate(TYPES):
        common, found = on_one_clock(widest, partial(_share, index=index))
        told = band(shares, common, found, lettered(name), lw=(3.2, 2.4, 1.2, 1.4)[index])
        share = limit.totals[index] / limit.totals.sum()
        shares.axhline(share, color=shares.lines[-1].get_color(), lw=0.8, ls=":")
        data[f"share of {name}"] = {"time": numbers(common), "limit": float(share), **told}
    shares.set(xscale="log", xlabel=TIME, ylabel="share in the sum of g")
    shares.set_title(f"by type, m = {cell.m}; dotted: limits", fontsize=10)
    tints, widths = colours(len(groups)), nested(len(groups), 3.5)
    for (m, part), tint, width in zip(groups.items(), tints, widths, strict=True):
        common, R = on_one_clock(part, over_larger)
        style = {"color": tint, "lw": width}
        data[f"R, m={m}"] = {
            "time": numbers(common),
            **band(ratio, common, np.abs(R / limit.R - 1), f"m = {m}", **style),
        }
    near = _decides(GRADIENT_BALANCE, "R").high - 1
    ratio.axhline(near, color="black", lw=1, ls="--", label=f"decides: {near:.0%}")
    ratio.set(xscale="log", yscale="log", xlabel=TIME, ylabel="$|R/R_\\infty - 1|$")
    ratio.set_title(f"R against its limit {limit.R:.3f} by max-margin duals", fontsize=10)
    pairs = [p.get_legend_handles_labels() for p in (shares, ratio)]
    handles, labels = ([x for pair in pairs for x in pair[k]] for k in (0, 1))
    legend_below(drawing, handles, labels, columns=6)
    return drawing, data


def _share(record: Record, index: int) -> np.ndarray:
    """What a type contributes to the sum of the loss derivatives."""
    g = record["gradient_by_type"] * np.array([1 / 2, 1 / 6, 1 / 6, 1 / 6])
    return g[:, index] / g.sum(axis=1)


def draw_loss_rate(records: Records) -> tuple["Drawing", dict[str, object]]:
    """1/loss over time with the limit's straight line, and the loss times time."""
    drawing, ((inverse, product),) = canvas(1, 2)
    groups = records.by("m")
    cell = records[0].cell
    constant = balanced_limit(cell.n, cell.L).loss_constant
    data: dict[str, object] = {"limit": constant}
    tints, widths = colours(len(groups)), nested(len(groups))
    for (m, part), tint, width in zip(groups.items(), tints, widths, strict=True):
        style = {"color": tint, "lw": width}
        common, loss = on_one_clock(part, lambda r: r["loss"])
        told = band(inverse, common, 1 / loss, f"m = {m}", **style)
        data[f"m={m}"] = {"time": numbers(common), "one_over_loss": told}
        band(product, common, loss * common, f"m = {m}", **style)
    ends = np.array([10.0, max(float(clock(r)[-1]) for r in records)])
    inverse.plot(ends, ends / constant, color="black", lw=1, ls=":", label="limit")
    inverse.set(xscale="log", yscale="log", xlabel=TIME, ylabel="1 / training loss")
    inverse.set_title("one over the loss", fontsize=10)
    product.axhline(constant, color="black", lw=1, ls=":", label="limit")
    near = _decides(LOSS_RATE, "loss over its limit")
    for end in (near.low, near.high):
        product.axhline(end * constant, color="black", lw=1, ls="--", label="decides")
    product.set(xscale="log", xlabel=TIME, ylabel="loss x rate x time")
    product.set_title("against the limit's constant", fontsize=10)
    handles = dict(zip(*product.get_legend_handles_labels()[::-1], strict=True))
    legend_below(drawing, list(handles.values()), list(handles), columns=8)
    return drawing, data


def draw_coefficients(records: Records) -> tuple["Drawing", dict[str, object]]:
    """C = S(t) - S(0) at the end by class of word, and its largest entries over the width."""
    drawing, ((panel, sizes),) = canvas(1, 2, width=4.8, height=4.0)
    groups = records.by("m")
    part = groups[max(groups)]
    mean = np.mean([r["class_coefficients"][-1] for r in part], axis=0)
    largest = float(np.nanmax(np.abs(mean)))
    scaled = mean / largest
    image = panel.imshow(scaled, cmap="PuOr_r", vmin=-1, vmax=1)
    explain(image, C=mean)
    panel.set_xticks(range(7), CLASSES)
    panel.set_yticks(range(7), CLASSES)
    panel.set(xlabel="query", ylabel="key")
    panel.set_title(f"C over its largest entry, {largest:.2g}, at m = {max(groups)}", fontsize=9)
    for i, j in np.argwhere(np.isfinite(scaled)):
        colour = "white" if abs(scaled[i, j]) > 0.6 else "black"
        panel.text(j, i, f"{scaled[i, j]:.2f}", ha="center", va="center", fontsize=6, color=colour)
    data: dict[str, object] = {f"m={max(groups)}": [numbers(row) for row in mean]}
    ratios = [[LATE_C_RATIO.of(r) for r in own] for own in groups.values()]
    data["ratio"] = level_band(sizes, list(groups), ratios, "runs", marker="o", lw=1.3)
    sizes.axhline(1, color="black", lw=1, ls="--", label="decides")
    sizes.set(xlabel="m", ylabel="least of the four over the largest other")
    log_axes(sizes)
    sizes.set_title("signals against pairs with a random word", fontsize=10)
    sizes.legend(fontsize=7)
    drawing.colorbar(image, ax=panel, shrink=0.7)
    return drawing, data


DYNAMICS = (
    Figure(
        id="yang2024.phase_portrait",
        title="Phase portrait of the outputs",
        caption=(
            "Left: the path of G(mu_1) and -G(mu_3), medians over seeds. Middle and right: the "
            "band of Lemmas 4.3 and 4.5: the common token's rate must lie above the larger of the "
            "signals' rates and below their sum; medians with the middle 80 % of the seeds, cut "
            "off at the start, where the rates are nearly zero. Curves of smaller widths are "
            "drawn wider, so that none hides another."
        ),
        studies=("yang2024.phase_2",),
        draw=draw_phase_portrait,
    ),
    Figure(
        id="yang2024.gradient_balance",
        title="Automatic balancing of gradients",
        caption=(
            "Left: what each type contributes to the sum of the loss derivatives g at the largest "
            "width. Right: the distance of R (the common token's rate over the larger signal's) "
            "from its limit. The limits, of infinite width, are the dual variables of a "
            "hard-margin classifier on bags of words. Medians with the middle 80 % of the seeds."
        ),
        studies=("yang2024.phase_2",),
        draw=draw_gradient_balance,
    ),
    Figure(
        id="yang2024.loss_rate",
        title="The loss falls like one over time",
        caption=(
            "1/loss over time (left) and loss x rate x time (right), medians with the middle 80 % "
            "of the seeds, with the limit of infinite width (dotted); rate = (s1^2 + s0^2) m m1."
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
            "the common token mu_3 and the random words r_1..r_4 of the four types; empty cells "
            "are pairs that never share a sample. Left: the largest width, over its largest "
            "entry. Right: the least of C12, C21, -C31, -C32 over the largest coefficient with a "
            "random word, median and the middle 80 % of the seeds, over the width."
        ),
        studies=("yang2024.phase_2",),
        draw=draw_coefficients,
    ),
)
