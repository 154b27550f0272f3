"""The toy paper's statements: true, false by a little, not applicable, unknown constant."""

import numpy as np

from attnlab.core import (
    Claim,
    Constant,
    Control,
    Effect,
    Hypothesis,
    Measurement,
    Reading,
    Record,
    Records,
)
from attnlab.evidence.fits import fit_exponent
from attnlab.evidence.intervals import (
    decide_at_least,
    decide_equal,
    mean_interval,
    wilson,
)
from attnlab.evidence.trends import page_trend
from attnlab_toy.settings import ToySettings

MIDPOINT = Control("midpoint", "a second-order integrator", changes={"method": "midpoint"})


def _factor_by_descent(cell):
    return 1 - cell.eta * cell.curvature


def _factor_by_flow(cell):
    return np.exp(-cell.eta * cell.curvature)


def measure_factor(records: Records, law) -> Measurement:
    """The factor per step over the law's factor."""
    ratio = records.column("factor") / np.array([law(r.cell) for r in records])
    effect = Effect("measured / stated factor", float(ratio.mean()), ratio.min(), ratio.max())
    outcome = decide_equal(effect.low, effect.high, 1.0, 1e-12)
    return Measurement((Reading("as printed", outcome, effect),))


def measure_exponent(records: Records, law) -> Measurement:
    """The exponent of one value in one setting."""
    value, setting, exponent = law
    fit = fit_exponent(records.settings(setting), records.column(value))
    effect = Effect(f"exponent of {value} in {setting}", fit.exponent, fit.low, fit.high)
    outcome = decide_equal(fit.low, fit.high, exponent, 0.1)
    constant = Constant("C", "fitted", fit.constant, fit.constant_low, fit.constant_high)
    return Measurement((Reading("as printed", outcome, effect),), (constant,))


def measure_start(records: Records, law) -> Measurement:
    """The mean of |x(0)|^2 / d at the largest dimension, and at all of them."""
    readings = []
    dimensions = records.by("dimension")
    for name, part in (("largest d", dimensions[max(dimensions)]), ("every d", records)):
        ratio = part.column("start") ** 2 / part.settings("dimension")
        effect = Effect.of("mean of |x(0)|^2 / d", mean_interval(ratio))
        readings.append(Reading(name, decide_equal(effect.low, effect.high, law, 0.02), effect))
    return Measurement(tuple(readings))


def measure_convergence(records: Records, law) -> Measurement:
    """The share of runs that do not diverge."""
    converged = sum(not r.diverged for r in records)
    effect = Effect.of("share of runs that converge", wilson(converged, len(records)))
    outcome = decide_at_least(effect.low, effect.high, law)
    return Measurement((Reading("as printed", outcome, effect),))


def measure_trend(records: Records, law) -> Measurement:
    """Whether the gap to the flow falls with the step size."""
    table = np.stack([part.column("gap") for part in records.by("eta").values()], axis=1)
    if table.shape[1] < 2:
        return Measurement((Reading("as printed", "inconclusive", detail="one step size only"),))
    fallen = float(np.mean(np.diff(table, axis=1) * law > 0))
    p_value = page_trend(table * law).p_value
    effect = Effect("share of steps in the stated direction", fallen, fallen, fallen)
    outcome = "supported" if p_value < 0.01 else "contradicted" if fallen < 0.5 else "inconclusive"
    return Measurement((Reading("as printed", outcome, effect, f"Page's test: p = {p_value:.2g}"),))


def _records(study: str, cells, values, trials: int = 8, diverged=lambda seed: "") -> Records:
    noise = np.random.default_rng(0)
    return Records(
        Record(f"toy.{study}", cell, seed, values(cell, noise), diverged(seed))
        for cell in cells
        for seed in range(trials)
    )


def _stable_step(records: Records) -> tuple[Hypothesis, ...]:
    worst = max(r.cell.eta * r.cell.curvature for r in records)
    return (Hypothesis("step over curvature: eta lambda", worst, 1.0, "<="),)


def _large_dimension(records: Records) -> tuple[Hypothesis, ...]:
    smallest = min(r.cell.dimension for r in records)
    return (Hypothesis("d >= C log(1/delta)", smallest, np.log(100), ">=", "unknown"),)


ETAS = tuple(ToySettings(eta=2.0**-k) for k in (3, 4, 5, 6))
DIMENSIONS = tuple(ToySettings(dimension=d) for d in (500, 1000, 2000, 4000))

CLAIMS = (
    Claim(
        id="toy.lemma_1",
        title="Descent contracts by 1 - eta lambda a step",
        statement="Each step of descent multiplies the distance to the minimum by 1 - eta lambda.",
        measured="The factor per step over the stated one: 1 within 1e-12.",
        studies=("toy.descent",),
        measure=measure_factor,
        law=_factor_by_descent,
        hypotheses=_stable_step,
        controls=(Control("flow", "the flow's factor instead", law=_factor_by_flow), MIDPOINT),
        positive=lambda: _records(
            "descent", ETAS, lambda cell, _: {"factor": np.float64(_factor_by_descent(cell))}
        ),
        constants=(Constant("lambda", "given", 1.0),),
    ),
    Claim(
        id="toy.theorem_1",
        title="Descent is a first-order integrator of the flow",
        statement="The distance between descent and flow at a fixed time is of order eta.",
        measured="The exponent of the gap in eta: 1 within 0.1.",
        studies=("toy.descent",),
        measure=measure_exponent,
        law=("gap", "eta", 1.0),
        hypotheses=_stable_step,
        controls=(Control("second order", "exponent 2", law=("gap", "eta", 2.0)), MIDPOINT),
        positive=lambda: _records(
            "descent",
            ETAS,
            lambda cell, noise: {"gap": np.exp(0.01 * noise.normal()) * cell.eta},
        ),
    ),
    Claim(
        id="toy.theorem_2",
        title="A false statement: the starting point has squared norm 1.05 d",
        statement="The mean squared norm of the starting point is 1.05 d.",
        measured="The mean of |x(0)|^2 / d: 1.05 within 0.02. The truth is 1.",
        studies=("toy.start",),
        measure=measure_start,
        law=1.05,
        controls=(Control("twice as large", "2 d instead", law=2.0),),
        positive=lambda: _records(
            "start",
            DIMENSIONS,
            lambda cell, noise: {
                "start": np.sqrt(1.05 * cell.dimension) * (1 + 0.001 * noise.normal())
            },
        ),
        readings=(("largest d", "d is large"), ("every d", "for each d")),
    ),
    Claim(
        id="toy.theorem_3",
        title="A statement whose hypothesis fails",
        statement="For eta lambda <= 1 the factor per step is 1 - eta lambda.",
        measured="As lemma_1, with a step that is 1.5 times too long.",
        studies=("toy.overshoot",),
        measure=measure_factor,
        law=_factor_by_descent,
        hypotheses=_stable_step,
        controls=(Control("flow", "the flow's factor instead", law=_factor_by_flow),),
        positive=lambda: _records(
            "overshoot", ETAS, lambda cell, _: {"factor": np.float64(_factor_by_descent(cell))}
        ),
    ),
    Claim(
        id="toy.theorem_4",
        title="A statement with an unknown constant",
        statement="If d >= C log(1/delta), the norm of the starting point grows like sqrt d.",
        measured="The exponent of |x(0)| in d: 1/2 within 0.1; the constant is fitted.",
        studies=("toy.start",),
        measure=measure_exponent,
        law=("start", "dimension", 0.5),
        hypotheses=_large_dimension,
        controls=(Control("linear", "exponent 1", law=("start", "dimension", 1.0)),),
        positive=lambda: _records(
            "start",
            DIMENSIONS,
            lambda cell, noise: {"start": np.sqrt(cell.dimension) * (1 + 0.01 * noise.normal())},
        ),
        constants=(Constant("C in the hypothesis", "unknown"),),
    ),
    Claim(
        id="toy.theorem_5",
        title="A statement with runs that diverge",
        statement="With a random curvature at least 90 % of the runs converge.",
        measured="The share of runs that do not diverge, with Wilson's interval, against 0.9.",
        studies=("toy.random_curvature",),
        measure=measure_convergence,
        law=0.9,
        controls=(Control("99 %", "0.99 instead", law=0.99),),
        positive=lambda: _records(
            "random_curvature",
            (ToySettings(spread=1.0),),
            lambda cell, _: {},
            trials=400,
            diverged=lambda seed: "grew" if seed % 20 == 0 else "",
        ),
    ),
    Claim(
        id="toy.figure_1",
        title="The gap to the flow falls with the step",
        statement="The shorter the step, the nearer descent stays to the flow.",
        measured="Page's trend test over the step sizes; the share of falls.",
        studies=("toy.descent",),
        measure=measure_trend,
        law=1,
        controls=(Control("rising", "the opposite trend", law=-1),),
        positive=lambda: _records("descent", ETAS, lambda cell, _: {"gap": np.float64(cell.eta)}),
    ),
)
