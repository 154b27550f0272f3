r"""Where the attention of a run goes, measured against what any weights could reach.

The ceiling. Without token noise a score depends on the patterns of query and key alone, not on
the class. With the same counts in every sample of a class, a query of pattern k therefore has odds
of relevant against confusion tokens

$$o_+ = \rho u_k \ (y = +1), \qquad o_- = \rho / u_k \ (y = -1), \qquad
  o_+ o_- = \rho^2, \quad \rho = \alpha_*/\alpha_\#,$$

with $u_k = e^{s_{1k} - s_{2k}}$, whatever $W_K$ and $W_Q$ are. Its mass on relevant tokens is at
most $o/(1+o)$ (no weight on other patterns), so the smaller of the two is at most
$\rho/(1+\rho) = 1/(1+\alpha_\#/\alpha_*)$. The mean over queries and classes is at most

$$(1-\alpha_*-\alpha_\#)\frac{\rho}{1+\rho} + \max_u \Bigl(\alpha_*\frac{\rho u}{1+\rho u}
  + \alpha_\#\frac{\rho}{\rho+u}\Bigr):$$

queries of the other patterns occur alike in both classes and do best at u = 1, those of mu_1
(and, mirrored, mu_2) are mostly asked where they are relevant.
"""

import math
from functools import cache

import numpy as np

from attnlab.claims import Effect, Finding, Scalar
from attnlab.core import Record, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.papers.li2023.settings import TrainingSettings

LARGE_C = 10.0
"""(15)'s large C: what the hypothesis on zeta in Theorem 1 takes, eta^10."""


def least_ceiling(alpha_star: float, alpha_sharp: float) -> float:
    """The most that the smallest mass of any query and sample can be."""
    return 1 / (1 + alpha_sharp / alpha_star)


@cache
def mean_ceiling(alpha_star: float, alpha_sharp: float) -> float:
    r"""The most that the mass, mean over queries and classes, can be.

    The stationary point of the bracket: $\alpha_*/(1+\rho u)^2 = \alpha_\#/(\rho+u)^2$, that is
    $u = (\sqrt\rho\,\rho - 1)/(\rho - \sqrt\rho)$.
    """
    if alpha_sharp == 0:
        return 1.0
    rho = alpha_star / alpha_sharp
    u = (rho**1.5 - 1) / (rho - rho**0.5) if rho > 1 else 1.0
    own = alpha_star * rho * u / (1 + rho * u) + alpha_sharp * rho / (rho + u)
    return (1 - alpha_star - alpha_sharp) * rho / (1 + rho) + own


def cell_ceiling(cell: TrainingSettings) -> float:
    """`mean_ceiling` at the counts of a cell; of counts in turn the mean, which none can pass."""
    rows = cell.counts()
    found = [mean_ceiling(rows[k][0] / cell.L, rows[k][1] / cell.L) for k in range(0, len(rows), 2)]
    return sum(found) / len(found)


def _ceiling(record: Record) -> float:
    return cell_ceiling(record.cell)


def _exponent(mass: float, eta: float) -> float:
    """C with mass = 1 - eta^C; a step of 1 or more makes any mass enough."""
    return math.log(1 - mass) / math.log(eta) if eta < 1 else math.inf


def _late_rate(record: Record) -> float:
    """Minus the exponent of ceiling - mass in t over the last half of the recorded steps."""
    t, left = record["times"], _ceiling(record) - record["relevant_mass"]
    late = (t >= 1) & (t >= np.median(t[t >= 1])) & (left > 0)
    return -fit_exponent(t[late], left[late]).exponent if late.sum() >= 3 else math.nan


MASS = Scalar("mass on relevant tokens at the end", lambda r: float(r["relevant_mass"][-1]))
OVER_CEILING = Scalar(
    "mass on relevant tokens over its ceiling, at the end",
    lambda r: float(r["relevant_mass"][-1]) / _ceiling(r),
)
START_OVER_CEILING = Scalar(
    "mass on relevant tokens over its ceiling, at the start",
    lambda r: float(r["relevant_mass"][0]) / _ceiling(r),
)
RISE = Scalar(
    "rise of the mass on relevant tokens",
    lambda r: float(r["relevant_mass"][-1] - r["relevant_mass"][0]),
)
LATE_RATE = Scalar("rate at which the mass nears its ceiling late in training", _late_rate)
LEAST_MASS_C = Scalar(
    "C at which the smallest mass of any query and sample is 1 - eta^C",
    lambda r: _exponent(float(r["least_relevant_mass"][-1]), r.cell.eta),
)


def _time_to(record: Record, name: str, share: float) -> float:
    """The step at which a series has made a share of its rise for the first time, interpolated."""
    t, x = record["times"], record[name]
    if not x[-1] > x[0] * (1 + 1e-6):
        return math.nan
    done = (x - x[0]) / (x[-1] - x[0])
    k = int((done >= share).argmax())
    return float(np.interp(share, done[k - 1 : k + 1], t[k - 1 : k + 1]))


def emergence(mass: float, margin: float) -> Scalar:
    """When the attention has made a share of its rise, against when the margin has."""
    return Scalar(
        f"steps to {mass:.0%} of the rise of the mass over those to {margin:.0%} of the margin's",
        lambda r: _time_to(r, "relevant_mass", mass) / _time_to(r, "mean_margin", margin),
    )


EMERGENCE, LATE_EMERGENCE = emergence(0.5, 0.5), emergence(0.99, 0.1)


def ceiling_route(records: Records) -> Finding:
    """No weights reach 1 - eta^C for all queries: the ceiling in closed form, and its consequence.

    The C of the closed form is compared with the stated one. The consequence is checked twice: in
    the records no smallest mass passes the ceiling (token noise allows 1 % more), and ascent over
    a query's scores does not.
    """
    cells = list(dict.fromkeys(r.cell for r in records))
    reached = max(_exponent(least_ceiling(c.alpha_star, c.sharp), c.eta) for c in cells)
    passed = sum(
        r["least_relevant_mass"].max() > 1.01 * least_ceiling(r.cell.alpha_star, r.cell.sharp)
        for r in records
    )
    best = max(ascended_mass(c.counts()) / least_ceiling(c.alpha_star, c.sharp) for c in cells)
    holds = passed == 0 and best <= 1 + 1e-9
    detail = f"{passed} of {len(records)} runs pass the ceiling; ascended scores reach {best:.4f}"
    effect = Effect.exactly("largest C that any keys and queries can reach", reached)
    false = holds and reached < LARGE_C
    return Finding("contradicted" if false else "inconclusive", effect, detail)


def ascended_mass(
    counts: tuple[tuple[int, ...], ...], starts: int = 4, rounds: int = 2000
) -> float:
    """The largest smallest mass of one query over the classes that ascent over its scores finds.

    Queries of different patterns have scores of their own, so one stands for all.
    """
    random = np.random.default_rng(0)
    size = np.array(counts, dtype=float)
    classes = np.arange(len(counts))

    def smallest(scores: np.ndarray) -> float:
        odds = size * np.exp(scores - scores.max())
        return float((odds[classes, classes] / odds.sum(1)).min())

    best = 0.0
    for _ in range(starts):
        scores, step = random.normal(size=size.shape[1]), 2.0
        value = smallest(scores)
        for _ in range(rounds):
            moved = scores + step * random.normal(size=scores.size)
            if smallest(moved) > value:
                scores, value, step = moved, smallest(moved), 1.5 * step
            else:
                step = max(0.95 * step, 1e-3)
        best = max(best, value)
    return best
