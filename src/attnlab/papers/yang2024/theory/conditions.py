r"""The paper's hypotheses as numbers: Definition 2.1, Assumption 2.3, Condition 1, E.2, E.28, F.1.

A condition with an exact threshold is `given`. Where the paper hides a constant or logarithms
($O$, $\tilde O$, $\Omega$, $\Theta$, $o$), the threshold is shown at constant one, the constant is
`unknown`, and nothing is said to hold or fail: the value over the threshold is the constant that
one would have to grant.

Legend: sizes as in `sizes`. Types 1..4 are $I_1\dots I_4$, word indices 0, 1, 2 are
$\mu_1,\mu_2,\mu_3$. An upper bound $o(\cdot)$ is taken as $O(\cdot)$.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from attnlab.core import BadInput, ConstantKind, Hypothesis
from attnlab.papers.yang2024.theory.asymptote import SIGNALS_IN_TYPE, types_of
from attnlab.papers.yang2024.theory.sizes import StatedSizes

TYPE_PROPORTIONS = (1 / 2, 1 / 6, 1 / 6, 1 / 6)


# --- data and parameters ----------------------------------------------------------------------


def definition_2_1(
    sizes: StatedSizes, words: np.ndarray | None = None, labels: np.ndarray | None = None
) -> tuple[Hypothesis, ...]:
    """The data distribution: room for the signals and, for given samples, their make-up."""
    rows = [
        Hypothesis("L: places for both signals and the common token", sizes.L, 3),
        Hypothesis("d: words, of which one at least is random", sizes.d, 4),
    ]
    if words is not None:
        common, first, second = ((words == k).sum(axis=1) for k in (2, 0, 1))
        once = float((common == 1).mean())
        most = float(np.maximum(first, second).max())
        rows += [
            Hypothesis("share of samples with the common token exactly once", once, 1, "=="),
            Hypothesis("most places that one target signal takes in a sample", most, 1, "<="),
        ]
        if labels is not None:
            right = np.where(types_of(words) == 1, 1, -1) == np.asarray(labels)
            share = float(right.mean())
            rows.append(Hypothesis("share of samples labelled by their type", share, 1, "=="))
    return tuple(rows)


def assumption_2_3(sizes: StatedSizes, words: np.ndarray | None = None) -> tuple[Hypothesis, ...]:
    """The training set: exact proportions of types, and no random word twice.

    Without the samples: whether such a set exists for these sizes.
    """
    if words is None:
        proportions = (Hypothesis("n: remainder when divided by six", sizes.n % 6, 0, "=="),)
        required = random_words_required(sizes.n * np.array(TYPE_PROPORTIONS), sizes.L)
        repeated = ()
    else:
        counts = np.bincount(types_of(words), minlength=5)[1:]
        proportions = tuple(
            Hypothesis(f"proportion of samples of type {k + 1}", count / len(words), want, "==")
            for k, (count, want) in enumerate(zip(counts, TYPE_PROPORTIONS, strict=True))
        )
        required = random_words_required(counts, np.shape(words)[1])
        random = np.asarray(words)[np.asarray(words) >= 3]
        repeats = float(random.size - np.unique(random).size)
        repeated = (Hypothesis("random places with a word used before", repeats, 0, "<="),)
    available = Hypothesis(
        "random words: available, against places to fill", sizes.d - 3, round(required, 9)
    )
    return (*proportions, available, *repeated)


def random_words_required(counts: np.ndarray, L: float) -> float:
    """How many random words a set with distinct ones holds: n (L - 7/3) if it is balanced."""
    return float((np.asarray(counts) * (L - SIGNALS_IN_TYPE)).sum())


def condition_1(sizes: StatedSizes, delta: float | None = None) -> tuple[Hypothesis, ...]:
    """The parameter choices. Every one hides a constant or logarithms."""
    n, L, m, m1 = sizes.n, sizes.L, sizes.m, sizes.m1
    rows = (
        Hypothesis("m against max(m1, L^2)", m, max(m1, L**2), ">=", "unknown"),
        Hypothesis("m1 against 1", m1, 1, ">=", "unknown"),
        Hypothesis("s0 sqrt(L m)", sizes.s0 * math.sqrt(L * m), 1, "==", "unknown"),
        Hypothesis("s1 sqrt(m1)", sizes.s1 * math.sqrt(m1), 1, "==", "unknown"),
        Hypothesis("n against L^2", n, L**2, ">=", "unknown"),
        Hypothesis("L against 1", L, 1, ">=", "unknown"),
    )
    if delta is None:
        return rows
    failure = Hypothesis(
        "log(1/delta) against log m", -math.log(delta), math.log(m), "<=", "unknown"
    )
    return (*rows, failure)


# --- conditions that must hold over a stretch of time -----------------------------------------


@dataclass(frozen=True)
class TimedCondition:
    """One condition on a quantity over time, with its threshold at constant one."""

    name: str
    quantity: str
    formula: str
    """The threshold, as written in the legend's letters."""
    threshold: Callable[[StatedSizes], float]
    relation: Literal["<=", ">="] = "<="
    constant: ConstantKind = "unknown"


def _one(s: StatedSizes) -> float:
    return 1.0


def _score_rate(s: StatedSizes) -> float:
    return s.s0**2 * math.sqrt(s.m)


_KEYS_QUERIES = (
    TimedCondition("key_change", "largest |change of mu.W_K'W_K nu|", "s0^2 sqrt(m)", _score_rate),
    TimedCondition(
        "query_change", "largest |change of mu.W_Q'W_Q nu|", "s0^2 sqrt(m)", _score_rate
    ),
)

DEFINITION_E2 = (
    TimedCondition("time", "t", "1/(s1^2 m m1)", lambda s: 1 / s.neuron_rate),
    TimedCondition(
        "signal_change", "largest |change of w_j.W_V mu|, mu a signal", "1/m1", lambda s: 1 / s.m1
    ),
    TimedCondition(
        "random_change",
        "largest |change of w_j.W_V mu|, mu a random word",
        "(1/n + 1/sqrt(m))/m1",
        lambda s: (1 / s.n + 1 / math.sqrt(s.m)) / s.m1,
    ),
    TimedCondition(
        "score_change", "largest |change of mu.W_Q'W_K nu|", "m^(-3/2)", lambda s: s.m**-1.5
    ),
    *_KEYS_QUERIES,
)
"""Phase 1. The last two hide logarithms besides a constant."""

THEOREM_E28 = (
    TimedCondition(
        "neuron_gram_change", "largest |change of <w_j, w_k>|", "1/m", lambda s: 1 / s.m
    ),
    TimedCondition(
        "value_gram_change", "largest |change of <v(mu), v(nu)>|", "1/m", lambda s: 1 / s.m
    ),
    TimedCondition(
        "score_change",
        "largest |change of nu.W_K'W_Q mu|",
        "m^(-3/2) (1/L + 1/sqrt(m))",
        lambda s: s.m**-1.5 * (1 / s.L + 1 / math.sqrt(s.m)),
    ),
    TimedCondition("key_change", "largest |change of mu.W_K'W_K nu|", "1/m^2", lambda s: s.m**-2),
    TimedCondition("query_change", "largest |change of mu.W_Q'W_Q nu|", "1/m^2", lambda s: s.m**-2),
)
"""What phase 1 leaves unchanged, up to constants and logarithms."""

DEFINITION_F1 = (
    *_KEYS_QUERIES,
    TimedCondition("softmax_change", "largest |change of p|", "1/L^2", lambda s: 1 / s.L**2),
    TimedCondition("neuron_sum", "rho = |W'a|^2", "s1^2 m m1", lambda s: s.neuron_rate),
    TimedCondition(
        "value_gradient",
        "largest |sum_j a_j w_j'.W_V mu| / (rho x mean g)",
        "1/L",
        lambda s: 1 / s.L,
    ),
    TimedCondition("attention_gradient", "largest |sum G p'| / (rho x mean g)", "1", _one),
    TimedCondition(
        "type_4_below_2_and_3", "g(I4) / min(g(I2), g(I3))", "1", _one, constant="given"
    ),
    TimedCondition(
        "types_2_and_3_below_1", "max(g(I2), g(I3)) / g(I1)", "1", _one, constant="given"
    ),
    TimedCondition(
        "type_1_below_the_rest", "g(I1) / g(I2 and I3 and I4)", "1", _one, constant="given"
    ),
    TimedCondition(
        "types_2_and_3_alike", "max(g(I2)/g(I3), g(I3)/g(I2))", "2", lambda s: 2.0, constant="given"
    ),
    TimedCondition("smallest_margin", "smallest y F", "1", _one, ">="),
    TimedCondition("signal_size", "largest |G(mu)|, mu a signal", "log m", lambda s: math.log(s.m)),
    TimedCondition("random_word_sum", "largest |random words' part of F|", "1", _one),
    TimedCondition("time_exponent", "log t / log m", "1", _one),
)
"""Phase 2; g(I) is the sum of g over the samples of type I. Four conditions are exact."""


@dataclass(frozen=True)
class Course:
    """One condition along a run."""

    condition: TimedCondition
    threshold: float
    """At constant one."""
    ratio: np.ndarray
    """The value over the threshold, at every time."""
    implied_constant: float
    """The constant with which the condition holds throughout: the worst ratio."""
    first_violation: float | None
    """When it first fails at constant one; None if it never does."""

    def hypothesis(self) -> Hypothesis:
        """The worst value as a row of the table of hypotheses."""
        return Hypothesis(
            f"{self.condition.name}: {self.condition.quantity}, against {self.condition.formula}",
            self.implied_constant * self.threshold,
            self.threshold,
            self.condition.relation,
            self.condition.constant,
        )


def courses(
    conditions: tuple[TimedCondition, ...],
    sizes: StatedSizes,
    times: np.ndarray,
    values: Mapping[str, np.ndarray],
) -> tuple[Course, ...]:
    """Follow the conditions that were measured: `values` by name, each (k,) at the `times`."""
    known = {condition.name: condition for condition in conditions}
    unknown = sorted(set(values) - set(known))
    if unknown:
        raise BadInput(
            f"got values for {', '.join(unknown)}; the conditions are {', '.join(known)}"
        )
    return tuple(
        _course(condition, sizes, np.asarray(times, float), np.asarray(values[name], float))
        for name, condition in known.items()
        if name in values
    )


def _course(
    condition: TimedCondition, sizes: StatedSizes, times: np.ndarray, values: np.ndarray
) -> Course:
    if values.shape != times.shape or not len(times):
        raise BadInput(
            f"got {condition.name} of shape {values.shape} at {times.shape} times; give one value "
            "for every time, and a time at least"
        )
    threshold = condition.threshold(sizes)
    ratio = values / threshold
    upper = condition.relation == "<="
    # A nan meets no condition, so it is looked for with the relation negated.
    failed = np.flatnonzero(~(ratio <= 1) if upper else ~(ratio >= 1))
    return Course(
        condition,
        threshold,
        ratio,
        float(ratio.max() if upper else ratio.min()),
        float(times[failed[0]]) if failed.size else None,
    )
