"""From what a run returns to the named values of its record."""

from typing import Any

import numpy as np

from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.selection import sample_flops
from attnlab.training.trajectory import Ending, absent_throughout


def summarise(cell: TrainingSettings, ended: dict[str, Any]) -> dict[str, Any]:
    """The record of one trial: its outcome, and the series if there are any."""
    values = {name: x for name, x in ended.items() if not name.startswith("series_")}
    values["fitted"] = int(ended["ending"]) == Ending.TARGET_LOSS
    values["success"] = bool(ended["test_loss"] < cell.success)
    values["approximate"] = cell.engine == "collapsed" and cell.c0 > 0
    values["gap"] = cell.gap
    sizes = (cell.d, cell.m, cell.m_a, cell.m_b, cell.heads)
    full, kept = sample_flops(cell.L, *sizes), sample_flops(cell.kept, *sizes)
    values["flops_saved"] = 1 - kept / full
    values["tokens_saved"] = 1 - cell.kept / cell.L
    if cell.probes == "dynamics":
        reached = np.isfinite(ended["times"])
        # The padding of the record times repeats step 0: one of them is enough.
        reached &= np.append(np.diff(ended["times"]) != 0, True)
        for name, x in ended.items():
            if name.startswith("series_"):
                values[name.removeprefix("series_")] = x[reached]
        values["times"] = ended["times"][reached]
    else:
        del values["times"]
    return values


def absent_values(values: dict[str, Any]) -> frozenset[str]:
    """The series with roles or patterns that the samples do not have: nan at every record."""
    if "times" not in values:
        return frozenset()
    count = len(values["times"])
    return absent_throughout(
        {name: x for name, x in values.items() if np.ndim(x) and len(x) == count}
    )
