"""The nouns of the laboratory: papers, studies, records, claims, controls, figures, verdicts.

All are frozen dataclasses, and nothing here imports jax, trains or draws. A paper is a package
that exposes one `Paper` through the entry point `attnlab.papers`.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from attnlab.cells import BadInput as BadInput
from attnlab.cells import Key as Key
from attnlab.cells import setting as setting

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure as Drawing

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")

Outcome = Literal["supported", "contradicted", "inconclusive", "not_applicable"]
ConstantKind = Literal["given", "fitted", "unknown"]


# --- what is run ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """Which cells a study runs, and with how many independent seeds each."""

    cells: tuple[Any, ...]
    trials: int
    control_trials: int | None = None
    """Seeds of a variant (a control's or a figure's), if fewer do: a control is far from true."""


@dataclass(frozen=True)
class Study:
    """A design and a pure function `run(cell, key) -> Result`, named by an import string."""

    id: str
    summary: str
    settings: type
    run: str
    designs: Mapping[Scale, Design]
    cost: Callable[[Any], float]
    """Rough seconds that one run of a cell takes, for the estimate before there are timings."""
    resolve: Callable[[Any], Any] = lambda cell: cell
    """Replaces every `auto` in a cell by what it stands for: a record's identity has no `auto`."""
    program: Callable[[Any], Hashable] = repr
    """What a cell's compiled program depends on: runs of one program are kept on one worker."""
    timeout: float = 600.0


@dataclass(frozen=True)
class Result:
    """What a run returns: named scalars and small arrays, and why it diverged if it did."""

    values: Mapping[str, Any]
    diverged: str = ""


@dataclass(frozen=True)
class Record:
    """A finished run: its values with what determines them."""

    study: str
    cell: Any
    seed: int
    values: Mapping[str, Any]
    diverged: str = ""
    seconds: float = 0.0

    def __getitem__(self, name: str) -> Any:
        return self.values[name]


class Records(Sequence[Record]):
    """The records that a claim or a figure reads, in the design's order.

    `failed` counts the runs that ended without a record (crash, timeout, out of memory);
    `missing` those that have not been made yet.
    """

    def __init__(self, records: Iterable[Record], *, failed: int = 0, missing: int = 0):
        self._records = tuple(records)
        self.failed = failed
        self.missing = missing

    def __getitem__(self, index: Any) -> Any:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def of(self, study: str) -> "Records":
        """The records of one study."""
        return Records(r for r in self if r.study == study)

    def where(self, **settings: Any) -> "Records":
        """The records whose cell has these settings."""
        return Records(
            r for r in self if all(getattr(r.cell, k, None) == v for k, v in settings.items())
        )

    def finite(self) -> "Records":
        """The records that did not diverge."""
        return Records(r for r in self if not r.diverged)

    def by(self, setting: str) -> dict[Any, "Records"]:
        """The records grouped by one setting, in increasing order of it."""
        levels = sorted({getattr(r.cell, setting) for r in self})
        return {level: self.where(**{setting: level}) for level in levels}

    def column(self, name: str) -> "np.ndarray":
        """One value of every record, stacked."""
        import numpy as np

        return np.stack([np.asarray(r.values[name]) for r in self]) if self else np.empty(0)

    def settings(self, name: str) -> "np.ndarray":
        """One setting of every record."""
        import numpy as np

        return np.asarray([getattr(r.cell, name) for r in self])


# --- what is claimed --------------------------------------------------------------------------


@dataclass(frozen=True)
class Hypothesis:
    """A condition of a statement: a measured value against a threshold.

    With a constant that the paper does not give (`unknown`), the threshold is shown at constant
    one, `met` is None, and the condition never gates.
    """

    name: str
    value: float
    threshold: float
    relation: Literal[">=", "<=", "=="] = ">="
    constant: ConstantKind = "given"

    @property
    def met(self) -> bool | None:
        """Whether the condition holds; None if its constant is unknown."""
        if self.constant == "unknown":
            return None
        if self.relation == ">=":
            return self.value >= self.threshold
        if self.relation == "<=":
            return self.value <= self.threshold
        return math.isclose(self.value, self.threshold, rel_tol=1e-12, abs_tol=1e-12)

    @property
    def factor(self) -> float | None:
        """The factor by which the value misses the threshold (at most 1 where it is met)."""
        short, full = (
            (self.value, self.threshold) if self.relation == ">=" else (self.threshold, self.value)
        )
        if self.relation == "==" or short <= 0 or full <= 0:
            return None
        return full / short


@dataclass(frozen=True)
class Constant:
    """A constant of a statement and how we know it."""

    name: str
    kind: ConstantKind
    value: float | None = None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Effect:
    """The number on which an outcome rests, with its interval."""

    name: str
    value: float
    low: float
    high: float

    @classmethod
    def of(cls, name: str, interval: Any) -> "Effect":
        """An effect from anything that has a value, a low and a high end."""
        return cls(name, float(interval.value), float(interval.low), float(interval.high))


@dataclass(frozen=True)
class Reading:
    """The outcome under one reading of the statement."""

    name: str
    outcome: Outcome
    effect: Effect | None = None
    detail: str = ""


@dataclass(frozen=True)
class Measurement:
    """What `measure` returns: one entry per reading, the first being the one the verdict takes."""

    readings: tuple[Reading, ...]
    constants: tuple[Constant, ...] = ()

    @property
    def outcome(self) -> Outcome:
        """The outcome of the first reading."""
        return self.readings[0].outcome

    @property
    def effect(self) -> Effect | None:
        """The effect of the first reading."""
        return self.readings[0].effect


@dataclass(frozen=True)
class Control:
    """A case in which the claim's measure, gate off, must come out contradicted.

    Either the study is changed (`changes`: settings, e.g. attention frozen) or the law is
    replaced (`law`: the printed erratum, a wrong exponent), or both.
    """

    name: str
    description: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    law: Any = None


@dataclass(frozen=True)
class Claim:
    """A numbered statement as a check: hypotheses, a measure, controls, a positive fixture."""

    id: str
    title: str
    statement: str
    """The statement in our words."""
    measured: str
    """What is measured, and which outcome follows from which number."""
    studies: tuple[str, ...]
    measure: Callable[[Records, Any], Measurement]
    controls: tuple[Control, ...]
    positive: Callable[[], Records]
    """Synthetic records on which the statement holds: `measure` must call them supported."""
    law: Any = None
    hypotheses: Callable[[Records], tuple[Hypothesis, ...]] = lambda records: ()
    readings: tuple[tuple[str, str], ...] = ()
    """(name, description) where the statement can be read in several ways."""
    constants: tuple[Constant, ...] = ()
    notes: str = ""
    """Where the print differs from what is checked, and what a reader should know."""


@dataclass(frozen=True)
class ControlResult:
    """What a control came out as."""

    name: str
    outcome: Outcome


@dataclass(frozen=True)
class Verdict:
    """The answer of a check, with everything that it rests on."""

    id: str
    scale: str
    outcome: Outcome
    reason: str
    readings: tuple[Reading, ...]
    effect: Effect | None
    trials: int
    failed_runs: int
    diverged_runs: int
    hypotheses: tuple[Hypothesis, ...]
    controls: tuple[ControlResult, ...]
    constants: tuple[Constant, ...]
    seconds: float


# --- what is shown ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """Records in, a matplotlib figure and its data out."""

    id: str
    title: str
    caption: str
    studies: tuple[str, ...]
    draw: Callable[[Records], tuple["Drawing", Mapping[str, Any]]]
    changes: tuple[Mapping[str, Any], ...] = ({},)
    """Variants of the studies' settings that the figure needs beside the plain design."""


@dataclass(frozen=True)
class Bound:
    """One row of a paper's table of bounds: a number, what it is, and whether it is known."""

    name: str
    value: float
    meaning: str
    constant: ConstantKind = "given"
    threshold: float | None = None
    """What the value is held against, for a condition."""
    met: bool | None = None
    """Whether a condition holds; None where that rests on an unknown constant."""


@dataclass(frozen=True)
class BoundsTable:
    """Every bound and condition of a paper as a function of sizes (a settings class)."""

    settings: type
    rows: Callable[[Any], tuple[Bound, ...]]


@dataclass(frozen=True)
class Paper:
    """A paper: its studies, claims and figures. `package` holds the files its records rest on."""

    id: str
    title: str
    reference: str
    package: str
    studies: tuple[Study, ...]
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]
    bounds: BoundsTable | None = None
