"""Token sparsification: figures 5 and 8, Remark 2."""

from dataclasses import dataclass, replace

import numpy as np

from attnlab.core import Claim, Control, Effect, Measurement, Reading, Records
from attnlab.evidence.intervals import decide_at_most, mean_interval
from attnlab.evidence.multiplicity import combine_outcomes
from attnlab.papers.li2023.claims.common import all_of, trial
from attnlab.papers.li2023.theory.conditions import room_for_patterns

SPARSE = "li2023.sparsified"
FLOOR = 1e-6
"""Test losses below this count as this: a ratio of zeros says nothing."""


@dataclass(frozen=True)
class PruningLaw:
    """What removing tokens makes of the test loss, as a factor."""

    helped: float = 1.0
    """Removing irrelevant or noisy tokens lowers the loss."""
    harmless: float = 0.9
    """Ours: random removal lowers it by a tenth at most."""
    exchanged: bool = False


def loss_ratio(records: Records, selector: str) -> tuple[np.ndarray, float]:
    """log(test loss with the most removal / without any), and how much was removed.

    The runs of one seed share data and first weights, so ratios are taken seed by seed.
    """
    own = records.where(selector=selector)
    if not own:
        return np.empty(0), 0.0
    most = max(r.cell.removed for r in own)
    base = {r.seed: max(float(r["test_loss"]), FLOOR) for r in records.where(selector="none")}
    pruned = [r for r in own.where(removed=most) if r.seed in base]
    logs = [np.log(max(float(r["test_loss"]), FLOOR) / base[r.seed]) for r in pruned]
    return np.array(logs), most


def measure_pruning(records: Records, law: PruningLaw) -> Measurement:
    """Oracles must cut the loss, random removal must not; beside it the study's other readings."""
    shortest, *longer = sorted({r.cell.steps for r in records})
    none = records.where(steps=shortest, selector="none")
    plain = {"positions": "original", "removal": "excluded", "prune_at": "both"}
    others = {f"{steps} steps": records.where(steps=steps, **plain) for steps in longer}
    for name, change in (
        ("renumbered", {"positions": "renumbered"}),
        ("set to zero", {"removal": "zeroed"}),
        ("at test only", {"prune_at": "test"}),
    ):
        own = records.where(steps=shortest, **(plain | change))
        if own:
            others[name] = Records((*own, *none))
    named = (
        replace(reading, name=f"{name}: {reading.name}")
        for name, part in others.items()
        for reading in _measure_variant(part, law).readings
    )
    first = _measure_variant(records.where(steps=shortest, **plain), law)
    return Measurement((*first.readings, *named))


def _measure_variant(records: Records, law: PruningLaw) -> Measurement:
    found: dict[str, Reading] = {}
    selectors = sorted({r.cell.selector for r in records} - {"none"})
    for name in selectors:
        logs, most = loss_ratio(records, name)
        interval = mean_interval(logs)
        low, high = np.exp(interval.low), np.exp(min(interval.high, 700.0))
        effect = Effect(f"test loss, {most:.0%} removed, over none", float(np.exp(interval.value)),
                        float(low), float(high))  # fmt: skip
        saved = records.where(selector=name, removed=most)[0]
        curve = "; ".join(
            f"{r:.0%}: {np.median(part.column('test_loss')):.3g}"
            for r, part in records.where(selector=name).by("removed").items()
        )
        detail = (
            f"loss by share removed: {curve}; {float(saved['flops_saved']):.0%} of the FLOPs saved"
        )
        random = (name == "random") != law.exchanged
        if random:
            reversed_ = decide_at_most(-interval.high, -interval.low, -np.log(law.harmless))
            found[name] = Reading(name, reversed_, effect, detail)
        else:
            outcome = decide_at_most(interval.low, interval.high, np.log(law.helped))
            found[name] = Reading(name, outcome, effect, detail)
    parts = [found[name] for name in ("irrelevant", "noisy", "random") if name in found]
    outcome = combine_outcomes([part.outcome for part in parts])
    words = "; ".join(f"{part.name}: {part.outcome}" for part in parts)
    effect = parts[0].effect if parts else None
    return Measurement(
        (Reading("oracles help, random does not", outcome, effect, words), *found.values())
    )


def _pruning_fixture(study: str, **settings) -> Records:
    noise = np.random.default_rng(0)
    records = []
    factor = {"none": 1.0, "irrelevant": 0.05, "noisy": 0.1, "random": 1.1}
    for name, scale in factor.items():
        for seed in range(10):
            loss = 0.1 * scale * np.exp(0.05 * noise.normal())
            removed = 0.0 if name == "none" else 0.3
            values = {"test_loss": loss, "flops_saved": removed}
            chosen = {"selector": name, "removed": removed, "engine": "exact", **settings}
            records.append(trial(study, seed, values, **chosen))
    return Records(records)


OTHER_READINGS = (
    ("attention", "the least attention received in the first model"),
    ("value_norm", "the smallest value vectors in the first model"),
    ("distance", "the farthest from every pattern"),
    ("model", "the least attention in a model trained before (scale paper)"),
    ("400 steps: ...", "trained on, until the training loss is zero with all tokens"),
    ("set to zero: ...", "removed tokens stay in the softmax as zero vectors"),
    ("at test only: ...", "trained on all tokens"),
    ("renumbered: ...", "output weights go with the place among the kept tokens"),
)
"""What only figure 5 has."""


def _pruning_claim(name: str, M: int, **settings) -> Claim:
    study = f"li2023.{name}"
    return Claim(
        id=study,
        title=f"Removing irrelevant or noisy tokens lowers the test loss, M = {M}",
        statement=(
            "Removing label-irrelevant or noisy tokens lowers the test loss; removing tokens at "
            "random does not."
        ),
        measured=(
            "Test loss after a fixed number of steps with the largest share removed over that "
            "with none, paired by seed: supported if the interval is below 1 for both oracles and "
            "above 0.9 for random removal. Compute saved is beside each loss. A sample has 30 % of "
            "noisy tokens at the mean, so removing 30 % as noisy takes some others along."
        ),
        studies=(study,),
        measure=measure_pruning,
        law=PruningLaw(),
        controls=(
            Control(
                "exchanged", "oracles and random removal exchanged", law=PruningLaw(exchanged=True)
            ),
            Control("a factor of 10^5", "the loss falls by 10^5", law=PruningLaw(helped=1e-5)),
        ),
        positive=lambda: _pruning_fixture(name, M=M, **settings),
        hypotheses=lambda records: (room_for_patterns(r.cell for r in records),),
        readings=(
            ("oracles help, random does not", "the three parts together"),
            ("irrelevant", "an oracle removes confusion, non-discriminative and noisy tokens"),
            ("noisy", "an oracle removes the tokens with extra noise"),
            ("random", "at random"),
            *(OTHER_READINGS if name == "figure_5" else ()),
        ),
        notes=(
            "The settings of figures 5 and 8 are lost in our text: inferred. Tokens have unit norm "
            "and T = 100 is fixed, while the training loss is still falling: once it is zero there "
            "is hardly a loss left to lower. Output weights belong to positions, so removal "
            "scatters them, which costs samples; `renumbered` is without that."
        ),
    )


PRUNING = (
    _pruning_claim("figure_5", 5),
    *(
        _pruning_claim(f"figure_8{letter}", M, d=20, m_a=20, m_b=20)
        for letter, M in (("a", 10), ("b", 15), ("c", 20))
    ),
)


# --- remark 2 ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class SparsifiedLaw:
    """Iterations and test loss with sparsification over those without."""

    iterations: float = 0.8
    """Ours: a reduction by a fifth at least."""
    loss: float = 1.0
    selector: str = "irrelevant"


def measure_remark_2(records: Records, law: SparsifiedLaw) -> Measurement:
    """Iterations, and test loss at the same N, with tokens removed against none, seed by seed."""
    base = {(r.cell.N, r.seed): r for r in records.where(selector="none")}
    others = sorted({r.cell.selector for r in records} - {"none", law.selector})
    readings = []
    for name in (law.selector, *others):
        own = [r for r in records.where(selector=name) if (r.cell.N, r.seed) in base]
        pairs = [(r, base[r.cell.N, r.seed]) for r in own]
        won, lost = ([bool(pair[k]["success"]) for pair in pairs] for k in (0, 1))
        fitted = sum(bool(a["fitted"]) and bool(b["fitted"]) for a, b in pairs)
        readings += [
            _ratio_reading(f"{name}: iterations", pairs, "iterations", 1.0, law.iterations,
                           f"{fitted} of {len(pairs)} pairs reach zero training loss"),
            _ratio_reading(f"{name}: test loss", pairs, "test_loss", FLOOR, law.loss,
                           f"{sum(won)} of {len(won)} succeed with, {sum(lost)} without"),
        ]  # fmt: skip
    return Measurement((*all_of("fewer of both", readings[:2]).readings, *readings[2:]))


def _ratio_reading(
    name: str, pairs: list, value: str, floor: float, most: float, detail: str
) -> Reading:
    """The geometric mean over pairs of a value with removal over that without."""
    logs = [np.log(max(float(a[value]), floor) / max(float(b[value]), floor)) for a, b in pairs]
    interval = mean_interval(logs)
    ends = (float(np.exp(min(x, 700.0))) for x in (interval.value, interval.low, interval.high))
    outcome = decide_at_most(interval.low, interval.high, np.log(most))
    return Reading(name, outcome, Effect(f"{value} with over without", *ends), detail)


def _sparse_fixture() -> Records:
    noise = np.random.default_rng(0)
    records = []
    for name, T in (("none", 200.0), ("irrelevant", 90.0), ("random", 210.0)):
        for seed in range(12):
            values = {
                "iterations": T * np.exp(0.02 * noise.normal()),
                "test_loss": 1e-4 * T * np.exp(0.02 * noise.normal()),
                "fitted": True,
                "success": name == "irrelevant",
            }
            removed = 0.0 if name == "none" else 0.4
            records.append(
                trial("sparsified", seed, values, selector=name, removed=removed, engine="exact")
            )
    return Records(records)


REMARK_2 = Claim(
    id="li2023.remark_2",
    title="Sparsification saves iterations and samples",
    statement=(
        "Removing label-irrelevant tokens raises alpha_*, so that fewer iterations and fewer "
        "samples are needed; removing noisy ones lowers tau, with the same effect."
    ),
    measured=(
        "40 % of the tokens removed by an oracle, against none, paired by seed: iterations until "
        "the training loss is zero, supported if the interval of their ratio is below 0.8; and "
        "the test loss then, at the same N, supported if that of its ratio is below 1. Both must "
        "hold. Beside it the noisy tokens removed, and as many at random."
    ),
    studies=(SPARSE,),
    measure=measure_remark_2,
    law=SparsifiedLaw(),
    controls=(
        Control("random removal", "tokens removed at random", law=SparsifiedLaw(selector="random")),
        Control("a factor of 100", "a hundredth of the iterations", law=SparsifiedLaw(0.01)),
    ),
    positive=_sparse_fixture,
    readings=(
        ("fewer of both", "label-irrelevant tokens: both parts"),
        ("irrelevant: iterations", "until the training loss is zero"),
        ("irrelevant: test loss", "then, at the same N"),
        ("noisy: ...", "the noisy tokens removed (not at scale smoke)"),
        ("attention: ...", "the least attention received (scale paper)"),
        ("random: ...", "at random"),
    ),
    notes="Erratum: insight P3 says that removing irrelevant tokens reduces alpha_*; it raises it.",
)

SPARSIFICATION = (*PRUNING, REMARK_2)
