"""A folder of results: its verdicts, records and failures as tables; and sweeps that make one."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from attnlab.cells import SettingValue
from attnlab.commands import common
from attnlab.core import BadInput, Records
from attnlab.facade.judging import ShownVerdict, Verdicts, uninterrupted
from attnlab.facade.showing import Shown, as_html, as_text, rows_as_html
from attnlab.facade.values import plain, whole
from attnlab.lab import export, plan, registry, sweeps
from attnlab.lab import ledger as ledgers
from attnlab.report import terminal
from attnlab.report.verdicts import verdicts

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


class ShownRecords(Records):
    """Records that show themselves: how many, of which studies, and what each holds."""

    def __repr__(self) -> str:
        return "\n".join(f"{study}: {what}" for study, what in self._told().items()) or "no records"

    def _repr_html_(self) -> str:
        return rows_as_html(f"{len(self)} records", dict(self._told()))

    def _told(self) -> dict[str, str]:
        studies = {record.study: record for record in self}
        return {
            name: f"{len(self.of(name))} records, each with {', '.join(one.values)}"
            for name, one in studies.items()
        }


class Results:
    """The results in a folder, as they are when they are asked for. `al.open` gives one."""

    def __init__(self, folder: str | Path, study: str = ""):
        self.folder = Path(folder)
        self.study = study
        """The study that is meant where none is named: that of a sweep."""
        with ledgers.reading(self.folder):
            pass

    def verdicts(self, ids: Sequence[str] | str | None = None) -> Verdicts:
        """Verdicts from the records that are there: of these ids, or of the last request."""
        with ledgers.reading(self.folder) as ledger, common.readable(ledger):
            last = ledger.last_request()
            if last is None:
                raise BadInput(
                    f"{self.folder} holds no request for a verdict; give al.check(ID, out=...)"
                )
            names = [ids] if isinstance(ids, str) else list(last.ids if ids is None else ids)
            request = plan.Request(last.scale, last.seed, last.changes)
            claims = [claim for name in names for claim in registry.resolve(name).claims]
            unique = {claim.id: claim for claim in claims}
            found = verdicts(list(unique.values()), request, ledger)
        return Verdicts(ShownVerdict.of(verdict) for verdict in found)

    def records(self, id: str = "") -> ShownRecords:
        """Every current record of a study (controls' too), or of a claim's or figure's studies."""
        target = registry.resolve(self._study(id))
        named = [s.id for s in target.studies] or [
            name for item in (*target.claims, *target.figures) for name in item.studies
        ]
        with ledgers.reading(self.folder) as ledger:
            found = [export.records(ledger, name) for name in dict.fromkeys(named)]
        return ShownRecords(record for some in found for record in some)

    def failures(self) -> Shown:
        """Why runs failed: the error and the end of its traceback, for each attempt."""
        with ledgers.reading(self.folder) as ledger:
            found = ledger.failures()
        return Shown(terminal.failures_table(found), lambda: found)

    def to_pandas(self, study: str = "") -> "pd.DataFrame":
        """A row a run: settings, seed, how it ended, and every single number."""
        with ledgers.reading(self.folder) as ledger:
            return export.frame(export.of_study(ledger, self._study(study)))

    def to_xarray(self, study: str = "") -> "xr.Dataset | xr.DataTree":
        """A study with its settings and seeds as named axes; without a name, a tree of all."""
        with ledgers.reading(self.folder) as ledger:
            if study or self.study:
                name = self._study(study)
                return export.dataset(name, export.of_study(ledger, name))
            return export.tree(export.rows(ledger))

    def export(self, to: str, out: str | Path | None = None) -> list[Path]:
        """Files of the records: `netcdf`, `parquet` or `csv`, into `out` (FOLDER/export)."""
        with ledgers.reading(self.folder) as ledger:
            found = export.rows(ledger)
        return export.write(found, to, Path(out) if out else self.folder / "export")

    def _study(self, name: str) -> str:
        if name or self.study:
            return name or self.study
        with ledgers.reading(self.folder) as ledger:
            studies = [row.study for row in ledger.summary()]
        if len(studies) != 1:
            raise BadInput(f"{self.folder} has several studies; give one of {', '.join(studies)}")
        return studies[0]

    def _table(self):
        with ledgers.reading(self.folder) as ledger:
            return terminal.ledger_table(ledger.summary())

    def __repr__(self) -> str:
        return f"results in {self.folder}\n{as_text(self._table())}"

    def _repr_html_(self) -> str:
        return f"<p>results in {self.folder}</p>{as_html(self._table())}"


def open(folder: str | Path = "results") -> Results:
    """The results in a folder that `reproduce`, `check`, `sweep` or `merge` has made."""
    return Results(folder)


def sweep(
    paper: str | Path,
    grid: Mapping[str, Sequence[SettingValue]] | None = None,
    *,
    seeds: int = 1,
    seed: int = 0,
    out: str | Path = "runs",
    workers: int | None = None,
    dask: str | None = None,
    **settings: SettingValue,
) -> Results:
    """Every combination of a grid of settings, with so many seeds; resumable.

    `paper` is a paper or one of its studies, or the name of a TOML file that holds all of it;
    `settings` are changed alike in all runs. Runs are those of the study: worker processes, one
    ledger in `out`, the same bits wherever they are made. What is there is not made again.
    """
    if str(paper).endswith(".toml"):
        if grid or settings or seeds != 1 or seed:
            raise BadInput(f"got {paper} with more settings; the file says all: write them there")
        wanted = sweeps.read(Path(paper))
    else:
        numbers = whole("seeds", seeds), whole("seed", seed)
        wanted = sweeps.Sweep(str(paper), _lists(grid or {}), plain(settings), *numbers)
    workers = workers if workers is None else whole("workers", workers)
    make(wanted, Path(out), workers, dask)
    return Results(out, sweeps.study_of(wanted.target)[0].id)


def make(wanted: sweeps.Sweep, out: Path, workers: int | None, dask: str | None) -> None:
    """Make the runs of a sweep that are not in the ledger yet."""
    with uninterrupted():
        common.compute_tasks(sweeps.tasks(wanted), out, workers, dask, Console(stderr=True))


def _lists(grid: Mapping[str, Any]) -> dict[str, Any]:
    """Levels as lists of Python's numbers; what is no list is refused by the sweep."""
    import numpy as np

    listed = {k: list(v) if isinstance(v, tuple | range) else v for k, v in plain(grid).items()}
    arrays = {k: v.tolist() if isinstance(v, np.ndarray) else v for k, v in listed.items()}
    return {
        name: list(plain(dict(enumerate(levels))).values()) if isinstance(levels, list) else levels
        for name, levels in arrays.items()
    }
