"""One run at the paper's own sizes, moment by moment, for the page's slider."""

from typing import TYPE_CHECKING

import numpy as np

from attnlab.core import Records
from attnlab.plotting import Film, film, frame_bars, frame_curves, frame_map, frames, log_spaced

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

ROLES = ("random", "μ1", "μ2", "μ3")
SIGNALS = ("μ1", "μ2", "μ3")
CLASSES = ("μ1", "μ2", "μ3", "r1", "r2", "r3", "r4")
TYPES = ("both signals", "only μ1", "only μ2", "neither")
ATTENTION = "attention, query row to key column"
CHANGE = "change of key-query products by class"


def draw_training(records: Records) -> tuple["Drawing", dict[str, object]]:
    """Attention by role, coefficients, outputs on the signals and losses by type along one run."""
    run = records[0]
    at = log_spaced(run["times"])
    coefficients = run["class_coefficients"][at]
    largest = np.nanmax(np.abs(coefficients)) or 1.0
    losses = {"all samples": run["loss"][at]}
    losses |= {name: run["loss_by_type"][at, k] for k, name in enumerate(TYPES)}
    shown = frames(
        "step",
        run["times"][at],
        frame_map(ATTENTION, run["attention_by_role"][at], ROLES, ROLES),
        frame_map(
            CHANGE, coefficients, CLASSES, CLASSES,
            (-largest, largest),
        ),
        frame_bars("output G on a signal", SIGNALS, run["signal_outputs"][at]),
        frame_curves("training loss by type", losses),
    )  # fmt: skip
    return film(shown, CHANGE), {"seed": run.seed, "frames": shown}


FRAMES = (
    Film(
        id="yang2024.training",
        title="Training at the paper's own sizes, moment by moment",
        caption=(
            "One run of figure 1's upper row: what queries of a role pay to keys of a role, how "
            "the products of keys and queries have changed by class of word, the output G on the "
            "signals and the losses. First the perceptron aligns with the signals while attention "
            "hardly moves; then both enlarge the margin together."
        ),
        studies=("yang2024.appendix_a",),
        draw=draw_training,
    ),
)
