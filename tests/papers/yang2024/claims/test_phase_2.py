"""Claims on phase 2: fixtures, mutations and readings."""

import math

import numpy as np
import pytest

from attnlab.claims import Outcome
from attnlab.core import Record, Records
from attnlab.evidence.court import control_outcome, measure
from attnlab.evidence.fixtures import positive_records
from attnlab.papers.yang2024.claims.appendix_a import FIGURE_1
from attnlab.papers.yang2024.claims.appendix_f import APPENDIX_F
from attnlab.papers.yang2024.claims.findings import FINDINGS
from attnlab.papers.yang2024.claims.section_3_phase_2 import SECTION_3_PHASE_2
from attnlab.papers.yang2024.claims.section_4_2 import SECTION_4_2
from attnlab.papers.yang2024.runs.summaries.phase_2 import PREFIX
from attnlab.papers.yang2024.studies import STUDIES

ON_PHASE_2 = (*SECTION_3_PHASE_2[1:], *SECTION_4_2, *APPENDIX_F)
"""The claims on the window of phase 2 (Theorem 3.2 has its own)."""
CLAIMS = {
    claim.id.removeprefix("yang2024."): claim
    for claim in (*SECTION_3_PHASE_2, *SECTION_4_2, *APPENDIX_F, FIGURE_1, *FINDINGS)
}


# --- fixtures and mutations -------------------------------------------------------------------


def changed(records: Records, change) -> Records:
    """The records with every run's values changed by `change(record, values)`."""
    made = []
    for r in records:
        values = dict(r.values)
        change(r, values)
        made.append(Record(r.study, r.cell, r.seed, values))
    return Records(made)


def positive(name: str) -> Records:
    return positive_records(CLAIMS[name], STUDIES)


def readings(name: str, change) -> dict[str, Outcome]:
    found = measure(CLAIMS[name], changed(positive(name), change)).readings
    return {reading.name: reading.outcome for reading in found}


def outcome(name: str, change) -> Outcome:
    return measure(CLAIMS[name], changed(positive(name), change)).outcome


@pytest.mark.parametrize("name", CLAIMS)
def test_claims_hold_on_their_fixture_and_their_controls_do_not(name):
    claim, records = CLAIMS[name], positive(name)
    assert measure(claim, records).outcome == "supported"
    for control in claim.controls:
        if not control.changes:
            assert control_outcome(claim, control, records) == "contradicted", control.name


def stored(values: dict, scalar: str) -> list[str]:
    """The keys of a scalar: its own, and those at the stops of a path."""
    return [k for k in values if k == scalar or k.startswith(scalar + "_at_")]


@pytest.mark.parametrize(
    ("name", "scalar", "factor", "expected"),
    [
        ("theorem_f8", "loss_slope", lambda m: m**-0.5, "contradicted"),
        ("lemma_4_7", "largest_score_rate", lambda m: m**0.5, "contradicted"),
        ("lemma_f19", "query_growth", lambda m: m**0.5, "contradicted"),
        ("corollary_f9", "rho_growth_over_size", lambda m: m**0.5, "contradicted"),
        ("definition_f1", "constant_of_value_gradient", lambda m: m**0.3, "contradicted"),
        ("corollary_f15", "random_sum_end", lambda m: math.log(m) ** 2, "contradicted"),
        # One reading, as printed or of the proof, does not have the changed scalar.
        ("corollary_f17", "least_softmax_rate", lambda m: m**-0.5, "depends"),
        ("lemma_4_5", "band_constant", lambda m: m**-0.5, "depends"),
        ("theorem_3_3", "random_coefficient", lambda m: m**0.5, "depends"),
    ],
)
def test_another_power_of_m_is_contradicted(name, scalar, factor, expected):
    def change(record, values):
        for key in stored(values, PREFIX + scalar):
            values[key] = values[key] * factor(float(record.cell.m))

    assert outcome(name, change) == expected


@pytest.mark.parametrize(
    ("name", "scalar", "expected"),
    [
        ("corollary_4_6", "phase_2_largest_value_rate_to_common", "contradicted"),
        ("lemma_4_7", "phase_2_least_score_rate", "contradicted"),
        ("theorem_3_3", "phase_2_least_coefficient", "contradicted"),
        ("equation_5", "least_rho_rate_once_correct", "contradicted"),
        ("lemma_4_5", "phase_2_band_constant", "depends"),
    ],
)
def test_a_sign_reversed_in_a_third_of_the_runs_is_found(name, scalar, expected):
    def change(record, values):
        for key in stored(values, scalar):
            values[key] = values[key] * (-1 if record.seed % 3 == 0 else 1)

    assert outcome(name, change) == expected


@pytest.mark.parametrize("claim", ON_PHASE_2, ids=lambda claim: claim.id)
def test_runs_without_a_second_phase_count_against_a_claim(claim):
    def change(record, values):
        if record.seed % 2:
            values.update({k: math.nan for k in values if k.startswith(PREFIX)})

    assert outcome(claim.id.removeprefix("yang2024."), change) == "contradicted"


# --- readings ---------------------------------------------------------------------------------


def test_theorem_3_3_depends_on_a_tilde():
    """A factor log^2 m is hidden by the rates' tilde, and not by the printed Theta."""

    def change(record, values):
        for key in stored(values, "phase_2_least_coefficient"):
            values[key] = values[key] * math.log(record.cell.m) ** 2

    found = readings("theorem_3_3", change)
    assert found.pop("Theta without a tilde") == "contradicted"
    assert set(found.values()) == {"supported"}
    assert outcome("theorem_3_3", change) == "depends"


def test_theorem_3_3_is_not_supported_if_more_samples_than_L_squared_are_needed():
    def change(record, values):
        if record.study == "yang2024.classes_late":
            values["worst_margin_log_slope"] = 1.0 if record.cell.n > record.cell.L**4 / 4 else -1.0

    found = measure(CLAIMS["theorem_3_3"], changed(positive("theorem_3_3"), change))
    part = next(p for r in found.readings for p in r.parts if p.name == "new samples over n and L")
    assert part.outcome != "supported"
    assert found.outcome != "supported"


def test_theorem_3_2_depends_on_its_T1():
    def change(record, values):
        values["T1_every_sample"] = 1 / record.cell.m

    found = readings("theorem_3_2", change)
    assert found.pop("from the first T1 on") == "contradicted"
    assert set(found.values()) == {"supported"}
    assert outcome("theorem_3_2", change) == "depends"


def test_lemma_4_5_depends_on_the_root_of_its_proof():
    def change(record, values):
        values["phase_2_contraction_at_1/m"] = 0.0

    found = readings("lemma_4_5", change)
    assert found.pop("with the root of its proof") == "contradicted"
    assert set(found.values()) == {"supported"}
    assert outcome("lemma_4_5", change) == "depends"


def test_asides_do_not_decide():
    def change(record, values):
        values["phase_2_distance_to_root_with_random_words_at_1/m"] = 1.0

    assert readings("lemma_4_5", change)["root with random words"] == "contradicted"
    assert outcome("lemma_4_5", change) == "supported"


# --- findings ---------------------------------------------------------------------------------


def attention_costs(factor: float, end: float = 1.0):
    """Trained runs whose loss from rho(0) t = 10 on, and whose T1, are so many times as large."""

    def change(record, values):
        if record.cell.attention == "trained":
            values["loss"] = values["loss"] * np.where(values["times"] > 10, factor, 1.0)
            values["T1_every_sample"] = end * values["T1_every_sample"]

    return change


@pytest.mark.parametrize(
    ("factor", "end", "expected"),
    [
        (1.02, 1.0, "supported"),
        (0.9, 1.0, "contradicted"),
        (1.02, 1.1, "contradicted"),
        (1.02, math.nan, "contradicted"),
    ],
)
def test_frozen_attention(factor, end, expected):
    assert outcome("finding_frozen_attention", attention_costs(factor, end)) == expected


def test_without_pairs_nothing_is_said():
    records = positive("finding_frozen_attention")
    trained = Records(r for r in records if r.cell.attention == "trained")
    assert measure(CLAIMS["finding_frozen_attention"], trained).outcome == "inconclusive"


def test_samples_needed_looks_at_both_sides():
    def always(record, values):
        values["unseen_margin_end"] = 1.0

    assert outcome("finding_samples_needed", always) == "contradicted"


def test_the_test_loss_is_one_statement_over_both_sides_of_n():
    def falls_everywhere(record, values):
        values["test_loss_time_exponent"] = -1.0

    found = readings("test_loss", falls_everywhere)
    assert found == {"by the worst margin": "supported", "by the test loss": "contradicted"}
