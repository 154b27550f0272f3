"""Figure 6: accuracy on images, by removed background, and where the attention goes."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.threshold_laws import thresholds
from attnlab.papers.li2023.figures.common import canvas, draw_n50, numbers, success_rates
from attnlab.papers.li2023.scalars.images import SUCCESS, WORST_GROUP
from attnlab.papers.li2023.settings.images import ImageSettings
from attnlab.papers.li2023.studies.images import WHOLE
from attnlab.plotting import PALETTE, colours, legend_below, sheet, success_dots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

SUBSTITUTION = (
    "Digits on photographed textures stand for CIFAR-10 on plants, letters for CIFAR-100 (the "
    "initial model); at scale paper CIFAR-10 itself, from drawn weights. "
)
BIRDS = (
    "Digits below and from five on photographed textures stand for birds and aeroplanes on plants, "
    "letters for CIFAR-100 (the initial models); at scale paper birds and aeroplanes themselves, "
    "from models that saw the eight other classes of CIFAR-10. "
)
TINTS = {"better": PALETTE[0], "weak": PALETTE[1], "scratch": PALETTE[2]}
SELECTORS = {
    "oracle": "by role: background first",
    "object": "by role: the object first",
    "random": "at random",
    "value_norm": "value norm, initial model",
    "attention": "attention, initial model",
    "gradient": "gradient, model trained before",
    "model": "attention, model trained before",
}
"""By what tokens are removed, in words."""


def _model(cell: ImageSettings) -> str:
    """The initial model in words."""
    letters = {"better": "40 letters", "weak": "8 letters", "scratch": "drawn weights"}
    others = {"better": "40,000 images of other classes", "weak": "4,000 images of other classes"}
    return (others if cell.pretrains else letters)[cell.initial]


def _alphas(records: Records) -> dict[float, float]:
    """By share of the background removed, the mean alpha_* by area."""
    return {r: float(part.column("alpha_star").mean()) for r, part in records.by("removed").items()}


def _means(records: Records, setting: str, scalar: str = "accuracy") -> tuple[list, list, list]:
    """Levels of a setting, mean and standard deviation of a number at each."""
    groups = records.by(setting)
    values = [np.asarray(part.column(scalar), float) for part in groups.values()]
    spread = [float(v.std(ddof=1)) if v.size > 1 else 0.0 for v in values]
    return list(groups), [float(v.mean()) for v in values], spread


def _worst(groups: Iterable[Records]) -> tuple[list[float], list[float]]:
    """Mean and standard deviation of the worst group's accuracy, by group of runs."""
    values = [np.array([WORST_GROUP.of(r) for r in part], float) for part in groups]
    spread = [float(v.std(ddof=1)) if v.size > 1 else 0.0 for v in values]
    return [float(v.mean()) for v in values], spread


def draw_6a(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Accuracy over N by alpha_*, and over alpha_* by N with random removal beside it."""
    drawing, ((by_size, by_share),) = canvas(1, 2)
    plain = records.where(selector="oracle")
    alphas = _alphas(plain)
    data: dict[str, object] = {"alpha_star": numbers(list(alphas.values()))}
    tints = colours(len(alphas))
    for tint, (removed, part) in zip(tints, plain.by("removed").items(), strict=True):
        sizes, mean, spread = _means(part, "N")
        label = rf"$\alpha_*$ = {alphas[removed]:.2f}"
        by_size.errorbar(
            sizes, mean, spread, fmt="o-", ms=4, lw=1.3, capsize=3, color=tint, label=label
        )
        data[f"removed {removed:g}"] = {"N": sizes, "accuracy": mean, "deviation": spread}
    sizes = sorted({r.cell.N for r in plain})
    by_size.set_xscale("log")
    by_size.set_xticks(sizes, [str(N) for N in sizes])
    by_size.minorticks_off()
    by_size.set(xlabel="training images N", ylabel="test accuracy")
    by_size.set_title("over the number of images", fontsize=10)
    by_size.legend(fontsize=8)
    for tint, (N, part) in zip(colours(len(sizes)), plain.by("N").items(), strict=True):
        levels, mean, spread = _means(part, "removed")
        by_share.errorbar(
            levels, mean, spread, fmt="o-", ms=4, lw=1.3, capsize=3, color=tint, label=f"N = {N}"
        )
    for selector, word in (("random", "random tokens"), ("object", "the object's tokens")):
        part = records.where(selector=selector)
        if part:
            levels, mean, spread = _means(part, "removed")
            tint, label = PALETTE[-1 if selector == "random" else 1], f"{word}, N = {WHOLE}"
            by_share.errorbar(
                levels, mean, spread, fmt="s--", ms=4, lw=1, capsize=3, color=tint, label=label
            )
            data[selector] = {"removed": levels, "accuracy": mean}
    by_share.set(xlabel="removed, as a share of the background tokens", ylabel="test accuracy")
    by_share.set_title("over what is removed", fontsize=10)
    by_share.legend(fontsize=7)
    return drawing, data


def draw_6b(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Success at the paper's 77.5 % over alpha_* and N, with N50."""
    drawing, ((panel,),) = canvas(1, 1, width=5.2)
    alphas = _alphas(records)
    rates = success_rates(records, lambda cell: alphas[cell.removed])
    x, y, rate, trials = (np.array(column) for column in zip(*rates, strict=True))
    success_dots(panel, x, y, np.round(rate * trials), trials)
    fits = thresholds(records, SUCCESS, lambda cell: alphas[cell.removed])
    # The sizes were chosen beforehand: the plain interval will do, and says more.
    draw_n50(
        panel,
        {x: replace(f, sequence_low=f.low, sequence_high=f.high) for x, f in fits.items()},
        label="N50, 95 % credible interval",
    )
    panel.set(xlabel=r"$\alpha_*$, area of the object in kept tokens", ylabel="training images N")
    panel.set(yscale="log")
    panel.set_title("trials with an accuracy of at least 77.5 %", fontsize=10)
    panel.legend(fontsize=8, loc="upper right")
    return drawing, {
        "levels": numbers(list(fits)),
        "tried": [{"level": a, "N": n, "success_rate": r, "trials": k} for a, n, r, k in rates],
        "n50": numbers([f.n50 for f in fits.values()]),
        "n50_low": numbers([f.low for f in fits.values()]),
        "n50_high": [f.high if np.isfinite(f.high) else None for f in fits.values()],
    }


def draw_6c(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Mean and worst-group accuracy over removed background, and over the correlation."""
    drawing, ((mean_panel, worst_panel, strength),) = canvas(1, 3, width=4.0)
    data: dict[str, object] = {}
    usual = records.where(correlation=0.9)
    handles = []
    for initial, own in usual.by("initial").items():
        levels, mean, spread = _means(own, "removed")
        worst, worst_spread = _worst(own.by("removed").values())
        word, tint = _model(own[0].cell), TINTS[initial]
        worst_panel.errorbar(
            levels, worst, worst_spread, fmt="o-", ms=4, capsize=3, color=tint, label=word
        )
        handles.append(
            mean_panel.errorbar(
                levels, mean, spread, fmt="o-", ms=4, capsize=3, color=tint, label=word
            )
        )
        data[word] = {
            "removed": levels,
            "accuracy": mean,
            "deviation": spread,
            "worst_group": worst,
            "worst_group_deviation": worst_spread,
        }
    better = records.where(initial=usual[0].cell.initial) if usual else records
    for removed, style, word in ((0.0, "o-", "all tokens"), (1.0, "s--", "background removed")):
        own = better.where(removed=removed)
        worst, spread = _worst(own.by("correlation").values())
        levels = list(own.by("correlation"))
        strength.errorbar(
            levels, worst, spread, fmt=style, ms=4, capsize=3, color="0.2", label=word
        )
        data[f"strength, removed {removed:g}"] = {"correlation": levels, "worst_group": worst}
    for panel, word in ((mean_panel, "test accuracy"), (worst_panel, "accuracy, worst group")):
        panel.set(xlabel="share of background removed", ylabel=word, ylim=(-0.03, 1.03))
    strength.set(
        xlabel="correlation in training", ylabel="accuracy, worst group", ylim=(-0.03, 1.03)
    )
    for panel, word in zip(
        (mean_panel, worst_panel, strength),
        ("all groups", "the worst group", "by strength of the correlation"),
        strict=True,
    ):
        panel.set_title(word, fontsize=10)
    strength.legend(fontsize=8)
    legend_below(drawing, handles, [f"initial model: {h.get_label()}" for h in handles], 2)
    return drawing, data


def draw_selectors(records: Records) -> tuple["Drawing", dict[str, object]]:
    """By selector, as many tokens removed as half of the background: accuracy and time."""
    half = records.where(removed=0.5)
    rows = {
        "all tokens": records.where(removed=0.0),
        **{word: half.where(selector=name) for name, word in SELECTORS.items()},
        "all background": records.where(removed=1.0, removal="gathered"),
        "all background, made blank": records.where(removed=1.0, removal="blanked"),
    }
    rows = {word: own for word, own in rows.items() if own}
    heights = -np.arange(len(rows))
    measured = {
        "test accuracy, ten classes": [
            own.where(task="ten").column("accuracy") for own in rows.values()
        ],
        "worst group, correlated backgrounds": [
            np.array([WORST_GROUP.of(r) for r in own.where(task="two")]) for own in rows.values()
        ],
    }
    measured = {word: values for word, values in measured.items() if all(v.size for v in values)}
    drawing, (panels,) = canvas(1, len(measured) + 1, width=4.0)
    data: dict[str, object] = {"rows": list(rows)}
    for panel, (word, values) in zip(panels, measured.items(), strict=False):
        mean = np.array([v.mean() for v in values])
        spread = [v.std(ddof=1) if v.size > 1 else 0.0 for v in values]
        panel.errorbar(mean, heights, xerr=spread, fmt="o", ms=4, capsize=3, color=PALETTE[0])
        panel.axvline(mean[0], color="grey", ls=":", lw=1)
        panel.set(xlabel=word)
        panel.set_title(word.partition(",")[0], fontsize=10)
        data[word] = {"mean": numbers(mean), "deviation": numbers(spread)}
    # A process compiles in its first run of a kind: the fastest run is training and test alone.
    fastest = [min(r.seconds for r in own) for own in rows.values()]
    panels[-1].barh(heights, fastest, height=0.6, color="0.7")
    panels[-1].set(xlabel="seconds of a run, selection included")
    panels[-1].set_title("time", fontsize=10)
    data["seconds"] = numbers(fastest)
    for panel in panels:
        panel.set_yticks(heights, list(rows) if panel is panels[0] else [""] * len(rows))
    return drawing, data


def _image(tokens: np.ndarray) -> np.ndarray:
    """Tokens back to pixels from 0 to 1, grey."""
    L, d = tokens.shape
    k, p = int(np.sqrt(L)), int(np.sqrt(d))
    return (tokens.reshape(k, k, p, p).transpose(0, 2, 1, 3).reshape(k * p, k * p) + 1) / 2


def _framed(panel: "Axes", tokens: np.ndarray, roles: np.ndarray) -> None:
    """An image with its background patches tinted and the object's outlined."""
    picture = _image(tokens)
    k = int(np.sqrt(len(roles)))
    p = picture.shape[0] // k
    panel.imshow(picture, cmap="gray", vmin=0, vmax=1, interpolation="nearest")
    background = np.kron(roles.reshape(k, k) != 0, np.ones((p, p)))
    tint = np.zeros((*picture.shape, 4))
    tint[..., 0], tint[..., 3] = 1.0, 0.35 * background
    panel.imshow(tint, interpolation="nearest")


def _outline(panel: "Axes", own: np.ndarray) -> None:
    """A frame around the object's patches, which are a rectangle."""
    rows, columns = np.flatnonzero(own.any(1)), np.flatnonzero(own.any(0))
    if not rows.size:
        return
    top, bottom, left, right = rows[0] - 0.5, rows[-1] + 0.5, columns[0] - 0.5, columns[-1] + 0.5
    panel.plot(
        [left, right, right, left, left], [top, top, bottom, bottom, top], color="white", lw=0.8
    )


def draw_attention(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Images with roles, attention received before and after by block, and the mass by block."""
    one, shown = records[0], 4
    maps = np.asarray(one["shown_maps"])
    blocks = maps.shape[2]
    drawing = sheet(1.15 * (2 + 2 * blocks), 1.15 * shown + 2.9)
    grid = drawing.add_gridspec(shown + 1, 2 + 2 * blocks, height_ratios=[1.0] * shown + [2.4])
    for row in range(shown):
        tokens, roles = np.asarray(one["shown_tokens"][row]), np.asarray(one["shown_roles"][row])
        panels = [drawing.add_subplot(grid[row, c]) for c in range(2 + 2 * blocks)]
        panels[0].imshow(_image(tokens), cmap="gray", vmin=0, vmax=1, interpolation="nearest")
        _framed(panels[1], tokens, roles)
        # One patch may draw far more than all others, and would leave them dark.
        top = float(np.quantile(maps[:, row], 0.99))
        for when in (0, 1):
            for block in range(blocks):
                k = int(np.sqrt(maps.shape[-1]))
                panel = panels[2 + when * blocks + block]
                panel.imshow(maps[when, row, block].reshape(k, k), cmap="cividis", vmin=0, vmax=top)
                _outline(panel, roles.reshape(k, k) == 0)
                if row == 0:
                    word = "after" if when else "before"
                    panel.set_title(f"{word}, block {block + 1}", fontsize=7)
        if row == 0:
            panels[0].set_title("image", fontsize=7)
            panels[1].set_title("background in red", fontsize=7)
        for panel in panels:
            panel.set_axis_off()
    mass = drawing.add_subplot(grid[shown, :])
    depth = np.arange(1, blocks + 1)
    data: dict[str, object] = {"block": depth.tolist()}
    for name, style, word, tint in (
        ("mass_before", "o--", "before fine-tuning", PALETTE[0]),
        ("mass_after", "o-", "after", PALETTE[1]),
    ):
        values = records.column(name)
        mass.errorbar(
            depth, values.mean(0), values.std(0), fmt=style, ms=4, capsize=3, label=word, color=tint
        )
        data[name] = numbers(values.mean(0))
    share = float(records.column("object_share").mean())
    mass.axhline(share, color="grey", ls=":", lw=1, label="uniform attention")
    data["object_share"] = share
    mass.set(xlabel="block", ylabel="attention on the object", xticks=depth)
    mass.set_title("mean over images", fontsize=9)
    mass.legend(fontsize=8, ncols=3)
    return drawing, data


FIGURE_6 = (
    Figure(
        id="li2023.figure_6a",
        title="Test accuracy on images over N and alpha_*",
        caption=SUBSTITUTION + "Left: accuracy over training images by alpha_* (area of the object "
        "in the kept tokens), mean and standard deviation over seeds. Right: over the share of "
        "background tokens removed; dashed: as many removed at random, or the object's first.",
        studies=("li2023.images",),
        draw=draw_6a,
        changes=({}, {"selector": "random", "N": WHOLE}, {"selector": "object", "N": WHOLE}),
    ),
    Figure(
        id="li2023.figure_6b",
        title="Success on images over alpha_* and N",
        caption=SUBSTITUTION + "The share of trials with a test accuracy of at least 77.5 % (the "
        "paper's number), from dark (none) to light (all), and N50 with its 95 % interval; a "
        "triangle where the tested sizes leave an end open.",
        studies=("li2023.images",),
        draw=draw_6b,
        shows_diverged=True,
    ),
    Figure(
        id="li2023.figure_6c",
        title="Removing a spurious background, from two initial models",
        caption=BIRDS + "Left: test accuracy over the share of background removed. Middle: that of "
        "the worst group of class and background. Right: the worst group over the strength of the "
        "correlation, from the better model. Bars: standard deviations over seeds.",
        studies=("li2023.images_spurious",),
        draw=draw_6c,
    ),
    Figure(
        id="li2023.finding_image_selectors",
        title="Which tokens to remove: accuracy, worst group and time",
        caption="As many tokens removed as half of the background has, chosen by each selector; "
        "mean and standard deviation over seeds, dotted: all tokens. At scale paper also the worst "
        "group of class and background where backgrounds go with the label (.9). Right: the "
        "fastest run on one core of this machine, which holds the training of the model that "
        "chooses, where there is one.",
        studies=("li2023.images_selectors",),
        draw=draw_selectors,
    ),
    Figure(
        id="li2023.finding_attention_by_depth",
        title="Attention over images, block by block",
        caption="Four test images (left), their background tokens in red, and the attention that "
        "every patch receives by block before and after fine-tuning, mean over queries and heads, "
        "one scale a row, the object's patches framed. Below: the attention on the object's tokens "
        "by block, mean and standard deviation over runs.",
        studies=("li2023.images_attention",),
        draw=draw_attention,
    ),
)
