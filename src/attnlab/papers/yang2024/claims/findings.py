"""Findings beyond the paper: what attention adds, and what the constants are."""

from dataclasses import dataclass, replace

import numpy as np

from attnlab.core import (
    Claim,
    Constant,
    Control,
    Measurement,
    Reading,
    Record,
    Records,
)
from attnlab.papers.yang2024.claims.common import hypotheses, share_reading
from attnlab.papers.yang2024.claims.late_parts import (
    SHUFFLED_ONE_SET,
    late_claim,
    within,
)
from attnlab.papers.yang2024.settings import TrainingSettings, resolve

FROZEN_STUDY = "yang2024.frozen"


# --- frozen attention -------------------------------------------------------------------------


@dataclass(frozen=True)
class AttentionLaw:
    """How far the loss curve and T1 may differ between trained and frozen attention."""

    least: float = 0.0
    loss: float = 0.05
    end_of_phase_1: float = 0.01
    probability: float = 0.8


def pairs_of(records: Records) -> list[tuple[Record, Record]]:
    """(trained, frozen) runs of one seed and otherwise equal settings."""
    found: dict[tuple, dict[str, Record]] = {}
    for r in records:
        found.setdefault((r.cell.n, r.cell.L, r.cell.m, r.cell.c0, r.seed), {})[
            r.cell.attention
        ] = r
    return [(p["trained"], p["frozen"]) for p in found.values() if {"trained", "frozen"} <= set(p)]


def curve_difference(trained: Record, frozen: Record) -> float:
    """The largest relative difference of the two losses at a time that both have recorded."""
    common = min(len(trained["times"]), len(frozen["times"]))
    return float(np.abs(trained["loss"][:common] / frozen["loss"][:common] - 1).max())


def end_difference(trained: Record, frozen: Record) -> float:
    """The relative difference of T1; nan if a run has none."""
    return abs(float(trained["T1_every_sample"]) / float(frozen["T1_every_sample"]) - 1)


def measure_frozen(records: Records, law: AttentionLaw) -> Measurement:
    """The share of pairs in which loss curve and T1 are as close as the law says."""
    pairs = pairs_of(records)
    if not pairs:
        return Measurement((Reading("loss and T1", "inconclusive"),))
    curves = np.array([curve_difference(*pair) for pair in pairs])
    ends = np.array([end_difference(*pair) for pair in pairs])
    close = (curves >= law.least) & (curves <= law.loss)
    readings = [
        share_reading(
            "loss and T1",
            "share of seeds in which neither differs by more",
            list(close & (ends <= law.end_of_phase_1)),
            law.probability,
            f"largest difference of a loss curve: {np.median(curves):.3g} at the median, "
            f"{curves.max():.3g} at most; of T1: {np.fmax.reduce(ends):.3g} at most",
        )
    ]
    for m in sorted({trained.cell.m for trained, _ in pairs}):
        own = np.array([c for c, pair in zip(curves, pairs, strict=True) if pair[0].cell.m == m])
        detail = f"largest difference of a loss curve: {np.median(own):.3g} at the median"
        effect = "share of seeds in which the curve differs by no more"
        held = list((own >= law.least) & (own <= law.loss))
        readings.append(share_reading(f"m = {m}", effect, held, law.probability, detail))
    return Measurement(tuple(readings))


def _frozen_fixture() -> Records:
    times = np.geomspace(1e-3, 1e3, 50)
    records = []
    trained = TrainingSettings(n=24, L=4, c0=1.0)
    for cell, factor in ((trained, 1.001), (replace(trained, attention="frozen"), 1.0)):
        cell = resolve(cell)
        values = {
            "times": times,
            "loss": factor / (1 + times),
            "T1_every_sample": np.float64(0.1 * factor),
        }
        records += [Record(FROZEN_STUDY, cell, seed, values) for seed in range(40)]
    return Records(records)


FROZEN_ATTENTION = Claim(
    id="yang2024.finding_frozen_attention",
    title="Freezing attention hardly changes training",
    statement=(
        "With the initialisation of Condition 1, s0 = 1/sqrt(L m), training keys and queries or "
        "leaving them as they are changes the loss curve by less than 5 % at any time until the "
        "loss is 1e-6, and T1 by less than 1 %."
    ),
    measured=(
        "Flows with trained and with frozen attention, paired by seed: the largest relative "
        "difference of the losses over all recorded times, and that of T1. The share of seeds in "
        "which both are below: supported above 0.8."
    ),
    studies=(FROZEN_STUDY,),
    measure=measure_frozen,
    law=AttentionLaw(),
    hypotheses=hypotheses,
    controls=(
        Control(
            "attention matters",
            "m = 16 and s0 = 10/sqrt(L m), where scores learn as fast as outputs",
            changes={"m": 16, "c0": 10.0},
        ),
        Control(
            "a difference of 5 % or more",
            "curves that are at least 5 % apart",
            law=AttentionLaw(least=0.05, loss=np.inf, end_of_phase_1=np.inf),
        ),
    ),
    positive=_frozen_fixture,
    notes=(
        "The theorems on attention are about its direction; this is about its effect. In the "
        "limit of large m the coefficients of theorem_3_3, over sqrt(m) in the softmax, vanish "
        "like m^-2, so attention stays uniform while the linear MLP does the learning."
    ),
)


# --- the constants ----------------------------------------------------------------------------


def _within_two_per_cent(loss: str, R: str) -> tuple[tuple[str, float, float], ...]:
    return ((f"phase_2_{loss}", 0.98, 1.02), (f"phase_2_{R}", 0.98, 1.02))


SVM_DUALS = late_claim(
    "finding_svm_duals",
    parts=(
        within(
            "loss and R",
            *_within_two_per_cent("loss_slope_over_limit", "R_over_limit"),
            widest=True,
            probability=0.8,
        ),
        within(
            "loss and R over n and L",
            *_within_two_per_cent("loss_slope_over_limit", "R_over_limit"),
            study="classes_late",
        ),
        within(
            "random words",
            ("phase_2_random_sum_slope_over_limit", 0.95, 1.05),
            widest=True,
            counted=False,
        ),
    ),
    wrong=(
        (
            "the duals of twice the samples",
            "loss and R",
            {"ranges": _within_two_per_cent("loss_slope_over_twice_n", "R_over_twice_n")},
        ),
        (
            "the duals of infinitely many, 17 and 3/2",
            "loss and R",
            {"ranges": _within_two_per_cent("loss_slope_over_many_samples", "R_over_many_samples")},
        ),
    ),
    changes=(SHUFFLED_ONE_SET,),
    positive={
        "phase_2_loss_slope_over_limit": 1.0,
        "phase_2_R_over_limit": 1.0,
        "phase_2_loss_slope_over_twice_n": 1.5,
        "phase_2_R_over_twice_n": 0.9,
        "phase_2_loss_slope_over_many_samples": 3.0,
        "phase_2_R_over_many_samples": 0.7,
        "phase_2_random_sum_slope_over_limit": 1.0,
    },
    title="The constants of Theorem F.8 and Lemma 4.5 are hard-margin duals",
    statement=(
        "Late in training 1/loss grows at the rate (rho(0) + s0^2 m m1)/(A1 + A2 + A3 + A4) and "
        "-G3'/max(G1', G2') is -w3/w1, where A are the duals, summed by type, and w the solution "
        "of the hard-margin problem on the samples' bags of words."
    ),
    measured=(
        "Flows to a loss of 1e-6 at the largest width (eight runs of ten), and on classes of words "
        "over a grid of n and L (nine of ten): both over the closed form for balanced sets with "
        "distinct words, within 2 %. Aside: the slope in log t of the random words' part of an "
        "output."
    ),
    constants=(
        Constant("sum of the duals at n = 24, L = 4", "given", 6.330),
        Constant("R at n = 24, L = 4", "given", 1.111),
    ),
)


FINDINGS = (FROZEN_ATTENTION, SVM_DUALS)
