"""Appendices G and H: the softmax's remainder and the tail of Gaussian vectors."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Constant, Control, Effect, Measurement, Reading, Record, Records
from attnlab.evidence.intervals import clopper_pearson, decide_at_most
from attnlab.evidence.multiplicity import combine_outcomes, simultaneous_level
from attnlab.papers.yang2024.auxiliary_settings import SoftmaxSettings, TailSettings
from attnlab.papers.yang2024.claims.builders import ExponentLaw, measure_exponent

SOFTMAX = ExponentLaw("remainder", "size", 2.0, "at_least")
SIZES = (0.003, 0.01, 0.03, 0.1)
IMPLIED = "constant: remainder / |epsilon|^2"


def measure_remainder(records: Records, law: ExponentLaw) -> Measurement:
    """The exponent of the remainder in the size of the perturbation, and the constant."""
    found = measure_exponent(records, law)
    ratios = [float(r[law.scalar]) / r.cell.size**2 for r in records]
    constant = Constant(IMPLIED, "fitted", float(np.median(ratios)), min(ratios), max(ratios))
    return Measurement(found.readings, (constant,))


def remainders() -> Records:
    """Runs with a quadratic remainder."""
    noise = np.random.default_rng(0)
    return Records(
        Record(
            "yang2024.softmax",
            SoftmaxSettings(size=size),
            seed,
            {"remainder": 0.2 * size**2 * np.exp(0.02 * noise.normal())},
        )
        for size in SIZES
        for seed in range(10)
    )


@dataclass(frozen=True)
class TailLaw:
    """The bound is exceeded with probability at most delta; `factor` multiplies the bound."""

    factor: float = 1.0


def measure_tails(records: Records, law: TailLaw) -> Measurement:
    """The exceedance rates, by dimension and delta, at simultaneous 95 %."""
    cells = sorted({r.cell for r in records}, key=lambda cell: (cell.m, -cell.delta))
    level = simultaneous_level(2 * len(cells))
    found = []
    for name in ("norms", "products"):
        for cell in cells:
            ratios = Records(r for r in records if r.cell == cell).column(name).ravel()
            rate = clopper_pearson(int((ratios >= law.factor).sum()), ratios.size, level=level)
            effect = Effect.of("failure rate over delta", rate)
            effect = Effect(
                effect.name, *(x / cell.delta for x in (effect.value, effect.low, effect.high))
            )
            outcome = decide_at_most(effect.low, effect.high, 1.0)
            found.append(Reading(f"{name}, m={cell.m}, delta={cell.delta:g}", outcome, effect))
    outcome = combine_outcomes([reading.outcome for reading in found])
    decisive = [reading for reading in found if reading.outcome == outcome]
    worst = max(decisive, key=lambda r: r.effect.high if r.effect else 0.0)
    whole = Reading("all", outcome, worst.effect, f"the worst is {worst.name}")
    return Measurement((whole, *found))


def tails() -> Records:
    """Runs whose failure rate is a tenth of delta."""
    ratios = np.concatenate([np.full(2, 1.1), np.full(1998, 0.6)])
    return Records(
        Record("yang2024.tails", TailSettings(m=m), seed, {"norms": ratios, "products": ratios})
        for m in (16, 128)
        for seed in range(2)
    )


AUXILIARY = (
    Claim(
        id="yang2024.lemma_g2",
        title="Perturbation of the softmax",
        statement=(
            "A small change epsilon of the scores changes the softmax by its Jacobian "
            "diag(p) - p p^T times epsilon, up to a remainder of order |epsilon|^2."
        ),
        measured=(
            "The largest norm of the remainder over random scores and directions: its exponent in "
            "|epsilon|, over sizes from 0.003 to 0.1, is supported if its interval begins above "
            "1.9 and contradicted if it ends below."
        ),
        studies=("yang2024.softmax",),
        measure=measure_remainder,
        law=SOFTMAX,
        controls=(
            Control(
                "diagonal Jacobian",
                "the derivative without p p^T",
                changes={"jacobian": "diagonal"},
            ),
            Control(
                "third order",
                "a remainder of order |epsilon|^3",
                law=ExponentLaw("remainder", "size", 3.0, "at_least"),
            ),
        ),
        positive=remainders,
        constants=(Constant(IMPLIED, "fitted"),),
    ),
    Claim(
        id="yang2024.lemma_h2",
        title="Tails of norms and products of Gaussian vectors",
        statement=(
            "For independent vectors w1, w2 from N(0, I/m), each of the events "
            "| |w1|^2 - 1 | >= b and |<w1, w2>| >= b has probability at most delta, with "
            "b = sqrt(4 log(2/delta)/m) + 4 log(2/delta)/m."
        ),
        measured=(
            "The rate of each event for several m and delta, with exact intervals at simultaneous "
            "95 %, over delta: supported if all end below 1, contradicted if one begins above."
        ),
        studies=("yang2024.tails",),
        measure=measure_tails,
        law=TailLaw(),
        controls=(Control("bound over 2", "half of the bound", law=TailLaw(0.5)),),
        positive=tails,
        readings=(("all", "every event at every m and delta"),),
    ),
)
