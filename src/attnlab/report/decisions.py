"""The decision line of a law as numbers, and small charts of what was decided by it."""

import math
from dataclasses import dataclass
from html import escape

from attnlab.claims import Claim, Effect, Hypothesis, Law, PartResult, Tally, Verdict
from attnlab.evidence.laws import Power, Range, Rate, Share, Straight
from attnlab.evidence.paired_laws import Paired
from attnlab.evidence.threshold_laws import Prefers, Sufficient, Threshold, ThresholdRatio
from attnlab.report.news import few_digits

WIDTH, HEIGHT, PAD = 240, 46, 10


@dataclass(frozen=True)
class Region:
    """Where an effect speaks for a law; an end may be infinite."""

    low: float
    high: float


def region(law: Law, effect: Effect | None = None) -> Region | None:
    """Where the effect of a law has to lie, or nothing where no line decides (a rank test)."""
    if isinstance(law, Range):
        return Region(law.low, law.high)
    if isinstance(law, Share):
        return Region(0, law.probability) if law.at_most else Region(law.probability, 1)
    if isinstance(law, Rate):
        return Region(law.probability, 1)
    if isinstance(law, Straight):
        return Region(law.least, 1)
    if isinstance(law, Power):
        low = law.exponent - law.tolerance if law.relation != "at_most" else -math.inf
        high = law.exponent + law.tolerance if law.relation != "at_least" else math.inf
        return Region(low, high)
    if isinstance(law, Paired):
        return region(law.inside)
    if isinstance(law, Threshold | ThresholdRatio):
        return region(law.law)
    if isinstance(law, Prefers):
        return Region(-math.inf, 0.5)
    if isinstance(law, Sufficient):
        grows = effect is not None and effect.name.startswith("exponent")
        return Region(-math.inf, 0) if grows else Region(law.probability, 1)
    return None


def deciding(claim: Claim, verdict: Verdict) -> PartResult | None:
    """The part on whose number the verdict rests."""
    parts = [part for reading in verdict.readings for part in reading.parts]
    return next((part for part in parts if part.effect == verdict.effect and part.effect), None)


def part_chart(claim: Claim, part: PartResult) -> str:
    """A small chart of one part: its effect with the interval, and where it has to lie."""
    laws = {own.name: own.law for own in claim.parts}
    if part.effect is None or part.name not in laws:
        return ""
    return chart(part.effect, region(laws[part.name], part.effect), part.outcome)


def verdict_chart(claim: Claim, verdict: Verdict) -> str:
    """The small chart of the part that decides; of a vacuous bound, how far it is from the trivial.

    Its effect is the bound over the trivial one, which says something below 1.
    """
    part = deciding(claim, verdict)
    if part is None and verdict.outcome == "vacuous" and verdict.effect is not None:
        return chart(verdict.effect, Region(-math.inf, 1.0), verdict.outcome)
    return part_chart(claim, part) if part else ""


def chart(effect: Effect, where: Region | None, outcome: str) -> str:
    """An SVG: the region shaded, its ends as lines, the effect as a dot with its interval."""
    values = [v for v in (effect.value, effect.low, effect.high) if math.isfinite(v)]
    if not math.isfinite(effect.value):
        return ""
    ends = [e for e in (where.low, where.high) if math.isfinite(e)] if where else []
    place = _Place(values, ends)
    shapes = []
    if where is not None:
        left, right = place(where.low), place(where.high)
        shapes.append(f'<rect class="region" x="{left:.0f}" y="6" width="{right - left:.0f}"/>')
        shapes += [f'<path class="cut" d="M{place(e):.0f} 3V27"/>' for e in ends]
    low, high = place(effect.low), place(effect.high)
    if high - low >= 1:
        shapes.append(f'<path class="interval" d="M{low:.0f} 15H{high:.0f}"/>')
    shapes.append(f'<circle cx="{place(effect.value):.0f}" cy="15" r="4"/>')
    size = max(abs(v) for v in values)
    # A bound of zero may have room for rounding, which is none of a reader's business.
    labels = [(place(e), few_digits(e if abs(e) > 1e-6 * size else 0.0), "") for e in ends]
    labels.append((place(effect.value), few_digits(effect.value), ' class="value"'))
    shapes += _labels(labels)
    # What it shows stands in words beside it, so that those who listen hear it once.
    return (
        f'<svg class="decision {outcome}" viewBox="0 0 {WIDTH} {HEIGHT}" aria-hidden="true">'
        f"{''.join(shapes)}</svg>"
    )


def _labels(labels: list[tuple[float, str, str]]) -> list[str]:
    """Numbers under their places; one that would cover the value's is left out."""
    value = labels[-1]
    kept = [x for x in labels[:-1] if abs(x[0] - value[0]) > 3.4 * (len(x[1]) + len(value[1]))]
    return [
        f'<text{kind} x="{min(max(x, 4 + 3 * len(text)), WIDTH - 4 - 3 * len(text)):.0f}" y="42">'
        f"{escape(text)}</text>"
        for x, text, kind in (*kept, value)
    ]


class _Place:
    """From numbers to places: logarithmic where all are positive and far apart."""

    def __init__(self, values: list[float], ends: list[float]):
        known = [*values, *ends]
        small, large = min(known), max(known)
        self.log = small > 0 and large / small > 30
        low, high = (math.log(small), math.log(large)) if self.log else (small, large)
        span = high - low or abs(high) * 0.2 or 1.0
        self.low, self.high = low - 0.18 * span, high + 0.18 * span

    def __call__(self, value: float) -> float:
        if math.isnan(value):
            return WIDTH / 2
        if math.isinf(value) or (self.log and value <= 0):
            return float(WIDTH - 2 if value > 0 else 2)
        at = (math.log(value) if self.log else value) - self.low
        share = min(max(at / (self.high - self.low), 0.0), 1.0)
        return PAD + (WIDTH - 2 * PAD) * share


# --- hypotheses and universes -----------------------------------------------------------------


def hypothesis_bar(hypothesis: Hypothesis) -> str:
    """How far a condition is met (to the right of the line) or missed, over decades."""
    factor = hypothesis.factor
    if factor is None:
        return ""
    decades = max(-3.0, min(3.0, -math.log10(factor)))
    kind = {True: "supported", False: "contradicted", None: "unknown"}[hypothesis.met]
    left, width = (60 + 18 * min(decades, 0.0), max(18 * abs(decades), 1.5))
    return (
        f'<svg class="bar {kind}" viewBox="0 0 120 14" aria-hidden="true">'
        f'<rect x="{left:.1f}" y="3" width="{width:.1f}" height="8"/>'
        '<path d="M60 0V14"/></svg>'
    )


def universe_strip(tally: Tally) -> str:
    """Every universe as a square, by outcome."""
    squares = [outcome for outcome, count in tally.counts.items() for _ in range(count)]
    side = 14
    cells = "".join(
        f'<rect class="{outcome}" x="{side * i + 1}" y="1" width="{side - 2}" height="12"/>'
        for i, outcome in enumerate(squares)
    )
    words = ", ".join(f"{count} {outcome}" for outcome, count in tally.counts.items() if count)
    return (
        f'<svg class="strip" viewBox="0 0 {side * max(len(squares), 1)} 14" '
        f'style="width:{side * max(len(squares), 1)}px" role="img" '
        f'aria-label="{escape(words)}">{cells}</svg>'
    )
