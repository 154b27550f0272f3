"""Verdicts, figures and universes, asked of the laboratory as the command line asks it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from attnlab.cells import SettingValue
from attnlab.claims import Claim, Verdict
from attnlab.commands import common
from attnlab.core import BadInput, Figure
from attnlab.facade.showing import as_html, as_text
from attnlab.facade.values import plain, whole
from attnlab.lab import ledger as ledgers
from attnlab.lab import multiverse as universes_of
from attnlab.lab.session import INTERRUPTED
from attnlab.report import drawings, terminal
from attnlab.report import multiverse as strips
from attnlab.report.verdicts import as_json, verdicts


@dataclass(frozen=True, repr=False)
class ShownVerdict(Verdict):
    """A verdict that shows itself."""

    @classmethod
    def of(cls, verdict: Verdict) -> "ShownVerdict":
        """The same verdict."""
        return cls(**{f.name: getattr(verdict, f.name) for f in fields(Verdict)})

    @property
    def value(self) -> object:
        """The verdict as `check --json` prints it."""
        return as_json(self)

    def __repr__(self) -> str:
        return as_text(terminal.verdict_table([self]))

    def _repr_html_(self) -> str:
        return as_html(terminal.verdict_table([self]))


class Verdicts(tuple[ShownVerdict, ...]):
    """Verdicts of several claims, as one table."""

    __slots__ = ()

    def __getitem__(self, index: Any) -> Any:
        """By number, or by the id of a claim."""
        if isinstance(index, str):
            found = [verdict for verdict in self if verdict.id == index]
            if not found:
                raise BadInput(f"no verdict on {index!r} is here")
            return found[0]
        return super().__getitem__(index)

    def __repr__(self) -> str:
        return as_text(terminal.verdict_table(self))

    def _repr_html_(self) -> str:
        return as_html(terminal.verdict_table(self))


@dataclass(frozen=True, repr=False)
class Picture:
    """A figure: the matplotlib figure, its numbers, and the files that were written."""

    id: str
    figure: Any
    data: dict[str, object]
    files: tuple[Path, ...]
    svg: str

    def __repr__(self) -> str:
        return f"{self.id}: {', '.join(map(str, self.files))}"

    def _repr_svg_(self) -> str:
        return self.svg


@dataclass(frozen=True, repr=False)
class ShownMultiverse:
    """A claim over the choices that its paper leaves open."""

    found: universes_of.Multiverse

    @property
    def value(self) -> object:
        """What `multiverse --json` prints."""
        return strips.as_json(self.found)

    def __repr__(self) -> str:
        return "\n".join(as_text(x) for x in (strips.table(self.found), self._rows))

    def _repr_html_(self) -> str:
        return as_html(strips.table(self.found)) + as_html(self._rows)

    @property
    def _rows(self):
        return strips.rows_table(self.found)


def check(
    id: str,
    *,
    scale: str = "quick",
    out: str | Path = "results",
    seed: int = 0,
    engine: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    **settings: SettingValue,
) -> Any:
    """The verdict on a claim (of a paper: on all of its claims), at own sizes if some are given.

    Runs are made in worker processes and kept in `out`; those that are there are not made again.
    """
    claims = common.claims_of([id])
    options = _options(scale, out, seed, engine, workers, dask, settings)
    _compute("check", id, claims, options)
    with ledgers.reading(options.out) as ledger, common.readable(ledger):
        found = verdicts(claims, options.request(), ledger)
    shown = Verdicts(ShownVerdict.of(verdict) for verdict in found)
    return shown[0] if len(shown) == 1 else shown


def figure(
    id: str,
    *,
    scale: str = "quick",
    out: str | Path = "results",
    seed: int = 0,
    engine: str | None = None,
    workers: int | None = None,
    dask: str | None = None,
    **settings: SettingValue,
) -> Picture:
    """A figure: its picture and its data; files in `out`/figures."""
    figures = common.figures_of([id])
    if len(figures) > 1:
        ids = ", ".join(one.id for one in figures)
        raise BadInput(f"{id} has {len(figures)} figures; give one of {ids}")
    options = _options(scale, out, seed, engine, workers, dask, settings)
    _compute("run", id, figures, options)
    with ledgers.reading(options.out) as ledger, common.readable(ledger):
        try:
            drawn = drawings.draw(figures[0], options.request(), ledger)
        except drawings.NotDrawn as why:
            raise BadInput(f"{id}: not drawn, {why}") from None
    files = drawings.save(drawn, options.out / "figures")
    return Picture(id, drawn.picture, dict(drawn.data), tuple(files), drawn.svg)


def multiverse(
    id: str,
    *,
    universes: int = 12,
    scale: str = "quick",
    out: str | Path = "results",
    seed: int = 0,
    workers: int | None = None,
    dask: str | None = None,
    **settings: SettingValue,
) -> ShownMultiverse:
    """A claim over the choices that its paper leaves open, and which of them decides."""
    claims = common.claims_of([id])
    if len(claims) > 1:
        raise BadInput(f"{id} has {len(claims)} claims; give the id of one")
    universes = whole("universes", universes)
    if not 1 <= universes <= common.MOST_UNIVERSES:
        raise BadInput(f"got universes={universes!r}; give 1 to {common.MOST_UNIVERSES}")
    options = _options(scale, out, seed, None, workers, dask, settings)
    _compute("multiverse", id, claims, options, universes)
    request = replace(options.request(), dense=True)
    with ledgers.reading(options.out) as ledger, common.readable(ledger):
        return ShownMultiverse(universes_of.multiverse(claims[0], request, ledger, universes))


def _options(
    scale: str,
    out: str | Path,
    seed: int,
    engine: str | None,
    workers: int | None,
    dask: str | None,
    settings: dict[str, SettingValue],
) -> common.Options:
    seed = whole("seed", seed)
    workers = workers if workers is None else whole("workers", workers)
    words = tuple(f"{name}={_word(value)}" for name, value in plain(settings).items())
    return common.Options(
        scale=scale, out=Path(out), set=words, seed=seed, engine=engine, workers=workers, dask=dask
    )


def _word(value: SettingValue) -> str:
    """A value as the command line has it."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _compute(
    command: str,
    id: str,
    items: list[Claim] | list[Figure],
    options: common.Options,
    universes: int | None = None,
) -> None:
    with uninterrupted():
        try:
            common.compute(command, [id], items, options, universes)
        except common.NoRunSucceeded as error:
            raise BadInput(str(error)) from None


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Ctrl-C as a notebook wants it: an exception, not the end of the process."""
    sys.stdout.flush()
    try:
        yield
    except SystemExit as ending:
        if ending.code == INTERRUPTED:
            raise KeyboardInterrupt from None
        raise
