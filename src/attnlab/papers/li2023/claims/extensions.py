"""The extensions of appendix G: four classes, sets of patterns, heads, a skip connection."""

from dataclasses import dataclass, replace

import numpy as np

from attnlab.core import Claim, Control, Effect, Hypothesis, Measurement, Reading, Records
from attnlab.evidence.intervals import bootstrap_interval, decide_at_most
from attnlab.papers.li2023.claims.attention import MassLaw, mean_reading
from attnlab.papers.li2023.claims.common import (
    FROZEN,
    SHUFFLED,
    all_of,
    data_hypotheses,
    share_reading,
    trial,
)
from attnlab.papers.li2023.theory.conditions import KAPPA, token_noise

# --- G.1 --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ClassLaw:
    """Which of the four projections grows, and how small `about 0` is beside it."""

    grows: int = 1
    falls: int = 2
    small: float = 0.25
    opposite: float = 0.0


def measure_four(records: Records, law: ClassLaw) -> Measurement:
    """Changes of the projections of rows with a = (1, -1)/sqrt m, in units of the largest."""
    change = records.column("class_projections")
    size = np.abs(change).max(1)
    unit = change / size[:, None]
    still = [k for k in range(4) if k not in (law.grows, law.falls)]
    names = [f"p_{k + 1}" for k in range(4)]
    means = ", ".join(f"{n}: {x:+.3f}" for n, x in zip(names, unit.mean(0), strict=True))
    share = "share of runs"
    return all_of(
        "all parts",
        [
            share_reading("its own grows", share, unit[:, law.grows] > law.small, detail=means),
            share_reading(
                "the two others stay", share, (np.abs(unit[:, still]) <= law.small).all(1)
            ),
            share_reading("the opposite does not grow", share, unit[:, law.falls] <= law.opposite),
        ],
    )


G_1 = Claim(
    id="li2023.extension_g1",
    title="Four classes: rows learn the pattern of their own signs",
    statement=(
        "With labels in {+-1}^2, rows of W_O with output weights (1, -1)/sqrt m grow along p_2, "
        "hardly move along p_1 and p_4, and do not grow along p_3."
    ),
    measured=(
        "The mean change of these rows' projections over training, in units of the largest: above "
        "0.25 for p_2, within 0.25 of 0 for p_1 and p_4, at most 0 for p_3. Supported above "
        "a share of 0.9 of the runs."
    ),
    studies=("li2023.four_classes",),
    measure=measure_four,
    law=ClassLaw(),
    hypotheses=data_hypotheses,
    controls=(
        Control("another class", "rows grow along p_1", law=ClassLaw(grows=0, falls=3)),
        SHUFFLED,
    ),
    positive=lambda: Records(
        trial(
            "four_classes",
            s,
            {"class_projections": np.array([0.01, 0.2, -0.15, 0.0])},
            classes=4,
            M=6,
        )
        for s in range(40)
    ),
    notes=(
        "Rows whose gate is open at the feature at the start are counted. G.1 presumes shared "
        "weights."
    ),
)


# --- G.2, G.4 ---------------------------------------------------------------------------------


def measure_learns(records: Records, law: MassLaw) -> Measurement:
    """Success, and a rise of the mass on relevant tokens."""
    won = [bool(r["success"]) for r in records]
    rise = [float(r["relevant_mass"][-1] - r["relevant_mass"][0]) for r in records]
    last = [float(r["relevant_mass"][-1]) for r in records]
    return all_of(
        "learns and concentrates",
        [
            share_reading("succeeds", "share of successes", won, 0.8),
            mean_reading("mass rises", "rise of the mass", rise, law.rise,
                         f"mass at the end {np.mean(last):.3f}"),
        ],
    )  # fmt: skip


def _learns_fixture(study: str, **settings) -> Records:
    ends = 0.9 + 0.01 * np.random.default_rng(0).normal(size=40)
    return Records(
        trial(study, s, {"success": True, "relevant_mass": np.linspace(0.5, end, 10)}, **settings)
        for s, end in enumerate(ends)
    )


def set_hypotheses(records: Records) -> tuple[Hypothesis, ...]:
    """G.2's own condition beside the usual ones: members of a set are close enough."""
    cell = max((r.cell for r in records), key=lambda c: c.set_distance)
    spent = 2 * token_noise(cell) + cell.set_distance
    own = Hypothesis("2 tau + Delta <= kappa", spent, KAPPA, "<=")
    return (own, *data_hypotheses(records))


def _learns_claim(id: str, study: str, **texts) -> Claim:
    return Claim(
        id=f"li2023.{id}",
        studies=(f"li2023.{study}",),
        measure=measure_learns,
        law=MassLaw(),
        hypotheses=texts.pop("hypotheses", data_hypotheses),
        controls=(
            FROZEN,
            Control("far more", "the mass rises by 0.9", law=MassLaw(rise=0.9)),
        ),
        measured=(
            "The share of successes (test loss below 1e-3), above 0.8, and the rise of the "
            "relevant mass over training, mean over runs, above 0.05. Both must hold."
        ),
        readings=(
            ("learns and concentrates", "both parts"),
            ("succeeds", "test loss below 1e-3"),
            ("mass rises", "attention moves to label-relevant tokens"),
        ),
        **texts,
    )


G_2 = _learns_claim(
    "extension_g2",
    "pattern_sets",
    hypotheses=set_hypotheses,
    title="Sets of patterns are learned alike",
    statement=(
        "If each pattern is a set of vectors with 2 tau + Delta < kappa, training still succeeds "
        "and attention moves to label-relevant tokens."
    ),
    positive=lambda: _learns_fixture(
        "pattern_sets", set_size=2, set_distance=0.5, d=20, engine="exact"
    ),
    notes="Sets of two unit vectors at distance Delta = 0.5, kappa about sqrt 2, tau = .045.",
)
G_4 = _learns_claim(
    "extension_g4",
    "skip",
    title="A skip connection changes nothing essential",
    statement=(
        "With the token added to the attention's output (m_a = d), training still succeeds and "
        "attention moves to label-relevant tokens."
    ),
    positive=lambda: _learns_fixture("skip", skip=True),
    notes="The changed assumption on W_V is lost in our text; we keep Assumption 1: inferred.",
)


# --- G.3 --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeadsLaw:
    """Spread over seeds with most heads over that with one; gates at least as steady."""

    spread: float = 1.0
    gates: float = 0.0


def measure_heads(records: Records, law: HeadsLaw) -> Measurement:
    """Most heads against one, added up; beside it the same side by side, where it was run."""
    first = _measure_combination(records.where(combination="sum"), law)
    beside = records.where(combination="concat")
    if not beside:
        return first
    named = (
        replace(reading, name=f"side by side: {reading.name}")
        for reading in _measure_combination(beside, law).readings
    )
    return Measurement((*first.readings, *named))


def _measure_combination(records: Records, law: HeadsLaw) -> Measurement:
    """Spread of the iterations over seeds and steadiness of the gates, most heads against one."""
    most = max(r.cell.heads for r in records)
    one, many = records.where(heads=1), records.where(heads=most)
    seeds = sorted({r.seed for r in one} & {r.seed for r in many})
    by = {h: {r.seed: r for r in part} for h, part in ((1, one), (most, many))}
    T = {h: np.array([max(float(by[h][s]["iterations"]), 1.0) for s in seeds]) for h in (1, most)}

    def log_ratio(a: np.ndarray, b: np.ndarray, axis: int = -1) -> np.ndarray:
        one_head, more = (np.std(np.log(x), axis=axis) + 1e-12 for x in (a, b))
        return np.log(more / one_head)

    interval = bootstrap_interval(log_ratio, T[1], T[most])
    spread = (float(np.exp(x)) for x in (interval.value, interval.low, interval.high))
    effect = Effect(f"spread of log T with {most} heads over 1", *spread)
    gates = [float(by[most][s]["steady_gates"] - by[1][s]["steady_gates"]) for s in seeds]
    steadier = mean_reading(
        "steadier gates", f"gain in steady gates, {most} heads", gates, law.gates
    )
    steady = Reading(
        "steadier training",
        decide_at_most(interval.low, interval.high, np.log(law.spread)),
        effect,
        f"T {T[1].mean():.0f} with one head, {T[most].mean():.0f} with {most}",
    )
    return all_of("both", [steady, steadier])


def _heads_fixture() -> Records:
    noise = np.random.default_rng(0)
    records = []
    for H, spread, gates in ((1, 0.1, 0.7), (2, 0.05, 0.75), (4, 0.02, 0.8)):
        for seed in range(60):
            values = {"iterations": 300 * np.exp(spread * noise.normal()),
                      "steady_gates": gates + 0.01 * noise.normal()}  # fmt: skip
            records.append(trial("heads", seed, values, heads=H))
    return Records(records)


G_3 = Claim(
    id="li2023.extension_g3",
    title="More heads: steadier gates and training",
    statement="With more heads the ReLU gates of neurons and the course of training are steadier.",
    measured=(
        "Most heads against one: the ratio of the standard deviations over seeds of log T, "
        "supported if its bootstrap interval is below 1, and the gain in the share of (neuron, "
        "discriminative pattern) gates equal at start and end, above 0. Both must hold."
    ),
    studies=("li2023.heads",),
    measure=measure_heads,
    law=HeadsLaw(),
    hypotheses=data_hypotheses,
    controls=(
        Control("a thousandth", "a spread a thousandth as large", law=HeadsLaw(spread=1e-3)),
        Control("all gates", "a gain of 0.9 in steady gates", law=HeadsLaw(gates=0.9)),
    ),
    positive=_heads_fixture,
    readings=(
        ("both", "both parts"),
        ("steadier training", "spread over seeds of the iterations"),
        ("steadier gates", "gates that are the same at the start and at the end"),
        ("side by side: ...", "heads side by side (scale paper)"),
    ),
    notes="The formula is lost in our text. Heads are added up (scale paper: also side by side).",
)

EXTENSIONS = (G_1, G_2, G_3, G_4)
