"""Figures 1 to 3: how many samples and iterations it takes."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.evidence.floor_laws import fit_floor
from attnlab.evidence.threshold_laws import bounded, thresholds
from attnlab.papers.li2023.figures.common import (
    canvas,
    draw_n50,
    log_axes,
    numbers,
    success_map,
)
from attnlab.papers.li2023.scalars.trials import SUCCESS
from attnlab.plotting import PALETTE, legend_below, level_band

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

SLICES = (
    ("paper_slice", "$\\alpha_\\# = 0.5 - \\alpha_*$ (paper)"),
    ("constant_ratio", "$\\alpha_\\#/\\alpha_* = 0.3$"),
    ("number", "$\\alpha_* = 0.35$"),
)
MARKS = {"paper_slice": "o", "constant_ratio": "s", "number": "D"}
TINTS = dict(zip(MARKS, PALETTE, strict=False))


def draw_1a(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Success on the three slices, and N50 against the laws that compete."""
    drawing, ((paper, ratio, fixed), (star, gap, relative)) = canvas(2, 3, width=4.2)
    data: dict[str, object] = {}
    levels = (
        (paper, lambda c: round(c.alpha_star**-2, 6), "$\\alpha_*^{-2}$"),
        (ratio, lambda c: round(c.alpha_star**-2, 6), "$\\alpha_*^{-2}$"),
        (fixed, lambda c: c.alpha_sharp, "$\\alpha_\\#$"),
    )
    for (rule, title), (panel, level, label) in zip(SLICES, levels, strict=True):
        own = records.where(confusion=rule)
        if not own:  # scale smoke has no cells of the third slice
            panel.set_axis_off()
            continue
        panel.set_title(f"trials, {title}", fontsize=10)
        data[rule] = success_map(panel, own, level, label)
    handles, labels = paper.get_legend_handles_labels()
    for panel, regressor, label, words in (
        (star, lambda c: c.alpha_star**-2, "$\\alpha_*^{-2}$", "in the fraction"),
        (gap, lambda c: c.gap**-2, "$(\\alpha_* - \\alpha_\\#)^{-2}$", "in the gap"),
        (relative, lambda c: (c.gap / c.alpha_star) ** -2,
         "$(1 - \\alpha_\\#/\\alpha_*)^{-2}$", "in the relative gap"),
    ):  # fmt: skip
        points = []
        for rule, title in SLICES:
            x, y, low, high = _points(records.where(confusion=rule), regressor)
            if x:
                panel.errorbar(
                    x, y, yerr=[low, high], fmt=MARKS[rule], ms=4, lw=1, capsize=2,
                    color=TINTS[rule], label=title,
                )  # fmt: skip
                points += zip(x, y, strict=True)
        if len(points) >= 3:
            x, y = (np.array(column) for column in zip(*points, strict=True))
            fit = fit_floor(x, y)
            along = np.geomspace(x.min(), x.max(), 50)
            panel.plot(along, fit.at(along), color="black", lw=1.2, ls=":")
            law = f"N50 = {fit.floor:.2g} + {fit.slope:.2g} x"
            panel.set_title(f"a law {words}: {law}", fontsize=9)
            data[f"floor over {label}"] = {"floor": fit.floor, "slope": fit.slope,
                                           "error": fit.square**0.5}  # fmt: skip
        panel.set(xlabel=label, ylabel="N50")
        log_axes(panel)
        if not panel.get_title():
            panel.set_title(f"a law {words}", fontsize=9)
    for handle, words in zip(*star.get_legend_handles_labels(), strict=True):
        handles, labels = [*handles, handle], [*labels, words]
    legend_below(drawing, handles, labels, columns=4)
    return drawing, data


def _points(records: Records, regressor) -> tuple[list[float], list[float], list, list]:
    """N50 with its errors at every pair of fractions where the sizes bound it."""
    found = bounded(thresholds(records, SUCCESS, lambda c: (c.alpha_star, c.sharp)))
    cells = {(r.cell.alpha_star, r.cell.sharp): r.cell for r in records}
    x = [float(regressor(cells[level])) for level in found]
    fits = list(found.values())
    low = [f.n50 - (f.sequence_low or f.low) for f in fits]
    high = [(f.sequence_high if np.isfinite(f.sequence_high) else f.high) - f.n50 for f in fits]
    return x, [f.n50 for f in fits], low, high


LETTERS = {"eta": "$\\eta$", "sigma": "$\\sigma$", "delta": "$\\delta$"}
SIGMA_AS = {
    "error": "an error within Assumption 1",
    "worst": "the worst error",
    "scale": "the scale of the values",
}


def draw_1b(records: Records) -> tuple["Drawing", dict[str, object]]:
    """N50 over sigma in its readings, and over the token noise."""
    drawing, ((left, middle, right),) = canvas(1, 3, width=4.2)
    noise = records.of("li2023.token_noise")
    data: dict[str, object] = {}
    values = Records(r for r in records if r.study != "li2023.token_noise")
    data["sigma"] = success_map(left, values.where(sigma_as="error"), lambda c: c.sigma,
                                "$\\sigma$")  # fmt: skip
    left.set_title("error of the first values", fontsize=10)
    left.legend(fontsize=8)
    shift = 0.012
    for place, (reading, words) in enumerate(SIGMA_AS.items()):
        found = thresholds(values.where(sigma_as=reading), SUCCESS, lambda c: c.sigma)
        if found:
            # Side by side: where readings agree their marks would hide each other.
            apart = {x * (1 + shift * (place - 1)): f for x, f in found.items()}
            draw_n50(middle, apart, PALETTE[place], words, "osD"[place])
            data[f"n50, {reading}"] = {str(x): f.n50 for x, f in found.items()}
    middle.set(xlabel="$\\sigma$", ylabel="N50", yscale="log")
    middle.set_title("$\\sigma$ read three ways (drawn side by side)", fontsize=10)
    middle.legend(fontsize=7)
    level = lambda c: round(c.c0 * np.sqrt(c.d), 4)  # noqa: E731
    data["tau"] = success_map(right, noise, level, "$\\tau = c_0 \\sqrt{d}$")
    right.set_title("token noise (m = 250)", fontsize=10)
    return drawing, data


def draw_2(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Iterations against 1/alpha_* and against 1/gap, by slice."""
    drawing, ((star, gap, rest),) = canvas(1, 3, width=4.2)
    plain = Records(r for r in records.of("li2023.figure_2") if r["fitted"])
    data: dict[str, object] = {}
    names = {**dict(SLICES), "number": "$\\alpha_\\# = 0$"}
    for panel, regressor, label, words in (
        (star, lambda c: 1 / c.alpha_star, "$1/\\alpha_*$", "in the fraction"),
        (gap, lambda c: 1 / c.gap, "$1/(\\alpha_* - \\alpha_\\#)$", "in the gap"),
    ):
        for rule, title in names.items():
            part = plain.where(confusion=rule)
            if not part:
                continue
            x = np.array([regressor(r.cell) for r in part])
            T = part.column("iterations").astype(float)
            levels = np.unique(x)
            line = np.polyfit(x, T, 1)
            r2 = np.corrcoef(x, T)[0, 1] ** 2
            style = {"marker": MARKS[rule], "ms": 5, "ls": "none", "color": TINTS[rule]}
            groups = [T[x == v] for v in levels]
            level_band(panel, levels, groups, f"{title}, $R^2$ {r2:.3f}", "mean", **style)
            panel.plot(levels, np.polyval(line, levels), color=TINTS[rule], lw=0.9)
            data[f"{rule} over {label}"] = {"x": numbers(x), "iterations": numbers(T), "r2": r2}
        panel.set(xlabel=label, ylabel="iterations to zero training loss")
        panel.set_title(f"straight lines {words}", fontsize=10)
        panel.legend(fontsize=7)
    base = Records(r for r in records if r.study != "li2023.figure_2")
    fixed = {"eta": 0.5, "sigma": 0.1, "delta": 0.2}
    standard = [
        float(r["iterations"]) for r in base.where(**fixed, sigma_as="error") if r["fitted"]
    ]
    unit = float(np.mean(standard)) if standard else 1.0
    for name, mark, reading in (
        ("eta", "o", "error"), ("sigma", "s", "error"), ("sigma", "D", "worst"),
        ("sigma", "x", "scale"), ("delta", "^", "error"),
    ):  # fmt: skip
        others = {k: v for k, v in fixed.items() if k != name} | {"sigma_as": reading}
        part = Records(r for r in base.where(**others) if r["fitted"])
        by = {v: p.column("iterations").astype(float) for v, p in part.by(name).items()}
        label = LETTERS[name] if reading == "error" else f"{LETTERS[name]}, {SIGMA_AS[reading]}"
        level_band(
            rest, list(by), [T / unit for T in by.values()], label, "mean",
            marker=mark, ms=5, lw=3.0 if mark == "s" else 1.0,
        )  # fmt: skip
        data[name if reading == "error" else f"{name}, {reading}"] = {
            str(k): float(v.mean()) for k, v in by.items()
        }
    rest.set(xlabel="step size or first error", ylabel="T over T at the standard setting")
    rest.set(xscale="log", yscale="log")
    rest.set_title("the rest of (11)", fontsize=10)
    rest.legend(fontsize=7)
    return drawing, data


def draw_3(records: Records) -> tuple["Drawing", dict[str, object]]:
    """N50 with and without learned attention, against 1/alpha_* and 1/gap."""
    drawing, ((star, gap),) = canvas(1, 2)
    data: dict[str, object] = {}
    kinds = (("trained", PALETTE[0], "learned"), ("frozen", PALETTE[1], "not learned"))
    for panel, regressor, label, words in (
        (star, lambda c: 1 / c.alpha_star, "$1/\\alpha_*$", "in the fraction"),
        (gap, lambda c: 1 / c.gap, "$1/(\\alpha_* - \\alpha_\\#)$", "in the gap"),
    ):
        for rule, title in SLICES[:2]:
            for kind, colour, attention in kinds:
                x, y, low, high = _points(records.where(confusion=rule, attention=kind), regressor)
                if not x:
                    continue
                slope = fit_exponent(x, y).exponent if len(set(x)) > 1 else np.nan
                panel.errorbar(
                    x,
                    y,
                    yerr=[low, high],
                    fmt=MARKS[rule],
                    color=colour,
                    mfc=colour if rule == "paper_slice" else "white",
                    ms=5,
                    lw=1,
                    capsize=2,
                    label=f"{attention}, {title}: slope {slope:.1f}",
                )
                data[f"{kind}, {rule} over {label}"] = {"x": numbers(x), "n50": numbers(y)}
        panel.set(xlabel=label, ylabel="N50")
        log_axes(panel)
        panel.set_title(f"N50 {words}, by attention", fontsize=10)
        panel.legend(fontsize=6.5, loc="upper center", bbox_to_anchor=(0.5, -0.18))
    return drawing, data


SAMPLE_COMPLEXITY = (
    Figure(
        id="li2023.figure_1a",
        title="Success over the fraction of label-relevant tokens and N",
        caption=(
            "Upper row: trials of the sequential design on the paper's slice, at a constant ratio "
            "alpha_#/alpha_*, and at alpha_* = .35 with alpha_# varied: dark dots where no trial "
            "has a test loss below 1e-3, light where all have, larger for more trials; orange: N50 "
            "with its 95 % confidence sequence, a triangle where an end is open. Axes are true to "
            "scale. Lower row: N50 where the sizes bound it against three laws, each with the best "
            "floor plus multiple of it over all slices."
        ),
        studies=("li2023.figure_1a",),
        draw=draw_1a,
        shows_diverged=True,
    ),
    Figure(
        id="li2023.figure_1b",
        title="Success over the first values' error, and over the token noise",
        caption=(
            "Trials at alpha_* = .3, alpha_# = .2, 50 tokens, and N50 with its 95 % confidence "
            "sequence (triangles: an end is open). As printed over sigma (left), by what sigma may "
            "mean (middle), and over the token noise tau (right)."
        ),
        studies=("li2023.figure_1b", "li2023.sigma_readings", "li2023.token_noise"),
        draw=draw_1b,
        shows_diverged=True,
    ),
    Figure(
        id="li2023.figure_2",
        title="Iterations against 1/alpha_*",
        caption=(
            "Iterations until the training loss is zero at N = 128, against 1/alpha_* and against "
            "1/gap, means and the middle 80 % of the runs, with straight lines; right: the rest of "
            "(11), over step size and first errors at alpha_* = .3, alpha_# = .09. Settings "
            "inferred."
        ),
        studies=(
            "li2023.figure_2",
            "li2023.step_sizes",
            "li2023.first_errors",
            "li2023.error_readings",
        ),
        draw=draw_2,
    ),
    Figure(
        id="li2023.figure_3",
        title="With and without learned attention",
        caption=(
            "N50 with attention trained and with keys and queries left at their first values, on "
            "the paper's slice (full) and at a constant ratio (open). Settings inferred."
        ),
        studies=("li2023.figure_1a", "li2023.figure_3"),
        draw=draw_3,
        shows_diverged=True,
    ),
)
