"""What the features of keys, queries and values learn: Lemma 2, claims 2 and 3."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Control, Effect, Measurement, Reading, Record, Records
from attnlab.evidence.intervals import mean_interval
from attnlab.papers.li2023.claims.common import (
    FROZEN,
    all_of,
    share_reading,
    theorem_hypotheses,
    trial,
)
from attnlab.papers.li2023.claims.neurons import (
    DYNAMICS,
    SHARED,
    SHARED_READING,
    SIZES,
    STOPPED,
    beside_shared,
    plain,
)
from attnlab.papers.li2023.theory.conditions import token_noise

# --- lemma 2, claim 2 -------------------------------------------------------------------------


@dataclass(frozen=True)
class FeatureLaw:
    """Key and query features of the discriminative patterns grow by at least a factor."""

    growth: float = 1.05
    ahead: float = 1.0
    """How much more than the others' growth."""


def growth_of(record: Record, name: str) -> np.ndarray:
    """End over start, by pattern in use."""
    values = record[name]
    return values[-1, : record.cell.M] / values[0, : record.cell.M]


def better_law(record: Record) -> float:
    """R^2 of |q_1|^2 linear in log t minus that of linear in t."""
    t, q = record["times"], record["key_norm"][:, 0] * record["query_norm"][:, 0]
    seen = t >= 1
    if seen.sum() < 4 or np.ptp(q[seen]) == 0:
        return np.nan
    r = [np.corrcoef(x, q[seen])[0, 1] ** 2 for x in (np.log(t[seen]), t[seen])]
    return float(r[0] - r[1])


def measure_claim_2(records: Records, law: FeatureLaw) -> Measurement:
    """Keys and queries of mu_1 and mu_2 grow, more than the others', and like log t."""
    runs = plain(records)
    grows, ahead, logarithmic = [], [], []
    sizes = []
    for r in runs:
        both = np.stack([growth_of(r, "key_norm"), growth_of(r, "query_norm")])
        grows.append(bool((both[:, :2] >= law.growth).all()))
        ahead.append(bool(both[:, :2].mean() >= law.ahead * both[:, 2:].mean()))
        sizes.append(both[:, :2].mean())
        logarithmic.append(better_law(r))
    share = "share of runs"
    detail = f"mean growth {np.mean(sizes):.3g}" if sizes else ""
    parts = [
        share_reading("keys and queries grow", share, grows, detail=detail),
        share_reading("more than the other patterns'", share, ahead),
    ]
    interval = mean_interval([x for x in logarithmic if np.isfinite(x)])
    outcome = "inconclusive"
    if interval.low > 0:
        outcome = "supported"
    elif interval.high < 0:
        outcome = "contradicted"
    effect = Effect.of("R^2 of log t minus R^2 of t", interval)
    whole = all_of("growth", parts)
    return Measurement((*whole.readings, Reading("like log t", outcome, effect)))


def feature_fixture() -> Records:
    """Runs whose first two features grow like log t."""
    t = np.geomspace(1, 300, 12)
    q = 1 + 0.2 * np.log(t)[:, None] * np.array([1, 1, 0.02, 0.02, 0.02])
    values = {"times": t, "key_norm": np.sqrt(q), "query_norm": np.sqrt(q)}
    return Records(trial("dynamics", seed, values, **SIZES) for seed in range(40))


CLAIM_2 = Claim(
    id="li2023.lemma_2_claim_2",
    title="Keys and queries of the discriminative patterns grow",
    statement=(
        "|q_1(t)|, |r_1(t)| (and those of mu_2) grow in every step, up to |q_1|^2 of the order "
        "log T, so that attention moves to label-relevant tokens."
    ),
    measured=(
        "|W_K mu_j| and |W_Q mu_j|, end of training over start: at least 1.05 for both "
        "discriminative patterns, and more than the mean of the others. The share of runs: "
        "supported above 0.9. Aside: whether |q_1|^2 is nearer to linear in log t or in t."
    ),
    studies=(DYNAMICS, SHARED),
    measure=beside_shared(measure_claim_2),
    law=FeatureLaw(),
    hypotheses=theorem_hypotheses,
    controls=(
        FROZEN,
        Control("tenfold", "features grow tenfold", law=FeatureLaw(growth=10.0)),
    ),
    positive=feature_fixture,
    readings=(
        ("growth", "both parts"),
        ("keys and queries grow", "of mu_1 and mu_2"),
        ("more than the other patterns'", "than those of mu_3, mu_4, ..."),
        SHARED_READING,
        ("like log t", "R^2 of |q_1|^2 over log t against that over t"),
    ),
)


# --- lemma 2, claim 3 -------------------------------------------------------------------------


@dataclass(frozen=True)
class ValueLaw:
    """Values of the discriminative patterns grow along their feature, by a factor at least."""

    growth: float = 1.05


def measure_claim_3(records: Records, law: ValueLaw) -> Measurement:
    """Growth of values along p_1, p_2; beside it their part off the first features."""
    grows, stays, sizes, errors = [], [], [], []
    for r in plain(records):
        ratio = growth_of(r, "value_along")[:2]
        worst = float(np.nanmax(r["value_error"][-1, : r.cell.M]))
        over = worst / (r.cell.sigma + token_noise(r.cell))
        grows.append(bool((ratio >= law.growth).all()))
        stays.append(over <= 1)
        sizes.append(ratio.mean())
        errors.append(over)
    share = "share of runs"
    grown = f"mean growth {np.mean(sizes):.3g}" if sizes else ""
    largest = f"largest over sigma + tau {np.max(errors):.3g}" if errors else ""
    return Measurement(
        (
            share_reading("values grow", share, grows, detail=grown),
            share_reading("off the first features", share, stays, detail=largest),
        )
    )


def value_fixture() -> Records:
    """Runs whose values grow."""
    along = np.linspace(1, 2, 10)[:, None] * np.ones(5)
    values = {"value_along": along, "value_error": np.full((10, 5), 0.1)}
    return Records(trial("dynamics", seed, values, **SIZES) for seed in range(40))


CLAIM_3 = Claim(
    id="li2023.lemma_2_claim_3",
    title="Values of the discriminative patterns grow along their features",
    statement=(
        "W_V x for a token of mu_1 (mu_2) is p_1 (p_2) plus neurons aligned with it, so it grows "
        "along its feature; an error term z(t) stays below sigma + tau."
    ),
    measured=(
        "The part of W_V mu_j along p_j, end over start, at least 1.05 for j = 1, 2: the share of "
        "runs, supported above 0.9. z(t) itself is what the sum of neurons leaves over and is not "
        "recorded; beside it the part of W_V mu_j off the span of the first features, in which "
        "the neurons' own parts are included."
    ),
    studies=(DYNAMICS, SHARED),
    measure=beside_shared(measure_claim_3),
    law=ValueLaw(),
    hypotheses=theorem_hypotheses,
    controls=(
        STOPPED,
        Control("a hundredfold", "values grow a hundredfold", law=ValueLaw(growth=100.0)),
    ),
    positive=value_fixture,
    readings=(
        ("values grow", "along p_1 and p_2"),
        SHARED_READING,
        ("off the first features", "at most sigma + tau, neurons' parts included"),
    ),
    notes="Errata: (50) prints p_1 for p_2 and (51) p_1 for p_k; checked as corrected.",
)

FEATURES = (CLAIM_2, CLAIM_3)
