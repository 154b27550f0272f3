"""The designs of the yang2024 studies."""

from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.yang2024.auxiliary_settings import (
    ClassSettings,
    SoftmaxSettings,
    TailSettings,
)
from attnlab.papers.yang2024.settings import (
    GradientSettings,
    SystemSettings,
    TrainingSettings,
    resolve,
)

RUNS = "attnlab.papers.yang2024.runs"
UNTRAINED = "attnlab.papers.yang2024.initial_runs"
CLASSES = "attnlab.papers.yang2024.class_runs"


def _cost(cell: TrainingSettings) -> float:
    """Rough seconds of a run on one core, compilation left out (measured on two machines)."""
    size = cell.m * (cell.n * cell.L + cell.vocabulary) * 1e-9
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


SMALL = TrainingSettings(n=24, L=4, records=100, probes="auto")
"""A small balanced set: n is above L^2 and above 3 (L + 1), the limit's own requirement.

All its runs take all probes: one compiled program for every width, phase and control.
"""


def _over(setting: str, *levels: float, base: TrainingSettings = SMALL):
    return tuple(replace(base, **{setting: level}) for level in levels)


WIDTHS = tuple(2**k for k in (9, 11, 13, 15, 17, 20))
LATE = replace(SMALL, horizon=1e9, target_loss=1e-6)


WIDE = replace(SMALL, m=2**14)
START = replace(SMALL, m1=16, c0=0.01, engine="weights")
"""Few neurons, so that m is far above m1 already where the weights can be drawn."""
NARROW = replace(START, m=2**10, m1=64)


SAMPLE_SIZES = (96, 192, 384, 768, 1536, 3072)


def _classes(setting: str, *levels: int, **changes: int) -> tuple[ClassSettings, ...]:
    return tuple(ClassSettings(**{**changes, setting: level}) for level in levels)


LATE_SAMPLE_SIZES = (6, 12, 24, 30, 48, 60, 96, 150, 240, 480)
"""On both sides of the asymptote's thresholds for every L, and on none of them."""


def _late_classes(*lengths: int) -> tuple[ClassSettings, ...]:
    return tuple(
        ClassSettings(n=n, L=L, horizon=1e9, target_loss=1e-6)
        for L in lengths
        for n in LATE_SAMPLE_SIZES
    )


def _perturbations(L: int) -> tuple[SoftmaxSettings, ...]:
    return tuple(SoftmaxSettings(L=L, size=size) for size in (0.003, 0.01, 0.03, 0.1))


def _tails(*dimensions: int) -> tuple[TailSettings, ...]:
    return tuple(TailSettings(m=m, delta=delta) for m in dimensions for delta in (0.1, 0.01))


BESIDE_TRAINED = replace(LATE, c0=1.0)
"""Condition 1's own scale of the initialisation, at which attention learns soonest."""


def _with_and_without_attention(*widths: int) -> tuple[TrainingSettings, ...]:
    return tuple(
        replace(BESIDE_TRAINED, m=m, attention=attention)
        for m in widths
        for attention in ("trained", "frozen")
    )


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
        program=lambda cell: (cell.n, cell.L, cell.m, cell.m1),
    ),
    Study(
        id="yang2024.system",
        summary="the dynamical system of appendix C against derivatives along the flow",
        settings=SystemSettings,
        run="attnlab.papers.yang2024.system_runs:compare_system",
        designs={
            "smoke": Design((SystemSettings(),), 8),
            "quick": Design((SystemSettings(),), 40),
            "paper": Design((SystemSettings(), SystemSettings(n=60, m=32, m1=24)), 50),
        },
        cost=lambda cell: 0.05,
        program=lambda cell: (cell.n, cell.L, cell.m, cell.m1),
    ),
    Study(
        id="yang2024.appendix_a",
        summary="30,000 steps of descent at the paper's own sizes, under two initialisations",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design((_short(MATCHING), _short(LITERAL)), 2),
            "quick": Design((MATCHING, LITERAL), 2),
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
            "quick": Design(_over("m", *WIDTHS), 20, 10),
            "paper": Design(_over("m", *(2**k for k in range(9, 21))), 100),
        },
        cost=_cost,
        resolve=resolve,
        program=_program,
    ),
    Study(
        id="yang2024.classes_samples",
        summary="the first phase on classes of words, from the mean start, over n",
        settings=ClassSettings,
        run=f"{CLASSES}:train_classes",
        designs={
            "smoke": Design(_classes("n", *SAMPLE_SIZES), 1),
            "quick": Design(_classes("n", *SAMPLE_SIZES), 1),
            "paper": Design(_classes("n", 48, *SAMPLE_SIZES, 6144), 1),
        },
        cost=lambda cell: 0.1,
        program=lambda cell: cell.records,
    ),
    Study(
        id="yang2024.classes_lengths",
        summary="the first phase on classes of words, from the mean start, over L",
        settings=ClassSettings,
        run=f"{CLASSES}:train_classes",
        designs={
            "smoke": Design(_classes("L", 4, 6, 8, 12, 16, 24, n=1200), 1),
            "quick": Design(_classes("L", 4, 6, 8, 12, 16, 24, n=1200), 1),
            "paper": Design(_classes("L", 4, 6, 8, 12, 16, 24, 32, 48, n=4800), 1),
        },
        cost=lambda cell: 0.1,
        program=lambda cell: cell.records,
    ),
    Study(
        id="yang2024.classes_late",
        summary="the flow to a loss of 1e-6 on classes of words, over n and L",
        settings=ClassSettings,
        run=f"{CLASSES}:train_classes",
        designs={
            "smoke": Design(_late_classes(4, 5, 6, 8, 12, 16), 1),
            "quick": Design(_late_classes(4, 5, 6, 8, 12, 16), 1),
            "paper": Design(_late_classes(4, 5, 6, 7, 8, 10, 12, 16, 20, 24), 1),
        },
        cost=lambda cell: 0.1,
        program=lambda cell: cell.records,
    ),
    Study(
        id="yang2024.initial_scale",
        summary="the first phase over the scale c0 of the initialisation, of one draw each",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design(_over("c0", 0.001, 0.01, 0.1, base=WIDE), 6),
            "quick": Design(_over("c0", 0.001, 0.01, 0.1, base=WIDE), 20, 10),
            "paper": Design(_over("c0", 0.001, 0.003, 0.01, 0.03, 0.1, base=WIDE), 100),
        },
        cost=_cost,
        resolve=resolve,
        program=_program,
    ),
    Study(
        id="yang2024.initial",
        summary="sizes and first rates at the start, without training, over m",
        settings=TrainingSettings,
        run=f"{UNTRAINED}:draw_start",
        designs={
            "smoke": Design(_over("m", *(2**k for k in range(9, 14)), base=START), 12),
            "quick": Design(_over("m", *(2**k for k in range(9, 14)), base=START), 20),
            "paper": Design(_over("m", *(2**k for k in range(9, 17)), base=START), 300),
        },
        cost=lambda cell: 0.02 + 2e-8 * cell.m * (cell.m1 + 3 * cell.vocabulary),
        resolve=resolve,
        program=_program,
    ),
    Study(
        id="yang2024.initial_samples",
        summary="the same over the number of samples n",
        settings=TrainingSettings,
        run=f"{UNTRAINED}:draw_start",
        designs={
            "smoke": Design(_over("n", 12, 24, 48, 72, base=NARROW), 15),
            "quick": Design(_over("n", 12, 24, 48, 72, base=NARROW), 20),
            "paper": Design(_over("n", 12, 24, 48, 72, 96, base=NARROW), 300),
        },
        cost=lambda cell: 0.02 + 2e-8 * cell.m * (cell.m1 + 3 * cell.vocabulary),
        resolve=resolve,
        program=_program,
    ),
    Study(
        id="yang2024.softmax",
        summary="perturbations of a softmax, over their size",
        settings=SoftmaxSettings,
        run=f"{UNTRAINED}:perturb_softmax",
        designs={
            "smoke": Design(_perturbations(8), 10),
            "quick": Design(_perturbations(8), 20),
            "paper": Design((*_perturbations(8), *_perturbations(60)), 100),
        },
        cost=lambda cell: 0.01,
        program=lambda cell: (cell.L, cell.draws),
    ),
    Study(
        id="yang2024.tails",
        summary="norms and products of Gaussian vectors, over their dimension",
        settings=TailSettings,
        run=f"{UNTRAINED}:draw_tails",
        designs={
            "smoke": Design(_tails(16, 1024), 10),
            "quick": Design(_tails(16, 128, 1024), 20),
            "paper": Design(_tails(16, 128, 1024, 8192), 100),
        },
        cost=lambda cell: 0.01,
        program=lambda cell: (cell.m, cell.draws),
    ),
    Study(
        id="yang2024.phase_2",
        summary="gradient flow from the theory's initialisation until the loss is 1e-6, over m",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design(_over("m", 2**11, 2**14, 2**17, 2**20, base=LATE), 16),
            "quick": Design(_over("m", *(2**k for k in range(10, 21, 2)), base=LATE), 20, 10),
            "paper": Design(_over("m", *(2**k for k in range(10, 21)), base=LATE), 100),
        },
        cost=_cost,
        resolve=resolve,
        program=_program,
    ),
    Study(
        id="yang2024.frozen",
        summary="the same runs with attention trained and frozen, at Condition 1's own scale",
        settings=TrainingSettings,
        run=f"{RUNS}:train",
        designs={
            "smoke": Design(_with_and_without_attention(128), 16),
            "quick": Design(_with_and_without_attention(128, 1024), 20, 10),
            "paper": Design(_with_and_without_attention(128, 512, 2048, 8192), 100),
        },
        cost=_cost,
        resolve=resolve,
        program=_program,
    ),
)
