"""The designs of the toy paper's studies."""

from attnlab.core import Design, Study
from attnlab.evidence.sequential import ThresholdSearch
from attnlab_toy.scalars import ARRIVED
from attnlab_toy.settings import ToySettings, resolve


def _study(
    name: str,
    summary: str,
    cells: tuple[ToySettings, ...],
    trials: int,
    timeout: float = 8.0,
) -> Study:
    return Study(
        id=f"toy.{name}",
        summary=summary,
        settings=ToySettings,
        run="attnlab_toy.runs:descend",
        designs={
            "smoke": Design(cells, trials),
            "quick": Design(cells, 2 * trials),
            # figure_1 then makes 500 runs, which the kill test counts.
            "paper": Design(cells, 25 * trials // 2),
        },
        cost=lambda cell: 0.02 + cell.sleep,
        resolve=resolve,
        timeout=timeout,
    )


CURVATURES = tuple(ToySettings(curvature=2.0**-k, spread=0.2) for k in range(6))
ARRIVAL = ThresholdSearch(
    sizes=tuple(2.0 ** (k / 2) for k in range(2, 19)),
    first=(8.0, 128.0),
    width=1.8,
    most=40,
    size="horizon",
    success=ARRIVED,
)

STUDIES = (
    Study(
        id="toy.arrival",
        summary="how long it takes to come near, over the curvature, by a search",
        settings=ToySettings,
        run="attnlab_toy.runs:descend",
        designs={
            scale: Design(CURVATURES, 4, search=ARRIVAL) for scale in ("smoke", "quick", "paper")
        },
        cost=lambda cell: 0.02 + cell.sleep,
        resolve=resolve,
    ),
    _study(
        "descent",
        "the step size over a factor of 32",
        tuple(ToySettings(eta=2.0**-k) for k in (3, 4, 5, 6, 8)),
        trials=4,
        timeout=60.0,
    ),
    _study(
        "start",
        "the size of the starting point over the dimension",
        tuple(ToySettings(dimension=d) for d in (500, 2000, 8000, 20000)),
        trials=20,
    ),
    _study("overshoot", "a step of 1.5 over the curvature", (ToySettings(eta=1.5),), trials=4),
    _study(
        "random_curvature",
        "the curvature is drawn at random, so that some runs diverge",
        (ToySettings(eta=1.0, spread=1.0, horizon=1000.0),),
        trials=60,
    ),
    _study(
        "horizons",
        "the step size, at a horizon and at ten times that",
        tuple(ToySettings(eta=2.0**-k, horizon=T) for T in (10.0, 100.0) for k in range(3, 9)),
        trials=4,
    ),
    _study(
        "decay",
        "how long it takes to come near, over the curvature",
        tuple(
            ToySettings(curvature=rate, horizon=times / rate, spread=0.2)
            for rate in (1.0, 0.5, 0.25, 0.125)
            for times in (2.0, 4.0, 5.0, 8.0)
        ),
        trials=5,
    ),
)
