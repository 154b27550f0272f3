"""Figures as files: PNG and SVG for people, JSON for their numbers."""

import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec

from attnlab.core import BadInput, Figure
from attnlab.lab.ledger import Ledger
from attnlab.lab.plan import Request, figure_records


@dataclass(frozen=True)
class Drawn:
    """A figure as drawn from the records: its picture and its numbers."""

    figure: Figure
    picture: Any
    data: dict[str, Any]

    @cached_property
    def svg(self) -> str:
        """The picture as SVG text, the same for the same records."""
        import matplotlib

        text = io.StringIO()
        with matplotlib.rc_context({"svg.hashsalt": self.figure.id}):
            self.picture.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        return text.getvalue()


def draw(figure: Figure, request: Request, ledger: Ledger) -> Drawn | None:
    """Draw a figure from its records, or return None while runs are missing."""
    import matplotlib

    records = figure_records(figure, request, ledger)
    if records.missing or not records:
        return None
    with matplotlib.rc_context({"svg.hashsalt": figure.id, "svg.fonttype": "path"}):
        picture, data = figure.draw(records)
        label = f"{figure.id}, scale {request.scale}"
        picture.suptitle(label, x=0.995, ha="right", fontsize=7, alpha=0.7)
    return Drawn(figure, picture, {"id": figure.id, "scale": request.scale, **data})


def save(drawn: Drawn, folder: Path) -> list[Path]:
    """Write ID.png, ID.svg and ID.json into the folder."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise BadInput(f"cannot write in {folder}: {error.strerror}; give another --out") from None
    paths = [folder / f"{drawn.figure.id}.{ending}" for ending in ("png", "svg", "json")]
    # First the SVG, as for a page: a picture's layout depends on what it was last drawn for.
    paths[1].write_text(drawn.svg, encoding="utf-8")
    drawn.picture.savefig(paths[0], dpi=160, metadata={"Software": None})
    encoded = msgspec.json.encode(drawn.data, enc_hook=_plain)
    paths[2].write_bytes(msgspec.json.format(encoded, indent=1))
    return paths


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, for the data file."""
    return value.tolist()
