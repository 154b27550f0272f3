"""`train`: one run of a paper in this process, with its weights and series; no ledger."""

import time
from typing import Any

import numpy as np

from attnlab import cells
from attnlab.cells import Key, SettingValue
from attnlab.core import BadInput, Bench, Study
from attnlab.facade.parts import USUAL, made
from attnlab.facade.precision import in_double
from attnlab.facade.runs import Run
from attnlab.facade.values import plain
from attnlab.lab import registry, sweeps, worker
from attnlab.probes import general


@in_double
def train(paper: str, *, seed: int = 0, **settings: SettingValue) -> Run:
    """Make one run of a paper (or of one of its studies) at these settings.

    Settings that are not named have their defaults; `al.show("li2023.figure_1a")` lists them. The
    run draws what a record of the study with this seed draws, and agrees with it up to rounding.
    """
    study, bench = sweeps.study_of(paper)
    _require_seed(seed)
    cell = sweeps.cell_of(study, plain(settings))
    key = Key.of(cell, seed)
    asked = {**cells.as_dict(cell), "seed": seed}
    if bench is None or not bench.prepare or study.run != _default_run(bench):
        return _as_recorded(study, cell, key, asked)
    setup = worker.import_string(bench.prepare)(cell, key)
    probes = (*USUAL, general.attention_by_role)
    return made(setup, f"{study.id} at seed {seed}", asked, probes)


def _default_run(bench: Bench) -> str:
    return registry.study(bench.study).run


def _require_seed(seed: object) -> None:
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**31:
        raise BadInput(f"got seed={seed!r}; give a whole number from 0 to 2^31 - 1")


def _as_recorded(study: Study, cell: Any, key: Key, asked: dict[str, Any]) -> Run:
    """The study's own run in this process: its series and numbers, without weights."""
    begun = time.perf_counter()
    result = worker.import_string(study.run)(cell, key)
    values = {k: np.asarray(x) for k, x in result.values.items() if not isinstance(x, str)}
    at = values.get("times", np.zeros(0))
    at = at if at.ndim == 1 else np.zeros(0)
    series = {k: x for k, x in values.items() if k != "times" and x.ndim and len(x) == len(at) > 0}
    return Run(
        model=None,
        settings=asked,
        at=at,
        series=series,
        scalars={k: x.item() if x.ndim == 0 else x for k, x in values.items() if k not in series},
        ending=result.diverged or "finished",
        diverged=bool(result.diverged),
        title=f"{study.id} at seed {asked['seed']}",
        no_weights=f"the run of {study.id} keeps no weights; its numbers are in `scalars`",
        seconds=time.perf_counter() - begun,
    )
