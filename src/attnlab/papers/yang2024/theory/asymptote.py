r"""Late times as m -> infinity: attention stays uniform, the rest is logistic regression.

With uniform attention a sample's output is the sum of G over its words, and gradient flow is that
of logistic regression on bags of words at the rate $(\sigma_1^2+\sigma_0^2)\,m\,m_1$. At late
times it follows the maximum margin:

$$G_t(\mu) \approx w_\mu \log t, \qquad
  g_i \approx \frac{n\,\alpha_i}{\text{rate}\cdot t}, \qquad
  \hat L(t)\; t \to \frac{A_1+A_2+A_3+A_4}{\text{rate}}, \qquad
  R=\frac{-\dot G(\mu_3)}{\max(\dot G(\mu_1),\dot G(\mu_2))} \to \frac{-w_3}{\max(w_1,w_2)},$$

where w is the shortest vector with $y_i\langle w, \text{bag}_i\rangle\ge1$, alpha its dual and
$A_k$ the sum of alpha over the samples of type k. For the balanced set with distinct random
words, $A_2=A_3$, and with $a=2(L-3)/n,\; b=6(L-2)/n,\; c=6(L-1)/n$,

$$(3+a)A_1-4A_2-A_4=1, \quad -2A_1+(3+b)A_2+A_4=1, \quad -A_1+2A_2+(1+c)A_4=1,$$

$w_1=w_2=A_1-A_2$ and $w_3=A_1-2A_2-A_4$. The third equation holds only where it gives
$A_4\ge0$, that is $a+4b+ab\ge2$; else $A_4=0$ and type 4 has room to spare ($-w_3\ge1$).

A new sample whose random words were never seen has only the signals' G. Its margin over log t is
$1-aA_1$, $1-bA_2$ and $1-cA_4$ by type, and the smallest is positive exactly for $n>3(L+1)$.

Legend: n samples of L words, types 1..4 the paper's $I_1\dots I_4$, $G(\mu)=\sum_j a_j w_j^\top
W_V\mu$, $g_i$ the logistic derivative of sample i. `rate` is $(\sigma_1^2+\sigma_0^2)m m_1$: the
paper's $\sigma_1^2 m m_1$ with the part that $W_V$ adds. The paper has these sizes up to
constants and under $n\ge\tilde\Omega(L^2)$; here n and L are real numbers and constants are exact.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from attnlab.core import BadInput
from attnlab.numerics.max_margin import MaxMargin, max_margin_of_gram

SIGNALS_IN_TYPE = np.array([3, 2, 2, 1])
"""How many of mu_1, mu_2, mu_3 a sample of type 1..4 holds."""
_LABELS = np.array([1, -1, -1, -1])
_TYPE_SIGNALS = np.array([[1, 1, 1], [1, 0, 1], [0, 1, 1], [0, 0, 1]])


@dataclass(frozen=True)
class LateTime:
    """The constants of late times, in units in which the rate is one."""

    totals: np.ndarray
    """A_1..A_4: the dual coefficients summed over the samples of each type."""
    signals: np.ndarray
    """w_1, w_2, w_3: G of the three signals over log t."""
    random_sums: np.ndarray
    """The sum of G over a sample's random words over log t, mean by type (4,)."""
    solution: MaxMargin | None = None
    """What they rest on for given data; None for the closed form."""

    @property
    def loss_constant(self) -> float:
        """The limit of loss x rate x t: A_1+A_2+A_3+A_4 = |w|^2."""
        return float(self.totals.sum())

    @property
    def R(self) -> float:
        """The limit of -G'(mu_3) / max(G'(mu_1), G'(mu_2)); the paper has 1 < R < 2."""
        return float(-self.signals[2] / max(self.signals[0], self.signals[1]))

    @property
    def unseen_margins(self) -> np.ndarray:
        """The margin over log t of a new sample of type 1..4 with random words never seen."""
        return _LABELS * (_TYPE_SIGNALS @ self.signals)

    @property
    def type_4_supports(self) -> bool:
        """Whether samples with neither signal are among the support vectors."""
        return bool(self.totals[3] > 0)


# --- the balanced set with distinct random words ----------------------------------------------


def balanced_limit(n: float, L: float) -> LateTime:
    """The closed form for proportions 1/2, 1/6, 1/6, 1/6 and distinct random words.

    n may be infinite: A = (7, 5, 5, 0), w = (2, 2, -3), loss constant 17, R = 3/2.
    """
    _require_sizes(n, L)
    a, b, c = 2 * (L - 3) / n, 6 * (L - 2) / n, 6 * (L - 1) / n
    if a + 4 * b + a * b >= 2:
        equations = [[3 + a, -4, -1], [-2, 3 + b, 1], [-1, 2, 1 + c]]
        A1, A2, A4 = np.linalg.solve(np.array(equations), np.ones(3))
        A4 = max(A4, 0.0)  # at the switch itself rounding may leave it just below
    else:
        determinant = (3 + a) * (3 + b) - 8
        A1, A2, A4 = (7 + b) / determinant, (5 + a) / determinant, 0.0
    return LateTime(
        totals=np.array([A1, A2, A2, A4]),
        signals=np.array([A1 - A2, A1 - A2, A1 - 2 * A2 - A4]),
        random_sums=np.array([a * A1, -b * A2, -b * A2, -c * A4]),
    )


def worst_seen_margins(n: float, L: float) -> np.ndarray:
    """The margin over log t of a new sample whose random words are the worst ones of training.

    Negative samples take words of type 1, whose G grows, and positive ones words of the type
    whose G falls fastest. Nothing in the data forbids it: both draw from one vocabulary.
    """
    limit = balanced_limit(n, L)
    places = L - SIGNALS_IN_TYPE
    per_word = np.divide(limit.random_sums, places, out=np.zeros(4), where=places > 0)
    harm = np.where(_LABELS > 0, -per_word.min(), per_word.max())
    return limit.unseen_margins - places * harm


def samples_for_unseen_words(L: float) -> float:
    """The n above which new samples with unseen random words come out right: 3 (L+1).

    Type 2 decides: 1 - b A_2 > 0 reduces to n (8L-12) > 12 (2L-3)(L+1). Linear in L, where
    Condition 1 asks for n >= L^2 up to logarithms. It is also where R passes 1.
    """
    _require_sizes(1, L)
    return 3 * (L + 1)


def samples_for_seen_words(L: float) -> float:
    """The n above which even the worst seen random words leave every type right; about 20.6 L.

    Type 2 decides, with A_4 = 0: n^2 - (20L-34) n - 12 (L-2)^2 > 0. At L = 3 samples with both
    signals have no random word, so none does harm: the same as for unseen words.
    """
    if L <= 3:
        return samples_for_unseen_words(L)
    middle = 10 * L - 17
    return middle + math.sqrt(middle**2 + 12 * (L - 2) ** 2)


def samples_to_free_type_4(L: float) -> float:
    """The n above which type 4 supports no longer: n^2 - (13L-27) n - 6 (L-2)(L-3) > 0.

    It grows like (13 + sqrt(193)) L / 2, about 13.4 L.
    """
    _require_sizes(1, L)
    p = 13 * L - 27
    return (p + math.sqrt(p**2 + 24 * (L - 2) * (L - 3))) / 2


def balancing_root(slopes: np.ndarray) -> float:
    r"""The ratio R to which lemma F.6 lets the gradients contract.

    $$aR^2+bR+c=0,\quad a=s_1+s_2,\quad b=s_3+s_4-s_1,\quad c=-(s_2+s_3+2s_1)$$

    Legend: `slopes` are $s_k=\sum_{i\in I_k}|g'(F_i)|$ (4,). So $c/a=-2$ for equal $s_2, s_3$;
    the print has +2 there, for which no root is real. Random words are left out, as in the lemma.
    """
    s1, s2, s3, s4 = np.asarray(slopes, float)
    a, b, c = s1 + s2, s3 + s4 - s1, -(s2 + s3 + 2 * s1)
    return float((-b + math.sqrt(b * b - 4 * a * c)) / (2 * a))


def root_with_random_words(slopes: np.ndarray, own: np.ndarray) -> float:
    r"""Where R' = 0 if each sample also learns its own random words.

    $$aR^2+bR+c=0,\quad a=s_1+s_2,\quad b=s_3+s_4-(1+e_1)s_1+e_2s_2,$$
    $$c=-\big((2+e_1)s_1+(1-e_2)s_2+(1-e_3)s_3-e_4s_4\big)$$

    Legend: `slopes` are $s_k$ and `own` $e_k$, both (4,); $e=0$ gives `balancing_root`.
    """
    (s1, s2, s3, s4), (e1, e2, e3, e4) = slopes, own
    a, b = s1 + s2, s3 + s4 - (1 + e1) * s1 + e2 * s2
    c = -((2 + e1) * s1 + (1 - e2) * s2 + (1 - e3) * s3 - e4 * s4)
    square = b * b - 4 * a * c
    return (-b + math.sqrt(square)) / (2 * a) if square >= 0 else math.nan


# --- any data ---------------------------------------------------------------------------------


def general_limit(words: np.ndarray, labels: np.ndarray) -> LateTime:
    """The constants for given word indices (n, L) and labels (n,), by the maximum margin.

    Words 0, 1, 2 are mu_1, mu_2, mu_3 and types are read off from them. Repeated words count as
    often as they occur. If bags of words are not separable there is no such limit: the constants
    are nan and `solution.message` says so.
    """
    words, labels = np.asarray(words), np.asarray(labels)
    if words.ndim != 2 or words.shape[1] < 1 or not np.issubdtype(words.dtype, np.integer):
        raise BadInput(
            f"got words of shape {words.shape} and type {words.dtype}; give word indices "
            "(samples, places)"
        )
    bags = bags_of_words(words)
    # Inner products of bags are whole numbers, hence exact, and n is less than the vocabulary.
    solution = max_margin_of_gram((bags @ bags.T).toarray(), labels)
    signed_dual = labels * solution.dual if solution.separable else np.full(len(words), np.nan)
    w = bags.T @ signed_dual
    types = types_of(words)
    random_sum = np.where(words >= 3, w[words], 0.0).sum(axis=1)
    by_type = [types == k for k in range(1, 5)]
    return LateTime(
        totals=np.array([(labels * signed_dual)[rows].sum() for rows in by_type]),
        signals=w[:3],
        random_sums=np.array([random_sum[r].mean() if r.any() else 0.0 for r in by_type]),
        solution=solution,
    )


def bags_of_words(words: np.ndarray) -> csr_array:
    """How often each word occurs in each sample (n, words), sparse."""
    n, L = words.shape
    d = max(int(words.max()) + 1, 3)
    entries = (np.ones(n * L), (np.repeat(np.arange(n), L), words.reshape(-1)))
    return csr_array(entries, shape=(n, d))


def types_of(words: np.ndarray) -> np.ndarray:
    """The type 1..4 of each sample, from the signals that it holds."""
    first, second = ((np.asarray(words) == k).any(axis=1) for k in (0, 1))
    return np.select([first & second, first, second], [1, 2, 3], 4)


def _require_sizes(n: float, L: float) -> None:
    if not (n > 0 and L >= 3):
        raise BadInput(
            f"got n={n} and L={L}; there must be samples, of three places or more: give n > 0 "
            "and L >= 3"
        )
