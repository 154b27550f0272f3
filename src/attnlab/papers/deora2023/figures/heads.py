"""Over the number of heads: losses, weak convexity, attention by sign."""

from typing import TYPE_CHECKING, Any

import numpy as np

from attnlab.core import Figure, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.plotting import (
    PALETTE,
    band,
    canvas,
    colours,
    legend_below,
    level_band,
    nested,
    numbers,
    power_of_ten,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing


def _series(part: Records, name: str, *index: int) -> tuple[np.ndarray, np.ndarray]:
    """The recorded steps plus one (for the logarithm), and a series of every run at them."""
    found = [np.asarray(r[name])[(slice(None), *index)] for r in part]
    return np.asarray(part[0]["times"]) + 1, np.stack(found)


def _by_heads(records: Records) -> list[tuple[float, Records, str, dict[str, Any]]]:
    """For every number of heads its runs, its name and its style: fewer heads are drawn wider."""
    groups = records.by("H")
    looks = zip(groups.items(), colours(len(groups)), nested(len(groups)), strict=True)
    return [
        (H, part, f"H = {power_of_ten(H)}", {"color": tint, "lw": width})
        for (H, part), tint, width in looks
    ]


def draw_losses(records: Records) -> tuple["Drawing", dict[str, object]]:
    """The training loss over the steps by number of heads; both last losses over that number."""
    drawing, ((left, right),) = canvas(1, 2)
    data: dict[str, object] = {}
    for H, part, label, style in _by_heads(records):
        data[f"H={H:g}"] = {
            "steps": numbers(part[0]["times"]),
            "loss": band(left, *_series(part, "loss"), label, **style),
        }
    left.set(xscale="log", yscale="log", xlabel="step of phase 2, plus one")
    left.set_ylabel("training loss")
    left.set_title("along training", fontsize=10)
    left.legend(fontsize=7)
    groups = records.by("H")
    for name, label, mark in (("loss", "training loss", "o"), ("test_loss", "test loss", "s")):
        last = [[float(r[name][-1]) for r in part] for part in groups.values()]
        data[f"last {label}"] = level_band(right, list(groups), last, label, marker=mark, lw=1.2)
    right.set(xscale="log", yscale="log", xlabel="heads H", ylabel="loss after the last step")
    right.set_title("after training", fontsize=10)
    right.legend(fontsize=7)
    return drawing, data


def draw_convexity(records: Records) -> tuple["Drawing", dict[str, object]]:
    """-lambda_min/L against H with the fitted exponent, and along training."""
    drawing, ((left, right),) = canvas(1, 2)
    data: dict[str, object] = {}
    for scalar, name in (
        ("largest_concavity", "largest along training"),
        ("start_concavity", "after phase 1"),
    ):
        several = [r for r in records if r.cell.H >= 10]
        fit = fit_exponent([r.cell.H for r in several], [float(r[scalar]) for r in several])
        groups = records.by("H")
        levels = np.array(list(groups), float)
        label = f"{name}: {fit.exponent:.3f} [{fit.low:.3f}, {fit.high:.3f}]"
        tint = PALETTE[len(data)]
        values = [part.column(scalar) for part in groups.values()]
        style: dict[str, Any] = {"ls": "none", "marker": "os"[len(data)], "color": tint}
        told = level_band(left, levels, values, label, **style)
        left.plot(levels, fit.constant * levels**fit.exponent, lw=1, ls="--", color=tint)
        data[name] = {
            "H": numbers(levels),
            **told,
            "exponent": [fit.exponent, fit.low, fit.high],
        }
    left.set(xscale="log", yscale="log", xlabel="heads H")
    left.set_ylabel(r"$-\lambda_{\min}(\nabla^2 L)/L$")
    left.legend(fontsize=7, title="fitted exponent from 10 heads on", title_fontsize=7)
    left.set_title("against the number of heads", fontsize=10)
    for H, part, label, style in _by_heads(records):
        steps, curvature = _series(part, "lambda_min")
        _, loss = _series(part, "loss")
        band(right, steps, -np.sqrt(H) * curvature / loss, label, **style)
    right.set(xscale="log", xlabel="step of phase 2, plus one")
    right.set_ylabel(r"$-\sqrt{H}\,\lambda_{\min}/L$")
    right.set_title(r"along training, times $\sqrt{H}$", fontsize=10)
    right.legend(fontsize=7, ncols=2)
    return drawing, data


def draw_attention(records: Records) -> tuple["Drawing", dict[str, dict[str, object]]]:
    """How far attention on relevant places is above uniform over the steps, by the head's sign."""
    drawing, (panels,) = canvas(1, 2)
    data: dict[str, dict[str, object]] = {}
    zeta = records[0].cell.zeta
    handles: dict[str, Any] = {}
    for column, (panel, name) in enumerate(zip(panels, ("plus", "minus"), strict=True)):
        for H, part, label, style in _by_heads(records):
            # A single head has one sign only.
            own = Records(r for r in part if r["counts"][column])
            if not own:
                continue
            steps, mass = _series(own, "relevant_mass", column)
            told = band(panel, steps[1:], np.abs(mass - zeta)[:, 1:], label, **style)
            data.setdefault(f"H={H:g}", {})[name] = told
            handles.setdefault(label, panel.lines[-1])
        panel.set(xscale="log", yscale="log", xlabel="step of phase 2, plus one")
        panel.set_title(f"heads of sign {'+1' if name == 'plus' else '−1'}", fontsize=10)
    panels[0].set_ylabel(r"|attention on relevant places − $\zeta$|")
    panels[1].sharey(panels[0])
    labels = [label for _, _, label, _ in _by_heads(records) if label in handles]
    legend_below(drawing, [handles[label] for label in labels], labels, columns=7)
    return drawing, data


HEADS = (
    Figure(
        id="deora2023.loss_over_heads",
        title="Losses over the number of heads",
        caption=(
            "The training loss along phase 2 (left) and both losses after it (right) at one step "
            "size, medians with the middle 80 % of the seeds, for 1 to 10^6 heads (collapsed "
            "exactly to two groups) on 48 noisy samples. More heads do not train faster: the "
            "curves meet in the limit of lazy training (those of fewer heads are drawn wider, so "
            "that none hides another)."
        ),
        studies=("deora2023.heads",),
        draw=draw_losses,
    ),
    Figure(
        id="deora2023.convexity",
        title="Weak convexity over the number of heads",
        caption=(
            "Left: minus the smallest eigenvalue of the loss's Hessian over the loss, against the "
            "number of heads, medians and the middle 80 % of the seeds with fitted exponents "
            "(Corollary 1: at most of order -1/2). Right: the same along training, times sqrt(H)."
        ),
        studies=("deora2023.heads",),
        draw=draw_convexity,
    ),
    Figure(
        id="deora2023.attention_mass",
        title="Attention on relevant places by the sign of a head",
        caption=(
            "How far the mean attention that heads of either sign pay to relevant places is from "
            "zeta, uniform attention, medians with the middle 80 % of the seeds. Each of many "
            "heads moves by the order of 1/sqrt(H) only: equal steps in the logarithm. At a dip "
            "the sign changes."
        ),
        studies=("deora2023.heads",),
        draw=draw_attention,
    ),
)
