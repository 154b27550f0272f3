"""Figures as files: PNG, SVG and PDF for people, JSON for their numbers."""

import io
import logging
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from attnlab.claims import Verdict
from attnlab.core import Figure, Records
from attnlab.lab.files import replace_file
from attnlab.lab.ledger import Ledger
from attnlab.lab.plan import Request, figure_records
from attnlab.plotting import Film, finish, repeatable, svg_text

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure as Drawing


@dataclass(frozen=True)
class Drawn:
    """A figure as drawn from the records: its picture and its numbers."""

    figure: Figure
    picture: "Drawing"
    data: dict[str, object]

    @cached_property
    def svg(self) -> str:
        """The picture as SVG text, the same for the same records."""
        return svg_text(self.figure.id, self.picture)


def outcome_of(verdict: Verdict | None) -> str:
    """What a figure says of its claim's verdict: nothing where no run was judged."""
    return verdict.outcome if verdict is not None and verdict.trials else ""


class NotDrawn(Exception):
    """A figure has no picture. The message says why."""


def draw(figure: Figure, request: Request, ledger: Ledger, outcome: str = "") -> Drawn:
    """Draw a figure from its records; raises NotDrawn where they are not enough for it.

    `outcome` is that of the claim under the figure's id, where there is one and it is judged.
    """
    records = figure_records(figure, request, ledger)
    if records.missing:
        raise NotDrawn(f"{records.missing} of its runs are not made yet")
    if not records:
        raise NotDrawn("all its runs failed")
    return draw_records(figure, request, records, outcome)


def draw_records(figure: Figure, request: Request, records: Records, outcome: str = "") -> Drawn:
    """Draw a figure from these records, those that diverged left out unless it shows them."""
    import numpy as np

    finite = records.finite()
    if not finite:
        raise NotDrawn(f"all its {len(records)} runs diverged; the first: {records[0].diverged}")
    diverged = len(records) - len(finite)
    shown = records if figure.shows_diverged else finite
    if not diverged and not request.changes:
        return _drawn(figure, request, shown, outcome)
    # Settings of the user's, or what divergence leaves, may not have what the picture is made of.
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            drawn = _drawn(figure, request, shown, outcome)
            len(drawn.svg)  # rendered now: a number without an end shows only then
    except (ArithmeticError, ValueError, LookupError) as error:
        lost = f"{diverged} of its {len(records)} runs diverged, and " if diverged else ""
        reason = f"{lost}there is too little to draw at these settings"
        raise NotDrawn(f"{reason} ({type(error).__name__}: {error})") from None
    if diverged:
        drawn.data["diverged_runs"] = diverged
    return drawn


def _drawn(figure: Figure, request: Request, records: Records, outcome: str) -> Drawn:
    # A film is of one run, whatever its study holds.
    seeds = 1 if isinstance(figure, Film) else len({record.seed for record in records})
    words = {"verdict": outcome.replace("_", " "), "seeds": seeds, "scale": request.scale}
    with repeatable(figure.id):
        picture, data = figure.draw(records)
        number = f"{seeds} seed{'s' * (seeds != 1)}"
        said = (figure.id, words["verdict"], number, f"scale {request.scale}")
        finish(picture, " · ".join(word for word in said if word))
    return Drawn(figure, picture, {"id": figure.id, **words, **data})


def save(drawn: Drawn, folder: Path) -> list[Path]:
    """Write ID.png, ID.svg, ID.pdf and ID.json into the folder."""
    return save_picture(drawn.figure.id, drawn.picture, drawn.data, folder, drawn.svg)


def save_picture(
    name: str, picture: "Drawing", data: Mapping[str, object], folder: Path, svg: str | None = None
) -> list[Path]:
    """Write NAME.png, NAME.svg, NAME.pdf and NAME.json, each whole or not at all."""
    # First the SVG, as for a page: a picture's layout depends on what it was last drawn for.
    text = svg_text(name, picture) if svg is None else svg
    image = io.BytesIO()
    printed = io.BytesIO()
    logging.getLogger("fontTools").setLevel(logging.ERROR)  # it wonders at the fonts' age
    with repeatable(name):
        picture.savefig(image, format="png", dpi=160, metadata={"Software": None})
        undated = {"CreationDate": None, "Creator": None, "Producer": None}
        picture.savefig(printed, format="pdf", metadata=undated)
    numbers = msgspec.json.format(plain_json(data), indent=1)
    contents = {
        "png": image.getvalue(),
        "svg": text.encode(),
        "pdf": printed.getvalue(),
        "json": numbers,
    }
    paths = []
    for ending, content in contents.items():
        path = folder / f"{name}.{ending}"
        replace_file(path, content)
        paths.append(path)
    return paths


def plain_json(data: object) -> bytes:
    """The data of figures as JSON."""
    return msgspec.json.encode(data, enc_hook=_plain)


def _plain(value: "np.ndarray | np.generic") -> object:
    """NumPy's numbers and arrays as Python's, for the data file."""
    return value.tolist()
