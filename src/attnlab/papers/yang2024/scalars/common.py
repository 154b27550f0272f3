"""What the scalars of yang2024 share: sizes and units of a record."""

import numpy as np

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.papers.yang2024.theory.sizes import StatedSizes


def sizes_of(record: Record) -> StatedSizes:
    """The sizes and deviations of one run; classes of words have no vocabulary of their own."""
    cell = record.cell
    s0, s1 = float(record["s0"]), float(record["s1"])
    return StatedSizes(cell.n, cell.L, getattr(cell, "d", 0), cell.m, cell.m1, s0, s1)


def unit(record: Record) -> float:
    """(s0^2 + s1^2) m: the order of one neuron's rate on a signal."""
    sizes = sizes_of(record)
    return (sizes.s0**2 + sizes.s1**2) * sizes.m


def largest_of(name: str, *keys: str) -> Scalar:
    """The largest of several of a record's numbers: a bound on all of them is one on it."""
    return Scalar(name, lambda record: max(float(np.max(record[key])) for key in keys))
