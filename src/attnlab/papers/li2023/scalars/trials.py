"""How a trial ended, and what it is looked at along."""

import math

import numpy as np

from attnlab.claims import Axis, Scalar
from attnlab.core import Record
from attnlab.evidence.laws import stored
from attnlab.papers.li2023.theory import conditions
from attnlab.papers.li2023.theory.conditions import sizes_of

# --- numbers of a run -------------------------------------------------------------------------

SUCCESS = stored("success", "success of a trial")
TEST_LOSS = stored("test_loss", "test loss")


def _fitted_iterations(record: Record) -> float:
    return max(float(record["iterations"]), 1.0) if record["fitted"] else math.nan


ITERATIONS = Scalar("iterations to zero training loss", _fitted_iterations)
"""A run that never got there has no such number."""
LEAST_MARGIN = Scalar(
    "smallest margin of a test sample, in units of the hinge's,",
    lambda record: float(record["least_margin"]) / record.cell.margin,
)
"""At least 1: no loss at all on the test samples."""


def _stated(record: Record) -> tuple[np.ndarray, np.ndarray]:
    r"""Definition 1's $\nu_n$ and $p_n$ at the recorded steps.

    $\|q_j\|^2$ is read as $\|W_K\mu_j\|\,\|W_Q\mu_j\|$; of j = 1, 2 the smaller, because half of
    the samples have $\mu_2$ as their relevant pattern.
    """
    cell = record.cell
    q = np.sqrt(record["key_norm"][:, :2] * record["query_norm"][:, :2]).min(1)
    error = cell.delta + conditions.token_noise(cell)
    _, nu, p = conditions.stated_attention(q, cell.alpha_star * cell.L, cell.L, error)
    return nu, p


MASS_OVER_STATED = Scalar(
    "smallest relevant mass over p_n at any step",
    lambda record: float((record["relevant_query_mass"] / _stated(record)[1]).min()),
)
WEIGHT_OVER_STATED = Scalar(
    "largest irrelevant weight over nu_n at the last step",
    lambda record: float(record["largest_irrelevant_weight"][-1] / _stated(record)[0][-1]),
)

# --- numbers of a cell ------------------------------------------------------------------------

INVERSE_FRACTION = Axis("1/alpha_*", lambda cell: 1 / cell.alpha_star)
INVERSE_SQUARE = Axis("alpha_*^-2", lambda cell: cell.alpha_star**-2)
INVERSE_FOURTH = Axis("alpha_*^-4", lambda cell: cell.alpha_star**-4)
INVERSE_GAP = Axis("1/(alpha_* - alpha_#)", lambda cell: 1 / cell.gap)
INVERSE_SQUARE_GAP = Axis("(alpha_* - alpha_#)^-2", lambda cell: cell.gap**-2)
RELATIVE_GAP = Axis("1/(1 - alpha_#/alpha_*)", lambda cell: cell.alpha_star / cell.gap)
INVERSE_SQUARE_RELATIVE_GAP = Axis(
    "(1 - alpha_#/alpha_*)^-2", lambda cell: (cell.alpha_star / cell.gap) ** 2
)
INVERSE_STEP = Axis("1/eta", lambda cell: 1 / cell.eta)
# The exponent in exp(x) is the slope of the logarithm over x.
VALUE_ERROR = Axis("exp(sigma)", lambda cell: math.exp(cell.sigma))
KEY_ERROR = Axis("exp(delta)", lambda cell: math.exp(cell.delta))
TOKEN_NOISE = Axis("exp(tau)", lambda cell: math.exp(conditions.token_noise(cell)))
EQUATION_13 = Axis(
    "(13)'s size", lambda cell: conditions.least_samples_without_attention(sizes_of(cell))
)
EQUATION_11 = Axis("(11)'s size", lambda cell: conditions.iterations(sizes_of(cell), cell.eta))
