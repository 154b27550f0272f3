"""The court over universes on trial: outcomes of known truth, at most 5 % of them called wrong."""

import numpy as np
import pytest
from scipy.stats import binom

from attnlab.claims import UniverseOutcome
from attnlab.core import Record, Records
from attnlab.evidence import court
from attnlab.evidence.universes import Factor, opposite_neighbours, sample, tally
from attnlab.lab import registry
from attnlab_toy.universes import OpenSettings

pytestmark = pytest.mark.soak

REPETITIONS = 400
FACTORS = (
    Factor("step", 0.5, (0.2, 1.0)),
    Factor("order", "shuffled", ("fixed",)),
    Factor("batch", 20, (5,)),
)
UNIVERSES = sample(FACTORS, 8)
CLAIM = next(c for c in registry.paper("toy").claims if c.id == "toy.remark_3")
"""The value is at most 0.75 on average."""


def outcome(mean: float, spread: float, random: np.random.Generator) -> UniverseOutcome:
    values = mean + spread * random.normal(size=8)
    records = Records(
        Record("toy.open", OpenSettings(), seed, {"value": v}) for seed, v in enumerate(values)
    )
    found = court.measure(CLAIM, records).outcome
    return found if found in ("supported", "contradicted") else "undecided"  # pyright: ignore


def verdict(means, spread: float, random: np.random.Generator) -> str:
    """The whole way of a multiverse: universes, opposite pairs again on fresh seeds, the tally."""
    found = [outcome(means(u), spread, random) for u in UNIVERSES]
    pairs = opposite_neighbours(FACTORS, UNIVERSES, found)[:3]
    again = {k: outcome(means(UNIVERSES[k]), spread, random) for a, b, _ in pairs for k in (a, b)}
    confirmed = [(a, b) for a, b, _ in pairs if again[a] == found[a] and again[b] == found[b]]
    return tally(FACTORS, UNIVERSES, found, confirmed).outcome


def by_step(small: float, designed: float, large: float):
    levels = {0.2: small, 0.5: designed, 1.0: large}
    return lambda universe: levels[universe.level(FACTORS[0])]


TRUTHS = {
    "true everywhere": (by_step(0.2, 0.2, 0.2), 0.2, {"contradicted", "depends"}),
    "false everywhere": (by_step(1.3, 1.3, 1.3), 0.2, {"supported", "depends"}),
    "at the edge everywhere": (by_step(0.75, 0.75, 0.75), 0.2, {"depends"}),
    "some levels": (by_step(0.2, 0.2, 1.3), 0.2, {"supported", "contradicted"}),
    "some levels, by a little": (by_step(0.65, 0.65, 0.85), 0.2, {"supported", "contradicted"}),
    "too noisy": (by_step(0.2, 0.2, 1.3), 30.0, {"supported", "contradicted", "depends"}),
}


@pytest.mark.parametrize("name", TRUTHS)
def test_wrong_words_are_rare(name):
    means, spread, wrong = TRUTHS[name]
    random = np.random.default_rng(0)
    found = [verdict(means, spread, random) for _ in range(REPETITIONS)]
    allowed = binom.ppf(0.99, REPETITIONS, 0.05)
    for word in wrong:
        assert found.count(word) <= allowed, (word, found.count(word))


@pytest.mark.parametrize(
    ("name", "word"),
    [("true everywhere", "supported"), ("false everywhere", "contradicted"),
     ("some levels", "depends"), ("too noisy", "inconclusive")],
)  # fmt: skip
def test_a_clear_truth_is_seen(name, word):
    means, spread, _ = TRUTHS[name]
    random = np.random.default_rng(1)
    found = [verdict(means, spread, random) for _ in range(50)]
    assert found.count(word) >= 45
