"""Figures 4, 5, 7 and 8: attention along training, and what removing tokens does."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.threshold_laws import thresholds
from attnlab.papers.li2023.figures.common import canvas, draw_n50, numbers
from attnlab.papers.li2023.scalars.attention import cell_ceiling
from attnlab.papers.li2023.scalars.trials import SUCCESS

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

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


def draw_attention(records: Records) -> tuple["Drawing", dict[str, object]]:
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
    ceiling = cell_ceiling(cell)
    mass.axhline(ceiling, color="grey", lw=0.8, ls=":", label="the most any W_K, W_Q reach")
    data: dict[str, object] = {
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


def draw_pruning(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Test loss over the share removed, by what is removed first; one panel a number of patterns.

    With one number of patterns a second panel has it over the FLOPs that removal saves.
    """
    by_M = records.by("M")
    drawing, (panels,) = canvas(1, max(len(by_M), 2), width=3.9)
    data: dict[str, object] = {}
    for panel, (M, own) in zip(panels, by_M.items(), strict=False):
        rows = _pruned(own)
        for name, (removed, _, losses) in rows.items():
            _plot_losses(panel, removed, losses, name)
        panel.set_xlabel("share of tokens removed")
        if len(by_M) > 1:
            panel.set_title(f"M = {M}", fontsize=10)
        data[str(M)] = {
            name: {"removed": removed, "flops_saved": flops,
                   "test_loss": [numbers(part.column("test_loss")) for part in losses]}
            for name, (removed, flops, losses) in rows.items()
        }  # fmt: skip
    if len(by_M) == 1:
        for name, (_, flops, losses) in _pruned(records).items():
            _plot_losses(panels[1], flops, losses, name)
        panels[1].set_xlabel("share of FLOPs saved")
    for panel in panels:
        panel.set_yscale("log")
        panel.set_ylabel("test loss, median")
    panels[0].legend(fontsize=7)
    return drawing, data


def _pruned(records: Records) -> dict[str, tuple[list[float], list[float], list[Records]]]:
    """By selector: shares removed, FLOPs saved, and the records, beginning with none removed."""
    none, found = records.where(selector="none"), {}
    for name in [n for n in WORDS if records.where(selector=n)]:
        levels = records.where(selector=name).by("removed")
        flops = [0.0, *(float(part[0]["flops_saved"]) for part in levels.values())]
        found[name] = ([0.0, *levels], flops, [none, *levels.values()])
    return found


def _plot_losses(panel: "Axes", x: list[float], losses: list[Records], name: str) -> None:
    middle = [max(float(np.median(part.column("test_loss"))), 1e-7) for part in losses]
    style = "-" if name in ("irrelevant", "noisy", "random") else "--"
    panel.plot(x, middle, f"o{style}", ms=4, lw=1.3, label=WORDS[name])


def draw_selectors(records: Records) -> tuple["Drawing", dict[str, object]]:
    """N50 by selector, and the iterations of the runs that succeeded over the FLOPs a sample."""
    drawing, ((left, right),) = canvas(1, 2, width=5.2)
    arms = sorted({(r.cell.selector, r.cell.removed) for r in records}, key=lambda a: (a[1], a[0]))
    data: dict[str, object] = {}
    names = []
    for place, (selector, removed) in enumerate(arms):
        own = records.where(selector=selector, removed=removed)
        (fit,) = thresholds(own, SUCCESS, lambda c: 1.0).values()
        name = "all tokens" if selector == "none" else f"{WORDS[selector]}, {removed:.0%}"
        draw_n50(left, {float(place): fit}, "tab:red" if selector == "none" else "tab:blue", "")
        steps = [float(r["iterations"]) for r in own if r["fitted"]]
        cost = 1 - float(own[0]["flops_saved"])
        time = float(np.median(steps)) if steps else float("nan")
        right.plot(cost, time, "o", color="tab:red" if selector == "none" else "tab:blue")
        right.annotate(name, (cost, time), fontsize=6, xytext=(3, 2), textcoords="offset points")
        names.append(name)
        data[name] = {"n50": fit.n50, "low": fit.sequence_low, "iterations": time,
                      "high": fit.sequence_high if np.isfinite(fit.sequence_high) else None,
                      "flops": cost, "trials": fit.trials}  # fmt: skip
    left.set_xticks(range(len(names)), names, rotation=40, ha="right", fontsize=7)
    left.set(ylabel="N50, 95 % confidence sequence", yscale="log")
    right.set(xlabel="FLOPs a sample, all tokens = 1", ylabel="iterations to zero training loss")
    return drawing, data


def draw_noise_map(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Median test loss over fraction and noise, with and without learned attention."""
    drawing, (panels,) = canvas(1, 2)
    data: dict[str, object] = {}
    for panel, kind in zip(panels, ("trained", "frozen"), strict=True):
        for alpha, own in records.where(attention=kind).by("alpha_star").items():
            levels = own.by("c0")
            loss = [max(float(np.median(p.column("test_loss"))), 1e-7) for p in levels.values()]
            tau = [c * np.sqrt(own[0].cell.d) for c in levels]
            panel.plot(tau, loss, "o-", ms=4, label=f"$\\alpha_* = {alpha:g}$")
            data[f"{kind}, {alpha:g}"] = {"tau": numbers(tau), "test_loss": numbers(loss)}
        panel.set(xlabel="$\\tau = c_0 \\sqrt{d}$", ylabel="test loss, median", yscale="log",
                  title=f"attention {kind}")  # fmt: skip
        panel.legend(fontsize=7)
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


def _pruning_figure(name: str, patterns: str) -> Figure:
    return Figure(
        id=f"li2023.{name}",
        title=f"Test loss after removing tokens, M = {patterns}",
        caption=(
            "Median test loss after a fixed number of steps, over the share of tokens removed in "
            "training and test, by what is removed first"
            + ("; right: over the FLOPs that this saves" if name == "figure_5" else "")
            + ". Losses below 1e-7 are drawn there. Settings inferred."
        ),
        studies=(f"li2023.{name}",),
        draw=draw_pruning,
    )


LETTERS = (("a", 10), ("b", 15), ("c", 20))
TRAINING = (
    _attention_figure("figure_4", 5, "li2023.figure_4", "li2023.margin_10"),
    _pruning_figure("figure_5", "5"),
    *(_attention_figure(f"figure_7{c}", M, f"li2023.figure_7{c}") for c, M in LETTERS),
    _pruning_figure("figure_8", "10, 15 and 20"),
    Figure(
        id="li2023.finding_selectors",
        title="What a token selector buys",
        caption=(
            "Left: samples at which half of the trials succeed, with the 95 % confidence sequence, "
            "by which tokens are removed and how many; triangles: an end is open. Right: median "
            "iterations to zero training loss over the FLOPs of a sample."
        ),
        studies=("li2023.selectors",),
        draw=draw_selectors,
    ),
    Figure(
        id="li2023.finding_noise_map",
        title="Test loss over fraction and token noise",
        caption=(
            "Median test loss at N = 24 and alpha_# = .3 alpha_*, over the token noise tau, with "
            "attention learned (left) and left at its first values (right); below 1e-7 drawn there."
        ),
        studies=("li2023.noise_map",),
        draw=draw_noise_map,
    ),
)
