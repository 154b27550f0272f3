"""Shapes and data of a compiled run, told by the settings' metadata."""

from dataclasses import dataclass, replace
from typing import Literal

import equinox as eqx
import pytest

from attnlab import cells
from attnlab.core import setting, shape
from attnlab.training.inputs import compiled


@dataclass(frozen=True)
class Settings:
    L: int = setting(3, origin="ours", help="a shape", shape=True)
    eta: float = setting(0.5, origin="ours", help="data")
    kind: Literal["red", "green"] = setting("green", origin="ours", help="data with names")
    fast: bool = setting(True, origin="ours", help="a switch")

    @property
    @shape
    def room(self) -> int:
        return 4 * -(-self.L // 4)


def test_a_shape_is_itself_and_data_are_arrays():
    inputs = compiled(Settings())
    assert inputs.L == 3
    assert inputs.room == 4
    assert float(inputs.eta) == 0.5
    assert bool(inputs.kind.is_("green"))
    assert not bool(inputs.kind.is_("red"))
    assert bool(inputs.fast)
    with pytest.raises(AttributeError, match="'etta'"):
        _ = inputs.etta


def test_only_another_shape_compiles_again():
    traced = []

    @eqx.filter_jit
    def run(inputs):
        traced.append(inputs.room)
        return inputs.eta * inputs.room

    cell = Settings()
    assert float(run(compiled(cell))) == 2.0
    assert float(run(compiled(replace(cell, eta=1.5, kind="red", fast=False)))) == 6.0
    assert traced == [4]
    run(compiled(replace(cell, L=5)))
    assert traced == [4, 8]


def test_the_program_of_a_cell_is_its_shapes():
    assert cells.program(Settings()) == (("L", 3), ("room", 4))
    assert cells.program(Settings(eta=0.1)) == cells.program(Settings())
    assert cells.program(Settings(L=4)) != cells.program(Settings())
