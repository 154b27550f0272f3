"""Results that show themselves: as HTML in a notebook, as text in a terminal."""

import html
import io
from collections.abc import Callable

from rich.console import Console, RenderableType

WIDTH = 110
"""Letters in a line of a table."""
PAGE = "<pre style='white-space:pre-wrap;line-height:1.25'>{code}</pre>"


def as_text(shown: RenderableType, width: int = WIDTH) -> str:
    """A table as plain text."""
    console = Console(file=io.StringIO(), width=width, highlight=False, color_system=None)
    console.print(shown)
    return console.file.getvalue().rstrip()  # pyright: ignore[reportAttributeAccessIssue]


def as_html(shown: RenderableType, width: int = WIDTH) -> str:
    """A table as HTML, its colours inline."""
    console = Console(file=io.StringIO(), width=width, highlight=False, record=True)
    console.print(shown)
    return console.export_html(inline_styles=True, code_format=PAGE)


def rows_as_html(title: str, rows: "dict[str, object]") -> str:
    """Names and values as an HTML table."""
    lines = "".join(
        f"<tr><th style='text-align:left'>{html.escape(name)}</th>"
        f"<td style='text-align:left'>{html.escape(str(value))}</td></tr>"
        for name, value in rows.items()
    )
    return f"<table><caption>{html.escape(title)}</caption>{lines}</table>"


class Shown:
    """A table: `print(x)` or its name in a notebook shows it, `x.value` has its data."""

    def __init__(self, table: RenderableType, value: Callable[[], object]):
        self._table = table
        self._value = value

    @property
    def value(self) -> object:
        """What the table shows, as plain dictionaries and lists: what `--json` prints."""
        return self._value()

    def __repr__(self) -> str:
        return as_text(self._table)

    def _repr_html_(self) -> str:
        return as_html(self._table)
