"""Assumptions 1 to 3: what the first model and the tokens satisfy."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import Claim, Control, Measurement, Records
from attnlab.papers.li2023.claims.common import all_of, data_hypotheses, share_reading, trial
from attnlab.papers.li2023.theory import conditions

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


def maps_fixture() -> Records:
    """Runs that satisfy all of it."""
    found = {f"{kind}_{W}": 0.0 for kind in ("error", "norm", "token_error")
             for W in ("W_V", "W_K", "W_Q")}  # fmt: skip
    found |= {"error_W_V": 0.1, "error_W_K": 0.2, "error_W_Q": 0.2, "norm_W_V": 0.98}
    found |= {"token_error_W_V": 0.12, "token_error_W_K": 0.22, "token_error_W_Q": 0.22}
    found |= {"least_same_product": 1.0, "largest_other_product": 0.1, "largest_noise": 0.03}
    return Records(
        trial("dynamics", seed, found, alpha_star=0.5, alpha_sharp=0.05) for seed in range(40)
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
    positive=maps_fixture,
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
    positive=maps_fixture,
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
    positive=maps_fixture,
    readings=(
        ("tokens scaled up", "all tokens times one number, as the text allows"),
        ("tokens as drawn", "without scaling"),
    ),
)

ASSUMPTIONS = (ASSUMPTION_1, ASSUMPTION_2, ASSUMPTION_3)
