"""One run of two heads, moment by moment, for the page's slider."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Records
from attnlab.plotting import Film, film, frame_bars, frame_curves, frame_map, frame_points, frames

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

PLUS, MINUS = "attention, head of sign +1", "attention, head of sign −1"


def draw_training(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Both heads' attention on a sample, mass on relevant places, decoders' rows, the losses."""
    run = records[0]
    maps = np.asarray(run["attention"], float) / 254
    relevant = np.asarray(run["relevant"], bool)
    places = ["relevant" if r else "other" for r in relevant]
    mass = maps[..., relevant].sum(-1).mean(-1)
    along = np.asarray(run["along"])
    points = along.reshape(len(along), -1, 2)
    signs = ["rows of the head +1"] * along.shape[2] + ["rows of the head −1"] * along.shape[2]
    shown = frames(
        "step",
        run["times"],
        frame_map(PLUS, maps[:, 0], places, places, (0.0, float(maps.max()))),
        frame_map(MINUS, maps[:, 1], places, places, (0.0, float(maps.max()))),
        frame_bars("mass on relevant places", ("head +1", "head −1"), mass),
        frame_points(
            "decoders along the patterns", points[..., 0], points[..., 1],
            ("along μ+", "along μ−"), signs,
        ),
        frame_curves("losses", {"training": run["loss"], "test": run["test_loss"]}),
    )  # fmt: skip
    return film(shown, PLUS), {"seed": run.seed, "frames": shown}


FRAMES = (
    Film(
        id="deora2023.training",
        title="Two heads on sparse samples, moment by moment",
        caption=(
            "One run of phase 2 from the start that phase 1 makes, one head of each sign, a "
            "quarter of eight places relevant: what each place of the first sample pays to each "
            "place (relevant ones first), the mass on relevant places, the rows of the decoders "
            "along the two relevant patterns, and the losses."
        ),
        studies=("deora2023.frames",),
        draw=draw_training,
    ),
)
