"""Studies of formulas, bounds and the landscape."""

from dataclasses import replace
from typing import get_args

from attnlab.papers.deora2023.settings.landscape import (
    AscentSettings,
    FormulaSettings,
    GlobalMarginSettings,
    Objective,
    PairObjective,
    PairSettings,
    SegmentSettings,
)
from attnlab.papers.deora2023.studies.common import study

OBJECTIVES: tuple[Objective, ...] = get_args(Objective)
PAIRS: tuple[PairObjective, ...] = get_args(PairObjective)
SEGMENTS = (SegmentSettings(), SegmentSettings(H=100.0), SegmentSettings(S=2.0))
GLOBAL = tuple(GlobalMarginSettings(S=S, zeta=zeta) for S in (1.0, 2.0) for zeta in (0.25, 0.5))

STUDIES = (
    study(
        "formulas",
        "Lemma 1's gradients and Hessians against autodiff and central differences",
        FormulaSettings,
        "formulas:compare_formulas",
        ((FormulaSettings(),), 8),
        ((FormulaSettings(),), 40),
        ((FormulaSettings(), FormulaSettings(T=12, d=10)), 50),
    ),
    study(
        "ascent",
        "bounds at random parameters and at ones found by ascending measured over bound",
        AscentSettings,
        "tight_bounds:ascend",
        (tuple(AscentSettings(objective=o, steps=150) for o in OBJECTIVES), 3),
        (tuple(AscentSettings(objective=o) for o in OBJECTIVES), 12),
        (tuple(AscentSettings(objective=o, steps=2000) for o in OBJECTIVES), 60),
        seconds=0.2,
    ),
    study(
        "segments",
        "the loss between points that are as far apart as Proposition 4 allows",
        SegmentSettings,
        "landscape:segments",
        (SEGMENTS, 2),
        (SEGMENTS, 8),
        (SEGMENTS, 60),
        seconds=0.2,
    ),
    study(
        "pairs",
        "segments and samples found by ascending (15), (16) or the rise of Proposition 4",
        PairSettings,
        "segment_ascent:ascend_pairs",
        (tuple(PairSettings(objective=o) for o in PAIRS), 8),
        (tuple(PairSettings(objective=o, H=H) for o in PAIRS for H in (1, 2)), 16),
        (tuple(PairSettings(objective=o, H=H, steps=4000) for o in PAIRS for H in (1, 2, 4)), 100),
        seconds=0.25,
    ),
    study(
        "global_margin",
        "the largest margin of parameters of length sqrt 2, by ascent",
        GlobalMarginSettings,
        "landscape:global_margin",
        (GLOBAL, 1),
        (GLOBAL, 4),
        (tuple(replace(cell, steps=5_000) for cell in GLOBAL), 20),
        seconds=0.4,
    ),
)
