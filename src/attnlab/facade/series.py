"""Series of a run as tables: pandas with a column a number, xarray with named dimensions, units."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from attnlab.lab.export import require
from attnlab.probes.general import SERIES, Series

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr


def described(name: str, x: np.ndarray) -> Series:
    """What a series is; axes that nobody has named are called after it."""
    known = SERIES.get(name, Series(name.replace("_", " "), unit=""))
    axes = x.ndim - 1
    if len(known.dimensions) == axes:
        return known
    return known._replace(dimensions=tuple(f"{name}_{k}" for k in range(1, axes + 1)))


def to_pandas(
    axis: str, at: np.ndarray, series: Mapping[str, np.ndarray], roles: tuple[str, ...]
) -> "pd.DataFrame":
    """A row a record, a column a number: `attention_by_role[relevant,confusion]`."""
    pd = require("pandas")
    columns: dict[str, np.ndarray] = {}
    for name, x in series.items():
        if x.ndim == 1:
            columns[name] = x
            continue
        dimensions = described(name, x).dimensions
        for place in np.ndindex(*x.shape[1:]):
            words = [
                _label(d, k, roles, x.shape[1:]) for d, k in zip(dimensions, place, strict=True)
            ]
            columns[f"{name}[{','.join(words)}]"] = x[(slice(None), *place)]
    return pd.DataFrame(columns, index=pd.Index(at, name=axis))


def _label(dimension: str, k: int, roles: tuple[str, ...], shape: tuple[int, ...]) -> str:
    return roles[k] if dimension.endswith("_role") and max(shape) <= len(roles) else str(k)


def to_xarray(
    axis: str,
    at: np.ndarray,
    series: Mapping[str, np.ndarray],
    roles: tuple[str, ...],
    attributes: Mapping[str, object],
) -> "xr.Dataset":
    """A variable a series, with named dimensions, words and units."""
    xr = require("xarray")
    units = {"step": "steps", "time": "1/learning rate"}
    coordinates: dict[str, object] = {axis: (axis, at, {"units": units[axis], "long_name": axis})}
    variables = {}
    for name, x in series.items():
        what = described(name, x)
        variables[name] = (
            (axis, *what.dimensions),
            x,
            {"long_name": what.words, "units": what.unit},
        )
        for dimension, size in zip(what.dimensions, x.shape[1:], strict=True):
            if dimension.endswith("_role") and size <= len(roles):
                coordinates[dimension] = (dimension, list(roles[:size]), {})
    return xr.Dataset(variables, coordinates, dict(attributes))
