"""What figures share: panels, numbers, colours, and pictures that repeat."""

import subprocess
import sys
from dataclasses import dataclass

import numpy as np

from attnlab.core import Record, Records, setting
from attnlab.plotting import (
    canvas,
    colours,
    columns_of_dots,
    details_of,
    exact_interval,
    first_seeds,
    level_band,
    log_axes,
    medians,
    nested,
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


def test_a_band_of_uneven_runs_marks_what_lies_below_its_floor():
    _, ((panel,),) = canvas(1, 1)
    told = level_band(
        panel, [1, 2], [[1.0, 3.0, 2.0], [1e-9, 1e-3, 0.0, 1e-12]], "runs", floor=1e-6
    )
    assert np.allclose(told["median"], [2.0, 5.005e-10], rtol=1e-12)
    line, marks = panel.lines
    assert line.get_ydata().tolist() == [2.0, 1e-6]
    assert details_of(line)["runs"] == [3, 4]
    assert marks.get_marker() == "v"
    assert marks.get_xdata().tolist() == [2.0]
    assert details_of(marks)["note"] == ["5.01e-10, below 1e-06"]
    assert len(panel.collections) == 1


def test_without_a_floor_nothing_is_moved():
    _, ((panel,),) = canvas(1, 1)
    level_band(panel, [1, 2], [[1.0], [1e-9]], "one run each")
    assert [line.get_ydata().tolist() for line in panel.lines] == [[1.0, 1e-9]]
    assert not panel.collections  # one run has no band
    assert level_band(panel, [], [], "none") == {"median": [], "low": [], "high": []}
    assert len(panel.lines) == 1


def test_nested_widths_fall_and_columns_have_names():
    widths = nested(4)
    assert widths == sorted(widths, reverse=True)
    assert len(set(widths)) == 4
    _, ((panel,),) = canvas(1, 1)
    columns_of_dots(panel, {"a\nb": np.array([1.0, 2.0, 9.0]), "c": np.array([3.0])}, 1.0)
    dots, bar = panel.lines[:2]
    assert sorted(dots.get_ydata().tolist()) == [1, 2, 9]
    assert set(bar.get_ydata()) == {2.0}
    assert details_of(dots)["group"] == ["a, b"] * 3


def test_shares_have_exact_intervals():
    low, high = exact_interval([0, 5], [5, 0])
    assert low == [0.0, None]
    assert abs(high[0] - 0.5218) < 1e-3
