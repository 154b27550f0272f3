"""The run that the page's slider moves through."""

from attnlab.core import Design, Study
from attnlab.papers.deora2023.settings.training import TrainingSettings, resolve
from attnlab.papers.deora2023.studies.common import NOISE_LEVEL

WATCHED = TrainingSettings(
    T=8, zeta=0.25, H=2.0, signs="balanced", eta=1.0, K=5_000, noise="uniform", **NOISE_LEVEL
)

FRAMES = (
    Study(
        id="deora2023.frames",
        summary="one run of two heads on sparse noisy samples, at about 64 moments",
        settings=TrainingSettings,
        run="attnlab.papers.deora2023.runs.frames:watch",
        designs={scale: Design((WATCHED,), 1) for scale in ("smoke", "quick", "paper")},
        cost=lambda cell: 0.5 + 1e-4 * cell.K,
        resolve=resolve,
    ),
)
