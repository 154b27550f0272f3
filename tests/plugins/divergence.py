"""Runs, verdicts and figures of settings so extreme that training diverges: what tests share."""

import dataclasses
import math
import warnings

import numpy as np
import pytest

from attnlab import cells
from attnlab.core import BadInput, Record, Records
from attnlab.lab import plan, registry, worker
from attnlab.report import drawings

PAPERS = ("deora2023", "li2023", "yang2024")
RATES = ("eta", "learning_rate")
FIGURES = [figure for paper in PAPERS for figure in registry.paper(paper).figures]
SMOKE = plan.Request("smoke")
WHY = "the loss was first infinite or nan at 1, after 1 steps"
SMALL_FLOW = {"n": 12, "m": 64, "m1": 4, "records": 6}
QUICK = {
    "step": {"heads", "low_rank", "losses", "parity", "other_starts", "figure_1a", "appendix_a"},
    "small step": {"low_rank", "losses"},
    "start": {"formulas", "random_start", "other_starts", "parity"},
    "initialisation": {"classes_late"},
}
"""Studies whose programs are compiled soon, by what is extreme; the others soak."""


def named(items):
    return {"argvalues": items, "ids": [item.id for item in items]}


def has(study, *names):
    return {f.name for f in dataclasses.fields(study.settings)}.intersection(names)


EXTREME = {
    "step": [
        study
        for paper in PAPERS
        for study in registry.paper(paper).studies
        # All of yang2024 but appendix A are flows, which have no steps.
        if has(study, *RATES) and (paper != "yang2024" or study.id == "yang2024.appendix_a")
    ],
    "small step": [
        registry.study(f"deora2023.{name}")
        for name in ("low_rank", "losses", "paths", "atoms", "noisy")
    ],
    "start": [
        registry.study(f"deora2023.{name}")
        for name in ("formulas", "random_start", "other_starts", "parity", "explicit_heads")
    ],
    "initialisation": [registry.study(f"yang2024.{x}") for x in ("phase_2", "classes_late")],
}


def studies(extreme, *, quick):
    """The studies that a test with something extreme is made on, as its parameters."""
    return named(
        [s for s in EXTREME[extreme] if (s.id.partition(".")[2] in QUICK[extreme]) == quick]
    )


def cheapest(study):
    return min(study.designs["smoke"].cells, key=lambda cell: study.cost(study.resolve(cell)))


def run(study, cell):
    """A run as a worker makes it, with every warning an error."""
    job = worker.Job(
        study.run,
        f"{study.settings.__module__}:{study.settings.__name__}",
        cells.as_dict(study.resolve(cell)),
        seed=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return worker.compute(job)


def assert_named(answer):
    """Finished, and whatever is infinite is said to be: the sentence has no bare nan itself."""
    assert answer.kind == "finished", answer.message
    if answer.diverged:
        assert len(answer.diverged.split()) > 5
        assert not {"nan", "inf"} & set(answer.diverged.replace("or nan", "").split())


def changed(study, **settings):
    cell = cells.override(cheapest(study), settings)
    # Few steps do: whatever is so large shows at once.
    fewer = {"steps": 50, "K": 50} if not has(study, "method") or cell.method != "flow" else {}
    return cells.override(cell, fewer)


def require_named_steps(study):
    """A step of 1e300 is refused or diverges with a sentence, and one of 1e8 is no bare nan."""
    rate = has(study, *RATES).pop()
    if has(study, "method"):
        settings = [{"method": x, rate: 1e300} for x in ("descent", "momentum", "adam")]
    elif study.id == "deora2023.other_starts":
        settings = [{"variant": "steps", rate: 1e300}]
    else:
        settings = [{rate: 1e300}, {rate: 1e8}]
    if study.id.startswith("li2023.images"):  # in single precision, which has no such number
        with pytest.raises(BadInput, match="moderate size"):
            changed(study, **settings.pop(0))
    for change in settings:
        answer = run(study, changed(study, **change))
        assert_named(answer)
        assert change[rate] < 1e300 or answer.diverged


def require_named_initialisation(study, c0):
    answer = run(study, cells.override(cheapest(study), {**SMALL_FLOW, "c0": c0}))
    assert_named(answer)
    assert c0 < 1e300 or answer.diverged


def diverged(record, keep):
    """As the code leaves it: with all names, or with none but the start's."""
    values = {k: np.full(np.shape(v), math.nan) for k, v in record.values.items()} if keep else {}
    return dataclasses.replace(record, values=values, diverged=WHY)


def records_of(figure, values):
    """Every cell of the figure's design with the values of a run of its program."""
    tasks = {
        task.identity: task
        for changes in figure.changes
        for task in plan.tasks_for(figure.studies, SMOKE, changes)
        if task.seed < 2
    }
    return [
        Record(task.study.id, task.cell, task.seed, values(task.study, task.cell))
        for task in tasks.values()
    ]


def failed_trial(record):
    """A run that diverged, in a success map: it holds that it was none."""
    values = {"success": False, "fitted": False}
    return dataclasses.replace(diverged(record, False), values=values)


def drawn_or_why(figure, records):
    """How many runs the picture says to have diverged; or how the reason for none begins."""
    try:
        return drawings.draw_records(figure, SMOKE, records).data["diverged_runs"]
    except drawings.NotDrawn as why:
        return str(why).partition(",")[0]


def require_figure(figure, values):
    """Over runs of which some or all diverged, a figure is drawn or says why not."""
    own = records_of(figure, values)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(drawings.NotDrawn, match=WHY):
            drawings.draw_records(figure, SMOKE, Records(diverged(r, False) for r in own))
        for lost in (lambda i: i % 2, lambda i: i > 0, lambda i: i < len(own) - 1):
            records = Records(failed_trial(r) if lost(i) else r for i, r in enumerate(own))
            count = sum(bool(r.diverged) for r in records)
            if not count:  # a figure of one run
                continue
            assert drawn_or_why(figure, records) in (
                count,
                f"{count} of its {len(own)} runs diverged",
            )
