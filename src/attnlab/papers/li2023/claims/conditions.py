"""Conditions (8) and (9) and the width condition, at the settings of the studies."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Constant, Control, Effect, Measurement, Outcome, Reading, Records
from attnlab.papers.li2023.claims.assumptions import DYNAMICS, maps_fixture
from attnlab.papers.li2023.claims.common import all_of, data_hypotheses, share_reading, trial
from attnlab.papers.li2023.theory import conditions
from attnlab.papers.li2023.theory.conditions import sizes_of


@dataclass(frozen=True)
class FractionLaw:
    """(8) with an eps_S."""

    eps_S: float = conditions.LARGEST_EPS_S


def cell_reading(name: str, records: Records, margin, detail) -> Reading:
    """Whether every cell meets a condition: the smallest value over its threshold."""
    cells = {r.cell for r in records}
    if not cells:
        return Reading(name, "inconclusive", None, "no run of this kind")
    ratios = {cell: margin(cell) for cell in cells}
    least = min(ratios.values())
    outcome: Outcome = "supported" if least >= 1 else "contradicted"
    met = sum(x >= 1 for x in ratios.values())
    text = f"{met} of {len(cells)} cells meet it; {detail(cells)}"
    return Reading(
        name, outcome, Effect("smallest value over threshold", least, least, least), text
    )


def measure_condition_8(records: Records, law: FractionLaw) -> Measurement:
    """(8) at the fractions of each figure."""

    def margin(cell) -> float:
        needed = conditions.least_relevant_fraction(sizes_of(cell), law.eps_S)
        return cell.alpha_star / needed if needed > 0 else 1e9

    def detail(cells) -> str:
        s = sizes_of(next(iter(cells)))
        largest = law.eps_S * np.exp(-(s.delta + s.tau)) * (1 - s.error)
        worst = max(c.sharp / c.alpha_star for c in cells)
        return f"alpha_#/alpha_* is at most {worst:.3f}, allowed is {largest:.3f}"

    slice_1a = records.of("li2023.figure_1a").where(confusion="paper_slice")
    figures = {
        "figure 4": records.of(DYNAMICS),
        "figure 1a's slice": slice_1a,
        "figure 1b": records.of("li2023.figure_1b").where(sigma=0.1),
    }
    parts = [cell_reading(name, own, margin, detail) for name, own in figures.items() if own]
    ours = cell_reading(
        "certificate of Theorem 1", records.of("li2023.certificate"), margin, detail
    )
    return Measurement((*all_of("every figure", parts).readings, ours))


CONDITION_8 = Claim(
    id="li2023.condition_8",
    title="(8) at the paper's own settings",
    statement=(
        "The paper's experiments satisfy alpha_* >= alpha_#/(eps_S exp(-(delta + tau))(1 - (sigma "
        "+ tau))) for some eps_S below 1/2."
    ),
    measured=(
        "Arithmetic on the settings, at the weakest eps_S = 1/2: supported if every cell of "
        "figures 4, 1a and 1b meets it. One reading a figure."
    ),
    studies=(DYNAMICS, "li2023.figure_1a", "li2023.figure_1b", "li2023.certificate"),
    measure=measure_condition_8,
    law=FractionLaw(),
    controls=(Control("eps_S = 1/100", "a far smaller eps_S", law=FractionLaw(0.01)),),
    positive=maps_fixture,
    readings=(
        ("every figure", "the three together"),
        ("figure 4", "alpha_* = .5, alpha_# = .05"),
        ("figure 1a's slice", "alpha_# = .5 - alpha_*"),
        ("figure 1b", "alpha_* = .3, alpha_# = .2"),
        ("certificate of Theorem 1", "our cell for Theorem 1"),
    ),
    constants=(Constant("eps_S", "given", 0.5),),
    notes="At sigma = .1, delta = .2 it asks for alpha_#/alpha_* <= .368; with token noise .344.",
)


@dataclass(frozen=True)
class BatchLaw:
    """Batches of at least `factor` times (9) at constant one succeed."""

    factor: float = 1.0
    probability: float = 0.9
    succeed: bool = True


def measure_condition_9(records: Records, law: BatchLaw) -> Measurement:
    """The share of successes with batches above (9) at constant one, and below it."""
    above, below = [], []
    for r in records:
        enough = law.factor * conditions.least_batch(sizes_of(r.cell)) <= r.cell.B
        (above if enough else below).append(bool(r["success"]) == law.succeed)
    by_size = {
        B: np.mean([bool(r["success"]) for r in part]) for B, part in records.by("B").items()
    }
    detail = "success by B: " + ", ".join(f"{B}: {share:.2f}" for B, share in by_size.items())
    worst = [not x for x in below]
    return Measurement(
        (
            share_reading("enough", "share of successes", above, law.probability, detail),
            share_reading("below it fails", "share of failures", worst, law.probability, detail),
        )
    )


def _batch_fixture() -> Records:
    sizes = {"alpha_star": 0.42, "alpha_sharp": 0.08}
    return Records(
        trial("batch_size", seed, {"success": B >= 10}, B=B, **sizes)
        for B in (2, 5, 10, 20)
        for seed in range(40)
    )


CONDITION_9 = Claim(
    id="li2023.condition_9",
    title="A batch of the order of (9) is enough",
    statement="Batches of B >= C (alpha_* - exp(-(delta+tau))(tau + sigma))^-2 samples are enough.",
    measured=(
        "At constant C = 1: the share of successes with batches of at least that size, supported "
        "above 0.9. Beside it, whether smaller batches fail (the paper does not say so)."
    ),
    studies=("li2023.batch_size",),
    measure=measure_condition_9,
    law=BatchLaw(),
    hypotheses=data_hypotheses,
    controls=(
        Control("they fail", "large batches fail", law=BatchLaw(succeed=False)),
        Control("two samples", "N = 2", changes={"N": 2}),
    ),
    positive=_batch_fixture,
    readings=(
        ("enough", "batches above (9) at constant one succeed"),
        ("below it fails", "batches below it do not"),
    ),
    constants=(Constant("C of (9)", "unknown"),),
)


@dataclass(frozen=True)
class WidthLaw:
    """The bracket of Lemma 3 is positive with this many times the patterns."""

    patterns: float = 1.0


def measure_width(records: Records, law: WidthLaw) -> Measurement:
    """Whether the width leaves Lemma 3 something to say: the bracket at the least epsilon."""

    def margin(cell) -> float:
        s = sizes_of(cell)
        spent = law.patterns * (1 - conditions.lucky_share(s))
        return 1 / spent

    def detail(cells) -> str:
        s = sizes_of(next(iter(cells)))
        epsilon, bound = conditions.least_epsilon(s), conditions.lucky_bound(s)
        return f"eps_m >= {epsilon:.3f} is forced, and the bound is {bound:.1f} neurons"

    studies = [(DYNAMICS, "figure 4, M = 5")]
    for letter, M in (("a", 10), ("b", 15), ("c", 20)):
        studies.append((f"li2023.figure_7{letter}", f"figure 7{letter}, M = {M}"))
    parts = [
        cell_reading(name, records.of(study), margin, detail)
        for study, name in studies
        if records.of(study)
    ]
    return all_of("every figure", parts)


WIDTH = Claim(
    id="li2023.width_condition",
    title="The width condition leaves lucky neurons",
    statement=(
        "With m >= eps^-2 M^2 log N the experiments' widths leave 1 - eps_m - (sigma + tau) M/pi "
        "positive, so that Lemma 3 promises lucky neurons."
    ),
    measured=(
        "Arithmetic on the settings: eps_m + (sigma + tau) M/pi against 1 at the settings of "
        "figures 4 and 7; supported if all are below."
    ),
    studies=(DYNAMICS, "li2023.figure_7a", "li2023.figure_7b", "li2023.figure_7c"),
    measure=measure_width,
    law=WidthLaw(),
    controls=(Control("four times M", "four times as many patterns", law=WidthLaw(4.0)),),
    positive=maps_fixture,
    readings=(
        ("every figure", "the four together"),
        ("figure 4, M = 5", "m = 1000"),
        ("figure 7a, M = 10", "d = 20"),
        ("figure 7b, M = 15", "d = 20"),
        ("figure 7c, M = 20", "d = 20, where M < m_a fails too"),
    ),
    constants=(Constant("constant of m >~ eps^-2 M^2 log N", "unknown"),),
)

CONDITIONS = (CONDITION_8, CONDITION_9, WIDTH)
