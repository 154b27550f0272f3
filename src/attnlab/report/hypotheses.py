"""The hypothesis table of a paper: its conditions at its own settings and at ours, nothing run."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from attnlab.claims import Assumption, Hypothesis
from attnlab.core import Cell, Json, Paper
from attnlab.evidence.words import met_text
from attnlab.lab.plan import Request, design_cells
from attnlab.lab.registry import assumptions
from attnlab.report.verdicts import hypothesis_json

BEYOND = "beyond the range of numbers at these settings"


@dataclass(frozen=True)
class Row:
    """One condition at the worst of some cells: the paper's own one, or those of a study."""

    at: str
    ours: bool
    """Whether the settings are a study's; else they are printed in the paper."""
    hypothesis: Hypothesis
    cells: int
    cells_met: int | None
    """In how many cells it is met; None if its constant is unknown."""

    @property
    def met(self) -> str:
        """Whether it is met, in words."""
        if self.cells_met in (None, 0, self.cells):
            return met_text(self.hypothesis.met)
        return f"in {self.cells_met} of {self.cells} cells"


def table(
    paper: Paper, request: Request, only: Sequence[Assumption] = ()
) -> list[tuple[Assumption, list[Row]]]:
    """Every assumption of the paper with its rows, from settings alone."""
    printed = paper.hypotheses.printed if paper.hypotheses else {}
    places = [(at, False, (cell,)) for at, cell in printed.items()]
    places += [(study.id, True, design_cells(study, request, {})) for study in paper.studies]
    return [
        (a, _by_condition([row for place in places for row in _rows(a, *place)]))
        for a in only or assumptions(paper)
    ]


def merged(rows: Iterable[Row]) -> list[tuple[str, Row]]:
    """The rows, those that say the same at several places as one, with the places in words."""
    groups: dict[tuple, list[Row]] = {}
    for row in rows:
        groups.setdefault((row.hypothesis, row.met, row.ours), []).append(row)
    return [(_places(group), group[0]) for group in groups.values()]


def _places(rows: Sequence[Row]) -> str:
    if not rows[0].ours:
        return f"paper: {'; '.join(row.at for row in rows)}"
    names = ", ".join(row.at.partition(".")[2] for row in rows)
    return f"{'study' if len(rows) == 1 else 'studies'} {names}"


def table_json(paper: Paper, request: Request) -> dict[str, Json]:
    """The table as `hypotheses --json` prints it."""
    return {
        "paper": paper.id,
        "scale": request.scale,
        "hypotheses": [
            {
                "id": assumption.id,
                "title": assumption.title,
                "statement": assumption.statement,
                "source": str(assumption.source),
                "notes": assumption.notes,
                "rows": [
                    {
                        "at": row.at,
                        "settings": "study" if row.ours else "paper",
                        **hypothesis_json(row.hypothesis),
                        "cells": row.cells,
                        "cells_met": row.cells_met,
                    }
                    for row in rows
                ],
            }
            for assumption, rows in table(paper, request)
        ],
    }


def _rows(assumption: Assumption, at: str, ours: bool, cells: Iterable[Cell]) -> list[Row]:
    """Each condition of the assumption at the cell that misses it most."""
    by_name: dict[str, list[Hypothesis]] = {}
    for cell in cells:
        for hypothesis in _conditions(assumption, cell):
            by_name.setdefault(hypothesis.name, []).append(hypothesis)
    return [
        Row(
            at,
            ours,
            max(found, key=_miss),
            len(found),
            None if found[0].met is None else sum(h.met is True for h in found),
        )
        for found in by_name.values()
    ]


def _conditions(assumption: Assumption, cell: Cell) -> list[Hypothesis]:
    """The conditions at one cell; where a number has no end, a row that says so."""
    try:
        # What overflows is a number without end or none at all, and is told as such.
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            return [_told(hypothesis) for hypothesis in assumption.rows(cell)]
    except (ArithmeticError, ValueError, TypeError):
        return [Hypothesis(BEYOND, math.nan, math.nan, constant="unknown")]


def _told(hypothesis: Hypothesis) -> Hypothesis:
    value, threshold = float(hypothesis.value), float(hypothesis.threshold)
    if not math.isnan(value) and not math.isnan(threshold):
        return hypothesis
    return Hypothesis(f"{hypothesis.name}: {BEYOND}", value, threshold, constant="unknown")


def _by_condition(rows: list[Row]) -> list[Row]:
    """The rows of one condition together."""
    names = list(dict.fromkeys(row.hypothesis.name for row in rows))
    return sorted(rows, key=lambda row: names.index(row.hypothesis.name))


def _miss(hypothesis: Hypothesis) -> tuple[bool, float]:
    """How badly a condition is missed: unmet first, then by the factor, or by the distance."""
    met, factor = hypothesis.met, hypothesis.factor
    if factor is not None:
        return met is False, factor
    distance = abs(hypothesis.value - hypothesis.threshold)
    if hypothesis.relation == "==" and math.isfinite(distance):
        return met is False, distance
    # No factor leads from a value that is not positive to a positive threshold.
    short = (hypothesis.value < hypothesis.threshold) == (hypothesis.relation == ">=")
    return met is False, math.inf if short else 0.0
