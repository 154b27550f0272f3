"""Studies of formulas, bounds and the landscape."""

from dataclasses import replace
from typing import get_args

from attnlab.papers.deora2023.settings import (
    AscentSettings,
    FormulaSettings,
    GlobalMarginSettings,
    Objective,
    SegmentSettings,
)
from attnlab.papers.deora2023.studies.common import shapes, study

OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
SEGMENTS = (SegmentSettings(), SegmentSettings(H=100.0), SegmentSettings(S=2.0))
GLOBAL = tuple(GlobalMarginSettings(S=S, zeta=zeta) for S in (1.0, 2.0) for zeta in (0.25, 0.5))

STUDIES = (
    study(
        "formulas",
        "Lemma 1's gradients and Hessians against autodiff and central differences",
        FormulaSettings,
        "formula_runs:compare_formulas",
        ((FormulaSettings(),), 8),
        ((FormulaSettings(),), 40),
        ((FormulaSettings(), FormulaSettings(T=12, d=10)), 50),
        program=lambda cell: (cell.T, cell.d),
    ),
    study(
        "ascent",
        "bounds at random parameters and at ones found by ascending measured over bound",
        AscentSettings,
        "formula_runs:ascend",
        (tuple(AscentSettings(objective=o, steps=150) for o in OBJECTIVES), 3),
        (tuple(AscentSettings(objective=o) for o in OBJECTIVES), 12),
        (tuple(AscentSettings(objective=o, steps=2000) for o in OBJECTIVES), 60),
        program=lambda cell: (cell.T, cell.d),
        seconds=0.2,
    ),
    study(
        "segments",
        "the loss between points that are as far apart as Proposition 4 allows",
        SegmentSettings,
        "landscape_runs:segments",
        (SEGMENTS, 2),
        (SEGMENTS, 8),
        (SEGMENTS, 60),
        program=shapes,
        seconds=0.2,
    ),
    study(
        "global_margin",
        "the largest margin of parameters of length sqrt 2, by ascent",
        GlobalMarginSettings,
        "landscape_runs:global_margin",
        (GLOBAL, 1),
        (GLOBAL, 4),
        (tuple(replace(cell, steps=5_000) for cell in GLOBAL), 20),
        program=shapes,
        seconds=0.4,
    ),
)
