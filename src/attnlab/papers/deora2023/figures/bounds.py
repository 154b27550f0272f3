"""What the theorems demand and promise: heads by constants, stability against its bound."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Record, Records
from attnlab.papers.deora2023.scalars.promises import target_of
from attnlab.papers.deora2023.theory import conditions, margins
from attnlab.papers.deora2023.theory.conditions import GoodStart, Proof, Target
from attnlab.papers.deora2023.theory.real import log
from attnlab.plotting import PALETTE, canvas, legend_below, level_band, nested, numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

STEPS = np.geomspace(3, 1e6, 60)


def _through_proposition_2(record: Record) -> list[float]:
    """H by the corrected constants with B_2, B_Phi and gamma_*/2 of Proposition 2, P = 0."""
    cell = record.cell
    sizes = cell.mixture()
    B_2 = max(1.0, cell.T**0.5 * cell.S)
    B_Phi = max(1.0, cell.T * sizes.R * cell.S * (2 * log(cell.n / 0.1)) ** 0.5)
    start = GoodStart(B_2, B_Phi, margins.gamma_star(sizes) / 2)
    found = []
    for K in STEPS:
        target = conditions.target_of(start, cell.T, cell.d, sizes.R, cell.H, float(K))
        found.append(float(conditions.heads_needed(target, "corrected")))
    return found


def _at_horizon(target: Target, margin: float, K: float) -> Target:
    """The target of the same instance at D = log(K)/gamma for another number of steps."""
    D = 2**0.5 * np.log(K) / margin
    return replace(target, D=float(D), K=float(K), loss=1 / float(K))


def _self_consistent(target: Target) -> float:
    """The smallest H at which equal heads (H/2 of each sign) meet the symmetric condition."""
    H = 2.0
    for _ in range(60):
        own = replace(target, H=H, least_count=max(H / 2, 1.0))
        H = max(2.0, float(conditions.heads_needed(own, "symmetric")))
    return H


def draw_required(records: Records) -> tuple["Drawing", dict[str, object]]:
    """The H that Theorem 1 demands against K under each set of constants, with the runs."""
    drawing, ((panel,),) = canvas(1, 1, width=7.2, height=4.4)
    first = records[0]
    base = target_of(first)
    curves: dict[str, list[float]] = {
        "section 6.1, by Proposition 2": _through_proposition_2(first)
    }
    targets = [_at_horizon(base, float(first["tangent_margin"]), float(K)) for K in STEPS]
    curves["printed (3) at constant one"] = [
        float(conditions.printed_heads_needed(t)) for t in targets
    ]
    constants: tuple[tuple[Proof, str], ...] = (
        ("corrected", "section 6.1, own target"), ("sharp", "ours")
    )  # fmt: skip
    for proof, name in constants:
        curves[name] = [float(conditions.heads_needed(t, proof)) for t in targets]
    curves["ours, equal heads"] = [_self_consistent(t) for t in targets]
    for name, heads in curves.items():
        panel.plot(STEPS, heads, lw=1.6, label=name)
    instance = (first.cell.S, first.cell.zeta, first.cell.Z)
    runs = [r for r in records if (r.cell.S, r.cell.zeta, r.cell.Z) == instance]
    panel.plot(
        [r.cell.K for r in runs],
        [r.cell.H for r in runs],
        "k*",
        ms=11,
        label="runs that meet the last",
    )
    panel.set(xscale="log", yscale="log", xlabel="steps K", ylabel="heads H demanded")
    panel.set_title("by the constants used", fontsize=10)
    legend_below(drawing, *panel.get_legend_handles_labels(), columns=3)
    data = {
        "K": numbers(STEPS),
        **{name: numbers(heads) for name, heads in curves.items()},
        "runs": [[float(r.cell.K), float(r.cell.H)] for r in runs],
    }
    return drawing, data


def draw_guaranteed(records: Records) -> tuple["Drawing", dict[str, object]]:
    """The loss along runs of section 6.1's own step, with (4) and the loss at the start."""
    groups = records.by("T")
    drawing, panels = canvas(1, len(groups), width=4.6)
    data: dict[str, object] = {}
    for (T, part), panel in zip(groups.items(), panels[0], strict=True):
        widths = nested(len(part), 2.8)
        for column, r in enumerate(part):
            k = np.asarray(r["times"]) / 1000
            bound, mean = float(r["loss_bound"]), float(r["mean_loss"])
            curves = (
                (k, r["losses"], "-", "loss"),
                ((0, k[-1]), (bound, bound), "--", "bound (4) on its mean"),
                ((0, k[-1]), (mean, mean), ":", "its mean"),
            )
            for x, y, style, label in curves:
                # The draws lie on each other: the first is wide, the last thin.
                panel.plot(x, y, style, color=f"C{column}", lw=widths[column],
                           label=label if column == 0 else None)  # fmt: skip
            data[f"T={T}, seed={r.seed}"] = {
                "steps": numbers(r["times"]), "loss": numbers(r["losses"]),
                "bound": bound, "mean": mean,
            }  # fmt: skip
        panel.set(xlabel="thousands of steps", title=f"T = {T}")
        panel.set_ylim(bottom=0)
    panels[0][0].set_ylabel("training loss")
    legend_below(drawing, *panels[0][0].get_legend_handles_labels(), columns=3)
    return drawing, data


def draw_stability(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Mean leave-one-out distance and gap against n, with their bounds."""
    drawing, ((left, right),) = canvas(1, 2)
    data: dict[str, object] = {}
    groups = records.of("deora2023.atoms").by("n")
    levels = np.array(list(groups), float)
    for panel, scalar, label, mark, tint in (
        (left, "mean_apart", "measured", "o-", PALETTE[0]),
        (left, "stability_bound", "bound of section 6.2", "s--", PALETTE[1]),
        (right, "leave_one_out_gap", "leave-one-out estimate of the gap", "o-", PALETTE[0]),
        (right, "gap_bound", "bound of Theorem 2", "s--", PALETTE[1]),
    ):
        values = [part.column(scalar) for part in groups.values()]
        style = {"marker": mark[0], "ls": mark[1:], "color": tint, "lw": 1.4}
        data[scalar] = level_band(panel, levels, values, label, **style)
        panel.set(xscale="log", yscale="log", xlabel="samples n")
    data["n"] = numbers(levels)
    means = np.array([part.column("gap").mean() for part in groups.values()])
    gap = {"ls": "none", "marker": "x", "ms": 6, "color": PALETTE[2]}
    right.plot(levels, np.abs(means), label="|mean of test − training loss|", **gap)
    data["mean_gap"] = numbers(means)
    right.axhline(np.log(2), color="black", lw=1, ls=":", label="log 2, the loss at the start")
    left.set_title("stability", fontsize=10)
    right.set_title("generalisation", fontsize=10)
    left.set_ylabel(r"mean $\|\theta_K-\theta_K^{-i}\|$")
    right.set_ylabel("generalisation gap")
    left.legend(fontsize=8)
    right.legend(fontsize=7)
    return drawing, data


BOUNDS = (
    Figure(
        id="deora2023.required_heads",
        title="The heads that Theorem 1 demands",
        caption=(
            "H against the number of steps K for one noise-free instance, by the constants used: "
            "the paper's (3) at constant one, section 6.1's own constants with Proposition 2's "
            "margin and with the instance's own NTK-SVM target, our tightened ones, and these for "
            "heads that stay equal. Stars: runs that meet the last (collapsed exactly)."
        ),
        studies=("deora2023.paths",),
        draw=draw_required,
    ),
    Figure(
        id="deora2023.theorem_1",
        title="Theorem 1 by section 6.1's own constants",
        caption=(
            "The training loss of 10^12 heads (collapsed exactly, signs drawn) at the step that "
            "section 6.1's rho allows, a colour for each draw of the signs; dashed: bound (4) on "
            "the mean loss, dotted: the mean. The bound is below the loss at the start."
        ),
        studies=("deora2023.guaranteed",),
        draw=draw_guaranteed,
    ),
    Figure(
        id="deora2023.stability",
        title="Stability against its bound",
        caption=(
            "Noise-free samples by atoms, 10^12 heads, medians with the middle 80 % of the "
            "training sets: mean distance "
            "to the leave-one-out models (left) and the generalisation gap (right) against n, with "
            "the bounds of section 6.2 and Theorem 2. The gap itself is small beside its spread; "
            "its leave-one-out estimate is not."
        ),
        studies=("deora2023.atoms",),
        draw=draw_stability,
    ),
)
