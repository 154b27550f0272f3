"""Every bound and condition of li2023 for given sizes: the rows of `attnlab bounds li2023`."""

from dataclasses import dataclass

import numpy as np

from attnlab.core import BadInput, Bound, setting
from attnlab.data.pattern_sizes import require_fractions
from attnlab.papers.li2023.settings import require_range
from attnlab.papers.li2023.theory import conditions
from attnlab.papers.li2023.theory.conditions import TheoremSizes


@dataclass(frozen=True)
class BoundsSettings:
    """The sizes that `attnlab bounds li2023` takes."""

    alpha_star: float = setting(0.35, origin="paper", symbol="alpha_*", help="relevant fraction")
    alpha_sharp: float = setting(0.15, origin="paper", symbol="alpha_#", help="confusion fraction")
    sigma: float = setting(0.1, origin="paper", symbol="sigma", help="error of the first values")
    delta: float = setting(0.2, origin="paper", symbol="delta", help="error of keys and queries")
    tau: float = setting(0.0, origin="ours", symbol="tau", help="noise of a token, as a norm")
    M: int = setting(5, origin="paper", symbol="M", help="patterns")
    m: int = setting(1000, origin="paper", symbol="m", help="neurons")
    N: int = setting(200, origin="paper", symbol="N", help="training samples")
    B: int = setting(20, origin="ours", symbol="B", help="mini-batch size")
    eta: float = setting(0.5, origin="ours", symbol="eta", help="step size")

    def __post_init__(self):
        require_fractions(self.alpha_star, self.alpha_sharp)
        require_range("sigma", self.sigma, 0.0, 1.0)
        require_range("delta", self.delta, 0.0, 1.0)
        if self.tau < 0 or min(self.M - 2, self.m, self.N - 1, self.B) < 1 or not self.eta > 0:
            raise BadInput(
                f"got tau={self.tau:g}, M={self.M}, m={self.m}, N={self.N}, B={self.B}, "
                f"eta={self.eta:g}; need tau >= 0, M >= 3, N >= 2, m, B >= 1 and eta > 0"
            )


def bounds(given: BoundsSettings) -> tuple[Bound, ...]:
    """The table. Bounds with unknown constants are shown at constant one."""
    s = TheoremSizes(
        given.alpha_star,
        given.alpha_sharp,
        given.sigma,
        given.delta,
        given.tau,
        given.M,
        given.m,
        given.N,
        given.B,
    )
    fraction = conditions.least_relevant_fraction(s)
    batch, samples = conditions.least_batch(s), conditions.least_samples(s)
    alone = conditions.least_samples_without_attention(s)
    epsilon = conditions.least_epsilon(s)
    first = conditions.stated_attention(np.ones(()), s.alpha_star, 1.0, s.delta + s.tau)
    nu, p = float(first[1]), float(first[2])
    return (
        Bound(
            "(5)",
            s.tau,
            "token noise tau, below kappa/4 (orthonormal patterns: kappa = sqrt 2)",
            "given",
            conditions.KAPPA / 4,
            s.tau < conditions.KAPPA / 4,
        ),
        Bound(
            "theorem_1.noise",
            s.tau,
            "tau <= min(sigma, delta)",
            "given",
            min(s.sigma, s.delta),
            s.tau <= min(s.sigma, s.delta),
        ),
        Bound(
            "assumption_1.sigma",
            s.sigma,
            "sigma = O(1/M), shown at constant one",
            "unknown",
            1 / s.M,
        ),
        Bound("assumption_1.delta", s.delta, "delta < 1/2", "given", 0.5, s.delta < 0.5),
        Bound(
            "(8)",
            s.alpha_star,
            "alpha_* >= alpha_#/(eps_S exp(-(delta+tau)) (1-(sigma+tau))), eps_S at its limit 1/2",
            "given",
            fraction,
            s.alpha_star >= fraction,
        ),
        Bound(
            "(9)", s.B, "B >= Omega((alpha_* - exp(-(delta+tau))(tau+sigma))^-2)", "unknown", batch
        ),
        Bound(
            "(10)",
            s.N,
            "N >= Omega((alpha_* - c'(1-zeta) - c''(sigma+tau))^-2) at c'' = 1, zeta = 1",
            "unknown",
            samples,
        ),
        Bound(
            "(11)",
            conditions.iterations(s, given.eta),
            "T = Theta(1/((1-eps-(sigma+tau)M/pi) eta alpha_*)) at constant one; inf: no T",
            "unknown",
        ),
        Bound(
            "(13)",
            s.N,
            "without learned attention N >= Omega((alpha_*(alpha_*-sigma-tau))^-2)",
            "unknown",
            alone,
        ),
        Bound("remark_1", alone / samples, "(13) over (10) at constants one", "unknown"),
        Bound(
            "width",
            epsilon,
            "the least epsilon that m >= eps^-2 M^2 log N allows, below 1",
            "given",
            1.0,
            epsilon < 1,
        ),
        Bound(
            "lemma_3",
            conditions.lucky_bound(s),
            "(m/M)(1-eps_m-(sigma+tau)M/pi) lucky neurons of a class; says something above 0",
            "given",
            0.0,
            conditions.lucky_bound(s) > 0,
        ),
        Bound("definition_1.p", p, "p_n(0): relevant mass at least, at |q_1| = 1", "given"),
        Bound("definition_1.nu", nu, "|S| nu_n(0): weight of an irrelevant token at most", "given"),
    )
