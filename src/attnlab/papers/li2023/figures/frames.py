"""One run at figure 4's fractions, moment by moment, for the page's slider."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Records
from attnlab.plotting import Film, film, frame_bars, frame_curves, frame_map, frame_points, frames

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

ROLES = ("label-relevant", "confusion", "non-discriminative", "noisy")
ATTENTION = "attention of one sample, tokens by role"
GROUPS = ("ends along μ1", "ends along μ2", "ends along another")


def draw_training(records: Records) -> tuple["Drawing", dict[str, object]]:
    """The attention map of a sample, its mass by role, neurons along two patterns, the loss."""
    run = records[0]
    maps = np.asarray(run["attention"], float) / 254 * float(run["largest_attention"])
    roles = np.asarray(run["roles"])
    here = [k for k in range(len(ROLES)) if (roles == k).any()]
    mass = np.stack([maps[:, :, roles == k].sum(2).mean(1) for k in here], axis=1)
    labels = [ROLES[k] for k in roles]
    groups = [GROUPS[min(int(k), 2)] for k in run["best_pattern"]]
    shown = frames(
        "step",
        run["times"],
        frame_map(ATTENTION, maps, labels, labels, (0.0, float(np.quantile(maps, 0.98)))),
        frame_bars("mass on tokens of a role", [ROLES[k] for k in here], mass),
        frame_points(
            "neurons along the values of the patterns", run["along_first"], run["along_second"],
            ("along μ1", "along μ2"), groups,
        ),
        frame_curves("training loss", {"loss": run["loss"]}, log=False),
    )  # fmt: skip
    return film(shown, ATTENTION), {"seed": run.seed, "frames": shown}


FRAMES = (
    Film(
        id="li2023.training",
        title="Training on figure 4's fractions, moment by moment",
        caption=(
            "One run on samples of 40 tokens: the attention map of the first training sample with "
            "its tokens sorted by role (label-relevant first; the largest 2 % of all weights look "
            "alike), the mass on each role, where the neurons point, and "
            "the training loss. Attention gathers on the label-relevant tokens "
            "while the neurons grow along the two discriminative patterns."
        ),
        studies=("li2023.frames",),
        draw=draw_training,
    ),
)
