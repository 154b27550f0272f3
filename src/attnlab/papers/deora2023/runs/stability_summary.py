"""Section 6.2: gap, mean stability and the inequalities between two runs, over their bounds."""

import numpy as np

from attnlab.papers.deora2023.theory import conditions
from attnlab.papers.deora2023.theory.conditions import Proof, Target
from attnlab.papers.deora2023.theory.smoothness import beta_1


def summarise(
    arrays: dict[str, np.ndarray],
    target: Target,
    eta: float,
    n: int,
    weights: np.ndarray,
    proof: Proof,
) -> dict[str, float]:
    """All scalars of one training set. Points that were not drawn do not count."""
    drawn = weights > 0
    mean_apart = float(weights @ arrays["apart"])
    gap = float(arrays["test_loss"] - arrays["loss"])
    variant = "corrected" if proof == "corrected" else "sharp"
    G = beta_1(variant, target.T, target.R, conditions.head_radius(target, proof))
    by_points = float(weights @ (arrays["own_loss"] - arrays["point_losses"]))
    gap_bound = conditions.gap_bound(target, eta, n)
    stability = conditions.stability_bound(target, eta, n, G)
    found = {
        "loss": float(arrays["loss"]),
        "test_loss": float(arrays["test_loss"]),
        "gap": gap,
        "leave_one_out_gap": by_points,
        "gap_bound": gap_bound,
        "gap_over_bound": gap / gap_bound,
        "leave_one_out_gap_over_bound": by_points / gap_bound,
        "mean_apart": mean_apart,
        "stability_bound": stability,
        "apart_over_bound": mean_apart / stability,
        "lipschitz": float(G),
        "gap_over_lemma_3": gap / (2 * G * mean_apart),
        "leave_one_out_over_lemma_3": by_points / (2 * G * mean_apart),
    }
    # The same with 1/n^2 in place of 1/n: laws that are false.
    for name in ("leave_one_out_gap_over_bound", "leave_one_out_over_lemma_3", "apart_over_bound"):
        found[f"{name}_squared"] = n * found[name]
    for name, values in arrays.items():
        if name.startswith("equation_"):
            found[name] = float(values[drawn].max())
    found["expansion"] = float(arrays["expansion"][drawn].max())
    return found
