"""What a run of li2023 is looked at with: probes' context, first maps, tokens, neurons."""

from dataclasses import replace

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from attnlab.data.pattern_vote import PatternBatch, label_vectors
from attnlab.models.shallow_vit import Parameters, hidden_input
from attnlab.models.shallow_vit_initialisation import Start
from attnlab.papers.li2023.runs.beginning import PROBED_SAMPLES, Beginning
from attnlab.papers.li2023.runs.given import Given
from attnlab.probes.pattern_attention import PatternContext
from attnlab.training.engine import Named


def context(run: Given, first: Beginning) -> PatternContext | None:
    """What the probes of a series need beside the weights; nothing where there is no series."""
    inputs, drawn = run.inputs, first.drawn
    if inputs.probes == "outcome":
        return None
    few = _few(first)
    return PatternContext(
        batch=replace(few, tokens=few.tokens.astype(run.dtype)),
        labels=label_vectors(few.types, inputs.classes).astype(run.dtype),
        keys=few.kept | inputs.removal.is_("zeroed"),
        a=drawn.a.transpose(0, 2, 1),
        initial=drawn.parameters,
        p=drawn.features.p[0].astype(run.dtype),
        q=drawn.features.q[0].astype(run.dtype),
        patterns=run.directions.astype(run.dtype),
        used=run.used,
        cone=(inputs.sigma + run.tau).astype(run.dtype),
        score_gain=first.engine.score_gain,
    )


def _few(first: Beginning) -> PatternBatch:
    return jax.tree.map(lambda x: x[:PROBED_SAMPLES], first.batch)


def steady_gates(run: Given, drawn: Start, state: Parameters) -> Float[Array, ""]:
    """The share of (neuron, pattern) whose ReLU gate is the same at the start and at the end."""
    mu = run.directions.astype(run.dtype)[:2]
    keys = jnp.ones(2, bool)

    def gates(w: Parameters) -> Array:
        v = hidden_input(w, mu, keys, combination=run.inputs.combination)
        if v.shape == mu.shape:
            v = v + run.inputs.skip.astype(v.dtype) * mu
        return v @ w.W_O.T > 0

    return (gates(drawn.parameters) == gates(state)).mean()


def norms(run: Given, drawn: Start) -> Named:
    """What Assumption 1 asks of the first maps: their errors at the patterns and their norms."""
    values = {}
    for name, W, feature in _maps(drawn):
        error = jnp.linalg.norm(_parts(run, name) * W @ run.directions.T - feature, axis=0)
        values[f"error_{name}"] = jnp.where(run.used, error, 0).max()
        values[f"norm_{name}"] = jnp.linalg.norm(W, 2)
    return values


def token_statistics(run: Given, first: Beginning) -> Named:
    """What (5) and Assumptions 2 and 3 say of tokens, on a few samples."""
    few, L = _few(first), run.inputs.L
    X = few.tokens.astype(float).reshape(-1, run.inputs.d)
    kind = few.patterns.reshape(-1)
    values = {}
    for name, W, feature in _maps(first.drawn):
        error = X @ (W * _parts(run, name)).T - feature.T[kind]
        values[f"token_error_{name}"] = jnp.linalg.norm(error, axis=1).max()
    values["largest_noise"] = jnp.linalg.norm(X - run.directions[kind], axis=1).max()
    some = X[:L]
    products = some @ some.T
    same = kind[:L, None] == kind[None, :L]
    values["least_same_product"] = jnp.where(same, products, jnp.inf).min()
    values["largest_other_product"] = jnp.where(same, -jnp.inf, products).max()
    return values


def _maps(drawn: Start) -> tuple[tuple[str, Array, Array], ...]:
    """The first head's values, keys and queries in double precision, with their features."""
    return tuple(
        (name, getattr(drawn.parameters, name)[0].astype(float), feature[0])
        for name, feature in zip(("W_V", "W_K", "W_Q"), drawn.features, strict=True)
    )


def _parts(run: Given, name: str) -> int:
    """Into how many heads a feature is divided: values that are added up."""
    return run.inputs.heads if name == "W_V" and run.inputs.combination == "sum" else 1


def class_projections(run: Given, drawn: Start, state: Parameters) -> Named:
    """G.1: change of the projections on p_1..p_4, mean over the neurons with a = (1, -1)/sqrt m.

    The neuron's sign at an output is that of its mean over positions. Nothing for two classes.
    """
    if run.inputs.classes == 2:
        return {}
    a = drawn.a.mean(1)
    group = (a[0] > 0) & (a[1] < 0)
    moved = (state.W_O - drawn.parameters.W_O) @ drawn.features.p[0].astype(state.W_O.dtype)
    # Over the neurons whose gate is open at the class's own value feature at the start.
    open_gate = drawn.parameters.W_O @ drawn.features.p[0].astype(state.W_O.dtype) > 0
    weight = group[:, None] & open_gate
    change = (weight * moved).sum(0) / weight.sum(0)
    return {"class_projections": change[:4]}
