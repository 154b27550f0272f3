"""Theorem 3.1: the end of the first phase, and how its quantities scale with the width m."""

from dataclasses import dataclass, replace

import numpy as np

from attnlab.core import (
    Claim,
    Constant,
    Control,
    Effect,
    Measurement,
    Reading,
    Record,
    Records,
)
from attnlab.evidence.fits import fit_exponent
from attnlab.evidence.intervals import bootstrap_interval, decide_at_most, decide_equal
from attnlab.evidence.multiplicity import combine_outcomes, simultaneous_level
from attnlab.papers.yang2024.claims.common import (
    SHUFFLED,
    hypotheses,
    share_reading,
    sizes_of,
)
from attnlab.papers.yang2024.settings import TrainingSettings, resolve
from attnlab.papers.yang2024.summaries.phase_1 import CHANGES, DETECTIONS, NEURON_CHANGES

STUDY = "yang2024.phase_1"
C_T1 = "C_T1 = T1 s1^2 m m1"
C_ALIGNED = "c: least of G(mu_1), G(mu_2), -G(mu_3) at T1"


@dataclass(frozen=True)
class PhaseOneLaw:
    """The stated exponents in m. A bound O~(m^p) is met by an exponent of p + tolerance."""

    end_time: float = -1.0
    neuron_gram_change: float = -1.0
    value_change: float = -1.0
    score_change: float = -1.5
    key_change: float = -2.0
    query_change: float = -2.0
    tolerance: float = 0.1
    """Ours. The stated bounds hide powers of log m; over the widths here one power of log m
    is an exponent of about 0.15."""
    probability: float = 0.9
    """Ours: the share of runs that stands for `with high probability`."""


def measure(records: Records, law: PhaseOneLaw) -> Measurement:
    """Every part of the statement at T1, under both detections of T1."""
    wholes, details, constants = [], [], ()
    for detection in DETECTIONS:
        parts = _parts(records, law, detection)
        outcome = combine_outcomes([part.outcome for part in parts])
        decisive = [part for part in parts if part.outcome == outcome]
        name = "T1: " + detection.replace("_", " ")
        detail = "; ".join(f"{part.name}: {part.outcome}" for part in decisive)
        wholes.append(Reading(name, outcome, decisive[0].effect, detail))
        if detection == DETECTIONS[0]:
            details, constants = parts, _constants(records, detection)
    return Measurement((*wholes, *details), constants)


def _parts(records: Records, law: PhaseOneLaw, detection: str) -> list[Reading]:
    """Shares of runs, and exponents over the widths."""
    parts = [
        share_reading(
            "all samples correct",
            "share of runs that reach T1",
            [bool(np.isfinite(r[f"T1_{detection}"])) and not r.diverged for r in records],
            law.probability,
        ),
        share_reading(
            "signals aligned",
            "share of runs with G(mu_1), G(mu_2), -G(mu_3) > 0 at T1",
            [bool(r[f"alignment_at_{detection}"] > 0) for r in records],
            law.probability,
        ),
    ]
    level = simultaneous_level(len(CHANGES) + len(NEURON_CHANGES) + 3)
    at, by = f"_at_{detection}", f"_by_{detection}"
    constant = lambda low, high: decide_equal(low, high, 0.0, law.tolerance)  # noqa: E731
    parts += [
        _exponent("T1", records, f"T1_{detection}", level, _at_most(law.end_time, law)),
        _exponent("outputs at T1", records, f"alignment{at}", level, constant),
        _exponent("loss at T1", records, f"loss{at}", level, constant),
    ]
    for name in (*CHANGES, *NEURON_CHANGES):
        decide = _at_most(getattr(law, name), law)
        parts.append(_exponent(name.replace("_", " "), records, f"{name}{by}", level, decide))
    return parts


def _exponent(name: str, records: Records, scalar: str, level: float, decide) -> Reading:
    """The exponent in m of one scalar over the runs that have it (the shares count the others)."""
    have = [r for r in records if np.isfinite(r[scalar]) and r[scalar] > 0]
    if not have:
        return Reading(name, "inconclusive")
    fit = fit_exponent([r.cell.m for r in have], [float(r[scalar]) for r in have], level=level)
    effect = Effect(f"exponent of {name} in m", fit.exponent, fit.low, fit.high)
    return Reading(name, decide(fit.low, fit.high), effect)


def _at_most(power: float, law: PhaseOneLaw):
    return lambda low, high: decide_at_most(low, high, power + law.tolerance)


def _constants(records: Records, detection: str) -> tuple[Constant, ...]:
    have = [r for r in records if np.isfinite(r[f"alignment_at_{detection}"])]
    if len(have) < 2:
        return ()
    scaled = np.array([r[f"T1_{detection}"] * sizes_of(r).neuron_rate for r in have])
    least = np.array([r[f"alignment_at_{detection}"] for r in have])
    return _fitted(C_T1, scaled), _fitted(C_ALIGNED, least)


def _fitted(name: str, values: np.ndarray) -> Constant:
    interval = bootstrap_interval(np.median, values)
    return Constant(name, "fitted", interval.value, interval.low, interval.high)


def positive() -> Records:
    """Runs that scale exactly as stated, with two per cent of noise."""
    noise = np.random.default_rng(0)
    law = PhaseOneLaw()
    records = []
    for m in (128, 256, 512, 1024, 2048):
        cell = resolve(TrainingSettings(n=24, L=4, m=m))
        for seed in range(10):
            spread = float(np.exp(0.02 * noise.normal()))
            scalars = {"s0": 0.1 / np.sqrt(4 * m), "s1": 1 / 8}
            for detection in DETECTIONS:
                scalars[f"T1_{detection}"] = 7 * spread / m
                scalars[f"alignment_at_{detection}"] = 0.7 * spread
                scalars[f"loss_at_{detection}"] = 0.4 * spread
                for name in (*CHANGES, *NEURON_CHANGES):
                    scalars[f"{name}_by_{detection}"] = spread * float(m) ** getattr(law, name)
            records.append(Record(STUDY, cell, seed, scalars))
    return Records(records)


PHASE_1 = (
    Claim(
        id="yang2024.theorem_3_1",
        title="Phase 1: the MLP aligns, everything else stays",
        statement=(
            "With high probability there is a time T1 = O~(1/m) at which the linear MLP is "
            "aligned with the signals (G(mu_1), G(mu_2) at least and G(mu_3) at most a constant "
            "away from 0), every training sample is correct, the loss is still of order 1, and "
            "up to which neuron and value correlations have moved by O~(1/m), scores by "
            "O~(m^-3/2), key and query correlations by O~(m^-2)."
        ),
        measured=(
            "Flow at widths m up to 2^20. "
            "T1 is detected; the exponents in m of T1, of the largest "
            "change of each kind of variable up to T1, of the outputs and of the loss at T1, with "
            "simultaneous 95 % intervals. An upper bound m^p is supported if the interval ends "
            "below p + 0.1, contradicted if it begins above; a constant if it is within 0.1 of 0."
        ),
        studies=(STUDY,),
        measure=measure,
        law=PhaseOneLaw(),
        hypotheses=hypotheses,
        controls=(
            SHUFFLED,
            Control(
                "values move less",
                "value correlations move by m^-3/2",
                law=replace(PhaseOneLaw(), value_change=-1.5),
            ),
            Control(
                "scores move less",
                "scores move by m^-2",
                law=replace(PhaseOneLaw(), score_change=-2.0),
            ),
            Control("T1 is shorter", "T1 = O(m^-3/2)", law=replace(PhaseOneLaw(), end_time=-1.5)),
        ),
        positive=positive,
        readings=(
            ("T1: every sample", "T1 is the last time at which some sample is wrong"),
            ("T1: type means", "T1 is the last time at which some type's mean margin is negative"),
        ),
        constants=(
            Constant(C_T1, "fitted"),
            Constant(C_ALIGNED, "fitted"),
            Constant("the constants and logarithms of Condition 1", "unknown"),
        ),
        notes=(
            "The readings after the first two are the parts of the first one. The paper's T1 "
            "carries an unknown constant; ours is detected and the implied constant is reported."
        ),
    ),
)
