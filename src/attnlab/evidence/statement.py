"""`statement(...)`: a numbered statement of a paper as a Claim, refused if its kind lacks a proof.

The kind fixes what must be shown (docs/evidence.md): a *bound* names the trivial bound, a
*sufficient* statement is judged by held-out cells, a *probability* by an exact interval.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from attnlab.claims import (
    Claim,
    Constant,
    Control,
    Fitted,
    Fixture,
    Hypothesis,
    Kind,
    Part,
    Reading,
    Route,
    Source,
    Trivial,
)
from attnlab.core import Records
from attnlab.evidence.laws import Rate, Share
from attnlab.evidence.threshold_laws import Sufficient

if TYPE_CHECKING:
    from attnlab.claims import FixtureValue

AS_STATED = Reading("as stated", "the only reading")


def statement(
    id: str,
    kind: Kind,
    *,
    title: str,
    statement: str,
    source: Source,
    stated: str,
    measured: str,
    parts: Sequence[Part],
    controls: Sequence[Control],
    why: str = "",
    readings: Sequence[Reading] = (AS_STATED,),
    positive: "Mapping[str, FixtureValue] | Fixture | None" = None,
    hypotheses: Callable[[Records], tuple[Hypothesis, ...]] = lambda records: (),
    trivial: Trivial | None = None,
    routes: Sequence[Route] = (),
    constants: Sequence[Constant | Fitted] = (),
    notes: str = "",
    headline: str = "",
) -> Claim:
    """A claim; studies of parts may leave out the paper, and `positive` may be its values."""
    paper = id.partition(".")[0]
    placed = tuple(
        replace(
            part,
            study=_qualified(paper, part.study),
            beside=tuple(_qualified(paper, study) for study in part.beside),
        )
        for part in parts
    )
    if trivial is not None and trivial.study:
        trivial = replace(trivial, study=_qualified(paper, trivial.study))
    claim = Claim(
        id=id,
        kind=kind,
        title=title,
        statement=statement,
        source=source,
        stated=stated,
        measured=measured,
        why=why,
        parts=placed,
        readings=tuple(readings),
        controls=tuple(controls),
        positive=positive if isinstance(positive, Fixture) else Fixture(values=positive or {}),
        hypotheses=hypotheses,
        trivial=trivial,
        routes=tuple(routes),
        constants=tuple(
            replace(c, study=_qualified(paper, c.study)) if isinstance(c, Fitted) else c
            for c in constants
        ),
        notes=notes,
        headline=headline,
    )
    _refuse(claim)
    return claim


def parts_of(claim: Claim, reading: Reading) -> tuple[Part, ...]:
    """The parts of one reading: its own, and those that belong to all."""
    return tuple(part for part in claim.parts if part.reading in ("", reading.name))


def decisive_parts(claim: Claim) -> tuple[Part, ...]:
    """The parts of every allowed reading, each once."""
    allowed = {r.name for r in claim.readings if r.allowed}
    return tuple(part for part in claim.parts if not part.reading or part.reading in allowed)


def _qualified(paper: str, study: str) -> str:
    return study if "." in study else f"{paper}.{study}"


def _refuse(claim: Claim) -> None:
    """Say what a claim lacks; a mistake of the paper's author, found on import."""
    names = [part.name for part in claim.parts]
    readings = {reading.name for reading in claim.readings}
    decisive = decisive_parts(claim)
    laws = [part.law for part in decisive]
    variants = (*claim.controls, *claim.routes)
    aimed = [x.part for x in variants if x.part]
    faults = [
        (len(set(names)) < len(names), f"two parts share a name: {names}"),
        (not decisive, "no part belongs to an allowed reading"),
        (any(p.reading and p.reading not in readings for p in claim.parts),
         f"a part names a reading that is not declared; declared are {sorted(readings)}"),
        (any(not r.why for r in claim.readings), "a reading does not say what permits it"),
        (not set(aimed) <= set(names), f"a control or route names no part of {names}: {aimed}"),
        (len({x.name for x in variants}) < len(variants), "two controls or routes share a name"),
        (not claim.controls, "no control: a check that cannot fail is a defect"),
        (claim.kind != "finding" and not claim.source.section, "the paper's section is missing"),
        (claim.kind == "bound" and claim.trivial is None, "a bound names its trivial bound"),
        (claim.kind == "sufficient" and not any(isinstance(law, Sufficient) for law in laws),
         "a sufficient statement needs a part with the law Sufficient"),
        (claim.kind == "probability"
         and not any(isinstance(law, Share | Rate) and law.exact for law in laws),
         "a probability needs a part with Share(..., exact=True) or Rate"),
        (any(law.owner == "ours" for law in laws) and not claim.why,
         "a cutoff is ours and `why` does not say why"),
        (any(c.isdigit() for c in claim.headline) and "{" not in claim.headline,
         "a headline has numbers typed in; write them as fields, e.g. {value}"),
    ]  # fmt: skip
    for wrong, sentence in faults:
        if wrong:
            raise ValueError(f"{claim.id}: {sentence}")
