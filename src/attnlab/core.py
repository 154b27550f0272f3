"""The nouns of the laboratory: papers, studies, records, figures. Those of the court are in claims.

All are frozen dataclasses, and nothing here imports jax, trains or draws. A paper is a package
that exposes one `Paper` through the entry point `attnlab.papers`.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from attnlab.cells import BadInput as BadInput
from attnlab.cells import Key as Key
from attnlab.cells import setting as setting

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure as Drawing

    from attnlab.claims import Claim, HypothesisTable

Scale = Literal["smoke", "quick", "paper"]
SCALES: tuple[Scale, ...] = ("smoke", "quick", "paper")

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
    coarse: Design | None = None
    """What a universe runs at scale quick, where even the design of smoke is too much."""


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
    claims: tuple["Claim", ...]
    figures: tuple[Figure, ...]
    bounds: BoundsTable | None = None
    hypotheses: "HypothesisTable | None" = None
