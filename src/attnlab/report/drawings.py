"""Figures as files: PNG and SVG for people, JSON for their numbers."""

import contextlib
import io
import os
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
        return svg_text(self.figure.id, self.picture)


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
    return save_picture(drawn.figure.id, drawn.picture, drawn.data, folder, drawn.svg)


def save_picture(
    name: str, picture: Any, data: dict[str, Any], folder: Path, svg: str | None = None
) -> list[Path]:
    """Write NAME.png, NAME.svg and NAME.json, each whole or not at all."""
    # First the SVG, as for a page: a picture's layout depends on what it was last drawn for.
    text = svg_text(name, picture) if svg is None else svg
    image = io.BytesIO()
    picture.savefig(image, format="png", dpi=160, metadata={"Software": None})
    numbers = msgspec.json.format(msgspec.json.encode(data, enc_hook=_plain), indent=1)
    contents = {"png": image.getvalue(), "svg": text.encode(), "json": numbers}
    paths = []
    for ending, content in contents.items():
        path = folder / f"{name}.{ending}"
        replace_file(path, content)
        paths.append(path)
    return paths


def replace_file(path: Path, data: bytes) -> None:
    """Write a file beside its place, then put it there: nobody ever sees half of it."""
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_bytes(data)
        beside.replace(path)
    except OSError as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        raise BadInput(f"cannot write {path}: {error.strerror}; give another place") from None


def svg_text(name: str, picture: Any) -> str:
    """The picture as SVG text, the same for the same numbers."""
    import matplotlib

    text = io.StringIO()
    with matplotlib.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
        picture.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
    return text.getvalue()


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as Python's, for the data file."""
    return value.tolist()
