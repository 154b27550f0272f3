"""The first phase in scalars: what has happened by T1, under both detections of T1."""

import numpy as np

from attnlab.papers.yang2024.summaries.series import Series, at_time, largest_until

DETECTIONS = ("every_sample", "type_means")
"""Two ways to see the end of phase 1, both recorded by a run (T1_...)."""
CHANGES = ("value_change", "score_change", "key_change", "query_change")
NEURON_CHANGES = ("neuron_gram_change",)


def summarise(series: Series) -> dict[str, float]:
    """Scalars named `<quantity>_by_<detection>` or `<quantity>_at_<detection>`; nan if no T1."""
    scalars = {}
    for detection in DETECTIONS:
        end = float(series[f"T1_{detection}"])
        G1, G2, G3 = at_time(series, "signal_outputs", end)
        scalars[f"alignment_at_{detection}"] = float(np.min([G1, G2, -G3]))
        scalars[f"loss_at_{detection}"] = float(at_time(series, "loss", end))
        for name in (*CHANGES, *NEURON_CHANGES):
            if name in series:
                scalars[f"{name}_by_{detection}"] = largest_until(series, name, end)
    return scalars
