"""Assumptions and conditions of deora2023: the table at given settings, and gates of claims.

In the table the constants of a good start are Proposition 2's, by arithmetic: P from Lemma 2 (0
where phase 1 is its expectation), B_2, B_Phi and half of gamma_*. No record is needed. A gate
reads a claim's records: their targets and step sizes against a theorem's conditions.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, TypeGuard

from attnlab.claims import Assumption, Hypothesis, HypothesisTable, Source
from attnlab.core import Record, Records
from attnlab.papers.deora2023.scalars.promises import target_of
from attnlab.papers.deora2023.settings.mixture import MixtureSettings
from attnlab.papers.deora2023.theory import conditions, margins
from attnlab.papers.deora2023.theory.conditions import GoodStart, Proof, Theorem
from attnlab.papers.deora2023.theory.real import log

DELTA = 0.1
"""The probability of failure where a study does not set one."""


def _is_mixture(cell: object) -> TypeGuard[MixtureSettings]:
    return isinstance(cell, MixtureSettings)


def first_phase(cell: MixtureSettings) -> float:
    """P of Lemma 2."""
    delta = getattr(cell, "delta", DELTA)
    return margins.first_phase_bound(cell.mixture().R, cell.n1, delta) if cell.n1 else 0.0


def printed_start(cell: MixtureSettings) -> GoodStart:
    """B_2, B_Phi and gamma of Proposition 2 as printed, where B_2 and B_Phi can be below 1."""
    P, sizes = first_phase(cell), cell.mixture()
    spread = (2 * log(cell.n / getattr(cell, "delta", DELTA))) ** 0.5
    return GoodStart(
        cell.T**0.5 * (cell.S + P),
        cell.T * sizes.R * (cell.S + P) * spread,
        margins.gamma_star(sizes, P) / 2,
    )


def good_start(cell: MixtureSettings) -> GoodStart:
    """The same as Definition 1 wants them: at least 1."""
    start = printed_start(cell)
    return GoodStart(max(1.0, start.B_2), max(1.0, start.B_Phi), start.gamma)


def bounded_data(cell: object) -> tuple[Hypothesis, ...]:
    """Assumption 1: R, which the bounds need to be at least 1."""
    if not _is_mixture(cell):
        return ()
    return (
        Hypothesis("R: longest token (where below 1, R = 1 is taken)", cell.mixture().longest, 1.0),
    )


def mixture(cell: object) -> tuple[Hypothesis, ...]:
    """Assumption 3: room for the patterns and for the noise along them; Proposition 3's level."""
    if not _is_mixture(cell):
        return ()
    sizes = cell.mixture()
    noise = max(sizes.Z_mu, sizes.Z_nu)
    return (
        Hypothesis("dimension d for M+2 orthogonal patterns", float(cell.d), float(cell.M + 2)),
        Hypothesis("Z for noise that attains Z_mu and Z_nu", sizes.Z, sizes.least_Z),
        Hypothesis("relevant places zeta T", cell.zeta * cell.T, float(sizes.relevant), "=="),
        Hypothesis("noise Z_mu, Z_nu for Proposition 3", noise, sizes.S**2 / 8, "<="),
    )


def good_initialisation(cell: object) -> tuple[Hypothesis, ...]:
    """Definition 1 by Proposition 2: its constants, and a positive margin."""
    if not _is_mixture(cell):
        return ()
    start = printed_start(cell)
    return (
        Hypothesis("P1: B_2 (where below 1, 1 is taken)", start.B_2, 1.0),
        Hypothesis("P2: B_Phi (where below 1, 1 is taken)", start.B_Phi, 1.0),
        Hypothesis("P3: gamma_*/2 through Proposition 2", start.gamma, 0.0),
    )


def _horizon(cell: object) -> float | None:
    """1/epsilon of the target: from epsilon, or from the number of steps."""
    if not _is_mixture(cell) or not hasattr(cell, "H"):
        return None
    epsilon, K = getattr(cell, "epsilon", None), getattr(cell, "K", 1)
    if epsilon is not None:
        return 1 / epsilon
    return float(K) if K > 1 else None


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
            notes="The print has no maximum with 1, which its bounds need (erratum 13, wording).",
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


# --- gates ------------------------------------------------------------------------------------

Hypotheses = Callable[[Records], tuple[Hypothesis, ...]]
NAMES = {"corrected": "section 6.1's constants", "sharp": "our sharp constants",
         "symmetric": "our constants for equal heads"}  # fmt: skip


def theorem_hypotheses(theorem: Theorem, proof: Proof | None = None) -> Hypotheses:
    """The theorem's conditions by `proof`, or by the constants that chose a run's step size.

    Of each study the run that is worst off is shown, and (3) as printed at constant one.
    """

    def of(records: Records) -> tuple[Hypothesis, ...]:
        rows: list[Hypothesis] = []
        have = [r for r in records if "target_D" in r.values]
        for study in dict.fromkeys(r.study for r in have):
            tables = [_table(r, theorem, proof) for r in have if r.study == study]
            worst = max(tables, key=_shortfall)
            short = study.removeprefix("deora2023.")
            rows += [replace(row, name=f"{row.name} [{short}]") for row in worst]
        return tuple(rows)

    return of


def _shortfall(table: tuple[Hypothesis, ...]) -> float:
    """By how much a table misses its conditions at most; unknown constants do not count."""
    return max(row.factor or 0.0 for row in table if row.constant == "given")


def _table(record: Record, theorem: Theorem, proof: Proof | None) -> tuple[Hypothesis, ...]:
    target = target_of(record)
    chosen = proof or record.cell.proof
    printed = conditions.printed_heads_needed(target)
    # A step that was set to the limit may be off by a rounding of the logarithms.
    known = tuple(
        replace(
            h,
            name=h.name.replace(f"{chosen} constants", NAMES[chosen]),
            threshold=h.threshold * (1 + 1e-12) if h.relation == "<=" else h.threshold,
        )
        for h in conditions.hypotheses(target, float(record["eta"]), chosen, theorem)
    )
    return (
        *known,
        Hypothesis("heads H (as printed)", float(target.H), float(printed), constant="unknown"),
    )


def worst_of(
    name: str,
    value: Callable[[Record], float],
    threshold: float,
    relation: Literal[">=", "<="] = "<=",
    study: str = "",
) -> Hypotheses:
    """One hypothesis: the worst value over the runs (of a study) against a threshold."""

    def of(records: Records) -> tuple[Hypothesis, ...]:
        own = [r for r in records if not study or r.study == f"deora2023.{study}"]
        if not own:
            return ()
        values = [float(value(r)) for r in own]
        worst = max(values) if relation == "<=" else min(values)
        return (Hypothesis(name, worst, threshold, relation),)

    return of


def both(*several: Hypotheses) -> Hypotheses:
    """All of several hypotheses."""
    return lambda records: tuple(row for some in several for row in some(records))
