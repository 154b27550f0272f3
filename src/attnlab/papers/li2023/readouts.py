"""What a run of li2023 is looked at with: probes' context, first maps, tokens, neurons."""

from typing import Any

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array

from attnlab.data.pattern_vote import PatternBatch, label_vectors
from attnlab.models.shallow_vit import Parameters, hidden_input
from attnlab.models.shallow_vit_initialisation import Start
from attnlab.papers.li2023.programs import Program
from attnlab.probes.pattern_attention import PatternContext


def mean_directions(data: dict[str, Array]) -> Array:
    """The unit vectors of the patterns; with sets (G.2), of their means."""
    mean = data["vectors"].mean(1)
    return mean / jnp.linalg.norm(mean, axis=1, keepdims=True)


def context(
    of: Program, data: dict[str, Array], drawn: Start, few: PatternBatch, engine: Any
) -> PatternContext | None:
    """What the probes of a series need beside the weights; nothing where there is no series."""
    if of.probes == "outcome":
        return None
    cast = lambda x: x.astype(jnp.dtype(of.dtype))  # noqa: E731
    few = eqx.tree_at(lambda b: b.tokens, few, cast(few.tokens))
    return PatternContext(
        batch=few,
        labels=cast(label_vectors(few.types, of.classes)),
        keys=few.kept | data["zeroed"],
        a=drawn.a.transpose(0, 2, 1),
        initial=drawn.parameters,
        p=cast(drawn.features.p[0]),
        q=cast(drawn.features.q[0]),
        patterns=cast(mean_directions(data)),
        used=jnp.arange(of.patterns) < data["M"],
        cone=cast(data["sigma"] + data["tau"]),
        score_gain=engine.score_gain,
    )


def steady_gates(of: Program, data: dict[str, Array], state: Parameters, drawn: Start) -> Array:
    """The share of (neuron, pattern) whose ReLU gate is the same at the start and at the end."""
    mu = mean_directions(data).astype(jnp.dtype(of.dtype))[:2]
    keys = jnp.ones(2, bool)

    def gates(w: Parameters) -> Array:
        v = hidden_input(w, mu, keys, combination=of.combination)  # pyright: ignore[reportArgumentType]
        if v.shape == mu.shape:
            v = v + data["skip"].astype(v.dtype) * mu
        return v @ w.W_O.T > 0

    return (gates(drawn.parameters) == gates(state)).mean()


def norms(of: Program, drawn: Start, data: dict[str, Array]) -> dict[str, Array]:
    """What Assumption 1 asks of the first maps: their errors at the patterns and their norms."""
    mu = mean_directions(data)
    used = jnp.arange(mu.shape[0]) < data["M"]
    values = {}
    features = {"W_V": drawn.features.p, "W_K": drawn.features.q, "W_Q": drawn.features.r}
    for name, feature in features.items():
        W = getattr(drawn.parameters, name)[0].astype(float)
        error = jnp.linalg.norm(_parts(of, name) * W @ mu.T - feature[0], axis=0)
        values[f"error_{name}"] = jnp.where(used, error, 0).max()
        values[f"norm_{name}"] = jnp.linalg.norm(W, 2)
    return values


def _parts(of: Program, name: str) -> int:
    """Into how many heads a feature is divided: values that are added up."""
    return of.heads if name == "W_V" and of.combination == "sum" else 1


def token_statistics(
    of: Program, data: dict[str, Array], drawn: Start, few: PatternBatch
) -> dict[str, Array]:
    """What (5) and Assumptions 2 and 3 say of tokens, on a few samples."""
    X = few.tokens.astype(float).reshape(-1, of.d)
    kind = few.patterns.reshape(-1)
    values = {}
    features = {"W_V": drawn.features.p, "W_K": drawn.features.q, "W_Q": drawn.features.r}
    for name, feature in features.items():
        W = getattr(drawn.parameters, name)[0].astype(float) * _parts(of, name)
        values[f"token_error_{name}"] = jnp.linalg.norm(X @ W.T - feature[0].T[kind], axis=1).max()
    values["largest_noise"] = jnp.linalg.norm(X - mean_directions(data)[kind], axis=1).max()
    some = X[: of.L]
    products = some @ some.T
    same = kind[: of.L, None] == kind[None, : of.L]
    values["least_same_product"] = jnp.where(same, products, jnp.inf).min()
    values["largest_other_product"] = jnp.where(same, -jnp.inf, products).max()
    return values


def class_projections(drawn: Start, state: Parameters) -> dict[str, Array]:
    """G.1: change of the projections on p_1..p_4, mean over the neurons with a = (1, -1)/sqrt m.

    The neuron's sign at an output is that of its mean over positions.
    """
    a = drawn.a.mean(1)
    group = (a[0] > 0) & (a[1] < 0)
    moved = (state.W_O - drawn.parameters.W_O) @ drawn.features.p[0].astype(state.W_O.dtype)
    # Over the neurons whose gate is open at the class's own value feature at the start.
    open_gate = drawn.parameters.W_O @ drawn.features.p[0].astype(state.W_O.dtype) > 0
    weight = group[:, None] & open_gate
    change = (weight * moved).sum(0) / weight.sum(0)
    return {"class_projections": change[:4]}
