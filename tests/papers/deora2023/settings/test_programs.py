"""What a compiled run depends on, by the settings' own metadata."""

from dataclasses import replace

import pytest

from attnlab.cells import program
from attnlab.papers.deora2023.settings import (
    GlobalMarginSettings,
    MixtureSettings,
    ParitySettings,
    PathSettings,
    TrainingSettings,
)

ATOMS = MixtureSettings(points="atoms")


@pytest.mark.parametrize(
    ("cell", "changes"),
    [
        (MixtureSettings(), {"S": 2.0, "zeta": 0.25, "noise": "extreme", "Z": 0.5, "n1": 7}),
        (ATOMS, {"n": 10**6}),
        (TrainingSettings(), {"H": 1e8, "eta": 0.3, "K": 5000, "start": "zero"}),
        (PathSettings(K=30), {"K": 100}),
        (ParitySettings(), {"H": 2, "K": 7, "rule": "one_token"}),
    ],
)
def test_data_are_not_in_the_program(cell, changes):
    assert program(replace(cell, **changes)) == program(cell)


@pytest.mark.parametrize(
    ("cell", "changes"),
    [
        (MixtureSettings(), {"T": 8}),
        (MixtureSettings(), {"n": 24}),
        (ATOMS, {"places": "fixed"}),
        (TrainingSettings(engine="weights"), {"H": 12.0}),
        (TrainingSettings(), {"output": "last"}),
        (PathSettings(K=100), {"K": 101}),
        (GlobalMarginSettings(), {"H": 3}),
    ],
)
def test_shapes_are(cell, changes):
    assert program(replace(cell, **changes)) != program(cell)
