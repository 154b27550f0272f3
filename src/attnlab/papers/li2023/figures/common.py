"""What the figures of li2023 share."""

from typing import Any

import numpy as np

from attnlab.core import Records
from attnlab.evidence.threshold_laws import thresholds
from attnlab.papers.li2023.scalars.trials import SUCCESS


def canvas(rows: int, columns: int, width: float = 4.6, height: float = 3.5) -> tuple[Any, Any]:
    """A drawing and its panels, always as an array (rows, columns)."""
    from matplotlib.figure import Figure as Drawing

    drawing = Drawing(figsize=(width * columns, height * rows), layout="constrained")
    return drawing, drawing.subplots(rows, columns, squeeze=False)


def numbers(values: Any) -> list[float]:
    """An array as plain numbers for the figure's data file."""
    return [float(x) for x in np.asarray(values, dtype=float).reshape(-1)]


def log_axes(panel: Any) -> None:
    """Both axes logarithmic, with plain numbers at 1, 2 and 5."""
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    panel.set(xscale="log", yscale="log")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(ScalarFormatter())
        axis.set_minor_formatter(NullFormatter())


def success_map(panel: Any, records: Records, level: Any, label: str) -> dict[str, Any]:
    """Success rates as grey tiles over (level, N), N50 with its interval on top; the data."""
    xs = sorted({level(r.cell) for r in records})
    sizes = sorted({r.cell.N for r in records})
    rates = np.full((len(sizes), len(xs)), np.nan)
    for column, x in enumerate(xs):
        for row, N in enumerate(sizes):
            own = [bool(r["success"]) for r in records if level(r.cell) == x and r.cell.N == N]
            if own:
                rates[row, column] = np.mean(own)
    found = list(thresholds(records, SUCCESS, level).values())
    panel.pcolormesh(
        np.arange(len(xs) + 1) - 0.5,
        np.arange(len(sizes) + 1) - 0.5,
        rates,
        cmap="gray",
        vmin=0,
        vmax=1,
        edgecolors="0.6",
        linewidth=0.3,
    )
    rows = np.arange(len(sizes))

    def place(N: float) -> float:
        return float(np.interp(np.log(np.clip(N, sizes[0], sizes[-1])), np.log(sizes), rows))

    middle = [place(f.n50) for f in found]
    panel.errorbar(
        range(len(xs)),
        middle,
        yerr=[
            [m - place(max(f.low, 1e-9)) for m, f in zip(middle, found, strict=True)],
            [place(min(f.high, 1e9)) - m for m, f in zip(middle, found, strict=True)],
        ],
        fmt="o-",
        color="tab:red",
        ms=4,
        lw=1,
        capsize=3,
        label="N50, 95 %",
    )
    panel.set_xticks(range(len(xs)), [f"{x:.3g}" for x in xs], fontsize=8)
    panel.set_yticks(rows, [str(N) for N in sizes], fontsize=8)
    panel.set(xlabel=label, ylabel="training samples N")
    return {
        "levels": numbers(xs),
        "sizes": sizes,
        "success_rate": [numbers(row) for row in rates],
        "n50": numbers([f.n50 for f in found]),
        "n50_low": numbers([f.low for f in found]),
        "n50_high": [float(f.high) if np.isfinite(f.high) else None for f in found],
    }
