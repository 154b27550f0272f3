"""With and without learned attention: figure 3, Proposition 1, Remark 1."""

from dataclasses import dataclass, replace

import numpy as np

from attnlab.core import Claim, Control, Effect, Measurement, Reading, Records
from attnlab.evidence.intervals import (
    decide_at_least,
    mean_interval,
)
from attnlab.papers.li2023.claims.common import (
    MAP,
    SHARED_AT_4,
    WITHOUT,
    PowerLaw,
    bounded,
    data_hypotheses,
    exponent_reading,
    inverse_fraction,
    inverse_relative_gap,
    slices,
    step_trials,
    theorem_hypotheses,
    threshold_reading,
    thresholds,
)
from attnlab.papers.li2023.theory.conditions import (
    least_samples_without_attention,
    sizes_of,
)


@dataclass(frozen=True)
class AdvantageLaw:
    """N50 without learned attention over N50 with it."""

    least: float = 1.5
    exchanged: bool = False


def ratios(records: Records) -> dict[str, dict[float, tuple[float, float]]]:
    """By slice: (1/alpha_*) -> (N50 without attention, N50 with), where both are bounded."""
    found = {}
    for name, part in list(slices(records).items())[:2]:
        with_, without = (
            bounded(thresholds(part.where(attention=kind), inverse_fraction))
            for kind in ("trained", "frozen")
        )
        found[name] = {x: (without[x].n50, with_[x].n50) for x in sorted(set(with_) & set(without))}
    return found


def measure_3(records: Records, law: AdvantageLaw) -> Measurement:
    """The factor between the two N50, on each slice."""
    readings = []
    for name, pairs in ratios(records).items():
        logs = [np.log(a / b) * (-1 if law.exchanged else 1) for a, b in pairs.values()]
        if len(logs) < 3:
            detail = f"both N50 are bounded at {len(logs)} fractions only"
            readings.append(Reading(name, "inconclusive", None, detail))
            continue
        interval = mean_interval(logs)
        low, high = np.exp(interval.low), np.exp(interval.high)
        effect = Effect("N50 without over with attention", float(np.exp(interval.value)), low, high)
        detail = "; ".join(f"1/alpha_* {x:.3g}: {a:.3g} / {b:.3g}" for x, (a, b) in pairs.items())
        outcome = decide_at_least(float(low), float(high), law.least)
        readings.append(Reading(name, outcome, effect, detail))
    return Measurement(tuple(readings))


def _advantage_fixture() -> Records:
    cells = [{"confusion": "paper_slice", "alpha_star": a} for a in (0.27, 0.31, 0.36, 0.42, 0.49)]
    cells += [{"confusion": "constant_ratio", "alpha_star": a} for a in (0.3, 0.4, 0.5, 0.6, 0.7)]
    frozen = [{**cell, "attention": "frozen"} for cell in cells]
    return Records(
        step_trials("figure_1a", lambda c: 6 * c.alpha_star**-2, cells, seeds=40)
        + step_trials("figure_3", lambda c: 6 * c.alpha_star**-4, frozen, seeds=40)
    )


FIGURE_3 = Claim(
    id="li2023.figure_3",
    title="Learned attention needs fewer samples",
    statement="At every alpha_* a network with learned attention needs fewer samples than without.",
    measured=(
        "N50 with attention trained and with keys and queries left at their first values; the "
        "geometric mean over alpha_* of the ratio: supported if its interval is above 1.5."
    ),
    studies=(MAP, WITHOUT),
    measure=measure_3,
    law=AdvantageLaw(),
    hypotheses=data_hypotheses,
    controls=(
        Control("exchanged", "the two networks exchanged", law=AdvantageLaw(exchanged=True)),
        Control("a factor of 10^4", "a ratio of at least 10^4", law=AdvantageLaw(least=1e4)),
    ),
    positive=_advantage_fixture,
    readings=(
        ("paper slice", "alpha_# = 0.5 - alpha_*"),
        ("constant ratio", "alpha_# / alpha_* = 0.3"),
    ),
    notes=(
        "The figure's settings are lost in our text: inferred. `Without attention` is Proposition "
        "1's network."
    ),
)


def _frozen_fixture() -> Records:
    settings = {"confusion": "constant_ratio", "attention": "frozen"}
    cells = [{"alpha_star": a, **settings} for a in (0.3, 0.4, 0.5, 0.6, 0.7)]
    return Records(step_trials("figure_3", lambda c: 2 * c.alpha_star**-4, cells, seeds=40))


def measure_proposition_1(records: Records, law: PowerLaw) -> Measurement:
    """The exponent of N50 without attention in 1/alpha_*, and in (13)'s own form."""
    frozen = records.where(attention="frozen")
    paper, ratio, _ = slices(frozen).values()
    half = replace(law, exponent=law.exponent / 4)
    square = replace(law, exponent=law.exponent / 2)

    def stated(cell) -> float:
        return least_samples_without_attention(sizes_of(cell))

    return Measurement(
        (
            threshold_reading("constant ratio", ratio, inverse_fraction, law, "1/alpha_*"),
            threshold_reading("paper slice", paper, inverse_fraction, law, "1/alpha_*"),
            threshold_reading(
                "both slices, relative gap", frozen, inverse_relative_gap, square, "alpha_*/gap"
            ),
            threshold_reading("paper slice, (13)", paper, stated, half, "(13)"),
            threshold_reading("constant ratio, (13)", ratio, stated, half, "(13)"),
        )
    )


PROPOSITION_1 = Claim(
    id="li2023.proposition_1",
    title="Without learned attention samples grow like alpha_*^-4",
    statement=(
        "With keys and queries left at their first values, N >= Omega((alpha_*(alpha_* - sigma - "
        "tau))^-2) samples suffice: alpha_*^-4 for small sigma + tau."
    ),
    measured="The exponent of N50 in 1/alpha_*: supported within 4 +- 0.5.",
    studies=(WITHOUT,),
    measure=measure_proposition_1,
    law=PowerLaw(4.0),
    hypotheses=lambda records: theorem_hypotheses(
        records.where(confusion="constant_ratio") or records
    ),
    controls=(
        Control("second power", "as with attention", law=PowerLaw(2.0)),
        Control("sixth power", "alpha_*^-6", law=PowerLaw(6.0)),
        SHARED_AT_4,
    ),
    positive=_frozen_fixture,
    readings=(
        ("constant ratio", "alpha_# / alpha_* = 0.3, where (8) holds"),
        ("paper slice", "alpha_# = 0.5 - alpha_*"),
        ("both slices, relative gap", "in 1/(1 - alpha_#/alpha_*), exponent 2 (ours)"),
        ("paper slice, (13)", "in (13)'s own regressor, exponent 1"),
        ("constant ratio, (13)", "the same at a constant ratio"),
    ),
    notes=(
        "A sufficient condition, read as a law, as Remark 1 does. Errata: (78) drops a -1, and "
        "(154) bounds p_n(0) below by a constant where (76) has it of the order alpha_*."
    ),
)


def measure_remark_1(records: Records, law: PowerLaw) -> Measurement:
    """The exponent of the ratio of the two N50 in 1/alpha_*."""
    readings = []
    for name, pairs in ratios(records).items():
        ratio = [a / b for a, b in pairs.values()]
        readings.append(exponent_reading(name, list(pairs), ratio, law, "exponent of the ratio"))
    return Measurement((readings[1], readings[0]))


REMARK_1 = Claim(
    id="li2023.remark_1",
    title="Attention saves a factor alpha_*^-2 of samples",
    statement=(
        "At about the same number of parameters, the number of samples without learned attention "
        "over that with it grows like alpha_*^-2."
    ),
    measured="The exponent of the ratio of the two N50 in 1/alpha_*: supported within 2 +- 0.5.",
    studies=(MAP, WITHOUT),
    measure=measure_remark_1,
    law=PowerLaw(2.0),
    hypotheses=data_hypotheses,
    controls=(
        Control("reversed", "a ratio that shrinks like alpha_*^2", law=PowerLaw(-2.0)),
        Control("fourth power", "a ratio like alpha_*^-4", law=PowerLaw(4.0)),
    ),
    positive=_advantage_fixture,
    readings=(
        ("constant ratio", "alpha_# / alpha_* = 0.3: only alpha_* changes"),
        ("paper slice", "alpha_# = 0.5 - alpha_*"),
    ),
)

WITHOUT_ATTENTION = (FIGURE_3, PROPOSITION_1, REMARK_1)
