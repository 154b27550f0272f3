"""The nouns of the laboratory: papers, studies, records, figures. Those of the court are in claims.

All are frozen dataclasses, and nothing here imports jax, trains or draws. A paper is a package
that exposes one `Paper` through the entry point `attnlab.papers`.
"""

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, overload

from attnlab.cells import BadInput as BadInput
from attnlab.cells import Cell as Cell
from attnlab.cells import Json as Json
from attnlab.cells import Key as Key
from attnlab.cells import OfCell as OfCell
from attnlab.cells import SettingValue as SettingValue
from attnlab.cells import idle_reason, program
from attnlab.cells import setting as setting
from attnlab.cells import shape as shape

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure as Drawing
    from numpy.typing import ArrayLike

    from attnlab.claims import Claim, HypothesisTable

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")

ConstantKind = Literal["given", "fitted", "unknown"]


# --- what is run ------------------------------------------------------------------------------


class Search(Protocol):
    """How a sequential design goes on: each round a pure function of the records before it.

    An arm is a cell of the design with its `size` left to the search. What an arm does rests on
    its own records alone, sorted by identity, never on the order in which runs ended: so workers,
    executors and interruptions change nothing. `attnlab.evidence.sequential` has one.
    """

    @property
    def size(self) -> str:
        """The setting that the search chooses."""
        ...

    @property
    def sizes(self) -> "Sequence[float]":
        """The values that it may choose, in increasing order."""
        ...

    @property
    def most(self) -> int:
        """The most runs that an arm can take."""
        ...

    def further(self, records: "Records") -> "Sequence[float]":
        """The sizes of the next round's runs (a size may come several times); none at the end."""
        ...


@dataclass(frozen=True)
class Design:
    """Which cells a study runs, and with how many independent seeds each."""

    cells: tuple[Cell, ...]
    trials: int
    control_trials: int | None = None
    """Seeds of a variant (a control's or a figure's), if fewer do: a control is far from true."""
    search: Search | None = None
    """With a search the cells are its arms, and `trials` are those of controls alone, which run
    at the cells' own sizes."""


@dataclass(frozen=True)
class Study:
    """A design and a pure function `run(cell, key) -> Result`, named by an import string."""

    id: str
    summary: str
    settings: type
    run: str
    designs: Mapping[Scale, Design]
    cost: OfCell[float]
    """Rough seconds that one run of a cell takes, for the estimate before there are timings."""
    resolve: OfCell[Cell] = lambda cell: cell
    """Replaces every `auto` in a cell by what it stands for: a record's identity has no `auto`."""
    timeout: float = 600.0
    coarse: Design | None = None
    """What a universe runs at scale quick, where even the design of smoke is too much."""
    irrelevant: Mapping[str, str] = field(default_factory=dict)
    """Settings that the run never reads, each with the reason; of one class may be many runs."""

    def program(self, cell: Cell) -> Hashable:
        """What a cell's compiled program depends on: runs of one program stay on one worker."""
        return tuple((k, v) for k, v in program(cell) if k not in self.irrelevant)

    def without_effect(self, name: str, cell: Cell) -> str:
        """Why a setting has no effect on a run of the cell, or nothing if it has one."""
        return self.irrelevant.get(name, "") or idle_reason(cell, name)


@dataclass(frozen=True)
class Result:
    """What a run returns: named scalars and small arrays, and why it diverged if it did.

    Infinite and nan values belong to a run that diverged, but for those named in `absent`: what
    this run does not have, as a time that it never reached. The worker puts any other into a
    sentence of its own, so that no record has one without a word.
    """

    values: "Mapping[str, ArrayLike]"
    diverged: str = ""
    absent: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Record:
    """A finished run: its values with what determines them."""

    study: str
    cell: Any
    """Of the study's settings class, which whoever reads the record knows."""
    seed: int
    values: "Mapping[str, ArrayLike]"
    diverged: str = ""
    seconds: float = 0.0

    def __getitem__(self, name: str) -> Any:  # a scalar, an array or a word: its reader knows
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

    @overload
    def __getitem__(self, index: int) -> Record: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Record, ...]: ...

    def __getitem__(self, index: int | slice) -> Record | tuple[Record, ...]:
        return self._records[index]

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[Record]:
        return iter(self._records)

    def of(self, study: str) -> "Records":
        """The records of one study."""
        return Records(r for r in self if r.study == study)

    def where(self, **settings: SettingValue) -> "Records":
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


# --- what is shown ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Figure:
    """Records in, a matplotlib figure and its data out."""

    id: str
    title: str
    caption: str
    studies: tuple[str, ...]
    draw: Callable[[Records], tuple["Drawing", Mapping[str, object]]]
    changes: tuple[Mapping[str, SettingValue], ...] = ({},)
    """Variants of the studies' settings that the figure needs beside the plain design."""
    shows_diverged: bool = False
    """Whether runs that diverged are in the picture, as failed trials; else they are left out."""


@dataclass(frozen=True)
class Hypothesis:
    """A condition of a statement: a value against a threshold.

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
            return bool(self.value >= self.threshold)
        if self.relation == "<=":
            return bool(self.value <= self.threshold)
        return math.isclose(self.value, self.threshold, rel_tol=1e-12, abs_tol=1e-12)

    @property
    def factor(self) -> float | None:
        """The factor by which the value misses the threshold (at most 1 where it is met)."""
        short, full = (
            (self.value, self.threshold) if self.relation == ">=" else (self.threshold, self.value)
        )
        if self.relation == "==" or short <= 0 or full <= 0 or not math.isfinite(full / short):
            return None
        return full / short


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
    rows: OfCell[tuple[Bound, ...]]


@dataclass(frozen=True)
class Bench:
    """How a single run of a paper is made outside a study: what `train` and `sweep` take."""

    study: str
    """The study whose settings and run are meant where a paper is named alone."""
    prepare: str = ""
    """The import string of `prepare(cell, key) -> Setup` (`training.setup`), for its weights."""


@dataclass(frozen=True)
class Paper:
    """A paper: its studies, claims and figures, of the modules in `package`."""

    id: str
    title: str
    reference: str
    package: str
    studies: tuple[Study, ...]
    claims: tuple["Claim", ...]
    figures: tuple[Figure, ...]
    bounds: BoundsTable | None = None
    hypotheses: "HypothesisTable | None" = None
    bench: Bench | None = None
