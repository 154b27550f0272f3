"""The settings of the studies, one module for each family of them."""

from attnlab.papers.deora2023.settings.bounds import (
    BoundsSettings,
    DemandSettings,
    ImpossibilitySettings,
    SearchSettings,
)
from attnlab.papers.deora2023.settings.landscape import (
    AscentSettings,
    FormulaSettings,
    GlobalMarginSettings,
    Objective,
    PairObjective,
    PairSettings,
    SegmentSettings,
)
from attnlab.papers.deora2023.settings.mixture import (
    ExpressivitySettings,
    MixtureSettings,
    Noise,
)
from attnlab.papers.deora2023.settings.questions import (
    LossSettings,
    OtherStartSettings,
    ParitySettings,
    RankSettings,
)
from attnlab.papers.deora2023.settings.starts import (
    InitialisationSettings,
)
from attnlab.papers.deora2023.settings.training import (
    CurvatureSettings,
    GuaranteedSettings,
    PathSettings,
    StabilitySettings,
    TrainingSettings,
)

__all__ = [
    "AscentSettings",
    "BoundsSettings",
    "CurvatureSettings",
    "DemandSettings",
    "ExpressivitySettings",
    "FormulaSettings",
    "GlobalMarginSettings",
    "GuaranteedSettings",
    "ImpossibilitySettings",
    "InitialisationSettings",
    "LossSettings",
    "MixtureSettings",
    "Noise",
    "Objective",
    "OtherStartSettings",
    "PairObjective",
    "PairSettings",
    "ParitySettings",
    "PathSettings",
    "RankSettings",
    "SearchSettings",
    "SegmentSettings",
    "StabilitySettings",
    "TrainingSettings",
]
