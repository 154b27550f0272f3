"""Theorem 1, and how far the maps behind it can be trusted."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Constant, Control, Effect, Measurement, Reading, Records
from attnlab.evidence.intervals import (
    certified_probability,
    clopper_pearson,
)
from attnlab.papers.li2023.claims.common import (
    MANY,
    MAP,
    TIMES,
    PowerLaw,
    all_of,
    exponent_reading,
    inverse_fraction,
    share_reading,
    theorem_hypotheses,
    threshold_reading,
    trial,
)


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


_CERTIFICATE = {
    "N": 64,
    "alpha_star": 0.42,
    "alpha_sharp": 0.08,
    "confusion": "number",
    "eta": 1.0,
    "sigma": 0.1,
    "delta": 0.2,
}
"""The certificate's setting: controls go back to it in every study."""

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
        "certificate of probability .99 (299 of 299). Fewer trials, as at scale smoke, cannot "
        "certify it and leave it inconclusive. Success is the "
        "figures': a test loss below 1e-3; that no test sample at all is short of the margin is a "
        "reading of its own. Beside it the exponents of N50 and T in 1/alpha_*."
    ),
    studies=(MANY, MAP, TIMES),
    measure=measure_theorem_1,
    law=TheoremLaw(),
    hypotheses=lambda records: theorem_hypotheses(records.of(MANY)),
    controls=(
        Control(
            "shuffled labels at N = 64",
            "the labels are permuted over the samples; 600 steps",
            changes={**_CERTIFICATE, "labels": "shuffled", "steps": 600},
        ),
        Control(
            "two samples",
            "N = 2",
            changes={**_CERTIFICATE, "N": 2},
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
    single = records.where(engine="collapsed", dtype="float32")
    maps = {(r.cell.N, r.cell.m, r.seed): r for r in single}
    parts = []
    for name, part in (
        ("float64", records.where(engine="collapsed", dtype="float64")),
        ("exact engine", records.where(engine="exact")),
    ):
        keyed = [(r, (r.cell.N, r.cell.m, r.seed)) for r in part]
        pairs = [(r, maps[key]) for r, key in keyed if key in maps]
        same = [(bool(a["success"]) == bool(b["success"])) == law.same for a, b in pairs]
        apart = [abs(float(a["iterations"]) / float(b["iterations"]) - 1) for a, b in pairs]
        detail = f"iterations differ by {np.mean(apart):.2%} at the mean" if apart else ""
        if pairs:
            parts.append(share_reading(name, "share of trials that agree", same, law.share, detail))
    return all_of("both", parts)


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
        "Trials with N far below, near and far above the threshold, paired by seed: the share with "
        "the same outcome, supported above 0.8."
    ),
    studies=("li2023.spot_check",),
    measure=measure_agreement,
    law=AgreementLaw(),
    controls=(Control("opposite", "opposite outcomes", law=AgreementLaw(same=False)),),
    positive=_agreement_fixture,
    readings=(
        ("both", "as far as they were run"),
        ("float64", "the same engine in float64"),
        (
            "exact engine",
            "the engine that is exact for token noise, at figure 1b's setting with m = 250 "
            "(not at scale smoke)",
        ),
    ),
    notes="Ours: no statement of the paper. Without token noise the two engines agree to rounding.",
)

THEOREM = (THEOREM_1, SPOT_CHECK)
