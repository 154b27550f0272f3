"""Tiny cells of every run of every paper, in this process: what tests of settings are made on."""

import dataclasses
import functools
import itertools
import operator
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any, Literal, get_args, get_origin, get_type_hints
from unittest import mock

import jax
import numpy as np

from attnlab import cells
from attnlab.core import BadInput, Study
from attnlab.lab import payload, registry
from attnlab.lab.worker import import_string
from attnlab.training.inputs import Inputs

SEED = 3
"""Neither the first seed nor the one at which the toy puts its faults."""
TINY: dict[str, dict[str, Any]] = {
    "attnlab.papers.deora2023": {"n": 6, "n1": 40, "K": 5, "steps": 5},
    "attnlab.papers.li2023": {"N": 8, "L": 20, "m": 12, "steps": 30, "test_samples": 30},
    "attnlab.papers.yang2024": {"n": 12, "m": 64, "m1": 4, "records": 6, "draws": 4, "steps": 20},
}
"""Sizes that are small enough, of every paper; a cell takes those that it has."""
OWN: dict[str, dict[str, Any]] = {
    # Lemma 2's weights are on the first n1 of the pool; the design has one training sample.
    "deora2023.first_phase": {"n": 1},
    # A margin needs separable samples, and a random start is compared with phase 1's.
    "deora2023.other_starts": {"n1": 40, "few": 4, "variant": "few_samples"},
    "deora2023.segments": {"n": 6},
    # The coins of two heads are even half the time.
    "deora2023.margins": {"H": 100.0},
    "deora2023.frames": {"H": 100.0, "n": 8},
    # Section 6.1's own constants are so large that the two theorems take one and the same step.
    "deora2023.guaranteed": {"proof": "sharp"},
    # So many that some sums pass a third of the bound.
    "yang2024.bounded_sums": {"draws": 400, "n": 64},
    # Section 5.3's control: with the paper's power nothing is feasible, whatever n and c are.
    "deora2023.scalings": {"power": 1.0, "c": 2.0},
    "yang2024.classes_samples": {"n": 96, "m": 256, "horizon": 3.0},
    "yang2024.gradients": {"m": 6, "m1": 4},
    "yang2024.system": {"m": 6, "m1": 4},
    "yang2024.phase_1": {"horizon": 3.0},
    # Not a power of two: then both of the toy's engines would be exact.
    "toy.descent": {"eta": 0.1},
    # A margin that training samples, not test samples, reach: then stopping there is another run.
    "li2023.figure_1a": {"margin": 0.0005, "stop": "fixed", "success": 1e-6},
    "li2023.frames": {"margin": 0.004},
    # Crossed by the other value that is tried, which is 1.
    "li2023.images": {"success": 0.0},
    "li2023.figure_5": {
        "selector": "random",
        "removed": 0.3,
        "M": 3,
        "steps": 400,
        "margin": 0.001,
        "success": 1e-6,
    },
}
FAR = {"success": 10.0}
"""Values that are tried first: a threshold acts only where it is crossed."""
COSTLY = (
    "ascent",
    "segments",
    "formulas",
    "global_margin",
    "gradients",
    "system",
    "classes_samples",
)
"""Runs that take seconds to compile and declare nothing: traced in `make soak`."""
ONE_PROGRAM = (
    *COSTLY,
    "explicit_heads",
    "margins",
    "paths",
    "explicit",
    "atoms",
    "phase_1",
    "figure_5",
)
"""Runs of which every program takes seconds to compile: a setting that is a shape or a switch of
the program is tried on another run with the same settings class, and here only traced."""
ALSO = ("yang2024.phase_1", "li2023.figure_5")
"""Studies whose run goes another way than that of others with it: a flow, and pruning."""
INVARIANT = {
    "deora2023.data": dict.fromkeys(
        ("zeta", "places"),
        "the largest sizes are those of the noise, which reach 1",
    ),
    "deora2023.attention": dict.fromkeys(
        ("d", "Z"), "noise off the patterns meets neither W_* nor U_opt"
    ),
    "deora2023.places": {"d": "without noise a linear margin lives on the patterns"},
    "deora2023.margin_formulas": dict.fromkeys(
        ("d", "Z"), "the paper's margins have only the noise along the patterns"
    ),
}
"""Settings that a run does look at, but on which, as a result, nothing that it measures depends."""
UNSEEN = {"toy": ("fault", "fault_seed", "sleep")}
"""What a setting does to the process that makes a run, not to its record."""


@dataclass(frozen=True)
class Tiny:
    """A study that stands for all with its run, and a small cell of it."""

    study: Study
    cell: Any

    @property
    def id(self) -> str:
        return self.study.id

    @property
    def short_id(self) -> str:
        return self.id.partition(".")[2]

    @property
    def fields(self) -> tuple[str, ...]:
        unseen = UNSEEN.get(self.study.id.split(".")[0], ())
        return tuple(f.name for f in dataclasses.fields(self.cell) if f.name not in unseen)


@contextmanager
def compiled_sooner() -> Iterator[None]:
    """Programs without most optimisations: other bits, but the same on both sides here."""
    import jax

    before = jax.config.read("jax_disable_most_optimizations")
    jax.config.update("jax_disable_most_optimizations", True)
    yield
    jax.config.update("jax_disable_most_optimizations", before)
    jax.clear_caches()


@functools.cache
def tiny_runs() -> tuple[Tiny, ...]:
    """One for each run, settings class and set of irrelevant settings."""
    found: dict[Any, Tiny] = {}
    for study in itertools.chain(*(paper.studies for paper in registry.papers().values())):
        kind = (study.run, study.settings, tuple(sorted(study.irrelevant)))
        if study.id in ALSO:
            kind = study.id
        if kind not in found:
            found[kind] = Tiny(study, _tiny_cell(study))
    return tuple(found.values())


def _tiny_cell(study: Study) -> Any:
    cell = min(study.designs["smoke"].cells, key=lambda c: study.cost(study.resolve(c)))
    package = ".".join(study.run.split(".")[:3])
    return cells.override(cell, {**TINY.get(package, {}), **OWN.get(study.id, {})})


def record_of(study: Study, cell: Any, key: cells.Key) -> tuple[bytes, str]:
    """The record of a run made here: its bytes, and why it diverged."""
    result = import_string(study.run)(study.resolve(cell), key)
    return payload.encode(result.values), result.diverged


def equal_to_rounding(one: tuple[bytes, str], other: tuple[bytes, str]) -> bool:
    """Whether two records hold the same values: longer sums may end on another last digit."""
    first, second = payload.decode(one[0]), payload.decode(other[0])
    return (
        one[1] == other[1]
        and first.keys() == second.keys()
        and all(_close(first[name], second[name]) for name in first)
    )


def _close(x: Any, y: Any) -> bool:
    if isinstance(x, str) or x.dtype.kind != "f":
        return bool(np.array_equal(x, y))
    return x.shape == y.shape and np.allclose(x, y, rtol=1e-9, atol=1e-12, equal_nan=True)


def key_of(tiny: Tiny) -> cells.Key:
    """The random numbers of the small cell: with them only the setting itself can change a run."""
    return cells.Key.of(tiny.study.resolve(tiny.cell), SEED)


def changed(tiny: Tiny, name: str) -> Any | None:
    """The cell with another value of one setting, the first that is accepted; None if none is."""
    for value in _others(tiny.cell, name):
        try:
            cell = cells.override(tiny.cell, {name: value})
            if tiny.study.resolve(cell) != tiny.study.resolve(tiny.cell):
                return cell
        except BadInput:
            continue
    return None


def _others(cell: Any, name: str) -> Iterator[Any]:
    field = next(f for f in dataclasses.fields(cell) if f.name == name)
    kind, value = get_type_hints(type(cell))[name], getattr(cell, name)
    if get_origin(kind) is Literal:
        yield from (x for x in get_args(kind) if x not in (value, "auto"))
    elif kind is bool:
        yield not value
    else:
        # Even and divisible by six, near and far: sizes of samples and shares have to fit.
        numbers = (2 * value, value + 1, value / 2, value + 6, value + 0.1, value + 0.5, 0.25)
        numbers = (*numbers, *field.metadata["alternatives"])
        if name in FAR:
            numbers = (FAR[name], *numbers)
        yield from (kind(x) for x in numbers if kind(x) == x and x != value)


def trace(tiny: Tiny) -> tuple[set[str], set[str]]:
    """The settings that the run reads, and those that the choice of `auto` and refusals read."""
    chosen, by_resolve = recording(tiny.cell)
    tiny.study.resolve(chosen)
    cell, by_run = recording(tiny.study.resolve(tiny.cell))
    run = import_string(tiny.study.run)

    def look(self: Inputs, name: str) -> Any:
        by_run.add(name)
        return read_input(self, name)

    # A program that was traced before would not read its inputs again.
    jax.clear_caches()
    read_input = Inputs.__getattr__
    with mock.patch.object(Inputs, "__getattr__", look):
        run(cell, key_of(tiny))
    derived = {name for name in by_run if name in dir(type(cell))} - set(tiny.fields)
    for name in derived:
        by_run |= reads_of(tiny, name)
    return by_run, by_resolve


def reads_of(tiny: Tiny, name: str) -> set[str]:
    """The settings that a derived value is made of."""
    cell, read = recording(tiny.study.resolve(tiny.cell))
    getattr(cell, name)
    return read


def require_traced(tiny: Tiny) -> None:
    """A run reads every setting but those that are declared irrelevant or idle."""
    by_run, by_resolve = trace(tiny)
    declared = set(tiny.study.irrelevant)
    assert declared <= set(tiny.fields), "an irrelevant setting does not exist"
    assert not declared & by_run, "an irrelevant setting is read"
    idle = {name for name in tiny.fields if tiny.study.without_effect(name, tiny.cell)}
    assert set(tiny.fields) <= by_run | by_resolve | idle, "a setting is read by nothing"


def require_effects(tiny: Tiny) -> None:
    """Another value of a setting gives another record, unless it is refused, irrelevant or idle.

    Then the record is the same, so that nothing is declared that is not so: bit by bit where the
    run does not look at the setting, to rounding where it does (`INVARIANT`).
    """
    key = key_of(tiny)
    before, program = record_of(tiny.study, tiny.cell, key), _program(tiny, tiny.cell)
    wrong = {}
    for name in tiny.fields:
        cell = changed(tiny, name)
        if cell is None:
            continue
        why = tiny.study.without_effect(name, cell)
        if not why and tiny.short_id in ONE_PROGRAM and _program(tiny, cell) != program:
            continue
        invariant = INVARIANT.get(tiny.id, {}).get(name, "")
        same = equal_to_rounding if invariant else operator.eq
        if same(record_of(tiny.study, cell, key), before) != bool(why or invariant):
            wrong[name] = (getattr(tiny.cell, name), getattr(cell, name), why or invariant)
    assert not wrong, wrong


def _program(tiny: Tiny, cell: Any) -> Any:
    return tiny.study.program(tiny.study.resolve(cell))


def recording(cell: Any) -> tuple[Any, set[str]]:
    """The cell, and the set of those of its settings that have been read."""
    names = frozenset(f.name for f in dataclasses.fields(cell))
    read: set[str] = set()

    def look(self: Any, name: str) -> Any:
        if name in names and not _as_a_whole(sys._getframe(1)):
            read.add(name)
        return object.__getattribute__(self, name)

    recorder = type(type(cell).__name__, (type(cell),), {"__getattribute__": look})
    copy = object.__new__(recorder)
    copy.__dict__.update(cell.__dict__)
    return copy, read


WHOLE = ("replace", "_replace", "__hash__", "__eq__", "__post_init__", "_encoded")
"""Functions that read every setting of a cell without looking at one."""
WHOLE_MODULES = ("attnlab.cells", "attnlab.training.inputs")
"""Modules that do; what a run reads of its inputs is seen there."""


def _as_a_whole(frame: FrameType | None) -> bool:
    """Whether a cell is read as a whole, by the function at hand or by one that called it."""
    if frame is not None and frame.f_code.co_name in WHOLE:
        return True
    for _ in range(6):
        if frame is None:
            return False
        if frame.f_globals.get("__name__") in WHOLE_MODULES:
            return True
        frame = frame.f_back
    return False
