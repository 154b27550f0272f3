"""A claim over its universes, as a person sees it: a strip of universes, a table, JSON."""

import math
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Group
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from attnlab.claims import UNIVERSE_OUTCOMES, LevelTally, UniverseOutcome
from attnlab.core import Json, SettingValue
from attnlab.evidence.universes import Factor
from attnlab.evidence.words import effect_text, interval, number
from attnlab.lab.multiverse import Multiverse, Row
from attnlab.plotting import sheet
from attnlab.report.drawings import save_picture
from attnlab.report.verdicts import effect_json

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Drawing

COLOURS: dict[UniverseOutcome, str] = {
    "supported": "#1b7837",
    "contradicted": "#b2182b",
    "undecided": "#8c8c8c",
    "diverged": "#542788",
}
MARKS: dict[UniverseOutcome, str] = {
    "supported": "o",
    "contradicted": "s",
    "undecided": "D",
    "diverged": "x",
}
"""A shape beside a colour, for readers who do not tell the colours apart."""


def as_json(found: Multiverse) -> dict[str, Json]:
    """The multiverse as `--json` prints it, and as the data of its figure."""
    return {
        "id": found.claim,
        "scale": found.scale,
        "verdict": found.tally.outcome,
        "reason": found.tally.reason,
        "flips": found.tally.flips or None,
        "largest_move": largest_move(found) or None,
        "counts": {**found.tally.counts},
        "factors": [
            {
                "name": factor.name,
                "levels": [_level(factor, tallied) for tallied in _levels(found, factor)],
            }
            for factor in found.factors
        ],
        "universes": [
            {
                "changes": dict(row.universe.changes),
                "outcome": row.outcome,
                "effect": effect_json(row.effect),
            }
            for row in found.rows
        ],
    }


def _levels(found: Multiverse, factor: Factor) -> list[LevelTally]:
    return [tallied for tallied in found.tally.levels if tallied.factor == factor.name]


def _level(factor: Factor, tallied: LevelTally) -> dict[str, Json]:
    return {
        "level": tallied.level,
        "designed": tallied.level == factor.designed,
        "reason": factor.reasons.get(tallied.level, ""),
        **{outcome: tallied.counts[outcome] for outcome in UNIVERSE_OUTCOMES},
    }


def largest_move(found: Multiverse) -> str:
    """Which single choice moves the effect most, in a sentence; nothing without two effects."""
    base = found.rows[0].effect if found.rows else None
    if base is None:
        return ""
    neighbours = [
        (row.universe, row.effect)
        for row in found.rows[1:]
        if len(row.universe.changes) == 1 and row.effect and row.effect.name == base.name
    ]
    finite = [(u, e) for u, e in neighbours if math.isfinite(e.value - base.value)]
    if not finite:
        return ""
    universe, effect = max(finite, key=lambda pair: abs(pair[1].value - base.value))
    return (
        f"no single choice moves it more than {universe}: {base.name} {number(base.value)}"
        f"{interval(base)} as designed, {number(effect.value)}{interval(effect)} there"
    )


def table(found: Multiverse) -> Group:
    """The outcome in a sentence, then the shares by level of each choice."""
    title = f"{found.claim}: {found.tally.outcome} over {len(found.rows)} universes"
    title += f" (designs of scale {found.scale})"
    sentences = [title, found.tally.reason, largest_move(found)]
    head = Text("\n".join(text for text in sentences if text) + "\n", style="bold")
    if not found.factors:
        return Group(head, Text("its studies have no setting that the paper leaves open"))
    levels = Table(box=None)
    for heading in ("choice", "level", *UNIVERSE_OUTCOMES, "why this level"):
        levels.add_column(heading, justify="right" if heading in UNIVERSE_OUTCOMES else "left")
    for factor in found.factors:
        for tallied in _levels(found, factor):
            designed = tallied.level == factor.designed
            reason = "as designed" if designed else factor.reasons.get(tallied.level, "")
            counts = [str(tallied.counts[outcome] or "–") for outcome in UNIVERSE_OUTCOMES]
            levels.add_row(factor.name, escape(_text(tallied.level)), *counts, escape(reason))
    return Group(head, levels)


def rows_table(found: Multiverse) -> Table:
    """Every universe, a row each."""
    rows = Table(title="universes", title_justify="left")
    for heading in ("universe", "outcome", "effect"):
        rows.add_column(heading, overflow="fold")
    for row in found.rows:
        rows.add_row(escape(str(row.universe)), row.outcome, escape(effect_text(row.effect)))
    return rows


def draw(found: Multiverse) -> "Drawing":
    """A strip: every universe's effect with its interval above, its choices below."""
    rows = sorted(found.rows, key=_order)
    taken = {(f.name, row.universe.level(f)) for f in found.factors for row in rows}
    lines = [(f, level) for f in found.factors for level in f.levels if (f.name, level) in taken]
    height = 2.9 + 0.2 * len(lines)
    drawing = sheet(max(6.5, 0.26 * len(rows) + 3.2), height)
    top, bottom = drawing.subplots(
        2, 1, sharex=True, height_ratios=[2.2, max(0.2 * len(lines), 0.4)], squeeze=True
    )
    named = found.rows[0].effect.name if found.rows and found.rows[0].effect else "effect"
    for x, row in enumerate(rows):
        _draw_effect(top, x, row, named)
        for y, (factor, level) in enumerate(lines):
            here = row.universe.level(factor) == level
            bottom.plot(
                x, y, "s" if here else ".", ms=5 if here else 1.5,
                color=COLOURS[row.outcome] if here else "#bbbbbb",
            )  # fmt: skip
    for index, factor in enumerate(found.factors):
        own = [y for y, (f, _) in enumerate(lines) if f.name == factor.name]
        if own and index % 2 == 0:
            bottom.axhspan(own[0] - 0.5, own[-1] + 0.5, color="#f0f0f0", zorder=0)
    top.set_ylabel("\n".join(textwrap.wrap(named, 30)), fontsize=8)
    title = f"{found.claim}: {found.tally.outcome}; {found.tally.reason}"
    top.set_title("\n".join(textwrap.wrap(title, 90)), fontsize=8, loc="left")
    for outcome in UNIVERSE_OUTCOMES:
        if found.tally.counts[outcome]:
            label = f"{outcome} ({found.tally.counts[outcome]})"
            top.plot([], [], MARKS[outcome], color=COLOURS[outcome], label=label)
    top.legend(fontsize=7, loc="best", frameon=False)
    labels = [f"{factor.name} = {_text(level)}" for factor, level in lines]
    bottom.set_yticks(range(len(lines)), labels, fontsize=7)
    bottom.set_ylim(max(len(lines), 1) - 0.5, -0.5)
    bottom.set_xticks([])
    bottom.set_xlabel(
        f"universes, by outcome and effect (designs of scale {found.scale});\n"
        "dotted: another quantity decided, or none",
        fontsize=8,
    )
    return drawing


def save(found: Multiverse, folder: Path) -> list[Path]:
    """Write ID.multiverse.png, .svg and .json into the folder."""
    return save_picture(f"{found.claim}.multiverse", draw(found), as_json(found), folder)


def _draw_effect(panel: "Axes", x: int, row: Row, named: str) -> None:
    colour, mark = COLOURS[row.outcome], MARKS[row.outcome]
    if row.effect is None or row.effect.name != named or not math.isfinite(row.effect.value):
        panel.axvline(x, color=colour, lw=0.6, ls=":")
        return
    ends = (row.effect.low, row.effect.high)
    if all(abs(end) < 1e300 for end in ends):
        panel.plot([x, x], ends, color=colour, lw=1.2)
    panel.plot(x, row.effect.value, mark, color=colour, ms=4)


def _order(row: Row) -> tuple[int, float]:
    value = row.effect.value if row.effect and row.effect.value == row.effect.value else 0.0
    return UNIVERSE_OUTCOMES.index(row.outcome), value


def _text(level: SettingValue) -> str:
    return number(level) if isinstance(level, float) else str(level)
