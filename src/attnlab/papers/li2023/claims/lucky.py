"""Lucky neurons, Lemmas 3 and 4, and the growth of the output."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Control, Effect, Measurement, Reading, Record, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.evidence.intervals import decide_equal, mean_interval
from attnlab.papers.li2023.claims.common import (
    share_reading,
    theorem_hypotheses,
    trial,
)
from attnlab.papers.li2023.claims.neurons import (
    DYNAMICS,
    SHARED,
    SHARED_READING,
    SIZES,
    beside_shared,
    plain,
)
from attnlab.papers.li2023.theory.conditions import lucky_bound, sizes_of

READINGS = ("literal", "proof", "best")


@dataclass(frozen=True)
class CountLaw:
    """At least `factor` times Lemma 3's bound."""

    factor: float = 1.0


def measure_lemma_3(records: Records, law: CountLaw) -> Measurement:
    """Counts of lucky neurons at the start against the bound, by reading."""
    readings = []
    runs = plain(records)
    for k, name in enumerate(READINGS):
        counts = [r["lucky"][0, 0, k] for r in runs]
        held = [
            bool(c.min() >= law.factor * lucky_bound(sizes_of(r.cell)))
            for c, r in zip(counts, runs, strict=True)
        ]
        mean, bound = np.mean(counts) if counts else 0, lucky_bound(sizes_of(runs[0].cell))
        detail = f"{mean:.1f} lucky neurons a class at the mean, against {bound:.1f}"
        readings.append(share_reading(name, "share of runs with enough", held, detail=detail))
    return Measurement(tuple(readings))


def count_fixture() -> Records:
    """Runs with 200 lucky neurons a class in every reading, all of which stay."""
    values = {"lucky": np.full((5, 2, 3, 2), 200.0), "lucky_kept": np.ones((5, 2, 3, 2))}
    return Records(trial("dynamics", seed, values, **SIZES) for seed in range(40))


LEMMA_3 = Claim(
    id="li2023.lemma_3",
    title="How many neurons are lucky at the start",
    statement=(
        "At the start each class has at least (m/M)(1 - eps_m - (sigma + tau) M/pi) lucky "
        "neurons, eps_m being what the width condition allows at least, M sqrt(log N / m)."
    ),
    measured=(
        "Counts of lucky neurons of both classes in W_O(0): the share of runs in which both reach "
        "the bound, supported above 0.9."
    ),
    studies=(DYNAMICS,),
    measure=measure_lemma_3,
    law=CountLaw(),
    hypotheses=theorem_hypotheses,
    controls=(Control("tenfold", "ten times the bound", law=CountLaw(10.0)),),
    positive=count_fixture,
    readings=(
        ("literal", "Definition 2: within an angle sigma + tau of p_1"),
        ("proof", "theta_1 + 2 (sigma + tau) <= theta_l for all l"),
        ("best", "p_1 is the best-aligned feature"),
    ),
    notes=(
        "The proof takes angles in R^10 for uniform on [0, 2 pi]. A cone of sigma + tau = .13 rad "
        "holds practically no Gaussian vector of R^10."
    ),
)


@dataclass(frozen=True)
class InclusionLaw:
    """At least this share of the lucky neurons stays lucky, or at most."""

    least: float = 1.0
    most: float = 1.0


def measure_lemma_4(records: Records, law: InclusionLaw) -> Measurement:
    """The share of neurons lucky at the start that stay so, by reading."""
    readings = []
    for k, name in ((1, "proof"), (2, "best"), (0, "literal")):
        for features, words in ((0, "first features"), (1, "present features")):
            kept = [r["lucky_kept"][:, features, k] for r in plain(records)]
            known = [x for x in kept if np.isfinite(x).all()]
            title = f"{name}, {words}"
            if not known:
                readings.append(Reading(title, "inconclusive", None, "no neuron was lucky"))
                continue
            held = [bool(x.min() >= law.least and x[-1].max() <= law.most) for x in known]
            ends = np.mean([x[-1] for x in known])
            detail = f"{100 * ends:.1f} % are lucky at the end"
            readings.append(
                share_reading(title, "share of runs in which all stay", held, detail=detail)
            )
    return Measurement(tuple(readings))


LEMMA_4 = Claim(
    id="li2023.lemma_4",
    title="Lucky neurons stay lucky",
    statement="Neurons that are lucky at the start are lucky at every later iteration.",
    measured=(
        "The share of the neurons lucky at the start that are lucky later; the share of runs in "
        "which it is 1 at every recorded step, for both classes: supported above 0.9."
    ),
    studies=(DYNAMICS, SHARED),
    measure=beside_shared(measure_lemma_4),
    law=InclusionLaw(),
    hypotheses=theorem_hypotheses,
    controls=(Control("none stays", "no lucky neuron stays", law=InclusionLaw(0.0, 0.0)),),
    positive=count_fixture,
    readings=(
        *(
            (f"{name}, {words} features", f"as in Lemma 3, against the {words} features")
            for name in ("proof", "best", "literal")
            for words in ("first", "present")
        ),
        SHARED_READING,
    ),
    notes="Literal: practically no neuron is lucky at the start, so nothing can be lost.",
)


# --- output growth ----------------------------------------------------------------------------


@dataclass(frozen=True)
class OutputLaw:
    """The mean margin grows like t^power before it meets the hinge."""

    power: float = 2.0
    tolerance: float = 0.25


def output_exponent(record: Record, low: float = 0.05, high: float = 0.8) -> float:
    """The exponent of the mean margin in t while it is between two values."""
    t, F = record["times"], record["mean_margin"]
    seen = (t >= 1) & (low < F) & (high > F)
    return fit_exponent(t[seen], F[seen]).exponent if seen.sum() >= 3 else np.nan


def measure_output(records: Records, law: OutputLaw) -> Measurement:
    """The exponent under both statements of the paper."""
    found = np.array([output_exponent(r) for r in plain(records)])
    interval = mean_interval(found[np.isfinite(found)])
    effect = Effect.of("exponent of the output in t", interval)
    return Measurement(
        (
            Reading(
                "(64)", decide_equal(interval.low, interval.high, law.power, law.tolerance), effect
            ),
            Reading(
                "sketch", decide_equal(interval.low, interval.high, 1.0, law.tolerance), effect
            ),
        )
    )


def output_fixture() -> Records:
    """Runs whose output grows like t^2."""
    t = np.arange(1.0, 101.0, 5)
    powers = 2 + 0.02 * np.random.default_rng(0).normal(size=16)
    return Records(
        trial("dynamics", seed, {"times": t, "mean_margin": (t / 100) ** power}, **SIZES)
        for seed, power in enumerate(powers)
    )


OUTPUT = Claim(
    id="li2023.output_growth",
    title="How the output grows in time",
    statement="Until it meets the hinge the output grows like (eta t)^2; the sketch says like t.",
    measured=(
        "The exponent of the mean margin in t while it is between 0.05 and 0.8, mean over runs: "
        "supported within 2 +- 0.25 (second reading: 1 +- 0.25)."
    ),
    studies=(DYNAMICS, SHARED),
    measure=beside_shared(measure_output),
    law=OutputLaw(),
    hypotheses=theorem_hypotheses,
    controls=(
        Control("fifth power", "the first term of (64), (eta t)^5", law=OutputLaw(5.0)),
        Control("linear", "the sketch's law", law=OutputLaw(1.0)),
    ),
    positive=output_fixture,
    readings=(("(64)", "quadratic"), ("sketch", "linear"), SHARED_READING),
)

LUCKY = (LEMMA_3, LEMMA_4, OUTPUT)
