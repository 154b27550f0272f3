r"""Assumptions, conditions and definitions of li2023 as numbers of a cell; the paper's settings.

Nothing is drawn. The tokens' noise is Gaussian: what depends on it is given by its root mean square
or its .99 quantile.
"""

import math
from dataclasses import replace

import numpy as np

from attnlab.claims import Assumption, Hypothesis, HypothesisTable, Source
from attnlab.papers.li2023.settings import TrainingSettings
from attnlab.papers.li2023.theory import conditions
from attnlab.papers.li2023.theory.conditions import first_maps, sizes_of

Rows = tuple[Hypothesis, ...]
ERRORS = {"W_V": "sigma", "W_K": "delta", "W_Q": "delta"}
QUANTILE = 2.326
"""The .99 quantile of a standard normal number."""


def assumption_1(cell: TrainingSettings) -> Rows:
    """Errors and norms of the first maps."""
    maps = first_maps(cell)
    return (
        *(
            Hypothesis(
                f"error of {W} at a pattern <= {letter}", maps[W].error, getattr(cell, letter), "<="
            )
            for W, letter in ERRORS.items()
        ),
        *(Hypothesis(f"norm of {W} <= 1", maps[W].norm, 1.0, "<=") for W in ERRORS),
        Hypothesis("delta < 1/2", cell.delta, 0.5, "<="),
        Hypothesis("sigma = O(1/M)", cell.sigma, 1 / cell.M, "<=", "unknown"),
    )


def assumption_2(cell: TrainingSettings) -> Rows:
    r"""Errors at tokens: $\sqrt{\epsilon^2 + c_0^2\|W\|_F^2}$.

    - $\|W\|_F^2$: M times the squared length of a pattern's image (d times if printed).
    """
    tau = conditions.token_noise(cell)
    rank = cell.d if cell.initial == "printed" else cell.M
    return tuple(
        Hypothesis(
            f"error of {W} at a token <= {ERRORS[W]} + tau, root mean square",
            math.sqrt(first.error**2 + rank * (cell.c0 * first.length) ** 2),
            getattr(cell, ERRORS[W]) + tau,
            "<=",
        )
        for W, first in first_maps(cell).items()
    )


def assumption_3(cell: TrainingSettings) -> Rows:
    r"""Products of two tokens are $1$ or $0$ plus noise of deviation $c_0\sqrt{2 + c_0^2 d}$.

    Scaled up so that the .01 quantile within a pattern is 1, the .99 quantile between patterns is
    lambda.
    """
    spread = QUANTILE * cell.c0 * math.sqrt(2 + cell.c0**2 * cell.d)
    least = 1 - spread
    ratio = spread / least if least > 0 else math.inf
    return (
        Hypothesis("product of tokens of one pattern > 0, .01 quantile", least, 0.0),
        Hypothesis("lambda < 1, .99 quantile after scaling", ratio, 1.0, "<="),
    )


def condition_5(cell: TrainingSettings) -> Rows:
    """The data model: noise of a token, and room for the patterns' features."""
    tau = conditions.token_noise(cell)
    return (
        Hypothesis("(5) tau <= kappa/4, .99 quantile", conditions.noise_quantile(cell),
                   conditions.KAPPA / 4, "<="),
        Hypothesis("tau <= min(sigma, delta)", tau, min(cell.sigma, cell.delta), "<="),
        conditions.room_for_patterns([cell]),
    )  # fmt: skip


def condition_8(cell: TrainingSettings) -> Rows:
    """(8) in its weakest form."""
    needed = conditions.least_relevant_fraction(sizes_of(cell))
    return (Hypothesis("(8) alpha_*, eps_S = 1/2", cell.alpha_star, needed),)


def condition_9(cell: TrainingSettings) -> Rows:
    """(9) and (10) at constant one."""
    s = sizes_of(cell)
    return (
        Hypothesis("(9) batch size", cell.B, conditions.least_batch(s), ">=", "unknown"),
        Hypothesis("(10) samples", cell.N, conditions.least_samples(s), ">=", "unknown"),
    )


def width_condition(cell: TrainingSettings) -> Rows:
    """The width, and whether it leaves Lemma 3 something to promise."""
    s = sizes_of(cell)
    spent = 1 - conditions.lucky_share(s)
    least = cell.M**2 * math.log(max(cell.N, 2))
    return (
        Hypothesis("m >= M^2 log N (eps = 1)", cell.m, least, ">=", "unknown"),
        Hypothesis("eps_m + (sigma + tau) M/pi < 1, least eps_m", spent, 1.0, "<="),
    )


def definition_1(cell: TrainingSettings) -> Rows:
    """p_n at the start, where the features of keys and queries have length 1."""
    error = cell.delta + conditions.token_noise(cell)
    _, _, p = conditions.stated_attention(np.ones(1), cell.alpha_star * cell.L, cell.L, error)
    return (Hypothesis("p_n(0) >= alpha_*", float(p[0]), cell.alpha_star),)


ATTENTION = TrainingSettings(L=100, N=200, alpha_star=0.5, alpha_sharp=0.05)
"""Figure 4's. Of |S| = 50, as printed, alpha_# = .05 would be 2.5 tokens."""
PRINTED = {
    **{
        f"figure 1a, alpha_* = {a:g}": TrainingSettings(alpha_star=a, confusion="paper_slice")
        for a in (0.3, 0.36, 0.38, 0.48)
    },
    "figure 1b": TrainingSettings(L=50, alpha_star=0.3, alpha_sharp=0.2),
    "figure 4": ATTENTION,
    "figure 4, first model as printed": replace(ATTENTION, initial="printed"),
    **{
        f"figure 7{letter}": replace(ATTENTION, M=M, d=20, m_a=20, m_b=20)
        for letter, M in (("a", 10), ("b", 15), ("c", 20))
    },
}

HYPOTHESES = HypothesisTable(
    assumptions=(
        Assumption(
            "li2023.assumption_1",
            "The first model is close to orthonormal features",
            "The first values of the patterns are within sigma, keys and queries within delta, of "
            "orthonormal vectors with q_1 = r_1 and q_2 = r_2; all maps have norm at most 1.",
            Source("3.3", "Assumption 1"),
            assumption_1,
            "Our first model meets it entirely. The readings of sigma as a scale (away from sigma "
            "= .1) and as free errors break the norms; the printed first model breaks both.",
        ),
        Assumption(
            "li2023.assumption_2",
            "Tokens are mapped near their features",
            "The first value of a token of pattern j is within sigma + tau of p_j; its key and "
            "query are within delta + tau of q_j and r_j.",
            Source("C", "Assumption 2"),
            assumption_2,
            "tau is c0 sqrt(d); with the largest noise drawn it holds for every token of our runs, "
            "with the root mean square not.",
        ),
        Assumption(
            "li2023.assumption_3",
            "Tokens of one pattern have products of at least 1, others at most lambda",
            "After scaling all tokens up a little, tokens of the same pattern have an inner "
            "product of at least 1, others of at most lambda < 1, 1 - lambda constant.",
            Source("C", "Assumption 3"),
            assumption_3,
        ),
        Assumption(
            "li2023.condition_5",
            "The data model's noise, and room for the patterns",
            "Every token is within tau < kappa/4 of a pattern, tau <= min(sigma, delta), and there "
            "are fewer patterns than dimensions of values and keys.",
            Source("3.2", "(5)"),
            condition_5,
            "Gaussian noise has no largest norm: its .99 quantile stands for it.",
        ),
        Assumption(
            "li2023.condition_8",
            "Enough label-relevant tokens",
            "alpha_* >= alpha_#/(eps_S exp(-(delta + tau))(1 - (sigma + tau))) for some eps_S "
            "below 1/2.",
            Source("3.3", "(8)"),
            condition_8,
            "At sigma = .1, delta = .2 it asks for alpha_#/alpha_* <= .368; with token noise .344: "
            "figure 1b breaks it, and figure 1a's slice meets it from alpha_* = .372 on.",
        ),
        Assumption(
            "li2023.condition_9",
            "Large batches, many samples",
            "B >= C (alpha_* - exp(-(delta + tau))(tau + sigma))^-2 and N of the order of (10).",
            Source("3.3", "(9), (10)"),
            condition_9,
            "What batches do is measured in finding_batch_size.",
        ),
        Assumption(
            "li2023.width_condition",
            "A width that leaves lucky neurons",
            "m >= eps^-2 M^2 log N; Lemma 3 promises neurons if eps_m + (sigma + tau) M/pi < 1.",
            Source("3.3", "Theorem 1; Lemma 3"),
            width_condition,
        ),
        Assumption(
            "li2023.definition_1",
            "Bounds on attention weights as functions of |q_1(t)|",
            "phi_n, nu_n and p_n: what a softmax over the relevant tokens and the rest gives if "
            "relevant scores are |q_1|^2 -+ (delta + tau)|q_1| and the others 0.",
            Source("C", "Definition 1"),
            definition_1,
            "How training keeps to them is finding_stated_attention.",
        ),
    ),
    printed=PRINTED,
)


def _of_trainings(assumption: Assumption) -> Assumption:
    """The assumption where it says something: a study on another paper's data has no row."""
    rows = assumption.rows
    return replace(
        assumption, rows=lambda cell: rows(cell) if isinstance(cell, TrainingSettings) else ()
    )


HYPOTHESES = replace(HYPOTHESES, assumptions=tuple(map(_of_trainings, HYPOTHESES.assumptions)))
