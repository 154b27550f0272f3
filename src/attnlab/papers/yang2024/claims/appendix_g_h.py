"""Appendices G and H: the softmax's remainder and the tail of Gaussian vectors."""

from collections.abc import Callable
from typing import Any

import numpy as np

from attnlab.claims import Control, Fitted, Part, Source
from attnlab.evidence.laws import Power, Rate
from attnlab.evidence.statement import statement
from attnlab.papers.yang2024.scalars import initial

LEMMA_G2 = statement(
    "yang2024.lemma_g2", "scaling", title="Perturbation of the softmax",
    statement="A small change epsilon of the scores changes the softmax by its Jacobian diag(p) - "
              "p p^T times epsilon, up to a remainder of order |epsilon|^2.",
    source=Source("G", "Lemma G.2", 63), stated="O(|epsilon|^2)",
    measured="The largest norm of the remainder over random scores and directions: its exponent "
             "in |epsilon|, over sizes from 0.003 to 0.1.",
    why="The tolerance of 0.1 is ours: the next order bends the law by a few per cent at 0.1.",
    parts=(Part("order of the remainder", "softmax", initial.REMAINDER,
                Power("size", 2.0, "at_least"), path="|epsilon| from 0.003 to 0.1"),),
    controls=(Control("diagonal Jacobian", "the derivative without p p^T",
                      part="order of the remainder", changes={"jacobian": "diagonal"}),
              Control("third order", "a remainder of order |epsilon|^3",
                      part="order of the remainder", law=Power("size", 3.0, "at_least"))),
    constants=(Fitted("remainder over |epsilon|^2", "softmax", initial.REMAINDER_CONSTANT),),
)  # fmt: skip

SPLIT = 100
"""Ours: dimensions below it are judged apart, so that large ones cannot hide a failure there."""
EVENTS = {"norms": "norm", "products": "product"}


def _cells(delta: float, wide: bool) -> Callable[[Any], bool]:
    return lambda cell: cell.delta == delta and (cell.m >= SPLIT) == wide


LEMMA_H2 = statement(
    "yang2024.lemma_h2", "probability", title="Tails of norms and products of Gaussian vectors",
    statement="For independent vectors w1, w2 from N(0, I/m), each of the events | |w1|^2 - 1 | "
              ">= b and |<w1, w2>| >= b has probability at most delta, with b = sqrt(4 "
              "log(2/delta)/m) + 4 log(2/delta)/m.",
    source=Source("H", "Lemma H.2", 64), stated="each event has probability at most delta",
    measured="The rate of each event over drawn pairs, for several m and delta, exact intervals.",
    why="Bound and probability are the paper's.",
    parts=tuple(
        Part(f"{name}, delta = {delta:g}, m {'from' if wide else 'below'} {SPLIT}",
             "tails", initial.below_tail(event), Rate("draws", 1 - delta, owner="paper"),
             cells=_cells(delta, wide))
        for event, name in EVENTS.items()
        for delta in (0.1, 0.01)
        for wide in (False, True)
    ),
    controls=tuple(
        Control(f"a third of the bound, {name}s", "the bound divided by 3",
                part=f"{name}, delta = 0.1, m from {SPLIT}",
                scalar=initial.below_tail(event, 1 / 3))
        for event, name in EVENTS.items()
    ),
    positive=dict.fromkeys(
        EVENTS, lambda cell, random: np.append(np.full(cell.draws // 4, 0.2),
                                               np.full(cell.draws - cell.draws // 4, 0.7))
    ),
)  # fmt: skip
