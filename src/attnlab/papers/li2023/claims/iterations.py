"""How many iterations a trial needs: figure 2, (11), and Remark 3."""

from dataclasses import dataclass, replace

import numpy as np

from attnlab.core import Claim, Control, Measurement, Reading, Records
from attnlab.papers.li2023.claims.common import (
    ERRORS,
    SHUFFLED,
    TIMES,
    PowerLaw,
    data_hypotheses,
    exponent_reading,
    inverse_fraction,
    inverse_gap,
    share_reading,
    slope_reading,
    step_trials,
    straight_line_reading,
    theorem_hypotheses,
    trial,
)
from attnlab.papers.li2023.claims.figure_1 import measure_1b


def standard(records: Records) -> Records:
    """The runs at the paper's first errors and our step size."""
    return records.where(eta=0.5, sigma=0.1, delta=0.2)


def over(records: Records, setting: str) -> Records:
    """The runs in which, of step size and first errors, only the named one is varied."""
    fixed = {"eta": 0.5, "sigma": 0.1, "delta": 0.2}
    fixed.pop(setting)
    return records.where(confusion="constant_ratio", alpha_star=0.3, **fixed)


def time_reading(name: str, records: Records, regressor, law: PowerLaw, what: str) -> Reading:
    """The exponent of T in a regressor, over the runs that reached zero training loss."""
    if not records:
        return Reading(name, "inconclusive", None, "no run of this kind")
    fitted = [r for r in records if r["fitted"]]
    share = share_reading(name, "share of runs that reach zero training loss",
                          [bool(r["fitted"]) for r in records])  # fmt: skip
    if share.outcome == "contradicted" or not fitted:
        return share
    x, T = [regressor(r.cell) for r in fitted], [max(float(r["iterations"]), 1.0) for r in fitted]
    reading = exponent_reading(name, x, T, law, f"exponent of T in {what}")
    straight = np.corrcoef(x, T)[0, 1] ** 2 if len(set(x)) > 1 else np.nan
    return replace(reading, detail=f"T linear in {what} with R^2 {straight:.3f}")


def measure_2(records: Records, law: PowerLaw) -> Measurement:
    """The exponent of T in 1/alpha_* by slice, and of the rest of (11)."""
    plain = standard(records)
    paper, ratio = (plain.where(confusion=c) for c in ("paper_slice", "constant_ratio"))
    alone = plain.where(confusion="number")
    step = replace(law, exponent=-1.0)
    return Measurement(
        (
            time_reading("paper slice", paper, inverse_fraction, law, "1/alpha_*"),
            time_reading("constant ratio", ratio, inverse_fraction, law, "1/alpha_*"),
            time_reading("no confusion", alone, inverse_fraction, law, "1/alpha_*"),
            time_reading("paper slice, gap", paper, inverse_gap, law, "1/gap"),
            time_reading("constant ratio, gap", ratio, inverse_gap, law, "1/gap"),
            _straight("straight line, paper slice", paper),
            _straight("straight line, constant ratio", ratio),
            _straight("straight line, no confusion", alone),
            time_reading("step size", over(records, "eta"), lambda c: c.eta, step, "eta"),
        )
    )


def _straight(name: str, records: Records) -> Reading:
    """How straight the mean T of the fitted runs is in 1/alpha_*."""
    fitted = Records(r for r in records if r["fitted"])
    levels = {
        1 / a: float(np.mean(part.column("iterations").astype(float)))
        for a, part in fitted.by("alpha_star").items()
    }
    return straight_line_reading(name, levels, "1/alpha_*")


def _time_fixture() -> Records:
    noise = np.random.default_rng(0)
    records = []
    levels = {"paper_slice": (0.28, 0.32, 0.38, 0.45), "constant_ratio": (0.2, 0.3, 0.4, 0.5)}
    for rule, fractions in levels.items():
        for a in fractions:
            for seed in range(10):
                T = 100 / a * np.exp(0.02 * noise.normal())
                values = {"fitted": True, "iterations": T}
                records.append(trial("figure_2", seed, values, confusion=rule, alpha_star=a))
    return Records(records)


FIGURE_2 = Claim(
    id="li2023.figure_2",
    title="Iterations grow like 1/alpha_*",
    statement="The number of iterations until training succeeds is linear in 1/alpha_*.",
    measured=(
        "Iterations until the training loss is zero at N = 128; the exponent in 1/alpha_*: "
        "supported within 1 +- 0.2. A study in which most runs never get there contradicts it."
    ),
    studies=(TIMES,),
    measure=measure_2,
    law=PowerLaw(1.0, tolerance=0.2),
    hypotheses=data_hypotheses,
    controls=(
        Control("tenth power", "T like alpha_*^-10", law=PowerLaw(10.0, tolerance=0.2)),
        Control("square root", "T like alpha_*^-1/2", law=PowerLaw(0.5, tolerance=0.2)),
        SHUFFLED,
    ),
    positive=_time_fixture,
    readings=(
        ("paper slice", "alpha_# = 0.5 - alpha_*"),
        ("constant ratio", "alpha_# / alpha_* = 0.3"),
        ("no confusion", "alpha_# = 0"),
        ("paper slice, gap", "in 1/(alpha_* - alpha_#)"),
        ("constant ratio, gap", "in 1/(alpha_* - alpha_#)"),
        ("straight line, ...", "the mean T on a line in 1/alpha_*, intercept allowed"),
        ("step size", "(11)'s exponent -1 in eta"),
    ),
    notes="The figure's settings are lost in our text: inferred.",
)


# --- remark 3 ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class InitialModelLaw:
    """How fast log T and log N50 must at least grow with an error of the first model."""

    iterations: float = 0.5
    samples: float = 1.0


def measure_remark_3(records: Records, law: InitialModelLaw) -> Measurement:
    """The slopes of log T over sigma and over delta, and of log N50 over sigma."""
    times = Records(r for r in records.of(TIMES) if r["fitted"])
    least = PowerLaw(law.iterations, "at_least", tolerance=0.0)
    readings = []
    for name in ("sigma", "delta"):
        own = over(times, name)
        readings.append(
            slope_reading(
                f"iterations over {name}",
                [getattr(r.cell, name) for r in own],
                [max(float(r["iterations"]), 1.0) for r in own],
                least,
                f"slope of log T over {name}",
            )
        )
    samples = measure_1b(records.of(ERRORS), PowerLaw(law.samples, "at_least", 0.0)).readings[0]
    return Measurement((*readings, replace(samples, name="samples over sigma")))


def _initial_model_fixture() -> Records:
    noise = np.random.default_rng(0)
    records = []
    for name, levels in (("sigma", (0.0, 0.1, 0.2, 0.3)), ("delta", (0.0, 0.1, 0.2, 0.4))):
        for level in levels:
            for seed in range(10):
                errors = {"sigma": 0.1, "delta": 0.2} | {name: level}
                T = 100 * np.exp(1.6 * sum(errors.values()) + 0.02 * noise.normal())
                settings = {"confusion": "constant_ratio", "alpha_star": 0.3, **errors}
                values = {"fitted": True, "iterations": T}
                records.append(trial("figure_2", seed, values, **settings))
    cells = [
        {"L": 50, "alpha_star": 0.3, "alpha_sharp": 0.2, "sigma": s} for s in (0, 0.1, 0.2, 0.3)
    ]
    records += step_trials("figure_1b", lambda c: 20 * np.exp(4 * c.sigma), cells, seeds=20)
    return Records(records)


REMARK_3 = Claim(
    id="li2023.remark_3",
    title="A better initial model learns sooner and from fewer samples",
    statement=(
        "A first model with smaller errors sigma and delta needs fewer iterations and fewer "
        "samples; (11) makes T grow like 1/(1 - eps - (sigma + tau) M/pi)."
    ),
    measured=(
        "The slope of log T over sigma: supported above 0.5 ((11) has M/pi = 1.6 at least), "
        "contradicted below; the same over delta, and of log N50 over sigma against 1."
    ),
    studies=(TIMES, ERRORS),
    measure=measure_remark_3,
    law=InitialModelLaw(),
    hypotheses=lambda records: theorem_hypotheses(
        over(records.of(TIMES), "sigma").where(sigma=0.1) or records
    ),
    controls=(
        Control("far steeper", "log T grows by 20 per unit", law=InitialModelLaw(iterations=20.0)),
    ),
    positive=_initial_model_fixture,
    readings=(
        ("iterations over sigma", "(11) in the first values' error"),
        ("iterations over delta", "the same over the error of keys and queries"),
        ("samples over sigma", "(10) in the first values' error, at figure 1b's setting"),
    ),
)

ITERATIONS = (FIGURE_2, REMARK_3)
