"""The toy paper's figure."""

from attnlab.core import Figure, Records


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


FIGURES = (
    Figure(
        id="toy.figure_1",
        title="Descent against flow",
        caption="The gap at time 1, mean over seeds: first order for descent, second for midpoint.",
        studies=("toy.descent",),
        draw=draw_gap,
        changes=({}, {"method": "midpoint"}),
    ),
)
