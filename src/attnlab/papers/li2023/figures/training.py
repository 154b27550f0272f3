"""Figures 4, 5, 7 and 8: attention along training, and what removing tokens does."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.threshold_laws import thresholds
from attnlab.papers.li2023.claims.section_3_3_tokens import FLOOR, NEAR
from attnlab.papers.li2023.figures.common import canvas, draw_n50, numbers
from attnlab.papers.li2023.scalars.attention import cell_ceiling
from attnlab.papers.li2023.scalars.trials import SUCCESS
from attnlab.plotting import PALETTE, band, legend_below, level_band

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


WIDTHS = (1.3, 5.5, 8.0, 1.3, 3.5, 1.5, 1.3)
"""Of the curves of WORDS: those that lie on each other at no gain are nested."""


def series_at(records: Records, name: str, steps: np.ndarray, *index: int) -> np.ndarray:
    """A series of every run at common steps, held at its last value after the run has stopped."""
    return np.stack(
        [np.interp(steps, r["times"], np.asarray(r[name])[(slice(None), *index)]) for r in records]
    )


def draw_attention(records: Records) -> tuple["Drawing", dict[str, object]]:
    """The mass on relevant and on other tokens over the steps, and what queries of a role do."""
    plain, far = records.where(margin=1.0), records.where(margin=10.0)
    drawing, ((mass, roles),) = canvas(1, 2)
    steps = np.linspace(0, max(float(r["times"][-1]) for r in plain), 60)
    relevant = series_at(plain, "relevant_mass", steps)
    cell = plain[0].cell
    ceiling = cell_ceiling(cell)
    data: dict[str, object] = {
        "steps": numbers(steps),
        "relevant_mass": band(mass, steps, relevant, "label-relevant tokens", "mean", marker="*",
                              ms=5, markevery=6, color=PALETTE[1]),
        "other_mass": band(mass, steps, 1 - relevant, "all other tokens", "mean", marker="s",
                           ms=3, markevery=6, color=PALETTE[0]),
        "ceiling": ceiling,
        "iterations": numbers(plain.column("iterations")),
    }  # fmt: skip
    mass.axhline(ceiling, color="#555555", lw=1, ls=":", label="the most any $W_K, W_Q$ reach")
    mass.axhline(
        NEAR.low * ceiling, color="black", lw=1, ls="--", label=f"decides: {NEAR.low:g} of it"
    )
    if far:
        later = series_at(far, "relevant_mass", steps)
        data["relevant_mass_margin_10"] = band(
            mass, steps, later, "relevant, margin 10", "mean", lw=1, ls="-.", color=PALETTE[3]
        )
    mass.set(xlabel="iteration", ylabel="attention mass", ylim=(0, 1.02))
    mass.set_title("mean over queries", fontsize=10)
    mass.legend(fontsize=7, loc="center right")
    for row, name in enumerate(("relevant", "confusion", "non-discriminative")):
        own = series_at(plain, "mass_by_role", steps, row, 0)
        data[f"mass of {name} queries"] = band(
            roles, steps, own, f"{name} queries", "mean", lw=(4, 2.4, 1.2)[row]
        )
    tokens = series_at(plain, "effective_tokens", steps) / cell.L
    data["effective_tokens_share"] = band(
        roles, steps, tokens, "effective tokens / |S|", "mean", color=PALETTE[-1], lw=1, ls="--"
    )
    roles.set(xlabel="iteration", ylabel="mass on relevant tokens", ylim=(0, 1.02))
    roles.set_title("by the role of the query", fontsize=10)
    roles.legend(fontsize=7)
    return drawing, data


def draw_pruning(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Test loss over the share removed, by what is removed first; one panel a number of patterns.

    With one number of patterns a second axis above has the FLOPs that removal saves.
    """
    by_M = records.by("M")
    drawing, (panels,) = canvas(1, len(by_M), width=3.9 if len(by_M) > 1 else 6.4)
    data: dict[str, object] = {}
    for panel, (M, own) in zip(panels, by_M.items(), strict=True):
        rows = _pruned(own)
        for name, (removed, _, losses) in rows.items():
            _plot_losses(panel, removed, losses, name)
        panel.set(xlabel="share of tokens removed", ylabel="test loss", yscale="log")
        data[str(M)] = {
            name: {"removed": removed, "flops_saved": flops,
                   "test_loss": [numbers(part.column("test_loss")) for part in losses]}
            for name, (removed, flops, losses) in rows.items()
        }  # fmt: skip
        if len(by_M) > 1:
            panel.set_title(f"M = {M}", fontsize=10)
        else:
            removed, flops, _ = max(rows.values(), key=lambda row: len(row[0]))
            _flops_above(panel, removed, flops)
    legend_below(drawing, *panels[0].get_legend_handles_labels(), columns=3)
    return drawing, data


def _flops_above(panel: "Axes", removed: list[float], flops: list[float]) -> None:
    """What removal saves, which depends on the share alone, as a second axis."""
    above = panel.secondary_xaxis("top")
    above.set_xticks(removed, [f"{x:.2f}" for x in flops])
    above.set_xlabel("share of FLOPs saved")


def _pruned(records: Records) -> dict[str, tuple[list[float], list[float], list[Records]]]:
    """By selector: shares removed, FLOPs saved, and the records, beginning with none removed."""
    none, found = records.where(selector="none"), {}
    for name in [n for n in WORDS if records.where(selector=n)]:
        levels = records.where(selector=name).by("removed")
        flops = [0.0, *(float(part[0]["flops_saved"]) for part in levels.values())]
        found[name] = ([0.0, *levels], flops, [none, *levels.values()])
    return found


def _plot_losses(panel: "Axes", x: list[float], losses: list[Records], name: str) -> None:
    style = "-" if name in ("irrelevant", "noisy", "random") else "--"
    groups = [part.column("test_loss") for part in losses]
    place = list(WORDS).index(name)
    level_band(
        panel, x, groups, WORDS[name], floor=FLOOR, marker="osD^*PX"[place], ls=style,
        lw=WIDTHS[place], color=PALETTE[place], zorder=2.5 - WIDTHS[place] / 20,
    )  # fmt: skip


def draw_selectors(records: Records) -> tuple["Drawing", dict[str, object]]:
    """N50 by selector, and the iterations of the runs that succeeded; a row each."""
    drawing, ((left, right),) = canvas(1, 2, width=5.2, height=3.8)
    arms = sorted({(r.cell.selector, r.cell.removed) for r in records}, key=lambda a: (a[1], a[0]))
    data: dict[str, object] = {}
    names = []
    for place, (selector, removed) in enumerate(arms):
        own = records.where(selector=selector, removed=removed)
        (fit,) = thresholds(own, SUCCESS, lambda c: 1.0).values()
        name = "all tokens" if selector == "none" else f"{WORDS[selector]}, {removed:.0%}"
        tint = PALETTE[selector == "none"]
        draw_n50(left, {float(place): fit}, tint, "", sideways=True)
        steps = [float(r["iterations"]) for r in own if r["fitted"]]
        cost = 1 - float(own[0]["flops_saved"])
        time = float(np.median(steps)) if steps else float("nan")
        if steps:
            ends = np.abs(np.quantile(steps, [[0.1], [0.9]]) - time)
            right.errorbar(time, place, xerr=ends, fmt="o", color=tint, ms=4, lw=1, capsize=3)
        names.append(f"{name} ({cost:.2f})")
        data[name] = {"n50": fit.n50, "low": fit.sequence_low, "iterations": time,
                      "high": fit.sequence_high if np.isfinite(fit.sequence_high) else None,
                      "flops": cost, "trials": fit.trials}  # fmt: skip
    left.set_yticks(range(len(names)), names, fontsize=7)
    right.set_yticks(range(len(names)), [""] * len(names))
    for panel in (left, right):
        panel.set_ylim(len(names) - 0.5, -0.5)
    left.set(xlabel="N50, 95 % confidence sequence", xscale="log")
    left.set_title("samples needed", fontsize=10)
    right.set(xlabel="iterations to zero training loss", xscale="log")
    right.set_title("steps of runs that succeed", fontsize=10)
    return drawing, data


def draw_noise_map(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Median test loss over fraction and noise, with and without learned attention."""
    drawing, (panels,) = canvas(1, 2)
    data: dict[str, object] = {}
    for panel, kind in zip(panels, ("trained", "frozen"), strict=True):
        for alpha, own in records.where(attention=kind).by("alpha_star").items():
            levels = own.by("c0")
            tau = [c * np.sqrt(own[0].cell.d) for c in levels]
            losses = [part.column("test_loss") for part in levels.values()]
            found = level_band(
                panel, tau, losses, f"$\\alpha_* = {alpha:g}$", floor=FLOOR, marker="o"
            )
            data[f"{kind}, {alpha:g}"] = {"tau": numbers(tau), "test_loss": found}
        panel.set(xlabel="$\\tau = c_0 \\sqrt{d}$", ylabel="test loss", yscale="log",
                  title=f"attention {kind}")  # fmt: skip
    low, high = (f([panel.get_ylim()[k] for panel in panels]) for k, f in ((0, min), (1, max)))
    for panel in panels:
        panel.set_ylim(low, high)
    panels[0].legend(fontsize=7)
    return drawing, data


def _attention_figure(name: str, M: int, *studies: str) -> Figure:
    return Figure(
        id=f"li2023.{name}",
        title=f"Concentration of attention weights, M = {M}",
        caption=(
            "Left: attention on label-relevant tokens and on all others, mean over queries and "
            "runs, with the middle 80 % of the runs; a run that has stopped at zero training loss "
            "keeps its last value. Dashed: the share of the ceiling that decides. Right: the same "
            "by the role of the query, and the effective number of tokens (exp of the entropy)."
        ),
        studies=studies,
        draw=draw_attention,
    )


def _pruning_figure(name: str, patterns: str) -> Figure:
    return Figure(
        id=f"li2023.{name}",
        title=f"Test loss after removing tokens, M = {patterns}",
        caption=(
            "Test loss after a fixed number of steps, median and the middle 80 % of the runs, over "
            "the share of tokens removed in training and test, by what is removed first"
            + ("; above: the FLOPs that this saves" if name == "figure_5" else "")
            + ". Open triangles: below 1e-6. Settings inferred."
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
            "by which tokens are removed and how many (in brackets the FLOPs of a sample, all "
            "tokens being 1); triangles: an end is open. Right: iterations to zero training loss, "
            "median and the middle 80 % of the runs."
        ),
        studies=("li2023.selectors",),
        draw=draw_selectors,
    ),
    Figure(
        id="li2023.finding_noise_map",
        title="Test loss over fraction and token noise",
        caption=(
            "Test loss at N = 24 and alpha_# = .3 alpha_*, median and the middle 80 % of the runs, "
            "over the token noise tau, with attention learned (left) and left at its first values "
            "(right); open triangles: below 1e-6."
        ),
        studies=("li2023.noise_map",),
        draw=draw_noise_map,
    ),
)
