r"""Target parameters on one instance: the direction of the largest NTK margin, and theta_*.

A direction w of one head of sign +1 becomes one of the whole model by

$$\tilde\theta_h=\frac1{\sqrt H}(w_U,\alpha_hw_W),\qquad\|\tilde\theta\|=\|w\|,\qquad
  \langle\nabla\tilde\Phi,\tilde\theta\rangle=\langle\nabla\Phi_{\alpha=1},w\rangle ,$$

so that the number of heads and their signs cancel; random heads have a direction of their own.
The target is $\theta_0+D\hat w$, and D is one of three:

| aim | D |
|---|---|
| horizon | $\log(K)/\gamma$: to first order the loss is at most 1/K if outputs start at zero |
| least_bound | where (4), for Theorem 2 (5), is smallest among those that H admits |
| corollary_2 | $\sqrt2g_0(1/K)=\sqrt2(2B_\Phi+\log K)/\gamma$, gamma for the length sqrt 2 |
"""

from dataclasses import dataclass, replace

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from attnlab.data.batch import Batch
from attnlab.data.mixture_sizes import MixtureSizes
from attnlab.data.token_mixture import directions
from attnlab.engines import collapsed_heads, explicit_heads
from attnlab.engines.heads import HeadsEngine
from attnlab.engines.heads_arithmetic import largest_decoder
from attnlab.models.multihead import Heads, Output, decoder_norms
from attnlab.numerics.max_margin import MaxMargin
from attnlab.papers.deora2023.runs.samples import Drawn
from attnlab.papers.deora2023.settings.training import Aim, TrainingSettings
from attnlab.papers.deora2023.theory.conditions import (
    Target,
    gap_bound,
    heads_needed,
    largest_step,
    loss_bound,
)
from attnlab.probes.tangent_kernel import head_features, tangent_margin, unit_direction

PLACES = 64
"""Distances among which the one with the smallest bound is taken, each a sixteenth further."""


@dataclass(frozen=True)
class Instance:
    """A run ready to go: its engine, where it aims, and the theorem's numbers."""

    engine: HeadsEngine
    direction: Heads
    """Of length one, over all heads."""
    margin: MaxMargin
    target: Target
    eta: float


@eqx.filter_jit
def start_features(u: Array, tokens: Float[Array, "n T d"], output: Output) -> Array:
    """The tangent features after phase 1, of a head of sign +1."""
    d = tokens.shape[-1]
    return head_features(u, jnp.zeros((d, d)), tokens, output)


def features_of(drawn: Drawn, output: Output = "full") -> np.ndarray:
    """The tangent features of the training points after phase 1."""
    tokens = jnp.asarray(drawn.tokens)
    u = collapsed_heads.head_start(jnp.asarray(drawn.v), output, tokens.shape[1])
    return np.asarray(start_features(u, tokens, output))


def make_engine(cell: TrainingSettings, drawn: Drawn, counts: np.ndarray) -> HeadsEngine:
    """The engine that the cell names, after phase 1."""
    points, v = drawn.train, jnp.asarray(drawn.v)
    if cell.engine == "weights":
        start = explicit_heads.phase_1_heads(
            v, jnp.asarray(counts), int(cell.H), cell.T, cell.output
        )
        return explicit_heads.engine(points, start, cell.output)
    return collapsed_heads.engine(points, v, jnp.asarray(counts), cell.output)


def spread(w: np.ndarray, engine: HeadsEngine, signs: np.ndarray) -> Heads:
    """A direction of one head of sign +1 over all heads (or groups) with these signs."""
    shape = engine.start.U.shape[1:]
    size = int(np.prod(shape))
    d = engine.start.W.shape[-1]
    scale = float(engine.H) ** -0.5
    U = np.broadcast_to(scale * w[:size].reshape(shape), (len(signs), *shape))
    W = scale * signs[:, None, None] * w[size:].reshape(d, d)
    return Heads(jnp.asarray(U), jnp.asarray(W))


def group_signs(cell: TrainingSettings, counts: np.ndarray) -> np.ndarray:
    """The sign of each group (two collapsed ones, or every head)."""
    if cell.engine == "weights":
        return np.where(np.arange(int(cell.H)) < counts[0], 1.0, -1.0)
    return np.array(collapsed_heads.SIGNS)


def paper_direction(sizes: MixtureSizes) -> np.ndarray:
    """theta_* of section 5.2, flat, for the full decoder: length sqrt 2."""
    mu_plus, mu_minus, nu = directions(sizes)
    U = np.outer(np.ones(sizes.T), mu_plus - mu_minus)
    W = paper_attention(mu_plus, mu_minus, nu)
    return np.concatenate([(U / np.linalg.norm(U)).ravel(), (W / np.linalg.norm(W)).ravel()])


def paper_attention(mu_plus: np.ndarray, mu_minus: np.ndarray, nu: np.ndarray) -> np.ndarray:
    """W_* of section 5.2 (queries mu, nu on the left; the print swaps the names of the factors)."""
    both = mu_plus + mu_minus
    own = np.outer(mu_plus, mu_plus) + np.outer(mu_minus, mu_minus)
    return own + np.outer(nu.sum(axis=0), both)


def prepare(
    cell: TrainingSettings,
    drawn: Drawn,
    counts: np.ndarray,
    aim: Aim = "horizon",
    engine: HeadsEngine | None = None,
) -> Instance:
    """The engine (after phase 1, unless one is given), the target and the step size of a run."""
    alike = engine is None
    if engine is None:
        engine = make_engine(cell, drawn, counts)
        margin = tangent_margin(features_of(drawn, cell.output), drawn.labels)
        w = unit_direction(margin)
        if w is None:
            # Shuffled labels can be inseparable; the paper's direction stands in.
            w = paper_direction(cell.mixture()) / 2**0.5
        direction = spread(w, engine, group_signs(cell, counts))
    else:
        margin = tangent_margin(features_of_heads(engine), drawn.labels)
        direction = of_all_heads(unit_direction(margin), engine)
    gamma = max(margin.margin, 1e-3 * cell.S)
    D = np.log(max(cell.K, 2)) / gamma
    losses = np.asarray(losses_at(engine, direction, jnp.asarray(D)))
    heads = engine.parameters(Heads(*(D * x for x in direction)))
    present = np.asarray(engine.counts) > 0
    target = Target(
        T=cell.T,
        d=cell.d,
        R=cell.mixture().R,
        H=float(engine.H),
        D=float(D),
        m=float(np.asarray(decoder_norms(heads))[present].max()),
        loss=float(losses[1]),
        start_loss=float(losses[0]),
        K=cell.K,
        least_count=float(counts[counts > 0].min()) if alike else 1.0,
    )
    if aim != "horizon":
        target = _aimed(cell, engine, direction, gamma, target, aim)
    eta = cell.eta or float(largest_step(target, cell.proof, cell.theorem))
    return Instance(engine, direction, margin, target, eta)


def _aimed(
    cell: TrainingSettings,
    engine: HeadsEngine,
    direction: Heads,
    gamma: float,
    target: Target,
    aim: Aim,
) -> Target:
    """The target at Corollary 2's distance, or where the theorem's bound is smallest."""
    largest_output = float(jnp.abs(engine.margins(engine.zero())).max())
    reach = (2 * max(largest_output, 1.0) + np.log(max(cell.K, 2))) / gamma
    distances = np.array([reach]) if aim == "corollary_2" else reach * np.geomspace(0.02, 1, PLACES)
    seen = np.asarray(seen_along(engine, direction, jnp.asarray(distances)))
    found = [
        replace(target, D=float(D), loss=float(loss), m=float(m))
        for D, (loss, m) in zip(distances, seen, strict=True)
    ]
    admitted = [x for x in found if heads_needed(x, cell.proof, cell.theorem) <= x.H]
    return min(admitted or found, key=lambda x: _promise(x, cell))


def _promise(target: Target, cell: TrainingSettings) -> float:
    """What the theorem promises at the step that this target allows: (4) or (5)."""
    eta = cell.eta or largest_step(target, cell.proof, cell.theorem)
    promised = loss_bound(target, eta) if cell.theorem == 1 else gap_bound(target, eta, cell.n)
    return float(promised)


@eqx.filter_jit
def seen_along(engine: HeadsEngine, direction: Heads, distances: Array) -> Float[Array, "k 2"]:
    """The loss and the longest decoder at each distance along a direction."""

    def at(D: Array) -> Array:
        moved = Heads(*(D * x for x in direction))
        return jnp.stack([engine.loss(moved), largest_decoder(moved, engine)])

    return jax.lax.map(at, distances)


def features_of_heads(engine: HeadsEngine) -> np.ndarray:
    """The tangent features of heads that all differ: each one's, over sqrt(H), side by side."""
    return np.asarray(_features_of_heads(engine.start, engine.tokens, engine.output))


@eqx.filter_jit
def _features_of_heads(start: Heads, tokens: Array, output: Output) -> Array:
    by_head = jax.lax.map(lambda head: head_features(head.U, head.W, tokens, output), start)
    n = tokens.shape[0]
    return by_head.transpose(1, 0, 2).reshape(n, -1) / jnp.sqrt(float(start.W.shape[0]))


def of_all_heads(w: np.ndarray | None, engine: HeadsEngine) -> Heads:
    """A direction over all heads, as `features_of_heads` has it side by side, as heads.

    Where there is none (inseparable samples), the mean token's of the labels stands in.
    """
    H, d = engine.start.W.shape[:2]
    shape = engine.start.U.shape[1:]
    size = int(np.prod(shape))
    if w is None:
        mean = (engine.weights * engine.labels) @ engine.tokens.mean(axis=1)
        U = jnp.broadcast_to(mean, engine.start.U.shape)
        return Heads(U / jnp.sqrt(jnp.sum(U**2)), jnp.zeros_like(engine.start.W))
    by_head = w.reshape(H, -1)
    U, W = by_head[:, :size].reshape(H, *shape), by_head[:, size:].reshape(H, d, d)
    return Heads(jnp.asarray(U), jnp.asarray(W))


@eqx.filter_jit
def losses_at(engine: HeadsEngine, direction: Heads, D: Array) -> Array:
    """The loss at the start, and at the distance D along a direction."""
    at = Heads(*(D * x for x in direction))
    return jnp.stack([engine.loss(engine.zero()), engine.loss(at)])


def target_values(instance: Instance) -> dict[str, float]:
    """The target's numbers as a record holds them."""
    target = instance.target
    names = ("R", "H", "D", "m", "loss", "start_loss", "K", "least_count")
    values = {f"target_{name}": float(getattr(target, name)) for name in names}
    return {
        **values,
        "eta": instance.eta,
        "tangent_margin": 2**0.5 * instance.margin.margin,
        "tangent_gap": instance.margin.gap,
    }


def points_of(engine: HeadsEngine) -> Batch:
    """The training points of an engine."""
    return Batch.weighted(engine.tokens, engine.labels, engine.weights)
