"""Every row of `attnlab bounds yang2024`, from the sizes alone and by other ways to the limits."""

import math
from fractions import Fraction

import pytest

from attnlab.papers.yang2024.theory import phase_1
from attnlab.papers.yang2024.theory.bounds import bounds

N, L, D, M, M1, C0 = 60, 5, 200, 4096, 128, 0.5
S0, S1 = C0 / math.sqrt(L * M), 1 / math.sqrt(M1)
RATE, NEURON_RATE = (S0**2 + S1**2) * M * M1, S1**2 * M * M1
SMALL = (24, 4, 60, 1024, 32, 0.1)


def table(*sizes) -> dict[str, list]:
    rows: dict[str, list] = {}
    for row in bounds(*(sizes or (N, L, D, M, M1, C0))):
        rows.setdefault(row.name, []).append(row)
    return rows


def only(rows: dict[str, list], name: str):
    (row,) = rows[name]
    return row


def duals(n: int, L: int) -> tuple[Fraction, Fraction, Fraction]:
    """A_1, A_2 and A_4 by Cramer's rule in fractions."""
    a, b, c = Fraction(2 * (L - 3), n), Fraction(6 * (L - 2), n), Fraction(6 * (L - 1), n)
    rows = [[3 + a, -4, -1], [-2, 3 + b, 1], [-1, 2, 1 + c]]

    def determinant(m) -> Fraction:
        (p, q, r), (s, t, u), (v, w, x) = m
        return p * (t * x - u * w) - q * (s * x - u * v) + r * (s * w - t * v)

    whole = determinant(rows)
    found = [
        determinant([[1 if j == k else rows[i][j] for j in range(3)] for i in range(3)]) / whole
        for k in range(3)
    ]
    if found[2] < 0:
        whole = (3 + a) * (3 + b) - 8
        return (3 + b + 4) / whole, (3 + a + 2) / whole, Fraction(0)
    return found[0], found[1], found[2]


@pytest.mark.parametrize("sizes", [(N, L, D, M, M1, C0), SMALL])
def test_late_times(sizes):
    n, length, _, m, m1, c0 = sizes
    rows = table(*sizes)
    A1, A2, A4 = duals(n, length)
    w1, w3 = A1 - A2, A1 - 2 * A2 - A4
    s0, s1 = c0 / math.sqrt(length * m), 1 / math.sqrt(m1)
    rate = (s0**2 + s1**2) * m * m1
    constant = A1 + 2 * A2 + A4
    sums = [2 * (length - 3) * A1 / n, 6 * (length - 2) * A2 / n, 6 * (length - 1) * A4 / n]
    seen = [2 * A1 / n, -6 * A2 / n, -6 * A4 / n]
    worst = min(
        2 * w1 + w3 + (length - 3) * min(seen),
        -(w1 + w3) - (length - 2) * max(seen),
        -w3 - (length - 1) * max(seen),
    )
    expected = {
        "theorem_f8.rate": s1**2 * m * m1,
        "limit.slope": rate / constant,
        "limit.loss_constant": constant,
        "limit.R": -w3 / w1,
        "limit.random_word_sum": max(sums),
        "limit.test_exponent": min(2 * w1 + w3, -(w1 + w3), -w3),
        "limit.worst_test_exponent": worst,
    }
    for name, value in expected.items():
        assert only(rows, name).value == pytest.approx(float(value), rel=1e-10), name
    assert only(rows, "theorem_f8.rate").constant == "unknown"
    assert (A4 > 0) == (sizes == SMALL)


def test_deviations_phase_1_and_coefficients():
    rows = table()
    tau = phase_1.phase_1_end(N, L)
    unit = S0**2 / NEURON_RATE
    signal, random = unit * (64 / L + 1), unit * (64 / (N * L) + 1)
    expected = {
        "s0": S0,
        "s1": S1,
        "rate": RATE,
        "phase_one.T1": tau / RATE,
        "phase_one.C_T1": tau / RATE * NEURON_RATE,
        "phase_one.order": 1 / NEURON_RATE,
        "theorem_3_3.signal": signal,
        "theorem_3_3.random": random,
        "theorem_3_3.quotient": signal / random,
        "theorem_3_3.guaranteed_ratio": 64 / L,
    }
    for name, value in expected.items():
        assert only(rows, name).value == pytest.approx(value, rel=1e-12), name
    unknown = {name for name in expected if only(rows, name).constant == "unknown"}
    assert unknown == {"phase_one.order", *(n for n in expected if n.startswith("theorem"))}
    assert only(table(N, L, D, M, M1), "s0").value == pytest.approx(1 / math.sqrt(L * M))
    few = table(6, 5, 200, 4096, 128, 0.5)
    assert only(few, "theorem_3_3.guaranteed_ratio").value == 6


@pytest.mark.parametrize("n", [17, 18, 19, 68, 69, 86, 87])
def test_sample_sizes(n):
    """3(L+1) = 18 at L = 5; the others are roots of their quadratics."""
    rows = table(n, 5, 400, 64, 4)
    unseen, seen, free = (
        only(rows, f"samples.{name}") for name in ("unseen_words", "seen_words", "type_4_free")
    )
    assert (unseen.value, unseen.threshold, unseen.met) == (n, 18, n > 18)
    x = seen.threshold
    assert x**2 - (20 * 5 - 34) * x - 12 * 9 == pytest.approx(0, abs=1e-8)
    assert seen.met == (n > x)
    y = free.threshold
    assert y**2 - (13 * 5 - 27) * y - 6 * 3 * 2 == pytest.approx(0, abs=1e-8)
    assert free.met == (n > y)
    assert y < x
    assert {unseen.constant, seen.constant, free.constant} == {"given"}


def test_conditions_are_listed_with_their_thresholds():
    rows = table()
    thresholds = {
        "definition_e2.time": 1 / NEURON_RATE,
        "definition_e2.signal_change": 1 / M1,
        "definition_e2.random_change": (1 / N + 1 / 64) / M1,
        "definition_e2.score_change": M**-1.5,
        "definition_e2.key_change": S0**2 * 64,
        "definition_e2.query_change": S0**2 * 64,
        "theorem_e28.neuron_gram_change": 1 / M,
        "theorem_e28.value_gram_change": 1 / M,
        "theorem_e28.score_change": M**-1.5 * (1 / L + 1 / 64),
        "theorem_e28.key_change": 1 / M**2,
        "theorem_e28.query_change": 1 / M**2,
        "definition_f1.key_change": S0**2 * 64,
        "definition_f1.query_change": S0**2 * 64,
        "definition_f1.softmax_change": 1 / 25,
        "definition_f1.neuron_sum": NEURON_RATE,
        "definition_f1.value_gradient": 1 / 5,
        "definition_f1.attention_gradient": 1,
        "definition_f1.type_4_below_2_and_3": 1,
        "definition_f1.types_2_and_3_below_1": 1,
        "definition_f1.type_1_below_the_rest": 1,
        "definition_f1.types_2_and_3_alike": 2,
        "definition_f1.smallest_margin": 1,
        "definition_f1.signal_size": math.log(M),
        "definition_f1.random_word_sum": 1,
        "definition_f1.time_exponent": 1,
    }
    listed = {name for name in rows if name.split(".")[0] in {t.split(".")[0] for t in thresholds}}
    assert listed == set(thresholds)
    for name, value in thresholds.items():
        assert only(rows, name).value == pytest.approx(value, rel=1e-12), name
    given = {name for name in thresholds if only(rows, name).constant == "given"}
    assert given == {name for name in thresholds if "below" in name or "alike" in name}
    assert only(rows, "definition_f1.smallest_margin").meaning == "smallest y F >= 1"


def test_hypotheses_come_with_what_they_are_held_against():
    rows = table()
    room = [(row.value, row.threshold, row.met) for row in rows["definition_2_1"]]
    assert room == [(L, 3, True), (D, 4, True)]
    data = [(row.value, row.threshold, row.met) for row in rows["assumption_2_3"]]
    assert data == [(0, 0, True), (D - 3, 160, True)]
    sizes = [(row.value, row.threshold) for row in rows["condition_1"]]
    assert sizes == [
        (M, M1), (M1, 1), (pytest.approx(C0), 1), (pytest.approx(1), 1), (N, 25), (L, 1),
    ]  # fmt: skip
    assert all(row.met is None and row.constant == "unknown" for row in rows["condition_1"])
    assert [row.meaning[-4:] for row in rows["condition_1"]] == [
        "(>=)", "(>=)", "(==)", "(==)", "(>=)", "(>=)",
    ]  # fmt: skip
    long = table(N, 70, 9000, M, M1)["condition_1"]
    assert long[0].threshold == 70**2
    odd = table(61, L, D, M, M1)["assumption_2_3"]
    assert (odd[0].value, odd[0].met) == (1, False)
    assert odd[1].threshold == pytest.approx(61 * (5 - 7 / 3))
