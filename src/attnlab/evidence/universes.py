"""Universes: a claim over the choices that its paper leaves open, sampled and tallied.

A factor is a setting that the paper does not give, with the values an attentive reader could have
chosen. A universe takes one level of each. `sample` gives the designed universe, then its
neighbours in one choice each, then balanced combinations; `tally` turns the outcomes into one:

    depends        a confirmed pair of neighbours is decided oppositely, or two levels of a factor
                   are told apart by Fisher's exact test (Holm over the factors)
    supported,     90 % of all universes, and no level with at least three universes below one
    contradicted   half; a universe that cannot decide counts against both
    inconclusive   everything else
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations, zip_longest
from typing import Literal

import numpy as np

from attnlab.claims import UNIVERSE_OUTCOMES, LevelTally, Tally, UniverseOutcome
from attnlab.core import SettingValue
from attnlab.evidence.multiplicity import holm

SHARE = 0.9
"""Ours: the share of universes that decides."""
LEVEL_SHARE, LEVEL_UNIVERSES = 0.5, 3
"""Ours: no level with so many universes may fall below this share."""
SIGNIFICANT = 0.05


@dataclass(frozen=True)
class Factor:
    """A choice that the paper leaves open: the designed level, and the others with reasons."""

    name: str
    designed: SettingValue
    others: tuple[SettingValue, ...]
    reasons: Mapping[SettingValue, str] = field(default_factory=dict)

    @property
    def levels(self) -> tuple[SettingValue, ...]:
        """Every level, the designed one first."""
        return (self.designed, *self.others)


@dataclass(frozen=True)
class Universe:
    """One combination of choices, as the settings that differ from the design."""

    changes: Mapping[str, SettingValue]

    def level(self, factor: Factor) -> SettingValue:
        """The level of a factor here."""
        return self.changes.get(factor.name, factor.designed)

    def __str__(self) -> str:
        return ", ".join(f"{k} = {v}" for k, v in self.changes.items()) or "as designed"


def sample(factors: Sequence[Factor], count: int) -> tuple[Universe, ...]:
    """The first `count` universes: as designed, neighbours in turn, then balanced combinations.

    Deterministic. Among the combinations every level of a factor has the same weight: its column
    is a shuffled list of equally often repeated levels, the shuffle seeded by the factor's name.
    """
    found: dict[str, Universe] = {}

    def add(changes: Mapping[str, SettingValue]) -> None:
        universe = Universe(dict(sorted(changes.items())))
        found.setdefault(str(universe), universe)

    add({})
    rounds = zip_longest(*([(f.name, level) for level in f.others] for f in factors))
    for neighbour in (pair for row in rounds for pair in row if pair is not None):
        add(dict([neighbour]))
    block, attempts = max((len(f.levels) for f in factors), default=1), 0
    while factors and len(found) < count and attempts < 50:
        columns = {f.name: _column(f, block * 4, attempts) for f in factors}
        for row in range(block * 4):
            levels = {f.name: columns[f.name][row] for f in factors}
            add({f.name: levels[f.name] for f in factors if levels[f.name] != f.designed})
        attempts += 1
    return tuple(found.values())[:count]


def _column(factor: Factor, length: int, attempt: int) -> list[SettingValue]:
    repeated = [factor.levels[k % len(factor.levels)] for k in range(length)]
    digest = hashlib.sha256(f"{factor.name}/{attempt}".encode()).digest()
    order = np.random.default_rng(int.from_bytes(digest[:8], "little")).permutation(length)
    return [repeated[k] for k in order]


def opposite_neighbours(
    factors: Sequence[Factor], universes: Sequence[Universe], outcomes: Sequence[UniverseOutcome]
) -> list[tuple[int, int, Factor]]:
    """Pairs of universes that differ in one choice and are decided oppositely."""
    decided = [k for k, o in enumerate(outcomes) if o in ("supported", "contradicted")]
    found = []
    for a, b in combinations(decided, 2):
        differ = [f for f in factors if universes[a].level(f) != universes[b].level(f)]
        if len(differ) == 1 and outcomes[a] != outcomes[b]:
            found.append((a, b, differ[0]))
    return found


def tally(
    factors: Sequence[Factor],
    universes: Sequence[Universe],
    outcomes: Sequence[UniverseOutcome],
    confirmed: Collection[tuple[int, int]] = (),
) -> Tally:
    """The outcome over universes. `confirmed`: opposite pairs that fresh seeds decided again."""
    levels = tuple(_levels(factors, universes, outcomes))
    counts = _counts(outcomes)
    for a, b, factor in opposite_neighbours(factors, universes, outcomes):
        if (a, b) in confirmed:
            holds, fails = (a, b) if outcomes[a] == "supported" else (b, a)
            flips = (
                f"holds at {factor.name} = {universes[holds].level(factor)}, fails at "
                f"{factor.name} = {universes[fails].level(factor)}, all else equal"
            )
            return Tally("depends", flips, counts, levels, flips)
    split = _told_apart(factors, levels)
    if split:
        return Tally("depends", split, counts, levels, split)
    total = len(outcomes)
    words = ", ".join(f"{counts[o]} {o}" for o in UNIVERSE_OUTCOMES if counts[o])
    head = f"{total} universes: {words}"
    decisive: tuple[Literal["supported", "contradicted"], ...] = ("supported", "contradicted")
    for outcome in decisive:
        weak = [
            tallied for tallied in levels
            if tallied.total >= LEVEL_UNIVERSES and tallied.share(outcome) < LEVEL_SHARE
        ]  # fmt: skip
        if total and counts[outcome] >= SHARE * total and not weak:
            return Tally(outcome, head, counts, levels)
    return Tally("inconclusive", head, counts, levels)


def _counts(outcomes: Iterable[UniverseOutcome]) -> dict[UniverseOutcome, int]:
    found = Counter(outcomes)
    return {outcome: found[outcome] for outcome in UNIVERSE_OUTCOMES}


def _levels(
    factors: Sequence[Factor], universes: Sequence[Universe], outcomes: Sequence[UniverseOutcome]
) -> Iterable[LevelTally]:
    for factor in factors:
        for level in factor.levels:
            pairs = zip(universes, outcomes, strict=True)
            here = _counts(o for u, o in pairs if u.level(factor) == level)
            yield LevelTally(factor.name, level, here)


def _told_apart(factors: Sequence[Factor], levels: Sequence[LevelTally]) -> str:
    """A level that supports and one that contradicts, told apart by Fisher's exact test.

    The best pair of a factor's levels pays for the pairs it was chosen among, and Holm for the
    factors.
    """
    from scipy.stats import fisher_exact

    best: list[tuple[float, LevelTally, LevelTally]] = []
    for factor in factors:
        own = [tallied for tallied in levels if tallied.factor == factor.name]
        pairs = [
            (a, b) for a in own for b in own
            if a.share("supported") > LEVEL_SHARE and b.share("contradicted") > LEVEL_SHARE
        ]  # fmt: skip
        tested = max(1, len(own) * (len(own) - 1) // 2)
        for a, b in pairs:
            table = [[x.counts["supported"], x.counts["contradicted"]] for x in (a, b)]
            p = min(1.0, float(fisher_exact(table).pvalue) * tested)  # pyright: ignore[reportAttributeAccessIssue]
            best.append((p, a, b))
    if not best:
        return ""
    by_factor = {f.name: min((row for row in best if row[1].factor == f.name), default=None,
                             key=lambda row: row[0]) for f in factors}  # fmt: skip
    rows = [by_factor[f.name] or (1.0, None, None) for f in factors]
    adjusted = holm([row[0] for row in rows])
    k = int(np.argmin(adjusted))
    _, a, b = rows[k]
    if a is None or b is None or adjusted[k] > SIGNIFICANT:
        return ""
    return f"holds at {a.factor} = {a.level}, fails at {b.factor} = {b.level}"
