"""Assumptions and conditions of deora2023 at given settings: looked up, not judged.

The constants of a good start are Proposition 2's, by arithmetic: P from Lemma 2 (0 where phase 1
is its expectation), B_2, B_Phi and half of gamma_*. No run and no record is needed.
"""

from typing import Any

from attnlab.claims import Assumption, Hypothesis, HypothesisTable, Source
from attnlab.papers.deora2023.theory import conditions, margins
from attnlab.papers.deora2023.theory.conditions import GoodStart

DELTA = 0.1
"""The probability of failure where a study does not set one."""


def _is_mixture(cell: Any) -> bool:
    return hasattr(cell, "mixture")


def first_phase(cell: Any) -> float:
    """P of Lemma 2."""
    delta = getattr(cell, "delta", DELTA)
    return margins.first_phase_bound(cell.mixture().R, cell.n1, delta) if cell.n1 else 0.0


def good_start(cell: Any) -> GoodStart:
    """B_2, B_Phi and gamma of Proposition 2."""
    P, sizes = first_phase(cell), cell.mixture()
    delta = getattr(cell, "delta", DELTA)
    spread = (2 * margins.log(cell.n / delta)) ** 0.5
    return GoodStart(
        max(1.0, cell.T**0.5 * (cell.S + P)),
        max(1.0, cell.T * sizes.R * (cell.S + P) * spread),
        margins.gamma_star(sizes, P) / 2,
    )


def bounded_data(cell: Any) -> tuple[Hypothesis, ...]:
    """Assumption 1: R, which the bounds need to be at least 1."""
    if not _is_mixture(cell):
        return ()
    return (
        Hypothesis("R: longest token (where below 1, R = 1 is taken)", cell.mixture().longest, 1.0),
    )


def mixture(cell: Any) -> tuple[Hypothesis, ...]:
    """Assumption 3: room for the patterns and for the noise along them; Proposition 3's level."""
    if not _is_mixture(cell):
        return ()
    sizes = cell.mixture()
    noise = max(sizes.Z_mu, sizes.Z_nu)
    return (
        Hypothesis("dimension d for M+2 orthogonal patterns", float(cell.d), float(cell.M + 2)),
        Hypothesis("Z for noise that attains Z_mu and Z_nu", sizes.Z, sizes.least_Z),
        Hypothesis("relevant places zeta T, a whole number", cell.zeta * cell.T, float(sizes.relevant), "=="),
        Hypothesis("noise Z_mu, Z_nu for Proposition 3", noise, sizes.S**2 / 8, "<="),
    )  # fmt: skip


def good_initialisation(cell: Any) -> tuple[Hypothesis, ...]:
    """Definition 1 by Proposition 2: its constants, and a positive margin."""
    if not _is_mixture(cell):
        return ()
    start = good_start(cell)
    return (
        Hypothesis("P1: B_2", start.B_2, 1.0),
        Hypothesis("P2: B_Phi", start.B_Phi, 1.0),
        Hypothesis("P3: gamma_*/2 through Proposition 2", start.gamma, 0.0),
    )


def _horizon(cell: Any) -> float | None:
    """1/epsilon of the target: from epsilon, or from the number of steps."""
    if not _is_mixture(cell) or not hasattr(cell, "H"):
        return None
    if hasattr(cell, "epsilon"):
        return 1 / cell.epsilon
    return float(cell.K) if getattr(cell, "K", 1) > 1 else None


def realisability(cell: Any) -> tuple[Hypothesis, ...]:
    """Assumption 2: the heads with which Proposition 7 (reconstructed) gives a target."""
    K = _horizon(cell)
    if K is None:
        return ()
    start = good_start(cell)
    if start.gamma <= 0:
        return (Hypothesis("P3: gamma_*/2 through Proposition 2", start.gamma, 0.0),)
    R = cell.mixture().R
    needed = conditions.realisable_heads(start, cell.T, cell.d, R, cell.H, 1 / K)
    return (Hypothesis("heads H for a target of loss 1/K or epsilon", cell.H, float(needed)),)


def enough_heads(cell: Any) -> tuple[Hypothesis, ...]:
    """(3) and the step size, through Proposition 2, section 6.1's constants and at constant one."""
    K = _horizon(cell)
    if K is None or not hasattr(cell, "K") or good_start(cell).gamma <= 0:
        return ()
    R = cell.mixture().R
    target = conditions.target_of(good_start(cell), cell.T, cell.d, R, cell.H, K)
    needed = float(conditions.heads_needed(target, "corrected"))
    printed = float(conditions.printed_heads_needed(target))
    rows = (
        Hypothesis("heads H (section 6.1's constants)", cell.H, needed),
        Hypothesis("heads H ((3) at constant one)", cell.H, printed, constant="unknown"),
    )
    if not getattr(cell, "eta", 0.0):
        return rows
    limit = float(conditions.largest_step(target, "corrected"))
    return (*rows, Hypothesis("step size (section 6.1's rho)", cell.eta, limit, "<="))


HYPOTHESES = HypothesisTable(
    assumptions=(
        Assumption(
            "deora2023.assumption_1",
            "Tokens are bounded",
            "Labels are -1 or +1 and no token is longer than R, which is at least 1.",
            Source("3", "Assumption 1"),
            bounded_data,
            notes="The print's R has no maximum with 1, which its bounds need (erratum 13, wording).",
        ),
        Assumption(
            "deora2023.assumption_2",
            "Realisability",
            "For every epsilon there is a target of that loss, at a distance of at most g_0 from "
            "the start, whose heads are at most g long.",
            Source("4.2", "Assumption 2"),
            realisability,
            notes="That a good start is realisable is Proposition 7: see the claim proposition_7.",
        ),
        Assumption(
            "deora2023.assumption_3",
            "The tokenised mixture",
            "Orthogonal patterns of length S, zeta T relevant places, labels equally likely, and "
            "noise that is bounded along the patterns and in length.",
            Source("5", "Assumption 3"),
            mixture,
            notes="That drawn data obey it is the claim finding_drawn_data.",
        ),
        Assumption(
            "deora2023.definition_1",
            "Good initialisation",
            "P1: heads at most B_2 long. P2: outputs at most B_Phi. P3: the tangent features "
            "separate the samples with a margin along a direction of length sqrt 2.",
            Source("4.3", "Definition 1"),
            good_initialisation,
            notes="That phase 1 gives one is Proposition 2: see the claim proposition_2.",
        ),
        Assumption(
            "deora2023.equation_3",
            "Enough heads and a small enough step",
            "H is at least of the order of (d T^1/2 R^5 |theta| D^3)^2 and the step at most 1/rho.",
            Source("4.1", "equation 3"),
            enough_heads,
            notes="The exact constants are in an appendix that is not in our source; the factor "
            "18 is reconstructed from section 6.1.",
        ),
    ),
    # The experiments are in an appendix that is not in our source: no setting of the paper's own.
    printed={},
)
"""What `attnlab hypotheses deora2023` shows."""
