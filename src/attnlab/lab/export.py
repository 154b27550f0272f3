"""Records as tables: pandas and its files, xarray and NetCDF. docs/schema.md describes them.

Of each run the newest record is taken; by default only of today's code and stack.
"""

import importlib
import io
import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

from attnlab.cells import SettingValue
from attnlab.core import BadInput, Record, Records
from attnlab.lab import fingerprint, payload, registry
from attnlab.lab.files import replace_by, replace_file
from attnlab.lab.ledger import Ledger, code_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import xarray as xr

FORMATS = ("netcdf", "parquet", "csv")
FULL_ENOUGH = 0.5
"""Runs that a grid must hold of all its places to be an array, and not a list of runs."""
COLUMNS = ("seed", "diverged", "seconds", "finished", "current", "identity")


@dataclass(frozen=True)
class Row:
    """One record with what determines it."""

    settings: Mapping[str, SettingValue]
    seed: int
    values: "Mapping[str, str | np.ndarray]"
    diverged: str
    seconds: float
    finished: str
    current: bool
    identity: str


def require(package: str) -> Any:
    """A package of the extra `notebook`, or a sentence."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise BadInput(
            f"got no {package}, which this table is made with; install it with "
            "`pip install 'attnlab[notebook]'`"
        ) from None


def rows(ledger: Ledger, *, stale: bool = False) -> dict[str, list[Row]]:
    """The records of every study, newest of each run, in the order of settings and seeds."""
    found: dict[str, dict[str, Row]] = {}
    for _, row in ledger.rows("record"):
        study = str(row["study"])
        cell = json.loads(str(row["cell"]))
        current = (row["code"], row["stack"]) == (code_of(study, cell), fingerprint.stack())
        if current or stale:
            one = Row(
                cell,
                int(row["seed"]),
                payload.decode(row["payload"]),  # pyright: ignore[reportArgumentType]
                str(row["diverged"]),
                float(row["seconds"]),
                str(row["finished"]),
                current,
                str(row["identity"]),
            )
            found.setdefault(study, {})[one.identity] = one
    return {study: list(found[study].values()) for study in sorted(found)}


def of_study(ledger: Ledger, study: str, *, stale: bool = False) -> list[Row]:
    """The records of one study; a sentence if there are none."""
    here = rows(ledger, stale=stale)
    if study not in here:
        known = ", ".join(here) or "none"
        raise BadInput(
            f"{ledger.path} has no current record of {study!r}; studies with some: {known}"
        )
    return here[study]


def records(ledger: Ledger, study: str) -> Records:
    """The current records of one study as claims read them."""
    from attnlab.cells import from_dict

    settings = registry.study(study).settings
    return Records(
        Record(study, from_dict(settings, row.settings), row.seed, row.values, row.diverged)
        for row in of_study(ledger, study)
    )


# --- pandas -----------------------------------------------------------------------------------


def frame(found: Sequence[Row]) -> "pd.DataFrame":
    """A row a run: settings, seed, how it ended, and every single number."""
    pd = require("pandas")
    return pd.DataFrame([_flat(row) for row in found])


def _flat(row: Row) -> dict[str, Any]:
    import numpy as np

    flat: dict[str, Any] = dict(row.settings)
    flat |= {_apart(name, row): getattr(row, name) for name in COLUMNS}
    for name, value in row.values.items():
        if isinstance(value, str) or np.ndim(value) == 0:
            flat[_apart(name, row)] = value if isinstance(value, str) else value.item()
    return flat


def _apart(name: str, row: Row) -> str:
    """The column of a value; one that has the name of a setting is told apart from it."""
    return f"{name}_value" if name in row.settings else name


def arrays_frame(found: Sequence[Row]) -> "pd.DataFrame":
    """A row a number of an array: identity, name, place (i, j, k, ...), value."""
    import numpy as np

    pd = require("pandas")
    found_in = [
        (row.identity, name, np.asarray(value))
        for row in found
        for name, value in row.values.items()
        if not isinstance(value, str) and np.ndim(value)
    ]
    axes = "ijklmn"[: max((x.ndim for *_, x in found_in), default=1)]
    sizes = [x.size for *_, x in found_in]
    columns: dict[str, Any] = {
        "identity": np.repeat(np.array([identity for identity, *_ in found_in], object), sizes),
        "name": np.repeat(np.array([name for _, name, _ in found_in], object), sizes),
    }
    for k, axis in enumerate(axes):
        places = [_along(x, k) for *_, x in found_in]
        whole = np.concatenate(places) if places else np.zeros(0, np.int64)
        columns[axis] = pd.arrays.IntegerArray(whole, whole < 0)
    values = [x.ravel().astype(float) for *_, x in found_in]
    columns["value"] = np.concatenate(values) if values else np.zeros(0)
    return pd.DataFrame(columns)


def _along(x: "np.ndarray", k: int) -> "np.ndarray":
    """The place of every number on the k-th axis; -1 if there is none."""
    import numpy as np

    if k >= x.ndim:
        return np.full(x.size, -1, np.int64)
    inner = math.prod(x.shape[k + 1 :])
    return np.arange(x.size, dtype=np.int64) // max(1, inner) % max(1, x.shape[k])


# --- xarray -----------------------------------------------------------------------------------


def dataset(study: str, found: Sequence[Row]) -> "xr.Dataset":
    """Runs on the axes of the settings that vary and of the seed, if they fill a grid; else `run`.

    Every variable and coordinate has words and a unit; a place without a run is nan.
    """
    import numpy as np

    xr = require("xarray")
    names = list(found[0].settings)
    varied = [name for name in names if len({_key(row, name) for row in found}) > 1]
    levels = {name: _levels(row.settings[name] for row in found) for name in varied}
    levels["seed"] = sorted({row.seed for row in found})
    size = math.prod(len(level) for level in levels.values())
    places = {_place(row, levels): row for row in found}
    grid = len(places) == len(found) >= FULL_ENOUGH * size
    help = _help(study)
    if grid:
        axes: tuple[str, ...] = tuple(levels)
        coordinates = {k: (k, _array(v), help.get(k, {})) for k, v in levels.items()}
        shape = tuple(len(level) for level in levels.values())
        cells_of = list(product(*(range(n) for n in shape)))
        in_place = [places.get(place) for place in cells_of]
    else:
        axes, shape, in_place = ("run",), (len(found),), list(found)
        coordinates = {
            k: ("run", _array([row.settings[k] for row in found]), help.get(k, {})) for k in varied
        }
        coordinates["seed"] = ("run", np.array([row.seed for row in found]), {})
    variables = dict(_variables(found, in_place, shape, axes, set(coordinates)))
    constant = {k: _plain(found[0].settings[k]) for k in names if k not in varied}
    attributes = {"study": study, "runs": len(found), **constant}
    return xr.Dataset(variables, coordinates, attributes)


def _variables(
    found: Sequence[Row],
    in_place: "Sequence[Row | None]",
    shape: tuple[int, ...],
    axes: tuple[str, ...],
    taken: set[str],
) -> Iterator[tuple[str, tuple[tuple[str, ...], Any, dict[str, str]]]]:
    import numpy as np

    ends = np.array([row.diverged if row else "" for row in in_place], dtype=object)
    yield "diverged", (axes, ends.reshape(shape), {"long_name": "why a run diverged, or nothing"})
    seconds = np.array([row.seconds if row else np.nan for row in in_place])
    yield "seconds", (axes, seconds.reshape(shape), {"units": "s", "long_name": "time of a run"})
    series = _series_names(found)
    for name in dict.fromkeys(name for row in found for name in row.values):
        values = [row.values.get(name) if row else None for row in in_place]
        if any(isinstance(value, str) for value in values):
            continue
        known = [np.asarray(value) for value in values if value is not None]
        if len({x.ndim for x in known}) != 1:
            continue
        room = tuple(max(sizes) for sizes in zip(*(x.shape for x in known), strict=True))
        data = np.full((len(in_place), *room), np.nan)
        for k, value in enumerate(values):
            if value is not None:
                array = np.asarray(value)
                data[(k, *(slice(n) for n in array.shape))] = array
        # A slash would be a path in a tree of studies and in a netCDF file.
        plain = name.replace("/", "_over_")
        own = tuple(f"{plain}_{k}" for k in range(1, len(room) + 1))
        if name in series:
            own = ("record", *own[1:])
        label = f"{plain}_value" if plain in taken or plain in own else plain
        about = {"long_name": name.replace("_", " "), "units": "1"}
        yield label, ((*axes, *own), data.reshape(*shape, *room), about)


def _series_names(found: Sequence[Row]) -> set[str]:
    """Arrays that have in every run as many rows as it has recorded times."""
    import numpy as np

    names: set[str] | None = None
    for row in found:
        times = row.values.get("times")
        if times is None or np.ndim(times) != 1:
            return set()
        here = {
            k
            for k, x in row.values.items()
            if not isinstance(x, str) and np.ndim(x) and len(x) == len(times)
        }
        names = here if names is None else names & here
    return names or set()


def tree(found: Mapping[str, Sequence[Row]]) -> "xr.DataTree":
    """Every study as a group of its own."""
    xr = require("xarray")
    return xr.DataTree.from_dict({study: dataset(study, some) for study, some in found.items()})


def _help(study: str) -> dict[str, dict[str, str]]:
    """Words and symbols of a study's settings, where its paper is installed."""
    try:
        settings = registry.study(study).settings
    except BadInput:
        return {}
    return {
        f.name: {"long_name": f.metadata["help"], "symbol": f.metadata["symbol"], "units": "1"}
        for f in fields(settings)
    }


def _key(row: Row, name: str) -> SettingValue | None:
    return row.settings.get(name)


def _levels(values: Iterator[SettingValue]) -> list[SettingValue]:
    return sorted(set(values), key=lambda x: (isinstance(x, str), x))


def _place(row: Row, levels: Mapping[str, Sequence[Any]]) -> tuple[int, ...]:
    values = {**row.settings, "seed": row.seed}
    return tuple(level.index(values[name]) for name, level in levels.items())


def _array(values: Sequence[Any]) -> "np.ndarray":
    import numpy as np

    if any(isinstance(x, str) for x in values):
        return np.array([str(x) for x in values])
    return np.array([int(x) if isinstance(x, bool) else x for x in values])


def _plain(value: SettingValue) -> SettingValue:
    return int(value) if isinstance(value, bool) else value


# --- files ------------------------------------------------------------------------------------


def write(found: Mapping[str, Sequence[Row]], to: str, folder: Path) -> list[Path]:
    """Write records as files of one format; the files that were written."""
    if to not in FORMATS:
        raise BadInput(f"got --to {to}; the formats are {', '.join(FORMATS)}")
    if not found:
        raise BadInput("the ledger holds no current record; run something first, or give --stale")
    folder.mkdir(parents=True, exist_ok=True)
    if to == "netcdf":
        require("h5netcdf")
        place, data = folder / "records.nc", io.BytesIO()
        tree(found).to_netcdf(data, engine="h5netcdf")  # not to a disk: HDF5 crashes on a full one
        replace_file(place, data.getvalue())
        return [place]
    if to == "parquet":
        require("pyarrow")
    written = []
    for study, some in found.items():
        for name, table in ((study, frame(some)), (f"{study}.arrays", arrays_frame(some))):
            place = folder / f"{name}.{to}"
            if to == "csv":
                written.append(_replaced(place, lambda path, t=table: t.to_csv(path, index=False)))
            else:
                written.append(
                    _replaced(place, lambda path, t=table: t.to_parquet(path, index=False))
                )
    return written


def _replaced(path: Path, save: Callable[[Path], Any]) -> Path:
    replace_by(path, save)
    return path
