"""What figures share: panels, numbers, colours, and pictures that repeat."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np

from attnlab.core import Record, Records, setting
from attnlab.plotting import (
    canvas,
    colours,
    first_seeds,
    log_axes,
    medians,
    numbers,
    power_of_ten,
    svg_text,
)


@dataclass(frozen=True)
class Cell:
    m: int = setting(1, origin="ours", help="a size")


RECORDS = Records(
    Record("toy.study", Cell(m), s, {"x": m * 10.0 + s}) for m in (4, 2) for s in range(3)
)


def test_panels_are_always_an_array():
    for rows, columns in ((1, 1), (1, 3), (2, 2)):
        drawing, panels = canvas(rows, columns, width=2.0, height=1.5)
        assert panels.shape == (rows, columns)
        assert tuple(drawing.get_size_inches()) == (2.0 * columns, 1.5 * rows)


def test_numbers_are_plain():
    found = numbers(np.array([[1, 2], [3, 4]], np.int8))
    assert found == [1.0, 2.0, 3.0, 4.0]
    assert {type(x) for x in found} == {float}
    assert [power_of_ten(x) for x in (1.0, 250.0, 1e3, 1e8, 2e4)] == [
        "1", "250", "$10^{3}$", "$10^{8}$", "20000"
    ]  # fmt: skip


def test_records_by_a_setting():
    levels, middle = medians(RECORDS, "m", "x")
    assert levels.tolist() == [2, 4]
    assert middle.tolist() == [21, 41]
    assert {m: r["x"] for m, r in first_seeds(RECORDS, "m").items()} == {2: 20, 4: 40}


def test_colours_go_from_dark_to_light():
    light = [sum(colour[:3]) for colour in colours(5)]
    assert light == sorted(light)
    assert len(colours(0)) == 1
    assert colours(2)[-1] != colours(2, lightest=0.5)[-1]


def test_a_picture_repeats_to_the_letter():
    def picture() -> str:
        drawing, ((panel,),) = canvas(1, 1)
        panel.plot([1, 20], [3, 400], "o-")
        log_axes(panel)
        return svg_text("toy", drawing)

    assert picture() == picture()


def test_importing_it_imports_neither_jax_nor_matplotlib():
    code = "import sys, attnlab.plotting; print(sorted({'jax', 'matplotlib'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
