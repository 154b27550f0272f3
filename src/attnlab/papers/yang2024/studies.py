"""The designs of the yang2024 studies."""

from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings import GradientSettings, TrainingSettings, resolve

RUNS = "attnlab.papers.yang2024.runs"


def _cost(cell: TrainingSettings) -> float:
    """Rough seconds of a run on one core, compilation left out (measured on two machines)."""
    size = cell.m * (cell.n * cell.L + cell.vocabulary) * 1e-9
    if cell.probes == "neurons":
        return 0.1 + cell.records * cell.m * cell.vocabulary**2 * 1e-9
    if cell.method == "flow":
        return 0.1 + 5e-8 * cell.vocabulary**3
    return 0.1 + cell.steps * (4e-5 + 3 * size)


def _program(cell: TrainingSettings) -> tuple:
    """What the compiled training depends on; Grams do not have the width."""
    width = (cell.m, cell.m1) if cell.engine == "weights" else ()
    steps = cell.steps if cell.method != "flow" else 0
    shapes = (cell.n, cell.L, cell.d, cell.records, *width)
    return (cell.engine, cell.method, cell.probes, steps, *shapes)


def _appendix_a(**changes) -> TrainingSettings:
    """The sizes of the paper's own experiment."""
    return TrainingSettings(
        d=64, m=128, m1=256, words="repeated", method="descent", records=160, **changes
    )


MATCHING = _appendix_a(weights="linear_default", output_layer="same_as_weights")
LITERAL = _appendix_a(weights="kaiming_normal", output_layer="sign")


SMALL = TrainingSettings(n=24, L=4, records=100)
"""A small balanced set: n is above L^2 and above 3 (L + 1), the limit's own requirement."""


def _over(setting: str, *levels: float, base: TrainingSettings = SMALL):
    return tuple(replace(base, **{setting: level}) for level in levels)


WIDTHS = tuple(2**k for k in (9, 11, 13, 15, 17, 20))
NEURONS = replace(SMALL, probes="neurons")
LATE = replace(SMALL, horizon=1e9, target_loss=1e-6)


def _short(cell: TrainingSettings) -> TrainingSettings:
    return replace(cell, steps=6_000)


STUDIES = (
    Study(
        id="yang2024.gradients",
        summary="the gradients of appendix B against autodiff and central differences",
        settings=GradientSettings,
        run=f"{RUNS}:compare_gradients",
        designs={
            "smoke": Design((GradientSettings(),), 8),
            "quick": Design((GradientSettings(),), 40),
            "paper": Design((GradientSettings(), GradientSettings(n=60, m=32, m1=24)), 50),
        },
        cost=lambda cell: 0.05,
        program=lambda cell: (cell.n, cell.L, cell.m, cell.m1, cell.formula),
    ),
    Study(
        id="yang2024.appendix_a",
        summary="30,000 steps of descent at the paper's own sizes, under two initialisations",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design((_short(MATCHING), _short(LITERAL)), 2),
            "quick": Design((MATCHING, LITERAL), 4),
            "paper": Design((MATCHING, LITERAL), 100),
        },
        cost=_cost,
        resolve=resolve,
        program=_program,
    ),
    Study(
        id="yang2024.phase_1",
        summary="gradient flow from the theory's initialisation through the first phase, over m",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design(_over("m", 2**9, 2**12, 2**15, 2**18), 12),
            "quick": Design(_over("m", *WIDTHS), 30),
            "paper": Design(_over("m", *(2**k for k in range(9, 21))), 100),
        },
        cost=_cost,
        resolve=resolve,
        program=_program,
    ),
    Study(
        id="yang2024.neurons",
        summary="the same on the weights, at widths where single neurons can be followed",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design(_over("m", 64, 128, 256, 512, base=NEURONS), 8),
            "quick": Design(_over("m", 128, 256, 512, 1024, base=NEURONS), 24),
            "paper": Design(_over("m", 128, 256, 512, 1024, 2048, 4096, base=NEURONS), 100),
        },
        cost=_cost,
        resolve=resolve,
        program=_program,
    ),
    Study(
        id="yang2024.phase_2",
        summary="gradient flow from the theory's initialisation until the loss is 1e-6, over m",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design(_over("m", 2**10, 2**15, base=LATE), 20),
            "quick": Design(_over("m", 2**10, 2**13, 2**16, 2**20, base=LATE), 20),
            "paper": Design(_over("m", *(2**k for k in range(10, 21)), base=LATE), 100),
        },
        cost=_cost,
        resolve=resolve,
        program=_program,
    ),
)
