"""The run that the page's slider moves through."""

from attnlab.core import BadInput, Design, Study
from attnlab.papers.li2023.settings import TrainingSettings

WATCHED = TrainingSettings(
    N=64, L=40, m=250, alpha_star=0.5, alpha_sharp=0.05, eta=0.5, steps=400, stop="fixed",
    engine="exact",
)  # fmt: skip
"""Figure 4's fractions on few tokens."""
NO_TEST = "the run is watched, not tested"


def resolve(cell: TrainingSettings) -> TrainingSettings:
    """The cell as it is; a sentence for what a map of all tokens cannot be made with."""
    for name in ("engine", "approximate", "selector", "probes", "loss"):
        got, needed = getattr(cell, name), getattr(WATCHED, name)
        if got != needed:
            raise BadInput(
                f"got {name}={got}; the run that is watched takes {needed}: its map is of all "
                "tokens of a sample"
            )
    return cell


FRAMES = (
    Study(
        id="li2023.frames",
        summary="one run at figure 4's fractions on 40 tokens, at about 64 moments",
        settings=TrainingSettings,
        run="attnlab.papers.li2023.runs.frames:watch",
        designs={scale: Design((WATCHED,), 1) for scale in ("smoke", "quick", "paper")},
        cost=lambda cell: 1.0 + 2e-3 * cell.steps,
        resolve=resolve,
        irrelevant=dict.fromkeys(("success", "test_samples"), NO_TEST),
    ),
)
