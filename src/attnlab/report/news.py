"""What a colleague should know of a paper's verdicts: three sentences, made from the verdicts.

A claim may carry a `headline`: a sentence with format fields, so that no number is typed in:
`{value}`, `{low}`, `{high}`, `{interval}`, `{name}` (of the effect), `{stated}`, `{cutoff}`,
`{trials}`, `{scale}`, `{outcome}`, `{holds}` and `{fails}` (readings), `{flips}` (the choice),
`{route}` (the second route's number), `{factor}` (by which a bound misses being informative) and
`{parts[NAME]}` (a part's number). Where a claim carries none, or a verdict lacks what it names,
the verdict is told in a sentence of its own.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from attnlab.claims import NEWS_FIRST, Claim, Effect, Outcome, Verdict
from attnlab.evidence.words import interval, number

NEWS: tuple[Outcome, ...] = ("contradicted", "depends", "vacuous")
"""Outcomes of which a reader of the paper would want to hear first."""
MAIN = ("theorem", "figure", "proposition", "corollary", "finding", "lemma", "remark")
"""Which of several supported statements is the main law: by the word of its id, in this order."""
LENGTH = 150


class Item(NamedTuple):
    """One piece of news: the verdict, and its sentence."""

    claim: Claim
    verdict: Verdict
    sentence: str


def news(found: Iterable[tuple[Claim, Verdict]], most: int = 3) -> list[Item]:
    """What contradicts, depends or says nothing first, but one place for the main law.

    Among equals those that carry a headline come first, then in the paper's order.
    """
    pairs = list(found)
    ranked = sorted(pairs, key=lambda pair: (NEWS_FIRST.index(pair[1].outcome), _rank(*pair)))
    told = [pair for pair in ranked if pair[1].outcome in NEWS]
    laws = [pair for pair in ranked if pair[1].outcome == "supported"]
    rest = [pair for pair in ranked if pair not in told and pair not in laws]
    main = laws[:1]
    chosen = [*told[: most - len(main)], *main]
    chosen += [p for p in (*told, *laws, *rest) if p not in chosen][: most - len(chosen)]
    return [Item(claim, verdict, headline(claim, verdict)) for claim, verdict in chosen]


def _rank(claim: Claim, verdict: Verdict) -> tuple[bool, int]:
    word = claim.id.partition(".")[2].partition("_")[0]
    return not claim.headline, MAIN.index(word) if word in MAIN else len(MAIN)


def headline(claim: Claim, verdict: Verdict) -> str:
    """The claim's own headline with the verdict's numbers, else a sentence about the verdict."""
    if claim.headline:
        try:
            return claim.headline.format_map(_fields(claim, verdict))
        except (KeyError, AttributeError, IndexError):
            pass  # the verdict has no such number, e.g. no runs yet
    return _sentence(claim, verdict)


def few_digits(value: float | None) -> str:
    """A number in three significant digits, without a power of ten where a reader needs none."""
    text = number(value, 3)
    return f"{float(text):.0f}" if "e+0" in text else text


class Shown(str):
    """A number as a headline shows it; its ends by `{value.low}` and the like."""

    low: str
    high: str
    interval: str

    @classmethod
    def of(cls, effect: Effect) -> "Shown":
        """An effect's value in three digits."""
        shown = cls(few_digits(effect.value))
        shown.low, shown.high = few_digits(effect.low), few_digits(effect.high)
        shown.interval = _interval(effect).strip()
        return shown


def _fields(claim: Claim, verdict: Verdict) -> dict[str, object]:
    fields: dict[str, object] = {
        "title": claim.title,
        "stated": verdict.stated,
        "cutoff": verdict.cutoff,
        "trials": number(verdict.trials),
        "scale": verdict.scale,
        "outcome": verdict.outcome.replace("_", " "),
        "parts": {
            part.name: Shown.of(part.effect)
            for reading in verdict.readings
            for part in reading.parts
            if part.effect is not None
        },
    }
    if verdict.effect is not None:
        shown = Shown.of(verdict.effect)
        fields |= {"value": shown, "low": shown.low, "high": shown.high}
        fields |= {"interval": shown.interval, "name": verdict.effect.name}
    if verdict.second_route is not None and verdict.second_route.effect is not None:
        fields["route"] = Shown.of(verdict.second_route.effect)
    if verdict.informative is not None:
        fields["factor"] = few_digits(verdict.informative.factor)
    fields |= {word: ", ".join(names) for word, names in _readings(verdict).items() if names}
    if flips := flipping(verdict):
        fields["flips"] = flips
    return fields


def flipping(verdict: Verdict) -> str:
    """The choice or reading on which an outcome depends, in words."""
    if verdict.universes is not None and verdict.universes.flips:
        return verdict.universes.flips
    readings = _readings(verdict)
    if readings["holds"] and readings["fails"]:
        return f"holds as {readings['holds'][0]}, fails as {readings['fails'][0]}"
    return ""


def _readings(verdict: Verdict) -> dict[str, list[str]]:
    allowed = [reading for reading in verdict.readings if reading.allowed]
    return {
        word: [r.name for r in allowed if r.outcome == outcome]
        for word, outcome in (("holds", "supported"), ("fails", "contradicted"))
    }


def _sentence(claim: Claim, verdict: Verdict) -> str:
    """Title, what is the matter, the number that decides, and what is stated if there is room."""
    title = claim.title.rstrip(".")
    stated = f"; stated: {verdict.stated}"
    if verdict.outcome == "contradicted":
        words = [f"{title}: fails, {_measured(verdict)}", stated]
    elif verdict.outcome == "depends":
        words = [f"{title}: {flipping(verdict) or _measured(verdict)}"]
    elif verdict.outcome == "vacuous" and verdict.informative is not None:
        best, trivial = few_digits(verdict.informative.factor), verdict.informative.trivial
        words = [
            f"{title}: holds and says nothing, at best {best} times the trivial",
            f": {trivial}",
        ]
    elif verdict.outcome == "supported":
        words = [f"{title}: holds, {_measured(verdict)}", stated]
    elif verdict.outcome == "not_applicable":
        words = [f"{title}: its hypotheses are not met here"]
    else:
        words = [f"{title}: not decided at scale {verdict.scale}, {_measured(verdict)}"]
    whole = "".join(words)
    return f"{(whole if len(whole) <= LENGTH else words[0]).rstrip('. ')}."


def _measured(verdict: Verdict) -> str:
    effect = verdict.effect
    if effect is None:
        return f"{verdict.trials} runs"
    value = f"{few_digits(effect.value)}{_interval(effect)}"
    if len(effect.name) > LENGTH // 3 and effect.name.startswith(
        ("share of runs", "share of trials")
    ):
        return f"in a share of {value} of the runs"
    return f"{effect.name} = {value}"


def _interval(effect: Effect) -> str:
    ends = (effect.value, effect.low, effect.high)
    return interval(Effect(effect.name, *(float(f"{x:.3g}") for x in ends)))


def by_paper(
    claims: Sequence[Claim], verdicts: Sequence[Verdict]
) -> dict[str, list[tuple[Claim, Verdict]]]:
    """Claims with their verdicts, by the id of their paper."""
    found = {verdict.id: verdict for verdict in verdicts}
    groups: dict[str, list[tuple[Claim, Verdict]]] = {}
    for claim in claims:
        if claim.id in found:
            groups.setdefault(claim.id.partition(".")[0], []).append((claim, found[claim.id]))
    return groups
