"""What the paper does not have: its heads under another optimiser."""

from attnlab.papers.deora2023.settings.combinations import OptimiserSettings
from attnlab.papers.deora2023.studies.common import NOISE_LEVEL, study

MANY = tuple(
    OptimiserSettings(heads=H, noise="uniform", **NOISE_LEVEL) for H in (4, 8, 16, 32, 64, 128, 256)
)
STUDIES = (
    study(
        "optimisers",
        "4 to 256 heads, each for itself, under Adam",
        OptimiserSettings,
        "combinations:move",
        (MANY[::2], 4, 4),
        (MANY[::2], 8, 8),
        (MANY, 40, 20),
        seconds=0.2,
    ),
)
