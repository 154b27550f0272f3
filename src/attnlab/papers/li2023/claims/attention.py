"""Where the attention goes: figures 4 and 7, Proposition 2, Definition 1."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Control, Effect, Measurement, Reading, Record, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.evidence.intervals import decide_at_least, mean_interval
from attnlab.evidence.multiplicity import combine_outcomes
from attnlab.papers.li2023.claims.common import (
    FROZEN,
    data_hypotheses,
    share_reading,
    theorem_hypotheses,
    trial,
)
from attnlab.papers.li2023.theory.conditions import stated_attention, token_noise

DYNAMICS, FURTHER = "li2023.dynamics", "li2023.margin_10"


@dataclass(frozen=True)
class MassLaw:
    """The attention mass on relevant tokens rises, and ends close to 1."""

    close: float = 0.9
    """Ours, for `close to 1`."""
    rise: float = 0.05
    """Ours: what counts as a rise."""


def mean_reading(name: str, effect: str, values, law_value: float, detail: str = "") -> Reading:
    """The mean over runs against a lower bound."""
    interval = mean_interval(values)
    outcome = decide_at_least(interval.low, interval.high, law_value)
    return Reading(name, outcome, Effect.of(effect, interval), detail)


def measure_figure(records: Records, law: MassLaw) -> Measurement:
    """Rise and end of the mean mass; both must hold."""
    plain = records.where(margin=1.0)
    first = np.array([r["relevant_mass"][0] for r in plain])
    last = np.array([r["relevant_mass"][-1] for r in plain])
    rises = mean_reading("rises", "rise of the mass", last - first, law.rise)
    near = mean_reading("close to 1", "mass at the end", last, law.close)
    detail = f"mass {first.mean():.3f} at the start, {last.mean():.3f} at the end"
    both = combine_outcomes([rises.outcome, near.outcome])
    readings = [Reading("rises close to 1", both, near.effect, detail), rises, near]
    far = records.where(margin=10.0)
    if far:
        readings.append(
            mean_reading(
                "margin 10", "mass at the end", [r["relevant_mass"][-1] for r in far], law.close
            )
        )
    return Measurement(tuple(readings))


def mass_fixture(study: str, seeds: int = 16, **settings) -> Records:
    """Runs whose mass rises to 0.99 like 1 - 1/t."""
    t = np.geomspace(1, 300, 20)
    noise = np.random.default_rng(0)
    sizes = {"alpha_star": 0.5, "alpha_sharp": 0.05, **settings}
    records = []
    for seed in range(seeds):
        mass = 1 - 0.45 * (1 + t / 5) ** -1.0 * np.exp(0.01 * noise.normal())
        values = {"times": t, "relevant_mass": mass, "least_relevant_mass": mass - 0.005,
                  "relevant_query_mass": mass, "effective_tokens": 50 * mass}  # fmt: skip
        records.append(trial(study, seed, values, **sizes))
    return Records(records)


def _figure_claim(name: str, study: str, M: int, *also: str, **settings) -> Claim:
    return Claim(
        id=f"li2023.{name}",
        title=f"Attention concentrates on relevant tokens, M = {M}",
        statement=(
            f"With M = {M} patterns the attention weights on label-relevant tokens, summed and "
            "averaged over queries, increase during training and come close to 1."
        ),
        measured=(
            "The mass at the end of training, mean over runs: supported above 0.9, and risen by "
            "more than 0.05; contradicted if either interval is below."
        ),
        studies=(study, *also),
        measure=measure_figure,
        law=MassLaw(),
        hypotheses=data_hypotheses,
        controls=(
            FROZEN,
            Control("practically 1", "a mass above 0.9999", law=MassLaw(close=0.9999)),
        ),
        positive=lambda: mass_fixture(study.removeprefix("li2023."), M=M, **settings),
        readings=(
            ("rises close to 1", "both parts"),
            ("rises", "the mass increases"),
            ("close to 1", "the mass ends above 0.9"),
            *((("margin 10", "trained on until every margin is 10"),) if also else ()),
        ),
        notes=(
            "Training ends when the training loss is zero: the hinge has no gradient left, and "
            "the attention freezes where it is. |S| is 100: with the printed 50, alpha_# = .05 "
            "would be 2.5 tokens."
            + (" M = 20 breaks the data model's M < m_a, m_b." if M == 20 else "")
        ),
    )


FIGURES_4_7 = (
    _figure_claim("figure_4", DYNAMICS, 5, FURTHER),
    *(
        _figure_claim(f"figure_7{letter}", f"li2023.figure_7{letter}", M, d=20, m_a=20, m_b=20)
        for letter, M in (("a", 10), ("b", 15), ("c", 20))
    ),
)


# --- proposition 2 ----------------------------------------------------------------------------


@dataclass(frozen=True)
class ConcentrationLaw:
    """The mass tends to 1 - eta^C for a large C, at the rate t^-rate."""

    limit: float = 0.95
    rate: float = 1.0
    tolerance: float = 0.3
    every: float = 0.9


def late_rate(record: Record) -> float:
    """Minus the exponent of 1 - mass over the last half of the recorded steps."""
    t, mass = record["times"], record["relevant_mass"]
    late = (t >= 1) & (t >= np.median(t[t >= 1])) & (mass < 1)
    if late.sum() < 3:
        return np.nan
    return -fit_exponent(t[late], 1 - mass[late]).exponent


def measure_proposition_2(records: Records, law: ConcentrationLaw) -> Measurement:
    """The mass at the end of training, its late rate, and the worst query."""
    plain, far = records.where(margin=1.0), records.where(margin=10.0)
    readings = [
        mean_reading("limit", "mass at the end", [r["relevant_mass"][-1] for r in plain], law.limit)
    ]
    rates = np.array([late_rate(r) for r in plain])
    interval = mean_interval(rates[np.isfinite(rates)])
    # O(1/t) is an upper bound: a faster approach does not contradict it.
    outcome = decide_at_least(interval.low, interval.high, law.rate - law.tolerance)
    readings.append(Reading("rate", outcome, Effect.of("late rate of 1 - mass", interval)))
    worst = [bool(r["least_relevant_mass"][-1] >= law.every) for r in plain]
    readings.append(share_reading("every query and sample", "share of runs with all above", worst))
    if far:
        ends = [r["relevant_mass"][-1] for r in far]
        ceiling = 1 - far[0].cell.sharp
        detail = f"1 - alpha_# = {ceiling:.3f}"
        readings.append(
            mean_reading("limit, margin 10", "mass at the end", ends, law.limit, detail)
        )
    return Measurement(tuple(readings))


PROPOSITION_2 = Claim(
    id="li2023.proposition_2",
    title="Attention weights concentrate at the rate 1/t",
    statement=(
        "The attention that any query pays to label-relevant tokens tends to 1 - eta^C, for a "
        "large C, at the rate O(1/t)."
    ),
    measured=(
        "The mass at the end of training, mean over runs: supported above 0.95 (eta = .5 and "
        "C >= 4.3). Beside it the exponent of 1 - mass over the last half of the steps, 1 +- 0.3, "
        "and the smallest mass of any query."
    ),
    studies=(DYNAMICS, FURTHER),
    measure=measure_proposition_2,
    law=ConcentrationLaw(),
    hypotheses=theorem_hypotheses,
    controls=(
        FROZEN,
        Control("practically 1", "a mass above 0.9999", law=ConcentrationLaw(limit=0.9999)),
    ),
    positive=lambda: mass_fixture("dynamics"),
    readings=(
        ("limit", "the mass when the training loss is zero"),
        ("rate", "the exponent of 1 - mass late in training"),
        ("every query and sample", "for all l and n: the smallest mass is above 0.9"),
        ("limit, margin 10", "trained on until every margin is 10"),
    ),
    notes="C is unknown; (15)'s softmax runs over S only.",
)


# --- definition 1 -----------------------------------------------------------------------------


@dataclass(frozen=True)
class StatedAttentionLaw:
    """Relevant mass >= p_n(t), irrelevant weights <= nu_n(t), the latter times a factor."""

    mass_factor: float = 1.0
    weight_factor: float = 1.0


def measure_definition_1(records: Records, law: StatedAttentionLaw) -> Measurement:
    """The share of runs in which both bounds hold at every recorded step."""
    mass, weight, late = [], [], []
    for r in records.where(margin=1.0):
        cell = r.cell
        relevant = cell.alpha_star * cell.L
        # The smaller of |q_1| and |q_2|: half of the samples have mu_2 as their relevant pattern.
        q = np.sqrt(r["key_norm"][:, :2] * r["query_norm"][:, :2]).min(1)
        error = cell.delta + token_noise(cell)
        phi, nu, p = stated_attention(q, relevant, cell.L, error)
        mass.append(bool((r["relevant_query_mass"] >= law.mass_factor * p).all()))
        weight.append(bool((r["largest_irrelevant_weight"] <= law.weight_factor * nu).all()))
        late.append(float(phi[-1] * (cell.L - relevant)))
    both = [a and b for a, b in zip(mass, weight, strict=True)]
    name = "share of runs in which it holds at every recorded step"
    detail = (
        f"phi_n(T)(|S| - |S_1|) = {np.mean(late):.3g}, which (62) bounds by eta^C" if late else ""
    )
    return Measurement(
        (
            share_reading("both", name, both, detail=detail),
            share_reading("mass at least p_n", name, mass),
            share_reading("weights at most nu_n", name, weight),
        )
    )


def _stated_fixture() -> Records:
    q = np.linspace(1.0, 2.0, 10)
    _, nu, p = stated_attention(q, 50, 100, 0.2 + 0.01 * np.sqrt(10))
    values = {
        "key_norm": np.tile(q[:, None], (1, 5)),
        "query_norm": np.tile(q[:, None], (1, 5)),
        "relevant_query_mass": p + 0.01,
        "largest_irrelevant_weight": 0.9 * nu,
    }
    settings = {"alpha_star": 0.5, "alpha_sharp": 0.05}
    return Records(trial("dynamics", seed, values, **settings) for seed in range(40))


DEFINITION_1 = Claim(
    id="li2023.definition_1",
    title="Definition 1's bounds on attention weights",
    statement=(
        "For a relevant query the relevant mass is at least p_n(t) and every irrelevant weight at "
        "most nu_n(t), both functions of |q_1(t)|; phi_n(T)(|S| - |S_1|) ends below eta^C."
    ),
    measured=(
        "Both for every relevant query at every recorded step, with |q_j|^2 as |W_K mu_j| "
        "|W_Q mu_j| and the smaller of j = 1, 2: the share of runs in which both hold throughout, "
        "supported above 0.9. (62)'s eta^C has unknown constants: its left side is shown."
    ),
    studies=(DYNAMICS,),
    measure=measure_definition_1,
    law=StatedAttentionLaw(),
    hypotheses=theorem_hypotheses,
    controls=(
        Control(
            "half the weight", "irrelevant weights below nu/2", law=StatedAttentionLaw(1.0, 0.5)
        ),
        Control("far more mass", "a mass of 3 p_n", law=StatedAttentionLaw(3.0, 1.0)),
    ),
    positive=_stated_fixture,
    readings=(
        ("both", "the two bounds together"),
        ("mass at least p_n", "the smallest of any relevant query"),
        ("weights at most nu_n", "the largest weight of a relevant query on an irrelevant token"),
    ),
    notes="The proof reads p_n with 2 delta in place of delta + tau; we take the definition.",
)

ATTENTION = (*FIGURES_4_7, PROPOSITION_2, DEFINITION_1)
