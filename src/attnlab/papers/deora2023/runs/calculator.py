"""Runs that only evaluate formulas: when the theorems say something, and section 7's scalings."""

from attnlab.core import Key, Result
from attnlab.papers.deora2023.settings.bounds import DemandSettings, SearchSettings
from attnlab.papers.deora2023.theory import demands, informative

REACHABLE = 1e6
"""Steps that a run here can make."""


def search(cell: SearchSettings, key: Key) -> Result:
    """The smallest K at which each promise is below log 2, over targets and signals S."""
    del key
    sizes, found = cell.mixture(), {}
    for promise in ("theorem_1", "corollary_2"):
        S, best = informative.best_strength(sizes, promise)
        found |= {
            f"{promise}_steps": best.steps,
            f"{promise}_heads": best.heads,
            f"{promise}_distance": best.distance,
            f"{promise}_S": S,
        }
    found["tightened_steps"] = informative.theorem_1(sizes, "symmetric").steps
    found["iterates_steps"] = informative.iterates(sizes)
    found["corollary_2_reached"] = informative.corollary_bound(sizes, REACHABLE)
    return Result(found)


def demand(cell: DemandSettings, key: Key) -> Result:
    """How far a target may be, and how many heads a margin asks for."""
    del key
    return Result(
        {
            "distance": demands.largest_distance(cell.H, cell.T, cell.d, cell.R),
            "heads": demands.heads_for_margin(cell.gamma, cell.T, cell.d, cell.R, cell.n),
        }
    )
