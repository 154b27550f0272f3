"""How many samples it takes until new ones come out right: beyond the paper."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnlab.core import Claim, Control, Measurement, Record, Records
from attnlab.papers.yang2024.claims.common import share_reading
from attnlab.papers.yang2024.settings import TrainingSettings, resolve
from attnlab.papers.yang2024.theory.asymptote import (
    samples_for_seen_words,
    samples_for_unseen_words,
)

CLASSES = "yang2024.classes_late"


# --- words that were never seen ---------------------------------------------------------------


@dataclass(frozen=True)
class SamplesLaw:
    """New random words come out right for n above factor x (L + shift)^power."""

    factor: float = 3.0
    shift: float = 1.0
    power: float = 1.0
    probability: float = 0.9

    def least(self, L: float) -> float:
        """The threshold n*."""
        return self.factor * (L + self.shift) ** self.power


def measure_samples(records: Records, law: SamplesLaw) -> Measurement:
    """Whether n is on the side of the threshold that the margins of new words say."""
    right = [(r["unseen_margin_end"] > 0) == (r.cell.n > law.least(r.cell.L)) for r in records]
    growing = [
        (r["unseen_margin_log_slope"] > 0) == (r.cell.n > law.least(r.cell.L)) for r in records
    ]
    levels = sorted({(r.cell.L, r.cell.n) for r in records})
    parts = []
    for L, n in levels:
        own = records.where(L=L, n=n)
        margin = float(np.median(own.column("unseen_margin_end")))
        parts.append(f"L={L}, n={n}: margin {margin:.3g}")
    effect = "share of runs on the predicted side"
    readings = [
        share_reading("margin at the end", effect, right, law.probability, "; ".join(parts)),
        share_reading("growth of the margin", effect, growing, law.probability),
    ]
    return Measurement(tuple(readings))


def _samples_fixture() -> Records:
    records = []
    for n, L in ((12, 4), (18, 4), (48, 4), (18, 6), (24, 6), (30, 6)):
        cell = resolve(TrainingSettings(n=n, L=L, m=2**14))
        margin = 0.1 * (n - 3 * (L + 1))
        values = {
            "unseen_margin_end": np.float64(margin),
            "unseen_margin_log_slope": np.float64(margin / 15),
        }
        records += [Record(CLASSES, cell, seed, values) for seed in range(18)]
    return Records(records)


SAMPLES_NEEDED = Claim(
    id="yang2024.finding_samples_needed",
    title="New random words need n > 3 (L + 1)",
    statement=(
        "Late in training the smallest margin, over types, of a sample whose random words were "
        "never seen is positive exactly if there are more than 3 (L + 1) training samples."
    ),
    measured=(
        "Flows to a loss of 1e-6 on classes of words, from the mean start, over a grid of n and "
        "L: the margin that the three signals alone give under uniform attention. The share of "
        "the grid in which its sign is the predicted one: supported above 0.9. Second reading: "
        "the sign of its slope in log t."
    ),
    studies=(CLASSES,),
    measure=measure_samples,
    law=SamplesLaw(),
    controls=(
        Control("n > L^2", "a threshold of L^2", law=SamplesLaw(1.0, 0.0, 2.0)),
        Control("n > L + 1", "a threshold of L + 1", law=SamplesLaw(factor=1.0)),
    ),
    positive=_samples_fixture,
    readings=(
        ("margin at the end", "the sign of the margin when the loss is 1e-6"),
        ("growth of the margin", "the sign of its slope in log t"),
    ),
    notes=(
        "Linear in L, where Condition 1 asks for n of the order L^2. Samples of the test set draw "
        "the random words of training, memorised ones, and take more (test_loss). At "
        "n = 3 (L + 1) the ratio R of lemma_4_5 passes 1, so that its band is empty below."
    ),
)


# --- words of the training set ----------------------------------------------------------------


@dataclass(frozen=True)
class SeenWordsLaw:
    """Even the worst words of training leave new samples right for n above a threshold."""

    threshold: Literal["seen words", "unseen words", "four L"] = "seen words"
    probability: float = 0.9

    def least(self, L: float) -> float:
        """The threshold n*."""
        if self.threshold == "four L":
            return 4 * L
        seen = self.threshold == "seen words"
        return samples_for_seen_words(L) if seen else samples_for_unseen_words(L)


def measure_seen(records: Records, law: SeenWordsLaw) -> Measurement:
    """Whether n is on the side of the threshold that margins and test loss say."""
    enough = [r.cell.n > law.least(r.cell.L) for r in records]
    margins = [bool(r["worst_margin_log_slope"] > 0) for r in records]
    losses = [bool(r["test_loss_time_exponent"] < 0) for r in records]
    effect = "share of runs on the predicted side"
    detail = "; ".join(
        f"L={L}: " + ", ".join(f"n={r.cell.n} {float(r['test_loss_end']):.2g}" for r in part)
        for L, part in records.by("L").items()
    )
    return Measurement(
        (
            share_reading(
                "growth of the worst margin",
                effect,
                [a == b for a, b in zip(margins, enough, strict=True)],
                law.probability,
            ),
            share_reading(
                "fall of the test loss",
                effect,
                [a == b for a, b in zip(losses, enough, strict=True)],
                law.probability,
                f"test loss at the end: {detail}",
            ),
        )
    )


def _seen_fixture() -> Records:
    records = []
    for L in (4, 6, 8, 16):
        for n in (12, 24, 48, 60, 96, 120, 150, 180, 240, 300, 480, 600):
            sign = 1.0 if n > samples_for_seen_words(L) else -1.0
            values = {
                "worst_margin_log_slope": np.float64(sign),
                "test_loss_time_exponent": np.float64(-sign),
                "test_loss_end": np.float64(1 / n),
            }
            records.append(Record(CLASSES, resolve(TrainingSettings(n=n, L=L)), 0, values))
    return Records(records)


TEST_LOSS = Claim(
    id="yang2024.test_loss",
    title="Test samples need about 20 L samples",
    statement=(
        "Late in training the margin of a new sample, whose random words are the worst ones of "
        "the training set, grows exactly if n is above a threshold: 47 at L = 4, about 20.6 L for "
        "long samples."
    ),
    measured=(
        "Flows to a loss of 1e-6 on classes of words over a grid of n and L: the sign of the "
        "slope in log t of the smallest such margin over the types, in the later half of log t, "
        "against the asymptote's threshold: supported above 0.9 of the grid. Second reading: the "
        "sign of the slope of the test loss, exact up to attention that differs from uniform."
    ),
    studies=(CLASSES,),
    measure=measure_seen,
    law=SeenWordsLaw(),
    controls=(
        Control("as unseen words", "a threshold of 3 (L + 1)", law=SeenWordsLaw("unseen words")),
        Control("n > 4 L", "a threshold of 4 L", law=SeenWordsLaw("four L")),
    ),
    positive=_seen_fixture,
    readings=(
        ("growth of the worst margin", "the sign of the slope of the worst margin in log t"),
        ("fall of the test loss", "the sign of the slope of the test loss in log t"),
    ),
    notes=(
        "The flow starts at the mean of the initialisation and has no randomness: a cell is one "
        "run. The second reading fails: when the training loss is 1e-6 the test loss still falls "
        "below the threshold too, for most samples come out right and the few wrong ones have not "
        "taken over yet. The figure shows drawn weights beside the classes at two n."
    ),
)

SAMPLES_CLAIMS = (SAMPLES_NEEDED, TEST_LOSS)
