"""How a trial on images ended: accuracy, its worst group, attention on the object by block."""

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.evidence.laws import stored

ACCURACY = stored("accuracy", "test accuracy")
SUCCESS = stored("success", "success of a trial")


def _worst(record: Record) -> float:
    groups = np.asarray(record["groups"], float)
    return float(groups[groups >= 0].min())


WORST_GROUP = Scalar("accuracy in the worst group of class and background", _worst)

RISE = Scalar(
    "rise of the attention on the object in training, mean over blocks",
    lambda record: float(np.mean(record["mass_after"]) - np.mean(record["mass_before"])),
)


def _middle_over_last(mass: np.ndarray) -> float:
    """The mean of the blocks between the first and the last, minus the last."""
    return float(np.mean(mass[1:-1]) - mass[-1])


MIDDLE_OVER_LAST = Scalar(
    "attention on the object in the middle blocks minus the last block's",
    lambda record: _middle_over_last(np.asarray(record["mass_after"])),
)
LEAST_LIFT = Scalar(
    "attention on the object over its share of the tokens, least block",
    lambda record: float(np.min(record["mass_after"]) / float(record["object_share"])),
)
