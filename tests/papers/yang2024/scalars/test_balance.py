"""Steps of the proofs of Lemmas F.5 and F.6 on records made up by hand."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

from attnlab.core import Record
from attnlab.evidence.court import measure
from attnlab.evidence.fixtures import positive_records
from attnlab.papers.yang2024.claims.proof_steps import PROOF_STEPS
from attnlab.papers.yang2024.scalars import balance
from attnlab.papers.yang2024.studies import STUDIES

CELL = SimpleNamespace(n=12, L=4, m=100, m1=5)
# Margins of every sample of types 1 to 4, at two times.
MARGINS = (
    ([2.0] * 6, [1.0, 1.4], [1.2, 1.1], [3.0, 3.5]),
    ([3.0] * 6, [2.0, 2.3], [2.2, 2.1], [5.0, 5.5]),
)


def slope(x: float) -> float:
    return 1 / (1 + math.exp(x))


def made(**changes) -> Record:
    g = [[np.mean([slope(x) for x in kind]) for kind in now] for now in MARGINS]
    bent = [[np.mean([slope(x) * (1 - slope(x)) for x in k]) for k in now] for now in MARGINS]
    spread = [[slope(min(k)) / slope(max(k)) for k in now] for now in MARGINS]
    values = {
        "times": np.array([1.0, 2.0]),
        "loss": np.array([0.3, 0.2]),
        "phase_2_begin": 1.0,
        "type_counts": np.array([6, 2, 2, 2]),
        "rho": np.array([50.0, 60.0]),
        "gradient_by_type": np.array(g),
        "curvature_by_type": np.array(bent),
        "smallest_margin_by_type": np.array([[min(k) for k in now] for now in MARGINS]),
        "gradient_spread_by_type": np.array(spread),
        "signal_rates": np.array([[1.0, 1.1, -1.5], [0.7, 0.8, -0.9]]),
        "largest_random_rate": np.array([0.02, 0.03]),
        "attention_part": np.array([0.001, 0.002]),
    }
    return Record("", CELL, 0, {**values, **changes})


def sums(now) -> list[float]:
    return [sum(map(slope, kind)) for kind in now]


def test_rates_by_hand():
    run = made()
    errors, whole = [], []
    for k, now in enumerate(MARGINS):
        S1, S2, S3, S4 = sums(now)
        unit = run["rho"][k] / 12
        printed = [unit * (S1 - S2), unit * (S1 - S3), unit * (S1 - S2 - S3 - S4)]
        size = unit * (S1 + S2 + S3 + S4)
        worst = max(abs(x - y) for x, y in zip(run["signal_rates"][k], printed, strict=True)) / size
        errors.append(worst)
        left = 3 * worst + 3 * run["largest_random_rate"][k] / size + run["attention_part"][k]
        whole.append(left)
    assert balance.SIGNAL_RATES.of(run) == pytest.approx(max(errors))
    assert balance.MARGIN_RATES.of(run) == pytest.approx(max(whole))


def test_the_types_by_hand():
    run = made()
    six = []
    for now in MARGINS:
        S1, S2, S3, S4 = sums(now)
        six.append((-2 * S1 + 2 * S2 + S3 + S4) / S3)
    assert balance.SIX.of(run) == pytest.approx(max(six))
    assert balance.CURVATURE.of(run) <= 1
    bent = made(curvature_by_type=run["curvature_by_type"] * [1, 1, 1.1, 1])
    assert balance.CURVATURE.of(bent) > 1
    other = made(curvature_by_type=run["curvature_by_type"] * [2, 1, 1, 2])
    assert balance.CURVATURE.of(other) == balance.CURVATURE.of(run)


def test_the_window_ends_at_a_loss_of_one_over_m_on_a_path():
    late = {"phase_2_begin_at_1/m": 1.0, "loss": np.array([0.3, 0.001])}
    first = made(phase_2_begin=math.nan, **late)
    alone = {
        k: (x[:1] if np.ndim(x) and k != "type_counts" else x) for k, x in made().values.items()
    }
    assert balance.SIX.of(first) == balance.SIX.of(Record("", CELL, 0, alone))
    assert math.isnan(balance.SIX.of(made(phase_2_begin=math.nan)))


@pytest.mark.parametrize("claim", PROOF_STEPS, ids=lambda claim: claim.id)
@pytest.mark.parametrize(
    ("key", "factor"),
    [("signal_rates", lambda m: math.log(m) ** 2), ("rho", lambda m: math.log(m))],
)
def test_rates_that_are_not_the_displays_are_found_out(claim, key, factor):
    records = positive_records(claim, STUDIES)
    assert measure(claim, records).outcome == "supported"
    changed = [
        Record(r.study, r.cell, r.seed, {**r.values, key: r[key] * factor(r.cell.m)})
        for r in records
    ]
    assert measure(claim, type(records)(changed)).outcome == "contradicted"
