"""Studies that train nothing: printed formulas, the start, softmax and tails."""

from dataclasses import replace

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings import (
    GradientSettings,
    SoftmaxSettings,
    StartSettings,
    SystemSettings,
    TailSettings,
)
from attnlab.papers.yang2024.studies.resolving import resolve_start
from attnlab.papers.yang2024.studies.training import SMALL, over

FORMULAS = "attnlab.papers.yang2024.runs.formulas"
UNTRAINED = "attnlab.papers.yang2024.runs.untrained"

# --- appendices B and C -----------------------------------------------------------------------

GRADIENTS = Study(
    id="yang2024.gradients",
    summary="the gradients of appendix B against autodiff and central differences",
    settings=GradientSettings,
    run=f"{FORMULAS}:compare_gradients",
    designs={
        "smoke": Design((GradientSettings(),), 8),
        "quick": Design((GradientSettings(),), 40),
        "paper": Design((GradientSettings(), GradientSettings(n=60, m=32, m1=24)), 50),
    },
    cost=lambda cell: 0.05,
)

SYSTEM = Study(
    id="yang2024.system",
    summary="the dynamical system of appendix C against derivatives along the flow",
    settings=SystemSettings,
    run=f"{FORMULAS}:compare_system",
    designs={
        "smoke": Design((SystemSettings(),), 8),
        "quick": Design((SystemSettings(),), 40),
        "paper": Design((SystemSettings(), SystemSettings(n=60, m=32, m1=24)), 50),
    },
    cost=lambda cell: 0.05,
)

# --- appendix D and the first rates -----------------------------------------------------------

START = StartSettings(**{**vars(SMALL), "m1": 16, "c0": 0.01, "engine": "weights"})
"""Few neurons, so that m is far above m1 already where the weights can be drawn."""
NARROW = replace(START, m=2**10, m1=64)
UNTRAINED_SETTINGS: dict[str, str] = dict.fromkeys(
    ("method", "horizon", "target_loss", "learning_rate", "steps", "records", "rtol", "probes"),
    "nothing is trained: the start is all that is measured",
)


def _start_cost(cell: StartSettings) -> float:
    return 0.02 + 2e-8 * cell.m * (cell.m1 + 3 * cell.vocabulary)


INITIAL = Study(
    id="yang2024.initial",
    summary="sizes and first rates at the start, without training, over m",
    settings=StartSettings,
    run=f"{UNTRAINED}:draw_start",
    designs={
        "smoke": Design(over("m", *(2**k for k in range(9, 14)), base=START), 12),
        "quick": Design(over("m", *(2**k for k in range(9, 14)), base=START), 20),
        "paper": Design(over("m", *(2**k for k in range(9, 17)), base=START), 300),
    },
    cost=_start_cost,
    resolve=resolve_start,
    irrelevant=UNTRAINED_SETTINGS,
)

INITIAL_SAMPLES = Study(
    id="yang2024.initial_samples",
    summary="the same over the number of samples n",
    settings=StartSettings,
    run=f"{UNTRAINED}:draw_start",
    designs={
        "smoke": Design(over("n", 12, 24, 48, 72, base=NARROW), 15),
        "quick": Design(over("n", 12, 24, 48, 72, base=NARROW), 20),
        "paper": Design(over("n", 12, 24, 48, 72, 96, base=NARROW), 300),
    },
    cost=_start_cost,
    resolve=resolve_start,
    irrelevant=UNTRAINED_SETTINGS,
)

# --- appendices G and H -----------------------------------------------------------------------


def _perturbations(L: int) -> tuple[SoftmaxSettings, ...]:
    return tuple(SoftmaxSettings(L=L, size=size) for size in (0.003, 0.01, 0.03, 0.1))


def _tails(*dimensions: int) -> tuple[TailSettings, ...]:
    return tuple(TailSettings(m=m, delta=delta) for m in dimensions for delta in (0.1, 0.01))


SOFTMAX = Study(
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
)

TAILS = Study(
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
)
