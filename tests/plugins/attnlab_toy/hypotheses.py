"""The toy paper's assumptions: looked up from settings, never judged."""

from attnlab.claims import Assumption, HypothesisTable, Source
from attnlab_toy.settings import ToySettings
from attnlab_toy.theory import large_dimension, stable_step

HYPOTHESES = HypothesisTable(
    assumptions=(
        Assumption(
            "toy.assumption_1",
            "A step no longer than one over the curvature",
            "eta lambda <= 1.",
            Source("1", "Assumption 1"),
            lambda cell: stable_step(cell) if isinstance(cell, ToySettings) else (),
        ),
        Assumption(
            "toy.condition_2",
            "Enough coordinates",
            "d >= C log(1/delta) with delta = 0.01 and an unknown C.",
            Source("2", "(2)"),
            lambda cell: large_dimension(cell) if isinstance(cell, ToySettings) else (),
        ),
    ),
    printed={"figure 1": ToySettings(eta=2.0**-3), "section 2": ToySettings(dimension=500)},
)
