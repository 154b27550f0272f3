"""Figure 1: the trend that the picture shows."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Control, Measurement, Record, Records
from attnlab.papers.yang2024.claims.common import FROZEN, hypotheses, share_reading
from attnlab.papers.yang2024.settings import TrainingSettings, resolve
from attnlab.papers.yang2024.summaries.series import at_time


@dataclass(frozen=True)
class FigureLaw:
    """What the picture shows, and in which share of the runs it must be seen."""

    early_share: float = 0.25
    """Ours: scores move in phase 1 by at most this part of what they move in all."""
    direction: int = 1
    probability: float = 0.8


def shows_the_figure(record: Record, law: FigureLaw) -> bool:
    """Scores part in phase 2 and hardly before; losses of one-signal samples rise, then fall."""
    end = float(record["T1_every_sample"])
    S, losses = record["scores"], record["loss_by_type"]
    if not record["times"][1] <= end < record["times"][-1]:
        return False
    start, boundary, last = S[0], at_time(record.values, "scores", end), S[-1]
    signs = law.direction * np.array([1, 1, -1, -1])
    pairs = ((1, 0), (0, 1), (2, 0), (2, 1))
    late = np.array([sign * (last - start)[p] for sign, p in zip(signs, pairs, strict=True)])
    early = np.array([abs((boundary - start)[p]) for p in pairs])
    one_signal = losses[:, 1:3]
    rises = (one_signal.max(axis=0) > 1.01 * one_signal[0]).all()
    falls = (one_signal[-1] < one_signal[0]).all()
    return bool((late > 0).all() and (early <= law.early_share * late).all() and rises and falls)


def measure(records: Records, law: FigureLaw) -> Measurement:
    """The share of runs that show it, under the matching and the literal initialisation."""
    readings = []
    for name, scheme in (("matching", "linear_default"), ("literal", "kaiming_normal")):
        part = records.where(weights=scheme)
        if part:
            readings.append(
                share_reading(
                    f"{name} initialisation",
                    "share of runs that show the figure",
                    [shows_the_figure(r, law) for r in part],
                    law.probability,
                    f"median T1: {np.median(part.column('T1_every_sample')):.4g} steps",
                )
            )
    return Measurement(tuple(readings))


def positive() -> Records:
    """Runs with the figure's shape."""
    cell = resolve(
        TrainingSettings(
            d=64,
            m=128,
            m1=256,
            words="repeated",
            method="descent",
            weights="linear_default",
            output_layer="same_as_weights",
        )
    )
    times = np.r_[0, np.geomspace(1, 30_000, 100)]
    late = np.maximum(np.log(np.maximum(times, 1) / 1_600), 0)
    scores = np.zeros((101, 3, 3))
    scores[:, 1, 0] = scores[:, 0, 1] = late
    scores[:, 2, 0] = scores[:, 2, 1] = -late
    bump = 0.69 * (1 + 0.2 * (times > 100)) * np.where(times > 2_000, 0.5, 1.0)
    series = {
        "times": times,
        "scores": scores,
        "loss_by_type": np.stack([bump] * 4, axis=1),
        "T1_every_sample": np.float64(1_650),
    }
    return Records(Record("yang2024.appendix_a", cell, seed, series) for seed in range(40))


FIGURE = (
    Claim(
        id="yang2024.figure_1",
        title="The two phases at the paper's own sizes",
        statement=(
            "In 30,000 steps of descent the scores hardly move in phase 1; in phase 2 those "
            "between the two signals rise and those of the common token against a signal fall. "
            "The loss of samples with one signal first rises, then falls."
        ),
        measured=(
            "The share of runs, with Wilson's interval, in which all of this is seen, phase 1 "
            "moving the scores by at most a quarter of the whole: supported above 0.8."
        ),
        studies=("yang2024.appendix_a",),
        measure=measure,
        law=FigureLaw(),
        hypotheses=hypotheses,
        controls=(
            FROZEN,
            Control(
                "opposite scores", "the signs of the scores reversed", law=FigureLaw(direction=-1)
            ),
        ),
        positive=positive,
        readings=(
            ("matching initialisation", "linear layer defaults, a drawn like the weights"),
            ("literal initialisation", "Kaiming normal, a = +-1"),
        ),
        notes=(
            "The paper names Kaiming's scheme and no more. With a = +-1 phase 1 ends after about "
            "ten steps; with a linear layer's default scheme, a included, after about 1,700, "
            "which is what the printed picture shows."
        ),
    ),
)
