"""Papers, ours and third parties', found through the entry point `attnlab.papers`."""

import difflib
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points

from attnlab.claims import Assumption, Claim
from attnlab.core import BadInput, Figure, Paper, Study

GROUP = "attnlab.papers"


@dataclass(frozen=True)
class Target:
    """What an id on the command line stands for."""

    paper: Paper
    claims: tuple[Claim, ...] = ()
    figures: tuple[Figure, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    studies: tuple[Study, ...] = ()

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of all that it stands for."""
        items = (*self.claims, *self.figures, *self.assumptions, *self.studies)
        return tuple(item.id for item in items)


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


def resolve(name: str) -> Target:
    """A paper, or a claim, figure, hypothesis or study (a trend and its figure share one id)."""
    if name in papers():
        return _everything(papers()[name])
    for target in map(_everything, papers().values()):
        chosen = Target(
            target.paper,
            tuple(x for x in target.claims if x.id == name),
            tuple(x for x in target.figures if x.id == name),
            tuple(x for x in target.assumptions if x.id == name),
            tuple(x for x in target.studies if x.id == name),
        )
        if chosen.ids:
            return chosen
    known = [x for paper in papers().values() for x in (paper.id, *_everything(paper).ids)]
    raise BadInput(_unknown("id", name, known))


def _everything(paper: Paper) -> Target:
    return Target(paper, paper.claims, paper.figures, assumptions(paper), paper.studies)


def assumptions(paper: Paper) -> tuple[Assumption, ...]:
    """The assumptions, conditions and definitions of a paper."""
    return paper.hypotheses.assumptions if paper.hypotheses else ()


def _unknown(kind: str, name: str, known: list[str]) -> str:
    near = difflib.get_close_matches(name, sorted(set(known)), n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else "`attnlab list` shows all ids"
    return f"no {kind} is called {name!r}; {hint}"
