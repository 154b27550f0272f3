"""A figure as data holds what its picture shows."""

import json

import numpy as np
import pytest

from attnlab.plotting import (
    band,
    canvas,
    censored,
    explain,
    film,
    finish,
    frame_bars,
    frame_curves,
    frame_map,
    frame_points,
    frames,
    log_spaced,
    repeatable,
    success_dots,
    success_tiles,
    without_minus_zero,
)
from attnlab.report.drawings import plain_json
from attnlab.report.panels import panels


def one_panel(draw):
    with repeatable("test"):
        drawing, ((panel,),) = canvas(1, 1)
        draw(panel)
        finish(drawing, "a line")
    (found,) = panels(drawing)
    json.loads(plain_json(found))
    return drawing, panel, found


def test_curves_with_their_values_colours_and_scales():
    def draw(panel):
        panel.plot([1, 10, 100], [1, 2, np.nan], "o--", color="black", label=r"$\alpha_*$")
        panel.plot([], [], label="stands for others")
        panel.axhline(1.5, ls=":", label="limit")
        panel.axvline(20)
        panel.set(xscale="log", xlabel="steps", title="panel")
        panel.legend()

    _, _, found = one_panel(draw)
    (curve,) = found["series"]
    assert (curve["x"], curve["y"]) == ([1, 10, 100], [1, 2, None])
    assert (curve["label"], curve["colour"], curve["mark"]) == ("α*", "ink", "circle")
    assert curve["line"] == "5,3"
    assert [(r["axis"], r["at"], r["label"]) for r in found["rules"]] == [
        ("y", 1.5, "limit"), ("x", 20, "")
    ]  # fmt: skip
    assert found["x"]["scale"] == "log"
    assert (found["x"]["label"], found["title"]) == ("steps", "panel")


def test_error_bars_and_bands_keep_their_ends():
    def draw(panel):
        panel.errorbar([1, 2], [5, 6], yerr=[[1, 2], [3, 4]], fmt="s", label="bars")
        told = band(panel, [1, 2, 3], [[1, 2, 3], [3, 4, 5], [2, 3, 4]], "runs")
        assert told["median"] == [2, 3, 4]

    _, _, found = one_panel(draw)
    bars, runs = found["series"]
    assert bars["bars"]
    assert (bars["low"], bars["high"], bars["label"]) == ([4, 4], [8, 10], "bars")
    assert runs["low"] == pytest.approx([1.2, 2.2, 3.2])
    assert runs["runs"] == [3, 3, 3]
    (area,) = found["areas"]
    assert 0 < area["opacity"] < 1


def test_a_shaded_stretch_of_an_axis_is_an_area():
    def draw(panel):
        panel.plot([0, 10], [0, 1])
        panel.axvspan(2, 4, alpha=0.2)
        panel.set_ylim(0, 1)

    _, _, found = one_panel(draw)
    (area,) = found["areas"]
    assert area["paths"] == [[[2, 0], [4, 0], [4, 1], [2, 1]]]
    assert area["opacity"] == pytest.approx(0.2)


def test_success_tiles_have_true_axes_trials_and_exact_intervals():
    def draw(panel):
        panel.set(xscale="log", yscale="log")
        success_tiles(
            panel, [1, 10], [2, 8, 32], [[0, 1], [2, 4], [5, 0]], [[5, 5], [5, 4], [5, 0]]
        )
        censored(panel, [1.0], [32.0], above=True, color="C1")

    _, _, found = one_panel(draw)
    (tiles,) = found["tiles"]
    assert len(tiles["values"]) == 5  # one was never tried
    assert tiles["values"][:2] == [0, 0.2]
    assert tiles["trials"] == [5, 5, 5, 4, 5]
    assert tiles["low"][0] == 0
    assert tiles["high"][0] == pytest.approx(0.5218, abs=1e-3)
    left, low, right, high = tiles["boxes"][0]
    assert (left * right, low * high) == pytest.approx((1, 4), rel=1e-3)
    assert found["series"][0]["note"] == ["beyond what was looked at"]
    assert found["series"][0]["mark"] == "triangle hollow"


def test_dots_of_a_success_map_have_shades_trials_and_intervals():
    _, _, found = one_panel(lambda p: success_dots(p, [1, 1, 2], [4, 8, 4], [0, 5, 2], [5, 5, 4]))
    (dots,) = found["series"]
    assert (dots["trials"], dots["share"]) == ([5, 5, 4], [0, 1, 0.5])
    assert len(set(dots["colours"])) == 3
    assert (dots["low"][0], dots["high"][1]) == (0, 1)


def test_words_at_ticks_are_kept_and_plain_log_ticks_are_plain():
    drawing, panel, found = one_panel(lambda p: p.set_xticks([0, 1], ["small", "large"]))
    assert found["x"]["ticks"] == [[0, "small"], [1, "large"]]

    def draw(panel):
        panel.plot([0.5, 0.9], [1, 1e6])
        panel.set(xscale="log", yscale="log")

    drawing, panel, found = one_panel(draw)
    drawing.draw_without_rendering()
    labels = [t.get_text() for t in panel.get_xticklabels(which="both") if t.get_text()]
    assert labels
    assert not [label for label in labels if "times" in label or "^" in label]
    assert any("10^" in t.get_text() for t in panel.get_yticklabels())


def test_no_minus_zero_and_no_legend_over_a_curve():
    assert without_minus_zero("-0.00 and -0.05, −0, 1e-0, $10^{-0}$") == (
        "0.00 and -0.05, 0, 1e-0, $10^{-0}$"
    )

    def draw(panel):
        panel.plot([0, 1], [0, 1], label="a long name of a curve that goes up")
        panel.text(0.1, 0.9, "-0.00")
        panel.legend(loc="upper right")

    drawing, panel, _ = one_panel(draw)
    assert panel.texts[0].get_text() == "0.00"
    drawing.draw_without_rendering()
    box = panel.get_legend().get_window_extent()
    line = panel.lines[0].get_transform().transform(np.stack([np.linspace(0, 1, 50)] * 2, 1))
    inside = (line > (box.x0, box.y0)) & (line < (box.x1, box.y1))
    assert not inside.all(1).any()


def test_what_is_explained_is_of_the_right_length():
    def draw(panel):
        (line,) = panel.plot([1, 2], [3, 4])
        explain(line, seeds=[7, 8], wrong=[1])

    _, _, found = one_panel(draw)
    assert found["series"][0]["seeds"] == [7, 8]
    assert "wrong" not in found["series"][0]


def test_frames_are_bytes_of_log_spaced_moments():
    times = np.arange(1001)
    at = log_spaced(times)
    assert (at[0], at[-1]) == (0, 1000)
    assert 40 < len(at) <= 66
    assert log_spaced([0, 1, 2]).tolist() == [0, 1, 2]
    values = np.linspace(0, 1, 12).reshape(3, 2, 2)
    values[0, 0, 0] = np.nan
    shown = frames(
        "step",
        [0, 1, 2],
        frame_map("map", values),
        frame_points("points", values[:, 0], values[:, 1], ("x", "y"), ("a", "b")),
        frame_bars("bars", ("one", "two"), values[:, 0]),
        frame_curves("curves", {"loss": [3, 2, 1]}),
    )
    assert json.loads(plain_json(shown))["shown"][0]["shape"] == [3, 2, 2]
    drawing = film(shown, "map")
    image = drawing.axes[0].images[0].get_array()
    assert np.isnan(image[0, 0]) or np.ma.is_masked(image[0, 0])
    last = drawing.axes[2].images[0].get_array()
    assert np.asarray(last, float) == pytest.approx(values[2], abs=0.003)
