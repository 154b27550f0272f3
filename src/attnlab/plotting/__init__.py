"""What figures share: one style, sheets, marks, films of one run, plain numbers for data files.

Used by the papers' figures and by the report. Nothing here trains or judges, and matplotlib is
imported only when something is drawn: listing a paper does not wait for it.
"""

from attnlab.plotting.films import (
    Film,
    film,
    frame_bars,
    frame_curves,
    frame_map,
    frame_points,
    frames,
    log_spaced,
)
from attnlab.plotting.marks import (
    band,
    censored,
    columns_of_dots,
    details_of,
    exact_interval,
    explain,
    first_seeds,
    level_band,
    medians,
    nested,
    numbers,
    power_of_ten,
    success_dots,
    success_tiles,
    tiles,
)
from attnlab.plotting.sheets import (
    canvas,
    finish,
    hides_a_curve,
    legend_below,
    log_axes,
    named_ticks,
    sheet,
    without_minus_zero,
)
from attnlab.plotting.style import PALETTE, STYLE, colours, repeatable, svg_text

__all__ = [
    "PALETTE",
    "STYLE",
    "Film",
    "band",
    "canvas",
    "censored",
    "colours",
    "columns_of_dots",
    "details_of",
    "exact_interval",
    "explain",
    "film",
    "finish",
    "first_seeds",
    "frame_bars",
    "frame_curves",
    "frame_map",
    "frame_points",
    "frames",
    "hides_a_curve",
    "legend_below",
    "level_band",
    "log_axes",
    "log_spaced",
    "medians",
    "named_ticks",
    "nested",
    "numbers",
    "power_of_ten",
    "repeatable",
    "sheet",
    "success_dots",
    "success_tiles",
    "svg_text",
    "tiles",
    "without_minus_zero",
]
