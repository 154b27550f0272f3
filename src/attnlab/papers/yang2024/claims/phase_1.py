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
    DETECTIONS,
    SHUFFLED,
    at_time,
    hypotheses,
    largest_until,
    share_reading,
    sizes_of,
)
from attnlab.papers.yang2024.settings import TrainingSettings, resolve


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


CHANGES = ("neuron_gram_change", "value_change", "score_change", "key_change", "query_change")


def measure(records: Records, law: PhaseOneLaw) -> Measurement:
    """Every part of the statement at T1, under both detections of T1."""
    wholes, details, constants = [], [], ()
    for detection in DETECTIONS:
        parts, found = _parts(records, law, detection)
        outcome = combine_outcomes([part.outcome for part in parts])
        worst = next(part for part in parts if part.outcome == outcome)
        name = "T1: " + detection.replace("_", " ")
        detail = "; ".join(f"{p.name}: {p.outcome}" for p in parts if p.outcome == outcome)
        wholes.append(Reading(name, outcome, worst.effect, detail))
        if detection == DETECTIONS[0]:
            details, constants = parts, found
    return Measurement((*wholes, *details), constants)


def _parts(
    records: Records, law: PhaseOneLaw, detection: str
) -> tuple[list[Reading], tuple[Constant, ...]]:
    ends = [float("nan") if r.diverged else float(r[f"T1_{detection}"]) for r in records]
    least = [
        _alignment(r, end) if np.isfinite(end) else -np.inf
        for r, end in zip(records, ends, strict=True)
    ]
    parts = [
        share_reading(
            "all samples correct",
            "share of runs that reach T1",
            [bool(np.isfinite(end)) for end in ends],
            law.probability,
        ),
        share_reading(
            "signals aligned",
            "share of runs with G(mu_1), G(mu_2), -G(mu_3) > 0 at T1",
            [size > 0 for size in least],
            law.probability,
        ),
    ]
    aligned = [r for r, size in zip(records, least, strict=True) if size > 0]
    if len(aligned) < 3:
        return parts, ()
    widths = np.array([r.cell.m for r in aligned])
    times = np.array([float(r[f"T1_{detection}"]) for r in aligned])
    level = simultaneous_level(len(CHANGES) + 3)

    def exponent(name: str, values: np.ndarray, decide) -> Reading:
        fit = fit_exponent(widths, values, level=level)
        effect = Effect(f"exponent of {name} in m", fit.exponent, fit.low, fit.high)
        return Reading(name, decide(fit.low, fit.high), effect)

    def at_most(power: float):
        return lambda low, high: decide_at_most(low, high, power + law.tolerance)

    def constant_size(low: float, high: float):
        return decide_equal(low, high, 0.0, law.tolerance)

    alignment = np.array([_alignment(r, t) for r, t in zip(aligned, times, strict=True)])
    losses = np.array([at_time(r, "loss", t) for r, t in zip(aligned, times, strict=True)])
    parts.append(exponent("T1", times, at_most(law.end_time)))
    parts.append(exponent("size of the outputs at T1", alignment, constant_size))
    parts.append(exponent("loss at T1", losses, constant_size))
    for name in CHANGES:
        moved = np.array([largest_until(r, name, t) for r, t in zip(aligned, times, strict=True)])
        parts.append(exponent(name.replace("_", " "), moved, at_most(getattr(law, name))))
    rates = np.array([_rate(r) for r in aligned])
    return parts, (
        _fitted("C_T1 = T1 s1^2 m m1", times * rates),
        _fitted("c: least of G(mu_1), G(mu_2), -G(mu_3) at T1", alignment),
    )


def _alignment(record: Record, time: float) -> float:
    """The least of G(mu_1), G(mu_2) and -G(mu_3)."""
    return float(np.min(at_time(record, "signal_outputs", time) * (1, 1, -1)))


def _rate(record: Record) -> float:
    """s1^2 m m1, the unit of time of phase 1."""
    return sizes_of(record).neuron_rate


def _fitted(name: str, values: np.ndarray) -> Constant:
    interval = bootstrap_interval(np.median, values)
    return Constant(name, "fitted", interval.value, interval.low, interval.high)


def positive() -> Records:
    """Runs that scale exactly as stated, with two per cent of noise."""
    noise = np.random.default_rng(0)
    records = []
    for m in (128, 256, 512, 1024, 2048):
        cell = resolve(TrainingSettings(n=24, L=4, m=m))
        for seed in range(8):
            spread = np.exp(0.02 * noise.normal())
            times = np.r_[0, np.geomspace(0.01, 100, 60)] / m
            ramp = np.minimum(times * m / 7, 1.5) * spread
            changes = {name: ramp * float(m) ** getattr(PhaseOneLaw, name) for name in CHANGES}
            records.append(
                Record(
                    "yang2024.phase_1",
                    cell,
                    seed,
                    {
                        "times": times,
                        "loss": 0.7 - 0.3 * ramp,
                        "signal_outputs": ramp[:, None] * np.array([0.8, 0.8, -0.7]),
                        "T1_every_sample": np.float64(7 * spread / m),
                        "T1_type_means": np.float64(5 * spread / m),
                        "s0": np.float64(0.1 / np.sqrt(4 * m)),
                        "s1": np.float64(1 / 8),
                        **changes,
                    },
                )
            )
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
            "Flow at several widths m. T1 is detected; the exponents in m of T1, of the largest "
            "change of each kind of variable up to T1, of the outputs and of the loss at T1, with "
            "simultaneous 95 % intervals. An upper bound m^p is supported if the interval ends "
            "below p + 0.1, contradicted if it begins above; a constant if it is within 0.1 of 0."
        ),
        studies=("yang2024.phase_1",),
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
            Constant("C_T1 = T1 s1^2 m m1", "fitted"),
            Constant("c: least of G(mu_1), G(mu_2), -G(mu_3) at T1", "fitted"),
            Constant("the constants and logarithms of Condition 1", "unknown"),
        ),
        notes=(
            "The readings after the first two are the parts of the first one. The paper's T1 "
            "carries an unknown constant; ours is detected and the implied constant is reported."
        ),
    ),
)
