"""Decision lines as numbers and small charts."""

import math
import re

import pytest

from attnlab.claims import Axis, Effect, Hypothesis, Tally
from attnlab.evidence.laws import AtLeast, AtMost, Between, Equal, Monotone, Power, Share, Straight
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.threshold_laws import Prefers, Sufficient, Threshold
from attnlab.lab import registry
from attnlab.report.decisions import Region, chart, hypothesis_bar, region, universe_strip

N = Axis("n", lambda cell: 1.0)
REGIONS = [
    (AtMost(2.0), (-math.inf, 2)),
    (AtLeast(0.5), (0.5, math.inf)),
    (Between(1, 3), (1, 3)),
    (Equal(2.0, 0.5), (1.5, 2.5)),
    (Share(AtMost(1.0), 0.9), (0.9, 1)),
    (Share(AtMost(1.0), 0.1, at_most=True), (0, 0.1)),
    (Power("m", -1.0, tolerance=0.2), (-1.2, -0.8)),
    (Power("m", 0.0, "at_most", 0.1), (-math.inf, 0.1)),
    (Power("m", 0.0, "at_least", 0.1), (-0.1, math.inf)),
    (Straight("m", 0.95), (0.95, 1)),
    (Paired("m", 1, 2, AtMost(1.0)), (-math.inf, 1)),
    (Threshold(Power(N, 2.0, tolerance=0.5)), (1.5, 2.5)),
    (Prefers(N, (N,)), (-math.inf, 0.5)),
    (Sufficient(N, N), (0.5, 1)),
]


@pytest.mark.parametrize(("law", "ends"), REGIONS, ids=lambda x: type(x).__name__)
def test_the_region_of_a_law(law, ends):
    found = region(law)
    assert found is not None
    assert (found.low, found.high) == pytest.approx(ends)


def test_no_line_decides_a_rank_test_and_a_growing_constant_is_above_zero():
    assert region(Monotone("m")) is None
    grows = region(Sufficient(N, N), Effect("exponent of the needed constant in n", 1, 0.5, 1.5))
    assert grows is not None
    assert grows.high == 0


def test_a_law_decides_as_its_chart_shows():
    """Every law of every claim that has a region: its example lies inside."""
    laws = [p.law for paper in registry.papers().values() for c in paper.claims for p in c.parts]
    assert sum(region(law) is not None for law in laws) > 0.9 * len(laws)


@pytest.mark.parametrize(
    "effect",
    [
        Effect("a <b> name", 1.0, 0.5, 2.0),
        Effect("wide", 1e-9, 1e-12, 1e6),
        Effect("open", 3.0, -math.inf, math.inf),
        Effect.exactly("exact", 0.0),
    ],
)
@pytest.mark.parametrize("law", [AtMost(1.0), Between(-1, 1), Power("m", 1.0)])
def test_a_chart_stays_on_its_sheet(effect, law):
    svg = chart(effect, region(law), "supported")
    places = [float(x) for x in re.findall(r'(?:c?x|width)="(-?[\d.]+)"', svg)]
    assert places
    assert all(0 <= x <= 240 for x in places)
    assert "<b>" not in svg


def test_an_effect_that_is_no_number_has_no_chart():
    assert chart(Effect("x", math.nan, math.nan, math.nan), None, "inconclusive") == ""


def test_bars_of_hypotheses_go_to_their_side():
    def left(h):
        return float(re.search(r'<rect x="([\d.]+)"', hypothesis_bar(h))[1])  # type: ignore[index]

    assert left(Hypothesis("m", 100.0, 10.0)) == 60
    assert left(Hypothesis("m", 10.0, 100.0)) < 60
    assert "unknown" in hypothesis_bar(Hypothesis("m", 10.0, 100.0, constant="unknown"))
    assert hypothesis_bar(Hypothesis("m", 1.0, 1.0, "==")) == ""


def test_a_strip_has_a_square_for_each_universe():
    svg = universe_strip(Tally("depends", "", {"supported": 3, "contradicted": 2}, ()))  # type: ignore[dict-item]
    assert svg.count("<rect") == 5
    assert svg.count('class="contradicted"') == 2


def test_a_bound_of_zero_is_shown_as_zero_and_a_large_number_whole():
    svg = chart(Effect.exactly("x", -26.7), region(AtLeast(0.0)), "contradicted")
    assert "-26.7" in svg
    assert "e-" not in svg
    assert ">1170<" in chart(Effect.exactly("x", 1174.96), Region(-math.inf, 1.0), "vacuous")
