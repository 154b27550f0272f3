"""A cell as a compiled run takes it: shapes are part of the program, everything else is data.

Which is which is said once, where a setting is declared (`setting(..., shape=True)`, or `@shape`
under a property): so a run needs no list of its own.

    inputs = compiled(cell)
    inputs.L                        # a shape: the number itself
    inputs.eta                      # data: an array
    inputs.removal.is_("zeroed")    # data with named values: a Boolean array
"""

import dataclasses
from collections.abc import Mapping
from typing import Any, get_args, get_type_hints

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Bool, Int

from attnlab.cells import Cell, SettingValue, program


class Choice(eqx.Module):
    """One of several named values, as data: which of them it is costs no compilation."""

    code: Int[Array, ""]
    names: tuple[str, ...] = eqx.field(static=True)

    def is_(self, name: str) -> Bool[Array, ""]:
        """Whether it is this one."""
        return self.code == self.names.index(name)


class Inputs(eqx.Module):
    """The settings of a run by name. Make one by `compiled`."""

    shapes: tuple[tuple[str, SettingValue], ...] = eqx.field(static=True)
    data: Mapping[str, Array | Choice]

    def __getattr__(self, name: str) -> Any:  # a shape, an array or a choice: the run knows which
        if name in ("shapes", "data"):  # not set yet: equinox looks before it sets
            raise AttributeError(name)
        for known, value in self.shapes:
            if known == name:
                return value
        if name in self.data:
            return self.data[name]
        raise AttributeError(f"no setting is called {name!r}")


def compiled(cell: Cell) -> Inputs:
    """The cell's shapes as they are, and its other settings as arrays."""
    kinds = get_type_hints(type(cell))
    data = {
        field.name: _as_data(getattr(cell, field.name), kinds[field.name])
        for field in dataclasses.fields(cell)
        if not field.metadata["shape"]
    }
    return Inputs(program(cell), data)


def _as_data(value: SettingValue, kind: object) -> Array | Choice:
    if isinstance(value, str):
        names = tuple(dict.fromkeys((*get_args(kind), value)))  # one's own is no name of ours
        return Choice(jnp.asarray(names.index(value)), names)
    return jnp.asarray(value)
