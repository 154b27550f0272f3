"""Figures of open questions: the floor of N50, what it rests on, when attention becomes sparse."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.floor_laws import fit_floor
from attnlab.evidence.threshold import ThresholdFit
from attnlab.evidence.threshold_laws import bounded, thresholds
from attnlab.papers.li2023.figures.common import canvas, draw_n50, log_axes, numbers
from attnlab.papers.li2023.scalars.trials import SUCCESS
from attnlab.papers.li2023.studies.designs import OTHERWISE, ROBUST
from attnlab.plotting import PALETTE

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

KINDS = (("trained", "attention learned", "o"), ("frozen", "not learned", "s"))


def draw_floor(records: Records) -> tuple["Drawing", dict[str, object]]:
    """N50 over alpha_*^-2 at a constant ratio, with a floor and a multiple fitted to it."""
    drawing, ((panel,),) = canvas(1, 1, width=5.6)
    data: dict[str, object] = {}
    for colour, (kind, words, mark) in zip(PALETTE, KINDS, strict=False):
        found = thresholds(records.where(attention=kind), SUCCESS, lambda c: c.alpha_star**-2)
        if not found:
            continue
        known = bounded(found)
        rows: dict[str, object] = {f"{x**-0.5:g}": _row(fit) for x, fit in found.items()}
        if len(known) >= 3:
            x, y = np.array(list(known)), np.array([f.n50 for f in known.values()])
            fit = fit_floor(x, y)
            along = np.geomspace(x.min(), x.max(), 60)
            panel.plot(along, fit.at(along), color=colour, lw=1)
            words = f"{words}: {fit.floor:.2g} + {fit.slope:.2g} $\\alpha_*^{{-2}}$"
            rows["law"] = {"floor": float(fit.floor), "slope": fit.slope}
        draw_n50(panel, found, colour, words, mark)
        data[kind] = rows
    log_axes(panel)
    panel.set(xlabel="$\\alpha_*^{-2}$", ylabel="N50, 95 % confidence sequence")
    panel.legend(fontsize=8)
    return drawing, data


def _row(fit: ThresholdFit) -> dict[str, object]:
    """N50 as data; an open end is none."""
    high = fit.sequence_high if np.isfinite(fit.sequence_high) else None
    return {"n50": fit.n50, "low": fit.sequence_low, "high": high, "trials": fit.trials}


def draw_robustness(records: Records) -> tuple["Drawing", dict[str, object]]:
    """N50 with one choice changed at a time, and a factor of two around the design's."""
    drawing, ((panel,),) = canvas(1, 1, width=6.4)
    arms = [("as designed", {}), *((f"{k} = {v}", {k: v}) for k, v in OTHERWISE)]
    shown: dict[str, dict[str, object]] = {}
    for name, changes in arms:
        wanted = {k: changes.get(k, getattr(ROBUST, k)) for k, _ in OTHERWISE}
        own = records.where(**wanted)
        if not own:
            continue
        (fit,) = thresholds(own, SUCCESS, lambda c: 1.0).values()
        draw_n50(panel, {float(len(shown)): fit}, PALETTE[1 if changes else 0], "")
        shown[name] = _row(fit)
        if not changes:
            panel.axhspan(fit.n50 / 2, 2 * fit.n50, color="0.9", lw=0, zorder=0)
    panel.set_xticks(range(len(shown)), list(shown), rotation=30, ha="right", fontsize=8)
    panel.set(ylabel="N50, 95 % confidence sequence", yscale="log")
    return drawing, {"n50": shown}


def draw_emergence(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Shares of the rise of attention and of the margin over the share of training."""
    drawing, ((panel,),) = canvas(1, 1, width=5.2)
    along = np.linspace(0, 1, 61)
    data: dict[str, object] = {"share_of_training": numbers(along)}
    for colour, name, words in (
        (PALETTE[0], "relevant_mass", "attention on relevant tokens"),
        (PALETTE[1], "mean_margin", "mean margin"),
    ):
        rises = []
        for r in records:
            x = np.interp(along * r["times"][-1], r["times"], r[name])
            rises.append((x - x[0]) / (x[-1] - x[0]))
        mean, spread = np.mean(rises, axis=0), np.std(rises, axis=0)
        panel.plot(along, mean, color=colour, lw=1.5, label=words)
        panel.fill_between(along, mean - spread, mean + spread, color=colour, alpha=0.2, lw=0)
        data[name] = numbers(mean)
    panel.axhline(0.5, color="0.5", lw=0.8, ls=":")
    panel.set(xlabel="share of training", ylabel="share of the rise")
    panel.legend(fontsize=8)
    return drawing, data


OPEN_QUESTIONS = (
    Figure(
        id="li2023.finding_floor",
        title="A floor, and a multiple of alpha_*^-2",
        caption=(
            "N50 at alpha_# = .3 alpha_* with its 95 % confidence sequence, with attention learned "
            "and with keys and queries left at their first values; lines: the best floor plus "
            "multiple of alpha_*^-2 through the levels whose N50 the sizes bound."
        ),
        studies=("li2023.small_fractions",),
        draw=draw_floor,
        shows_diverged=True,
    ),
    Figure(
        id="li2023.finding_robustness",
        title="What N50 rests on",
        caption=(
            "N50 at alpha_* = .35, alpha_# = .14 as designed and with one choice changed at a "
            "time, with its 95 % confidence sequence; grey: a factor of two around the design's."
        ),
        studies=("li2023.robustness",),
        draw=draw_robustness,
        shows_diverged=True,
    ),
    Figure(
        id="li2023.finding_sparsity_emerges",
        title="When attention becomes sparse",
        caption=(
            "The rise of the attention on relevant tokens and that of the mean margin, each as a "
            "share of its whole rise, over the share of training; mean and standard deviation over "
            "runs at figure 4's fractions."
        ),
        studies=("li2023.dynamics",),
        draw=draw_emergence,
    ),
)
