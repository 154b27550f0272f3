"""Positive fixtures: synthetic records on which a statement holds, so that a law can say so."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from attnlab.claims import Claim, Part
from attnlab.core import Cell, Design, OfCell, Record, Records, Study


def positive_records(claim: Claim, studies: Iterable[Study]) -> Records:
    """The records of a claim's fixture; `studies` give the cells of scale quick.

    A stored scalar takes its first part's example with a little noise, unless the fixture gives
    its value; the noise is none where the law tells values apart to rounding.
    """
    fixture = claim.positive
    if fixture.records is not None:
        return fixture.records()
    random = np.random.default_rng(0)
    known = {study.id: study for study in studies}
    records = []
    for name in claim.studies:
        study = known[name]
        short = name.partition(".")[2]
        cells = fixture.cells.get(short) or tuple(
            dict.fromkeys(map(study.resolve, _designed(study.designs["quick"])))
        )
        parts = [part for part in claim.parts if name in part.studies and part.scalar.key]
        for cell in cells:
            for seed in range(fixture.seeds):
                values = _examples(parts, cell, random, fixture.noise)
                for key, value in fixture.values.items():
                    values[key] = value(cell, random) if callable(value) else value
                records.append(Record(name, cell, seed, values))
    return Records(records)


def _designed(design: Design) -> Iterable[Cell]:
    """The cells of a design; of a sequential one its arms at every size."""
    search = design.search
    if search is None:
        return design.cells
    return (replace(cell, **{search.size: n}) for cell in design.cells for n in search.sizes)


def _examples(
    parts: Sequence[Part], cell: Cell, random: np.random.Generator, noise: float
) -> dict[str, ArrayLike]:
    values: dict[str, ArrayLike] = {}
    for part in parts:
        if part.scalar.key in values or not part.cells(cell):
            continue
        spread = float(np.exp(noise * random.normal())) if part.law.estimated else 1.0
        values[part.scalar.key] = np.float64(spread * part.law.example(cell))
    return values


def step_trials(
    study: str,
    cells: Iterable[Cell],
    n50: OfCell[float],
    *,
    size: str = "N",
    key: str = "success",
    seeds: int = 10,
    resolve: OfCell[Cell] = lambda cell: cell,
) -> list[Record]:
    """Trials that succeed with the probability of a steep logistic curve around a given N50."""
    random = np.random.default_rng(0)
    records = []
    for base in cells:
        at = n50(base)
        sizes = np.unique(np.maximum(np.round(np.geomspace(at / 4, at * 4, 15)), 1).astype(int))
        for tried in sizes.tolist():
            chance = 1 / (1 + (at / tried) ** 12)
            cell = resolve(replace(base, **{size: tried}))
            for seed in range(seeds):
                won = bool(random.uniform() < chance)
                records.append(Record(study, cell, seed, {key: won}))
    return records
