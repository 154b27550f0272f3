r"""The conditions of Theorem 1 and its lemmas as numbers (Li et al. 2023).

Legend: alpha_star, alpha_sharp fractions of relevant and confusion tokens; sigma, delta errors of
the first values, keys and queries; tau the noise of a token, a norm; M patterns, m neurons, N
samples, B batch size; S_1 the tokens of the relevant pattern among S.

Gaussian noise has no largest norm: tau is c_0 sqrt(d), its root mean square, and the .99 quantile
is given beside it where (5) is checked.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from attnlab.core import ConstantKind, Hypothesis
from attnlab.papers.li2023.settings import TrainingSettings

LARGEST_EPS_S = 0.5
"""(8) asks for some eps_S in (0, 1/2): its weakest form is the limit 1/2."""
KAPPA = math.sqrt(2)
"""The distance of two orthonormal patterns."""

UNIT_SIGMA = 0.1
"""The sigma at which values that it scales have unit norm: figure 1(a)'s."""

_Number = Callable[[TrainingSettings], float]


@dataclass(frozen=True)
class TheoremSizes:
    """What the conditions are functions of."""

    alpha_star: float
    alpha_sharp: float
    sigma: float
    delta: float
    tau: float
    M: int
    m: int
    N: int
    B: int

    @property
    def error(self) -> float:
        """sigma + tau."""
        return self.sigma + self.tau


def sizes_of(cell) -> TheoremSizes:
    """The sizes of a cell of the studies."""
    return TheoremSizes(
        cell.alpha_star,
        cell.sharp,
        cell.sigma,
        cell.delta,
        token_noise(cell),
        cell.M,
        cell.m,
        cell.N,
        cell.B,
    )


def token_noise(cell) -> float:
    """tau: the root mean square of a token's noise."""
    return cell.c0 * math.sqrt(cell.d)


def noise_quantile(cell, probability: float = 0.99) -> float:
    """The quantile of the norm of a token's noise."""
    from scipy.stats import chi2

    return cell.c0 * math.sqrt(float(chi2.ppf(probability, cell.d)))


@dataclass(frozen=True)
class FirstMap:
    """One of the first maps W_V, W_K, W_Q against its orthonormal features."""

    error: float
    """The largest distance of a pattern's image from its feature."""
    norm: float
    """The operator norm; of independent errors the root mean square length, which is below it."""
    length: float
    """The root mean square length of a pattern's image."""


def first_maps(cell: TrainingSettings) -> dict[str, FirstMap]:
    r"""The first maps of a cell by what sigma is (`models.shallow_vit_initialisation`).

    An error is a rotation: it changes no length. The worst one draws two features together and
    shortens the queries. Independent errors give lengths of $\sqrt{1+\epsilon^2}$. As a scale
    sigma is no error but the size of the values, and so are both in the printed maps.
    """
    errors = {"W_V": cell.sigma, "W_K": cell.delta, "W_Q": cell.delta}
    if cell.initial == "printed":
        return {name: _scaled((error / cell.c0) ** 2) for name, error in errors.items()}
    if cell.sigma_as == "free":
        lengths = {name: math.sqrt(1 + error**2) for name, error in errors.items()}
        return {name: FirstMap(errors[name], x, x) for name, x in lengths.items()}
    if cell.sigma_as == "worst":
        found = {
            name: FirstMap(error, 1.0, math.sqrt(1 - 2 * error * (math.sqrt(2) - error) / cell.M))
            for name, error in errors.items()
        }
        return found | {"W_Q": FirstMap(cell.delta, 1 - cell.delta, 1 - cell.delta)}
    found = {name: FirstMap(error, 1.0, 1.0) for name, error in errors.items()}
    scale = _scaled((cell.sigma / UNIT_SIGMA) ** 2)
    return found | ({"W_V": scale} if cell.sigma_as == "scale" else {})


def _scaled(size: float) -> FirstMap:
    """A multiple of an isometry."""
    return FirstMap(abs(size - 1), size, size)


def least_relevant_fraction(s: TheoremSizes, eps_S: float = LARGEST_EPS_S) -> float:
    r"""(8): $\alpha_\# / (\epsilon_S e^{-(\delta+\tau)}(1-(\sigma+\tau)))$, at most alpha_star."""
    if s.error >= 1:
        return math.inf
    return s.alpha_sharp / (eps_S * math.exp(-(s.delta + s.tau)) * (1 - s.error))


def least_batch(s: TheoremSizes) -> float:
    r"""(9) at constant one: $(\alpha_* - e^{-(\delta+\tau)}(\tau+\sigma))^{-2}$."""
    return _inverse_square(s.alpha_star - math.exp(-(s.delta + s.tau)) * s.error)


def least_samples(s: TheoremSizes, c2: float = 1.0) -> float:
    r"""(10) at constants one and zeta = 1: $(\alpha_* - c''(\sigma+\tau))^{-2}$."""
    return _inverse_square(s.alpha_star - c2 * s.error)


def least_samples_without_attention(s: TheoremSizes) -> float:
    r"""(13) at constant one: $(\alpha_*(\alpha_*-\sigma-\tau))^{-2}$."""
    return _inverse_square(s.alpha_star * max(s.alpha_star - s.error, 0.0))


def iterations(s: TheoremSizes, eta: float) -> float:
    r"""(11) at constant one: $1/((1-\epsilon-(\sigma+\tau)M/\pi)\,\eta\,\alpha_*)$.

    - $\epsilon$: the smallest that the width allows, `least_epsilon`.
    """
    share = lucky_share(s)
    return math.inf if share <= 0 else 1 / (share * eta * s.alpha_star)


def least_epsilon(s: TheoremSizes) -> float:
    r"""The epsilon that the width condition $m \ge \epsilon^{-2} M^2 \log N$ forces at least."""
    return s.M * math.sqrt(math.log(s.N) / s.m)


def lucky_share(s: TheoremSizes) -> float:
    r"""Lemma 3's bracket $1-\epsilon_m-(\sigma+\tau)M/\pi$ at the least epsilon."""
    return 1 - least_epsilon(s) - s.error * s.M / math.pi


def lucky_bound(s: TheoremSizes) -> float:
    """Lemma 3: the least number of lucky neurons of a class, (m/M) times the bracket."""
    return s.m / s.M * lucky_share(s)


def stated_attention(
    norm: np.ndarray, relevant: float, L: float, error: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Definition 1: $\phi_n, \nu_n, p_n$ as functions of $\|q_1(t)\|$.

    $$\nu = \frac{1}{|S_1|e^{q^2-(\delta+\tau)q}+|S|-|S_1|}, \quad
      p = |S_1|e^{q^2-(\delta+\tau)q}\nu$$

    and $\phi$ with + in place of -. `relevant`: |S_1|, `L`: |S|, `error`: delta + tau.
    """
    low = relevant * np.exp(norm**2 - error * norm)
    high = relevant * np.exp(norm**2 + error * norm)
    nu = 1 / (low + L - relevant)
    return 1 / (high + L - relevant), nu, low * nu


def hypotheses(cells: Iterable[TrainingSettings], *, with_8: bool = True) -> tuple[Hypothesis, ...]:
    """The hypotheses of Theorem 1, each at the cell that is worst for it."""
    cells = list(dict.fromkeys(cells))

    def at_least(name: str, value: _Number, bound: _Number, constant: ConstantKind = "given"):
        worst = min(cells, key=lambda c: value(c) - bound(c))
        return Hypothesis(name, value(worst), bound(worst), ">=", constant)

    def of(formula: Callable[[TheoremSizes], float]) -> _Number:
        return lambda cell: formula(sizes_of(cell))

    enough = at_least("(8) with eps_S = 1/2", lambda c: c.alpha_star, of(least_relevant_fraction))
    return (
        *((enough,) if with_8 else ()),
        *first_model(cells),
        _at_most(cells, "(5) tau <= kappa/4, .99 quantile", noise_quantile, lambda _: KAPPA / 4),
        _at_most(cells, "tau <= min(sigma, delta)", token_noise, lambda c: min(c.sigma, c.delta)),
        _at_most(cells, "delta <= 1/2", lambda c: c.delta, lambda _: 0.5),
        _at_most(cells, "sigma = O(1/M)", lambda c: c.sigma, lambda c: 1 / c.M, "unknown"),
        at_least("(9) batch size", lambda c: c.B, of(least_batch), "unknown"),
        at_least("(10) samples", lambda c: c.N, of(least_samples), "unknown"),
        at_least("width: m >= M^2 log N", lambda c: c.m, of(_least_width), "unknown"),
        room_for_patterns(cells),
    )


def first_model(cells: Iterable[TrainingSettings]) -> tuple[Hypothesis, ...]:
    """Assumption 1 at the cells that are worst for it."""
    cells = list(dict.fromkeys(cells))
    return (
        _at_most(cells, "Assumption 1: error of the first values",
                 lambda c: first_maps(c)["W_V"].error, lambda c: c.sigma),
        _at_most(cells, "Assumption 1: norms of the first maps",
                 lambda c: max(W.norm for W in first_maps(c).values()), lambda _: 1.0),
    )  # fmt: skip


def _at_most(
    cells: list[TrainingSettings],
    name: str,
    value: _Number,
    bound: _Number,
    constant: ConstantKind = "given",
) -> Hypothesis:
    worst = max(cells, key=lambda c: value(c) - bound(c))
    return Hypothesis(name, value(worst), bound(worst), "<=", constant)


def room_for_patterns(cells: Iterable[TrainingSettings]) -> Hypothesis:
    """M < m_a, m_b at the cell with the least room."""
    worst = max(cells, key=lambda c: c.M - min(c.m_a, c.m_b))
    return Hypothesis("M < m_a, m_b", worst.M, min(worst.m_a, worst.m_b) - 1, "<=")


def _least_width(s: TheoremSizes) -> float:
    return s.M**2 * math.log(max(s.N, 2))


def _inverse_square(x: float) -> float:
    return math.inf if x <= 0 else x**-2
