"""How many samples a trial needs: figures 1 and 3, Theorem 1, Proposition 1, Remark 1."""

from dataclasses import dataclass, replace

import numpy as np

from attnlab.core import Claim, Constant, Control, Effect, Measurement, Reading, Record, Records
from attnlab.evidence.fits import compare_powers
from attnlab.evidence.intervals import (
    certified_probability,
    clopper_pearson,
    decide_at_least,
    mean_interval,
)
from attnlab.papers.li2023.claims.common import (
    FIXED_ORDER_AT_4,
    SHARED_AT_4,
    PowerLaw,
    bounded,
    data_hypotheses,
    exponent_reading,
    inverse_fraction,
    inverse_gap,
    share_reading,
    slope_reading,
    step_trials,
    theorem_hypotheses,
    threshold_reading,
    thresholds,
    trial,
)
from attnlab.papers.li2023.theory.conditions import (
    least_relevant_fraction,
    least_samples_without_attention,
    sizes_of,
)

MAP, WITHOUT, ERRORS = "li2023.figure_1a", "li2023.figure_3", "li2023.figure_1b"
TIMES, MANY = "li2023.figure_2", "li2023.certificate"
SUPPORT = 2.0
"""AIC beyond which one law is preferred to another."""


def slices(records: Records) -> dict[str, Records]:
    """The records by how alpha_# follows alpha_*."""
    return {
        "paper slice": records.where(confusion="paper_slice"),
        "constant ratio": records.where(confusion="constant_ratio"),
        "fixed alpha_*": records.where(confusion="number"),
    }


# --- figure 1a --------------------------------------------------------------------------------


def comparison_reading(name: str, records: Records) -> Reading:
    """alpha_*^-2 against gap^-2 as whole laws of N50: AIC and error on held-out levels."""
    found = bounded(thresholds(records, lambda cell: (cell.alpha_star, cell.sharp)))
    if len(found) < 3:
        return Reading(name, "inconclusive", None, f"N50 is bounded at {len(found)} cells only")
    stars = np.array([a for a, _ in found])
    gaps = np.array([a - b for a, b in found])
    fits = compare_powers(
        {"alpha_*^-2": stars**-2, "gap^-2": gaps**-2},
        [f.n50 for f in found.values()],
        exponent=1.0,
    )
    by_name = {fit.name: fit for fit in fits}
    stated, other = by_name["alpha_*^-2"], by_name["gap^-2"]
    difference = stated.aic - other.aic
    better = stated.held_out_error < other.held_out_error
    outcome = "inconclusive"
    if difference < -SUPPORT and better:
        outcome = "supported"
    elif difference > SUPPORT and not better:
        outcome = "contradicted"
    detail = "; ".join(
        f"{f.name}: AIC {f.aic:.1f}, held-out error of log N50 {f.held_out_error:.3f}" for f in fits
    )
    effect = Effect("AIC of alpha_*^-2 minus AIC of gap^-2", difference, difference, difference)
    return Reading(name, outcome, effect, detail)


def measure_1a(records: Records, law: PowerLaw) -> Measurement:
    """N50 against 1/alpha_* on the paper's slice; the other slices and the gap beside it."""
    parts = slices(records)
    paper, ratio, fixed = parts.values()
    meets = Records(
        r for r in paper if r.cell.alpha_star >= least_relevant_fraction(sizes_of(r.cell))
    )
    constant = PowerLaw(0.0, tolerance=law.tolerance)
    whole = Records(r for part in parts.values() for r in part)
    return Measurement(
        (
            threshold_reading("paper slice", paper, inverse_fraction, law, "1/alpha_*"),
            threshold_reading("constant ratio", ratio, inverse_fraction, law, "1/alpha_*"),
            threshold_reading("fixed alpha_*", fixed, inverse_gap, constant, "1/gap"),
            threshold_reading("paper slice, gap", paper, inverse_gap, law, "1/gap"),
            threshold_reading("constant ratio, gap", ratio, inverse_gap, law, "1/gap"),
            threshold_reading("cells that meet (8)", meets, inverse_fraction, law, "1/alpha_*"),
            comparison_reading("law by AIC, paper slice", paper),
            comparison_reading("law by AIC, all slices", whole),
        )
    )


def _fraction_fixture(power: float) -> list[Record]:
    cells = [{"confusion": "paper_slice", "alpha_star": a} for a in (0.28, 0.32, 0.37, 0.42, 0.48)]
    return step_trials("figure_1a", lambda c: 1.5 * c.alpha_star**-power, cells, seeds=40)


def _frozen_fixture() -> Records:
    settings = {"confusion": "constant_ratio", "attention": "frozen"}
    cells = [{"alpha_star": a, **settings} for a in (0.3, 0.4, 0.5, 0.6, 0.7)]
    return Records(step_trials("figure_3", lambda c: 2 * c.alpha_star**-4, cells, seeds=40))


FIGURE_1A = Claim(
    id="li2023.figure_1a",
    title="Samples needed grow like alpha_*^-2",
    statement=(
        "Over the fraction alpha_* of label-relevant tokens, at alpha_# = 0.5 - alpha_*, the "
        "number of samples at which trials begin to succeed is about linear in alpha_*^-2."
    ),
    measured=(
        "Trials over alpha_* and N; success is a test hinge loss below 1e-3. N50 by the grid "
        "posterior at each alpha_*; its exponent in 1/alpha_*: supported within 2 +- 0.5."
    ),
    studies=(MAP,),
    measure=measure_1a,
    law=PowerLaw(2.0),
    hypotheses=data_hypotheses,
    controls=(
        Control("linear", "N50 like 1/alpha_*", law=PowerLaw(0.8)),
        Control("fourth power", "N50 like alpha_*^-4", law=PowerLaw(4.0)),
        SHARED_AT_4,
        FIXED_ORDER_AT_4,
    ),
    positive=lambda: Records(_fraction_fixture(2.0)),
    readings=(
        ("paper slice", "alpha_# = 0.5 - alpha_*, as printed"),
        ("constant ratio", "alpha_# / alpha_* = 0.3"),
        ("fixed alpha_*", "alpha_* = 0.35, alpha_# varied: the law says N50 does not move"),
        ("paper slice, gap", "the paper's slice, in 1/(alpha_* - alpha_#)"),
        ("constant ratio, gap", "at a constant ratio, in 1/(alpha_* - alpha_#)"),
        ("cells that meet (8)", "the part of the paper's slice with alpha_* >= .365"),
        ("law by AIC, paper slice", "alpha_*^-2 against gap^-2 as whole laws"),
        ("law by AIC, all slices", "the same over all three slices"),
    ),
    notes=(
        "Without output weights per position, or with tokens in a fixed order, two samples "
        "suffice: with fixed counts the order is the only thing that differs between samples. "
        "The maps use the engine `collapsed` at c0 = .01, where it is approximate."
    ),
)


# --- figure 1b --------------------------------------------------------------------------------


def measure_1b(records: Records, law: PowerLaw) -> Measurement:
    """The slope of log N50 over sigma, and over the token noise."""
    values = records.where(c0=0.01, m=1000)
    noise = Records(r for r in records if r.cell.m != 1000)
    return Measurement(
        (
            _slope("first values' error", values, lambda c: c.sigma, law, "sigma"),
            _slope("token noise", noise, lambda c: c.c0 * np.sqrt(c.d), law, "tau"),
        )
    )


def _slope(name: str, records: Records, regressor, law: PowerLaw, what: str) -> Reading:
    found = thresholds(records, regressor)
    known = {x: f for x, f in found.items() if f.censored == "no"}
    below = sum(f.censored == "below" for f in found.values())
    if found and below > len(found) / 2:
        return Reading(name, "contradicted", None, "trials succeed at the smallest N already")
    if len(known) < 3:
        return Reading(name, "inconclusive", None, f"N50 is bounded at {len(known)} levels only")
    reading = slope_reading(
        name, list(known), [f.n50 for f in known.values()], law, f"slope of log N50 over {what}"
    )
    table = "; ".join(f"{x:.3g}: {f.n50:.3g} [{f.low:.3g}, {f.high:.3g}]" for x, f in found.items())
    return replace(reading, detail=f"N50 by {what}: {table}")


def _error_fixture() -> Records:
    cells = [
        {"L": 50, "alpha_star": 0.3, "alpha_sharp": 0.2, "sigma": s} for s in (0, 0.1, 0.2, 0.3)
    ]
    return Records(step_trials("figure_1b", lambda c: 20 * np.exp(4 * c.sigma), cells, seeds=40))


FIGURE_1B = Claim(
    id="li2023.figure_1b",
    title="Samples needed grow with the first values' error",
    statement=(
        "At alpha_* = 0.3, alpha_# = 0.2 and 50 tokens the number of samples needed grows with "
        "the error sigma of the first values, like (Theta(1) - sigma - tau)^-2."
    ),
    measured=(
        "N50 over sigma; the slope of log N50 over sigma: supported if it is above 1 (the law at "
        "constants one has at least 2/alpha_* = 6.7), contradicted if it is below."
    ),
    studies=(ERRORS,),
    measure=measure_1b,
    law=PowerLaw(1.0, "at_least", tolerance=0.0),
    hypotheses=data_hypotheses,
    controls=(
        Control("far steeper", "a slope of at least 30", law=PowerLaw(30.0, "at_least", 0.0)),
        SHARED_AT_4,
    ),
    positive=_error_fixture,
    readings=(
        ("first values' error", "over sigma, as printed"),
        ("token noise", "over tau = c0 sqrt(d), the other term of the law (m = 250, eta = 1)"),
    ),
    notes="This setting violates (8): alpha_#/alpha_* is .67, and at most .368 is allowed.",
)


# --- with and without attention ---------------------------------------------------------------


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
        "1's network; uniform attention is something else and needs hardly any samples."
    ),
)


def measure_proposition_1(records: Records, law: PowerLaw) -> Measurement:
    """The exponent of N50 without attention in 1/alpha_*, and in (13)'s own form."""
    frozen = records.where(attention="frozen")
    paper, ratio, _ = slices(frozen).values()
    half = replace(law, exponent=law.exponent / 4)

    def stated(cell) -> float:
        return least_samples_without_attention(sizes_of(cell))

    return Measurement(
        (
            threshold_reading("constant ratio", ratio, inverse_fraction, law, "1/alpha_*"),
            threshold_reading("paper slice", paper, inverse_fraction, law, "1/alpha_*"),
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
        Control("no gain", "a constant ratio", law=PowerLaw(0.0)),
        Control("fourth power", "a ratio like alpha_*^-4", law=PowerLaw(4.0)),
    ),
    positive=_advantage_fixture,
    readings=(
        ("constant ratio", "alpha_# / alpha_* = 0.3: only alpha_* changes"),
        ("paper slice", "alpha_# = 0.5 - alpha_*"),
    ),
)


# --- theorem 1 --------------------------------------------------------------------------------


@dataclass(frozen=True)
class TheoremLaw:
    """Zero test loss with a probability, and two exponents."""

    probability: float = 0.99
    samples: PowerLaw = PowerLaw(2.0)  # noqa: RUF009
    iterations: PowerLaw = PowerLaw(1.0, tolerance=0.2)  # noqa: RUF009


def probability_reading(name: str, held: list[bool], probability: float) -> Reading:
    """Supported by an exact certificate, contradicted by the exact interval."""
    if not held:
        return Reading(name, "inconclusive", None, "no trial")
    least = certified_probability(sum(held), len(held))
    interval = clopper_pearson(sum(held), len(held))
    effect = Effect(
        "probability of success, certified at 95 %", sum(held) / len(held), least, interval.high
    )
    outcome = "inconclusive"
    if least >= probability:
        outcome = "supported"
    elif interval.high < probability:
        outcome = "contradicted"
    detail = f"{sum(held)} of {len(held)} trials; 299 of 299 certify .99"
    return Reading(name, outcome, effect, detail)


def measure_theorem_1(records: Records, law: TheoremLaw) -> Measurement:
    """The probability of success where the hypotheses hold, and the exponents of N and T."""
    many, times = records.of(MANY), records.of(TIMES).where(confusion="constant_ratio")
    times = Records(r for r in times if r["fitted"] and _standard(r.cell))
    ratio = records.of(MAP).where(confusion="constant_ratio")
    zero = [bool(r["least_margin"] >= r.cell.margin) for r in many]
    return Measurement(
        (
            probability_reading(
                "test loss below 1e-3", [bool(r["success"]) for r in many], law.probability
            ),
            probability_reading("no test sample short of the margin", zero, law.probability),
            threshold_reading(
                "samples, constant ratio", ratio, inverse_fraction, law.samples, "1/alpha_*"
            ),
            exponent_reading(
                "iterations, constant ratio",
                [inverse_fraction(r.cell) for r in times],
                [float(r["iterations"]) for r in times],
                law.iterations,
                "exponent of T in 1/alpha_*",
            ),
        )
    )


def _standard(cell) -> bool:
    return cell.eta == 0.5 and cell.sigma == 0.1 and cell.delta == 0.2


def _theorem_fixture() -> Records:
    values = {"success": True, "least_margin": 1.2, "fitted": True, "iterations": 100.0}
    many = [trial("certificate", s, values, alpha_star=0.42, alpha_sharp=0.08) for s in range(299)]
    return Records(many)


THEOREM_1 = Claim(
    id="li2023.theorem_1",
    title="Zero generalisation error with probability .99",
    statement=(
        "Under (8), (9) and Assumption 1, with N of the order (alpha_* - c)^-2 samples and T of "
        "the order 1/(eta alpha_*) iterations, the trained network has zero generalisation error "
        "with probability at least .99; without them (N = 2, or no labels to learn) it has not."
    ),
    measured=(
        "Trials at alpha_* = .42, alpha_# = .08, N = 64, where (8) holds: an exact 95 % "
        "certificate of probability .99 (299 of 299, scale paper). Fewer trials cannot certify it "
        "and leave it inconclusive. Beside it the exponents of N50 and of T in 1/alpha_*."
    ),
    studies=(MANY, MAP, TIMES),
    measure=measure_theorem_1,
    law=TheoremLaw(),
    hypotheses=lambda records: theorem_hypotheses(records.of(MANY)),
    controls=(
        Control(
            "shuffled labels at N = 64",
            "the labels are permuted over the samples; 600 steps",
            changes={
                "labels": "shuffled",
                "steps": 600,
                "N": 64,
                "alpha_star": 0.42,
                "alpha_sharp": 0.08,
                "confusion": "number",
                "eta": 0.5,
                "sigma": 0.1,
                "delta": 0.2,
            },
        ),
        Control(
            "two samples",
            "N = 2",
            changes={
                "N": 2,
                "alpha_star": 0.42,
                "alpha_sharp": 0.08,
                "confusion": "number",
                "eta": 0.5,
                "sigma": 0.1,
                "delta": 0.2,
            },
        ),
    ),
    positive=_theorem_fixture,
    readings=(
        ("test loss below 1e-3", "success as the paper's figures count it"),
        ("no test sample short of the margin", "zero loss on 400 test samples, literally"),
        ("samples, constant ratio", "N50 has exponent 2 in 1/alpha_*"),
        ("iterations, constant ratio", "T has exponent 1 in 1/alpha_*"),
    ),
    constants=(
        Constant("c', c'' of (10), the constants of (9) and (11)", "unknown"),
        Constant("eps_S of (8)", "given", 0.5),
    ),
    notes="Erratum: (67) should read T = eta^-1 a_1^(-1/2).",
)

# --- how far the maps can be trusted ----------------------------------------------------------


@dataclass(frozen=True)
class AgreementLaw:
    """The share of trials with the same outcome, and of which runs."""

    share: float = 0.8
    same: bool = True


def measure_agreement(records: Records, law: AgreementLaw) -> Measurement:
    """Outcomes by float64 and by the exact engine against those of the maps, seed by seed."""
    maps = {(r.cell.N, r.seed): r for r in records.where(engine="collapsed", dtype="float32")}
    readings = []
    for name, part in (
        ("float64", records.where(engine="collapsed", dtype="float64")),
        ("exact engine", records.where(engine="exact")),
    ):
        pairs = [(r, maps[r.cell.N, r.seed]) for r in part if (r.cell.N, r.seed) in maps]
        same = [(bool(a["success"]) == bool(b["success"])) == law.same for a, b in pairs]
        apart = [abs(float(a["iterations"]) / float(b["iterations"]) - 1) for a, b in pairs]
        detail = f"iterations differ by {np.mean(apart):.2%} at the mean" if apart else ""
        readings.append(share_reading(name, "share of trials that agree", same, law.share, detail))
    return Measurement(tuple(readings))


def _agreement_fixture() -> Records:
    values = {"success": True, "iterations": 100.0}
    return Records(
        trial("spot_check", seed, values, **settings)
        for settings in ({}, {"dtype": "float64"}, {"engine": "exact"})
        for seed in range(40)
    )


SPOT_CHECK = Claim(
    id="li2023.spot_check",
    title="The maps' engine and precision do not decide their outcomes",
    statement=(
        "Trials of the maps (engine collapsed at c0 = .01, float32) come out as in float64 and as "
        "with the engine on the tokens themselves."
    ),
    measured=(
        "Trials at alpha_* = .35 near the threshold, paired by seed: the share with the same "
        "outcome, supported above 0.8."
    ),
    studies=("li2023.spot_check",),
    measure=measure_agreement,
    law=AgreementLaw(),
    controls=(Control("opposite", "opposite outcomes", law=AgreementLaw(same=False)),),
    positive=_agreement_fixture,
    readings=(
        ("float64", "the same engine in float64"),
        ("exact engine", "the engine that is exact for token noise (not at scale smoke)"),
    ),
    notes="Ours: no statement of the paper. Without token noise the two engines agree to rounding.",
)

SAMPLE_COMPLEXITY = (SPOT_CHECK, FIGURE_1A, FIGURE_1B, FIGURE_3, THEOREM_1, PROPOSITION_1, REMARK_1)
