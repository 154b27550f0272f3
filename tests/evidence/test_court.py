"""The rules of the court, one by one, on records made by hand."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

from attnlab.claims import (
    Claim,
    Control,
    Effect,
    Finding,
    Fitted,
    Hypothesis,
    Part,
    Reading,
    Route,
    Source,
    Tally,
    Trivial,
)
from attnlab.core import Record, Records, setting
from attnlab.evidence.court import (
    _tightness,
    control_outcome,
    judge,
    measure,
    second_route,
    unmoved_scalars,
)
from attnlab.evidence.laws import AtMost, Equal, Monotone, Power, stored
from attnlab.evidence.multiplicity import simultaneous_level
from attnlab.evidence.statement import statement

VALUE, OTHER = stored("x", "x"), stored("y", "y")
NEAR = (0.95, 1.0, 1.05, 0.98, 1.02, 1.0)


@dataclass(frozen=True)
class Cell:
    size: float = setting(1.0, origin="ours", help="size")


def records(x=NEAR, y=None, **counts) -> Records:
    y = np.resize(x if y is None else y, len(x))
    return Records(
        (
            Record("p.s", Cell(), k, {"x": a, "y": b})
            for k, (a, b) in enumerate(zip(x, y, strict=True))
        ),
        **counts,
    )


def shifted(by: float) -> Records:
    return records(np.add(NEAR, by))


def agreeing(outcome="contradicted"):
    return Route("by hand", compute=lambda r: Finding(outcome, Effect("by hand", 2.0, 1.9, 2.1)))


def make(kind="remark", law=Equal(1.0, 0.3, "mean"), **options) -> Claim:  # noqa: B008
    parts = options.pop("parts", (Part("part", "s", VALUE, law),))
    return statement(
        "p.c",
        kind,
        title="",
        statement="",
        source=Source("2", "Lemma 1"),
        stated="1",
        measured="",
        why="ours",
        parts=parts,
        controls=options.pop("controls", (Control("far", "", law=Equal(9.0, 0.1, "mean")),)),
        **options,
    )


def verdict(claim, found, **options):
    return judge(claim, found, options.pop("variants", {}), scale="smoke", **options)


TWO = (Reading("A", "section 1"), Reading("B", "section 2"))


def two(*, allowed=True) -> Claim:
    law = Equal(1.0, 0.3, "mean")
    parts = (Part("x", "s", VALUE, law, "A"), Part("y", "s", OTHER, law, "B"))
    readings = (TWO[0], replace(TWO[1], allowed=allowed))
    return make(parts=parts, readings=readings, routes=(agreeing(),))


# --- rule 1: readings -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("x", "y", "outcome"),
    [
        (NEAR, NEAR, "supported"),
        (np.add(NEAR, 5), np.add(NEAR, 5), "contradicted"),
        (NEAR, np.add(NEAR, 5), "depends"),
        (np.add(NEAR, 5), NEAR, "depends"),
        (NEAR, (0, 3, 0, 3, 0, 3), "inconclusive"),
        (np.add(NEAR, 5), (0, 3, 0, 3, 0, 3), "inconclusive"),
    ],
)
def test_rule_1_all_allowed_readings(x, y, outcome):
    found = verdict(two(), records(x, y))
    assert found.outcome == outcome
    if outcome == "depends":
        holds = "A" if x is NEAR else "B"
        assert f"holds as {holds}" in found.reason


def test_rule_1_an_aside_is_shown_and_never_decides():
    found = verdict(two(allowed=False), records(NEAR, np.add(NEAR, 5)))
    assert found.outcome == "supported"
    assert [(r.name, r.outcome, r.allowed) for r in found.readings] == [
        ("A", "supported", True),
        ("B", "contradicted", False),
    ]


def test_parts_of_a_reading_are_a_conjunction():
    law = Equal(1.0, 0.3, "mean")
    both = make(parts=(Part("x", "s", VALUE, law), Part("y", "s", OTHER, law)),
                routes=(agreeing(),))  # fmt: skip
    assert verdict(both, records()).outcome == "supported"
    failed = verdict(both, records(NEAR, np.add(NEAR, 5)))
    assert failed.outcome == "contradicted"
    assert failed.reason.startswith("y: mean of y: 6")


def test_any_of_several_parts_may_fail_by_chance_so_contradiction_takes_the_joint_interval():
    # The mean lies outside its range by its own interval, and inside by that of eight together.
    law = AtMost(1.0, "mean")
    spread = np.array([-1.0, 1.0] * 6)
    own = 0.75 + 1.0  # half a width beyond
    parts = tuple(Part(str(k), "s", VALUE, law) for k in range(8))
    found = records(own + spread)
    assert law.judge(list(found), VALUE, 0.95).outcome == "contradicted"
    assert law.judge(list(found), VALUE, simultaneous_level(8)).outcome == "inconclusive"
    assert measure(make(parts=parts[:1]), found).outcome == "contradicted"
    assert measure(make(parts=parts), found).outcome == "inconclusive"


# --- rule 2: hypotheses and the second route --------------------------------------------------


def test_rule_2_an_unmet_hypothesis_gates_and_names_the_factor():
    gated = make(hypotheses=lambda r: (Hypothesis("m", 10, 40),))
    found = verdict(gated, records())
    assert found.outcome == "not_applicable"
    assert "missed by a factor of 4" in found.reason
    assert found.readings[0].outcome == "supported"  # measured all the same, and shown
    assert verdict(gated, shifted(9)).outcome == "not_applicable"


def test_rule_2_a_figure_is_never_gated_and_an_unknown_constant_never_gates():
    unmet = make("figure", hypotheses=lambda r: (Hypothesis("m", 10, 40),))
    assert verdict(unmet, records()).outcome == "supported"
    unknown = make(hypotheses=lambda r: (Hypothesis("m", 10, 40, ">=", "unknown"),))
    found = verdict(unknown, records())
    assert found.outcome == "supported"
    assert (found.hypotheses[0].met, found.hypotheses[0].factor) == (None, 4)


def test_rule_2_contradicted_needs_a_second_route_that_agrees():
    none = verdict(make(), shifted(9))
    assert (none.outcome, none.second_route) == ("inconclusive", None)
    assert "no second route" in none.reason
    against = verdict(make(routes=(agreeing("supported"),)), shifted(9))
    assert against.outcome == "inconclusive"
    assert against.second_route is not None
    assert not against.second_route.agrees
    assert "does not agree" in against.reason
    agrees = verdict(make(routes=(agreeing(),)), shifted(9))
    assert agrees.outcome == "contradicted"
    assert agrees.second_route is not None
    assert agrees.second_route.effect == Effect("by hand", 2.0, 1.9, 2.1)
    assert "second route, by hand: by hand: 2 [1.9, 2.1]" in agrees.reason


def test_rule_2_a_route_may_be_another_engine_judged_by_the_parts_law():
    claim = make(routes=(Route("engine", part="part", changes={"engine": "slow"}),))
    for by, outcome in ((9.0, "contradicted"), (0.0, "inconclusive")):
        assert verdict(claim, shifted(9), variants={"engine": shifted(by)}).outcome == outcome
    # A route whose runs are not there says nothing, and so does not agree.
    assert verdict(claim, shifted(9)).outcome == "inconclusive"
    other = make(routes=(Route("engine", part="part", changes={"e": 1}, scalar=OTHER),))
    found = second_route(other, shifted(9), {"engine": records(NEAR, np.add(NEAR, 9))})
    assert found is not None
    assert found.agrees


# --- controls ---------------------------------------------------------------------------------


def test_a_control_that_is_not_rejected_makes_the_verdict_inconclusive():
    blunt = make(controls=(Control("blunt", "", law=Equal(1.2, 0.3, "mean")),))
    found = verdict(blunt, records())
    assert found.outcome == "inconclusive"
    assert "the control blunt was not rejected" in found.reason
    assert found.controls[0].outcome == "supported"


def test_a_control_is_judged_by_its_parts_law_alone_with_the_gate_off():
    claim = make(
        parts=(Part("x", "s", VALUE, AtMost(2.0)), Part("y", "s", OTHER, AtMost(2.0))),
        controls=(Control("frozen", "", "y", changes={"frozen": True}),),
        hypotheses=lambda r: (Hypothesis("m", 10, 40),),
    )
    high_x = records(np.add(NEAR, 9), NEAR)
    high_y = records(NEAR, np.add(NEAR, 9))
    assert control_outcome(claim, claim.controls[0], high_x) == "supported"
    assert control_outcome(claim, claim.controls[0], high_y) == "contradicted"
    any_part = replace(claim.controls[0], part="")
    assert control_outcome(claim, any_part, high_x) == "contradicted"
    scalar = Control("other", "", "x", scalar=OTHER)
    assert control_outcome(claim, scalar, high_y) == "contradicted"


# --- rule 3: the flip test --------------------------------------------------------------------


def test_rule_3_a_supported_that_flips_says_so_and_a_contradicted_one_is_inconclusive():
    claim = make(routes=(agreeing(),))  # 1 within 0.3, of ours
    near = verdict(claim, shifted(0.2))
    assert near.outcome == "supported"
    assert "half their distance" in near.flips
    assert near.flips in near.reason
    beyond = verdict(claim, shifted(0.45))
    assert beyond.outcome == "inconclusive"
    assert "our cutoff decides" in beyond.reason
    assert "twice their distance" in beyond.flips
    assert verdict(claim, shifted(0.9)).outcome == "contradicted"
    assert verdict(claim, records()).flips == ""


def test_rule_3_a_dependence_that_flips_says_so():
    found = verdict(two(), records(NEAR, np.add(NEAR, 0.45)))
    assert found.outcome == "depends"
    assert "twice their distance" in found.flips
    assert found.flips in found.reason


def test_rule_3_a_cutoff_of_the_paper_is_not_moved():
    paper = make(law=Equal(1.0, 0.3, "mean", owner="paper"), routes=(agreeing(),))
    found = verdict(paper, shifted(0.45))
    assert (found.outcome, found.flips, found.cutoff_owner) == ("contradicted", "", "paper")


def test_rule_3_every_verdict_shows_stated_measured_and_cutoff():
    found = verdict(make(), records())
    assert found.stated == "1"
    assert found.cutoff == "between 0.7 and 1.3"
    assert found.source == "section 2, Lemma 1"
    assert (found.cutoff_owner, found.cutoff_why) == ("ours", "ours")
    assert "mean of x: 1 [" in found.reason
    assert "stated 1; between 0.7 and 1.3 (ours)" in found.reason


# --- scaling: decades -------------------------------------------------------------------------


def test_a_scaling_needs_a_decade_and_a_half_or_a_reason():
    def sweep(sizes):
        return Records(
            Record("p.s", Cell(size), seed, {"x": size * (1 + 0.01 * seed)})
            for size in sizes
            for seed in range(4)
        )

    law = Power("size", 1.0)
    far = (Control("far", "", law=Power("size", 3.0)),)
    claim = make("scaling", law, controls=far)
    assert verdict(claim, sweep((1.0, 4.0, 16.0, 64.0))).outcome == "supported"
    short = verdict(claim, sweep((1.0, 2.0, 4.0, 8.0)))
    assert short.outcome == "inconclusive"
    assert "0.9 decades" in short.reason
    whole = make("scaling", controls=far, parts=(
        Part("part", "s", VALUE, law, whole_range="x is at most 8"),))  # fmt: skip
    assert verdict(whole, sweep((1.0, 2.0, 4.0, 8.0))).outcome == "supported"
    assert verdict(make(law=law, controls=far), sweep((1.0, 2.0, 4.0))).outcome == "supported"


# --- bounds -----------------------------------------------------------------------------------


def bound(ratio, **options) -> Claim:
    trivial = Trivial("the loss at the start", ratio and stored("y", "bound"), **options)
    return make("bound", AtMost(2.0), trivial=trivial,
                controls=(Control("far", "", law=AtMost(0.1)),), routes=(agreeing(),))  # fmt: skip


def test_a_bound_that_says_nothing_anywhere_is_vacuous_after_a_search():
    weak = records(y=(3.0, 2.0, 5.0))
    found = verdict(bound(True, search="20 ascents"), weak)
    assert found.outcome == "vacuous"
    assert "searched: 20 ascents" in found.reason
    assert found.informative is not None
    assert (found.informative.share, found.informative.factor) == (0.0, 2.0)
    assert found.effect == Effect.exactly("bound over the loss at the start, at its best", 2.0)
    unsearched = verdict(bound(True), weak)
    assert unsearched.outcome == "inconclusive"
    assert "no search" in unsearched.reason


def test_a_bound_that_is_informative_somewhere_or_has_no_trivial_one_is_supported():
    found = verdict(bound(True, search="s"), records(y=(3.0, 0.5, 5.0)))
    assert found.outcome == "supported"
    assert found.informative is not None
    assert found.informative.share == pytest.approx(1 / 3)
    assert verdict(bound(None), records()).informative is None
    assert verdict(bound(None), records()).outcome == "supported"


def test_a_vacuous_bound_that_fails_is_contradicted_all_the_same():
    assert verdict(bound(True, search="s"), records(np.add(NEAR, 9), (3.0,))).outcome == (
        "contradicted"
    )


# --- rule 5: no scalar that cannot move -------------------------------------------------------


def test_rule_5_finds_a_scalar_that_is_equal_everywhere():
    claim = make(controls=(Control("frozen", "", changes={"frozen": True}),))
    constant = records([2.0] * 4)
    assert unmoved_scalars(claim, constant, {"frozen": constant}) == ["part: x is 2.0 in every run"]
    assert unmoved_scalars(claim, constant, {"frozen": records([3.0] * 4)}) == []
    assert unmoved_scalars(claim, records(), {}) == []
    exact = stored("x", "x", exact="a count that the definition fixes")
    declared = make(parts=(Part("part", "s", exact, AtMost(2.0)),))
    assert unmoved_scalars(declared, constant, {}) == []


# --- rule 6: failed, missing and diverged runs ------------------------------------------------


def test_rule_6_failed_runs_are_named_and_beyond_a_tenth_nothing_is_decided():
    few = verdict(make(), records(NEAR * 3, failed=2))  # 2 of 20
    assert (few.outcome, few.failed_runs, few.trials) == ("supported", 2, 18)
    assert few.reason.endswith("2 runs failed")
    many = verdict(make(routes=(agreeing(),)), records(NEAR * 3, failed=3))
    assert many.outcome == "inconclusive"
    assert "3 of 21 runs failed, more than 10%" in many.reason
    assert verdict(make(), records((), failed=4)).outcome == "inconclusive"


def test_failed_runs_of_a_control_are_counted():
    claim = make(controls=(Control("frozen", "", changes={"frozen": True}),))
    found = verdict(claim, records(), variants={"frozen": records(np.add(NEAR, 9), failed=1)})
    assert (found.outcome, found.failed_runs) == ("supported", 1)


def test_missing_runs_are_unfinished():
    assert "3 of 9 runs are not made yet" in verdict(make(), records(missing=3)).reason


def test_diverged_runs_are_records_and_are_counted():
    lost = [replace(r, diverged="grew") if r.seed == 0 else r for r in records(NEAR * 5)]
    found = verdict(make(), Records(lost))
    assert (found.diverged_runs, found.outcome) == (1, "supported")


# --- rule 7: words ----------------------------------------------------------------------------


def test_rule_7_an_exact_value_has_no_interval():
    found = verdict(make(law=AtMost(2.0), controls=(Control("far", "", law=AtMost(0)),)), records())
    assert "largest x: 1.05; stated 1; at most 2 in every run (the paper's)" in found.reason


# --- universes, robustness, constants ---------------------------------------------------------


def universes(outcome):
    return Tally(outcome, f"8 universes say {outcome}", {}, ())


@pytest.mark.parametrize(
    ("kind", "by", "tallied", "outcome"),
    [
        ("remark", 0.0, "supported", "supported"),
        ("remark", 0.0, "inconclusive", "inconclusive"),
        ("remark", 0.0, "contradicted", "inconclusive"),
        ("remark", 0.0, "depends", "depends"),
        ("remark", 9.0, "contradicted", "contradicted"),
        ("remark", 9.0, "supported", "inconclusive"),
        ("finding", 9.0, "contradicted", "contradicted"),
        ("finding", 9.0, "supported", "inconclusive"),
        ("finding", 9.0, "depends", "depends"),
        ("finding", 0.0, "depends", "supported"),
    ],
)
def test_universes_decide_figures_and_remarks_and_can_stop_a_contradiction(
    kind, by, tallied, outcome
):
    claim = make(kind, routes=(agreeing(),))
    found = verdict(claim, shifted(by), universes=universes(tallied))
    assert found.outcome == outcome
    assert f"8 universes say {tallied}" in found.reason


def test_robust_turns_a_verdict_that_hangs_on_one_seed():
    claim = make(law=AtMost(2.0, owner="paper"), controls=(Control("far", "", law=AtMost(0)),),
                 routes=(agreeing(),))  # fmt: skip
    assert verdict(claim, records(), robust=True).outcome == "supported"
    hanging = records([1, 1, 1, 1, 9])
    assert verdict(claim, hanging).outcome == "contradicted"
    shaky = verdict(claim, hanging, robust=True)
    assert shaky.outcome == "inconclusive"
    assert "contradicted becomes supported without seeds 4" in shaky.reason


def test_fitted_constants_are_medians_with_an_interval():
    found = verdict(make(constants=(Fitted("C", "s", VALUE),)), records()).constants[0]
    assert (found.name, found.kind, found.value) == ("C", "fitted", 1.0)
    assert found.low is not None
    assert found.low < 1.0
    lonely = verdict(make(constants=(Fitted("C", "s", VALUE),)), records((1.0,))).constants[0]
    assert lonely.value is None


def test_a_trend_test_takes_the_joint_level_too():
    law = Monotone("size")
    table = [
        Record("p.s", Cell(x), seed, {"x": -x + 1.2 * ((7 * seed + 3 * x) % 5)})
        for x in (1.0, 2.0, 3.0, 4.0)
        for seed in range(6)
    ]
    assert law.judge(table, VALUE, 0.95).outcome == "contradicted"
    assert law.judge(table, VALUE, 0.999999).outcome == "inconclusive"


@pytest.mark.parametrize(
    ("relation", "value", "threshold", "met", "factor"),
    [
        (">=", 2, 1, True, 0.5),
        (">=", 1, 2, False, 2),
        ("<=", 3, 1.5, False, 2),
        ("<=", 1, 1, True, 1),
        ("==", 1, 1, True, None),
        ("==", 1, 1.1, False, None),
        ("<=", 99, 0, False, None),
    ],
)
def test_hypothesis_from_both_sides(relation, value, threshold, met, factor):
    hypothesis = Hypothesis("h", value, threshold, relation)
    assert hypothesis.met is met
    assert hypothesis.factor == factor


def test_tightness_is_the_first_detail_of_a_sufficient_claim():
    def measured(*details):
        parts = [SimpleNamespace(detail=detail) for detail in details]
        return SimpleNamespace(readings=[SimpleNamespace(parts=parts)])

    sufficient, bound = SimpleNamespace(kind="sufficient"), SimpleNamespace(kind="bound")
    assert _tightness(sufficient, measured("", "first", "second")) == "first"
    assert _tightness(sufficient, measured("")) == ""
    assert _tightness(bound, measured("first")) == ""
