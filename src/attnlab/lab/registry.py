"""Papers, ours and third parties', found through the entry point `attnlab.papers`."""

import difflib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from importlib.util import find_spec

from attnlab.core import BadInput, Claim, Figure, Paper, Study

GROUP = "attnlab.papers"


@dataclass(frozen=True)
class Target:
    """What an id on the command line stands for."""

    paper: Paper
    claims: tuple[Claim, ...]
    figures: tuple[Figure, ...]


@cache
def papers() -> dict[str, Paper]:
    """Every paper that is installed, by id."""
    found: dict[str, Paper] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda p: p.name):
        paper = point.load()
        if not isinstance(paper, Paper):
            raise BadInput(f"entry point {point.name!r} ({point.value}) is not an attnlab Paper")
        if paper.id in found:
            raise BadInput(f"two installed packages provide the paper {paper.id!r}; remove one")
        found[paper.id] = paper
    return found


def paper(name: str) -> Paper:
    """One paper by its id."""
    if name not in papers():
        raise BadInput(_unknown("paper", name, list(papers())))
    return papers()[name]


def study(name: str) -> Study:
    """One study by its id."""
    studies = {s.id: s for p in papers().values() for s in p.studies}
    if name not in studies:
        raise BadInput(_unknown("study", name, list(studies)))
    return studies[name]


def paper_of(study: Study) -> Paper:
    """The paper to which a study belongs."""
    return next(p for p in papers().values() if any(s.id == study.id for s in p.studies))


def resolve(name: str) -> Target:
    """A paper's id, or the id of a claim or figure (a trend and its figure share one id)."""
    if name in papers():
        found = papers()[name]
        return Target(found, found.claims, found.figures)
    for found in papers().values():
        claims = tuple(c for c in found.claims if c.id == name)
        figures = tuple(f for f in found.figures if f.id == name)
        if claims or figures:
            return Target(found, claims, figures)
    known = [*papers(), *(x.id for p in papers().values() for x in (*p.claims, *p.figures))]
    raise BadInput(_unknown("id", name, known))


def package_folder(package: str) -> str:
    """The folder of an importable package, found without importing the package itself."""
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise BadInput(f"the package {package!r} cannot be found; install it again")
    return next(iter(spec.submodule_search_locations))


def _unknown(kind: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, sorted(set(known)), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`attnlab list` shows all ids"
    return f"no {kind} is called {name!r}; {hint}"
