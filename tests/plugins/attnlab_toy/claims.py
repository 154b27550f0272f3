"""The toy paper's statements: every kind and every outcome, each with its truth in its title."""

import math
from dataclasses import replace

from attnlab.claims import (
    Axis,
    Constant,
    Control,
    Fitted,
    Fixture,
    Hypothesis,
    Part,
    Reading,
    Route,
    Scalar,
    Source,
    Trivial,
)
from attnlab.core import Records
from attnlab.evidence.fixtures import step_trials
from attnlab.evidence.laws import AtMost, Between, Equal, Monotone, Power, Share
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.statement import statement
from attnlab.evidence.threshold_laws import Sufficient, Threshold
from attnlab_toy import scalars, theory
from attnlab_toy.settings import ToySettings
from attnlab_toy.studies import CURVATURES

MIDPOINT = Control("midpoint", "a second-order integrator", changes={"method": "midpoint"})
ROUNDING = Equal(0.0, 1e-12)
ROUNDING_WHY = "ours: a thousand steps of rounding"
NEEDED = 64 * math.log(100)


def _stable_step(records: Records) -> tuple[Hypothesis, ...]:
    return max((theory.stable_step(r.cell) for r in records), key=lambda rows: rows[0].value)


def _large_dimension(records: Records) -> tuple[Hypothesis, ...]:
    return min((theory.large_dimension(r.cell) for r in records), key=lambda rows: rows[0].value)


def _scaled(scalar: Scalar, factor: float, name: str) -> Scalar:
    return Scalar(name, lambda record: factor * scalar.of(record))


def _factor(cell: ToySettings, random) -> float:
    return theory.factor_by_descent(cell)


IDENTITIES = (
    statement(
        "toy.lemma_1",
        "identity",
        title="Descent contracts by 1 - eta lambda a step",
        statement="Each step of descent multiplies the distance to the minimum by 1 - eta lambda.",
        source=Source("1", "Lemma 1", 1),
        stated="1 - eta lambda",
        measured="The factor per step over the stated one, minus one, in every run.",
        why=ROUNDING_WHY,
        parts=(Part("factor", "descent", scalars.FACTOR_ERROR, ROUNDING),),
        controls=(
            Control("flow", "the flow's factor instead", "factor", scalar=scalars.FLOW_ERROR),
            MIDPOINT,
        ),
        positive={"factor": _factor},
        hypotheses=_stable_step,
        constants=(Constant("lambda", "given", 1.0),),
    ),
    statement(
        "toy.lemma_2",
        "identity",
        title="A false identity: the factor is too large by one part in 10^9",
        statement="Each step multiplies the distance by (1 - eta lambda)(1 + 1e-9).",
        source=Source("1", "Lemma 2", 1),
        stated="(1 - eta lambda)(1 + 1e-9)",
        measured="The factor per step over the stated one, minus one, in every run.",
        why=ROUNDING_WHY,
        parts=(Part("factor", "descent", scalars.PRINTED_ERROR, ROUNDING),),
        controls=(MIDPOINT, Control("flow", "the flow's", "factor", scalar=scalars.FLOW_ERROR)),
        positive={"factor": lambda cell, random: _factor(cell, random) * (1 + 1e-9)},
        hypotheses=_stable_step,
        routes=(Route("exact fractions", compute=theory.rational_factor),),
    ),
    statement(
        "toy.theorem_3",
        "identity",
        title="A statement whose hypothesis fails",
        statement="For eta lambda <= 1 the factor per step is 1 - eta lambda.",
        source=Source("1", "Theorem 3", 2),
        stated="1 - eta lambda",
        measured="As lemma_1, with a step that is 1.5 times too long.",
        why=ROUNDING_WHY,
        parts=(Part("factor", "overshoot", scalars.FACTOR_ERROR, ROUNDING),),
        controls=(
            Control("flow", "the flow's factor instead", "factor", scalar=scalars.FLOW_ERROR),
        ),
        positive={"factor": _factor},
        hypotheses=_stable_step,
    ),
)

BOUNDS = (
    statement(
        "toy.lemma_3",
        "bound",
        title="The gap is at most the sum of the local errors",
        statement="Descent and flow differ by at most eta lambda^2 T / 2 times the start.",
        source=Source("1", "Lemma 3", 1),
        stated="at most eta lambda^2 T / 2",
        measured="The gap over its bound, largest over runs and step sizes.",
        parts=(Part("gap", "descent", scalars.GAP_OVER_BOUND, AtMost(1.0)),),
        controls=(
            Control(
                "a quarter",
                "a quarter of the bound",
                "gap",
                scalar=_scaled(scalars.GAP_OVER_BOUND, 4.0, "gap over a quarter of the bound"),
            ),
        ),
        positive={"gap": lambda cell, random: theory.global_bound(cell) / 3},
        hypotheses=_stable_step,
        trivial=Trivial("1: neither path leaves the start's ball", scalars.BOUND),
    ),
    statement(
        "toy.lemma_4",
        "bound",
        title="A bound that says nothing",
        statement="Descent and flow differ by at most 1 + eta lambda times the start.",
        source=Source("1", "Lemma 4", 1),
        stated="at most 1 + eta lambda",
        measured="The gap over its bound, largest over runs and step sizes.",
        parts=(Part("gap", "descent", scalars.GAP_OVER_WEAK_BOUND, AtMost(1.0)),),
        controls=(
            Control(
                "a thousandth",
                "a thousandth of the bound",
                "gap",
                scalar=_scaled(
                    scalars.GAP_OVER_WEAK_BOUND, 1e3, "gap over a thousandth of the bound"
                ),
            ),
        ),
        positive={"gap": 0.1},
        hypotheses=_stable_step,
        trivial=Trivial(
            "1: neither path leaves the start's ball",
            scalars.WEAK_BOUND,
            search="eta lambda down to 0 in closed form: the bound falls to 1 and not below",
        ),
    ),
    statement(
        "toy.lemma_5",
        "bound",
        title="A false bound that one route alone shows to be false",
        statement="Descent and flow differ by at most eta lambda^2 T / 8 times the start.",
        source=Source("1", "Lemma 5", 1),
        stated="at most eta lambda^2 T / 8",
        measured="The gap over its bound, largest over runs and step sizes.",
        parts=(
            Part(
                "gap",
                "descent",
                _scaled(scalars.GAP_OVER_BOUND, 4.0, "gap over its bound"),
                AtMost(1.0),
            ),
        ),
        controls=(
            Control(
                "a quarter",
                "a quarter of the bound",
                "gap",
                scalar=_scaled(scalars.GAP_OVER_BOUND, 16.0, "gap over a quarter of the bound"),
            ),
        ),
        positive={"gap": lambda cell, random: theory.global_bound(cell) / 6},
        hypotheses=_stable_step,
        trivial=Trivial("1: neither path leaves the start's ball", scalars.BOUND),
    ),
)

SCALINGS = (
    statement(
        "toy.theorem_1",
        "scaling",
        title="Descent is a first-order integrator of the flow",
        statement="The distance between descent and flow at a fixed time is of order eta.",
        source=Source("1", "Theorem 1", 2),
        stated="exponent 1 in eta",
        measured="The exponent of the gap in eta.",
        why="ours: an order of accuracy is a whole number",
        parts=(Part("order", "descent", scalars.GAP, Power("eta", 1.0)),),
        controls=(Control("second order", "exponent 2", "order", law=Power("eta", 2.0)), MIDPOINT),
        hypotheses=_stable_step,
    ),
    statement(
        "toy.theorem_2",
        "scaling",
        title="A false statement: the starting point has squared norm 1.05 d",
        statement="The mean squared norm of the starting point is 1.05 d. The truth is d.",
        source=Source("2", "Theorem 2", 3),
        stated="1.05 d",
        measured="The mean of |x(0)|^2 / d.",
        why="ours: a fifth of what is added to d",
        parts=(
            Part("norm", "start", scalars.NORM, Equal(1.05, 0.01, "mean"), "every d"),
            Part(
                "norm at the largest d",
                "start",
                scalars.NORM,
                Equal(1.05, 0.01, "mean"),
                "largest d",
                cells=lambda cell: cell.dimension >= 20000,
            ),
        ),
        readings=(
            Reading("every d", "Theorem 2 says: for each d"),
            Reading("largest d", "section 2 lets d be large"),
        ),
        controls=(Control("twice as large", "2 d instead", law=Equal(2.0, 0.01, "mean")),),
        positive={
            "start": lambda cell, random: (
                math.sqrt(1.05 * cell.dimension) * (1 + 0.001 * random.normal())
            )
        },
        routes=(Route("other normal numbers", compute=theory.fresh_normals),),
        headline="The squared norm is {value} d {interval}, and {route} d by another generator.",
    ),
    statement(
        "toy.theorem_4",
        "scaling",
        title="A statement with an unknown constant",
        statement="If d >= C log(1/delta), the squared norm of the starting point grows like d.",
        source=Source("2", "Theorem 4", 3),
        stated="exponent 1 in d",
        measured="The exponent of |x(0)|^2 in d; its constant is fitted.",
        why="ours: an exponent of a half or two is far",
        parts=(Part("growth", "start", scalars.SQUARE, Power("dimension", 1.0)),),
        controls=(
            Control("quadratic", "exponent 2", "growth", law=Power("dimension", 2.0)),
            Control("the norm itself", "|x(0)|, not its square", "growth", scalar=scalars.START),
        ),
        positive={"start": lambda cell, random: math.sqrt(cell.dimension) + random.normal() / 10},
        hypotheses=_large_dimension,
        constants=(
            Constant("C in the hypothesis", "unknown"),
            Fitted("|x(0)|^2 / d", "start", scalars.NORM),
        ),
    ),
    statement(
        "toy.theorem_7",
        "scaling",
        title="A law that ends with the horizon",
        statement="The gap over the flow's distance is of order eta at any fixed time.",
        source=Source("1", "Theorem 7", 4),
        stated="exponent 1 in eta",
        measured="The exponent in eta, at T = 10 and at ten times that.",
        why="ours: an order of accuracy is a whole number",
        parts=tuple(
            Part(
                reading,
                "horizons",
                scalars.RELATIVE_GAP,
                Power("eta", 1.0, tolerance=0.2),
                reading,
                cells=lambda cell, T=T: cell.horizon == T,
                path=f"eta falls at T = {T:g}",
            )
            for reading, T in (("at the horizon", 10.0), ("at ten times the horizon", 100.0))
        ),
        readings=(
            Reading("at the horizon", "Theorem 7 takes T = 10"),
            Reading("at ten times the horizon", "any fixed time: a later one is as good"),
        ),
        controls=(replace(MIDPOINT, part="at the horizon"),),
        positive=Fixture(
            values={
                "gap": lambda cell, random: (
                    cell.eta * math.exp(0.02 * random.normal() - cell.horizon)
                )
            }
        ),
        hypotheses=_stable_step,
    ),
)

PROBABILITIES = (
    statement(
        "toy.theorem_5",
        "probability",
        title="A statement with runs that diverge",
        statement="With a random curvature at least 90 % of the runs converge. The truth is 76 %.",
        source=Source("3", "Theorem 5", 5),
        stated="probability at least 0.9",
        measured="The share of runs that end nearer than they began; one that diverged does not.",
        parts=(
            Part(
                "convergence",
                "random_curvature",
                scalars.LEFT,
                Share(AtMost(1.0), 0.9, exact=True, owner="paper"),
            ),
        ),
        controls=(
            Control(
                "99 %",
                "0.99 instead",
                "convergence",
                law=Share(AtMost(1.0), 0.99, exact=True, owner="paper"),
            ),
        ),
        positive=Fixture(
            values={
                "distance": lambda cell, random: float(random.uniform() > 0.97) * 2.0,
                "start": 1.0,
            },
            seeds=400,
        ),
        routes=(Route("the normal distribution", compute=theory.share_by_formula),),
    ),
    statement(
        "toy.theorem_6",
        "probability",
        title="The norm concentrates",
        statement="With probability at least 0.95, |x(0)|^2 / d lies within a third of 1.",
        source=Source("2", "Theorem 6", 3),
        stated="probability at least 0.95",
        measured="The share of runs, with its exact interval.",
        parts=(
            Part(
                "concentration",
                "start",
                scalars.NORM,
                Share(Between(2 / 3, 4 / 3), 0.95, exact=True, owner="paper"),
            ),
        ),
        controls=(
            Control(
                "a thousandth",
                "within a thousandth of 1",
                "concentration",
                law=Share(Between(0.999, 1.001), 0.95, exact=True, owner="paper"),
            ),
        ),
        positive={
            "start": lambda cell, random: math.sqrt(cell.dimension) * (1 + 0.02 * random.normal())
        },
    ),
)

DECAYS = tuple(ToySettings(curvature=rate, spread=0.2) for rate in (1.0, 0.5, 0.25, 0.125))
ASKED = Axis("1 / lambda", lambda cell: 1 / cell.curvature)

ARRIVAL_LAW = Threshold(Power(ASKED, 1.0, tolerance=0.2), size="horizon")

OTHERS = (
    statement(
        "toy.proposition_1",
        "sufficient",
        title="A time of order 1 / lambda suffices",
        statement="With T at least a constant over lambda a hundredth of the distance is left.",
        source=Source("3", "Proposition 1", 5),
        stated="T >= C / lambda",
        measured="The needed time over 1 / lambda on small curvatures, held out.",
        why="ours: more runs than not",
        parts=(Part("time", "decay", scalars.ARRIVED, Sufficient(ASKED, ASKED, size="horizon")),),
        controls=(
            Control(
                "independent of lambda",
                "the same time for every curvature",
                "time",
                law=Sufficient(Axis("a constant", lambda cell: 4.0), ASKED, size="horizon"),
            ),
        ),
        positive=Fixture(
            records=lambda: Records(
                replace(r, values={"start": 1.0, "distance": 1.0 - r["success"]})
                for r in step_trials(
                    "toy.decay", DECAYS, lambda cell: NEEDED / cell.curvature, size="horizon"
                )
            )
        ),
    ),
    statement(
        "toy.theorem_9",
        "scaling",
        title="The time to arrive goes like 1 / lambda",
        statement="The time after which a hundredth of the distance is left goes like 1 / lambda.",
        source=Source("3", "Theorem 9", 5),
        stated="exponent 1 in 1 / lambda",
        measured="The horizon at which half of the runs arrive, found by a sequential design.",
        why="ours: a fifth",
        parts=(
            Part("time", "arrival", scalars.ARRIVED, ARRIVAL_LAW, path="lambda from 1 to 1/32"),
        ),
        controls=(
            Control(
                "a square",
                "the time goes like lambda^-2",
                "time",
                law=Threshold(Power(ASKED, 2.0, tolerance=0.2), size="horizon"),
            ),
        ),
        positive=Fixture(
            records=lambda: Records(
                replace(r, values={"start": 1.0, "distance": 1.0 - r["success"]})
                for r in step_trials(
                    "toy.arrival", CURVATURES, lambda c: 5 / c.curvature, size="horizon"
                )
            )
        ),
    ),
    statement(
        "toy.figure_1",
        "figure",
        title="The gap to the flow falls with the step",
        statement="The shorter the step, the nearer descent stays to the flow.",
        source=Source("1", "Figure 1", 2),
        stated="the gap falls with eta",
        measured="Page's trend test over the step sizes.",
        why="ours: a usual p-value",
        parts=(Part("trend", "descent", scalars.GAP, Monotone("eta")),),
        controls=(Control("the factor", "which rises", "trend", scalar=scalars.FACTOR),),
        positive={"factor": lambda cell, random: 1 - cell.eta},
        hypotheses=_stable_step,
    ),
    statement(
        "toy.remark_1",
        "remark",
        title="A short step stays nearer than a long one",
        statement="With eta = 1/256 descent stays much nearer to the flow than with eta = 1/8.",
        source=Source("1", "", 2),
        stated="a smaller gap",
        measured="The gap at eta = 1/256 over that at 1/8, mean over pairs of seeds.",
        why="ours: one is no effect, and a half is far from it",
        parts=(
            Part(
                "gap",
                "descent",
                scalars.GAP,
                Paired("eta", 2.0**-8, 2.0**-3, AtMost(0.5, owner="ours", trivial=1.0)),
            ),
        ),
        controls=(Control("the factor", "which does not", "gap", scalar=scalars.FACTOR),),
        positive={
            "factor": lambda cell, random: 1 - cell.eta,
            "gap": lambda cell, random: cell.eta * math.exp(0.1 * random.normal()),
        },
        hypotheses=_stable_step,
    ),
    statement(
        "toy.theorem_8",
        "remark",
        title="A statement that depends on how it is read",
        statement="The starting point's squared norm is close to d: within 20 %, or within 5.",
        source=Source("2", "Theorem 8", 3),
        stated="close to d",
        measured="The share of runs that are close.",
        why="ours: nearly all runs; the paper does not say how close",
        parts=(
            Part(
                "relative", "start", scalars.RELATIVE_DEVIATION, Share(AtMost(0.2)),
                "in units of d",
            ),
            Part("absolute", "start", scalars.DEVIATION, Share(AtMost(5.0)), "in units of 1"),
        ),
        readings=(
            Reading("in units of d", "Theorem 8 divides by d"),
            Reading("in units of 1", "its proof does not"),
        ),
        controls=(
            Control("a thousandth", "much closer", "relative", law=Share(AtMost(0.001))),
        ),
        positive={
            "start": lambda cell, random: math.sqrt(cell.dimension + random.normal()),
        },
    ),
    statement(
        "toy.finding_1",
        "finding",
        title="The gap's constant is 1 / 2e",
        statement="At time 1 the gap is eta / (2 e) to first order.",
        source=Source(""),
        stated="1 / (2 e) = 0.184",
        measured="The mean of the gap over eta.",
        why="ours: eta = 1/8 adds a tenth",
        parts=(
            Part(
                "constant",
                "descent",
                scalars.GAP_PER_STEP_SIZE,
                Equal(0.5 / math.e, 0.03, "mean"),
            ),
        ),
        controls=(MIDPOINT, Control("1 / e", "twice that", law=Equal(1 / math.e, 0.03, "mean"))),
        positive={"gap": lambda cell, random: cell.eta * (0.5 / math.e + 0.01 * random.normal())},
        hypotheses=_stable_step,
    ),
)  # fmt: skip

CLAIMS = (*IDENTITIES, *BOUNDS, *SCALINGS, *PROBABILITIES, *OTHERS)
