"""Claims on the start and on phase 1: mutations, and conjunctions of many parts."""

import math
from dataclasses import replace

import numpy as np

from attnlab.cells import Key
from attnlab.claims import Control
from attnlab.core import Record, Records
from attnlab.evidence import court
from attnlab.evidence.fixtures import positive_records
from attnlab.evidence.laws import Power
from attnlab.evidence.statement import decisive_parts
from attnlab.papers.yang2024.claims import CLAIMS
from attnlab.papers.yang2024.runs import untrained
from attnlab.papers.yang2024.runs.summaries import initial, phase_1
from attnlab.papers.yang2024.scalars import initial as initial_scalars
from attnlab.papers.yang2024.scalars import phase_1 as scalars
from attnlab.papers.yang2024.settings import (
    TrainingSettings,
)
from attnlab.papers.yang2024.studies import STUDIES
from attnlab.papers.yang2024.studies.resolving import resolve
from attnlab.papers.yang2024.theory.sizes import StatedSizes

START = TrainingSettings(n=12, L=4, m=48, m1=8, c0=0.5, probes="neurons", engine="weights")


def claim(name):
    return next(c for c in CLAIMS if c.id == f"yang2024.{name}")


def outcome(of, records):
    return court.measure(of, records).outcome


def stated_sizes(cell, values):
    s0, s1 = float(values["s0"]), float(values["s1"])
    return StatedSizes(cell.n, cell.L, cell.d, cell.m, cell.m1, s0, s1)


def bound(m, x):
    return math.sqrt(4 / m * math.log(x / initial.DELTA)) + 4 / m * math.log(x / initial.DELTA)


# --- mutations: a wrong bound, a wrong sign ---------------------------------------------------


def drawn(cells, seeds=40):
    records = []
    for cell in map(resolve, cells):
        for seed in range(seeds):
            values = untrained.draw_start(cell, Key.of(cell, seed)).values
            records.append(Record("yang2024.initial", cell, seed, values))
    return Records(records)


def test_half_of_the_bound_in_the_code_would_be_found_out(monkeypatch):
    cell = replace(START, m=128, m1=16)
    of = claim("lemma_d1")
    assert outcome(of, drawn([cell])) == "supported"
    monkeypatch.setattr(initial, "bernstein", lambda m, x: bound(m, x * initial.DELTA) / 2)
    assert outcome(of, drawn([cell])) == "contradicted"


def test_the_printed_corollary_d5_is_contradicted_by_draws_and_by_its_second_route():
    of = claim("corollary_d5")
    records = drawn([replace(START, m=128, m1=64, n=24)], seeds=60)
    verdict = court.judge(of, records, {}, scale="quick")
    assert verdict.outcome == "contradicted"
    assert verdict.second_route is not None
    assert verdict.second_route.agrees
    printed, corrected = verdict.readings
    assert (printed.allowed, printed.outcome) == (True, "contradicted")
    assert (corrected.allowed, corrected.outcome) == (False, "supported")


def test_the_second_route_of_corollary_d5_can_disagree(monkeypatch):
    records = drawn([replace(START, m=128, m1=64, n=24)], seeds=20)
    # With a failure probability a million times smaller the bound is large enough.
    monkeypatch.setattr(initial_scalars, "DELTA", 1e-7)
    assert initial_scalars.one_sided_d5(records).outcome != "contradicted"


def test_a_common_token_that_rises_has_no_band(words_run):
    cell, values = words_run
    turned = {**values, "signal_rates": values["signal_rates"] * np.array([1, 1, -1])}
    found = phase_1.summarise(turned, stated_sizes(cell, values))
    assert math.isnan(found["band_constant"])
    record = Record("yang2024.phase_1", cell, 1, turned)
    for which in ("T1 detected", "T1 defined"):
        assert math.isnan(scalars.band_constant(which).of(record))
    of = claim("lemma_4_3")
    bad = Records(
        replace(r, values={**r.values, "signal_rates": np.abs(r["signal_rates"])})
        for r in positive_records(of, STUDIES)
    )
    assert outcome(of, bad) == "contradicted"


# --- conjunctions -----------------------------------------------------------------------------


def test_a_conjunction_is_contradicted_by_one_part_and_names_it():
    of = claim("theorem_e26")
    records = positive_records(of, STUDIES)
    assert outcome(of, records) == "supported"
    for part in of.parts:
        law = part.law
        assert isinstance(law, Power)
        wrong = replace(part, law=replace(law, exponent=law.exponent - 1))
        parts = tuple(wrong if p is part else p for p in of.parts)
        found = court.measure(replace(of, parts=parts), records)
        # A part of one reading fails that reading alone.
        assert found.outcome == ("depends" if part.reading else "contradicted")
        hit = next(r for r in found.readings if part.reading in ("", r.name))
        assert hit.outcome == "contradicted"
        assert part.name in hit.detail
        control = Control("wrong", "one exponent less", part=part.name, law=wrong.law)
        assert court.control_outcome(of, control, records) == "contradicted"


def test_many_parts_do_not_make_a_contradiction_by_chance():
    """A part off by chance at 95 % is not enough where there are many."""
    of = claim("theorem_e14")
    names = [part.scalar.key for part in decisive_parts(of)]
    positive = positive_records(of, STUDIES)
    outcomes = []
    for seed in range(40):
        noise = np.random.default_rng(seed)
        records = Records(
            replace(r, values={
                name: r.values[name] * np.exp(0.3 * noise.normal()) * r.cell.m**0.1
                for name in names
            })
            for r in positive
        )  # fmt: skip
        outcomes.append(outcome(of, records))
    # Every exponent is exactly at the edge of its tolerance.
    assert outcomes.count("contradicted") <= 6
