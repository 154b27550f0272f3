"""Statements with truths: what is drawn, and which verdicts would be wrong."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnlab.claims import (
    Axis,
    Claim,
    Control,
    Finding,
    Fixture,
    Kind,
    Law,
    Outcome,
    Part,
    Reading,
    Route,
    Scalar,
    Source,
    Tally,
    Trivial,
    UniverseOutcome,
)
from attnlab.core import Record, Records
from attnlab.evidence.court import judge
from attnlab.evidence.laws import (
    AtLeast,
    AtMost,
    Between,
    Monotone,
    Power,
    Rate,
    Share,
    Straight,
    stored,
)
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.statement import statement
from attnlab.evidence.threshold_laws import Prefers, Sufficient, Threshold, ThresholdRatio
from attnlab.evidence.universes import Factor, Universe, opposite_neighbours, sample, tally


@dataclass(frozen=True)
class Cell:
    """A cell of a synthetic study."""

    x: float = 1.0
    N: int = 1
    arm: str = "other"


@dataclass(frozen=True)
class Truth:
    """One truth of a case: a name, the effect that is drawn, the verdicts that would be wrong."""

    name: str
    effect: float
    wrong: tuple[str, ...]


@dataclass(frozen=True)
class Case:
    """A statement with its truths. `draw(effect, random)` makes the records of one repetition."""

    name: str
    claim: Claim
    draw: Callable[[float, np.random.Generator], Records]
    truths: tuple[Truth, ...]
    cost: int = 1
    """Repetitions are divided by it."""
    universes: Callable[[float, np.random.Generator], Tally] | None = None

    def verdict(self, effect: float, random: np.random.Generator) -> Outcome:
        """The verdict on one repetition."""
        records = self.draw(effect, random)
        tallied = self.universes(effect, random) if self.universes else None
        return judge(self.claim, records, {}, scale="smoke", universes=tallied).outcome


# --- statements -------------------------------------------------------------------------------

VALUE = stored("value", "value")
WON = stored("won", "success")
X = Axis("x", lambda cell: cell.x)
ROUTE = Route("agrees", compute=lambda records: Finding("contradicted"))


def claim(kind: Kind, parts: Sequence[Part] | Law, scalar: Scalar = VALUE, **options: Any) -> Claim:
    """A statement with a control that is always rejected and a route that always agrees."""
    if not isinstance(parts, Sequence):
        parts = (Part("part", "study", scalar, parts),)
    # 40 runs of which none satisfies the law: rejected whatever the records are.
    reject = Control("nothing", "no run has the value", law=_Never(), part=parts[0].name)
    return statement(
        "trial.claim",
        kind,
        title="",
        statement="",
        source=Source("1"),
        stated="",
        measured="",
        why="chosen before any record is drawn",
        parts=parts,
        controls=(reject,),
        routes=(ROUTE,),
        positive=Fixture(),
        **({"trivial": Trivial("none here")} if kind == "bound" else {}) | options,
    )


class _Never:
    owner = "paper"
    estimated = False

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        return Finding("contradicted")

    def cutoff(self) -> str:
        return "never"

    def moved(self, factor: float) -> "_Never":
        return self

    def example(self, cell: Any) -> float:
        return 0.0


def runs(values: Sequence[float], cells: Sequence[Cell] | None = None) -> Records:
    """Records of one study, one value each."""
    cells = cells or [Cell()] * len(values)
    return Records(
        Record("trial.study", cell, seed, {"value": v})
        for seed, (cell, v) in enumerate(zip(cells, values, strict=True))
    )


def grid(levels: Sequence[float], seeds: int, value: Callable[[float], float]) -> Records:
    """A record per level and seed."""
    return Records(
        Record("trial.study", Cell(x), seed, {"value": value(x)})
        for x in levels
        for seed in range(seeds)
    )


def trials(
    needed: Callable[[float], float],
    random: np.random.Generator,
    levels: Sequence[float] = (1, 2, 4, 8, 16, 32),
    seeds: int = 6,
    arms: Sequence[tuple[str, float]] = (("other", 1.0),),
) -> Records:
    """Successes with a logistic chance around the needed size, on a grid of sizes."""
    made = []
    for x in levels:
        for arm, factor in arms:
            middle = needed(x) * factor
            # The grid does not know the truth: it is placed with an error of up to 40 %.
            centre = middle * math.exp(random.uniform(-0.35, 0.35))
            for size in np.unique(np.geomspace(centre / 8, centre * 8, 11).round().astype(int)):
                chance = 1 / (1 + (middle / size) ** 6)
                won = random.uniform(size=seeds) < chance
                cell = Cell(x, int(size), arm)
                made += [
                    Record("trial.study", cell, seed, {"won": float(w)})
                    for seed, w in enumerate(won)
                ]
    return Records(made)


SUPPORTED, CONTRADICTED, BOTH = ("supported",), ("contradicted",), ("supported", "contradicted")


def truths(true: float, edge: float, little: float, lot: float) -> tuple[Truth, ...]:
    """The usual four."""
    return (
        Truth("true", true, CONTRADICTED),
        Truth("at the edge", edge, BOTH),
        Truth("false by a little", little, SUPPORTED),
        Truth("false by a lot", lot, SUPPORTED),
    )


def skewed(random: np.random.Generator, size: int) -> np.ndarray:
    """Noise of mean 0, standard deviation 0.53 and skewness 1.75: log-normal."""
    return np.exp(0.5 * random.normal(size=size)) - math.exp(0.125)


# --- cases ------------------------------------------------------------------------------------


def levels_cases() -> list[Case]:
    """Laws of a level: every run, mean, median."""

    def worst(share: float, random: np.random.Generator) -> Records:
        return runs(np.where(random.uniform(size=60) < share, 1.01, random.uniform(size=60)))

    def error(size: float, random: np.random.Generator) -> Records:
        return runs(size + 1e-13 * random.normal(size=12))

    def middle(n: int, skew: bool = False, median: bool = False):
        def draw(effect: float, random: np.random.Generator) -> Records:
            noise = skewed(random, n) if skew else 0.5 * random.normal(size=n)
            noise = noise + (math.exp(0.125) - 1 if skew and median else 0.0)
            return runs(effect + noise)

        return draw

    every = (
        Truth("true", 0.0, CONTRADICTED),
        Truth("false in 1 run of 10", 0.1, SUPPORTED),
        Truth("false in every run", 1.0, SUPPORTED),
    )
    identity = (
        Truth("true", 0.0, CONTRADICTED),
        Truth("false by a little", 1e-11, SUPPORTED),
        Truth("false by a lot", 1e-3, SUPPORTED),
    )
    near = truths(0.2, 1.0, 1.25, 2.0)
    both = truths(0.0, 1.0, 1.25, 2.0)
    band = Between(-1.0, 1.0, "mean")
    return [
        Case("Equal in every run", claim("identity", Between(-1e-12, 1e-12)), error, identity),
        Case("AtMost in every run, 60 runs", claim("bound", AtMost(1.0)), worst, every),
        Case("AtMost, mean of 8", claim("remark", AtMost(1.0, "mean")), middle(8), near),
        Case(
            "AtMost, mean of 20, skewed",
            claim("remark", AtMost(1.0, "mean")),
            middle(20, True),
            near,
        ),
        Case("Between, mean of 8", claim("finding", band), middle(8), both),
        Case(
            "AtLeast, median of 8",
            claim("remark", AtLeast(-1.0, "median")),
            lambda effect, random: middle(8, True, True)(-effect, random),
            near,
        ),
        Case(
            "AtMost, median of 20",
            claim("remark", AtMost(1.0, "median")),
            middle(20, True, True),
            near,
        ),
    ]


def share_cases() -> list[Case]:
    """Laws of a share of runs."""

    def draw(n: int):
        return lambda p, random: runs((random.uniform(size=n) > p).astype(float))

    def pooled(p: float, random: np.random.Generator) -> Records:
        return runs(random.binomial(50, p, size=8), [Cell(N=50)] * 8)

    most = AtMost(0.5)
    return [
        Case("Share .9 of 40", claim("remark", Share(most, 0.9, owner="paper")), draw(40),
             truths(0.99, 0.9, 0.8, 0.5)),
        Case("Share .5 of 4", claim("remark", Share(most, 0.5, owner="paper")), draw(4),
             truths(0.9, 0.5, 0.3, 0.05)),
        Case("Share .99 of 17", claim("remark", Share(most, 0.99, owner="paper")), draw(17),
             truths(0.999, 0.99, 0.9, 0.5)),
        Case("Share .99 of 300, exact",
             claim("probability", Share(most, 0.99, exact=True, owner="paper")), draw(300),
             truths(0.9999, 0.99, 0.97, 0.9)),
        Case("Rate .9 of 400", claim("probability", Rate("N", 0.9, owner="paper")), pooled,
             truths(0.95, 0.9, 0.87, 0.7)),
    ]  # fmt: skip


def axis_cases() -> list[Case]:
    """Laws along an axis."""
    xs = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

    def power(seeds: int, spread: float, wobble: float = 0.0):
        def draw(exponent: float, random: np.random.Generator) -> Records:
            shift = {x: wobble * random.normal() for x in xs}
            return grid(
                xs, seeds, lambda x: x**exponent * math.exp(shift[x] + spread * random.normal())
            )

        return draw

    def curve(c: float, random: np.random.Generator) -> Records:
        return grid(range(1, 9), 4, lambda x: (1 - c) * x + c * x**6 / 8**5 + 0.1 * random.normal())

    def trend(slope: float, random: np.random.Generator) -> Records:
        return grid((1, 2, 3, 4), 8, lambda x: slope * x + random.normal())

    # The curvature at which R^2 of the exact curve is .95.
    bent = _bent(0.95)
    equal = Power("x", 1.0, tolerance=0.1, owner="paper")
    flat = (
        Truth("true", 0.7, CONTRADICTED),
        Truth("barely true", 0.02, CONTRADICTED),
        Truth("flat", 0.0, SUPPORTED),
        Truth("falling", -0.7, SUPPORTED),
    )
    return [
        Case("Power, 7 levels of 4", claim("scaling", equal), power(4, 0.15),
             truths(1.0, 1.1, 1.15, 1.5)),
        Case("Power, levels off the law", claim("scaling", equal), power(20, 0.1, 0.1),
             truths(1.0, 1.1, 1.15, 1.5)),
        Case("Power, at most", claim("scaling", Power("x", 1.0, "at_most", 0.1, owner="paper")),
             power(4, 0.3), truths(0.8, 1.1, 1.15, 1.5)),
        Case("Straight, 8 levels of 4", claim("remark", Straight("x", owner="paper")), curve,
             truths(0.0, bent, 1.1 * bent, 1.0)),
        Case("Monotone, 4 levels of 8", claim("figure", Monotone("x")), trend, flat),
    ]  # fmt: skip


def _bent(least: float) -> float:
    from scipy.optimize import brentq

    x = np.arange(1, 9.0)

    def excess(c: float) -> float:
        return np.corrcoef(x, (1 - c) * x + c * x**6 / 8**5)[0, 1] ** 2 - least

    return float(brentq(excess, 0.0, 1.0))


def paired_cases() -> list[Case]:
    """Laws of pairs of runs."""

    def pairs(n: int, a: Callable, b: Callable):
        def draw(effect: float, random: np.random.Generator) -> Records:
            common = random.normal(size=n)
            first, second = a(effect, common, random), b(effect, common, random)
            cells = [Cell(arm="ours")] * n + [Cell()] * n
            return Records(
                Record("trial.study", cell, k % n, {"value": v})
                for k, (cell, v) in enumerate(zip(cells, (*first, *second), strict=True))
            )

        return draw

    def noisy(e: float, common: np.ndarray, random: np.random.Generator) -> np.ndarray:
        return np.exp(common + 0.3 * random.normal(size=common.size))

    def paired(inside, statistic) -> Claim:
        return claim("remark", Paired("arm", "ours", "other", inside, statistic))

    def spread(e: float, common: np.ndarray, random: np.random.Generator) -> np.ndarray:
        return np.exp(e * random.normal(size=common.size))

    def same(e: float, common: np.ndarray, random: np.random.Generator) -> np.ndarray:
        return (random.uniform(size=common.size) < e).astype(float)

    return [
        Case("Paired ratio, 8 pairs", paired(AtMost(0.8), "ratio"),
             pairs(8, lambda e, *more: e * noisy(e, *more), noisy),
             truths(0.5, 0.8, 0.9, 1.5)),
        Case("Paired difference, 8 pairs", paired(AtMost(1.0), "difference"),
             pairs(8, lambda e, c, r: c + e + 0.5 * r.normal(size=8), lambda e, c, r: c),
             truths(0.2, 1.0, 1.2, 2.0)),
        Case("Paired spread, 12 pairs", paired(AtMost(0.5), "spread"),
             pairs(12, spread, lambda e, *more: spread(1.0, *more)),
             truths(0.2, 0.5, 0.7, 2.0), 2),
        Case("Paired agreement, 20 pairs", paired(AtLeast(0.9), "agreement"),
             pairs(20, same, lambda e, c, r: np.ones(c.size)),
             truths(0.99, 0.9, 0.8, 0.3)),
    ]  # fmt: skip


def threshold_cases() -> list[Case]:
    """Laws of N50 and of what suffices."""
    power = Power("x", 1.0, tolerance=0.15, owner="paper")
    ratio = ThresholdRatio("arm", "ours", "other", X, Between(1.0, 4.0))
    stated, rival = Axis("x", lambda c: c.x), Axis("x^1.25", lambda c: c.x**1.25)
    # Held-out runs within a factor of two of the boundary cannot see a growth of x^0.1.
    more = (Truth("true", 0.0, CONTRADICTED), Truth("below the resolution", 0.1, ()),
            Truth("false by a little", 0.2, SUPPORTED),
            Truth("false by a lot", 0.5, SUPPORTED))  # fmt: skip
    return [
        Case("Threshold of Power", claim("scaling", Threshold(power), WON),
             lambda e, random: trials(lambda x: 40 * x**e, random),
             truths(1.0, 1.15, 1.25, 1.6), 5),
        Case("ThresholdRatio", claim("remark", ratio, WON),
             lambda e, random: trials(
                 lambda x: 40 * x, random, (1, 2, 4, 8), arms=(("ours", e), ("other", 1.0))),
             truths(2.0, 4.0, 4.6, 8.0), 5),
        Case("Prefers x to x^1.25", claim("finding", Prefers(stated, (rival,)), WON),
             lambda e, random: trials(lambda x: 40 * x**e, random, (1, 2, 4, 8, 16)),
             (Truth("true", 1.0, CONTRADICTED), Truth("halfway", 1.125, BOTH),
              Truth("the rival is true", 1.25, SUPPORTED)), 5),
        Case("Sufficient", claim("sufficient", Sufficient(X, X), WON),
             lambda e, random: trials(lambda x: 40 * x ** (1 + e), random), more, 5),
    ]  # fmt: skip


def court_cases() -> list[Case]:
    """What the court makes of several parts, of readings and of bounds that say nothing."""
    names = ("first", "second", "third", "fourth")

    def part(name: str, reading: str = "") -> Part:
        return Part(name, "study", stored(name, name), AtMost(1.0, "mean"), reading)

    def draw(*means: Callable[[float], float]):
        def several(effect: float, random: np.random.Generator) -> Records:
            return Records(
                Record("trial.study", Cell(), seed, {
                    name: mean(effect) + 0.5 * random.normal()
                    for name, mean in zip(names, means, strict=False)
                })
                for seed in range(8)
            )  # fmt: skip

        return several

    def same(effect: float) -> float:
        return effect

    two = (Reading("A", "the one sentence"), Reading("B", "the other sentence"))
    readings = claim("remark", (part("first", "A"), part("second", "B")), readings=two)

    def bound(effect: float, random: np.random.Generator) -> Records:
        ratio = effect * (1 + random.uniform(size=20))
        return Records(
            Record("trial.study", Cell(), seed, {"value": random.uniform(), "ratio": r})
            for seed, r in enumerate(ratio)
        )

    search = Trivial("1", stored("ratio", "bound"), search="20 instances")
    vacuous = (
        Truth("informative", 0.1, ("contradicted", "vacuous")),
        Truth("vacuous", 1.0, BOTH),
    )
    return [
        Case("four parts", claim("remark", [part(n) for n in names]), draw(*[same] * 4),
             truths(0.2, 1.0, 1.25, 2.0)),
        Case("four parts, one fails", claim("remark", [part(n) for n in names]),
             draw(same, *[lambda e: 0.2] * 3), truths(0.2, 1.0, 1.25, 2.0)),
        Case("two readings that agree", readings, draw(same, same),
             tuple(Truth(t.name, t.effect, (*t.wrong, "depends"))
                   for t in truths(0.2, 1.0, 1.25, 2.0))),
        Case("two readings that differ", readings, draw(same, lambda e: 0.0),
             tuple(Truth(t.name, t.effect, t.wrong) for t in (
                 Truth("both true", 0.2, ("contradicted", "depends")),
                 Truth("one at the edge", 1.0, (*BOTH, "depends")),
                 Truth("one false by a little", 1.25, BOTH),
                 Truth("one false by a lot", 2.0, BOTH)))),
        Case("AtMost, with a trivial bound", claim("bound", AtMost(1.0), trivial=search), bound,
             vacuous),
    ]  # fmt: skip


def universe_cases() -> list[Case]:
    """A remark over 8 universes of two open choices, one of which may decide it."""
    factors = (
        Factor("step", "small", ("large",)),
        Factor("start", "zero", ("small", "normal", "large")),
    )
    worlds = sample(factors, 8)
    law, kind = AtMost(1.0, "mean"), "remark"

    def outcome(mean: float, random: np.random.Generator) -> UniverseOutcome:
        found = law.judge(runs(mean + 0.5 * random.normal(size=8)), VALUE, 0.95).outcome
        return found if found in ("supported", "contradicted") else "undecided"

    def tallied(means: Callable[[float, Universe], float]):
        def draw(effect: float, random: np.random.Generator) -> Tally:
            outcomes = [outcome(means(effect, world), random) for world in worlds]
            confirmed = [
                (a, b)
                for a, b, _ in opposite_neighbours(factors, worlds, outcomes)
                if all(outcome(means(effect, worlds[k]), random) == outcomes[k] for k in (a, b))
            ]
            return tally(factors, worlds, outcomes, confirmed)

        return draw

    def designed(effect: float, random: np.random.Generator) -> Records:
        return runs(0.2 + 0.5 * random.normal(size=8))

    everywhere = tallied(lambda effect, world: effect)
    at_large = tallied(lambda effect, world: effect if "step" in world.changes else 0.0)
    never = ("supported", "contradicted")
    return [
        Case("8 universes that agree", claim(kind, law), designed,
             tuple(Truth(t.name, t.effect, (*t.wrong, "depends"))
                   for t in truths(0.0, 1.0, 1.25, 2.0)), universes=everywhere),
        Case("8 universes, a choice decides", claim(kind, law), designed,
             (Truth("it does not", 0.0, ("contradicted", "depends")),
              Truth("false at one level", 2.0, never)), universes=at_large),
    ]  # fmt: skip


def cases() -> list[Case]:
    """All cases, in the order of the table."""
    return [
        *levels_cases(), *share_cases(), *axis_cases(), *paired_cases(), *threshold_cases(),
        *court_cases(), *universe_cases(),
    ]  # fmt: skip
