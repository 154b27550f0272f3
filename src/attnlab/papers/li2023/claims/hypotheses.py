"""The paper's hypotheses as claims: what its own settings satisfy, measured against thresholds."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Constant, Control, Effect, Measurement, Outcome, Reading, Records
from attnlab.papers.li2023.claims.common import data_hypotheses, share_reading, trial
from attnlab.papers.li2023.claims.neurons import all_of
from attnlab.papers.li2023.theory import conditions
from attnlab.papers.li2023.theory.conditions import sizes_of

DYNAMICS = "li2023.dynamics"
ROUNDING = 1e-6
"""Weights are float32."""


@dataclass(frozen=True)
class ErrorLaw:
    """Errors of the first maps at most `factor` times sigma or delta, norms at most `norm`."""

    factor: float = 1.0
    norm: float = 1.0


def measure_assumption_1(records: Records, law: ErrorLaw) -> Measurement:
    """Errors at the patterns and norms of the three first maps, by run."""
    errors, norms, largest = [], [], []
    for r in records:
        bounds = {"W_V": r.cell.sigma, "W_K": r.cell.delta, "W_Q": r.cell.delta}
        errors.append(all(r[f"error_{W}"] <= law.factor * b + ROUNDING for W, b in bounds.items()))
        size = max(float(r[f"norm_{W}"]) for W in bounds)
        norms.append(size <= law.norm + ROUNDING)
        largest.append(size)
    detail = f"largest norm {np.max(largest):.4g}, {np.mean(largest):.4g} at the mean"
    return all_of(
        "both parts",
        [
            share_reading("errors within sigma and delta", "share of runs", errors),
            share_reading("norms at most 1", "share of runs", norms, detail=detail),
        ],
    )


def _maps_fixture(study: str = "dynamics", **values) -> Records:
    found = {f"{kind}_{W}": 0.0 for kind in ("error", "norm", "token_error")
             for W in ("W_V", "W_K", "W_Q")}  # fmt: skip
    found |= {"error_W_V": 0.1, "error_W_K": 0.2, "error_W_Q": 0.2, "norm_W_V": 0.98}
    found |= {"token_error_W_V": 0.12, "token_error_W_K": 0.22, "token_error_W_Q": 0.22}
    found |= {"least_same_product": 1.0, "largest_other_product": 0.1, "largest_noise": 0.03}
    found |= values
    return Records(
        trial(study, seed, found, alpha_star=0.5, alpha_sharp=0.05) for seed in range(40)
    )


ASSUMPTION_1 = Claim(
    id="li2023.assumption_1",
    title="The first model is close to orthonormal features",
    statement=(
        "The first values of the patterns are within sigma, keys and queries within delta, of "
        "orthonormal vectors with q_1 = r_1 and q_2 = r_2, and all three maps have norm at most 1."
    ),
    measured=(
        "Maps built to the letter, with errors of norm exactly sigma and delta: the share of runs "
        "in which errors and norms keep their bounds. Supported above 0.9."
    ),
    studies=(DYNAMICS,),
    measure=measure_assumption_1,
    law=ErrorLaw(),
    hypotheses=data_hypotheses,
    controls=(
        Control("half the errors", "errors within sigma/2 and delta/2", law=ErrorLaw(factor=0.5)),
    ),
    positive=_maps_fixture,
    readings=(
        ("both parts", "the assumption as it stands"),
        ("errors within sigma and delta", "the part that the proofs use"),
        ("norms at most 1", "said to be without loss of generality"),
    ),
    notes=(
        "An error of norm sigma in a random direction makes a map of norm above 1. The printed "
        "initial model, W_Q = 400 I and W_V = 100 U, breaks both parts by far (initial=printed)."
    ),
)


@dataclass(frozen=True)
class TokenLaw:
    """Errors at tokens at most `factor` (sigma + tau) and (delta + tau)."""

    factor: float = 1.0


def measure_assumption_2(records: Records, law: TokenLaw) -> Measurement:
    """The largest error of any of some 2,400 tokens, with tau read two ways."""

    def held(r, tau: float) -> bool:
        bounds = {"W_V": r.cell.sigma, "W_K": r.cell.delta, "W_Q": r.cell.delta}
        return all(
            r[f"token_error_{W}"] <= law.factor * (b + tau) + ROUNDING for W, b in bounds.items()
        )

    names = ("tau = largest noise drawn", "tau = root mean square")
    largest = [held(r, float(r["largest_noise"])) for r in records]
    typical = [held(r, conditions.token_noise(r.cell)) for r in records]
    return Measurement(
        (
            share_reading(names[0], "share of runs in which every token is within", largest),
            share_reading(names[1], "share of runs in which every token is within", typical),
        )
    )


ASSUMPTION_2 = Claim(
    id="li2023.assumption_2",
    title="Tokens are mapped near their features",
    statement=(
        "The first value of a token of pattern j is within sigma + tau of p_j; its key and query "
        "are within delta + tau of q_j and r_j."
    ),
    measured="The largest error over the tokens of 24 samples, by run: supported above 0.9.",
    studies=(DYNAMICS,),
    measure=measure_assumption_2,
    law=TokenLaw(),
    hypotheses=data_hypotheses,
    controls=(Control("half", "within half of that", law=TokenLaw(0.5)),),
    positive=_maps_fixture,
    readings=(
        ("tau = largest noise drawn", "(5) with the tau that these tokens satisfy"),
        ("tau = root mean square", "tau = c0 sqrt(d)"),
    ),
    notes="Follows from Assumption 1 and (5) if the maps have norm at most 1, which they have not.",
)


@dataclass(frozen=True)
class ProductLaw:
    """Products of tokens of one pattern at least 1, of two at most lambda."""

    least: float = 1.0
    most: float = 0.5


def measure_assumption_3(records: Records, law: ProductLaw) -> Measurement:
    """Products of tokens as they are, and after scaling all tokens up."""
    literal = [
        r["least_same_product"] >= law.least - ROUNDING and r["largest_other_product"] <= law.most
        for r in records
    ]
    ratio = np.array([r["largest_other_product"] / r["least_same_product"] for r in records])
    same = np.mean([r["least_same_product"] for r in records])
    scaled = [bool(0 <= max(x, 0) <= law.most and r["least_same_product"] > 0)
              for x, r in zip(ratio, records, strict=True)]  # fmt: skip
    detail = f"smallest product within a pattern {same:.3f}, lambda {ratio.max():.3f} after scaling"
    return Measurement(
        (
            share_reading("tokens scaled up", "share of runs", scaled, detail=detail),
            share_reading("tokens as drawn", "share of runs", literal, detail=detail),
        )
    )


ASSUMPTION_3 = Claim(
    id="li2023.assumption_3",
    title="Tokens of one pattern have products of at least 1, others at most lambda",
    statement=(
        "After scaling all tokens up a little, tokens of the same pattern have an inner product of "
        "at least 1, and tokens of different patterns of at most lambda < 1, 1 - lambda constant."
    ),
    measured="All pairs of tokens of one sample; lambda at most 0.5 (ours). Supported above 0.9.",
    studies=(DYNAMICS,),
    measure=measure_assumption_3,
    law=ProductLaw(),
    hypotheses=data_hypotheses,
    controls=(Control("exactly orthogonal", "lambda at most 1e-6", law=ProductLaw(most=1e-6)),),
    positive=_maps_fixture,
    readings=(
        ("tokens scaled up", "all tokens times one number, as the text allows"),
        ("tokens as drawn", "without scaling"),
    ),
)


# --- conditions that are arithmetic -----------------------------------------------------------


@dataclass(frozen=True)
class FractionLaw:
    """(8) with an eps_S."""

    eps_S: float = conditions.LARGEST_EPS_S


def cell_reading(name: str, records: Records, margin, detail) -> Reading:
    """Whether every cell meets a condition: the smallest value over its threshold."""
    cells = {r.cell for r in records}
    if not cells:
        return Reading(name, "inconclusive", None, "no run of this kind")
    ratios = {cell: margin(cell) for cell in cells}
    least = min(ratios.values())
    outcome: Outcome = "supported" if least >= 1 else "contradicted"
    met = sum(x >= 1 for x in ratios.values())
    text = f"{met} of {len(cells)} cells meet it; {detail(cells)}"
    return Reading(
        name, outcome, Effect("smallest value over threshold", least, least, least), text
    )


def measure_condition_8(records: Records, law: FractionLaw) -> Measurement:
    """(8) at the fractions of each figure."""

    def margin(cell) -> float:
        needed = conditions.least_relevant_fraction(sizes_of(cell), law.eps_S)
        return cell.alpha_star / needed if needed > 0 else 1e9

    def detail(cells) -> str:
        s = sizes_of(next(iter(cells)))
        largest = law.eps_S * np.exp(-(s.delta + s.tau)) * (1 - s.error)
        worst = max(c.sharp / c.alpha_star for c in cells)
        return f"alpha_#/alpha_* is at most {worst:.3f}, allowed is {largest:.3f}"

    slice_1a = records.of("li2023.figure_1a").where(confusion="paper_slice")
    return Measurement(
        (
            cell_reading("figure 4", records.of(DYNAMICS), margin, detail),
            cell_reading("figure 1a's slice", slice_1a, margin, detail),
            cell_reading(
                "figure 1b",
                records.of("li2023.figure_1b").where(sigma=0.1, c0=0.01),
                margin,
                detail,
            ),
            cell_reading(
                "certificate of Theorem 1", records.of("li2023.certificate"), margin, detail
            ),
        )
    )


CONDITION_8 = Claim(
    id="li2023.condition_8",
    title="(8) at the paper's own settings",
    statement=(
        "The paper's experiments satisfy alpha_* >= alpha_#/(eps_S exp(-(delta + tau))(1 - (sigma "
        "+ tau))) for some eps_S below 1/2."
    ),
    measured=(
        "Arithmetic on the settings, at the weakest eps_S = 1/2: supported if every cell of figure "
        "4's setting meets it. One reading a figure."
    ),
    studies=(DYNAMICS, "li2023.figure_1a", "li2023.figure_1b", "li2023.certificate"),
    measure=measure_condition_8,
    law=FractionLaw(),
    controls=(Control("eps_S = 1/100", "a far smaller eps_S", law=FractionLaw(0.01)),),
    positive=_maps_fixture,
    readings=(
        ("figure 4", "alpha_* = .5, alpha_# = .05"),
        ("figure 1a's slice", "alpha_# = .5 - alpha_*"),
        ("figure 1b", "alpha_* = .3, alpha_# = .2"),
        ("certificate of Theorem 1", "our cell for Theorem 1"),
    ),
    constants=(Constant("eps_S", "given", 0.5),),
    notes="Without token noise, at sigma = .1 and delta = .2, it asks for alpha_#/alpha_* <= .368.",
)


@dataclass(frozen=True)
class BatchLaw:
    """Batches of at least `factor` times (9) at constant one succeed."""

    factor: float = 1.0
    probability: float = 0.9
    succeed: bool = True


def measure_condition_9(records: Records, law: BatchLaw) -> Measurement:
    """The share of successes with batches above (9) at constant one, and below it."""
    above, below = [], []
    for r in records:
        enough = law.factor * conditions.least_batch(sizes_of(r.cell)) <= r.cell.B
        (above if enough else below).append(bool(r["success"]) == law.succeed)
    by_size = {
        B: np.mean([bool(r["success"]) for r in part]) for B, part in records.by("B").items()
    }
    detail = "success by B: " + ", ".join(f"{B}: {share:.2f}" for B, share in by_size.items())
    worst = [not x for x in below]
    return Measurement(
        (
            share_reading("enough", "share of successes", above, law.probability, detail),
            share_reading("below it fails", "share of failures", worst, law.probability, detail),
        )
    )


def _batch_fixture() -> Records:
    sizes = {"alpha_star": 0.42, "alpha_sharp": 0.08}
    return Records(
        trial("batch_size", seed, {"success": B >= 10}, B=B, **sizes)
        for B in (2, 5, 10, 20)
        for seed in range(40)
    )


CONDITION_9 = Claim(
    id="li2023.condition_9",
    title="A batch of the order of (9) is enough",
    statement="Batches of B >= C (alpha_* - exp(-(delta+tau))(tau + sigma))^-2 samples are enough.",
    measured=(
        "At constant C = 1: the share of successes with batches of at least that size, supported "
        "above 0.9. Beside it, whether smaller batches fail (the paper does not say so)."
    ),
    studies=("li2023.batch_size",),
    measure=measure_condition_9,
    law=BatchLaw(),
    hypotheses=data_hypotheses,
    controls=(
        Control("they fail", "large batches fail", law=BatchLaw(succeed=False)),
        Control("two samples", "N = 2", changes={"N": 2}),
    ),
    positive=_batch_fixture,
    readings=(
        ("enough", "batches above (9) at constant one succeed"),
        ("below it fails", "batches below it do not"),
    ),
    constants=(Constant("C of (9)", "unknown"),),
)


@dataclass(frozen=True)
class WidthLaw:
    """The bracket of Lemma 3 is positive with this many times the patterns."""

    patterns: float = 1.0


def measure_width(records: Records, law: WidthLaw) -> Measurement:
    """Whether the width leaves Lemma 3 something to say: the bracket at the least epsilon."""

    def margin(cell) -> float:
        s = sizes_of(cell)
        spent = law.patterns * (1 - conditions.lucky_share(s))
        return 1 / spent

    def detail(cells) -> str:
        s = sizes_of(next(iter(cells)))
        epsilon, bound = conditions.least_epsilon(s), conditions.lucky_bound(s)
        return f"eps_m >= {epsilon:.3f} is forced, and the bound is {bound:.1f} neurons"

    studies = [(DYNAMICS, "figure 4, M = 5")]
    for letter, M in (("a", 10), ("b", 15), ("c", 20)):
        studies.append((f"li2023.figure_7{letter}", f"figure 7{letter}, M = {M}"))
    return Measurement(
        tuple(cell_reading(name, records.of(study), margin, detail) for study, name in studies)
    )


WIDTH = Claim(
    id="li2023.width_condition",
    title="The width condition leaves lucky neurons",
    statement=(
        "With m >= eps^-2 M^2 log N the experiments' widths leave 1 - eps_m - (sigma + tau) M/pi "
        "positive, so that Lemma 3 promises lucky neurons."
    ),
    measured=(
        "Arithmetic on the settings: eps_m + (sigma + tau) M/pi against 1 at figure 4's setting; "
        "figure 7's as further readings."
    ),
    studies=(DYNAMICS, "li2023.figure_7a", "li2023.figure_7b", "li2023.figure_7c"),
    measure=measure_width,
    law=WidthLaw(),
    controls=(Control("four times M", "four times as many patterns", law=WidthLaw(4.0)),),
    positive=_maps_fixture,
    readings=(
        ("figure 4, M = 5", "m = 1000"),
        ("figure 7a, M = 10", "d = 20"),
        ("figure 7b, M = 15", "d = 20"),
        ("figure 7c, M = 20", "d = 20, where M < m_a fails too"),
    ),
    constants=(Constant("constant of m >~ eps^-2 M^2 log N", "unknown"),),
)

HYPOTHESES = (ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3, CONDITION_8, CONDITION_9, WIDTH)
