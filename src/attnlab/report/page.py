"""The page: one HTML file that needs nothing else, a pure function of a ledger and a request."""

import base64
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from attnlab import __version__
from attnlab.claims import Verdict
from attnlab.core import Figure, Paper
from attnlab.evidence import words
from attnlab.lab import fingerprint
from attnlab.lab.ledger import Ledger
from attnlab.lab.plan import Request, everything_for, levels, origins
from attnlab.report import hypotheses
from attnlab.report.drawings import Drawn, draw
from attnlab.report.verdicts import counts, cutoff_text, measured_and_more, news_first, verdicts

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
}


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
    template = Path(__file__).with_name("page.html").read_text(encoding="utf-8")
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(FILTERS)
    return environment.from_string(template).render(
        version=__version__,
        stack=fingerprint.stack(),
        request=request,
        changes=", ".join(f"{k}={v}" for k, v in request.changes.items()),
        papers=[_paper(paper, request, ledger, known, pictures) for paper in papers],
    )


def _paper(
    paper: Paper,
    request: Request,
    ledger: Ledger,
    known: dict[str, Verdict],
    pictures: dict[str, Drawn],
) -> dict[str, Any]:
    unknown = [claim for claim in paper.claims if claim.id not in known]
    known = known | {v.id: v for v in verdicts(unknown, request, ledger)}
    claims = {claim.id: claim for claim in paper.claims}
    found = news_first(known[name] for name in claims)
    tasks = everything_for((*paper.claims, *paper.figures), request)
    return {
        "paper": paper,
        "claims": [(claims[verdict.id], verdict) for verdict in found],
        "counts": counts(found),
        "runs": len(tasks),
        "finished": len(ledger.finished(tasks)),
        "figures": [
            _figure(figure, pictures.get(figure.id) or draw(figure, request, ledger))
            for figure in paper.figures
        ],
        "hypotheses": [(a, hypotheses.merged(r)) for a, r in hypotheses.table(paper, request)],
        "settings": [_settings(paper, cls, request) for cls in _settings_classes(paper)],
    }


def _figure(figure: Figure, drawn: Drawn | None) -> dict[str, Any]:
    image = None
    if drawn is not None:
        # An image element keeps the identifiers inside one SVG from clashing with another's.
        data = base64.b64encode(drawn.svg.encode()).decode()
        image = f"data:image/svg+xml;base64,{data}"
    return {"figure": figure, "image": image}


def _settings_classes(paper: Paper) -> list[type]:
    return list(dict.fromkeys(study.settings for study in paper.studies))


def _settings(paper: Paper, settings: type, request: Request) -> dict[str, Any]:
    """Each setting with its origin, and the values that each study takes."""
    studies = [study for study in paper.studies if study.settings is settings]
    taken = {study.id: levels(study, request) for study in studies}
    rows = []
    for row in origins(settings):
        used = {
            study: words.values_text(values[row["name"]])
            for study, values in taken.items()
            if values[row["name"]] != [row["default"]]
        }
        rows.append({**row, "used": used})
    return {"studies": studies, "rows": rows, "scale": request.scale}
