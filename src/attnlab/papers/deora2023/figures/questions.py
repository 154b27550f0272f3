"""Section 7's open questions: what the runs behind each answer show."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Figure, Records
from attnlab.papers.deora2023.scalars.margins import shortfalls
from attnlab.plotting import PALETTE, canvas, columns_of_dots, medians, numbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

FIRST_STEP = 100
"""From here on the approach to gamma_attn is drawn: before, the attention has hardly moved."""

Drawn = tuple["Drawing", dict[str, object]]


def _data(groups: Mapping[str, np.ndarray]) -> dict[str, object]:
    return {name: numbers(values) for name, values in groups.items()}


def draw_random(records: Records) -> Drawn:
    """The NTK margin of random heads over gamma_lin, against their number."""
    drawing, ((panel,),) = canvas(1, 1)
    data: dict[str, object] = {}
    for scale, part in records.by("scale").items():
        levels = np.array([r.cell.H for r in part])
        margin = 1 / part.column("linear_over_random")
        (line,) = panel.plot(levels, margin, "o", ms=4, alpha=0.5, label=f"$|U_h|$ about {scale:g}")
        heads, middle = medians(part, "H", "linear_over_random")
        panel.plot(heads, 1 / middle, "-", color=line.get_color(), lw=1.4)
        data[f"scale={scale:g}"] = {"H": numbers(levels), "margin_over_linear": numbers(margin)}
    panel.axhline(1, color="grey", lw=1, ls=":")
    panel.set(xscale="log", xlabel="heads H", ylabel=r"NTK margin over $\gamma_{lin}$")
    panel.set_title("every run, and medians", fontsize=10)
    heads = sorted({r.cell.H for r in records})
    panel.set_xticks(heads, [f"{H:g}" for H in heads])
    panel.minorticks_off()
    panel.legend(fontsize=8)
    return drawing, data


def draw_reaching(records: Records) -> Drawn:
    """How far trained margins are below gamma_attn, along the longest runs and by K."""
    drawing, ((left, right),) = canvas(1, 2)
    last = max(r.cell.K for r in records)
    data: dict[str, object] = {}
    for record in records.where(K=last):
        # At the run's own records: a slope of what is put between them would go in steps.
        times = np.asarray(record["times"], float)
        steps = times[times >= FIRST_STEP]
        short = shortfalls(record, *steps)
        tint = PALETTE[0]
        left.plot(steps, short, color=tint, lw=1.2, alpha=0.8)
        slopes = np.diff(np.log(short)) / np.diff(np.log(steps))
        right.plot(np.sqrt(steps[1:] * steps[:-1]), slopes, color=tint, lw=1.2, alpha=0.8)
        data[f"seed={record.seed}"] = {"K": numbers(steps), "shortfall": numbers(short)}
    levels, middle = medians(records, "K", "attention_shortfall")
    style = {"marker": "o", "ls": "none", "ms": 5, "color": PALETTE[1], "zorder": 3}
    left.plot(levels, middle, label="after K steps, median", **style)
    left.set_title("what is missing", fontsize=10)
    right.set_title("how fast it falls", fontsize=10)
    left.set(xscale="log", yscale="log", xlabel="steps K")
    left.set_ylabel(r"$1-$ margin$/\gamma_{attn}$")
    left.legend(fontsize=8)
    right.set(xscale="log", xlabel="steps K", ylabel="its local exponent in K")
    data["medians"] = {"K": numbers(levels), "shortfall": numbers(middle)}
    return drawing, data


def draw_global(records: Records) -> Drawn:
    """The best margin found by ascent over the NTK margin, by S and zeta."""
    groups = {
        f"S = {cell.S:g}\n$\\zeta$ = {cell.zeta:g}": np.array(
            [float(r["global_over_tangent"]) for r in records if r.cell == cell]
        )
        for cell in dict.fromkeys(r.cell for r in records)
    }
    drawing, ((panel,),) = canvas(1, 1)
    columns_of_dots(panel, groups, 1.0)
    panel.set_ylabel("global margin (ascent) over NTK margin")
    panel.set_title("every run, and medians", fontsize=10)
    return drawing, _data({name.replace("\n", ", "): x for name, x in groups.items()})


def draw_low_rank(records: Records) -> Drawn:
    """Loss over a free W's and over d_h = d's, and the attention gained, by rank."""
    drawing, panels = canvas(1, 3, width=3.4)
    data: dict[str, object] = {}
    for panel, (key, label, title) in zip(
        panels[0],
        (
            ("loss_over_free", "loss over a free W's", "loss, against a free W"),
            ("loss_over_full", "loss over that of $d_h=d$", "loss, against full rank"),
            ("gain_over_free", "attention gained over a free W's", "attention, against a free W"),
        ),
        strict=True,
    ):
        groups = {f"$d_h$ = {k}": part.column(key) for k, part in records.by("d_h").items()}
        columns_of_dots(panel, groups, 1.0)
        panel.set_ylabel(label)
        panel.set_title(title, fontsize=10)
        data[key] = _data(groups)
    return drawing, data


def draw_losses(records: Records) -> Drawn:
    """Every loss along its runs, with the rates that a linear model has."""
    drawing, ((panel,),) = canvas(1, 1, width=5.4)
    data: dict[str, object] = {}
    for column, (name, part) in enumerate(records.by("loss").items()):
        for record in part:
            t, loss = np.asarray(record["times"]), np.asarray(record["loss"])
            panel.plot(t[1:], loss[1:], f"C{column}", lw=1, alpha=0.7)
        rate = -1 / 3 if name == "heavy_tailed" else -1.0
        end = float(np.median(part.column("last_loss")))
        last = part[0].cell.K * np.array([0.05, 1.0])
        label = f"{str(name).replace('_', ' ')}: exponent {np.median(part.column('decay')):.2f}"
        panel.plot(last, 1.4 * end * (last / last[-1]) ** rate, f"C{column}--", lw=1, label=label)
        data[str(name)] = {"decay": numbers(part.column("decay"))}
    panel.set(xscale="log", yscale="log", xlabel="step", ylabel="training loss")
    panel.set_title("every run", fontsize=10)
    panel.legend(fontsize=8, title="dashed: 1/K, and $K^{-1/3}$ for the tail 1/x", title_fontsize=7)
    return drawing, data


def draw_starts(records: Records) -> Drawn:
    """The NTK margin of other starts over phase 1's."""
    groups = {
        str(name).replace("_", " "): part.column("margin_over_phase_1")
        for name, part in records.by("variant").items()
    }
    drawing, ((panel,),) = canvas(1, 1, width=5.6)
    columns_of_dots(panel, groups, 1.0)
    panel.set_ylabel("NTK margin over phase 1's")
    panel.set_title("every run, and medians", fontsize=10)
    return drawing, _data(groups)


def draw_several(records: Records) -> Drawn:
    """Test errors on a parity: the best of one head's runs, and several heads."""
    groups = {"one head": records.column("least_one_error")}
    for H, part in records.by("H").items():
        groups[f"{H} heads"] = part.column("many_test_error")
    drawing, ((panel,),) = canvas(1, 1)
    columns_of_dots(panel, groups, 0.25)
    panel.set_ylabel("test error")
    panel.set_title("every data set, and medians", fontsize=10)
    return drawing, _data(groups)


def _figure(name: str, study: str, title: str, caption: str, draw) -> Figure:
    return Figure(
        id=f"deora2023.{name}", title=title, caption=caption, studies=(f"deora2023.{study}",),
        draw=draw,
    )  # fmt: skip


QUESTIONS = (
    _figure(
        "random_initialisation", "random_start", "The NTK margin of random heads",
        "The largest tangent margin of heads with normal entries over gamma_lin, by their number "
        "and size, on 48 noisy samples; lines: medians.", draw_random,
    ),
    _figure(
        "gd_margin", "horizons", "How fast trained margins come to gamma_attn",
        "Two heads on sparse, noisy samples. Left: 1 - margin/gamma_attn along the longest runs "
        "from step 100 on, and after K steps. Right: its local exponent, which rises towards zero.",
        draw_reaching,
    ),
    _figure(
        "global_margin", "global_margin", "The global margin over the NTK margin",
        "The best of four ascents over parameters of length sqrt 2 (a lower bound on the global "
        "margin), over the certified NTK margin after phase 1, by run; bars: medians.",
        draw_global,
    ),
    _figure(
        "low_rank_heads", "low_rank", "Heads of low rank",
        "Two heads with W = W_Q W_K' of d_h columns (d = 8), by run; bars: medians.",
        draw_low_rank,
    ),
    _figure(
        "other_losses", "losses", "Other self-bounded losses",
        "Training losses of two heads by kind of loss, every run, with the rates of linear models "
        "beside them.", draw_losses,
    ),
    _figure(
        "other_good_starts", "other_starts", "Other good starts",
        "The largest NTK margin of five starts over that of phase 1 on the same samples, by run; "
        "bars: medians.", draw_starts,
    ),
    _figure(
        "several_heads", "parity", "Data that need several heads",
        "Test error on the parity of two tokens read at a query's place: the best of one head's "
        "runs (at least 1/4, a theorem) and several heads, by data set.", draw_several,
    ),
)  # fmt: skip
