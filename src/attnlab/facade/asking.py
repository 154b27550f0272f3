"""What there is: the catalogue, a statement, a paper's bounds. Nothing here runs or loads jax."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict

from attnlab import cells
from attnlab.cells import SettingValue
from attnlab.commands.showing import bounds_rows
from attnlab.core import BadInput, Bound
from attnlab.facade.showing import Shown, as_html, as_text
from attnlab.facade.values import plain
from attnlab.lab import plan, registry
from attnlab.report import show as statements
from attnlab.report import terminal


def catalogue() -> Shown:
    """Papers, claims, hypotheses, figures and studies that are installed."""
    papers = list(registry.papers().values())
    return Shown(terminal.list_table(papers), lambda: terminal.list_json(papers))


def show(id: str, scale: str = "quick") -> Shown:
    """A paper, claim, figure, hypothesis or study: the statement, what is measured, controls."""
    request = plan.Request(scale)  # type: ignore[arg-type]
    target = registry.resolve(id)
    table = statements.show(target, id, request)
    return Shown(table, lambda: statements.show_json(target, request))


class Bounds(Mapping[str, Bound]):
    """The bounds and conditions of a paper by name: `bounds("li2023")["(8)"].met`."""

    def __init__(self, paper: str, rows: tuple[Bound, ...]):
        self._paper = paper
        self._rows = {row.name: row for row in rows}

    def __getitem__(self, name: str) -> Bound:
        if name not in self._rows:
            raise BadInput(f"{self._paper} has no bound {name!r}; there are {', '.join(self)}")
        return self._rows[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __contains__(self, name: object) -> bool:
        return name in self._rows

    @property
    def value(self) -> list[dict[str, object]]:
        """The rows as dictionaries."""
        return [asdict(row) for row in self._rows.values()]

    def __repr__(self) -> str:
        return as_text(terminal.bounds_table(self._paper, self._rows.values()))

    def _repr_html_(self) -> str:
        return as_html(terminal.bounds_table(self._paper, self._rows.values()))


def bounds(paper: str, **sizes: SettingValue) -> Bounds:
    """Every bound and condition of a paper at these sizes (others at their defaults)."""
    found = registry.paper(paper)
    if found.bounds is None:
        raise BadInput(f"{paper} has no table of bounds; al.show({paper!r}) shows its claims")
    cells.require_known(sizes, [found.bounds.settings])
    chosen = cells.override(found.bounds.settings(), plain(sizes))
    return Bounds(paper, bounds_rows(paper, found.bounds, chosen))
