"""Commands for own runs: one with its weights, a grid of them, and records as files."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from rich.console import Console
from tyro.conf import Positional, UseAppendAction, arg

from attnlab import cells
from attnlab.commands.common import Folder, compute_tasks, say, write
from attnlab.core import BadInput

FACADE = "attnlab.facade.training:train"
"""By an import string, as studies name their runs: commands themselves load no jax."""
Setting = Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="NAME=VALUE")]


@dataclass(frozen=True)
class Train:
    """One run with its series and weights, in this process: DIR/NAME.safetensors and .csv.

    `attnlab.load` reads the first file; the second has a row for each recorded step.
    """

    id: Annotated[Positional[str], arg(metavar="PAPER")]
    """A paper, or one of its studies."""
    set: Setting = ()
    """An own size, e.g. --set N=64; may be given several times."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """The seed."""
    out: Annotated[Path, arg(metavar="DIR")] = Path("runs")
    """The folder of the files."""

    def run(self) -> int:
        from attnlab.lab import sweeps, worker

        study, _ = sweeps.study_of(self.id)
        words = cells.parse_assignments(self.set)
        cells.require_known(words, [study.settings])
        cell = cells.override(study.settings(), words, text=True)
        run = worker.import_string(FACADE)(
            self.id, seed=self.seed, **{name: getattr(cell, name) for name in words}
        )
        self.out.mkdir(parents=True, exist_ok=True)
        name = f"{study.id}.seed_{self.seed}"
        print(run)
        if run.weights is None:
            say(f"no weights were written: {run.no_weights}")
        else:
            say(f"wrote {run.save(self.out / f'{name}.safetensors')}")
        if len(run.at):
            write(self.out / f"{name}.csv", run.to_pandas().to_csv().encode())
        return 0


@dataclass(frozen=True)
class Sweep:
    """A grid of runs of a paper or study: `sweep li2023 --grid N=16,32 --grid eta=.2,.5`.

    Or everything from a TOML file: `sweep my.toml` (docs/cluster.md shows one). What is in the
    ledger is not run again, so that the same command goes on where it stopped.
    """

    target: Annotated[Positional[str], arg(metavar="PAPER|FILE.toml")]
    """A paper, one of its studies, or a TOML file."""
    grid: Annotated[UseAppendAction[tuple[str, ...]], arg(metavar="NAME=A,B,C")] = ()
    """A setting and its levels; every combination of all grids is run."""
    set: Setting = ()
    """A setting that all runs have, e.g. --set steps=500."""
    seeds: Annotated[int, arg(metavar="K")] = 1
    """Independent runs of each combination."""
    seed: Annotated[int, arg(metavar="N")] = 0
    """The first seed."""
    part: Annotated[str, arg(metavar="I/K")] = ""
    """Only the I-th of K parts, e.g. 3/10 in the third job of an array; merge joins ledgers."""
    out: Annotated[Path, arg(metavar="DIR")] = Path("runs")
    """The folder of results; its ledger is DIR/ledger.sqlite."""
    workers: Annotated[int | None, arg(metavar="N")] = None
    """Worker processes (default: one per core)."""
    dask: Annotated[str | None, arg(metavar="ADDRESS")] = None
    """The scheduler of a Dask cluster that makes the runs."""

    def run(self) -> int:
        from attnlab.lab import sweeps

        if self.target.endswith(".toml"):
            if self.grid or self.set or self.seeds != 1 or self.seed:
                raise BadInput(
                    f"got {self.target} with --grid, --set, --seeds or --seed; the file says all: "
                    "write them there"
                )
            wanted = sweeps.read(Path(self.target))
        else:
            wanted = sweeps.Sweep(
                self.target,
                sweeps.parse_grid(self.grid),
                cells.parse_assignments(self.set),
                self.seeds,
                self.seed,
                text=True,
            )
        tasks = sweeps.part_of(sweeps.tasks(wanted), self.part)
        compute_tasks(tasks, self.out, self.workers, self.dask, Console(stderr=True))
        say(f"`attnlab export {self.out} --to csv` writes the records as tables")
        return 0


@dataclass(frozen=True)
class Export:
    """The records of DIR as files: NetCDF for xarray, Parquet or CSV for pandas.

    docs/schema.md says what is in them.
    """

    dir: Folder
    """A folder of results."""
    to: Annotated[str, arg(metavar="netcdf|parquet|csv")]
    """The format."""
    study: Annotated[str, arg(metavar="ID")] = ""
    """One study (default: all that have records)."""
    out: Annotated[Path | None, arg(metavar="DIR")] = None
    """The folder of the files (default: DIR/export)."""
    stale: bool = False
    """Also records of other code; the column `current` tells them."""

    def run(self) -> int:
        from attnlab.lab import export
        from attnlab.lab import ledger as ledgers

        if self.to not in export.FORMATS:
            raise BadInput(f"got --to {self.to}; the formats are {', '.join(export.FORMATS)}")
        with ledgers.reading(self.dir) as ledger:
            found = export.rows(ledger, stale=self.stale)
            if self.study:
                found = {self.study: export.of_study(ledger, self.study, stale=self.stale)}
        for path in export.write(found, self.to, self.out or self.dir / "export"):
            say(f"wrote {path}")
        return 0
