"""Numbers of the toy paper's records: pure functions, which the court evaluates."""

import math

from attnlab.claims import Scalar
from attnlab.evidence.laws import stored
from attnlab_toy.theory import factor_by_descent, factor_by_flow, global_bound

GAP = stored("gap", "gap to the flow")
FACTOR = stored("factor", "factor per step")
START = stored("start", "distance at the start")

FACTOR_ERROR = Scalar(
    "error of the factor per step", lambda r: r["factor"] / factor_by_descent(r.cell) - 1
)
FLOW_ERROR = Scalar(
    "error of the flow's factor per step", lambda r: r["factor"] / factor_by_flow(r.cell) - 1
)
PRINTED_ERROR = Scalar(
    "error of the printed factor per step",
    lambda r: r["factor"] / (factor_by_descent(r.cell) * (1 + 1e-9)) - 1,
)
GAP_OVER_BOUND = Scalar("gap over its bound", lambda r: r["gap"] / global_bound(r.cell))
BOUND = Scalar("bound", lambda r: global_bound(r.cell))
GAP_OVER_WEAK_BOUND = Scalar(
    "gap over its bound", lambda r: r["gap"] / (1 + r.cell.eta * r.cell.curvature)
)
WEAK_BOUND = Scalar("bound", lambda r: 1 + r.cell.eta * r.cell.curvature)
GAP_PER_STEP_SIZE = Scalar("gap over the step size", lambda r: r["gap"] / r.cell.eta)
RELATIVE_GAP = Scalar(
    "gap over the flow's distance",
    lambda r: r["gap"] * math.exp(r.cell.curvature * r.cell.horizon),
)
LEFT = Scalar("final over initial distance", lambda r: r["distance"] / r["start"])
ARRIVED = Scalar("success", lambda r: float(r["distance"] < 0.01 * r["start"]))
NORM = Scalar("|x(0)|^2 / d", lambda r: r["start"] ** 2 / r.cell.dimension)
SQUARE = Scalar("|x(0)|^2", lambda r: r["start"] ** 2)
RELATIVE_DEVIATION = Scalar(
    "deviation of |x(0)|^2 / d from 1", lambda r: abs(r["start"] ** 2 / r.cell.dimension - 1)
)
DEVIATION = Scalar(
    "deviation of |x(0)|^2 from d", lambda r: abs(r["start"] ** 2 - r.cell.dimension)
)
