"""Studies in plain numpy: products of drawn weights, the derivative of a softmax, bounded sums."""

from attnlab.core import Design, Study
from attnlab.papers.yang2024.settings.plain import (
    DerivativeSettings,
    ProductSettings,
    SumSettings,
)

PLAIN = "attnlab.papers.yang2024.runs.plain"


COUPLED = (
    (24, 4, 2**9, 31), (24, 4, 2**10, 34), (36, 4, 2**11, 37), (36, 5, 2**12, 41),
    (48, 5, 2**13, 44), (60, 5, 2**14, 47),
)  # fmt: skip
"""n, L, m, m1: L near log m / 2, n near L^2 log m / 4, m1 near 5 log m, as Condition 1 has it."""


def _products(count: int) -> tuple[ProductSettings, ...]:
    return tuple(ProductSettings(n=n, L=L, m=m, m1=m1) for n, L, m, m1 in COUPLED[:count])


PRODUCTS = Study(
    id="yang2024.products",
    summary="products of three and more drawn weights at the start, at sizes coupled to m",
    settings=ProductSettings,
    run=f"{PLAIN}:draw_products",
    designs={
        "smoke": Design(_products(4), 12),
        "quick": Design(_products(6), 12, 6),
        "paper": Design(_products(6), 60),
    },
    cost=lambda cell: 0.01 + 1.5e-5 * cell.m,
)

_LENGTHS = (DerivativeSettings(), DerivativeSettings(L=60))
DERIVATIVE = Study(
    id="yang2024.derivative",
    summary="the derivative of a softmax of moving scores",
    settings=DerivativeSettings,
    run=f"{PLAIN}:differentiate_softmax",
    designs={
        "smoke": Design(_LENGTHS, 10),
        "quick": Design(_LENGTHS, 30),
        "paper": Design(_LENGTHS, 100),
    },
    cost=lambda cell: 0.001,
)

_CHANCES = tuple(SumSettings(delta=x, rare=y) for x in (0.1, 0.01) for y in (0.02, 0.5))
SUMS = Study(
    id="yang2024.bounded_sums",
    summary="sums of bounded numbers, over their chance to be large",
    settings=SumSettings,
    run=f"{PLAIN}:draw_sums",
    designs={
        "smoke": Design(_CHANCES, 4),
        "quick": Design(_CHANCES, 8),
        "paper": Design(_CHANCES, 40),
    },
    cost=lambda cell: 0.005,
)
