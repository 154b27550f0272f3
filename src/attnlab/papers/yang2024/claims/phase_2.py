"""Theorem 3.2: what grows and what falls in the second phase."""

from dataclasses import dataclass, replace

import numpy as np

from attnlab.core import Claim, Constant, Control, Measurement, Record, Records
from attnlab.papers.yang2024.claims.common import (
    FROZEN,
    SHUFFLED,
    hypotheses,
    share_reading,
)
from attnlab.papers.yang2024.settings import TrainingSettings, resolve
from attnlab.papers.yang2024.summaries.phase_1 import DETECTIONS


@dataclass(frozen=True)
class PhaseTwoLaw:
    """Which way each quantity goes, and how long the phase must last."""

    score_between_signals: int = 1
    score_signal_to_common: int = -1
    value_between_signals: int = 1
    value_signal_to_common: int = -1
    common_output: int = -1
    """The sign of G(mu_3)."""
    duration: float = 10.0
    """Ours: the phase must last until at least ten times its beginning."""
    probability: float = 0.9
    """Ours: the share of runs that stands for `with high probability`."""


def conditions(record: Record, law: PhaseTwoLaw) -> dict[str, np.ndarray]:
    """Whether each part holds at each record. A trend holds at a record if the next step does."""
    S, V, G = record["scores"], record["value_correlations"], record["signal_outputs"]

    def goes(series: np.ndarray, sign: int) -> np.ndarray:
        step = np.diff(series)
        return np.append(sign * step > 0, sign * step[-1] > 0)

    def both(first: np.ndarray, second: np.ndarray, sign: int) -> np.ndarray:
        return goes(first, sign) & goes(second, sign)

    G1, G2, G3 = G.T
    between, to_common = law.score_between_signals, law.score_signal_to_common
    return {
        "scores between the signals rise": both(S[:, 1, 0], S[:, 0, 1], between),
        "scores of the common token fall": both(S[:, 2, 0], S[:, 2, 1], to_common),
        "values of the signals correlate more": goes(V[:, 0, 1], law.value_between_signals),
        "values of signal and common token correlate less": both(
            V[:, 0, 2], V[:, 1, 2], law.value_signal_to_common
        ),
        "outputs have their signs": (G1 > 0) & (G2 > 0) & (law.common_output * G3 > 0),
        "margins without random words": (G1 + G2 + G3 > 0) & (G1 + G3 < 0) & (G2 + G3 < 0),
    }


def begin(held: np.ndarray, times: np.ndarray) -> float:
    """The time from which something holds until the end of the run; nan if it does not."""
    bad = np.flatnonzero(~held)
    first = int(bad[-1]) + 1 if bad.size else 0
    return float(times[first]) if first < len(times) else float("nan")


def measure(records: Records, law: PhaseTwoLaw) -> Measurement:
    """The share of runs with a long phase in which everything holds, and from each T1 on."""
    starts = [_start(r, law) for r in records]
    pairs = list(zip(records, starts, strict=True))
    found = [
        share_reading(
            "some T1",
            "share of runs with a phase 2 as stated",
            [start * law.duration <= r["times"][-1] for r, start in pairs],
            law.probability,
            _latest(records, law),
        )
    ]
    for detection in DETECTIONS:
        found.append(
            share_reading(
                "T1: " + detection.replace("_", " "),
                "share of runs in which all parts hold from T1 on",
                [
                    start <= _first_record_after(r, float(r[f"T1_{detection}"]))
                    for r, start in pairs
                ],
                law.probability,
            )
        )
    scaled = np.array([start * r["rho"][0] for r, start in pairs if np.isfinite(start)])
    if not scaled.size:
        return Measurement(tuple(found))
    low, high = np.quantile(scaled, (0.025, 0.975))
    constant = Constant("T1 rho(0), when all parts hold", "fitted", float(np.median(scaled)))
    return Measurement(tuple(found), (replace(constant, low=float(low), high=float(high)),))


def _start(record: Record, law: PhaseTwoLaw) -> float:
    everything = np.all(list(conditions(record, law).values()), axis=0)
    return begin(everything, record["times"])


def _first_record_after(record: Record, time: float) -> float:
    later = record["times"][record["times"] > time]
    return float(later[0]) if later.size else float("nan")


def _latest(records: Records, law: PhaseTwoLaw) -> str:
    """Which part begins last, over all runs."""
    begins: dict[str, list[float]] = {}
    for record in records:
        for name, held in conditions(record, law).items():
            begins.setdefault(name, []).append(begin(held, record["times"]) * record["rho"][0])
    medians = {name: float(np.median(np.nan_to_num(x, nan=np.inf))) for name, x in begins.items()}
    name = max(medians, key=lambda n: medians[n])
    return f"the last part to begin is: {name}, at {medians[name]:.3g} / rho(0)"


def positive() -> Records:
    """Runs in which everything goes as stated from time 5 / rho(0) on."""
    cell = resolve(TrainingSettings(n=24, L=4, m=512, target_loss=1e-3, horizon=1e6))
    times = np.r_[0, np.geomspace(0.01, 5000, 80)] / 512
    growth = np.log1p(times * 512)
    scores, values = np.zeros((81, 3, 3)), np.zeros((81, 3, 3))
    for i, j in ((0, 1), (1, 0)):
        scores[:, i, j] = values[:, i, j] = growth
    for i, j in ((2, 0), (2, 1), (0, 2), (1, 2)):
        scores[:, i, j] = values[:, i, j] = -growth
    G = np.stack([growth, growth, np.where(times * 512 > 5, -1.2, -0.5) * growth], axis=1)
    series = {
        "times": times,
        "scores": scores,
        "value_correlations": values,
        "signal_outputs": G,
        "rho": np.full(81, 512.0),
        "T1_every_sample": np.float64(6 / 512),
        "T1_type_means": np.float64(6 / 512),
    }
    return Records(Record("yang2024.phase_2", cell, seed, series) for seed in range(40))


PHASE_2 = (
    Claim(
        id="yang2024.theorem_3_2",
        title="Phase 2: attention and MLP enlarge the margin together",
        statement=(
            "With high probability there is a time range from T1 on in which the scores between "
            "the two signals rise and those of the common token against a signal fall, the values "
            "of the two signals correlate more and more, those of a signal and the common token "
            "less and less, G(mu_1), G(mu_2) and -G(mu_3) stay positive, and so do the margins "
            "that the signals alone give: G(mu_1) + G(mu_2) + G(mu_3), -(G(mu_1) + G(mu_3)) and "
            "-(G(mu_2) + G(mu_3))."
        ),
        measured=(
            "Flow to a loss of 1e-6, at several widths. "
            "The share of runs, with Wilson's interval, in which all "
            "parts hold at every record from some time on, for at least ten times that time: "
            "supported above 0.9, contradicted below."
        ),
        studies=("yang2024.phase_2",),
        measure=measure,
        law=PhaseTwoLaw(),
        hypotheses=hypotheses,
        controls=(
            FROZEN,
            SHUFFLED,
            Control(
                "as printed",
                "the third item as printed, an upper bound on -G(mu_3): read as G(mu_3) > 0",
                law=PhaseTwoLaw(common_output=1),
            ),
        ),
        positive=positive,
        readings=(
            ("some T1", "the range begins where all parts begin to hold"),
            ("T1: every sample", "it begins when the last sample becomes correct"),
            ("T1: type means", "it begins when the last type's mean margin becomes positive"),
        ),
        constants=(Constant("T1 rho(0), when all parts hold", "fitted"),),
        notes=(
            "The print bounds -G(mu_3) from above by a constant; the proof and the next item need "
            "it from below, which is what is checked."
        ),
    ),
)
