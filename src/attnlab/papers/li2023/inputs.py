"""A cell of li2023 as the data of its compiled run: all that is not in its program."""

from typing import Any

import jax.numpy as jnp
import numpy as np

from attnlab.data.pattern_vote import orthonormal_sets
from attnlab.dynamics.descent import log_spaced_steps
from attnlab.models import token_selection
from attnlab.papers.li2023.programs import program
from attnlab.papers.li2023.settings import TrainingSettings


def numbers(cell: TrainingSettings) -> dict[str, Any]:
    """Everything of a cell that its program leaves open."""
    of = program(cell)
    counts = np.zeros((cell.classes, of.patterns), int)
    counts[:, : cell.M] = _expected_counts(cell)
    vectors = np.zeros((of.patterns, cell.set_size, cell.d))
    vectors[: cell.M] = orthonormal_sets(cell.M, cell.d, cell.set_size, cell.set_distance)
    if of.patterns > cell.M:
        vectors[:, 0] = np.eye(of.patterns, cell.d)
    record_at = np.array([0, cell.steps])
    if cell.probes == "dynamics":
        record_at = log_spaced_steps(cell.steps, cell.records)
        # Of one length whatever the rounding merges, so that the records are data.
        record_at = np.pad(record_at, (cell.records - record_at.size, 0))
    selector = {"model": "attention"}.get(cell.selector, cell.selector)
    data: dict[str, Any] = {
        "counts": counts,
        "vectors": vectors,
        "M": cell.M,
        "N": cell.N,
        "B": cell.B,
        "record_at": record_at,
        "selector": token_selection.SELECTORS.index(selector),
        "kept": cell.kept,
        "zeroed": cell.removal == "zeroed",
        "renumbered": cell.positions == "renumbered",
        "normalise": cell.normalise,
        "skip": float(cell.skip),
        "prune_training": cell.prune_at == "both",
        "shuffled_order": cell.order == "shuffled",
        "shuffled_labels": cell.labels == "shuffled",
        "shared": cell.output_weights == "shared",
        "queries_as_keys": cell.queries == "keys",
        "stop": cell.stop == "zero_loss",
        "score_gain": float(cell.attention != "uniform"),
        "score_rate": float(cell.attention == "trained"),
        "tau": cell.c0 * np.sqrt(cell.d),
    }
    names = ("c0", "noisy_share", "noisy_c0", "sigma", "delta", "xi", "eta", "margin")
    data |= {name: float(getattr(cell, name)) for name in names}
    return {name: jnp.asarray(value) for name, value in data.items()}


def _expected_counts(cell: TrainingSettings) -> np.ndarray:
    if cell.fractions == "fixed":
        return np.array(cell.counts())
    # Only their proportions are used: as fine as an integer allows.
    fine = 10**6
    other = (1 - cell.alpha_star - cell.sharp) / (cell.M - cell.classes)
    shares = np.full((cell.classes, cell.M), other)
    shares[:, : cell.classes] = cell.sharp / (cell.classes - 1)
    shares[np.arange(cell.classes), np.arange(cell.classes)] = cell.alpha_star
    return np.round(fine * shares).astype(int)
