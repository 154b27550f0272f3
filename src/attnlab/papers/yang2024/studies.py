"""The designs of the yang2024 studies."""

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings import GradientSettings, TrainingSettings, resolve

RUNS = "attnlab.papers.yang2024.runs"


def _cost(cell: TrainingSettings) -> float:
    """Rough seconds of a run on one core, compilation left out (measured on two machines)."""
    size = cell.m * (cell.n * cell.L + cell.vocabulary) * 1e-9
    if cell.method == "flow":
        return 0.1 + cell.records * cell.m * cell.vocabulary**2 * 1e-9
    return 0.1 + cell.steps * (4e-5 + 3 * size)


def _appendix_a(**changes) -> TrainingSettings:
    """The sizes of the paper's own experiment."""
    return TrainingSettings(
        d=64, m=128, m1=256, words="repeated", method="descent", records=160, **changes
    )


MATCHING = _appendix_a(weights="linear_default", output_layer="same_as_weights")
LITERAL = _appendix_a(weights="kaiming_normal", output_layer="sign")


def _widths(*widths: int) -> tuple[TrainingSettings, ...]:
    return tuple(TrainingSettings(n=24, L=4, m=m, probes="neurons", records=100) for m in widths)


PHASE_2 = TrainingSettings(n=24, L=4, m=512, horizon=1e6, target_loss=1e-3)

STUDIES = (
    Study(
        id="yang2024.gradients",
        summary="the gradients of appendix B against autodiff and central differences",
        settings=GradientSettings,
        run=f"{RUNS}:compare_gradients",
        designs={
            "smoke": Design((GradientSettings(),), 8),
            "quick": Design((GradientSettings(), GradientSettings(n=18, L=4, m=16, m1=12)), 20),
            "paper": Design((GradientSettings(), GradientSettings(n=60, m=32, m1=24)), 50),
        },
        cost=lambda cell: 0.05,
    ),
    Study(
        id="yang2024.appendix_a",
        summary="30,000 steps of descent at the paper's own sizes, under two initialisations",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design((MATCHING, LITERAL), 1),
            "quick": Design((MATCHING, LITERAL), 4),
            "paper": Design((MATCHING, LITERAL), 100),
        },
        cost=_cost,
        resolve=resolve,
    ),
    Study(
        id="yang2024.phase_1",
        summary="gradient flow from the theory's initialisation through the first phase, over m",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design(_widths(128, 256, 512, 1024), 8),
            "quick": Design(_widths(128, 256, 512, 1024, 2048), 20),
            "paper": Design(_widths(128, 256, 512, 1024, 2048, 4096), 100),
        },
        cost=_cost,
        resolve=resolve,
    ),
    Study(
        id="yang2024.phase_2",
        summary="gradient flow from the theory's initialisation until the loss is 0.001",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design((PHASE_2,), 20),
            "quick": Design((PHASE_2,), 40),
            "paper": Design((PHASE_2,), 299),
        },
        cost=_cost,
        resolve=resolve,
    ),
)
