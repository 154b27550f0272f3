"""What the theorems promise for the target of a run, by the constants that chose its step size.

*Section 6.1's constants* are those of the paper's own proof (`corrected` in `theory.conditions`).
"""

import math

from attnlab.claims import Scalar
from attnlab.core import Record
from attnlab.evidence.laws import stored
from attnlab.papers.deora2023.scalars.words import quotient
from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import Target

START = "the loss at the start"


def target_of(record: Record) -> Target:
    """The target of a run."""
    cell = record.cell
    numbers = {
        name: float(record[f"target_{name}"])
        for name in ("R", "H", "D", "m", "loss", "start_loss", "K", "least_count")
    }
    return Target(T=cell.T, d=cell.d, **numbers)


def _corollary_bound(record: Record) -> float:
    """2/K + 5 g_0^2/(4 eta K), g_0 = (2 B_Phi + log K)/gamma with what the start has."""
    K = record.cell.K
    B = max(1.0, float(record["start_output"]))
    g = (2 * B + math.log(K)) / float(record["tangent_margin"])
    return 2 / K + 5 * g**2 / (4 * float(record["eta"]) * K)


PROMISED_LOSS = quotient("loss_bound", "target_start_loss", "bound (4) over the loss at the start")
PROMISED_GAP = quotient("gap_bound", "target_start_loss", "bound (5) over the loss at the start")
PROMISED_STABILITY = Scalar(
    "stability bound over how far two runs can part",
    lambda r: float(r["stability_bound"]) / (8 * float(r["target_D"])),
)
PROMISED_DISTANCE = Scalar(
    "4D over sqrt(2 eta K L(theta_0)), which descent alone gives",
    lambda r: 4 * float(r["target_D"]) / float(r["moved_by_descent"]),
)
COROLLARY = Scalar(
    "last loss over Corollary 2's bound", lambda r: float(r["last_loss"]) / _corollary_bound(r)
)
WITHOUT_DISTANCE = Scalar("last loss over 2/K", lambda r: float(r["last_loss"]) * r.cell.K / 2)
COROLLARY_PROMISE = Scalar(
    "Corollary 2's bound over the loss at the start",
    lambda r: _corollary_bound(r) / float(r["target_start_loss"]),
)
HEADS_ASKED = Scalar(
    "heads that section 6.1's constants ask for",
    lambda r: float(conditions.heads_needed(target_of(r), "corrected")),
)
LOSS_OF_TARGET = stored("target_loss_over_epsilon", "target's loss over epsilon")
EPSILON_OVER_START = Scalar("epsilon over log 2", lambda r: r.cell.epsilon / math.log(2))
