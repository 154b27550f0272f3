"""The nouns of the court: claims and their parts, laws, readings, controls, hypotheses, verdicts.

All are frozen dataclasses, and nothing here imports jax, trains or draws. A claim is data: the
laws and the evaluation are in `attnlab.evidence`, and `evidence.statement` builds claims.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol

from attnlab.core import Cell, ConstantKind, OfCell, Record, Records, SettingValue
from attnlab.core import Hypothesis as Hypothesis

if TYPE_CHECKING:
    from numpy.random import Generator
    from numpy.typing import ArrayLike

    from attnlab.evidence.intervals import Interval

    FixtureValue = ArrayLike | Callable[[Any, Generator], ArrayLike]

Outcome = Literal[
    "supported", "contradicted", "depends", "vacuous", "inconclusive", "not_applicable"
]
Kind = Literal[
    "identity", "bound", "sufficient", "scaling", "probability", "figure", "remark", "finding"
]
Owner = Literal["paper", "ours"]

NEWS_FIRST: tuple[Outcome, ...] = (
    "contradicted", "depends", "vacuous", "inconclusive", "not_applicable", "supported",
)  # fmt: skip
"""The order in which verdicts are shown."""


# --- what is stated ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
    """Where the paper says it: section, the number of the statement or equation, page."""

    section: str
    number: str = ""
    page: int | None = None

    def __str__(self) -> str:
        parts = [f"section {self.section}" if self.section else "", self.number]
        parts += [f"page {self.page}"] if self.page else []
        return ", ".join(part for part in parts if part)


@dataclass(frozen=True)
class Scalar:
    """A number of one record, named in words; a pure function that the court evaluates.

    `exact` says why it may be the same in every run (rule 5): without a reason, a scalar that
    is equal over a claim's records and those of all its controls is a defect.
    """

    name: str
    of: Callable[[Record], float]
    exact: str = ""
    key: str = ""
    """The record's value that it reads, if it reads one as it stands (for fixtures)."""


@dataclass(frozen=True)
class Axis:
    """What a scalar is looked at along: a function of the cell, named in words."""

    name: str
    of: OfCell[float]


@dataclass(frozen=True)
class Effect:
    """The number on which an outcome rests, with its interval; an exact value has none."""

    name: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, name: str, interval: "Interval") -> "Effect":
        """An effect from its interval."""
        return cls(name, float(interval.value), float(interval.low), float(interval.high))

    @classmethod
    def exactly(cls, name: str, value: float) -> "Effect":
        """An effect that nothing estimates: the worst of all runs, say."""
        return cls(name, float(value), float(value), float(value))

    @property
    def exact(self) -> bool:
        """Whether there is no interval to show."""
        return self.low == self.value == self.high


@dataclass(frozen=True)
class Finding:
    """What a law says of some runs."""

    outcome: Outcome
    effect: Effect | None = None
    detail: str = ""


class Law(Protocol):
    """What a part says of a scalar: see `attnlab.evidence.laws`."""

    @property
    def owner(self) -> Owner:
        """Who chose the cutoff."""
        ...

    @property
    def estimated(self) -> bool:
        """Whether the outcome rests on an interval, which can miss by chance."""
        ...

    def judge(self, runs: Sequence[Record], scalar: Scalar, level: float) -> Finding:
        """The outcome on these runs, with intervals at `level`."""
        ...

    def cutoff(self) -> str:
        """The decision line in words, e.g. `within 2 ± 0.5`."""
        ...

    def moved(self, factor: float) -> "Law":
        """The same with every cutoff of ours moved by a factor in its distance to the trivial."""
        ...

    def example(self, cell: Cell) -> float:
        """A value of the scalar on which the law holds, for the positive fixture."""
        ...


@dataclass(frozen=True)
class Part:
    """One part of a statement: a scalar of a study's runs and the law that it obeys.

    `reading` names the reading to which it belongs (empty: all of them). `cells` picks the path
    of cells that the part looks along, and `path` says it in words.
    """

    name: str
    study: str
    scalar: Scalar
    law: Law
    reading: str = ""
    cells: OfCell[bool] = lambda cell: True
    path: str = ""
    whole_range: str = ""
    """Why a scaling part may span less than 1.5 decades: it is all that is admissible."""
    beside: tuple[str, ...] = ()
    """Further studies, with whose runs the law compares those of the study."""

    @property
    def studies(self) -> tuple[str, ...]:
        """The ids of the studies whose runs it reads."""
        return (self.study, *self.beside)


@dataclass(frozen=True)
class Reading:
    """One way to read a statement, and the place of the paper that permits or excludes it.

    An *aside* is shown and never decides.
    """

    name: str
    why: str
    allowed: bool = True


@dataclass(frozen=True)
class Control:
    """A case which the named part's law, gate off, must call contradicted.

    Either the study is changed (`changes`: settings, e.g. attention frozen) or the part's law or
    scalar is replaced (the printed erratum, a wrong exponent), or both. Without a part, every
    part of the allowed readings is judged and one that is contradicted rejects the control.
    """

    name: str
    description: str
    part: str = ""
    changes: Mapping[str, SettingValue] = field(default_factory=dict)
    law: Law | None = None
    scalar: Scalar | None = None


@dataclass(frozen=True)
class Trivial:
    """What a bound must beat to say something, e.g. the loss at the start.

    `ratio` is bound over trivial bound in a run: below 1 the bound is informative there. Without
    a ratio there is no trivial bound, and `name` says why. `search` says how an informative
    instance was looked for, and with which budget; without it nothing is called vacuous.
    """

    name: str
    ratio: Scalar | None = None
    study: str = ""
    search: str = ""


@dataclass(frozen=True)
class Route:
    """A second computation of what contradicts a claim, sharing no code with the first.

    Either `compute` (from the claim's records, in plain numpy or mpmath) or a study variant
    (`changes`, e.g. another engine) on which the `part`'s law is judged, if given with another
    scalar.
    """

    name: str
    compute: Callable[[Records], Finding] | None = None
    part: str = ""
    changes: Mapping[str, SettingValue] = field(default_factory=dict)
    scalar: Scalar | None = None


@dataclass(frozen=True)
class Fixture:
    """Synthetic records on which a statement holds.

    By default every stored scalar takes the example of its part's law on the cells of scale
    quick; `values` overrides: numbers, arrays, or functions of the cell and a random generator.
    `cells` replaces a study's cells; `records` makes everything by hand.
    """

    values: "Mapping[str, FixtureValue]" = field(default_factory=dict)
    seeds: int = 40
    noise: float = 0.02
    cells: Mapping[str, tuple[Cell, ...]] = field(default_factory=dict)
    records: Callable[[], Records] | None = None


# --- hypotheses -------------------------------------------------------------------------------


@dataclass(frozen=True)
class Assumption:
    """An assumption, condition or definition: rows of the paper's hypothesis table.

    Not a claim: it is not judged, it is looked up. `rows` computes it from the settings of one
    cell, or gives nothing where the cell does not concern it.
    """

    id: str
    title: str
    statement: str
    source: Source
    rows: OfCell[tuple[Hypothesis, ...]]
    notes: str = ""


@dataclass(frozen=True)
class HypothesisTable:
    """The assumptions of a paper, and the settings that the paper itself uses, by place."""

    assumptions: tuple[Assumption, ...] = ()
    printed: Mapping[str, Cell] = field(default_factory=dict)


@dataclass(frozen=True)
class Constant:
    """A constant of a statement and how we know it."""

    name: str
    kind: ConstantKind
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Fitted:
    """A constant that the runs tell: the median of a scalar over a study's runs."""

    name: str
    study: str
    scalar: Scalar
    cells: OfCell[bool] = lambda cell: True


# --- universes --------------------------------------------------------------------------------

UniverseOutcome = Literal["supported", "contradicted", "undecided", "diverged"]
UNIVERSE_OUTCOMES: tuple[UniverseOutcome, ...] = (
    "supported", "contradicted", "undecided", "diverged",
)  # fmt: skip


@dataclass(frozen=True)
class LevelTally:
    """The outcomes of the universes that share one level of a factor."""

    factor: str
    level: SettingValue
    counts: Mapping[UniverseOutcome, int]

    @property
    def total(self) -> int:
        """How many universes have this level."""
        return sum(self.counts.values())

    def share(self, outcome: UniverseOutcome) -> float:
        """The share of them with one outcome."""
        return self.counts[outcome] / self.total if self.total else 0.0


@dataclass(frozen=True)
class Tally:
    """What the universes say together."""

    outcome: Outcome
    reason: str
    counts: Mapping[UniverseOutcome, int]
    levels: tuple[LevelTally, ...]
    flips: str = ""
    """The choice that changes the outcome, in a sentence."""


# --- claims and verdicts ----------------------------------------------------------------------


@dataclass(frozen=True)
class Claim:
    """A numbered statement as a check. `evidence.statement.statement` builds it."""

    id: str
    kind: Kind
    title: str
    statement: str
    """The statement in our words."""
    source: Source
    stated: str
    """What the paper states, in a few signs; what we do, for a finding."""
    measured: str
    """What is measured, and on what."""
    why: str
    """Whose cutoff it is, and why that one."""
    parts: tuple[Part, ...]
    readings: tuple[Reading, ...]
    controls: tuple[Control, ...]
    positive: Fixture
    hypotheses: Callable[[Records], tuple[Hypothesis, ...]] = lambda records: ()
    trivial: Trivial | None = None
    routes: tuple[Route, ...] = ()
    constants: tuple[Constant | Fitted, ...] = ()
    notes: str = ""
    """Where the print differs from what is checked, and choices made after a result."""
    headline: str = ""
    """Its news in a sentence whose numbers are format fields: see `attnlab.report.news`."""

    @property
    def studies(self) -> tuple[str, ...]:
        """The ids of the studies whose records it reads."""
        return tuple(dict.fromkeys(study for part in self.parts for study in part.studies))


@dataclass(frozen=True)
class PartResult:
    """What one part came out as."""

    name: str
    outcome: Outcome
    effect: Effect | None
    cutoff: str
    owner: Owner
    detail: str = ""


@dataclass(frozen=True)
class ReadingResult:
    """What one reading came out as: the conjunction of its parts."""

    name: str
    outcome: Outcome
    effect: Effect | None
    allowed: bool
    why: str
    detail: str = ""
    parts: tuple[PartResult, ...] = ()


@dataclass(frozen=True)
class ControlResult:
    """What a control came out as."""

    name: str
    outcome: Outcome


@dataclass(frozen=True)
class RouteResult:
    """What a second route measured, and whether it agrees that the statement fails."""

    name: str
    agrees: bool
    effect: Effect | None = None
    detail: str = ""


@dataclass(frozen=True)
class Informative:
    """Where a bound says more than the trivial one: the share of runs, and the least factor."""

    trivial: str
    share: float
    runs: int
    factor: float
    """Bound over trivial bound at the run where the bound is best; below 1 it says something."""
    search: str = ""


@dataclass(frozen=True)
class Verdict:
    """The answer of a check, with everything that it rests on."""

    id: str
    kind: Kind
    scale: str
    outcome: Outcome
    reason: str
    source: str
    stated: str
    cutoff: str
    cutoff_owner: Owner
    cutoff_why: str
    readings: tuple[ReadingResult, ...]
    effect: Effect | None
    trials: int
    failed_runs: int
    diverged_runs: int
    hypotheses: tuple[Hypothesis, ...]
    controls: tuple[ControlResult, ...]
    second_route: RouteResult | None
    informative: Informative | None
    tightness: str
    flips: str
    """Where a cutoff of ours decides: what the verdict becomes when it is moved."""
    constants: tuple[Constant, ...]
    seconds: float
    universes: Tally | None = None
