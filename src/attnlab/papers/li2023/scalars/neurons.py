"""What neurons and features of a run learn, how lucky neurons fare, how the output grows."""

import math
from collections.abc import Callable

import numpy as np

from attnlab.claims import Effect, Finding, Scalar
from attnlab.core import Record, Records
from attnlab.evidence.fits import fit_exponent
from attnlab.papers.li2023.theory.conditions import TheoremSizes, lucky_bound, sizes_of, token_noise

DEFINITIONS = {"literal": 0, "proof": 1, "best": 2}
"""Which neurons are lucky: the order of `probes.lucky_neurons`."""
FIRST, PRESENT = 0, 1
"""Against the first features p_k, or the present ones."""


def _growth(record: Record, name: str) -> np.ndarray:
    """End over start of a feature's size, by pattern in use."""
    return record[name][-1, : record.cell.M] / record[name][0, : record.cell.M]


def _over_xi(name: str) -> Callable[[Record], float]:
    return lambda r: float(r[name][-1]) / r.cell.xi


# --- projections of neurons (Lemma 2, claim 1) ------------------------------------------------

OWN_GROWTH = Scalar(
    "growth of lucky neurons along their own feature",
    lambda r: float(r["lucky_along_own"][-1] / r["lucky_along_own"][0]),
)
SIGNED_GROWTH = Scalar(
    "growth of lucky neurons of the fitting sign along their own feature",
    lambda r: float(r["signed_along_own"][-1] / r["signed_along_own"][0]),
)
SIGNED_OTHERS = Scalar(
    "lucky neurons of the fitting sign along other features over xi",
    _over_xi("signed_along_others"),
)
OWN_SIZE = Scalar("lucky neurons along their own feature over xi", _over_xi("lucky_along_own"))
OTHERS_SIZE = Scalar("lucky neurons along other features over xi", _over_xi("lucky_along_others"))
UNLUCKY_SIZE = Scalar(
    "unlucky neurons along non-discriminative features over xi", _over_xi("unlucky_along")
)


# --- coefficients of the values' gradient (Lemma 2, header) -----------------------------------


def _half_way(record: Record, name: str) -> float:
    """A series at the recorded step nearest to half of the training."""
    t = record["times"]
    return float(record[name][int(np.abs(t - t[-1] / 2).argmin())])


NEGATIVE = Scalar("share of lucky neurons with V_i < 0", lambda r: _half_way(r, "lucky_V_negative"))
SIGNED_NEGATIVE = Scalar(
    "share of lucky neurons of the fitting sign with V_i < 0",
    lambda r: _half_way(r, "signed_V_negative"),
)
UNLUCKY_V = Scalar(
    "V_i of an unlucky neuron times sqrt(B m)",
    lambda r: float(r["unlucky_V_least"].min()) * math.sqrt(r.cell.B),
)
UNLUCKY_V_WITHOUT_B = Scalar(
    "V_i of an unlucky neuron times B sqrt(m)",
    lambda r: float(r["unlucky_V_least"].min()) * r.cell.B,
)


def _asked_V(record: Record) -> float:
    """(29)'s size times sqrt(m) half way, with the proof's 1/(a |S|): alpha_* p_n / 2."""
    return record.cell.alpha_star * _half_way(record, "relevant_query_mass") / 2


SIGNED_V = Scalar(
    "-V_i of lucky neurons of the fitting sign over (29)'s size at constant one",
    lambda r: -_half_way(r, "signed_V") / _asked_V(r),
)
OPPOSITE_V = Scalar(
    "-V_i of the other class's lucky neurons over (30)'s size at constant one, the largest",
    lambda r: -_half_way(r, "opposite_V_least") / _asked_V(r),
)
UNLUCKY_BOUND = Scalar("(31) over what holds for any V_i", lambda r: 1 / math.sqrt(r.cell.B))


# --- features of keys, queries, values (Lemma 2, claims 2 and 3) ------------------------------


def _attended(record: Record) -> np.ndarray:
    """Growth of keys and queries (first axis) by pattern."""
    return np.stack([_growth(record, "key_norm"), _growth(record, "query_norm")])


def _logarithmic(record: Record) -> float:
    """R^2 of |q_1| |r_1| as a line in log t minus that as a line in t."""
    t, q = record["times"], record["key_norm"][:, 0] * record["query_norm"][:, 0]
    seen = t >= 1
    if seen.sum() < 4 or np.ptp(q[seen]) == 0:
        return math.nan
    r = [np.corrcoef(x, q[seen])[0, 1] ** 2 for x in (np.log(t[seen]), t[seen])]
    return float(r[0] - r[1])


LEAST_FEATURE_GROWTH = Scalar(
    "smallest growth of a discriminative key or query", lambda r: float(_attended(r)[:, :2].min())
)
OTHER_FEATURE_GROWTH = Scalar(
    "mean growth of the other keys and queries", lambda r: float(_attended(r)[:, 2:].mean())
)
AHEAD = Scalar(
    "growth of discriminative keys and queries over that of the others",
    lambda r: float(_attended(r)[:, :2].mean() / _attended(r)[:, 2:].mean()),
)
LOGARITHMIC = Scalar("R^2 of |q_1|^2 in log t minus R^2 in t", _logarithmic)
VALUE_GROWTH = Scalar(
    "smallest growth of a discriminative value along its feature",
    lambda r: float(_growth(r, "value_along")[:2].min()),
)
OTHER_VALUE_GROWTH = Scalar(
    "mean growth of the other values along their features",
    lambda r: float(_growth(r, "value_along")[2:].mean()),
)
VALUE_ERROR = Scalar(
    "value off the first features over sigma + tau",
    lambda r: (
        float(np.nanmax(r["value_error"][-1, : r.cell.M])) / (r.cell.sigma + token_noise(r.cell))
    ),
)


# --- lucky neurons (Lemmas 3 and 4) -----------------------------------------------------------


def lucky_over_bound(definition: str, exact: str = "") -> Scalar:
    """The smaller class's count of lucky neurons at the start over Lemma 3's bound."""
    k = DEFINITIONS[definition]
    return Scalar(
        "lucky neurons at the start over the bound",
        lambda r: float(r["lucky"][0, FIRST, k].min()) / lucky_bound(sizes_of(r.cell)),
        exact,
    )


LUCKY_BOUND = Scalar(
    "neurons that the bound leaves over all neurons",
    lambda r: 1 - lucky_bound(sizes_of(r.cell)) / r.cell.m,
)


def lucky_kept(definition: str, features: int = FIRST) -> Scalar:
    """The smallest share, over steps and classes, of first lucky neurons that are lucky."""
    k = DEFINITIONS[definition]
    return Scalar(
        "share of lucky neurons that stay, at the worst step",
        lambda r: float(r["lucky_kept"][:, features, k].min()),
    )


def signed_kept(definition: str) -> Scalar:
    """The same among the neurons whose output weights fit the class."""
    k = DEFINITIONS[definition]
    return Scalar(
        "share of lucky neurons of the fitting sign that stay, at the worst step",
        lambda r: float(r["signed_kept"][:, FIRST, k].min()),
    )


LUCKY_SHARE = Scalar(
    "share of all neurons that are lucky, at the worst step",
    lambda r: float(r["lucky"][:, FIRST, DEFINITIONS["proof"]].min()) / r.cell.m,
)


def cone_share(angle: float, dimension: int) -> float:
    r"""The share of directions within an angle: $\frac12 I_{\sin^2 c}((n-1)/2, 1/2)$."""
    from scipy.special import betainc

    return 0.5 * float(betainc((dimension - 1) / 2, 0.5, math.sin(angle) ** 2))


def margin_share(s: TheoremSizes, dimension: int, draws: int = 200_000) -> tuple[float, float]:
    """The share of Gaussian directions nearest to p_1 by 2 (sigma + tau), and its error.

    Plain Monte Carlo; the features are the first M axes, which loses nothing.
    """
    w = np.random.default_rng(0).normal(size=(draws, dimension))
    theta = np.arccos(w[:, : s.M] / np.linalg.norm(w, axis=1, keepdims=True))
    share = float((theta[:, 0] + 2 * s.error <= theta[:, 1:].min(1)).mean())
    return share, math.sqrt(share * (1 - share) / draws)


def cone_route(records: Records) -> Finding:
    """The expected count over Lemma 3's bound: the cone's volume, and a Monte Carlo draw.

    The expectation at the definition that has more lucky neurons; contradicted if the bound is
    positive and three standard errors above it at every cell.
    """
    found = []
    for cell in dict.fromkeys(r.cell for r in records):
        s = sizes_of(cell)
        literal = cone_share(s.error, cell.m_a)
        proof, error = margin_share(s, cell.m_a)
        low, high = (s.m * (max(literal, proof) + k * error) / lucky_bound(s) for k in (-3, 3))
        found.append(((low + high) / 2, low, high, s.m * literal, s.m * proof, lucky_bound(s)))
    value, low, high, literal, proof, bound = max(found, key=lambda row: row[2])
    detail = f"expected: {literal:.2g} (Definition 2), {proof:.4g} (proof), bound {bound:.4g}"
    effect = Effect("expected lucky neurons over the bound", value, low, high)
    false = all(row[-1] > 0 for row in found) and high < 1
    return Finding("contradicted" if false else "inconclusive", effect, detail)


# --- output -----------------------------------------------------------------------------------


def _output_exponent(record: Record, low: float = 0.05, high: float = 0.8) -> float:
    """The exponent of the mean margin in t while it is between two values."""
    t, F = record["times"], record["mean_margin"]
    seen = (t >= 1) & (low < F) & (high > F)
    return fit_exponent(t[seen], F[seen]).exponent if seen.sum() >= 3 else math.nan


OUTPUT_EXPONENT = Scalar("exponent of the output in t before it meets the hinge", _output_exponent)


# --- four classes (G.1) -----------------------------------------------------------------------


def class_change(*patterns: int) -> Scalar:
    """The largest change of the rows along some of p_1..p_4, in units of the largest of all."""

    def of(record: Record) -> float:
        change = np.asarray(record["class_projections"])
        unit = change / np.abs(change).max()
        return float(max((unit[k - 1] for k in patterns), key=abs))

    names = " and ".join(f"p_{k}" for k in patterns)
    return Scalar(f"change along {names} over the largest change", of)
