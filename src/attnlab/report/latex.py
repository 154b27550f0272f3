"""For a paper about papers: the verdicts as a LaTeX table, and what was left open as a statement.

Both need the packages booktabs and longtable. Nothing is quoted: statements are in our words.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

from attnlab import __version__
from attnlab.claims import Claim, Verdict
from attnlab.core import Paper
from attnlab.evidence.words import values_text
from attnlab.lab import fingerprint
from attnlab.lab.files import replace_file
from attnlab.lab.plan import Request, levels, origins
from attnlab.report.bibliography import OURS, entry
from attnlab.report.mathematics import escaped, latex_text
from attnlab.report.verdicts import cutoff_text, measured_and_more, news_first


def verdict_table(claims: Sequence[Claim], found: Iterable[Verdict]) -> str:
    """A long table: statement and place, stated, measured, cutoff, verdict; news first."""
    known = {claim.id: claim for claim in claims}
    rows = [_verdict_row(known[v.id], v) for v in news_first(v for v in found if v.id in known)]
    heads = ("statement", "stated", "measured [95\\,\\% interval]", "cutoff", "verdict")
    return _long_table(
        "p{.2\\textwidth}p{.2\\textwidth}p{.25\\textwidth}p{.15\\textwidth}l", heads, rows
    )


def _verdict_row(claim: Claim, verdict: Verdict) -> tuple[str, ...]:
    place = f" ({latex_text(verdict.source)})" if verdict.source else " (ours)"
    return (
        latex_text(claim.title) + place,
        latex_text(verdict.stated),
        latex_text(measured_and_more(verdict)[0]),
        latex_text(cutoff_text(verdict)),
        verdict.outcome.replace("_", " "),
    )


def open_settings(paper: Paper, request: Request) -> list[dict[str, str]]:
    """Every setting that the paper leaves open: what we took, and what one could have taken."""
    rows: dict[tuple[str, str], dict[str, str]] = {}
    for study in paper.studies:
        taken = levels(study, request)
        for row in origins(study.settings):
            if row.origin == "paper":
                continue
            found = rows.setdefault(
                (study.settings.__name__, row.name),
                {
                    "name": row.name,
                    "symbol": row.symbol,
                    "meaning": row.help,
                    "origin": row.origin,
                    "values": "",
                    "alternatives": "; ".join(
                        f"{v} ({why})" for v, why in row.alternatives.items()
                    ),
                },
            )
            values = values_text(taken[row.name])
            shown = found["values"].split(" | ") if found["values"] else []
            if values not in shown:
                found["values"] = " | ".join([*shown, values])
    return list(rows.values())


def reproducibility(paper: Paper, request: Request) -> str:
    """The statement: with what the runs were made, and a table of every setting left open."""
    reference = entry(paper)
    rows = [
        (
            rf"\texttt{{{escaped(row['name'])}}}",
            latex_text(row["meaning"]),
            latex_text(row["values"].replace(" | ", "; elsewhere ")),
            row["origin"],
            latex_text(row["alternatives"]) or "--",
        )
        for row in open_settings(paper, request)
    ]
    stack = latex_text(fingerprint.stack())
    head = (
        f"% Reproducibility statement for {paper.id}, made by attnlab {__version__}.\n"
        f"The runs on ``{latex_text(reference.title)}''~\\cite{{{paper.id}}}\n"
        f"were made with attnlab {__version__}~\\cite{{attnlab}} at scale {request.scale}, first "
        f"seed {request.seed}\n({stack}).\nThe paper leaves {len(rows)} settings open; each value "
        "below is inferred from the paper or ours,\nwith what an attentive reader could have taken "
        "instead.\n\n"
    )
    heads = ("setting", "meaning", "taken", "origin", "could be")
    widths = "lp{.25\\textwidth}p{.2\\textwidth}lp{.3\\textwidth}"
    return head + _long_table(widths, heads, rows)


def _long_table(columns: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [
        r"{\small\begin{longtable}{" + columns + "}",
        r"\toprule",
        " & ".join(heads) + r" \\",
        r"\midrule\endhead",
        *(" & ".join(row) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{longtable}}",
    ]
    return "\n".join(lines) + "\n"


def save(
    papers: Sequence[Paper], found: Sequence[Verdict], request: Request, folder: Path
) -> list[Path]:
    """Write PAPER.verdicts.tex, PAPER.settings.tex and references.bib into the folder."""
    texts = {"references.bib": "\n".join([*(entry(paper).bibtex for paper in papers), OURS])}
    for paper in papers:
        texts[f"{paper.id}.verdicts.tex"] = verdict_table(paper.claims, found)
        texts[f"{paper.id}.settings.tex"] = reproducibility(paper, request)
    for name, text in texts.items():
        replace_file(folder / name, text.encode())
    return [folder / name for name in texts]
