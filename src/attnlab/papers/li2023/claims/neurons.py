"""What neurons learn: Lemma 2, claim 1 and its header."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from attnlab.core import Claim, Control, Measurement, Record, Records
from attnlab.papers.li2023.claims.common import (
    all_of,
    share_reading,
    theorem_hypotheses,
    trial,
)

DYNAMICS, SHARED = "li2023.dynamics", "li2023.shared_weights"
STOPPED = Control(
    "no training", "a single step: nothing has grown", changes={"steps": 1, "stop": "fixed"}
)
SIZES = {"alpha_star": 0.5, "alpha_sharp": 0.05}


SHARED_READING = (
    "shared weights: ...",
    "the same with one vector of output weights for all places",
)


def plain(records: Records) -> Records:
    """The runs with the paper's hinge."""
    return records.where(margin=1.0)


def beside_shared(measure: Callable[[Records, Any], Measurement]):
    """The measure on the study with weights per position, and then on that with shared ones.

    The proofs presume one sign of a_(l)i for all l, which only shared weights have.
    """

    def both(records: Records, law: Any) -> Measurement:
        shared = records.of(SHARED)
        others = measure(shared, law).readings if shared else ()
        named = (replace(reading, name=f"shared weights: {reading.name}") for reading in others)
        return Measurement((*measure(records.of(DYNAMICS), law).readings, *named))

    return both


# --- lemma 2, claim 1 -------------------------------------------------------------------------


@dataclass(frozen=True)
class NeuronLaw:
    """Lucky neurons grow along their own feature, nothing else exceeds xi."""

    growth: float = 2.0
    others: float = 1.0
    """Sizes of the other projections, in units of xi."""


def measure_claim_1(records: Records, law: NeuronLaw) -> Measurement:
    """Growth of the lucky neurons' own projection, and the bound xi on every other one."""
    runs = plain(records)
    own = [r["lucky_along_own"][-1] >= law.growth * r["lucky_along_own"][0] for r in runs]
    others = [r["lucky_along_others"][-1] <= law.others * r.cell.xi for r in runs]
    unlucky = [r["unlucky_along"][-1] <= law.others * r.cell.xi for r in runs]
    size = [r["unlucky_along"][-1] / r.cell.xi for r in runs]
    grown = [r["lucky_along_own"][-1] / r["lucky_along_own"][0] for r in runs]
    share = "share of runs"
    return all_of(
        "all parts",
        [
            share_reading("own feature grows", share, own,
                          detail=f"growth {np.mean(grown):.3g} at the mean" if grown else ""),
            share_reading("other features stay below xi", share, others),
            share_reading("unlucky neurons stay below xi", share, unlucky,
                          detail=f"mean over xi {np.mean(size):.3g}" if size else ""),
        ],
    )  # fmt: skip


def _runs_of_both_studies(values: dict[str, np.ndarray]) -> Records:
    """Forty equal runs with output weights per position, and forty with shared ones."""
    return Records(
        trial(study, seed, values, **SIZES)
        for study in ("dynamics", "shared_weights")
        for seed in range(40)
    )


def neuron_fixture() -> Records:
    """Runs that do what Lemma 2 says."""
    pairs = {
        "lucky_along_own": (0.01, 0.2),
        "lucky_along_others": (0.006, 0.008),
        "unlucky_along": (0.006, 0.008),
    }
    values = {name: np.linspace(pair[0], pair[1], 10) for name, pair in pairs.items()}
    return _runs_of_both_studies(values)


CLAIM_1 = Claim(
    id="li2023.lemma_2_claim_1",
    title="Lucky neurons grow along their own feature only",
    statement=(
        "The projection of a lucky neuron on its own feature p_1 (or p_2) grows at least like "
        "eta^2 t^2; its projections on other features, and an unlucky neuron's on the features "
        "that are not discriminative, stay below xi."
    ),
    measured=(
        "Neurons best aligned with p_1 or p_2 at the start, means over them: own projection at "
        "least doubled by the end of training (the rate has an unknown constant), the mean "
        "positive part of every other one at most xi, and of unlucky neurons' at most xi. The "
        "share of runs: supported above 0.9."
    ),
    studies=(DYNAMICS, SHARED),
    measure=beside_shared(measure_claim_1),
    law=NeuronLaw(),
    hypotheses=theorem_hypotheses,
    controls=(
        STOPPED,
        Control("hundredfold", "own projection grows a hundredfold", law=NeuronLaw(growth=100.0)),
    ),
    positive=neuron_fixture,
    readings=(
        ("all parts", "output weights per position: the three parts"),
        ("own feature grows", "lucky neurons along p_1 or p_2"),
        ("other features stay below xi", "lucky neurons along every other feature"),
        ("unlucky neurons stay below xi", "along p_3, p_4, ..."),
        SHARED_READING,
    ),
    notes="(92) presumes one sign of a_(l)i for all l, which only shared weights have.",
)


# --- lemma 2, header --------------------------------------------------------------------------


@dataclass(frozen=True)
class GradientLaw:
    """Lucky neurons have V_i < 0 (share), unlucky ones V_i >= -bound/sqrt(B m)."""

    sign: int = 1
    bound: float = 1.0
    share: float = 0.9


def measure_header(records: Records, law: GradientLaw) -> Measurement:
    """The sign of V_i for lucky neurons and its lower bound for unlucky ones, half way."""
    readings = []
    for name, study, series in (
        ("per position", DYNAMICS, "lucky_V_negative"),
        ("shared weights", SHARED, "lucky_V_negative"),
        ("shared weights, a_i > 0", SHARED, "signed_V_negative"),
    ):
        runs = plain(records.of(study))
        shares = [_half_way(r, series) for r in runs]
        held = [(x if law.sign > 0 else 1 - x) >= law.share for x in shares]
        detail = (
            f"mean share of lucky neurons with V_i < 0: {np.mean(shares):.3f}" if shares else ""
        )
        readings.append(
            share_reading(name, "share of runs in which nearly all are", held, detail=detail)
        )
    runs = plain(records.of(DYNAMICS))
    low = [_half_way(r, "unlucky_V_least") >= -law.bound / np.sqrt(r.cell.B) for r in runs]
    readings.append(share_reading("unlucky neurons", "share of runs within the bound", low))
    return Measurement(tuple(readings))


def _half_way(record: Record, name: str) -> float:
    """A series at the recorded step nearest to half of the training."""
    t = record["times"]
    return float(record[name][int(np.abs(t - t[-1] / 2).argmin())])


def header_fixture() -> Records:
    """Runs in which all lucky neurons have V_i < 0."""
    values = {
        "times": np.arange(10.0),
        "lucky_V_negative": np.full(10, 0.98),
        "signed_V_negative": np.full(10, 0.99),
        "unlucky_V_least": np.full(10, -0.1),
    }
    return _runs_of_both_studies(values)


HEADER = Claim(
    id="li2023.lemma_2_header",
    title="Lemma 2's header: signs of the neurons' coefficients in the values' gradient",
    statement=(
        "In the gradient of W_V at mu_1, lucky neurons of mu_1 have coefficients V_i below a "
        "negative number, and unlucky ones V_i >= -1/sqrt(B m)."
    ),
    measured=(
        "V_i over 24 samples, half way through training: whether at least 0.9 of the neurons best "
        "aligned with p_1 at the start have V_i < 0. The share of runs: supported above 0.9."
    ),
    studies=(DYNAMICS, SHARED),
    measure=measure_header,
    law=GradientLaw(),
    hypotheses=theorem_hypotheses,
    controls=(Control("opposite sign", "lucky neurons with V_i > 0", law=GradientLaw(sign=-1)),),
    positive=header_fixture,
    readings=(
        ("per position", "a_(l) drawn for each position, as the model says"),
        ("shared weights", "one a for all positions"),
        ("shared weights, a_i > 0", "what the proof needs: one sign, and the right one"),
        ("unlucky neurons", "(31) at the batch's size"),
    ),
    notes="(29) prints |S_1|/(mL) where the proof has |S_1|/(a|S|), a = sqrt m.",
)

NEURONS = (CLAIM_1, HEADER)
