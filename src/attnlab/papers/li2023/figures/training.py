"""Figures 4, 5, 7 and 8: attention along training, and what removing tokens does."""

from typing import Any

import numpy as np

from attnlab.core import Figure, Records
from attnlab.papers.li2023.figures.common import canvas, numbers
from attnlab.papers.li2023.scalars.attention import mean_ceiling

WORDS = {
    "irrelevant": "label-irrelevant (oracle)",
    "noisy": "noisy (oracle)",
    "random": "at random",
    "attention": "least attention received",
    "value_norm": "smallest values",
    "distance": "farthest from patterns",
    "model": "least attention, trained model",
}


def mean_series(records: Records, name: str, steps: np.ndarray) -> np.ndarray:
    """A series of every run at common steps, held at its last value after the run has stopped."""
    return np.stack([np.interp(steps, r["times"], r[name]) for r in records])


def draw_attention(records: Records) -> tuple[Any, dict[str, Any]]:
    """The mass on relevant and on other tokens over the steps, and what queries of a role do."""
    plain, far = records.where(margin=1.0), records.where(margin=10.0)
    drawing, ((mass, roles),) = canvas(1, 2)
    end = max(float(r["times"][-1]) for r in plain)
    steps = np.linspace(0, end, 60)
    relevant = mean_series(plain, "relevant_mass", steps)
    cell = plain[0].cell
    mean, spread = relevant.mean(0), relevant.std(0)
    mass.plot(steps, mean, "r-*", ms=4, markevery=6, label="label-relevant tokens")
    mass.fill_between(steps, mean - spread, mean + spread, color="r", alpha=0.2, lw=0)
    mass.plot(steps, 1 - mean, "b-s", ms=3, markevery=6, label="all other tokens")
    ceiling = mean_ceiling(cell.alpha_star, cell.sharp)
    mass.axhline(ceiling, color="grey", lw=0.8, ls=":", label="the most any W_K, W_Q reach")
    data: dict[str, Any] = {
        "steps": numbers(steps),
        "relevant_mass": numbers(mean),
        "spread": numbers(spread),
        "ceiling": ceiling,
        "iterations": numbers(plain.column("iterations")),
    }
    if far:
        later = mean_series(far, "relevant_mass", steps).mean(0)
        mass.plot(steps, later, "r--", lw=1, label="relevant, margin 10")
        data["relevant_mass_margin_10"] = numbers(later)
    mass.set(xlabel="iteration", ylabel="attention mass", ylim=(0, 1.02))
    mass.legend(fontsize=7, loc="center right")
    names = ("relevant", "confusion", "non-discriminative")
    for row, name in enumerate(names):
        own = np.stack(
            [np.interp(steps, r["times"], r["mass_by_role"][:, row, 0]) for r in plain]
        ).mean(0)
        roles.plot(steps, own, lw=1.4, label=f"{name} queries")
        data[f"mass of {name} queries"] = numbers(own)
    tokens = mean_series(plain, "effective_tokens", steps).mean(0) / cell.L
    roles.plot(steps, tokens, color="grey", lw=1, ls="--", label="effective tokens / |S|")
    roles.set(xlabel="iteration", ylabel="mass on relevant tokens", ylim=(0, 1.02))
    roles.legend(fontsize=7)
    data["effective_tokens_share"] = numbers(tokens)
    return drawing, data


def draw_pruning(records: Records) -> tuple[Any, dict[str, Any]]:
    """Test loss over the share removed, by what is removed first, and over the FLOPs saved."""
    drawing, ((share, saved),) = canvas(1, 2)
    # The primary reading; the others are in the claim.
    shortest = min(r.cell.steps for r in records)
    plain = {"positions": "original", "removal": "excluded", "prune_at": "both"}
    records = records.where(steps=shortest, **plain)
    none = records.where(selector="none")
    data: dict[str, Any] = {}
    for name in [n for n in WORDS if records.where(selector=n)]:
        own = records.where(selector=name)
        removed, losses, flops = [0.0], [none], [0.0]
        for level, part in own.by("removed").items():
            removed.append(level)
            losses.append(part)
            flops.append(float(part[0]["flops_saved"]))
        middle = [max(float(np.median(p.column("test_loss"))), 1e-7) for p in losses]
        style = "-" if name in ("irrelevant", "noisy", "random") else "--"
        share.plot(removed, middle, f"o{style}", ms=4, lw=1.3, label=WORDS[name])
        saved.plot(flops, middle, f"o{style}", ms=4, lw=1.3)
        data[name] = {
            "removed": removed,
            "flops_saved": flops,
            "test_loss": [numbers(p.column("test_loss")) for p in losses],
        }
    for panel in (share, saved):
        panel.set_yscale("log")
        panel.set_ylabel("test loss, median")
    share.set_xlabel("share of tokens removed")
    saved.set_xlabel("share of FLOPs saved")
    share.legend(fontsize=7)
    return drawing, data


def _attention_figure(name: str, M: int, *studies: str) -> Figure:
    return Figure(
        id=f"li2023.{name}",
        title=f"Concentration of attention weights, M = {M}",
        caption=(
            "Left: attention on label-relevant tokens (red) and on all others (blue), mean over "
            "queries and runs; the band is a standard deviation over runs; a run that has stopped "
            "at zero training loss keeps its last value. Right: the same by the role of the query, "
            "and the effective number of tokens (exp of the entropy)."
        ),
        studies=studies,
        draw=draw_attention,
    )


def _pruning_figure(name: str, M: int) -> Figure:
    return Figure(
        id=f"li2023.{name}",
        title=f"Test loss after removing tokens, M = {M}",
        caption=(
            "Median test loss after a fixed number of steps, over the share of tokens removed in "
            "training and test, by what is removed first; right: over the FLOPs that this saves. "
            "Losses below 1e-7 are drawn there. Settings inferred."
        ),
        studies=(f"li2023.{name}",),
        draw=draw_pruning,
    )


LETTERS = (("a", 10), ("b", 15), ("c", 20))
TRAINING = (
    _attention_figure("figure_4", 5, "li2023.dynamics", "li2023.margin_10"),
    _pruning_figure("figure_5", 5),
    *(_attention_figure(f"figure_7{c}", M, f"li2023.figure_7{c}") for c, M in LETTERS),
    *(_pruning_figure(f"figure_8{c}", M) for c, M in LETTERS),
)
