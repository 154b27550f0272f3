"""The picture of a run: its losses, and where its attention goes."""

import io
import textwrap
from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from attnlab.facade.series import described

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from attnlab.facade.runs import Run


class ShownFigure(Figure):
    """A figure that a notebook shows, whether or not pyplot was imported there."""

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png")
        return file.getvalue()


def draw(run: "Run") -> ShownFigure:
    """A panel of losses; one of the attention by role; one of everything else of one number."""
    losses = [name for name in ("loss", "test_loss") if name in run.series]
    others = [k for k, x in run.series.items() if x.ndim == 1 and k not in losses]
    roles = "attention_by_role" in run.series and len(run.roles) > 1
    panels = [bool(losses), roles, *(True for _ in others[:4])]
    count = max(1, sum(panels))
    columns = min(count, 3)
    lines = -(-count // columns)
    figure = ShownFigure(figsize=(4.0 * columns, 3.0 * lines), layout="constrained")
    axes = iter(np.atleast_1d(figure.subplots(lines, columns, squeeze=False)).ravel())
    used = 0
    if losses:
        _lines(next(axes), run, losses, "loss", logarithmic=True)
        used += 1
    if roles:
        _attention(next(axes), run)
        used += 1
    for name in others[:4]:
        _lines(next(axes), run, [name], described(name, run.series[name]).words)
        used += 1
    for axis in axes:
        axis.set_axis_off()
    figure.suptitle(run.title if used else f"{run.title}: no series", fontsize=10)
    return figure


def _lines(
    axis: "Axes", run: "Run", names: list[str], words: str, *, logarithmic: bool = False
) -> None:
    for name in names:
        axis.plot(run.at, run.series[name], label=name.replace("_", " "))
    _steps(axis, run)
    values = np.concatenate([run.series[name] for name in names])
    if logarithmic and np.isfinite(values).any() and (values[np.isfinite(values)] > 0).all():
        axis.set_yscale("log")
    axis.set_ylabel("\n".join(_wrapped(words)), fontsize=8)
    if len(names) > 1:
        axis.legend(fontsize=8)


def _attention(axis: "Axes", run: "Run") -> None:
    by_role = run.series["attention_by_role"]
    count = min(by_role.shape[1], len(run.roles))
    # The mean over query roles that occur: what a role receives.
    queries = np.isfinite(by_role).all(axis=2).any(axis=0)
    received = by_role[:, queries].mean(axis=1)
    occurs = [k for k in range(count) if np.isfinite(by_role[:, k]).any()]
    for k in occurs:
        axis.plot(run.at, received[:, k], label=run.roles[k].replace("_", " "))
    _steps(axis, run)
    axis.set_ylim(0, 1)
    axis.set_ylabel("attention received by role", fontsize=8)
    axis.legend(fontsize=7)


def _steps(axis: "Axes", run: "Run") -> None:
    axis.set_xlabel(run.axis)
    if len(run.at) > 2 and run.at[-1] > 50:
        axis.set_xscale("symlog", linthresh=1)


def _wrapped(words: str, width: int = 34) -> list[str]:
    return textwrap.wrap(words, width)
