"""Which engine `auto` stands for, and where the collapsed one is refused."""

from dataclasses import replace

from attnlab.core import BadInput
from attnlab.papers.li2023.settings import TrainingSettings

LARGEST_APPROXIMATE_NOISE = 0.05


def resolve(cell: TrainingSettings) -> TrainingSettings:
    """Replace auto by the engine it stands for; refuse the collapsed one where it is not exact."""
    engine = cell.engine
    why = _not_collapsible(cell)
    if engine == "auto":
        engine = "exact" if why else "collapsed"
    if engine == "collapsed" and why:
        raise BadInput(f"got engine=collapsed with {why}; take --engine exact")
    if engine == "exact" and cell.loss != "hinge":
        raise BadInput(f"got loss={cell.loss} with engine=exact; take --engine collapsed")
    return replace(cell, engine=engine)


def _not_collapsible(cell: TrainingSettings) -> str:
    """Why patterns with counts are not exact for a cell, or nothing."""
    if cell.noisy_share > 0:
        return f"noisy_share={cell.noisy_share:g}: noisy tokens are not their pattern"
    if cell.c0 >= LARGEST_APPROXIMATE_NOISE:
        return f"c0={cell.c0:g}: from {LARGEST_APPROXIMATE_NOISE:g} on tokens are not their pattern"
    if cell.c0 > 0 and not cell.approximate:
        return f"c0={cell.c0:g}, for which it is approximate (approximate=true allows that)"
    if cell.fractions != "fixed":
        return f"fractions={cell.fractions}: samples differ in their counts"
    if cell.set_size > 1:
        return f"set_size={cell.set_size}: a token is not told by its set"
    if cell.selector != "none":
        return f"selector={cell.selector}: samples keep different tokens"
    return ""
