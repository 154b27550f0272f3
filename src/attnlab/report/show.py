"""Everything about one id, as `show` prints it."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from attnlab.claims import Assumption, Claim, Constant, Control, Fitted, Part, Reading, Route
from attnlab.core import Design, Figure, Json, SettingValue, Study
from attnlab.evidence.words import constant_text, owned, values_text
from attnlab.lab.plan import Request, levels, origins
from attnlab.lab.registry import Target
from attnlab.report.hypotheses import table as hypotheses
from attnlab.report.terminal import hypotheses_table, list_table


def show(target: Target, name: str, request: Request) -> Group:
    """A claim, figure, hypothesis or study with what it rests on; a whole paper in short."""
    if name == target.paper.id:
        head = Text(f"{target.paper.title}\n{target.paper.reference}\n", style="bold")
        return Group(head, list_table([target.paper]))
    parts: list[RenderableType] = []
    for claim in target.claims:
        parts += _claim(claim)
    for figure in target.figures:
        parts += _figure(figure)
    for assumption in target.assumptions:
        parts += _assumption(assumption)
        parts.append(hypotheses_table(hypotheses(target.paper, request, [assumption])))
    used = {s for item in (*target.claims, *target.figures) for s in item.studies}
    for study in target.studies:
        readers = (*target.paper.claims, *target.paper.figures)
        names = dict.fromkeys(item.id for item in readers if study.id in item.studies)
        parts += _section(f"{study.id} is read by", ", ".join(names) or "nothing")
        used.add(study.id)
    for study in target.paper.studies:
        if study.id in used:
            parts += _study(study, request)
    return Group(*parts)


def _title(words: str) -> Text:
    return Text(f"{words}\n", style="bold underline")


def _section(title: str, body: str) -> list[RenderableType]:
    return [Text(title, style="bold"), Padding(Text(body), (0, 0, 1, 2))] if body else []


def _items(title: str, lines: Iterable[str]) -> list[RenderableType]:
    """A section with an item a line, its second line indented."""
    found = list(lines)
    if not found:
        return []
    grid = Table.grid(padding=(0, 1, 0, 0))
    for line in found:
        grid.add_row("-", Text(line))
    return [Text(title, style="bold"), Padding(grid, (0, 0, 1, 2))]


def _claim(claim: Claim) -> list[RenderableType]:
    return [
        _title(f"claim {claim.id}: {claim.title}"),
        *_section("kind", claim.kind),
        *_section("source", str(claim.source)),
        *_section("statement", claim.statement),
        *_section("stated", claim.stated),
        *_section("what is measured", claim.measured),
        *_items("parts: what, its cutoff and whose", map(_part, claim.parts)),
        *_section("why these cutoffs", claim.why),
        *_items("readings (every allowed one decides)", map(_reading, claim.readings)),
        *_section("trivial bound", _trivial(claim)),
        *_items("controls (each must come out contradicted)", map(_control, claim.controls)),
        *_items("second routes", map(_route, claim.routes)),
        *_items("constants", map(_constant, claim.constants)),
        *_section("notes", claim.notes),
    ]


def _part(part: Part) -> str:
    words = f"{part.name}: {part.scalar.name}; {owned(part.law.cutoff(), part.law.owner)}"
    words += f"; along {part.path}" if part.path else ""
    words += f"; whole range: {part.whole_range}" if part.whole_range else ""
    words += f"; the same in every run: {part.scalar.exact}" if part.scalar.exact else ""
    words += f"; reading: {part.reading}" if part.reading else ""
    return f"{words}; study {', '.join(part.studies)}"


def _reading(reading: Reading) -> str:
    return f"{reading.name} ({'allowed' if reading.allowed else 'aside'}): {reading.why}"


def _trivial(claim: Claim) -> str:
    if claim.trivial is None:
        return ""
    search = f"; searched: {claim.trivial.search}" if claim.trivial.search else ""
    return f"{claim.trivial.name}{search}"


def _control(control: Control) -> str:
    return f"{control.name}: {control.description}{_where(control.part, control.changes)}"


def _route(route: Route) -> str:
    how = "computed from the records" if route.compute else "runs of its own"
    return f"{route.name}: {how}{_where(route.part, route.changes)}"


def _where(part: str, changes: Mapping[str, SettingValue]) -> str:
    words = [f"part {part}"] if part else []
    words += [f"with {', '.join(f'{k}={v}' for k, v in changes.items())}"] if changes else []
    return f" ({'; '.join(words)})" if words else ""


def _constant(constant: Constant | Fitted) -> str:
    if isinstance(constant, Fitted):
        return f"{constant.name} (fitted: the median of {constant.scalar.name})"
    return constant_text(constant)


def _figure(figure: Figure) -> list[RenderableType]:
    return [
        _title(f"figure {figure.id}: {figure.title}"),
        *_section("caption", figure.caption),
    ]


def _assumption(assumption: Assumption) -> list[RenderableType]:
    return [
        _title(f"hypothesis {assumption.id}: {assumption.title}"),
        *_section("source", str(assumption.source)),
        *_section("statement", assumption.statement),
        *_section("notes", assumption.notes),
    ]


def _study(study: Study, request: Request) -> list[RenderableType]:
    design = study.designs[request.scale]
    table = Table(box=None)
    for heading in ("setting", "symbol", "default", "here", "origin", "meaning"):
        table.add_column(heading)
    here = levels(study, request)
    for row in origins(study.settings):
        values = here[row.name]
        other = values_text(values) if values != [row.default] else ""
        cells = (row.name, row.symbol, row.default, other, row.origin, row.help)
        table.add_row(*(Text(str(x)) for x in cells))
    choices = _items("choices that the paper leaves open", _choices(study, here))
    runs = f"{len(design.cells)} cells x {_seeds(design)} at scale {request.scale}"
    head = Text(f"study {study.id}: {study.summary} ({runs})", style="bold")
    return [head, Padding(table, (0, 0, 1, 2)), *choices]


def _seeds(design: Design) -> str:
    """How many seeds a cell has, or how they are found."""
    if design.search is None:
        return f"{design.trials} seeds"
    sizes = design.search.sizes
    return (
        f"at most {design.search.most} seeds, {design.search.size} searched for "
        f"from {sizes[0]} to {sizes[-1]}"
    )


def _choices(study: Study, here: dict[str, list[SettingValue]]) -> Iterable[str]:
    """Each open setting with the values that a reader could have chosen, and why."""
    for row in origins(study.settings):
        others = [f"{k} ({why})" for k, why in row.alternatives.items()]
        if others:
            yield f"{row.name} = {values_text(here[row.name])}; or {'; or '.join(others)}"


# --- JSON -------------------------------------------------------------------------------------


def show_json(target: Target, request: Request) -> dict[str, Json]:
    """The same as data: claims, figures, hypotheses, and the studies with their settings."""
    items = (*target.claims, *target.figures)
    used = {s for item in items for s in item.studies} | {s.id for s in target.studies}
    return {
        "paper": target.paper.id,
        "claims": [_claim_json(claim) for claim in target.claims],
        "figures": [
            {"id": f.id, "title": f.title, "caption": f.caption, "studies": list(f.studies)}
            for f in target.figures
        ],
        "hypotheses": [
            {"id": a.id, "title": a.title, "statement": a.statement, "source": str(a.source)}
            for a in target.assumptions
        ],
        "studies": [_study_json(s, request) for s in target.paper.studies if s.id in used],
    }


def _claim_json(claim: Claim) -> dict[str, Json]:
    texts = ("id", "kind", "title", "statement", "stated", "measured", "why", "notes")
    return {
        **{name: getattr(claim, name) for name in texts},
        "source": str(claim.source),
        "studies": list(claim.studies),
        "parts": [
            {
                "name": part.name,
                "scalar": part.scalar.name,
                "cutoff": part.law.cutoff(),
                "owner": part.law.owner,
                "reading": part.reading,
                "path": part.path,
                "studies": list(part.studies),
            }
            for part in claim.parts
        ],
        "readings": [asdict(reading) for reading in claim.readings],
        "controls": [
            {"name": c.name, "description": c.description, "part": c.part}
            | {"changes": dict(c.changes)}
            for c in claim.controls
        ],
        "second_routes": [route.name for route in claim.routes],
    }


def _study_json(study: Study, request: Request) -> dict[str, Json]:
    design, here = study.designs[request.scale], levels(study, request)
    return {
        "id": study.id,
        "summary": study.summary,
        "scale": request.scale,
        "cells": len(design.cells),
        "seeds": design.search.most if design.search else design.trials,
        "search": list(design.search.sizes) if design.search else None,
        "settings": [
            {
                "name": row.name,
                "symbol": row.symbol,
                "default": row.default,
                "origin": row.origin,
                "help": row.help,
                "values": here[row.name],
                "alternatives": [
                    {"value": value, "reason": why} for value, why in row.alternatives.items()
                ],
            }
            for row in origins(study.settings)
        ],
    }
