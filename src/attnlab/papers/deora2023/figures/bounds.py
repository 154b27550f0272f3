"""What the theorems demand and promise: heads by constants, stability against its bound."""

from dataclasses import replace
from typing import Any

import numpy as np

from attnlab.core import Figure, Record, Records
from attnlab.papers.deora2023.figures.common import canvas, medians, numbers
from attnlab.papers.deora2023.scalars import target_of
from attnlab.papers.deora2023.theory import conditions, margins
from attnlab.papers.deora2023.theory.conditions import PROOFS, GoodStart, Target

STEPS = np.geomspace(3, 1e6, 60)


def _through_proposition_2(record: Record) -> list[float]:
    """H by the corrected constants with B_2, B_Phi and gamma_*/2 of Proposition 2, P = 0."""
    cell = record.cell
    sizes = cell.mixture()
    B_2 = max(1.0, cell.T**0.5 * cell.S)
    B_Phi = max(1.0, cell.T * sizes.R * cell.S * (2 * margins.log(cell.n / 0.1)) ** 0.5)
    start = GoodStart(B_2, B_Phi, margins.gamma_star(sizes) / 2)
    found = []
    for K in STEPS:
        target = conditions.target_of(start, cell.T, cell.d, sizes.R, cell.H, float(K))
        found.append(float(conditions.heads_needed(target, "corrected")))
    return found


def _at_horizon(target: Target, K: float) -> Target:
    """The target of the same instance for another number of steps."""
    D = target.D * np.log(K) / np.log(target.K)
    return replace(target, D=float(D), K=float(K), loss=1 / float(K))


def _self_consistent(target: Target) -> float:
    """The smallest H at which equal heads (H/2 of each sign) meet the symmetric condition."""
    H = 2.0
    for _ in range(60):
        own = replace(target, H=H, least_count=max(H / 2, 1.0))
        H = max(2.0, float(conditions.heads_needed(own, "symmetric")))
    return H


def draw_required(records: Records) -> tuple[Any, dict[str, Any]]:
    """The H that Theorem 1 demands against K under each set of constants, with the runs."""
    drawing, ((panel,),) = canvas(1, 1, width=7.2, height=4.4)
    first = records[0]
    base = target_of(first)
    curves: dict[str, list[float]] = {
        "corrected, through Proposition 2": _through_proposition_2(first)
    }
    targets = [_at_horizon(base, float(K)) for K in STEPS]
    curves["printed (3) at constant one"] = [
        float(conditions.printed_heads_needed(t)) for t in targets
    ]
    for proof in PROOFS[:2]:
        curves[f"{proof} constants"] = [float(conditions.heads_needed(t, proof)) for t in targets]
    curves["symmetric: sharp, equal heads"] = [_self_consistent(t) for t in targets]
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
    drawing.legend(
        *panel.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8
    )
    data = {
        "K": numbers(STEPS),
        **{name: numbers(heads) for name, heads in curves.items()},
        "runs": [[float(r.cell.K), float(r.cell.H)] for r in runs],
    }
    return drawing, data


def draw_stability(records: Records) -> tuple[Any, dict[str, Any]]:
    """Mean leave-one-out distance and gap against n, with their bounds."""
    drawing, ((left, right),) = canvas(1, 2)
    data: dict[str, Any] = {}
    atoms = records.of("deora2023.atoms")
    levels = np.array(list(atoms.by("n")), float)
    for panel, lines in (
        (
            left,
            (
                ("mean_apart", "measured", "C0o-"),
                ("stability_bound", "bound of section 6.2", "C3--"),
            ),
        ),
        (
            right,
            (
                ("leave_one_out_gap", "leave-one-out estimate of the gap", "C0o-"),
                ("gap_bound", "bound of Theorem 2", "C3--"),
            ),
        ),
    ):
        for scalar, label, style in lines:
            _, middle = medians(atoms, "n", scalar)
            panel.plot(levels, middle, style, ms=4, lw=1.4, label=label)
            data[scalar] = numbers(middle)
        panel.set(xscale="log", yscale="log", xlabel="samples n")
    data["n"] = numbers(levels)
    groups = atoms.by("n")
    means = np.array([part.column("gap").mean() for part in groups.values()])
    right.plot(levels, np.abs(means), "C1x", ms=6, label="|mean of test − training loss|")
    data["mean_gap"] = numbers(means)
    right.axhline(np.log(2), color="grey", lw=1, ls=":")
    right.text(levels[0], np.log(2) * 1.2, "log 2", fontsize=8, color="grey")
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
        id="deora2023.stability",
        title="Stability against its bound",
        caption=(
            "Noise-free samples by atoms, 10^8 heads, medians over training sets: mean distance "
            "to the leave-one-out models (left) and the generalisation gap (right) against n, with "
            "the bounds of section 6.2 and Theorem 2. The gap itself is small beside its spread; "
            "its leave-one-out estimate is not."
        ),
        studies=("deora2023.atoms",),
        draw=draw_stability,
    ),
)
