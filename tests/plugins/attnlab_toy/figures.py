"""The toy paper's figure."""

import numpy as np

from attnlab.core import Figure, Records
from attnlab.plotting import Film


def draw_gap(records: Records):
    """The gap to the flow against the step, descent beside the midpoint rule."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(5, 3.2), layout="constrained")
    axes = drawing.subplots()
    data = {}
    for method in ("descent", "midpoint"):
        groups = records.where(method=method).by("eta")
        mean = [float(part.column("gap").mean()) for part in groups.values()]
        axes.loglog(list(groups), mean, "o-", label=method)
        data[method] = {"eta": list(groups), "gap": mean}
    axes.set(xlabel="step size eta", ylabel="gap to the flow / start")
    axes.legend()
    return drawing, data


def draw_descent(records: Records):
    """One run along its steps, in closed form: three coordinates that shrink alike."""
    from attnlab.plotting import canvas, frame_bars, frame_curves, frame_map, frame_points, frames

    first = records[0]
    steps = np.unique(np.round(np.geomspace(1, first.cell.steps, 12)).astype(int))
    left = float(first["start"]) * float(first["factor"]) ** steps
    way = np.array([1.0, -0.5, 0.25])
    drawing, ((panel,),) = canvas(1, 1)
    panel.loglog(steps, left, label="distance left")
    panel.set(xlabel="step", ylabel="distance")
    at = left[:, None] * way
    shown = frames(
        "step",
        steps,
        frame_map("products of coordinates", at[:, :, None] * at[:, None], "abc", "abc"),
        frame_points("coordinates", at, at[:, ::-1], ("forwards", "backwards"), ("+", "-", "+")),
        frame_bars("coordinates", ("first", "second", "third"), at),
        frame_curves("distance", {"left": left}),
    )
    return drawing, {"step": steps.tolist(), "left": left.tolist(), "frames": shown}


FIGURES = (
    Film(
        id="toy.training",
        title="Descent, step by step",
        caption="One run: every coordinate shrinks by 1 - eta lambda a step.",
        studies=("toy.descent",),
        draw=draw_descent,
    ),
    Figure(
        id="toy.figure_1",
        title="Descent against flow",
        caption="The gap at time 1, mean over seeds: first order for descent, second for midpoint.",
        studies=("toy.descent",),
        draw=draw_gap,
        changes=({}, {"method": "midpoint"}),
    ),
)
