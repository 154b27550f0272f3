"""The page: one HTML file that needs nothing else, a pure function of a ledger and a request.

Verdicts, reasons and figures are in the HTML itself; the script only adds (filters, figures that
answer the mouse, a slider through training). Scripts and data lie in the file, packed.
"""

import base64
import gzip
import hashlib
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any

from markupsafe import Markup

from attnlab import __version__
from attnlab.claims import Claim, Verdict
from attnlab.core import Figure, Paper
from attnlab.evidence import words
from attnlab.lab import fingerprint
from attnlab.lab.ledger import Ledger
from attnlab.lab.plan import Request, everything_for, levels, origins
from attnlab.report import decisions, hypotheses
from attnlab.report.bibliography import entry
from attnlab.report.drawings import Drawn, NotDrawn, draw, outcome_of, plain_json
from attnlab.report.mathematics import formulas, mathml, plain_text, typeset
from attnlab.report.news import news
from attnlab.report.panels import panels
from attnlab.report.pictures import glyph_sheet, inline, style_sheet
from attnlab.report.verdicts import counts, cutoff_text, measured_and_more, news_first, verdicts

BUNDLES = ("d3-7.9.0.min.js.gz", "plot-0.6.17.umd.min.js.gz")


def _set(text: str) -> Markup:
    return Markup(typeset(text))


FILTERS = {
    "number": words.number,
    "effect": words.effect_text,
    "constant": words.constant_text,
    "needs": words.requirement,
    "met": words.met_text,
    "miss": words.miss_text,
    "cutoff": cutoff_text,
    "measured": lambda verdict: measured_and_more(verdict)[0],
    "rejected": lambda verdict: sum(c.outcome == "contradicted" for c in verdict.controls),
    "plain": lambda outcome: outcome.replace("_", " "),
    "owned": lambda part: words.owned(part.cutoff, part.owner),
    "set": _set,
    "bar": lambda hypothesis: Markup(decisions.hypothesis_bar(hypothesis)),
    "strip": lambda tally: Markup(decisions.universe_strip(tally)),
}


@dataclass
class _Sheet:
    """What is gathered while the papers are laid out: letters and styles of figures, data."""

    glyphs: dict[str, str] = field(default_factory=dict)
    styles: dict[str, str] = field(default_factory=dict)
    figures: dict[str, Any] = field(default_factory=dict)
    frames: dict[str, Any] = field(default_factory=dict)


def page(
    papers: Iterable[Paper],
    request: Request,
    ledger: Ledger,
    found: Iterable[Verdict] = (),
    drawn: Iterable[Drawn] = (),
) -> str:
    """The whole page as text. `found` and `drawn` are what is evaluated and drawn already."""
    from jinja2 import Environment, StrictUndefined

    known = {verdict.id: verdict for verdict in found}
    pictures = {picture.figure.id: picture for picture in drawn}
    sheet = _Sheet()
    shown = [_paper(paper, request, ledger, known, pictures, sheet) for paper in papers]
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(FILTERS)
    script = _asset("page.js")
    bundles = {name: _bundle(name) for name in BUNDLES}
    return environment.from_string(_asset("page.html")).render(
        version=__version__,
        stack=fingerprint.stack(),
        request=request,
        changes=", ".join(f"{k}={v}" for k, v in request.changes.items()),
        again=" ".join(f"--set {k}={v}" for k, v in request.changes.items()),
        papers=shown,
        style=Markup(_asset("page.css") + style_sheet(sheet.styles)),
        script=Markup(script),
        glyphs=Markup(glyph_sheet(sheet.glyphs)),
        policy=Markup(
            " ".join(
                f"'sha256-{_hash(text)}'"
                for text in (script, *(text for text, _ in bundles.values()))
            )
        ),
        bundles={name: packed for name, (_, packed) in bundles.items()},
        data=_packed(plain_json({"figures": sheet.figures, "frames": sheet.frames})),
    )


# --- what a page is made of -------------------------------------------------------------------


def _asset(name: str) -> str:
    return files("attnlab.report").joinpath(name).read_text(encoding="utf-8")


@cache
def _bundle(name: str) -> tuple[str, str]:
    """A script of others: its text, and itself as the page carries it."""
    data = files("attnlab.report").joinpath("vendor", name).read_bytes()
    return gzip.decompress(data).decode(), base64.b64encode(data).decode()


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, 9, mtime=0)).decode()


def _hash(text: str) -> str:
    """What the browser's policy knows a script by: no other one runs."""
    return base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


# --- papers -----------------------------------------------------------------------------------


def _paper(
    paper: Paper,
    request: Request,
    ledger: Ledger,
    known: dict[str, Verdict],
    pictures: Mapping[str, Drawn],
    sheet: _Sheet,
) -> dict[str, object]:
    unknown = [claim for claim in paper.claims if claim.id not in known]
    known = known | {v.id: v for v in verdicts(unknown, request, ledger)}
    claims = {claim.id: claim for claim in paper.claims}
    found = [known[name] for name in claims]
    latex = formulas(paper)
    tasks = everything_for((*paper.claims, *paper.figures), request, ledger)
    figures = [
        _figure(figure, pictures.get(figure.id), known, request, ledger, sheet)
        for figure in paper.figures
    ]
    return {
        "paper": paper,
        "entry": entry(paper),
        "news": [
            (item, Markup(decisions.verdict_chart(item.claim, item.verdict)))
            for item in news((claims[v.id], v) for v in found)
        ],
        "claims": [_claim(claims[v.id], v, paper, latex) for v in news_first(found)],
        "counts": [(name, count) for name, count in counts(found) if count],
        "runs": len(tasks),
        "finished": len(ledger.finished(tasks)),
        "figures": figures,
        "training": [f for f in figures if f["frames"]],
        "hypotheses": [(a, hypotheses.merged(r)) for a, r in hypotheses.table(paper, request)],
        "settings": [_settings(paper, cls, request) for cls in _settings_classes(paper)],
    }


def _claim(
    claim: Claim, verdict: Verdict, paper: Paper, latex: Mapping[str, str]
) -> dict[str, object]:
    formula = latex.get(claim.id)
    return {
        "claim": claim,
        "verdict": verdict,
        "formula": Markup(mathml(formula, display=True)) if formula else "",
        "chart": Markup(decisions.verdict_chart(claim, verdict)),
        "parts": {
            part.name: Markup(decisions.part_chart(claim, part))
            for reading in verdict.readings
            for part in reading.parts
        },
        "figure": _figure_of(claim, paper),
    }


def _figure_of(claim: Claim, paper: Paper) -> Figure | None:
    """The figure under the claim's id, else the first that reads the study of its first part."""
    own = [figure for figure in paper.figures if figure.id == claim.id]
    first = claim.parts[0].study
    near = [figure for figure in paper.figures if first in figure.studies]
    return next(iter((*own, *near)), None)


def _figure(
    figure: Figure,
    drawn: Drawn | None,
    known: Mapping[str, Verdict],
    request: Request,
    ledger: Ledger,
    sheet: _Sheet,
) -> dict[str, object]:
    verdict = known.get(figure.id)
    shown: dict[str, object] = {"figure": figure, "verdict": verdict, "frames": False}
    try:
        drawn = drawn or draw(figure, request, ledger, outcome_of(verdict))
        svg = inline(drawn.svg, figure.id, plain_text(figure.title), sheet.glyphs, sheet.styles)
    except NotDrawn as why:
        return {**shown, "image": None, "why": str(why)}
    frames = drawn.data.get("frames")
    if frames:
        sheet.frames[figure.id] = frames
    # What a figure of others draws may be like nothing that we know: then it is a picture only.
    with suppress(TypeError, ValueError, LookupError, ArithmeticError):
        sheet.figures[figure.id] = panels(drawn.picture)
    return {**shown, "image": Markup(svg), "frames": bool(frames)}


# --- settings ---------------------------------------------------------------------------------


def _settings_classes(paper: Paper) -> list[type]:
    return list(dict.fromkeys(study.settings for study in paper.studies))


def _settings(paper: Paper, settings: type, request: Request) -> dict[str, object]:
    """Each setting with its origin, and the values that each study takes."""
    studies = [study for study in paper.studies if study.settings is settings]
    taken = {study.id: levels(study, request) for study in studies}
    rows = []
    for row in origins(settings):
        used = {
            study: words.values_text(values[row.name])
            for study, values in taken.items()
            if values[row.name] != [row.default]
        }
        rows.append({**row._asdict(), "used": used})
    return {"studies": studies, "rows": rows, "scale": request.scale, "name": settings.__name__}
