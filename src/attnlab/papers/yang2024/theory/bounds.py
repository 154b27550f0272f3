r"""Every bound and condition of the paper, and our limits, for given sizes.

Theorem 3.3's attention coefficients, at constants one:

$$|C_{12}|,|C_{21}|,|C_{31}|,|C_{32}| = \frac{s_0^2}{s_1^2 m m_1}\Big(\frac{\sqrt m}{L}+1\Big),
  \qquad |C_{i_1 i_2}| \le \frac{s_0^2}{s_1^2 m m_1}\Big(\frac{\sqrt m}{nL}+1\Big)
  \text{ with a random word.}$$

What is guaranteed is their quotient, of the order of $\min(n,\sqrt m/L)$: the second term of
either is the same, so more samples than $\sqrt m/L$ do not help the guarantee.

Legend: as in `sizes`. Rows marked `given` follow from the sizes alone (exactly, or exactly
as m -> infinity where the row says `limit`); `unknown` ones carry a constant of the paper.
"""

import math

from attnlab.core import Bound, Hypothesis
from attnlab.papers.yang2024.theory import asymptote, phase_1
from attnlab.papers.yang2024.theory.conditions import (
    DEFINITION_E2,
    DEFINITION_F1,
    THEOREM_E28,
    TimedCondition,
    assumption_2_3,
    condition_1,
    definition_2_1,
)
from attnlab.papers.yang2024.theory.sizes import StatedSizes


def bounds(n: float, L: float, d: int, m: float, m1: float, c0: float = 1.0) -> tuple[Bound, ...]:
    """All rows for n samples of L words out of d, width m, m1 neurons and s0 = c0/sqrt(L m)."""
    sizes = StatedSizes.of_theory(n, L, d, m, m1, c0)
    return (
        *_hypotheses("definition_2_1", definition_2_1(sizes)),
        *_hypotheses("assumption_2_3", assumption_2_3(sizes)),
        *_hypotheses("condition_1", condition_1(sizes)),
        Bound("s0", sizes.s0, "deviation of W_V, W_K, W_Q at the start: c0/sqrt(L m)"),
        Bound("s1", sizes.s1, "deviation of W at the start: 1/sqrt(m1)"),
        Bound("rate", sizes.rate, "(s1^2 + s0^2) m m1: the limit's clock is rate x t"),
        *_phase_1(sizes),
        *_late_times(sizes),
        *_sample_sizes(sizes),
        *coefficient_sizes(sizes),
        *_thresholds("definition_e2", DEFINITION_E2, sizes),
        *_thresholds("theorem_e28", THEOREM_E28, sizes),
        *_thresholds("definition_f1", DEFINITION_F1, sizes),
    )


def coefficient_sizes(sizes: StatedSizes) -> tuple[Bound, ...]:
    """Theorem 3.3: sizes of the attention coefficients and the guaranteed quotient."""
    n, L, m = sizes.n, sizes.L, sizes.m
    unit = sizes.s0**2 / sizes.neuron_rate
    signal, random = unit * (math.sqrt(m) / L + 1), unit * (math.sqrt(m) / (n * L) + 1)
    return (
        Bound("theorem_3_3.signal", signal, "size of C12, C21, -C31, -C32", "unknown"),
        Bound("theorem_3_3.random", random, "bound on C with a random word", "unknown"),
        Bound("theorem_3_3.quotient", signal / random, "the two sizes' quotient", "unknown"),
        Bound(
            "theorem_3_3.guaranteed_ratio",
            min(n, math.sqrt(m) / L),
            "its order: min(n, sqrt(m)/L), not n",
            "unknown",
        ),
    )


def _phase_1(sizes: StatedSizes) -> tuple[Bound, ...]:
    tau = phase_1.phase_1_end(sizes.n, sizes.L)
    constant = phase_1.implied_constant(sizes.n, sizes.L, sizes.s0, sizes.s1)
    return (
        Bound("phase_one.T1", tau / sizes.rate, "time at which every type is right (limit)"),
        Bound("phase_one.C_T1", constant, "T1 s1^2 m m1, the paper's hidden constant (limit)"),
        Bound("phase_one.order", 1 / sizes.neuron_rate, "T1 at C_T1 = 1", "unknown"),
    )


def _late_times(sizes: StatedSizes) -> tuple[Bound, ...]:
    limit = asymptote.balanced_limit(sizes.n, sizes.L)
    return (
        Bound("theorem_f8.rate", sizes.neuron_rate, "slope of 1/loss over t", "unknown"),
        Bound("limit.slope", sizes.rate / limit.loss_constant, "slope of 1/loss over t (limit)"),
        Bound("limit.loss_constant", limit.loss_constant, "loss x rate x t (limit)"),
        Bound("limit.R", limit.R, "-G'(mu_3)/max(G'(mu_1), G'(mu_2)) (limit); paper: 1 < R < 2"),
        Bound(
            "limit.random_word_sum",
            float(abs(limit.random_sums).max()),
            "what random words add to F, over log(rate t) (limit); paper: O(1) in all",
        ),
        Bound(
            "limit.test_exponent",
            float(limit.unseen_margins.min()),
            "loss on unseen random words falls like t to minus this (limit); negative: it grows",
        ),
        Bound(
            "limit.worst_test_exponent",
            float(asymptote.worst_seen_margins(sizes.n, sizes.L).min()),
            "the same with the worst random words of training (limit)",
        ),
    )


def _sample_sizes(sizes: StatedSizes) -> tuple[Bound, ...]:
    def row(name: str, needed: float, meaning: str) -> Bound:
        return Bound(f"samples.{name}", sizes.n, meaning, "given", needed, sizes.n > needed)

    L = sizes.L
    return (
        row("unseen_words", asymptote.samples_for_unseen_words(L), "n above 3(L+1) (limit)"),
        row("seen_words", asymptote.samples_for_seen_words(L), "n above about 20.6 L (limit)"),
        row("type_4_free", asymptote.samples_to_free_type_4(L), "n above about 13.4 L (limit)"),
    )


def _hypotheses(source: str, rows: tuple[Hypothesis, ...]) -> tuple[Bound, ...]:
    return tuple(
        Bound(source, h.value, f"{h.name} ({h.relation})", h.constant, h.threshold, h.met)
        for h in rows
    )


def _thresholds(
    source: str, conditions: tuple[TimedCondition, ...], sizes: StatedSizes
) -> tuple[Bound, ...]:
    return tuple(
        Bound(
            f"{source}.{c.name}",
            c.threshold(sizes),
            f"{c.quantity} {c.relation} {c.formula}",
            c.constant,
        )
        for c in conditions
    )
